//! Large batches are leased before anybody has seen their records, which come with the trip for the batch behind.

use crate::proxy::Fault;
use crate::support::*;
use crate::worker_loop::{LONG, REPEATED, Worker, name};
use delayqueue::core::job::{Due, NewJob, State};
use delayqueue::core::worker::feed::Delivery;
use redis::Value;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Jobs of one trip: as few as are leased so.
const N: usize = 32;
const JOBS: usize = 40 * N;
const WAITING: &[u8] = b"dq:{q}:waiting";

fn worker() -> Worker {
    Worker::fetching(N, LONG, 60_000, JOBS)
}

/// Until the first job of a batch is in hand, and two batches are leased behind it. A batch that a busy machine handles slowly has
/// none behind it.
fn get_ahead(worker: &mut Worker) -> Delivery {
    for _ in 0..10 {
        worker.handle(4 * N);
        let first = worker.next();
        let end = Instant::now() + Duration::from_millis(200);
        while Instant::now() < end {
            let reserved = worker.reserved();
            assert!(reserved <= 3 * N as u64, "{reserved}");
            if reserved == 3 * N as u64 {
                return first;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        worker.feed.done(&first.ticket).unwrap();
        worker.handle(N - 1);
    }
    panic!("never got ahead");
}

fn finish(worker: &mut Worker) {
    while let Some(delivery) = worker.try_next().unwrap() {
        worker.feed.done(&delivery.ticket).unwrap();
    }
    worker.feed.flush().unwrap();
}

fn members(worker: &Worker) -> Vec<Vec<u8>> {
    let members = worker.server.raw().run_bytes(&[b"ZRANGE", WAITING, b"0", b"-1"]);
    let Value::Array(members) = members else { panic!("no list: {members:?}") };
    members.into_iter().map(|member| delayqueue::core::reply::bytes(member).unwrap()).collect()
}

#[test]
fn everything_is_handled_once_and_three_slots_take_turns() {
    let mut worker = worker();
    let mut raw = worker.server.raw();
    let (trips, plain) = (raw.calls("evalsha"), raw.calls("hmget"));
    let mut slots = HashSet::new();
    while let Some(delivery) = worker.try_next().unwrap() {
        slots.insert(delivery.job.receipt.slot.to_string());
        assert_eq!((delivery.job.attempts, delivery.job.payload), (1, job(&delivery.job.id.to_string()).payload));
        worker.feed.done(&delivery.ticket).unwrap();
    }
    worker.feed.flush().unwrap();
    worker.assert_in_order();
    assert_eq!(worker.ids.len(), JOBS);
    assert!(slots.len() <= 4, "{slots:?}");
    let (trips, plain) = (raw.calls("evalsha") - trips, raw.calls("hmget") - plain);
    assert!((40..=65).contains(&trips), "{trips} trips"); // a slow batch acknowledges by itself
    assert!(plain > trips + 20, "{plain} reads: one in each script, and one beside it");
    let stats = worker.queue.stats().unwrap();
    assert_eq!((stats.acked, stats.timed_out, worker.feed.take_lost()), (JOBS as u64, 0, vec![]));
    assert_eq!(stats.lateness.count, JOBS as u64);
    assert_eq!(states(&worker.queue), [0; 4]);
}

#[test]
fn what_was_leased_goes_back_uncounted_and_in_its_place() {
    let mut worker = worker();
    let first = get_ahead(&mut worker);
    worker.feed.done(&first.ticket).unwrap();
    worker.feed.return_rest().unwrap();
    let done = worker.ids.len();
    assert_eq!(states(&worker.queue), [0, (JOBS - done) as u64, 0, 0]);
    assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (done as u64, vec![]));
    for n in done..done + 4 * N {
        let again = reserve(&worker.queue).unwrap();
        assert_eq!((again.id.to_string(), again.attempts), (name(n), 1));
    }
}

#[test]
fn a_place_that_was_left_over_from_another_job_delivers_nothing_and_ends_nothing() {
    let mut worker = worker();
    let far = NewJob { due: Due::InMs(3_600_000), ..job("far") };
    worker.queue.push(&far).unwrap();
    let mut raw = worker.server.raw();
    let members = members(&worker);
    for (at, stray) in [(5 * N + 7, "far"), (6 * N, "nobody"), (8 * N + 31, "far")] {
        let stray = [&members[at][..7], stray.as_bytes()].concat();
        let due = raw.run_bytes(&[b"ZSCORE", WAITING, &members[at]]);
        let Value::Double(due) = due else { panic!("no score: {due:?}") };
        raw.run_bytes(&[b"ZADD", WAITING, format!("{due:.0}").as_bytes(), &stray]);
    }
    finish(&mut worker);
    worker.assert_in_order();
    assert_eq!(worker.ids.len(), JOBS);
    let stats = worker.queue.stats().unwrap();
    assert_eq!((stats.acked, stats.failed, stats.buried, worker.feed.take_lost()), (JOBS as u64, 0, 0, vec![]));
    assert_eq!(states(&worker.queue), [1, 0, 0, 0]);
    assert_eq!(worker.queue.reserve_job(&id("far")).unwrap().unwrap().attempts, 1);
}

#[test]
fn a_job_that_is_cancelled_before_it_was_seen_is_not_delivered() {
    let mut worker = worker();
    let first = get_ahead(&mut worker);
    let last = worker.ids.len() - 1 + 3 * N - 1;
    assert_eq!(worker.queue.cancel(&[id(&name(last))]).unwrap(), 1);
    worker.feed.done(&first.ticket).unwrap();
    finish(&mut worker);
    let expected: Vec<String> = (0..JOBS).filter(|n| *n != last).map(name).collect();
    assert_eq!(worker.ids, expected);
    assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (JOBS as u64 - 1, vec![]));
    assert_eq!(states(&worker.queue), [0; 4]);
}

