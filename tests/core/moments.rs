//! Moments that end a job: `expires` before its first attempt, `retryUntil` before any. Nothing moves such a job; whoever meets it ends it.

mod backlogs;

use crate::audit;
use crate::denied;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, State};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{Failed, NoInterrupts, Queue, Settled};
use delayqueue::core::traits::{Limit, OnExpiry, Traits};
use std::time::Duration;

const TOO_LATE: &str = "too late to be tried again";

fn with(traits: Traits, new: NewJob) -> NewJob {
    let mut options = new.options.clone();
    options.extras.traits = traits.before(&[]);
    NewJob { options, ..new }
}

/// A job that has to be started within a second of its due time.
fn expiring(name: &str, then: OnExpiry) -> NewJob {
    with(Traits::default().expires(Limit::AfterDueMs(1_000), then), job(name))
}

/// A job that is tried for ten seconds.
fn tried(name: &str) -> NewJob {
    with(Traits::default().retry_until(Limit::AfterDueMs(10_000)), job(name))
}

fn of_priority(priority: u32, new: NewJob) -> NewJob {
    let options = JobOptions { priority, ..new.options.clone() };
    NewJob { options, ..new }
}

/// Its state and last error; `None`: it is gone.
fn state(queue: &Queue, name: &str) -> Option<(State, String)> {
    let info = queue.peek(&id(name)).unwrap()?;
    Some((info.state, info.last_error.map(|error| String::from_utf8(error).unwrap()).unwrap_or_default()))
}

fn buried(why: &str) -> Option<(State, String)> {
    Some((State::Buried, why.into()))
}

fn field(raw: &mut Raw, queue: &Queue, name: &str) -> i64 {
    raw.text(&["EVAL", "return redis.call('HGET', KEYS[1], ARGV[1]) or '0'", "1", &key(queue, "meta"), name])
        .parse()
        .unwrap()
}

fn leased(queue: &Queue, max: usize) -> Result<usize, Error> {
    Ok(queue.reserve(&[queue.name().to_owned()], max, Some(Duration::ZERO), &mut NoInterrupts)?.len())
}

type Deliver = fn(&Queue) -> Result<usize, Error>;

const DELIVERIES: [(&str, Deliver); 5] = [
    ("reserve", |queue| leased(queue, 1)),
    ("reserve many", |queue| leased(queue, 10)),
    ("reserve job", |queue| Ok(usize::from(queue.reserve_job(&id("a"))?.is_some()))),
    ("take", |queue| Ok(queue.take(None, 10)?.len())),
    ("wait", |queue| {
        let watch = [queue.name().to_owned()];
        Ok(usize::from(queue.wait(&watch, Some(Duration::ZERO), &mut NoInterrupts)?))
    }),
];

#[test]
fn a_job_that_was_not_started_by_then_never_runs() {
    let mut raw = shared().raw();
    for (name, deliver) in DELIVERIES {
        for priority in [1024, 5] {
            for then in [OnExpiry::Bury, OnExpiry::Drop] {
                for by_moment in [false, true] {
                    let queue = fresh();
                    let now_us = raw_now_us(&mut raw);
                    let by = if by_moment { Limit::AtUs(now_us + 1_000_000) } else { Limit::AfterDueMs(1_000) };
                    let traits = Traits::default().expires(by, then);
                    queue.push(&of_priority(priority, with(traits, job("a")))).unwrap();
                    travel(2_000);
                    let case = format!("{name}, priority {priority}, {then:?}, {by:?}");
                    assert_eq!(deliver(&queue), Ok(0), "{case}");
                    let expected = if then == OnExpiry::Bury { buried("expired") } else { None };
                    assert_eq!(state(&queue, "a"), expected, "{case}");
                    let stats = queue.stats().unwrap();
                    assert_eq!((stats.expired, stats.pushed, stats.acked, stats.cancelled), (1, 1, 0, 0), "{case}");
                    assert_eq!(field(&mut raw, &queue, "buried"), 0, "{case}");
                    let (places, faults) = audit::examine(&mut raw, &queue);
                    assert_eq!((places.len() as u64, faults), (stats.buried, Vec::new()), "{case}");
                    travel(-2_000);
                }
            }
        }
    }
}

