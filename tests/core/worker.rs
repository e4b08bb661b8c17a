//! The parts of a consume loop: fetching with acknowledging, and a thread that keeps leases alive.

use crate::machine::stalls_since;
use crate::support::*;
use crate::worker_loop::{feed, handle, next, push, try_next};
use delayqueue::core::job::{JobOptions, NewJob, State};
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::time::{Duration, Instant};

fn short(name: &str, ttr_ms: u64) -> NewJob {
    NewJob { options: JobOptions { ttr_ms, ..JobOptions::default() }, ..job(name) }
}

#[test]
fn one_round_trip_acknowledges_and_fetches() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    push(&queue, 60_000, 5_000);
    let mut feed = feed(&queue, 1, true);
    let first = next(&mut feed);
    feed.done(&first.ticket);
    // Only when the loop is slower than 50 ms, as on a busy machine, its keeper acknowledges in a round trip of its own.
    let mut handled = 1;
    until("ten jobs are handled in ten trips", || {
        let before = raw.calls("evalsha");
        for _ in 0..10 {
            handle(&mut feed);
        }
        handled += 10;
        raw.calls("evalsha") - before == 10
    });
    feed.flush().unwrap();
    assert_eq!(queue.stats().unwrap().acked, handled);
    assert_eq!(states(&queue), [0, 5_000 - handled, 0, 0]);
}

#[test]
fn jobs_of_their_own_ttr_or_priority_need_no_round_trips_of_their_own() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let mut feed = feed(&queue, 1, true);
    let mut trips_for = |jobs: &[NewJob]| {
        push_many(&queue, jobs);
        let before = raw.calls("evalsha");
        for job in jobs {
            let delivery = handle(&mut feed);
            assert_eq!(Some(&delivery.job.id), job.id.as_ref());
        }
        raw.calls("evalsha") - before
    };
    trips_for(&[job("first")]); // Redis knows the scripts from here on
    for kind in ["usual", "brief", "urgent", "usual again"] {
        let mut round = 0;
        until("twenty jobs take twenty trips", || {
            round += 1;
            let jobs: Vec<NewJob> = (0..20)
                .map(|n| {
                    let name = format!("{kind} {round} {n:02}");
                    match kind {
                        "brief" => short(&name, 10_000),
                        "urgent" => prioritized(&name, 5),
                        _ => job(&name),
                    }
                })
                .collect();
            trips_for(&jobs) == 20
        });
    }
}

#[test]
fn prefetched_jobs_come_in_order_and_unstarted_ones_go_back_uncounted() {
    let queue = fresh();
    push(&queue, 60_000, 100);
    let mut feed = feed(&queue, 16, true);
    for n in 0..20 {
        let delivery = handle(&mut feed);
        assert_eq!(delivery.job.id.to_string(), format!("j{n:04}"));
    }
    feed.flush().unwrap();
    assert_eq!(states(&queue), [0, 68, 12, 0]);
    feed.return_rest().unwrap();
    assert_eq!(states(&queue), [0, 80, 0, 0]);
    assert_eq!((queue.stats().unwrap().acked, feed.take_lost()), (20, vec![]));
    let again = reserve(&queue).unwrap();
    assert_eq!((again.id.to_string(), again.attempts), ("j0020".into(), 1));
}

#[test]
fn a_fetch_leaves_an_unsettled_job_to_its_holder() {
    let queue = fresh();
    push(&queue, 60_000, 3);
    let mut feed = feed(&queue, 1, true);
    let kept = next(&mut feed);
    let second = next(&mut feed);
    feed.done(&second.ticket);
    let third = next(&mut feed);
    feed.flush().unwrap();
    assert_eq!(states(&queue), [0, 0, 2, 0]);
    queue.ack(&kept.job.held()).unwrap();
    queue.ack(&third.job.held()).unwrap();
    assert_eq!(queue.count(None).unwrap(), 0);
}

#[test]
fn no_more_is_fetched_than_is_wanted() {
    let queue = fresh();
    push(&queue, 60_000, 20);
    let mut feed = feed(&queue, 16, true);
    feed.want(3);
    next(&mut feed);
    assert_eq!(queue.count(Some(State::Reserved)).unwrap(), 3);
}

/// While the handler of the next one is busy.
#[test]
fn a_done_job_is_acknowledged_though_nothing_more_is_fetched() {
    let queue = fresh();
    push(&queue, 60_000, 4);
    let mut feed = feed(&queue, 4, true);
    let mut heard = 0;
    for done in 1..4 {
        handle(&mut feed);
        let started = Instant::now();
        until("it is acknowledged", || queue.stats().unwrap().acked == done);
        assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
    }
    until("the loop hears of it", || {
        heard += feed.take_acknowledged().len();
        heard == 3
    });
    assert_eq!(states(&queue), [0, 0, 1, 0]);
}