#[test]
fn a_record_that_cannot_be_read_is_set_aside() {
    let mut worker = worker();
    let broken = 7 * N + 3;
    let stamp = members(&worker)[broken][..7].to_vec();
    let record = [stamp.as_slice(), b"x"].concat();
    worker.server.raw().run_bytes(&[b"HSET", b"dq:{q}:jobs", name(broken).as_bytes(), &record]);
    finish(&mut worker);
    assert_eq!(worker.ids, (0..JOBS).filter(|n| *n != broken).map(name).collect::<Vec<_>>());
    assert_eq!(states(&worker.queue), [0, 0, 0, 1]);
    assert_eq!(worker.queue.peek_state(State::Buried).unwrap().unwrap().last_error.unwrap(), b"corrupt record");
}

#[test]
fn no_more_is_leased_than_is_wanted() {
    let mut worker = worker();
    let wanted = 10 * N + 2;
    for left in (1..=wanted).rev() {
        worker.feed.want(left);
        let delivery = worker.next();
        worker.feed.done(&delivery.ticket).unwrap();
    }
    worker.feed.return_rest().unwrap();
    worker.assert_in_order();
    assert_eq!(reserve(&worker.queue).unwrap().receipt.token, wanted as u64 + 1);
}

#[test]
fn jobs_that_need_a_look_are_leased_with_one() {
    let mut worker = Worker::fetching(N, LONG, 59_000, JOBS);
    let before = worker.server.raw().calls("hmget");
    finish(&mut worker);
    worker.assert_in_order();
    assert_eq!(worker.ids.len(), JOBS);
    assert!(worker.server.raw().calls("hmget") - before < 100, "two in each script");
    assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (JOBS as u64, vec![]));
}

#[test]
fn leases_that_nobody_has_seen_are_renewed_while_a_handler_is_busy() {
    let mut worker = worker();
    let first = get_ahead(&mut worker);
    let ends_ms = |worker: &Worker| {
        let held = worker.queue.list(State::Reserved, 0, 1000).unwrap();
        assert_eq!(held.len(), 3 * N);
        held.iter().filter_map(|info| info.lease_until_ms).min().unwrap()
    };
    let before = ends_ms(&worker);
    let end = Instant::now() + Duration::from_secs(60);
    while ends_ms(&worker) < before + 10_000 {
        assert!(Instant::now() < end, "not renewed");
        std::thread::sleep(Duration::from_millis(200));
    }
    worker.feed.done(&first.ticket).unwrap();
    finish(&mut worker);
    worker.assert_in_order();
    assert_eq!((worker.queue.stats().unwrap().timed_out, worker.feed.take_lost()), (0, vec![]));
}

