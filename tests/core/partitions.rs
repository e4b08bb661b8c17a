//! One queue over several hash tags.

use crate::machine::stalls_since;
use crate::new_jobs::{once, receipt_only, replacing, unique};
use crate::support::*;
use delayqueue::core::doctor::Level;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobId, NewJob, OnDuplicate, State};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{NoInterrupts, PushOnce, Queue, QueueConfig};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const MANY: usize = 40;
/// The hash tags of the first four partitions of queue q.
const TAGS: [&str; 4] = ["q", "q#1.41", "q#2.21", "q#3.155"];

fn jobs(count: usize) -> Vec<NewJob> {
    (0..count).map(|number| job(&format!("order-{number}"))).collect()
}

fn names(count: usize) -> BTreeSet<String> {
    (0..count).map(|number| format!("order-{number}")).collect()
}

fn one(partitions: &Partitions) -> Option<(Queue, delayqueue::core::job::Reserved)> {
    let found = partitions.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap();
    found.map(|(queue, mut jobs)| (queue, jobs.remove(0)))
}

/// Takes and acknowledges everything; returns the ids in their order.
fn drain(partitions: &Partitions) -> Vec<String> {
    std::iter::from_fn(|| one(partitions))
        .map(|(queue, job)| {
            queue.ack(&job.held()).unwrap();
            job.id.to_string()
        })
        .collect()
}

#[test]
fn jobs_are_spread_over_partitions_and_all_of_them_are_found() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    let mut stored = Vec::new();
    partitions.push_many(jobs(MANY), &mut stored).unwrap();
    let ids: Vec<String> = stored.iter().map(ToString::to_string).collect();
    assert_eq!(ids, (0..MANY).map(|number| format!("order-{number}")).collect::<Vec<_>>(), "in the order of the jobs");
    let mut raw = server.raw();
    let sizes: Vec<i64> = TAGS.map(|tag| raw.int(&["HLEN", &format!("dq:{{{tag}}}:jobs")])).into();
    assert!(sizes.iter().all(|size| *size > 0) && sizes.iter().sum::<i64>() == MANY as i64, "{sizes:?}");
    assert_eq!(
        partitions.each(None, |part| part.count(Some(State::Ready))).map(|counts| counts.iter().sum::<u64>()).unwrap(),
        MANY as u64
    );
    assert!(matches!(partitions.push(job("order-7")), Err(Error::Duplicate { .. })));
    let drained: BTreeSet<String> = drain(&partitions).into_iter().collect();
    assert_eq!(drained, names(MANY));
}

#[test]
fn every_operation_on_a_job_finds_its_partition() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 5);
    for number in 0..12 {
        let name = format!("order-{number}");
        let id = id(&name);
        partitions.push(NewJob { due: Due::InMs(60_000), ..job(&name) }).unwrap();
        assert_eq!(partitions.at_home(&id, |part| part.peek(&id)).unwrap().unwrap().state, State::Delayed);
        assert!(partitions.at_home(&id, |part| part.update(&id, Changes::payload(b"2"), None, None)).unwrap());
        assert!(partitions.at_home(&id, |part| part.reschedule(&id, Due::InMs(90_000), false)).unwrap());
        assert!(partitions.at_home(&id, |part| part.kick_job(&id, true)).unwrap());
        let (queue, held) =
            partitions.at_home(&id, |part| Ok(part.reserve_job(&id)?.map(|job| (part.clone(), job)))).unwrap().unwrap();
        assert_eq!(&*held.payload, b"2");
        queue.bury(&held.held(), None).unwrap();
        assert_eq!(partitions.at_home(&id, |part| part.peek(&id)).unwrap().unwrap().state, State::Buried);
        assert_eq!(partitions.cancel(&[id.clone(), id.clone()]).unwrap(), 1);
        assert_eq!(partitions.at_home(&id, |part| part.peek(&id)).unwrap(), None);
    }
}

