//! A due time has three bytes in the record where it can, and nine where it has to; no job is told from another by that.

use crate::audit;
use crate::support::*;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{NoInterrupts, Queue};
use delayqueue::core::record::{self, Head, Record};
use delayqueue::core::scripts;
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::time::Duration;

/// The first that three bytes cannot hold.
const FAR_MS: i64 = 0xff_ffff;
/// What a job may be due after its stamp, and how many bytes say so.
const DUES: [(i64, usize); 9] = [
    (0, 3),
    (1, 3),
    (0x01_0203, 3),
    (FAR_MS - 1, 3),
    (FAR_MS, 9),
    (FAR_MS + 1, 9),
    (-1, 9),
    (-50_000_000_000, 9),
    (300_000_000_000, 9),
];

fn stored(raw: &mut Raw, queue: &Queue, name: &str) -> Vec<u8> {
    let redis::Value::BulkString(record) = raw.run(&["HGET", &audit::key(queue, "jobs"), name]) else {
        panic!("{name}")
    };
    record
}

fn options() -> JobOptions {
    JobOptions { ttr_ms: 5_000, max_attempts: 3, timeout_ms: 77, ..priority_options(7) }
}

/// One push as a script gets it.
#[derive(Clone, Copy)]
struct Push<'a> {
    body: &'a str,
    at_ms: i64,
    window_us: &'a str,
}

fn eval(raw: &mut Raw, source: &str, keys: &[String], args: &[&str]) -> String {
    let count = keys.len().to_string();
    let keys = keys.iter().map(String::as_str);
    let all: Vec<&str> = ["EVAL", source, &count].into_iter().chain(keys).chain(args.iter().copied()).collect();
    let answer = match raw.run(&all) {
        redis::Value::Array(mut words) => words.remove(0),
        word => word,
    };
    delayqueue::core::reply::text(answer).unwrap()
}

fn run_push(raw: &mut Raw, queue: &Queue, name: &str, Push { body, at_ms, window_us }: Push<'_>) -> String {
    let keys = ["waiting", "jobs", "waiters"].map(|name| audit::key(queue, name));
    eval(raw, &scripts::PUSH.source, &keys, &[name, body, "0", "0", "0", &at_ms.to_string(), window_us])
}

fn run_push_many(raw: &mut Raw, queue: &Queue, name: &str, Push { body, at_ms, window_us }: Push<'_>) -> String {
    let keys = ["jobs", "waiting", "reserved", "ledger", "history", "buried", "waiters", "later", "ready", "ripe"];
    let keys = keys.map(|name| audit::key(queue, name));
    let args = ["0", window_us, "each", name, body, "0", "", &at_ms.to_string(), "fail"];
    eval(raw, &scripts::PUSH_MANY.source, &keys, &args)
}

#[test]
fn scripts_write_three_bytes_up_to_the_last_that_they_can_hold() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    for (n, (after_ms, bytes)) in DUES.into_iter().enumerate() {
        let at = clock.advance(1) + after_ms;
        let due = if bytes == 3 {
            after_ms.to_be_bytes()[5..].to_vec()
        } else {
            [&[0xff; 3], &at.to_be_bytes()[2..]].concat()
        };
        let names = ["single", "each", "rescheduled"].map(|way| format!("{way}{n}"));
        run_push(&mut raw, &queue, &names[0], Push { body: "payload", at_ms: at, window_us: "" });
        let new = |name: &str, due| NewJob { due, on_duplicate: OnDuplicate::Keep, ..job(name) };
        queue.push_many(&[new(&names[1], Due::AtMs(at))]).unwrap();
        queue.push_many(&[new(&names[2], Due::InMs(20_000_000))]).unwrap();
        assert!(queue.reschedule(&id(&names[2]), Due::AtMs(at)).unwrap());
        for name in names {
            let record = stored(&mut raw, &queue, &name);
            assert_eq!(record::head(&record)[7..], due, "{name} due after {after_ms}");
            assert_eq!(Record::decode(&record).unwrap().due_at_ms, at, "{name}");
            assert_eq!(queue.peek(&id(&name)).unwrap().unwrap().due_at_ms, at, "{name}");
            // Its lease runs out, which puts it back where its record says.
            queue.reserve_job(&id(&name)).unwrap().unwrap();
            let now = clock.advance(60_001);
            let info = queue.peek(&id(&name)).unwrap().unwrap();
            assert_eq!((info.due_at_ms, info.timeouts), (at, 1), "{name}");
            assert!(info.state == if at <= now { State::Ready } else { State::Delayed }, "{name}");
        }
    }
}

