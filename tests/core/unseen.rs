//! `lua/reserve_unseen.lua`: leases what `lua/reserve.lua` would, or nothing.

use crate::audit::{self, NAMES, key};
use crate::denied::user_without;
use crate::leases::*;
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::job::{Receipt, Reserved, State};
use delayqueue::core::queue::Queue;
use delayqueue::core::scripts::{self};
use delayqueue::core::slot::Slot;
use redis::Value;
use std::collections::BTreeMap;

fn copy(raw: &mut Raw, queue: &Queue, is_restoring: bool) {
    for name in NAMES {
        let (mut from, mut to) = (key(queue, name), format!("saved {}", key(queue, name)));
        if is_restoring {
            (from, to) = (to, from);
        }
        raw.run(&["DEL", &to]);
        raw.run(&["COPY", &from, &to]);
    }
}

type Sorted = Vec<(Vec<u8>, i64)>;
type Fields = BTreeMap<Vec<u8>, Vec<u8>>;

fn dump(raw: &mut Raw, queue: &Queue) -> (Sorted, Sorted, Fields, Fields) {
    let mut sorted = |name: &str| audit::zset(raw, &key(queue, name));
    let (waiting, reserved) = (sorted("waiting"), sorted("reserved"));
    let mut fields = |name: &str| audit::hash(raw, &key(queue, name));
    (waiting, reserved, fields("jobs"), fields("ledger"))
}

/// What is done before, and what the slot then holds: first token and how many.
type Before = fn(&mut Raw, &Queue) -> Option<(u64, usize)>;

#[test]
fn it_leases_what_reserve_would() {
    let states: &[(&str, Before)] = &[
        ("a new slot", |_, _| None),
        ("after five", |raw, queue| seen(queue, raw, 5)),
        ("after one", |raw, queue| seen(queue, raw, 1)),
        ("after five unseen ones", |raw, queue| {
            lease(raw, queue, "s", 5, None).unwrap();
            first(raw, queue)
        }),
        ("after one of three unseen ones", |raw, queue| {
            lease(raw, queue, "s", 3, None).unwrap();
            let (token, _) = first(raw, queue).unwrap();
            disown(raw, queue, "s", &[token, token + 1]);
            raw.run(&["HDEL", &key(queue, "jobs"), "job 0", "job 1"]);
            first(raw, queue)
        }),
        ("after one with an hour", |raw, queue| {
            let held = seen(queue, raw, 1);
            let [token, hour] = [held.unwrap().0.to_string(), "3600000".into()];
            eval(raw, &scripts::TOUCH, &keys(queue).all(), &[b"0", b"s", b"1", token.as_bytes(), hour.as_bytes()]);
            held
        }),
        ("others wait", |_, queue| {
            queue.push(&delayed("not yet", 3_600_000)).unwrap();
            None
        }),
        ("the bucket of lateness is full", |raw, queue| {
            edit_head(raw, queue, |head| head[20..24].copy_from_slice(&4_000_000_000_u32.to_be_bytes()));
            None
        }),
        ("those before were less late", |raw, queue| {
            edit_head(raw, queue, |head| head[19] = 3);
            None
        }),
    ];
    let names: Vec<String> = (0..20).map(|n| format!("job {n}")).collect();
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let mut raw = server.raw();
    for (n, (state, before)) in states.iter().enumerate() {
        let queue = server.queue(&format!("q{n}"));
        prime(&queue, &mut raw);
        push(&queue, &names.iter().map(String::as_str).collect::<Vec<_>>());
        let done = before(&mut raw, &queue);
        copy(&mut raw, &queue, false);
        // Until both have run within the same millisecond.
        let is_compared = (0..100).any(|_| {
            clock.advance(1);
            copy(&mut raw, &queue, true);
            let Value::Array(answer) = ask(&mut raw, &queue, &scripts::RESERVE, "s", 4, done) else {
                panic!("{state}")
            };
            assert_eq!(answer.len(), 2 + 4, "{state}: {answer:?}");
            let mut reserved = dump(&mut raw, &queue);
            let with_jobs = held_in(&mut raw, &queue, "s").unwrap();
            copy(&mut raw, &queue, true);
            let unseen = lease(&mut raw, &queue, "s", 4, done).expect(state);
            if unseen[7..13] != with_jobs[7..13] {
                return false;
            }
            assert!(ids(&mut raw, &queue, &unseen).iter().all(|(_, has_its_stamp)| *has_its_stamp), "{state}");
            let (bare, stamps) = unseen.split_at(unseen.len() - 4 * 7);
            assert_eq!((bare[4], stamps.len()), (2, 28), "{state}");
            assert_eq!([&bare[..4], b"\0", &bare[5..]].concat(), with_jobs, "{state}");
            reserved.3.insert(b"@s".to_vec(), unseen.clone());
            assert_eq!(dump(&mut raw, &queue), reserved, "{state}");
            audit::places(&mut raw, &queue);
            true
        });
        assert!(is_compared, "{state}");
        let rest: Vec<String> = serve_all(&queue);
        assert!(rest.len() >= 20 - 4 - 5 && !rest.iter().any(|id| id == "not yet"), "{state}: {rest:?}");
    }
}