#[test]
fn every_operation_on_the_queue_counts_all_partitions() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 3);
    partitions.push_many(jobs(MANY), &mut Vec::new()).unwrap();
    let mut pages = BTreeSet::new();
    for offset in (0..MANY as u64 + 7).step_by(7) {
        pages.extend(partitions.list_from(State::Ready, None, offset, 7).unwrap().iter().map(|job| job.id.to_string()));
    }
    assert_eq!(pages, names(MANY), "pages leave none out");
    assert_eq!(partitions.list_from(State::Ready, None, 0, 1000).unwrap().len(), MANY);
    assert_eq!(partitions.list_from(State::Ready, None, 39, 5).unwrap().len(), 1);
    partitions.sum(None, "partitions paused", |part| part.pause(None, None).map(|()| 1)).unwrap();
    assert!(partitions.is_paused(None).unwrap() && one(&partitions).is_none());
    partitions.sum(None, "partitions resumed", |part| part.resume(None).map(|()| 1)).unwrap();
    for _ in 0..10 {
        let (queue, job) = one(&partitions).unwrap();
        queue.bury(&job.held(), None).unwrap();
    }
    let stats = partitions.stats().unwrap();
    assert_eq!((stats.ready, stats.buried, stats.pushed, stats.ever.lateness().count()), (30, 10, 40, 10));
    assert!(partitions.peek_state(State::Buried).unwrap().is_some());
    assert_eq!(partitions.kick(7, true).unwrap(), 7);
    assert_eq!(partitions.sum(None, "jobs deleted", |part| part.purge(&[State::Buried])).unwrap(), 3);
    assert_eq!(partitions.take(None, 30).unwrap().len(), 30);
    assert_eq!(partitions.each(None, |part| part.count(None)).map(|counts| counts.iter().sum::<u64>()).unwrap(), 7);
    assert_eq!(partitions.first().queues().unwrap(), ["q"]);
    let checks = partitions.doctor(true).unwrap();
    assert_eq!(checks.iter().filter(|check| check.check == "jobs").count(), 3);
    assert_eq!(checks.iter().filter(|check| check.check == "version").count(), 1);
}

#[test]
fn jobs_from_before_a_raise_are_found_and_drained() {
    let server = Server::start(&[]);
    let few = Partitions::new(&server.queue("q"), 1);
    few.push_many(jobs(MANY), &mut Vec::new()).unwrap();
    assert_eq!(few.first().known_partitions().unwrap(), 1);
    let more = Partitions::new(&server.queue("q"), 4);
    for number in 0..MANY {
        assert!(
            more.at_home(&id(&format!("order-{number}")), |part| part.peek(&id(&format!("order-{number}"))))
                .unwrap()
                .is_some()
        );
    }
    assert_eq!(more.cancel(&[id("order-1"), id("order-2"), id("nothing")]).unwrap(), 2);
    more.push_many((MANY..2 * MANY).map(|number| job(&format!("order-{number}"))).collect(), &mut Vec::new()).unwrap();
    assert_eq!(more.first().known_partitions().unwrap(), 4);
    let warning = few.doctor(false).unwrap().into_iter().find(|check| check.check == "partitions").unwrap();
    assert!(warning.level == Level::Error && warning.message.contains("4 partitions"), "{warning:?}");
    assert!(more.doctor(false).unwrap().iter().all(|check| check.check != "partitions"));
    let mut expected = names(2 * MANY);
    expected.retain(|name| name != "order-1" && name != "order-2");
    assert_eq!(drain(&more).into_iter().collect::<BTreeSet<_>>(), expected);
}

/// A partition that is always full must not keep a worker from the others.
#[test]
fn no_partition_starves() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    partitions.push_many(jobs(200), &mut Vec::new()).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..80 {
        let (_, job) = one(&partitions).unwrap();
        *counts.entry(home(&server, &job.id)).or_insert(0) += 1;
    }
    assert!(counts.len() == 4 && counts.values().all(|count| *count >= 5), "{counts:?}");
}