#[test]
fn a_job_is_handed_out_when_it_is_due_and_not_before() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    for (n, after_ms) in [1, FAR_MS - 1, FAR_MS, FAR_MS + 1, 300_000_000_000].into_iter().enumerate() {
        for most in [1, 2] {
            for options in [JobOptions::default(), JobOptions { ttr_ms: 5_000, ..JobOptions::default() }] {
                let queue = queue.sibling(&format!("q{n}.{most}.{}", options.ttr_ms));
                let mut feed = Feed::new(vec![queue.clone()], most, None);
                let mut next = || match feed.next(Some(Duration::ZERO), &mut NoInterrupts).unwrap() {
                    Fetched::Job(delivery) => {
                        feed.done(&delivery.ticket).unwrap();
                        Some((delivery.job.id.to_string(), delivery.job.due_at_ms, delivery.job.lease_until_ms))
                    }
                    _ => None,
                };
                let at = clock.advance(1) + after_ms;
                let old = |name: &str| NewJob { due: Due::AtMs(at - after_ms), options: options.clone(), ..job(name) };
                queue.push_many(&[old("a"), old("b"), old("c"), old("d")]).unwrap();
                let late =
                    ["e", "f", "g"].map(|name| NewJob { due: Due::AtMs(at), options: options.clone(), ..job(name) });
                queue.push_many(&late).unwrap();
                for name in ["a", "b", "c", "d"] {
                    assert_eq!(next().unwrap().0, name);
                }
                clock.advance(u64::try_from(after_ms - 1).unwrap());
                assert_eq!(next(), None, "{after_ms}: not before it is due");
                clock.advance(1);
                let now = clock.now_ms();
                let ttr_ms = i64::try_from(options.ttr_ms).unwrap();
                for name in ["e", "f", "g"] {
                    assert_eq!(next(), Some((name.into(), at, now + ttr_ms)), "{after_ms}");
                }
                assert_eq!(now, clock.now_ms(), "the clock stood still");
                assert_eq!(next(), None);
                assert_eq!(audit::examine(&mut raw, &queue).1, Vec::<String>::new());
            }
        }
    }
}

