//! Groups behind a network that loses answers, beside entries that no version of ours wrote, and under a clock that is set back.

use crate::audit::{self, Snapshot};
use crate::foreign::{all, faults, serve};
use crate::groups::{group, of, of_priority};
use crate::network::Call;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::worker_loop::REPEATED;
use delayqueue::core::groups::{GroupLimits, Rate};
use delayqueue::core::job::{Due, NewJob, OnDuplicate, State};
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Fetch, Held, NoInterrupts, Queue, ReserveOutcome};
use std::time::Duration;

const NONE: GroupLimits = GroupLimits { concurrency: None, rate: None, burst: None, weight: 1, ordered: false };
const ONE: GroupLimits = GroupLimits { concurrency: Some(1), ..NONE };
const ORDERED: GroupLimits = GroupLimits { ordered: true, ..ONE };
/// A token comes back in a thousand seconds.
const INTERVAL_US: i64 = 1_000_000_000;
const RATE: GroupLimits = GroupLimits { rate: Some(Rate { starts: 10, per_us: 10_000_000_000 }), ..NONE };

/// `held` of two jobs that the group `g` may have at once, with a rate; the ordered group `o` waits for `first`.
fn arrange(queue: &Queue) -> Held {
    queue.limit_groups(Some(&group("g")), Some(&GroupLimits { concurrency: Some(2), ..RATE })).unwrap();
    queue.limit_groups(Some(&group("o")), Some(&ORDERED)).unwrap();
    push_many(queue, &[of("o", "first"), of("o", "second"), of("g", "held"), of("g", "next"), of("g", "last")]);
    let mut jobs = reserve_many(queue, 2);
    let held = jobs.pop().unwrap().held();
    queue.release(&jobs[0].held(), Due::InMs(3_600_000), None, true).unwrap();
    held
}

