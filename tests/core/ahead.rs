//! Fetching ahead: the next batch is fetched while the one in hand is handled.

use crate::proxy::Fault;
use crate::support::*;
use crate::worker_loop::*;
use delayqueue::core::job::{NewJob, State};
use delayqueue::core::link;
use delayqueue::core::worker::feed::Feed;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

#[test]
fn jobs_are_delivered_while_the_next_trip_is_under_way() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    let first = worker.get_ahead_and_break(Fault::Late, 1);
    worker.feed.done(&first.ticket).unwrap();
    worker.handle(N - 1);
    assert_eq!(worker.proxy.met(), 1, "its reply is still held back");
    worker.proxy.heal();
    worker.handle(N);
    worker.assert_in_order();
    worker.feed.return_rest().unwrap();
    worker.feed.flush().unwrap();
    assert_eq!(worker.queue.stats().unwrap().acked, worker.ids.len() as u64);
    assert_eq!((worker.feed.take_lost(), worker.reserved()), (vec![], 0));
}

#[test]
fn two_slots_take_turns_and_everything_is_acknowledged_once() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    let mut raw = worker.server.raw();
    let mut slots = HashMap::new();
    let before = raw.calls("evalsha");
    while let Some(delivery) = worker.try_next().unwrap() {
        worker.feed.done(&delivery.ticket).unwrap();
        if worker.ids.len().is_multiple_of(N) {
            *slots.entry(delivery.job.receipt.slot.to_string()).or_insert(0) += 1;
        }
    }
    let trips = raw.calls("evalsha") - before;
    worker.feed.flush().unwrap();
    assert_eq!(worker.ids.len(), 400);
    worker.assert_in_order();
    assert_eq!(slots.len(), 2, "{slots:?}");
    assert!(slots.values().all(|batches| *batches > 20), "{slots:?}");
    assert!((100..=115).contains(&trips), "{trips} trips"); // a slow batch acknowledges by itself
    let stats = worker.queue.stats().unwrap();
    assert_eq!((stats.acked, stats.timed_out, worker.feed.take_lost()), (400, 0, vec![]));
    assert_eq!(worker.feed.take_acknowledged().into_iter().collect::<HashSet<_>>().len(), 400);
    assert_eq!(states(&worker.queue), [0; 4]);
}

#[test]
fn what_was_fetched_ahead_goes_back_uncounted_and_in_its_place() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    let first = worker.get_ahead();
    let done = worker.ids.len();
    worker.feed.done(&first.ticket).unwrap();
    worker.feed.return_rest().unwrap();
    assert_eq!(states(&worker.queue), [0, 400 - done as u64, 0, 0]);
    assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (done as u64, vec![]));
    for n in done..400 {
        let again = reserve(&worker.queue).unwrap();
        assert_eq!((again.id.to_string(), again.attempts), (name(n), 1));
    }
}

#[test]
fn a_trip_that_is_not_answered_in_time_is_left_and_its_jobs_come_back() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    let first = worker.get_ahead_and_break(Fault::Late, 1);
    until("Redis has made the trip", || worker.reserved() == 2 * N as u64);
    let done = worker.ids.len() as u64;
    worker.feed.done(&first.ticket).unwrap();
    let started = Instant::now();
    let _ = link::within(Duration::from_millis(200), || worker.feed.return_rest());
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(worker.reserved(), N as u64 + 1);
    worker.feed.flush().unwrap();
    let stats = worker.queue.stats().unwrap();
    assert_eq!((stats.acked, worker.feed.take_lost()), (done, vec![]), "what travelled along is not lost");
    worker.proxy.heal();
    until("the thread gives them back", || worker.reserved() == 0);
    let again = reserve(&worker.queue).unwrap();
    assert_eq!((again.id.to_string(), again.attempts), (name(worker.ids.len()), 1));
    let next = worker.next();
    assert_eq!(next.job.id, id(&name(worker.ids.len())), "the feed goes on with another thread");
}