/// The bytes of a slot whose leases have one deadline.
fn short(flags: u8, count: u16, first: u64, rest: &[u8]) -> Vec<u8> {
    let far = 4_000_000_000_000_u64.to_be_bytes();
    [CALL, &[flags], &count.to_be_bytes(), &far[2..], &first.to_be_bytes()[2..], rest].concat()
}

#[test]
fn what_is_out_of_the_ordinary_is_left_to_others() {
    type Prepare = Box<dyn Fn(&mut Raw, &Queue)>;
    type Case = (&'static str, Prepare, Option<(u64, usize)>);
    let member = |member: &'static [u8]| -> Prepare {
        Box::new(move |raw, queue| {
            raw.run_bytes(&[b"ZADD", key(queue, "waiting").as_bytes(), DUE_MS.to_string().as_bytes(), member]);
        })
    };
    let long: &'static [u8] = Box::leak([b"\0\0\0\0\0\0\x08".as_slice(), &[b'i'; 256]].concat().into_boxed_slice());
    let head = |edit: fn(&mut Vec<u8>)| -> Prepare { Box::new(move |raw, queue| edit_head(raw, queue, edit)) };
    let slot = |bytes: Vec<u8>| -> Prepare {
        Box::new(move |raw, queue| {
            raw.run_bytes(&[b"HSET", key(queue, "ledger").as_bytes(), b"@s", &bytes]);
        })
    };
    let full = |flags: u8| [CALL, &[flags, 0, 0], &[0, 0, 0, 0, 0, 7, 9, 0, 0, 0, 0, 0, 1], b"x"].concat();
    let cases: Vec<Case> = vec![
        ("an empty queue", Box::new(|_, queue| assert_eq!(queue.purge(&[]).unwrap(), 3)), None),
        ("only one is ready", Box::new(|_, queue| assert_eq!(queue.cancel(&[id("b"), id("c")]).unwrap(), 2)), None),
        (
            "one is ready, others wait",
            Box::new(|_, queue| {
                queue.cancel(&[id("b"), id("c")]).unwrap();
                queue.push(&delayed("later", 3_600_000)).unwrap();
            }),
            None,
        ),
        ("a member of a job with a history", member(b"\0\0\0\0\0\0\x09x"), None),
        ("a member of a job with options", member(b"\0\0\0\0\0\0\x0ax"), None),
        ("a member of a newer format", member(b"\0\0\0\0\0\0\x0cx"), None),
        ("a member without an id", member(b"\0\0\0\0\0\0\x08"), None),
        ("an id longer than any of ours", member(long), None),
        ("an id with a zero byte", member(b"\0\0\0\0\0\0\x08x\0y"), None),
        ("no head", Box::new(|raw, queue| drop(raw.run(&["HDEL", &key(queue, "ledger"), "head"]))), None),
        ("a head that knows no lateness", head(|head| head.truncate(23)), None),
        ("a paused queue", Box::new(|_, queue| queue.pause(None).unwrap()), None),
        ("a queue with priorities", Box::new(|_, queue| drop(queue.push(&prioritized("p", 5)).unwrap())), None),
        ("a queue of a newer version", head(|head| head[0] = 32), None),
        ("a lease may have ended", head(|head| head[13..19].copy_from_slice(&DUE_MS.to_be_bytes()[2..])), None),
        ("nobody knows when a lease ends", head(|head| head[13..19].fill(0)), None),
        ("the first is much later than the last", Box::new(|_, queue| drop(queue.push(&job("now")).unwrap())), None),
        ("leases that are not acknowledged", slot(short(0, 2, 7, b"x\0y\0")), None),
        ("fewer are acknowledged", slot(short(0, 2, 7, b"x\0y\0")), Some((7, 1))),
        ("more are acknowledged", slot(short(0, 2, 7, b"x\0y\0")), Some((7, 3))),
        ("others are acknowledged", slot(short(0, 2, 7, b"x\0y\0")), Some((8, 2))),
        ("fewer than it says", slot(short(0, 2, 7, b"only one\0")), Some((7, 2))),
        ("a damaged slot", slot(CALL.to_vec()), Some((7, 1))),
        ("jobs with histories are acknowledged", slot(short(1, 2, 7, b"x\0y\0")), Some((7, 2))),
        ("each has its deadline", slot(full(0)), Some((7, 1))),
        ("each has its deadline and stamp", slot([&full(2), b"\0\0\0\0\0\0\x08".as_slice()].concat()), Some((7, 1))),
        ("none of several with deadlines", slot(full(0)), Some((0x0900_0000_0000, 0))),
        ("an empty slot is acknowledged", Box::new(|_, _| {}), Some((7, 2))),
    ];
    for (name, prepare, done) in cases {
        let (queue, mut raw) = primed();
        push(&queue, &["a", "b", "c"]);
        prepare(&mut raw, &queue);
        let before = digest(&mut raw, &queue);
        assert_eq!(lease(&mut raw, &queue, "s", 10, done), None, "{name}");
        assert_eq!(digest(&mut raw, &queue), before, "{name}");
    }
    // The like of these, but as it should be.
    let good: Vec<Case> = vec![
        ("as usual", Box::new(|_, _| {}), None),
        ("a stray is not known as one", member(b"\0\0\0\0\0\0\x08x"), None),
        ("two are acknowledged", slot(short(0, 2, 7, b"x\0y\0")), Some((7, 2))),
        ("two unseen ones", slot(short(2, 2, 7, b"x\0y\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\x08")), Some((7, 2))),
        ("one", slot(short(0, 1, 7, b"an id\0of another\0")), Some((7, 1))),
    ];
    for (name, prepare, done) in good {
        let (queue, mut raw) = primed();
        push(&queue, &["a", "b", "c"]);
        prepare(&mut raw, &queue);
        let foreign = ["x", "y", "an id", "an id\0of another"];
        for id in foreign {
            raw.run(&["HSET", &key(&queue, "jobs"), id, "acknowledged"]);
        }
        let leases = lease(&mut raw, &queue, "s", 10, done).expect(name);
        let strays = Slot::decode(&leases).unwrap().iter().filter(|lease| lease.id == b"x").count();
        assert_eq!(Slot::decode(&leases).unwrap().len(), 3 + strays, "{name}");
        let left = audit::hash(&mut raw, &key(&queue, "jobs"));
        let gone: Vec<&str> = foreign.into_iter().filter(|id| !left.contains_key(id.as_bytes())).collect();
        let expected: &[&str] = match done {
            Some((_, 2)) => &["x", "y"],
            Some(_) => &["an id\0of another"], // a single one ends where the slot does
            None => &[],
        };
        assert_eq!(gone, expected, "{name}");
    }
}

