//! One id is one job: pushed by many at once, pushed again because an answer was lost, purged and cancelled beside its holder.

use crate::audit;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Queue;
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

const KEEP: OnDuplicate = OnDuplicate::Keep;

/// Eight threads push the same ids at the same moments, each in its own way. Returns how often each id was accepted.
fn push_at_once(queue: &Queue, ids: usize, on_duplicate: OnDuplicate) -> Vec<u32> {
    const THREADS: u64 = 8;
    let barrier = Barrier::new(THREADS as usize);
    let accepted: Vec<AtomicU32> = (0..ids).map(|_| AtomicU32::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (barrier, accepted, queue) = (&barrier, &accepted, queue.clone());
            scope.spawn(move || {
                for (n, accepted) in accepted.iter().enumerate() {
                    let options = priority_options(if thread == 7 { 5 } else { 1024 });
                    let due = Due::InMs(30_000 + thread % 3 * 1_000);
                    let job = NewJob { options, due, on_duplicate, ..job(&format!("{n:04}")) };
                    barrier.wait();
                    let result = match thread {
                        6 => queue.push_many(&[job], &mut Vec::new()),
                        _ => queue.push(&job).map(|_| ()),
                    };
                    match result {
                        Ok(()) => drop(accepted.fetch_add(1, Ordering::Relaxed)),
                        Err(Error::Duplicate { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    accepted.into_iter().map(AtomicU32::into_inner).collect()
}

#[test]
fn pushes_of_one_id_at_once_make_one_job_that_is_delivered() {
    for on_duplicate in [OnDuplicate::Keep, OnDuplicate::Fail, OnDuplicate::Replace] {
        let queue = fresh();
        let accepted = push_at_once(&queue, 300, on_duplicate);
        let expected = if on_duplicate == OnDuplicate::Fail { 1 } else { 8 };
        assert!(accepted.iter().all(|count| *count == expected), "{on_duplicate:?}: {accepted:?}");
        assert_eq!(audit::places(&mut shared().raw(), &queue).len(), 300);
        assert_eq!(states(&queue), [300, 0, 0, 0], "{on_duplicate:?}");
        travel(33_000);
        let served = serve_all(&queue);
        assert_eq!((served.len(), served.into_iter().collect::<BTreeSet<_>>().len()), (300, 300), "{on_duplicate:?}");
        delayqueue::core::clock::set_offset_ms(0);
    }
}

/// Each of these is one push.
type Push = fn(&Queue) -> Result<(), Error>;

const PUSHES: [(&str, Push); 6] = [
    ("one", |queue| queue.push(&delayed("a", 50_000)).map(drop)),
    ("one of a generated id", |queue| queue.push(&NewJob { id: None, ..delayed("a", 50_000) }).map(drop)),
    ("an urgent one", |queue| queue.push(&prioritized("a", 5)).map(drop)),
    ("one that keeps", |queue| queue.push(&NewJob { on_duplicate: KEEP, ..job("a") }).map(drop)),
    ("many", |queue| queue.push_many(&[job("a"), delayed("b", 50_000)], &mut Vec::new())),
    ("many of any priority", |queue| queue.push_many(&[job("a"), prioritized("b", 5)], &mut Vec::new())),
];

#[test]
fn a_push_that_is_repeated_seconds_later_knows_its_own_job() {
    let server = Server::start(&[]);
    std::thread::scope(|scope| {
        for (number, (name, push)) in PUSHES.iter().enumerate() {
            let server = &server;
            scope.spawn(move || {
                let (direct, proxy) = (server.queue(&format!("q{number}")), Proxy::before(server));
                let queue = proxy.queue(direct.name(), Duration::from_secs(10));
                proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_secs(2)));
                let started = Instant::now();
                assert_eq!(push(&queue), Ok(()), "{name}");
                assert!(started.elapsed() >= Duration::from_secs(2), "{name}");
                assert_eq!(proxy.heal(), 2, "{name}");
                let expected = 1 + u64::from(name.starts_with("many"));
                assert_eq!(direct.count(None).unwrap(), expected, "{name}");
            });
        }
    });
}

/// A worker has held and released it between the two tries: its record says so.
#[test]
fn a_push_knows_its_own_job_also_when_that_has_a_history_by_now() {
    let server = Server::start(&[]);
    for (number, (name, push)) in PUSHES.iter().enumerate() {
        let (direct, proxy) = (server.queue(&format!("q{number}")), Proxy::before(&server));
        let queue = proxy.queue(direct.name(), Duration::from_secs(10));
        proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_secs(1)));
        std::thread::scope(|scope| {
            let pushed = scope.spawn(|| push(&queue));
            until("the first try is executed", || direct.count(None).unwrap() > 0);
            let job = direct.list(State::Delayed, 0, 1).unwrap().pop();
            let job = job.or_else(|| direct.list(State::Ready, 0, 1).unwrap().pop()).unwrap();
            let held = direct.reserve_job(&job.id).unwrap().unwrap();
            direct.release(&held.held(), Due::InMs(70_000), None, true).unwrap();
            assert_eq!(pushed.join().unwrap(), Ok(()), "{name}");
            let info = direct.peek(&job.id).unwrap().unwrap();
            assert_eq!((info.state, info.attempts), (State::Delayed, 1), "{name}: it is not touched again");
        });
        assert_eq!(proxy.heal(), 2);
    }
}

#[test]
fn a_replacement_whose_answer_was_lost_gets_its_due_time_though_the_old_job_looks_the_same() {
    let (server, proxy) = Proxy::with_server();
    for fault in [Fault::DropReply, Fault::DropBefore] {
        for n in 0..50 {
            let direct = server.queue(&format!("{fault:?}{n}"));
            let queue = proxy.queue(direct.name(), Duration::from_secs(5));
            queue.count(None).unwrap();
            direct.push(&job("a")).unwrap();
            proxy.fail(fault, 1);
            let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..delayed("a", 50_000) };
            queue.push(&replacing).unwrap();
            assert_eq!(proxy.heal(), 1);
            assert_eq!(states(&direct), [1, 0, 0, 0], "{fault:?}");
        }
    }
}

/// A batch is stored as a whole. So a repeat that finds one of its jobs adds none of those that were done since.
#[test]
fn a_batch_that_is_repeated_adds_no_job_again_that_was_done_meanwhile() {
    let server = Server::start(&[]);
    let rules = [OnDuplicate::Fail, OnDuplicate::Keep, OnDuplicate::Replace];
    for (number, rule) in rules.into_iter().enumerate() {
        for priority in [1024, 5] {
            let (direct, proxy) = (server.queue(&format!("q{number}-{priority}")), Proxy::before(&server));
            let queue = proxy.queue(direct.name(), Duration::from_secs(10));
            let batch = ["a", "b", "c", "d"].map(|name| NewJob { on_duplicate: rule, ..prioritized(name, priority) });
            proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_secs(1)));
            std::thread::scope(|scope| {
                let pushed = scope.spawn(|| queue.push_many(&batch, &mut Vec::new()));
                until("the first try is executed", || direct.count(None).unwrap() > 0);
                for _ in 0..2 {
                    direct.ack(&reserve(&direct).unwrap().held()).unwrap();
                }
                direct.push(&NewJob { payload: b"another".into(), ..job("a") }).unwrap();
                assert_eq!(pushed.join().unwrap(), Ok(()), "{rule:?}");
            });
            assert_eq!(proxy.heal(), 2);
            let left: Vec<_> =
                reserve_many(&direct, 10).into_iter().map(|job| (job.id.to_string(), job.payload)).collect();
            let order: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "a").collect();
            assert_eq!(order, ["c", "d"], "{rule:?}, priority {priority}");
            assert!(left.contains(&("a".into(), b"another".into())), "{rule:?}, priority {priority}: {left:?}");
        }
    }
}

