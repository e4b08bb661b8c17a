//! What a consume loop is made of: fetching with acknowledging, and keeping leases alive.

use crate::support::*;
use delayqueue::core::job::{Due, JobOptions, NewJob};
use delayqueue::core::queue::{Look, NoInterrupts, Queue, Trip, new_slot};
use delayqueue::core::worker::feed::{Delivery, Feed, Fetched};
use delayqueue::core::worker::keeper::{Alarm, Keeper};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

struct Bell(Arc<AtomicU32>);

impl Alarm for Bell {
    fn ring(&self, times: u32) {
        self.0.store(times, Ordering::SeqCst);
    }
    fn give_up(&self, _: &str) -> ! {
        self.0.store(1_000, Ordering::SeqCst);
        loop {
            std::thread::park();
        }
    }
}

fn keeper() -> (Keeper, Arc<AtomicU32>) {
    let rung = Arc::new(AtomicU32::new(0));
    (Keeper::new(Box::new(Bell(Arc::clone(&rung))), true), rung)
}

fn next(feed: &mut Feed) -> Option<Delivery> {
    match feed.next(Some(Duration::ZERO), &mut NoInterrupts).unwrap() {
        Fetched::Job(delivery) => Some(*delivery),
        _ => None,
    }
}

fn short(name: &str, ttr_ms: u64) -> NewJob {
    NewJob { options: JobOptions { ttr_ms, ..JobOptions::default() }, ..job(name) }
}

fn push_numbered(queue: &Queue, count: usize) {
    let jobs: Vec<NewJob> = (0..count).map(|n| job(&format!("j{n:04}"))).collect();
    queue.push_many(&jobs).unwrap();
}

/// What the shortest script cannot do: one of these alone, then many in a row.
#[test]
fn what_needs_another_script_needs_a_second_request_once_in_64() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let mut feed = Feed::new(vec![queue.clone()], 1, None);
    let mut requests_for = |jobs: &[NewJob]| {
        queue.push_many(jobs).unwrap();
        let before = raw.calls("evalsha");
        for job in jobs {
            let delivery = next(&mut feed).unwrap();
            assert_eq!(Some(&delivery.job.id), job.id.as_ref());
            feed.done(&delivery.ticket).unwrap();
        }
        raw.calls("evalsha") - before
    };
    let usual: Vec<NewJob> = (0..20).map(|n| job(&format!("usual {n}"))).collect();
    let brief: Vec<NewJob> = (0..130).map(|n| short(&format!("brief {n}"), 1500)).collect();
    requests_for(&usual[..2]);
    assert_eq!(requests_for(&usual[2..]), 18);
    assert_eq!(requests_for(&brief), 130 + 3, "tried with the first, the 65th and the 129th");
    assert_eq!(queue.stats().unwrap().lateness.count, 150);
}

#[test]
fn lateness_is_counted_past_what_the_head_can_hold() {
    const MANY: u32 = u32::MAX;
    for (most, equally_late) in [(1, 12), (2, 12), (4, 6)] {
        let queue = fresh();
        let mut feed = Feed::new(vec![queue.clone()], most, None);
        let due = |n: usize| if n < equally_late { Due::AtMs(1_700_000_000_000) } else { Due::InMs(0) };
        let jobs: Vec<NewJob> = (0..12).map(|n| NewJob { due: due(n), ..job(&format!("late {n}")) }).collect();
        queue.push_many(&jobs).unwrap();
        let mut handle = |count: usize| {
            for _ in 0..count {
                let delivery = next(&mut feed).unwrap();
                feed.done(&delivery.ticket).unwrap();
            }
        };
        handle(4);
        let (ledger, mut raw) = (format!("dq:{{{}}}:ledger", queue.name()), shared().raw());
        let redis::Value::BulkString(mut head) = raw.run(&["HGET", &ledger, "head"]) else { panic!("no head") };
        head[20..24].copy_from_slice(&MANY.to_be_bytes());
        raw.run_bytes(&[b"HSET", ledger.as_bytes(), b"head", &head]);
        handle(4);
        assert_eq!(queue.stats().unwrap().lateness.count, u64::from(MANY) + 4, "prefetch {most}");
    }
}