fn home(server: &Server, id: &JobId) -> usize {
    let mut raw = server.raw();
    let is_in = |tag: &&str, raw: &mut Raw| raw.int(&["HEXISTS", &format!("dq:{{{tag}}}:jobs"), &id.to_string()]) == 1;
    TAGS.iter().position(|tag| is_in(tag, &mut raw)).unwrap()
}

#[test]
fn one_waiter_hears_of_a_push_to_any_partition() {
    let server = Server::start(&[]);
    for number in 0..6 {
        let (queue, name) = (server.queue("q"), format!("order-{number}"));
        let waiter = std::thread::spawn(move || {
            let found =
                Partitions::new(&queue, 4).reserve(&["q".into()], 1, Some(Duration::from_secs(20)), &mut NoInterrupts);
            (found.unwrap().unwrap().1.remove(0).id.to_string(), Instant::now())
        });
        let mut raw = server.raw();
        let waiting = |tag: &&str, raw: &mut Raw| raw.int(&["ZCARD", &format!("dq:{{{tag}}}:waiters")]) > 0;
        until("the waiter is known everywhere", || TAGS.iter().all(|tag| waiting(tag, &mut raw)));
        let pushed = Instant::now();
        Partitions::new(&server.queue("q"), 4).push(job(&name)).unwrap();
        let (found, at) = waiter.join().unwrap();
        assert_eq!(found, name);
        assert!(at - pushed < Duration::from_secs(2) + stalls_since(pushed), "no wake-up, but a check");
        until("nobody waits", || TAGS.iter().all(|tag| !waiting(tag, &mut raw)));
    }
}

#[test]
fn the_first_delayed_job_is_the_one_that_falls_due_first_whatever_its_priority() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    for number in 0..8 {
        let mut one = delayed(&format!("order-{number}"), 60_000 + 1000 * number);
        one.options.priority = 1024 - number as u32;
        partitions.push(one.clone()).unwrap();
    }
    assert_eq!(partitions.peek_state(State::Delayed).unwrap().unwrap().id, id("order-0"));
}

#[test]
fn ids_come_in_the_order_of_the_jobs_also_where_one_is_named_twice() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    let names = ["order-1", "order-2", "order-3", "order-1", "order-4"];
    let keep = |name| NewJob { on_duplicate: OnDuplicate::Keep, ..job(name) };
    let mut stored = Vec::new();
    partitions.push_many(names.map(keep).into(), &mut stored).unwrap();
    assert_eq!(stored.iter().map(ToString::to_string).collect::<Vec<_>>(), names);
}