#[test]
fn a_batch_that_is_repeated_keeps_its_order_though_one_job_replaces_another() {
    let server = Server::start(&[]);
    for n in 0..3 {
        let (direct, proxy) = (server.queue(&format!("q{n}")), Proxy::before(&server));
        let queue = proxy.queue(direct.name(), Duration::from_secs(10));
        let mut batch = ["a", "b", "c"].map(job);
        batch[n].on_duplicate = OnDuplicate::Replace;
        queue.count(None).unwrap();
        proxy.fail(Fault::DropReply, 1);
        queue.push_many(&batch, &mut Vec::new()).unwrap();
        assert_eq!(proxy.heal(), 1);
        let order: Vec<String> = reserve_many(&direct, 10).iter().map(|job| job.id.to_string()).collect();
        assert_eq!(order, ["a", "b", "c"]);
    }
}

/// Threads that push jobs that are there already, until dropped.
fn beside<T>(queue: &Queue, again: &[NewJob], work: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (stop, queue) = (&stop, queue.clone());
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    match thread {
                        0 => queue.push_many(again, &mut Vec::new()).unwrap(),
                        _ => again.iter().for_each(|job| drop(queue.push(job).unwrap())),
                    }
                }
            });
        }
        let result = work();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn a_purge_beside_duplicate_pushes_touches_only_its_states() {
    for priority in [1024, 5] {
        let queue = fresh();
        let with = |name: &str, due_ms| NewJob { due: Due::InMs(due_ms), ..prioritized(name, priority) };
        let held: Vec<_> = ["held 1", "held 2"]
            .map(|name| {
                queue.push(&with(name, 0)).unwrap();
                reserve(&queue).unwrap()
            })
            .into();
        queue.push(&with("far", 3_600_000)).unwrap();
        queue.push(&with("buried", 0)).unwrap();
        queue.bury(&queue.reserve_job(&id("buried")).unwrap().unwrap().held(), None).unwrap();
        let again: Vec<NewJob> = ["held 1", "held 2", "far", "buried"]
            .iter()
            .flat_map(|name| [0, 3_000, 50_000].map(|due_ms| NewJob { on_duplicate: KEEP, ..with(name, due_ms) }))
            .collect();
        beside(&queue, &again, || {
            let end = Instant::now() + Duration::from_secs(1);
            while Instant::now() < end {
                assert_eq!(queue.purge(&[State::Ready]).unwrap(), 0);
            }
        });
        assert_eq!(states(&queue), [1, 0, 2, 1]);
        assert_eq!(audit::places(&mut shared().raw(), &queue).len(), 4);
        ack_all(&queue, &held);
    }
}