fn raw_now_us(raw: &mut Raw) -> i64 {
    delayqueue::core::reply::time_us(&raw.run(&["TIME"])).unwrap() + clock::offset_ms() * 1000
}

#[test]
fn a_job_in_time_runs_and_its_later_attempts_may_come_later() {
    for (name, deliver) in DELIVERIES {
        let queue = fresh();
        queue.push(&expiring("a", OnExpiry::Drop)).unwrap();
        assert_eq!(deliver(&queue), Ok(1), "{name}");
    }
    let queue = fresh();
    queue.push(&expiring("a", OnExpiry::Drop)).unwrap();
    assert!(queue.fail(&reserve(&queue).unwrap().held(), None).is_ok());
    travel(60_000);
    assert_eq!(reserve(&queue).unwrap().attempts, 2);
}

#[test]
fn the_time_runs_from_the_first_due_time_and_anew_from_a_rescheduled_one() {
    let queue = fresh();
    let late = |delay_ms| NewJob { due: Due::InMs(delay_ms), ..expiring("a", OnExpiry::Bury) };
    queue.push(&late(60_000)).unwrap();
    travel(60_500);
    let held = reserve(&queue).unwrap().held();
    queue.give_back(&[&held.receipt]).unwrap();
    travel(600);
    assert!(reserve(&queue).is_none(), "nobody has started it");
    assert_eq!(state(&queue, "a"), buried("expired"));
    assert!(queue.reschedule(&id("a"), Due::InMs(5_000), false).unwrap());
    travel(5_500);
    assert_eq!(reserve(&queue).unwrap().attempts, 1);
}

#[test]
fn a_job_that_a_handler_had_expires_no_more_and_one_that_nobody_started_does() {
    let queue = fresh();
    for (name, is_started) in [("ran", true), ("fetched", false)] {
        queue.push(&expiring(name, OnExpiry::Drop)).unwrap();
        let held = queue.reserve_job(&id(name)).unwrap().unwrap();
        match is_started {
            true => queue.put_back(&held.held()).unwrap(),
            false => drop(queue.give_back(&[&held.receipt]).unwrap()),
        }
    }
    travel(10_000);
    let served: Vec<String> = reserve_many(&queue, 2).iter().map(|job| job.id.to_string()).collect();
    assert_eq!(served, ["ran"]);
    assert_eq!(state(&queue, "fetched"), None);
}

#[test]
fn a_kick_lifts_both_moments() {
    for new in [expiring("a", OnExpiry::Bury), tried("a")] {
        let queue = fresh();
        queue.push(&new).unwrap();
        travel(60_000);
        assert!(reserve(&queue).is_none());
        assert!(queue.kick_job(&id("a"), false).unwrap());
        travel(60_000);
        let held = reserve(&queue).unwrap().held();
        assert!(matches!(queue.fail(&held, Some(b"boom")), Ok(Failed::Retried { .. })));
        travel(60_000);
        let held = reserve(&queue).unwrap().held();
        assert_eq!(queue.release_because(&held, Due::InMs(0), true, b"later"), Ok(Settled::Ours));
        reserve(&queue).unwrap();
        travel(61_000);
        assert_eq!(reserve(&queue).unwrap().attempts, 4);
    }
}

#[test]
fn a_buried_one_can_be_taken_on_purpose() {
    let queue = fresh();
    queue.push(&expiring("a", OnExpiry::Bury)).unwrap();
    travel(2_000);
    assert!(reserve(&queue).is_none());
    let held = queue.reserve_job(&id("a")).unwrap().unwrap();
    queue.ack(&held.held()).unwrap();
    assert_eq!(queue.stats().unwrap().pushed, 1);
}

#[test]
fn a_failure_whose_next_attempt_would_come_too_late_buries() {
    for (reason, expected) in [("boom", "boom"), ("", TOO_LATE)] {
        for priority in [1024, 5] {
            let queue = fresh();
            queue.push(&of_priority(priority, tried("a"))).unwrap();
            let held = reserve(&queue).unwrap().held();
            assert!(matches!(queue.fail(&held, Some(reason.as_bytes())), Ok(Failed::Retried { .. })), "in about 5 s");
            travel(7_000);
            let held = reserve(&queue).unwrap().held();
            assert_eq!(queue.fail(&held, Some(reason.as_bytes())), Ok(Failed::Buried), "in about 10 s");
            assert_eq!(state(&queue, "a"), buried(expected));
            let stats = queue.stats().unwrap();
            assert_eq!((stats.failed, stats.expired), (2, 0));
        }
    }
}