#[test]
fn a_done_job_whose_acknowledgement_fails_keeps_its_lease_and_is_acknowledged_later() {
    let (server, direct, mut raw) = Server::with_queue(&[]);
    let queue = Queue::new(config(user_without(&server, &[]), "q"));
    direct.push(&short("a", 1_000)).unwrap();
    let mut feed = feed(&queue, 1, true);
    let delivery = next(&mut feed);
    raw.run(&["ACL", "SETUSER", "u", "-hmget"]); // acknowledging needs it, renewing does not
    feed.done(&delivery.ticket);
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(2_500) {
        assert_eq!(reserve(&direct), None, "taken over after {:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(states(&direct), [0, 0, 1, 0]);
    raw.run(&["ACL", "SETUSER", "u", "+@all"]);
    until("it is acknowledged", || direct.stats().unwrap().acked == 1);
    assert_eq!(direct.stats().unwrap().timed_out, 0);
    until("the loop hears of it", || !feed.take_acknowledged().is_empty());
}

#[test]
fn a_kept_lease_outlives_its_ttr_and_notices_a_cancel() {
    let queue = fresh();
    queue.push(&short("a", 1_000)).unwrap();
    let mut feed = feed(&queue, 1, true);
    let delivery = next(&mut feed);
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(2_500) {
        assert_eq!(reserve(&queue), None, "taken over after {:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!delivery.ticket.lease.is_lost());
    queue.cancel(&[id("a")]).unwrap();
    until("the cancel is noticed", || delivery.ticket.lease.is_lost());
}

#[test]
fn prefetched_jobs_are_renewed_while_a_handler_is_busy() {
    let queue = fresh();
    push(&queue, 1_500, 4);
    let mut feed = feed(&queue, 4, true);
    let first = next(&mut feed);
    std::thread::sleep(Duration::from_millis(3_500));
    assert_eq!(states(&queue), [0, 0, 4, 0]);
    feed.done(&first.ticket);
    for n in 1..4 {
        let delivery = handle(&mut feed);
        assert_eq!((delivery.job.id.to_string(), delivery.job.attempts), (format!("j{n:04}"), 1));
    }
    feed.flush().unwrap();
    assert_eq!((feed.take_lost(), queue.stats().unwrap().timed_out), (vec![], 0));
}

/// The heartbeat of a job of 300 ms must not undo that its handler has touched it for 100 s.
#[test]
fn the_heartbeat_never_shortens_a_lease() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    queue.push(&short("a", 300)).unwrap();
    let mut feed = feed(&queue, 1, true);
    let delivery = next(&mut feed);
    let until_us = queue.touch(&delivery.job.held(), Some(100_000)).unwrap();
    let renewed = raw.calls("zadd");
    until("the heartbeat has come twice", || raw.calls("zadd") > renewed + 1);
    assert_eq!(queue.peek(&id("a")).unwrap().unwrap().lease_until_us, Some(until_us));
    let held = delivery.job.held();
    assert_eq!(queue.renew(&[(&held.receipt, 300)]).unwrap(), [Some(until_us)]);
    assert!(queue.touch(&held, Some(300)).unwrap() < until_us, "its holder may shorten it");
}

#[test]
fn without_renewing_the_job_is_back_within_its_ttr() {
    let queue = fresh();
    queue.push(&short("a", 300)).unwrap();
    let mut feed = feed(&queue, 1, false);
    let first = next(&mut feed);
    let jobs = queue.reserve(&[queue.name().to_owned()], 1, Some(Duration::from_secs(5)), &mut NoInterrupts).unwrap();
    assert_eq!(jobs[0].attempts, 2);
    feed.done(&first.ticket);
    feed.flush().unwrap();
    assert_eq!(feed.take_lost(), [first.ticket.key()]);
}

#[test]
fn an_expired_prefetched_job_is_not_delivered() {
    let queue = fresh();
    push_many(&queue, &[short("a", 60_000), short("b", 100), short("c", 60_000)]);
    let mut feed = feed(&queue, 3, false);
    let first = next(&mut feed);
    until("the lease of b ends", || Instant::now() > first.job.lease_until - Duration::from_millis(59_800));
    assert_eq!(next(&mut feed).job.id, id("c"));
}

#[test]
fn a_running_loop_heeds_a_pause() {
    let queue = fresh();
    push(&queue, 60_000, 4);
    let mut feed = feed(&queue, 1, true);
    for _ in 0..3 {
        handle(&mut feed);
    }
    queue.pause(None, None).unwrap();
    assert!(try_next(&mut feed).unwrap().is_none());
    assert_eq!(states(&queue), [0, 1, 0, 0]);
}

#[test]
fn a_lease_that_is_shorter_than_the_one_before_it_ends_in_time() {
    let queue = fresh();
    push_many(&queue, &[job("long"), short("brief", 300)]);
    let held = reserve_many(&queue, 2);
    assert_eq!(held.len(), 2);
    let again = queue.reserve(&[queue.name().to_owned()], 1, Some(Duration::from_secs(5)), &mut NoInterrupts).unwrap();
    assert_eq!((again[0].id.clone(), again[0].attempts), (id("brief"), 1), "it was leased behind the other one");
    assert!(again[0].reserved_at_us - held[0].reserved_at_us >= 300_000);
}
