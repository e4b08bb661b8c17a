//! Every operation that makes a job ready, or ready soon, wakes an idle consumer. Here that consumer is registered and has died: the script
//! that wants to wake it finds that no connection listens, and removes it.

use crate::new_jobs::once;
use crate::repeats::Scripts;
use crate::support::*;
use delayqueue::core::backoff::Backoff;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate};
use delayqueue::core::queue::{Held, Queue};
use delayqueue::core::scripts::{self, Script};

type Step = fn(&Queue, &Held);

/// The job `held` is held, `delayed` waits, `buried` is buried.
const STEPS: &[(&str, Step)] = &[
    ("push", |queue, _| drop(queue.push(&job("new")).unwrap())),
    ("push later", |queue, _| drop(queue.push(&delayed("new", 2_000)).unwrap())),
    ("push for a moment", |queue, _| drop(queue.push(&NewJob { due: Due::AtUs(1), ..job("new") }).unwrap())),
    ("push once", |queue, _| assert_eq!(queue.push_once(&[once("r", job("new"))]).unwrap().added, 1)),
    ("push another priority", |queue, _| drop(queue.push(&prioritized("new", 5)).unwrap())),
    ("replace", |queue, _| {
        queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..job("delayed") }).unwrap();
    }),
    ("release", |queue, held| queue.release(held, Due::InMs(0), None, true).unwrap()),
    ("give back", |queue, held| drop(queue.give_back(&[&held.receipt]).unwrap())),
    ("fail", |queue, held| assert!(queue.fail(held, None).is_ok())),
    ("touch", |queue, held| assert!(queue.touch(held, Some(1_000)).is_ok())),
    ("reschedule", |queue, _| assert!(queue.reschedule(&id("delayed"), Due::InMs(1_000)).unwrap())),
    ("kick", |queue, _| assert_eq!(queue.kick(1, true).unwrap(), 1)),
    ("kick a job", |queue, _| assert!(queue.kick_job(&id("delayed"), true).unwrap())),
    ("reserve a job", |queue, _| drop(queue.reserve_job(&id("delayed")).unwrap().unwrap())),
    ("resume", |queue, _| queue.resume(None).unwrap()),
    ("repair", |queue, _| drop(queue.doctor(true).unwrap())),
];

#[test]
fn every_operation_that_makes_a_job_ready_wakes_an_idle_consumer() {
    let mut raw = shared().raw();
    for (name, step) in STEPS {
        let queue = fresh();
        let options =
            JobOptions { ttr_ms: 1_000, backoff: Some(Backoff::Fixed { delay_ms: 100 }), ..JobOptions::default() };
        let held = ["buried", "held"].map(|name| {
            queue.push(&NewJob { options: JobOptions { ttr_ms: 60_000, ..options.clone() }, ..job(name) }).unwrap();
            reserve(&queue).unwrap().held()
        });
        queue.bury(&held[0], None).unwrap();
        queue.push(&NewJob { options, ..delayed("delayed", 60_000) }).unwrap();
        queue.pause(None, None).unwrap();
        if *name == "repair" {
            raw.run(&["HDEL", &key(&queue, "leases"), "held"]);
        }
        raw.run(&["ZADD", &key(&queue, "waiters"), "9000000000000000", "died"]);
        queue.stats().unwrap();
        assert_eq!(raw.int(&["ZCARD", &key(&queue, "waiters")]), 1, "looking wakes nobody");
        step(&queue, &held[1]);
        assert_eq!(raw.int(&["ZCARD", &key(&queue, "waiters")]), 0, "nobody was woken: {name}");
    }
}

/// A waiter goes away with `leave`, or with a last reserve that finds nothing.
#[test]
fn a_waiter_that_goes_away_has_another_one_look_in_its_place() {
    let last_reserve: [&[u8]; 8] = [b"consumer", b"1", b"1", b"", b"1000000", b"leaver", b"0", b""];
    let farewells: [(&Script, &[&[u8]]); 2] = [(&scripts::LEAVE, &[b"leaver"]), (&scripts::RESERVE, &last_reserve)];
    for (script, args) in farewells {
        for is_job_coming in [false, true] {
            let queue = fresh();
            let mut scripts = Scripts::of(&queue);
            if is_job_coming {
                queue.push(&delayed("a", 2_000)).unwrap();
            }
            let (keys, waiters) = (scripts.keys.clone(), key(&queue, "waiters"));
            scripts.raw.run(&["ZADD", &waiters, "9000000000000000", "died", "9000000000000001", "leaver"]);
            scripts.run(script, &keys.all(), args);
            let left = scripts.raw.run(&["ZRANGE", &waiters, "0", "-1"]);
            let expected: &[&str] = if is_job_coming { &[] } else { &["died"] };
            let expected = expected.iter().map(|name| redis::Value::BulkString(name.as_bytes().to_vec())).collect();
            assert_eq!(left, redis::Value::Array(expected), "{}, a job is coming: {is_job_coming}", script.name);
        }
    }
}