/// One of four partitions fails; the error says that the others are changed, and how much.
#[test]
fn a_partition_that_fails_does_not_keep_the_others_from_a_change() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    let all: Vec<JobId> = (0..MANY).map(|number| id(&format!("order-{number}"))).collect();
    let mut raw = server.raw();
    let [broken, others] = [
        [TAGS[1]].iter().map(|tag| format!("dq:{{{tag}}}:limits")).collect::<Vec<_>>(),
        [TAGS[0], TAGS[2], TAGS[3]].iter().map(|tag| format!("dq:{{{tag}}}:limits")).collect(),
    ];
    let fill = |partitions: &Partitions| partitions.push_many(jobs(MANY), &mut Vec::new()).unwrap();
    let mut check = |what: &str, done: &str, change: &dyn Fn() -> Result<(), Error>| {
        let is_there = raw.int(&["EXISTS", &broken[0]]) == 1;
        if is_there {
            raw.run(&["RENAME", &broken[0], "kept"]);
        }
        raw.run(&["SET", &broken[0], "x"]);
        let error = change().unwrap_err();
        assert!(matches!(error, Error::Connection { ambiguous: true, .. }), "{what}: {error:?}");
        assert!(error.to_string().contains(done), "{what}: {error}");
        assert!(error.to_string().contains("failed: 1 of 4") && error.to_string().contains("WRONGTYPE"), "{error}");
        raw.run(&["DEL", &broken[0]]);
        if is_there {
            raw.run(&["RENAME", "kept", &broken[0]]);
        }
        let paused = others.iter().filter(|limits| raw.int(&["HEXISTS", limits, "\n\n"]) == 1).count();
        (
            partitions.each(None, |part| part.count(None)).map(|counts| counts.iter().sum::<u64>()).unwrap() as usize,
            paused,
        )
    };
    fill(&partitions);
    let in_broken = server.raw().int(&["ZCARD", &format!("dq:{{{}}}:waiting", TAGS[1])]) as usize;
    let gone = MANY - in_broken;
    let cancelled = check("cancel", &format!("jobs cancelled: {gone}"), &|| partitions.cancel(&all).map(drop));
    assert_eq!(cancelled, (in_broken, 0));
    partitions.cancel(&all).unwrap();
    fill(&partitions);
    let purged = check("purge", &format!("jobs deleted: {gone}"), &|| {
        partitions.sum(None, "jobs deleted", |part| part.purge(&[])).map(drop)
    });
    assert_eq!(purged, (in_broken, 0));
    assert_eq!(
        check("pause", "partitions paused: 3", &|| partitions
            .sum(None, "partitions paused", |part| part.pause(None, None).map(|()| 1))
            .map(drop)),
        (in_broken, 3)
    );
    assert_eq!(
        check("resume", "partitions resumed: 3", &|| partitions
            .sum(None, "partitions resumed", |part| part.resume(None).map(|()| 1))
            .map(drop)),
        (in_broken, 0)
    );
    partitions.cancel(&all).unwrap();
    fill(&partitions);
    while let Some((queue, job)) = one(&partitions) {
        queue.bury(&job.held(), None).unwrap();
    }
    check("kick", &format!("jobs kicked: {gone}"), &|| partitions.kick(1000, true).map(drop));
    assert_eq!(
        partitions.each(None, |part| part.count(Some(State::Ready))).map(|counts| counts.iter().sum::<u64>()).unwrap()
            as usize,
        gone
    );
}

/// Nothing has changed, so the error says no more than what stopped it.
#[test]
fn a_change_that_fails_in_all_partitions_is_not_ambiguous() {
    let mut server = Server::start(&[]);
    let queue = Queue::new(QueueConfig { read_timeout: Duration::from_millis(500), ..config(server.dsn(), "q") });
    let partitions = Partitions::new(&queue, 16);
    server.kill();
    let started = Instant::now();
    for error in [
        partitions.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap_err(),
        partitions.sum(None, "partitions paused", |part| part.pause(None, None).map(|()| 1)).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    }
    // A cluster of which nobody answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dsn = Dsn::parse(&format!("redis+cluster://{}", silent.local_addr().unwrap())).unwrap();
    let time = Duration::from_millis(300);
    let queue = Queue::new(QueueConfig { connect_timeout: time, read_timeout: time, ..config(dsn, "q") });
    let error =
        Partitions::new(&queue, 32).sum(None, "partitions resumed", |part| part.resume(None).map(|()| 1)).unwrap_err();
    assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    assert!(
        started.elapsed() < Duration::from_secs(6) + stalls_since(started),
        "once for all of them, {:?}",
        started.elapsed()
    );
}

/// Taken jobs are deleted: an error behind them would lose them.
#[test]
fn jobs_that_were_taken_are_handed_over_although_another_partition_fails() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    partitions.push_many(jobs(MANY), &mut Vec::new()).unwrap();
    let mut raw = server.raw();
    let in_broken = raw.int(&["ZCARD", &format!("dq:{{{}}}:waiting", TAGS[1])]) as usize;
    raw.run(&["SET", &format!("dq:{{{}}}:meta", TAGS[1]), "x"]);
    let mut taken = 0;
    for _ in 0..60 {
        taken += partitions.take(None, MANY).map_or(0, |jobs| jobs.len());
    }
    assert_eq!(taken, MANY - in_broken);
    assert!(partitions.take(None, 1).is_err(), "the error comes when there is nothing to hand over");
}