#[test]
fn the_jobs_of_a_trip_that_is_never_answered_are_back_within_their_ttr() {
    let mut worker = Worker::new(LONG, 1_500, 400);
    let first = worker.get_ahead_and_break(Fault::Hold, 1);
    worker.feed.done(&first.ticket).unwrap();
    let _ = link::within(Duration::from_millis(200), || worker.feed.return_rest());
    worker.feed.flush().unwrap();
    let in_hand = N - 1;
    until("the leases end", || worker.reserved() == 0);
    for n in 0..2 * N {
        let attempts = if (in_hand..in_hand + N).contains(&n) { 2 } else { 1 };
        let again = reserve(&worker.queue).unwrap();
        assert_eq!((again.id.to_string(), again.attempts), (name(worker.ids.len() + n), attempts));
    }
}

#[test]
fn the_batch_behind_is_renewed_while_a_handler_is_busy() {
    let mut worker = Worker::new(LONG, 1_500, 400);
    let first = worker.get_ahead();
    worker.queue.purge(&[State::Ready]).unwrap();
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(4_000) {
        assert_eq!(reserve(&worker.queue), None, "taken over after {:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    worker.feed.done(&first.ticket).unwrap();
    for _ in 1..2 * N {
        let delivery = worker.next();
        assert_eq!(delivery.job.attempts, 1);
        worker.feed.done(&delivery.ticket).unwrap();
    }
    assert!(worker.try_next().unwrap().is_none());
    worker.assert_in_order();
    assert_eq!((worker.queue.stats().unwrap().timed_out, worker.feed.take_lost()), (0, vec![]));
}

#[test]
fn a_lease_counts_from_when_it_was_asked_for() {
    for is_busy in [false, true] {
        let mut worker = Worker::new(LONG, 60_000, 400);
        let first = worker.get_ahead_and_break(Fault::Late, 1);
        let sent = Instant::now();
        std::thread::sleep(Duration::from_millis(if is_busy { 60 } else { 10 }));
        worker.proxy.heal();
        worker.feed.done(&first.ticket).unwrap();
        worker.handle(N - 1);
        let behind = worker.next();
        assert!(behind.job.lease_until <= sent + Duration::from_secs(60));
    }
}

#[test]
fn part_of_a_batch_is_acknowledged_while_a_trip_is_under_way() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    let first = worker.get_ahead_and_break(Fault::Late, 1);
    worker.feed.done(&first.ticket).unwrap();
    worker.handle(1);
    worker.feed.flush().unwrap();
    let done = worker.ids.len() as u64;
    until("the trip's and ours", || worker.queue.stats().unwrap().acked == done);
    worker.proxy.heal();
    worker.handle(3 * N);
    worker.feed.return_rest().unwrap();
    assert_eq!(worker.queue.stats().unwrap().acked, worker.ids.len() as u64);
    assert_eq!((worker.feed.take_lost(), worker.reserved()), (vec![], 0));
    worker.assert_in_order();
}

#[test]
fn whatever_breaks_a_trip_ahead_nothing_is_lost_and_nothing_reported_lost() {
    let hasty = Duration::from_millis(2_500);
    let faults = [
        (Fault::Hold, hasty, 1),
        (Fault::Blackhole, hasty, 1),
        (Fault::After(b"-ERR no\r\n"), LONG, 1),
        (Fault::Instead(b"-NOPERM no\r\n"), LONG, 1),
    ];
    // Busy: the thread meets the fault, in the stead of the one who asked.
    let faults = REPEATED.into_iter().map(|fault| (fault, LONG, 0)).chain(faults);
    for ((fault, read_timeout, told), is_busy) in faults.flat_map(|fault| [(fault, false), (fault, true)]) {
        let mut worker = Worker::new(read_timeout, 1_000, 100);
        let first = worker.get_ahead_and_break(fault, 1);
        if is_busy {
            std::thread::sleep(Duration::from_millis(100));
        }
        worker.feed.done(&first.ticket).unwrap();
        worker.handle(N - 1); // an error is not told while there are jobs in hand
        let mut handled = worker.ids.clone();
        worker.proxy.heal();
        let mut errors = 0;
        until(&format!("all jobs are handled after {fault:?}"), || {
            match worker.try_next() {
                Ok(Some(delivery)) => {
                    handled.push(delivery.job.id.to_string());
                    worker.feed.done(&delivery.ticket).unwrap();
                }
                Ok(None) => {}
                Err(_) => errors += 1,
            }
            handled.len() >= 100 && worker.queue.count(None).unwrap() == 0
        });
        assert_eq!(errors, told, "{fault:?}");
        handled.sort_unstable();
        assert_eq!(handled, (0..100).map(name).collect::<Vec<_>>(), "{fault:?}");
        assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (100, vec![]), "{fault:?}");
    }
}