#[test]
fn what_it_leased_is_acknowledged_by_all_that_acknowledge() {
    let (queue, mut raw) = primed();
    let names = ["a", "b", "c", "d", "e"];
    let acked = queue.stats().unwrap().acked;
    push(&queue, &names);
    let leases = lease(&mut raw, &queue, "s", 5, None).unwrap();
    let tokens: Vec<u64> = Slot::decode(&leases).unwrap().iter().map(|lease| lease.token).collect();
    let receipt = |n: usize| Receipt { slot: "s".into(), token: tokens[n] };
    let left = |raw: &mut Raw, expected: &[&str]| {
        let record = held_in(raw, &queue, "s").unwrap();
        let expected: Vec<(String, bool)> = expected.iter().map(|name| (name.to_string(), true)).collect();
        assert_eq!(ids(raw, &queue, &record), expected);
        audit::places(raw, &queue);
    };
    left(&mut raw, &names);
    assert!(queue.ack_receipts(&[receipt(4)]).unwrap().is_empty());
    left(&mut raw, &names[..4]);
    assert!(queue.ack_receipts(&[receipt(1)]).unwrap().is_empty());
    left(&mut raw, &["a", "c", "d"]); // each with its token
    push(&queue, &["f", "g"]);
    let unusual = Value::Array(vec![Value::BulkString(b"UNUSUAL".to_vec())]);
    for (first, count) in [(tokens[0], 3), (tokens[0], 1)] {
        let before = digest(&mut raw, &queue);
        assert_eq!(ask(&mut raw, &queue, &scripts::RESERVE, "s", 2, Some((first, count))), unusual);
        assert_eq!(digest(&mut raw, &queue), before);
    }
    let one = [CALL, &[2, 0, 0, 0, 0, 0, 0, 0, 7, 9, 0, 0, 0, 0, 0, 1], b"x\0\0\0\0\0\0\x08"].concat();
    raw.run_bytes(&[b"HSET", key(&queue, "ledger").as_bytes(), b"@one", &one]);
    assert_eq!(ask(&mut raw, &queue, &scripts::RESERVE, "one", 2, Some((7, 1))), unusual);
    raw.run(&["HDEL", &key(&queue, "ledger"), "@one"]);
    assert_eq!(queue.ack_receipts(&[receipt(0), receipt(1)]).unwrap(), [tokens[1]]);
    left(&mut raw, &["c", "d"]);
    assert!(queue.ack_receipts(&[receipt(2)]).unwrap().is_empty());
    left(&mut raw, &["d"]);
    let token = tokens[3].to_string();
    let other = eval(&mut raw, &scripts::RESERVE_NEXT, &keys(&queue).reserve_next(), &[b"s", CALL, token.as_bytes()]);
    assert_eq!(other, Value::Array(vec![Value::BulkString(b"OTHER".to_vec())]));
    left(&mut raw, &["d"]);
    assert!(queue.ack_receipts(&[receipt(3)]).unwrap().is_empty());
    assert_eq!(held_in(&mut raw, &queue, "s"), None);
    assert_eq!(serve_all(&queue), ["f", "g"]);
    assert_eq!(queue.stats().unwrap().acked, acked + 7);
    assert_eq!(states(&queue), [0; 4]);
}