#[test]
fn a_batch_that_cannot_be_opened_stays_sealed_until_it_can() {
    let mut worker = worker();
    let first = get_ahead(&mut worker);
    let (mut raw, aside) = (worker.server.raw(), "dq:{q}:aside");
    raw.run(&["RENAME", "dq:{q}:jobs", aside]);
    raw.run(&["SET", "dq:{q}:jobs", "foreign"]);
    worker.feed.done(&first.ticket).unwrap();
    let mut errors = 0;
    while errors < 3 {
        match worker.try_next() {
            Ok(delivery) => worker.feed.done(&delivery.expect("a job").ticket).unwrap_or_default(),
            Err(_) => errors += 1,
        }
    }
    assert!(worker.ids.len() < JOBS - 2 * N);
    raw.run(&["RENAME", aside, "dq:{q}:jobs"]);
    finish(&mut worker);
    worker.assert_in_order();
    assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (JOBS as u64, vec![]));
    assert_eq!(states(&worker.queue), [0; 4]);
}

/// A batch is in hand, and the reply to the trip that opens the one behind it is broken.
fn with_a_broken_trip(fault: Fault, read_timeout: Duration) -> (Worker, Delivery) {
    for _ in 0..20 {
        let mut worker = Worker::fetching(N, read_timeout, 60_000, JOBS);
        let first = get_ahead(&mut worker);
        worker.feed.done(&first.ticket).unwrap();
        worker.handle(N - 1);
        worker.proxy.fail(fault, 1);
        // On a busy machine the fault may meet another trip, or none.
        let Ok(Some(next)) = worker.try_next() else { continue };
        let end = Instant::now() + Duration::from_secs(1);
        while Instant::now() < end {
            if worker.proxy.met() > 0 {
                return (worker, next);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    panic!("never sent a trip");
}

#[test]
fn whatever_breaks_a_trip_nothing_is_lost_and_nothing_reported_lost() {
    let hasty = Duration::from_millis(2_500);
    let faults = [(Fault::Blackhole, hasty, 1), (Fault::Instead(b"-NOPERM no\r\n"), LONG, 1)];
    // Busy: the thread meets the fault, in the stead of the one who asked.
    let faults = REPEATED.into_iter().map(|fault| (fault, LONG, 0)).chain(faults);
    for ((fault, read_timeout, told), is_busy) in faults.flat_map(|fault| [(fault, false), (fault, true)]) {
        let (mut worker, next) = with_a_broken_trip(fault, read_timeout);
        if is_busy {
            std::thread::sleep(Duration::from_millis(100));
        }
        worker.feed.done(&next.ticket).unwrap();
        worker.handle(N - 1);
        worker.proxy.heal();
        let mut errors = 0;
        match worker.try_next() {
            Err(_) => errors += 1, // when it is needed, and not a backlog later
            Ok(delivery) => worker.feed.done(&delivery.expect("a job").ticket).unwrap(),
        }
        assert_eq!(errors, told, "{fault:?}");
        until(&format!("all jobs are handled after {fault:?}"), || {
            loop {
                match worker.try_next() {
                    Ok(Some(delivery)) => worker.feed.done(&delivery.ticket).unwrap(),
                    Ok(None) => break,
                    Err(_) => errors += 1,
                }
            }
            worker.ids.len() >= JOBS
        });
        worker.feed.flush().unwrap();
        assert_eq!(errors, told, "{fault:?}");
        worker.assert_in_order();
        assert_eq!((worker.queue.stats().unwrap().acked, worker.feed.take_lost()), (JOBS as u64, vec![]), "{fault:?}");
        assert_eq!(states(&worker.queue), [0; 4], "{fault:?}");
    }
}