#[test]
fn one_round_trip_acknowledges_and_fetches() {
    let queue = fresh();
    let server = Server::start(&[]);
    let queue = server.queue(queue.name());
    push_numbered(&queue, 20);
    let mut feed = Feed::new(vec![queue.clone()], 1, None);
    let first = next(&mut feed).unwrap();
    feed.done(&first.ticket).unwrap();
    let mut raw = server.raw();
    let before = raw.calls("evalsha");
    for _ in 0..10 {
        let delivery = next(&mut feed).unwrap();
        feed.done(&delivery.ticket).unwrap();
    }
    assert_eq!(raw.calls("evalsha") - before, 10);
    feed.flush().unwrap();
    assert_eq!(queue.stats().unwrap().acked, 11);
    assert_eq!(states(&queue), [0, 9, 0, 0]);
}

#[test]
fn prefetched_jobs_come_in_order_and_unstarted_ones_go_back_uncounted() {
    let queue = fresh();
    push_numbered(&queue, 100);
    let mut feed = Feed::new(vec![queue.clone()], 16, None);
    for n in 0..20 {
        let delivery = next(&mut feed).unwrap();
        assert_eq!(delivery.job.id.to_string(), format!("j{n:04}"));
        feed.done(&delivery.ticket).unwrap();
    }
    assert_eq!(queue.count(Some(delayqueue::core::job::State::Reserved)).unwrap(), 16);
    feed.return_rest().unwrap();
    feed.flush().unwrap();
    assert_eq!(states(&queue), [0, 80, 0, 0]);
    assert_eq!((queue.stats().unwrap().acked, feed.take_lost()), (20, vec![]));
    let again = reserve(&queue).unwrap();
    assert_eq!((again.id.to_string(), again.attempts), ("j0020".into(), 1));
}

#[test]
fn a_slot_with_an_unsettled_job_is_not_overwritten() {
    let queue = fresh();
    push_numbered(&queue, 3);
    let mut feed = Feed::new(vec![queue.clone()], 1, None);
    let kept = next(&mut feed).unwrap();
    let second = next(&mut feed).unwrap();
    feed.done(&second.ticket).unwrap();
    let third = next(&mut feed).unwrap();
    assert_eq!(states(&queue), [0, 0, 2, 0]);
    queue.ack(&kept.job.held()).unwrap();
    queue.ack(&third.job.held()).unwrap();
    assert_eq!(queue.count(None).unwrap(), 0);
}