fn push(queue: &Queue, jobs: &[NewJob]) -> Result<String, delayqueue::core::error::Error> {
    let mut stored = Vec::new();
    queue.push_many(jobs, &mut stored)?;
    Ok(stored.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

fn replacing(job: NewJob) -> NewJob {
    NewJob { on_duplicate: OnDuplicate::Replace, ..job }
}

fn keeping(job: NewJob) -> NewJob {
    NewJob { on_duplicate: OnDuplicate::Keep, ..job }
}

/// A call, its answer, and what there is of `g` afterwards: waiting, held, and tokens taken. Before: two, one and one.
type Case = (&'static str, Call, &'static str, (u64, u64, i64));
const CALLS: &[Case] = &[
    ("push", |queue, _| push(queue, &[of("g", "new")]), "new", (3, 1, 1)),
    ("push keeping", |queue, _| push(queue, &[keeping(of("g", "next"))]), "next", (2, 1, 1)),
    ("push batch", |queue, _| push(queue, &[of("g", "1"), of_priority("g", "2", 5), of("f", "3")]), "1 2 3", (4, 1, 1)),
    ("push mixed", |queue, _| push(queue, &[of("g", "1"), prioritized("2", 5)]), "1 2", (3, 1, 1)),
    ("push replacing", |queue, _| push(queue, &[replacing(of_priority("g", "next", 5))]), "next", (2, 1, 1)),
    ("push out of the group", |queue, _| push(queue, &[replacing(of("f", "next"))]), "next", (1, 1, 1)),
    ("push into the group", |queue, _| push(queue, &[replacing(of("g", "first"))]), "first", (3, 1, 1)),
    (
        "reserve",
        |queue, _| {
            let jobs = queue.reserve(&[queue.name().to_owned()], 5, Some(Duration::ZERO), &mut NoInterrupts)?;
            Ok(jobs.iter().map(|job| format!("{} {}", job.id, job.attempts)).collect())
        },
        "next 1",
        (1, 2, 2),
    ),
    (
        "reserve job",
        |queue, _| Ok(queue.reserve_job(&id("last"))?.map_or("none".into(), |job| job.id.to_string())),
        "last",
        (1, 2, 2),
    ),
    (
        "feed",
        |queue, held| {
            let mut fetch = Fetch { max: 5, done: vec![held.finished()], lost: Vec::new() };
            let ReserveOutcome::Jobs(jobs) = queue.reserve_now(&mut Connections::default(), &mut fetch, None)? else {
                return Ok("nothing".into());
            };
            Ok(jobs.iter().map(|job| job.id.to_string()).collect::<Vec<_>>().join(" "))
        },
        "next last",
        (0, 2, 3),
    ),
    ("ack", |queue, held| queue.ack(held).map(|()| "ok".into()), "ok", (2, 0, 1)),
    ("ack many", |queue, held| Ok(format!("{:?}", queue.ack_many(&[held.finished()])?)), "[Ours]", (2, 0, 1)),
    ("fail", |queue, held| queue.fail(held, None).map(|_| "ok".into()), "ok", (3, 0, 1)),
    ("release", |queue, held| queue.release(held, Due::InMs(0), None, true).map(|()| "ok".into()), "ok", (3, 0, 1)),
    ("give back", |queue, held| Ok(format!("{:?}", queue.give_back(&[&held.receipt])?)), "[Ours]", (3, 0, 0)),
    ("bury", |queue, held| queue.bury(held, None).map(|()| "ok".into()), "ok", (2, 0, 1)),
    ("kick the first", |queue, _| Ok(queue.kick_job(&id("first"), false)?.to_string()), "true", (2, 1, 1)),
    (
        "limit a group",
        |queue, _| queue.limit_groups(Some(&group("g")), Some(&RATE)).map(|()| "ok".into()),
        "ok",
        (2, 1, 1),
    ),
    ("limit the queue", |queue, _| queue.limit_queue(Some(&ONE)).map(|()| "ok".into()), "ok", (2, 1, 1)),
    ("rate limit", |queue, _| queue.rate_limit(50_000, Some(&group("g"))).map(|()| "ok".into()), "ok", (2, 1, 1)),
    ("pause", |queue, _| queue.pause(None, Some(&group("g"))).map(|()| "ok".into()), "ok", (2, 1, 1)),
    ("resume", |queue, _| queue.resume(Some(&group("g"))).map(|()| "ok".into()), "ok", (2, 1, 1)),
    ("list", |queue, _| Ok(queue.list_group(&group("g"), State::Ready, 0, 9)?.len().to_string()), "2", (2, 1, 1)),
];

/// Until when the tokens of a group are spent.
fn spent(raw: &mut Raw, queue: &Queue) -> i64 {
    Snapshot::of(raw, queue).spent.iter().find(|(name, _)| name == b"g").map_or(0, |(_, until)| *until)
}

#[test]
fn a_call_on_groups_that_breaks_once_has_its_effect_once() {
    let (server, proxy) = Proxy::with_server();
    let mut raw = server.raw();
    for (name, call, answer, expected) in CALLS {
        for fault in REPEATED {
            let direct = server.queue(&format!("{name}, {fault:?}").replace(['(', ')'], "."));
            let held = arrange(&direct);
            let before = spent(&mut raw, &direct);
            let queue = proxy.queue(direct.name(), Duration::from_secs(10));
            queue.count(None).unwrap();
            proxy.fail(fault, 1);
            let got = call(&queue, &held);
            assert_eq!(proxy.heal(), 1, "{name}, {fault:?}: it met the fault");
            assert_eq!(got.as_deref(), Ok(*answer), "{name}, {fault:?}");
            let (_, faults) = audit::examine(&mut raw, &direct);
            assert!(faults.is_empty(), "{name}, {fault:?}: {faults:?}");
            let stats = direct.group_stats(&group("g")).unwrap();
            let tokens = 1 + (spent(&mut raw, &direct) - before) / INTERVAL_US;
            assert_eq!((stats.waiting, stats.reserved, tokens), *expected, "{name}, {fault:?}");
        }
    }
}

/// None of the tries was answered: the next call of this consumer gives back places and tokens.
#[test]
fn jobs_of_groups_that_nobody_saw_are_given_back_with_their_places_and_tokens() {
    let (server, proxy) = Proxy::with_server();
    let direct = server.queue("q");
    direct.limit_groups(None, Some(&GroupLimits { concurrency: Some(1), burst: Some(1), ..RATE })).unwrap();
    push_many(&direct, &[of("a", "a1"), of("a", "a2"), of("b", "b1")]);
    let queue = proxy.queue("q", Duration::from_millis(600));
    for _ in 0..3 {
        proxy.fail(Fault::Hold, u32::MAX);
        assert!(queue.reserve(&["q".to_owned()], 5, Some(Duration::ZERO), &mut NoInterrupts).is_err());
        proxy.heal();
        assert_eq!(states(&direct), [0, 1, 2, 0]);
    }
    let got: Vec<_> = reserve_many(&queue, 5).iter().map(|job| (job.id.to_string(), job.attempts)).collect();
    assert_eq!(got, [("a1".to_owned(), 1), ("b1".to_owned(), 1)]);
    assert!(audit::examine(&mut server.raw(), &direct).1.is_empty());
}

#[test]
fn limits_of_all_groups_that_are_interrupted_between_two_pages_reach_all_of_them() {
    let (server, proxy) = Proxy::with_server();
    for fault in REPEATED {
        let direct = server.queue(&format!("{fault:?}").replace(['(', ')'], "."));
        let queue = proxy.queue(direct.name(), Duration::from_secs(10));
        direct.limit_groups(None, Some(&ONE)).unwrap();
        let jobs: Vec<NewJob> = (0..900).map(|n| of(&format!("g{}", n / 2), &n.to_string())).collect();
        push_many(&direct, &jobs);
        assert_eq!(reserve_many(&direct, 500).len(), 450, "each group is full");
        proxy.fail_twice(Fault::Delay(Duration::ZERO), fault);
        queue.limit_groups(None, None).unwrap();
        assert_eq!(proxy.heal(), 2);
        assert!(audit::examine(&mut server.raw(), &direct).1.is_empty(), "{fault:?}");
        assert_eq!(reserve_many(&direct, 500).len(), 450, "{fault:?}: each has room again");
    }
}

/// Every use of the queue beside such an entry, at the end of which it is gone, and all jobs are done.
fn works_beside(member: &[u8]) {
    let (queue, name) = (fresh(), group("g"));
    let mut raw = shared().raw();
    queue.limit_groups(Some(&name), Some(&ONE)).unwrap();
    push_many(&queue, &[of("g", "a"), of_priority("g", "b", 5), of("h", "c")]);
    let shown = String::from_utf8_lossy(member).into_owned();
    raw.run_bytes(&[b"ZADD", key(&queue, "groups").as_bytes(), b"0", member]);
    for state in [State::Ready, State::Delayed, State::Reserved] {
        queue.list_group(&name, state, 0, 10).unwrap_or_else(|error| panic!("{shown:?}: {error}"));
    }
    queue.group_stats(&name).unwrap();
    queue.stats().unwrap();
    queue.groups(10, b"").unwrap();
    queue.doctor(true).unwrap();
    assert_eq!(serve(&queue), all(&["a", "b", "c"]), "{shown:?}");
    queue.cancel_group(&name, true).unwrap_or_else(|error| panic!("{shown:?}: {error}"));
    assert_eq!(states(&queue), [0; 4]);
    queue.push(&of("g", "again")).unwrap();
    assert_eq!(serve(&queue), all(&["again"]), "{shown:?}");
}

#[test]
fn entries_of_books_that_are_none_stop_nobody() {
    let due = 1_000_u64.to_be_bytes();
    let priority = 7_u32.to_be_bytes();
    let entry = |kind: &[u8], parts: &[&[u8]]| [b"g\n", kind, &parts.concat()].concat();
    let members = [
        entry(b"w", &[&priority, &due, b"nobody"]),
        entry(b"w", &[&priority, &due, b"c"]), // of another group
        entry(b"w", &[&priority, &due]),
        entry(b"w", &[&priority, b"xx"]),
        entry(b"w", &[]),
        entry(b"w", &[&priority, &u64::MAX.to_be_bytes(), b"late"]),
        entry(b"r", &[&due, b"nobody"]),
        entry(b"r", &[&due, b"c"]),
        entry(b"r", &[b"xx"]),
        entry(b"r", &[]),
        entry(b"s", &[b"junk"]),
        entry(b"h", &[]),
        entry(b"h", &[b"nobody"]),
        entry(b"h", &[b"c"]),
        b"g\n".to_vec(),
        b"g".to_vec(),
        b"\n".to_vec(),
        b"".to_vec(),
        b"\nw".to_vec(),
    ];
    members.iter().for_each(|member| works_beside(member));
}

#[test]
fn limits_and_moments_that_are_none_stop_nobody_and_send_nobody_round_in_circles() {
    let limits = [
        "",
        "x",
        "- - - 0 0 -",
        "- 5 0 1 0 -",
        "nan nan nan nan nan",
        "-1 -1 -1 -1 -1",
        "1",
        "inf inf inf inf 1",
        "1e9 0.5 1.5 2.5 0",
    ];
    for text in limits {
        let (queue, mut raw) = (fresh(), shared().raw());
        raw.run(&["HSET", &key(&queue, "limits"), "g", text, "\n", text, "h\n", "junk"]);
        push_many(&queue, &["1", "2"].map(|id| of("g", id)));
        push_many(&queue, &["3", "4"].map(|id| of("h", id)));
        let mut served = serve(&queue);
        queue.limit_queue(None).unwrap();
        queue.limit_groups(Some(&group("g")), None).unwrap();
        served.extend(serve(&queue));
        assert_eq!(served, all(&["1", "2", "3", "4"]), "{text}");
    }
    for score in ["-inf", "-1", "0", "1.5", "1e18"] {
        let (queue, mut raw) = (fresh(), shared().raw());
        raw.run(&["ZADD", &key(&queue, "line"), score, "nobody", score, "", score, "g"]);
        raw.run(&["ZADD", &key(&queue, "spent"), score, "", score, "h\n"]);
        raw.run(&["ZADD", &key(&queue, "grouped"), score, "nothing"]);
        push_many(&queue, &["1", "2"].map(|id| of("g", id)));
        assert_eq!(serve(&queue), all(&["1", "2"]), "{score}");
    }
}

#[test]
fn damaged_records_of_groups_are_buried_and_hold_up_nobody() {
    let garbage: [&[u8]; 4] = [b"", b"g", b"garbage", b"\xff\xff\xff\xff\xff\xff\xff\xff"];
    for bytes in garbage {
        for limits in [NONE, ONE, ORDERED] {
            let (queue, mut raw) = (fresh(), shared().raw());
            queue.limit_groups(None, Some(&limits)).unwrap();
            push_many(&queue, &["bad", "good"].map(|id| of("g", id)));
            push_many(&queue, &["held", "next"].map(|id| of("h", id)));
            let held = queue.reserve_job(&id("held")).unwrap().unwrap();
            for name in ["bad", "held"] {
                raw.run_bytes(&[b"HSET", key(&queue, "jobs").as_bytes(), name.as_bytes(), bytes]);
            }
            // Nobody can read its group any more: the lease names it.
            let _ = queue.release(&held.held(), Due::InMs(0), None, true);
            assert_eq!(serve(&queue), all(&["good", "next"]), "{bytes:?} {limits:?}");
            assert_eq!(states(&queue), [0, 0, 0, 2], "{bytes:?} {limits:?}");
            assert_eq!(faults(&mut raw, &queue), Vec::<String>::new());
        }
    }
}

/// Entries of the line stand in the future then, though old jobs are due: a reserve that finds nothing puts them right.
#[test]
fn groups_are_served_after_the_clock_was_set_back() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue("q");
    queue.limit_groups(Some(&group("rated")), Some(&GroupLimits { burst: Some(1), ..RATE })).unwrap();
    let names = ["a", "b", "c", "rated"];
    for name in names {
        push_many(&queue, &["1", "2", "3"].map(|id| of(name, &format!("{name}{id}"))));
    }
    clock.advance(600_000);
    let jobs = reserve_many(&queue, 4);
    assert_eq!(jobs.len(), 4, "one of each, which sends them to the end of the line");
    ack_all(&queue, &jobs);
    clock.set_us(clock.now_us() - 300_000_000);
    let mut served = Vec::new();
    while let Some(job) = reserve(&queue) {
        served.push(job.id.to_string());
        queue.ack(&job.held()).unwrap();
    }
    served.sort();
    assert_eq!(served, ["a2", "a3", "b2", "b3", "c2", "c3"], "not those whose token has yet to come");
    let (_, faults) = audit::examine(&mut server.raw(), &queue);
    assert!(faults.is_empty(), "{faults:?}");
}
