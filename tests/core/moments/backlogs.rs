//! Many late jobs: they cost few calls, each does a bounded amount of work, and those behind them keep their order.

use super::{expiring, of_priority};
use crate::audit;
use crate::support::*;
use delayqueue::core::job::NewJob;
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Fetch, Queue, ReserveOutcome};
use delayqueue::core::traits::OnExpiry;

/// One call of the script: whether it asks to be called again, and the ids of the jobs that it has leased.
fn one_call(queue: &Queue, max: usize) -> (bool, Vec<String>) {
    let (mut connections, mut fetch) = (Connections::default(), Fetch { max, ..Fetch::default() });
    let outcome = queue.reserve_now(&mut connections, &mut fetch, None).unwrap();
    queue.client().give_back(connections);
    match outcome {
        ReserveOutcome::Jobs(jobs) => (false, jobs.iter().map(|job| job.id.to_string()).collect()),
        ReserveOutcome::Nothing(_) => (false, Vec::new()),
        ReserveOutcome::Again => (true, Vec::new()),
    }
}

#[test]
fn a_backlog_of_late_jobs_does_not_cost_a_call_each() {
    let mut raw = shared().raw();
    for priority in [1024, 5] {
        for then in [OnExpiry::Bury, OnExpiry::Drop] {
            let queue = fresh();
            let late: Vec<NewJob> =
                (0..1_200).map(|n| of_priority(priority, expiring(&format!("late{n}"), then))).collect();
            push_many(&queue, &late);
            travel(2_000);
            queue.push(&of_priority(priority, job("live"))).unwrap();
            let (mut calls, mut before) = (0, 0);
            let got = loop {
                let (is_again, got) = one_call(&queue, 1);
                let now = queue.stats().unwrap().expired;
                assert!(now - before <= 500, "a bounded amount of work");
                (before, calls) = (now, calls + 1);
                if !is_again {
                    break got;
                }
            };
            assert_eq!(got, ["live"]);
            let promoting = if priority == 1024 { 0 } else { 2 };
            assert_eq!((calls, before), (3 + promoting, 1_200), "priority {priority}, {then:?}");
            let (_, faults) = audit::examine(&mut raw, &queue);
            assert_eq!(faults, Vec::<String>::new());
            travel(-2_000);
        }
    }
}

#[test]
fn the_classic_consumer_does_not_look_at_a_backlog_one_by_one_either() {
    let queue = fresh();
    let mut raw = shared().raw();
    for priority in [1024, 5] {
        let late: Vec<NewJob> =
            (0..700).map(|n| of_priority(priority, expiring(&format!("{priority} {n}"), OnExpiry::Drop))).collect();
        push_many(&queue, &late);
    }
    travel(2_000);
    push_many(&queue, &[job("x"), job("y")]);
    let before = raw.calls("zrangebyscore");
    assert_eq!(payloads(queue.take(None, 2).unwrap()), [b"payload of x", b"payload of y"]);
    let calls = raw.calls("zrangebyscore") - before;
    assert!(calls < 100, "{calls}, of all tests that use this server");
    assert_eq!(queue.stats().unwrap().expired, 1_400);
}

#[test]
fn large_records_bound_what_one_call_ends() {
    let queue = fresh();
    let large = |n: i32| NewJob { payload: vec![b'x'; 1 << 20], ..expiring(&format!("late{n}"), OnExpiry::Bury) };
    (0..12).for_each(|n| drop(queue.push(&large(n)).unwrap()));
    travel(2_000);
    for max in [1, 500] {
        let before = queue.stats().unwrap().expired;
        assert_eq!(one_call(&queue, max), (true, Vec::new()));
        assert_eq!(queue.stats().unwrap().expired - before, 4, "of {max}");
    }
}

#[test]
fn a_reserve_looks_behind_late_jobs_and_keeps_the_order() {
    for priorities in [[1024; 6], [5, 1024, 5, 2_000, 1024, 2_000]] {
        let queue = fresh();
        let late = |n: usize| of_priority(priorities[n], expiring(&format!("late{n}"), OnExpiry::Bury));
        push_many(&queue, &[late(0), late(1), late(2), late(3)]);
        travel(2_000);
        let live = |n: usize| of_priority(priorities[n], job(&format!("live{n}")));
        push_many(&queue, &[live(0), live(1), live(2), live(3), live(4), live(5)]);
        let (_, got) = one_call(&queue, 3);
        let expected = if priorities[0] == 5 { ["live0", "live2", "live1"] } else { ["live0", "live1", "live2"] };
        assert_eq!(got, expected);
        let ended = if priorities[0] == 5 { 3 } else { 4 };
        assert_eq!(queue.stats().unwrap().expired, ended, "those before the last one that was taken");
        assert_eq!(reserve_many(&queue, 10).len(), 3);
        assert_eq!(queue.stats().unwrap().expired, 4);
    }
}