/// With all that is rarely needed, too: a slot of three whose second was given back.
#[test]
fn what_is_left_of_it_is_acknowledged_by_reserve_or_wait() {
    let (queue, mut raw) = primed();
    push(&queue, &["a", "b", "c", "d", "e"]);
    lease(&mut raw, &queue, "s", 3, None).unwrap();
    let (token, _) = first(&mut raw, &queue).unwrap();
    disown(&mut raw, &queue, "s", &[token + 1]);
    raw.run(&["HDEL", &key(&queue, "jobs"), "b"]);
    let [first, third] = [token.to_string(), (token + 2).to_string()];
    let most: [&[u8]; 7] = [b"0", b"s", b"next", b"9", b"0", b"", b"0"];
    let done: [&[u8]; 6] = [b"s", first.as_bytes(), b"1", b"s", third.as_bytes(), b"1"];
    let answer = eval(&mut raw, &scripts::RESERVE_OR_WAIT, &keys(&queue).all(), &[&most[..], &done].concat());
    assert!(matches!(&answer, Value::Array(values) if values.len() == 2 + 2 + 3), "{answer:?}");
    let places = audit::places(&mut raw, &queue);
    assert_eq!(places.into_iter().collect::<Vec<_>>(), [("d".into(), "reserved"), ("e".into(), "reserved")]);
}