#[test]
fn a_kept_lease_outlives_its_ttr_and_notices_a_cancel() {
    let queue = fresh();
    queue.push(&short("a", 1_500)).unwrap();
    let mut feed = Feed::new(vec![queue.clone()], 1, Some(keeper().0));
    let delivery = next(&mut feed).unwrap();
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(3_500) {
        assert_eq!(reserve(&queue), None, "taken over after {:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!delivery.ticket.lease.is_lost());
    queue.cancel(&[id("a")]).unwrap();
    until("the cancel is noticed", || delivery.ticket.lease.is_lost());
}

#[test]
fn without_a_keeper_the_job_is_back_within_its_ttr() {
    let queue = fresh();
    queue.push(&short("a", 300)).unwrap();
    let mut feed = Feed::new(vec![queue.clone()], 1, None);
    let first = next(&mut feed).unwrap();
    let jobs = queue.reserve(&[queue.name().to_owned()], 1, Some(Duration::from_secs(5)), &mut NoInterrupts).unwrap();
    assert_eq!(jobs[0].attempts, 2);
    feed.done(&first.ticket).unwrap();
    feed.flush().unwrap();
    let lost: Vec<_> = feed.take_lost().into_iter().map(|lost| lost.id).collect();
    assert_eq!(lost, [id("a")]);
}

#[test]
fn an_expired_prefetched_job_is_not_delivered() {
    let queue = fresh();
    queue.push_many(&[short("a", 60_000), short("b", 100), short("c", 60_000)]).unwrap();
    let mut feed = Feed::new(vec![queue.clone()], 3, None);
    let first = next(&mut feed).unwrap();
    until("the lease of b ends", || Instant::now() > first.job.lease_until - Duration::from_millis(59_800));
    assert_eq!(next(&mut feed).unwrap().job.id, id("c"));
}

#[test]
fn a_run_that_takes_too_long_is_rung_then_given_up() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let (keeper, rung) = keeper();
    let mut feed = Feed::new(vec![queue.clone()], 1, Some(keeper));
    let delivery = next(&mut feed).unwrap();
    let held = delivery.job.held();
    feed.keeper().unwrap().watch(&queue, &held, Duration::from_millis(50), Duration::from_millis(250));
    until("it rings", || rung.load(Ordering::SeqCst) > 0);
    until("it gives up", || rung.load(Ordering::SeqCst) == 1_000);
    let info = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!(info.last_error.as_deref(), Some(b"timed out after 0.05 s".as_slice()));
}

#[test]
fn a_run_that_ends_in_time_is_left_alone() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let (keeper, rung) = keeper();
    let mut feed = Feed::new(vec![queue.clone()], 1, Some(keeper));
    let held = next(&mut feed).unwrap().job.held();
    feed.keeper().unwrap().watch(&queue, &held, Duration::from_millis(100), Duration::from_secs(1));
    feed.keeper().unwrap().unwatch();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(rung.load(Ordering::SeqCst), 0);
}

/// A loop that takes one job at a time and has taken a few: from here on its trips are the shortest script's.
fn running(queue: &Queue) -> Feed {
    push_numbered(queue, 4);
    let mut feed = Feed::new(vec![queue.clone()], 1, None);
    for _ in 0..3 {
        let delivery = next(&mut feed).unwrap();
        feed.done(&delivery.ticket).unwrap();
    }
    feed
}

#[test]
fn a_running_loop_heeds_a_pause() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let mut feed = running(&queue);
    queue.pause(None).unwrap();
    assert!(next(&mut feed).is_none());
    assert_eq!(states(&queue), [0, 1, 0, 0]);
}

#[test]
fn a_lease_that_is_shorter_than_the_one_before_it_ends_in_time() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let mut feed = running(&queue);
    queue.push(&short("brief", 2000)).unwrap();
    for name in ["j0003", "brief"] {
        let delivery = next(&mut feed).unwrap();
        assert_eq!(delivery.job.id.to_string(), name);
        if name != "brief" {
            feed.done(&delivery.ticket).unwrap();
        }
    }
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(reserve(&queue).map(|job| job.attempts), Some(2));
}

#[test]
fn a_token_that_is_not_in_the_slot_acknowledges_nothing() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    push_numbered(&queue, 4);
    let (slot, link) = (new_slot(), queue.link().clone());
    let trip = |call, done: Vec<_>| {
        let mut held = link.take().ok();
        held.as_mut().unwrap().without_next = 0;
        let mut trip = Trip { call, done: done.iter().collect(), ..Trip::new(&slot, 1) };
        let look = queue.look(&mut held, &mut trip, None);
        held.into_iter().for_each(|connection| link.give_back(connection));
        match look {
            Ok(Look::Jobs(jobs)) => Ok(jobs[0].receipt.clone()),
            Ok(_) => panic!("nothing"),
            Err(error) => Err(error),
        }
    };
    let first = trip(1, vec![]).unwrap();
    trip(2, vec![first.clone()]).unwrap();
    assert!(trip(3, vec![first]).unwrap_err().is_slot_taken());
    assert_eq!(states(&queue), [0, 2, 1, 0]);
}