#[test]
fn an_acknowledgement_proves_its_lease() {
    let queue = fresh();
    for way_out in ["cancelled", "purged", "acknowledged", "timed out"] {
        queue.push(&job("a")).unwrap();
        let old = reserve(&queue).unwrap();
        match way_out {
            "cancelled" => assert_eq!(queue.cancel(&[id("a")]).unwrap(), 1),
            "purged" => assert_eq!(queue.purge(&[State::Reserved]).unwrap(), 1),
            "acknowledged" => queue.ack(&old.held()).unwrap(),
            _ => travel(60_001),
        }
        if way_out != "timed out" {
            queue.push(&job("a")).unwrap();
        }
        let new = reserve(&queue).unwrap();
        assert!(matches!(queue.ack(&old.held()), Err(Error::LeaseLost { .. })), "{way_out}");
        assert!(matches!(queue.bury(&old.held(), None), Err(Error::LeaseLost { .. })), "{way_out}");
        assert_eq!(queue.renew(&[(&old.receipt, 60_000)]).unwrap(), [None], "{way_out}");
        assert_eq!(states(&queue), [0, 0, 1, 0], "{way_out}: it is the new holder's");
        queue.ack(&new.held()).unwrap();
    }
}

#[test]
fn cancelling_a_held_job_is_exact_beside_six_hundred_leases_that_come_and_go() {
    let queue = fresh();
    let options = JobOptions { ttr_ms: 600_000, ..JobOptions::default() };
    let others: Vec<NewJob> =
        (0..600).map(|n| NewJob { options: options.clone(), ..job(&format!("other {n}")) }).collect();
    push_many(&queue, &others);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut held = reserve_many(&queue, 200);
                while !stop.load(Ordering::Relaxed) {
                    let some = held.split_off(held.len() - 50);
                    queue.give_back(&receipts(&some)).unwrap();
                    held.extend(reserve_many(&queue, 50));
                }
            });
        }
        until("all are held", || queue.count(Some(State::Reserved)).unwrap() >= 550);
        for round in 0..60 {
            let mut mine = Vec::new();
            for name in ["mine", "mine too"] {
                queue.push(&delayed(name, 3_600_000)).unwrap();
                mine.push(queue.reserve_job(&id(name)).unwrap().unwrap());
            }
            assert_eq!(queue.cancel(&[id("mine"), id("nobody"), id("mine too")]).unwrap(), 2, "round {round}");
            queue.push(&delayed("mine", 3_600_000)).unwrap();
            for old in &mine {
                assert!(matches!(queue.ack(&old.held()), Err(Error::LeaseLost { .. })), "round {round}");
            }
            assert_eq!(queue.cancel(&[id("mine")]).unwrap(), 1, "round {round}: the new one is still there");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(queue.count(None).unwrap(), 600);
    assert_eq!(audit::places(&mut shared().raw(), &queue).len(), 600);
}

#[test]
fn a_push_that_replaces_a_job_whose_lease_is_over_ends_that_lease() {
    let queue = fresh();
    let mut raw = shared().raw();
    queue.push(&job("a")).unwrap();
    let old = reserve(&queue).unwrap();
    travel(60_001);
    queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..delayed("a", 3_600_000) }).unwrap();
    assert_eq!(raw.int(&["ZCARD", &key(&queue, "reserved")]), 0);
    assert_eq!(raw.int(&["HEXISTS", &key(&queue, "leases"), "a"]), 0);
    assert!(matches!(queue.ack(&old.held()), Err(Error::LeaseLost { .. })));
    let new = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!((new.state, new.attempts, new.timeouts), (State::Delayed, 0, 0), "nothing takes the old lease back");
    let stats = queue.stats().unwrap();
    assert_eq!((stats.timed_out, stats.pushed, stats.delayed), (1, 2, 1), "it counts as expired");
}