#[test]
fn a_release_beyond_the_moment_buries_and_tells_its_holder() {
    let queue = fresh();
    push_many(&queue, &[tried("a"), tried("b"), tried("c"), tried("d")]);
    let held: Vec<_> = reserve_many(&queue, 4).iter().map(|job| job.held()).collect();
    assert_eq!(queue.release_because(&held[0], Due::InMs(5_000), true, b"soon"), Ok(Settled::Ours));
    assert_eq!(queue.release_because(&held[1], Due::InMs(11_000), true, b"later"), Ok(Settled::Buried));
    queue.release(&held[2], Due::InMs(11_000), None, true).unwrap();
    queue.release(&held[3], Due::InMs(11_000), None, false).unwrap();
    assert_eq!(state(&queue, "a"), Some((State::Delayed, "soon".into())));
    assert_eq!(state(&queue, "b"), buried("later"));
    assert_eq!(state(&queue, "c"), buried(TOO_LATE));
    assert_eq!(state(&queue, "d"), Some((State::Delayed, String::new())), "it is as if nobody had held it");
    push_many(&queue, &[tried("e")]);
    assert!(queue.fail(&reserve(&queue).unwrap().held(), Some(b"boom")).is_ok());
    travel(7_000);
    queue.cancel(&[id("a"), id("d")]).unwrap();
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(9_000), None, true).unwrap();
    assert_eq!(state(&queue, "e"), buried("boom"), "the last error stays");
    let past = queue.peek(&id("b")).unwrap().unwrap();
    assert_eq!((past.attempts, past.releases, past.buries), (1, 1, 1));
    let stats = queue.stats().unwrap();
    assert_eq!((stats.ever.count("released"), stats.ever.count("buried"), stats.expired), (4, 0, 0));
}

#[test]
fn a_lease_that_expires_beyond_the_moment_buries_its_job() {
    let queue = fresh();
    queue.push(&tried("a")).unwrap();
    reserve(&queue).unwrap();
    travel(61_000);
    assert!(reserve(&queue).is_none());
    let (state, error) = state(&queue, "a").unwrap();
    assert_eq!(state, State::Buried);
    assert!(error.starts_with("lease expired, held by "), "{error}");
    let stats = queue.stats().unwrap();
    assert_eq!((stats.timed_out, stats.expired), (1, 0));
}

#[test]
fn an_attempt_that_would_come_too_late_is_not_made() {
    for (name, deliver) in DELIVERIES {
        let queue = fresh();
        push_many(&queue, &[tried("a"), tried("b")]);
        travel(-1);
        let held = queue.reserve_job(&id("b")).unwrap().unwrap().held();
        assert!(queue.fail(&held, Some(b"boom")).is_ok());
        travel(11_000);
        assert_eq!(deliver(&queue), Ok(0), "{name}");
        assert_eq!(state(&queue, "a"), buried(TOO_LATE), "{name}");
        if name != "reserve job" {
            assert_eq!(state(&queue, "b"), buried("boom"), "{name}: the last error stays");
            assert_eq!(queue.stats().unwrap().expired, 2, "{name}");
        }
    }
}

#[test]
fn an_entry_beside_a_reserved_job_is_taken_out_and_its_job_stays() {
    for then in [OnExpiry::Bury, OnExpiry::Drop] {
        let queue = fresh();
        let mut raw = shared().raw();
        queue.push(&expiring("a", then)).unwrap();
        let held = reserve(&queue).unwrap().held();
        raw.run(&["ZADD", &key(&queue, "waiting"), "1", "a"]);
        assert!(reserve(&queue).is_none());
        queue.ack(&held).unwrap();
        let stats = queue.stats().unwrap();
        assert_eq!((stats.acked, stats.expired, stats.pushed), (1, 0, 1));
    }
}