#[test]
fn it_works_while_redis_has_no_memory_left() {
    let server = Server::start(&["--maxmemory-policy", "noeviction"]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    prime(&queue, &mut raw);
    push(&queue, &["a", "b", "c", "d", "e"]);
    raw.run(&["CONFIG", "SET", "maxmemory", "1"]);
    lease(&mut raw, &queue, "s", 3, None).unwrap();
    let (token, _) = first(&mut raw, &queue).unwrap();
    lease(&mut raw, &queue, "s", 2, Some((token, 3))).unwrap();
    let (token, _) = first(&mut raw, &queue).unwrap();
    disown(&mut raw, &queue, "s", &[token]);
    let record = held_in(&mut raw, &queue, "s").unwrap();
    assert_eq!(ids(&mut raw, &queue, &record), [("e".to_owned(), true)]);
}

#[test]
fn no_job_is_lost_when_a_command_is_denied_to_it() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let commands = ["time", "zrangebyscore", "hmget", "zscore", "hdel", "zrem", "hset", "zadd", "zremrangebyrank"];
    let mut refused = 0;
    for command in commands {
        for is_used in [false, true] {
            raw.run(&["FLUSHALL"]);
            prime(&queue, &mut raw);
            push(&queue, &["a", "b", "c", "d"]);
            let held = if is_used { seen(&queue, &mut raw, 2) } else { None };
            let mut limited = Raw::open(&user_without(&server, &[&format!("-{command}")]));
            let answer = ask(&mut limited, &queue, &scripts::RESERVE_UNSEEN, "s", 2, held);
            let is_refused = matches!(answer, Value::ServerError(_));
            refused += usize::from(is_refused);
            travel(60_001);
            let served = serve_all(&queue);
            let left: &[&str] = if is_used { &["c", "d"] } else { &["a", "b", "c", "d"] };
            assert!(left.iter().all(|name| served.contains(&name.to_string())), "{command}: {served:?}");
            assert!(served.len() <= 4, "{command}: {served:?}");
            clock::set_thread_offset_ms(0);
        }
    }
    assert_eq!(
        refused,
        2 * commands.len() - 3,
        "a new slot needs no HDEL, one that is used again neither ZREM nor ZADD"
    );
}

#[test]
fn a_key_of_another_type_is_met_before_anything_changes() {
    for name in ["jobs", "waiting", "reserved", "ledger"] {
        let (queue, mut raw) = primed();
        push(&queue, &["a", "b", "c", "d"]);
        let held = if name == "jobs" { seen(&queue, &mut raw, 2) } else { None };
        raw.run(&["DEL", &key(&queue, name)]);
        raw.run(&["SET", &key(&queue, name), "foreign"]);
        let before = digest(&mut raw, &queue);
        let answer = ask(&mut raw, &queue, &scripts::RESERVE_UNSEEN, "s", 2, held);
        assert!(matches!(&answer, Value::ServerError(error) if error.code() == "WRONGTYPE"), "{name}: {answer:?}");
        assert_eq!(digest(&mut raw, &queue), before, "{name}");
    }
}

#[test]
fn jobs_leased_unseen_are_jobs_like_others() {
    let (queue, mut raw) = primed();
    push(&queue, &["a", "b", "c"]);
    lease(&mut raw, &queue, "s", 3, None).unwrap();
    assert_eq!(states(&queue), [0, 0, 3, 0]);
    let listed = queue.list(State::Reserved, 0, 10).unwrap();
    assert_eq!(listed.iter().map(|job| job.id.to_string()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(queue.peek(&id("b")).unwrap().unwrap().lease_until_ms.is_some());
    assert_eq!(queue.cancel(&[id("b")]).unwrap(), 1);
    audit::places(&mut raw, &queue);
    travel(60_001);
    let again: Vec<Reserved> = reserve_many(&queue, 10);
    assert_eq!(
        again.iter().map(|job| (job.id.to_string(), job.attempts)).collect::<Vec<_>>(),
        [("a".into(), 2), ("c".into(), 2)]
    );
    audit::places(&mut raw, &queue);
    clock::set_thread_offset_ms(0);
}
