//! The connection between a worker's loop and Redis breaks: no job is lost, and none is reported lost that is not.

use crate::proxy::Fault;
use crate::support::*;
use crate::worker_loop::{N, REPEATED, Worker, name};
use delayqueue::core::job::State;
use std::collections::BTreeSet;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

#[test]
fn a_round_trip_that_breaks_is_repeated_without_an_error() {
    for fault in REPEATED {
        let mut worker = Worker::new(LONG, 60_000, 10 * N);
        worker.handle(N);
        for _ in 1..9 {
            worker.proxy.fail(fault, 1);
            worker.handle(N);
            worker.proxy.heal();
        }
        worker.handle(N);
        worker.feed.flush().unwrap();
        assert_eq!(worker.ids, (0..10 * N).map(name).collect::<Vec<_>>(), "{fault:?}");
        assert_eq!(worker.feed.take_lost(), [], "{fault:?}");
        assert_eq!((worker.acked(), worker.queue.count(None).unwrap()), (10 * N as u64, 0), "{fault:?}");
        assert_eq!(worker.queue.stats().unwrap().timed_out, 0, "{fault:?}");
    }
}

#[test]
fn a_round_trip_that_is_never_answered_is_reported_and_its_jobs_are_served_by_the_next() {
    for fault in [Fault::Hold, Fault::DropReply, Fault::DropBefore, Fault::Blackhole] {
        let mut worker = Worker::new(Duration::from_millis(2_500), 60_000, 3 * N);
        worker.handle(N);
        worker.proxy.fail(fault, u32::MAX);
        assert!(worker.try_next().is_err(), "{fault:?}");
        worker.proxy.heal();
        worker.handle(2 * N);
        worker.feed.flush().unwrap();
        assert_eq!(worker.ids, (0..3 * N).map(name).collect::<Vec<_>>(), "{fault:?}");
        assert_eq!(worker.feed.take_lost(), [], "{fault:?}: acknowledged by the trip, or by the one after it");
        assert_eq!((worker.acked(), worker.queue.stats().unwrap().timed_out), (3 * N as u64, 0), "{fault:?}");
    }
}

/// As when the worker is killed during a round trip.
#[test]
fn the_jobs_of_a_round_trip_that_is_never_repeated_are_back_within_their_ttr() {
    let mut worker = Worker::new(Duration::from_millis(300), 1_000, N);
    worker.proxy.fail(Fault::Hold, u32::MAX);
    assert!(worker.try_next().is_err());
    assert_eq!(states(&worker.queue), [0, 0, N as u64, 0]);
    until("they are back", || states(&worker.queue) == [0, N as u64, 0, 0]);
    let mut back = BTreeSet::new();
    while let Some(job) = reserve(&worker.queue) {
        assert_eq!(job.attempts, if back.is_empty() { 2 } else { 1 }, "only the first one could have begun");
        back.insert(job.id.to_string());
    }
    assert_eq!(back, (0..N).map(name).collect());
}

#[test]
fn a_job_that_was_lost_on_the_way_is_reported_once() {
    let mut worker = Worker::new(LONG, 60_000, 2 * N);
    let first = worker.next();
    assert_eq!(worker.queue.cancel(std::slice::from_ref(&first.job.id)).unwrap(), 1);
    worker.feed.done(&first.ticket);
    let mut lost = Vec::new();
    for _ in 0..2 * N - 1 {
        let delivery = worker.next();
        worker.feed.done(&delivery.ticket);
        lost.extend(worker.feed.take_lost());
    }
    worker.feed.flush().unwrap();
    lost.extend(worker.feed.take_lost());
    assert_eq!(lost, [first.ticket.key()]);
    assert_eq!(worker.acked(), 2 * N as u64 - 1);
}

#[test]
fn acknowledgements_wait_for_a_redis_that_is_away_and_leases_that_ended_count_as_lost() {
    for ttr_ms in [60_000, 500] {
        let mut worker = Worker::new(Duration::from_millis(300), ttr_ms, N);
        let delivery = worker.next();
        worker.proxy.fail(Fault::Blackhole, u32::MAX);
        worker.feed.done(&delivery.ticket);
        assert!(worker.feed.flush().is_err());
        worker.feed.give_up_ended();
        if ttr_ms == 500 {
            until("its lease has ended", || {
                worker.feed.give_up_ended();
                !worker.feed.take_lost().is_empty()
            });
            continue;
        }
        assert_eq!(worker.feed.take_lost(), []);
        worker.proxy.heal();
        until("it is acknowledged", || worker.acked() == 1);
        worker.feed.flush().unwrap();
        assert_eq!(worker.feed.take_lost(), []);
        assert_eq!(worker.queue.count(Some(State::Reserved)).unwrap(), N as u64 - 1);
    }
}