#[test]
fn late_jobs_end_in_a_full_redis() {
    let server = Server::start(&["--maxmemory-policy", "noeviction"]);
    let mut raw = server.raw();
    for (name, deliver) in DELIVERIES {
        for then in [OnExpiry::Bury, OnExpiry::Drop] {
            let queue = server.queue(&format!("{name} {then:?}"));
            queue.push(&expiring("a", then)).unwrap();
            travel(2_000);
            raw.run(&["CONFIG", "SET", "maxmemory", "1"]);
            let delivered = deliver(&queue);
            raw.run(&["CONFIG", "SET", "maxmemory", "0"]);
            assert_eq!(delivered, Ok(0), "{name}");
            assert_eq!(queue.stats().unwrap().expired, 1, "{name}");
        }
    }
}

/// The reserve whose answer was lost has leased it in time. When it is repeated, nobody has started it.
#[test]
fn a_repeated_reserve_ends_a_job_that_nobody_saw() {
    let (server, proxy) = Proxy::with_server();
    for (name, deliver) in DELIVERIES.into_iter().filter(|(name, _)| name.starts_with("reserve")) {
        let direct = server.queue(&name.replace(' ', "-"));
        let queue = proxy.queue(direct.name(), Duration::from_millis(300));
        direct.push(&with(Traits::default().expires(Limit::AfterDueMs(60_000), OnExpiry::Bury), job("a"))).unwrap();
        proxy.fail(Fault::Hold, u32::MAX);
        assert!(deliver(&queue).is_err(), "{name}");
        proxy.heal();
        assert_eq!(states(&direct), [0, 0, 1, 0], "{name}");
        travel(61_000);
        assert_eq!(deliver(&queue), Ok(0), "{name}");
        assert_eq!(state(&direct, "a"), buried("expired"), "{name}");
        let stats = direct.stats().unwrap();
        assert_eq!((stats.expired, stats.timed_out), (1, 0), "{name}");
        travel(-61_000);
    }
}

#[test]
fn partitions_end_their_own_late_jobs() {
    let queue = Partitions::new(&fresh(), 3);
    for n in 0..30 {
        let then = if n % 2 == 0 { OnExpiry::Bury } else { OnExpiry::Drop };
        queue.push(expiring(&format!("j{n}"), then)).unwrap();
    }
    travel(2_000);
    let watch = [queue.name().to_owned()];
    assert!(queue.reserve(&watch, 10, Some(Duration::ZERO), &mut NoInterrupts).unwrap().is_none());
    let stats = queue.stats().unwrap();
    assert_eq!((stats.expired, stats.buried, stats.pushed), (30, 15, 30));
}

#[test]
fn no_job_is_lost_when_a_command_is_denied() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let limited = Queue::new(config(user_without(&server, &[]), "q"));
    let queue = server.queue("q");
    let (mut failed, mut passed) = (0, 0);
    for command in denied::commands() {
        for (name, deliver) in DELIVERIES {
            raw.run(&["FLUSHALL"]);
            push_many(&queue, &[expiring("a", OnExpiry::Bury), expiring("dropped", OnExpiry::Drop), tried("c")]);
            travel(11_000);
            queue.push(&of_priority(5, expiring("d", OnExpiry::Bury))).unwrap();
            travel(1_001);
            raw.run(&["ACL", "SETUSER", "u", &format!("-{command}")]);
            let result = deliver(&limited);
            raw.run(&["ACL", "SETUSER", "u", "+@all"]);
            match result {
                Ok(many) => {
                    passed += 1;
                    assert_eq!(many, 0, "{name} without {command}");
                }
                Err(Error::Server { code, .. }) if code == "NOPERM" => failed += 1,
                Err(other) => panic!("{name} without {command}: {other}"),
            }
            assert!(reserve_many(&queue, 10).is_empty(), "{name} without {command}");
            let found: Vec<_> = ["a", "c", "d"].map(|name| state(&queue, name).map(|(state, _)| state)).to_vec();
            assert_eq!(found, vec![Some(State::Buried); 3], "{name} without {command}");
            let records = raw.int(&["HLEN", &key(&queue, "jobs")]);
            assert_eq!(records, 3, "{name} without {command}");
            travel(-12_001);
        }
    }
    assert!(failed > 50 && passed > 10, "{failed} {passed}");
}