/// Without an id, too: a repeat has to look in the same homes.
#[test]
fn jobs_arrive_once_over_partitions_and_after_raises() {
    let server = Server::start(&[]);
    let new = |n: usize| match n % 3 {
        0 => once(&format!("r{n}"), NewJob { id: None, ..job("x") }),
        1 => receipt_only(&format!("r{n}"), NewJob { id: None, ..job("x") }),
        _ => once(&format!("r{n}"), job(&format!("order-{n}"))),
    };
    let batch = |range: std::ops::Range<usize>| range.map(new).collect::<Vec<_>>();
    for (first, then) in [(1, 4), (3, 3), (2, 5)] {
        server.raw().run(&["FLUSHALL"]);
        let few = Partitions::new(&server.queue("q"), first);
        assert_eq!(few.push_once(batch(0..60)).unwrap(), PushOnce { added: 60, ..PushOnce::default() });
        assert_eq!(few.push_once(batch(0..60)).unwrap(), PushOnce { known: 60, ..PushOnce::default() });
        let more = Partitions::new(&server.queue("q"), then);
        assert_eq!(more.push_once(batch(0..90)).unwrap(), PushOnce { added: 30, kept: 0, known: 60 });
        assert_eq!(more.push_once(batch(30..90)).unwrap(), PushOnce { known: 60, ..PushOnce::default() });
        assert_eq!(drain(&more).len(), 60, "{first} to {then}");
        assert_eq!(more.push_once(batch(0..90)).unwrap().known, 90);
        let all = more.receipts(0, b"", usize::MAX).unwrap();
        assert_eq!((all.len(), more.receipts(0, b"", 7).unwrap().len()), (90, 7));
        assert!(!more.forget().unwrap());
        assert_eq!(more.sum(None, "receipts forgotten", |part| part.forget_receipts(&all)).unwrap(), 90);
        assert!(more.forget().unwrap());
    }
}

#[test]
fn a_job_in_an_older_home_is_kept_and_its_receipt_is_given_where_it_is_looked_for() {
    let server = Server::start(&[]);
    let few = Partitions::new(&server.queue("q"), 1);
    few.push_many(jobs(MANY), &mut Vec::new()).unwrap();
    let more = Partitions::new(&server.queue("q"), 4);
    let batch = || (0..MANY).map(|n| once(&format!("r{n}"), replacing(job(&format!("order-{n}"))))).collect::<Vec<_>>();
    let told = more.push_once(batch()).unwrap();
    assert_eq!((told.added + told.kept, told.known), (MANY as u64, 0));
    assert!(told.kept > 0 && told.added > 0, "{told:?}: those in the first partition are replaced");
    assert_eq!(more.push_once(batch()).unwrap().known, MANY as u64);
    assert_eq!(
        more.each(None, |part| part.count(None)).map(|counts| counts.iter().sum::<u64>()).unwrap(),
        MANY as u64,
        "no id is there twice"
    );
}

#[test]
fn ids_that_are_taken_lie_in_the_homes_of_their_jobs() {
    let server = Server::start(&[]);
    let partitions = Partitions::new(&server.queue("q"), 4);
    let taking = |n: usize| unique(&format!("order-{n}"), 600_000, OnDuplicate::Fail);
    partitions.push_many((0..20).map(taking).collect(), &mut Vec::new()).unwrap();
    drain(&partitions);
    assert!((0..20).all(|n| partitions.push(taking(n)).is_err()));
    assert_eq!(partitions.try_push(taking(3)).unwrap(), None);
    assert_eq!(partitions.each(None, Queue::taken_ids).unwrap().concat().len(), 20);
    assert!(!partitions.forget().unwrap());
    assert_eq!(
        partitions.sum(None, "receipts forgotten", |part| part.forget_receipts(&[b"order-3".to_vec()])).unwrap(),
        1
    );
    assert!(partitions.try_push(taking(3)).unwrap().is_some());
}