#[test]
fn what_changes_the_due_time_keeps_options_and_payload() {
    let (server, payload) = (Server::start(&[]), br#"{"a":"b"}"#);
    let mut raw = server.raw();
    for (n, options) in
        [JobOptions::default(), JobOptions { ttr_ms: 9, ..JobOptions::default() }, options()].iter().enumerate()
    {
        let queue = server.queue(&format!("q{n}"));
        let (near, far) = (Due::InMs(16_000_000), Due::InMs(17_000_000));
        queue.push(&NewJob { due: near, options: options.clone(), payload: payload.to_vec(), ..job("a") }).unwrap();
        let mut expect = |what: &str, is_far: bool, options: &JobOptions, payload: &[u8]| {
            let record = stored(&mut raw, &queue, "a");
            assert_eq!(record::head(&record).len(), if is_far { 16 } else { 10 }, "{what}");
            let info = queue.peek(&id("a")).unwrap().unwrap();
            assert_eq!((&info.options, info.payload.as_slice()), (options, payload), "{what}");
            let read = Record::decode(&record).unwrap();
            assert_eq!((&read.options, read.payload.as_slice()), (options, payload), "{what}");
            assert_eq!(audit::examine(&mut raw, &queue).1, Vec::<String>::new(), "{what}");
        };
        let mut expected = options.clone();
        for (due, is_far) in [(far, true), (near, false), (Due::AtMs(5), true), (near, false), (far, true)] {
            assert!(queue.reschedule(&id("a"), due).unwrap());
            expect("rescheduled", is_far, &expected, payload);
            for new in [&b"{\"\"}"[..], b"plain", payload] {
                assert!(queue.update(&id("a"), new).unwrap());
                expect("updated", is_far, &expected, new);
            }
        }
        for (due, is_far) in [(near, false), (far, true)] {
            queue.cancel(&[id("a")]).unwrap();
            queue.push(&NewJob { due, options: options.clone(), payload: payload.to_vec(), ..job("a") }).unwrap();
            expected = options.clone();
            let reserve = || queue.reserve_job(&id("a")).unwrap().unwrap();
            for priority in [None, Some(9), Some(1024), Some(3)] {
                queue.release(&reserve().held(), due, priority).unwrap();
                expected.priority = priority.unwrap_or(expected.priority);
                expect("released", is_far, &expected, payload);
                assert!(queue.kick_job(&id("a"), true).unwrap());
                expect("kicked", is_far, &expected, payload);
                // Ranked ones are looked for in two places under their priority.
                let held = reserve_many(&queue, 10).remove(0);
                assert_eq!((&held.options, held.payload.as_slice()), (&expected, &payload[..]));
                queue.bury(&held.held(), None).unwrap();
                expect("buried", is_far, &expected, payload);
                assert_eq!(queue.kick(1, true).unwrap(), 1);
            }
        }
    }
}

/// Everything that is stored of these jobs is what the client would store under the same stamps.
fn assert_as_made(raw: &mut Raw, queue: &Queue, jobs: &[NewJob]) {
    let waiting = audit::zset(raw, &audit::key(queue, "waiting"));
    for job in jobs {
        let name = job.id.as_ref().unwrap();
        let record = stored(raw, queue, &name.to_string());
        let stamp = record[..7].try_into().unwrap();
        let member = [&record[..7], name.as_bytes()].concat();
        let due = waiting.iter().find(|(found, _)| *found == member).unwrap().1;
        let (options, flags) = record::encode_options(&job.options);
        assert_eq!(record[6] & 7, flags[0] - b'0');
        assert_eq!(record, [Head::new(stamp, due).as_bytes(), &options, &job.payload].concat(), "{name}");
    }
}

#[test]
fn whoever_pushes_writes_the_same_bytes() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let (with, at) = (JobOptions { ttr_ms: 500, ..JobOptions::default() }, 1_900_000_000_000);
    let dues = [3000, 900_000, 16_770_000, 16_780_000, 90_000_000].map(Due::InMs).into_iter();
    let dues: Vec<Due> = dues.chain([Due::AtMs(at)]).collect();
    let jobs = |way: &str| -> Vec<NewJob> {
        let kinds = dues.iter().flat_map(|due| [JobOptions::default(), with.clone()].map(|options| (*due, options)));
        let new = |(n, (due, options))| NewJob { due, options, ..job(&format!("{way}.{n}")) };
        kinds.enumerate().map(new).collect()
    };
    let mut transactions = 0;
    for round in 0..20 {
        let jobs = jobs(&format!("single{round}"));
        let before = [raw.calls("evalsha") + raw.calls("eval"), raw.calls("exec")];
        jobs.iter().for_each(|job| drop(queue.push(job).unwrap()));
        let after = [raw.calls("evalsha") + raw.calls("eval"), raw.calls("exec")];
        transactions += u64::from(after[0] == before[0] && after[1] > before[1]);
        assert_as_made(&mut raw, &queue, &jobs);
    }
    assert!(transactions > 0, "some were pushed in transactions alone");
    let mut made = 0;
    for round in 0..20 {
        let jobs = [jobs(&format!("made{round}")), jobs(&format!("made too{round}").replace(' ', "-"))].concat();
        let commands = raw.calls("hset") + raw.calls("zcard");
        queue.push_many(&jobs).unwrap();
        made += u64::from(raw.calls("hset") + raw.calls("zcard") == commands + 2); // the script would make it three
        assert_as_made(&mut raw, &queue, &jobs);
    }
    assert!(made > 0, "some were made by the client");
    let mut jobs = [jobs("each"), jobs("each-too")].concat();
    jobs.push(NewJob { due: Due::AtMs(5), ..job("early") });
    jobs.iter_mut().for_each(|job| job.on_duplicate = OnDuplicate::Keep);
    queue.push_many(&jobs).unwrap();
    assert_as_made(&mut raw, &queue, &jobs);
    queue.push(&job("now")).unwrap();
    queue.push(&NewJob { due: Due::AtMs(5), ..job("earlier") }).unwrap();
    let jobs = [job("now"), job("earlier")];
    assert_as_made(&mut raw, &queue, &jobs);
}

#[test]
fn a_retry_knows_its_own_job_however_far_off_it_is() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    for (way, run) in [("single", run_push as fn(&mut Raw, &Queue, &str, Push<'_>) -> String), ("each", run_push_many)]
    {
        let queue = server.queue(way);
        let near_ms = clock_ms(&mut raw) + 900_000;
        for (name, at_ms) in [("early", 5), ("near", near_ms), ("far", 4_000_000_000_000)] {
            let first = Push { body: "payload", at_ms, window_us: "" };
            let again = Push { window_us: "9000000", ..first };
            assert_eq!(run(&mut raw, &queue, name, first), "OK");
            assert_eq!(run(&mut raw, &queue, name, first), "DUPLICATE");
            assert_eq!(run(&mut raw, &queue, name, again), "OK");
            for body in ["another", "", "ayload", "\0\0\0\0\0\0payload"] {
                assert_eq!(run(&mut raw, &queue, name, Push { body, ..again }), "DUPLICATE", "{way} {name} {body:?}");
            }
        }
        assert_eq!(raw.int(&["ZCARD", &audit::key(&queue, "waiting")]), 3);
    }
}

fn clock_ms(raw: &mut Raw) -> i64 {
    let redis::Value::Array(time) = raw.run(&["TIME"]) else { panic!("no time") };
    delayqueue::core::reply::int(time[0].clone()).unwrap() * 1000
}