#[test]
fn a_job_that_was_lost_on_the_way_is_reported_once() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    let first = worker.get_ahead();
    worker.feed.done(&first.ticket).unwrap();
    worker.queue.cancel(std::slice::from_ref(&first.job.id)).unwrap();
    worker.handle(3 * N);
    worker.feed.return_rest().unwrap();
    let lost: Vec<_> = worker.feed.take_lost().into_iter().map(|lost| lost.id).collect();
    assert_eq!(lost, [first.job.id]);
    assert_eq!(worker.queue.stats().unwrap().acked, worker.ids.len() as u64 - 1);
}

/// How many leases there are after two full batches and one job.
fn leases_after(feed: impl FnOnce(&Worker) -> Feed, between: impl FnOnce()) -> u64 {
    let mut worker = Worker::new(LONG, 60_000, 400);
    worker.feed = feed(&worker);
    worker.handle(N);
    between();
    let first = worker.next();
    worker.feed.done(&first.ticket).unwrap();
    worker.leases()
}

fn plain(worker: &Worker) -> Feed {
    Feed::new(vec![worker.queue.clone()], N, None)
}

#[test]
fn nothing_is_fetched_ahead_unless_it_pays() {
    let two = 2 * N as u64;
    let ahead = || (0..20).any(|_| leases_after(|worker| plain(worker).fetching_ahead(), || {}) == two + N as u64);
    assert!(ahead(), "otherwise the rest says nothing");
    assert_eq!(leases_after(plain, || {}), two, "it is off");
    let two_queues = |worker: &Worker| {
        Feed::new(vec![worker.queue.clone(), worker.queue.sibling("other")], N, None).fetching_ahead()
    };
    assert_eq!(leases_after(two_queues, || {}), two, "two queues");
    let slow = || std::thread::sleep(Duration::from_millis(55));
    assert_eq!(leases_after(|worker| plain(worker).fetching_ahead(), slow), two, "the batch before was slow");
    let single = |worker: &Worker| Feed::new(vec![worker.queue.clone()], 1, None).fetching_ahead();
    assert_eq!(leases_after(single, || {}), N as u64 + 1, "one job a trip");
    let sated = |worker: &Worker| {
        let mut feed = plain(worker).fetching_ahead();
        feed.want(N);
        feed
    };
    assert_eq!(leases_after(sated, || {}), two, "no more is wanted");
}

#[test]
fn nothing_is_fetched_ahead_of_a_batch_that_was_not_full() {
    let mut worker = Worker::new(LONG, 60_000, 2 * N - 1);
    worker.handle(N + 1);
    let late: Vec<NewJob> = (0..N).map(|n| job(&format!("late{n}"))).collect();
    worker.queue.push_many(&late).unwrap();
    assert_eq!(worker.leases(), 2 * N as u64 - 1);
}

#[test]
fn no_more_is_fetched_than_is_wanted() {
    let mut worker = Worker::new(LONG, 60_000, 400);
    for left in (1..=10 * N + 2).rev() {
        worker.feed.want(left);
        let delivery = worker.next();
        worker.feed.done(&delivery.ticket).unwrap();
    }
    assert_eq!(worker.leases(), 10 * N as u64 + 2);
}
