//! A lease and the keepers that renew it: which of them hears of changes, and when a job counts as lost.

use crate::machine::stalls_since;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::worker_loop::keeper;
use delayqueue::core::job::{JobOptions, NewJob, Reserved};
use delayqueue::core::queue::Queue;
use delayqueue::core::worker::keeper::Keeper;
use delayqueue::core::worker::lease::Lease;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reserves a new job of this TTR.
fn hold(queue: &Queue, ttr_ms: u64) -> (Reserved, Arc<Lease>) {
    queue.push(&NewJob { options: JobOptions { ttr_ms, ..JobOptions::default() }, ..job("a") }).unwrap();
    let held = reserve(queue).unwrap();
    let lease = Lease::of(&held);
    (held, lease)
}

/// As [`hold`], with a keeper that keeps it.
fn kept(queue: &Queue, ttr_ms: u64) -> (Reserved, Arc<Lease>, Keeper) {
    let (held, lease) = hold(queue, ttr_ms);
    let mut keeper = keeper();
    keeper.keep(queue, vec![Arc::clone(&lease)]);
    (held, lease, keeper)
}

fn touch(queue: &Queue, held: &Reserved, lease: &Lease, ttr_ms: u64) {
    let touched = Instant::now();
    queue.touch(&held.held(), Some(ttr_ms)).unwrap();
    lease.touched(touched + Duration::from_millis(ttr_ms));
}

fn assert_held_for(queue: &Queue, time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time {
        assert_eq!(reserve(queue), None, "taken over after {:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(states(queue), [0, 0, 1, 0]);
}

/// A loop has ended, and `keepAlive()` keeps a job of it that the program still holds.
#[test]
fn a_touch_is_told_to_the_keeper_that_got_the_lease_last() {
    let queue = fresh();
    let (held, lease) = hold(&queue, 1_000);
    let (mut first, mut second) = (keeper(), keeper());
    first.keep(&queue, vec![Arc::clone(&lease)]);
    drop(first);
    second.keep(&queue, vec![Arc::clone(&lease)]);
    touch(&queue, &held, &lease, 60_000);
    std::thread::sleep(Duration::from_millis(700)); // the keeper has looked meanwhile, and sleeps for long
    touch(&queue, &held, &lease, 500);
    assert_held_for(&queue, Duration::from_millis(1_500));
}

#[test]
fn a_lease_whose_limit_was_over_is_renewed_by_the_same_keeper_once_the_limit_is_lifted() {
    let queue = fresh();
    let (_held, lease) = hold(&queue, 1_000);
    let mut keeper = keeper();
    lease.keep_until(Some(Instant::now() + Duration::from_millis(50)));
    keeper.keep(&queue, vec![Arc::clone(&lease)]);
    std::thread::sleep(Duration::from_millis(500)); // the keeper has looked meanwhile, and renewed nothing
    assert!(lease.is_kept());
    lease.keep_until(None);
    assert_held_for(&queue, Duration::from_millis(1_500));
}

#[test]
fn a_keeper_that_has_ended_keeps_nothing_though_its_thread_still_waits_for_redis() {
    let (server, proxy) = Proxy::with_server();
    let (_held, lease) = hold(&server.queue("q"), 300);
    let mut keeper = keeper();
    proxy.fail(Fault::Hold, u32::MAX);
    keeper.keep(&proxy.queue("q", Duration::from_secs(10)), vec![Arc::clone(&lease)]);
    std::thread::sleep(Duration::from_millis(300)); // the renewal is under way
    assert!(lease.is_kept());
    drop(keeper);
    assert!(!lease.is_kept());
}

#[test]
fn a_renewal_that_finds_a_settled_job_gone_does_not_call_it_lost() {
    let queue = fresh();
    let (held, lease, _keeper) = kept(&queue, 300);
    queue.ack(&held.held()).unwrap();
    until("a renewal finds nothing", || lease.is_lost()); // before this process has noted the answer to ack()
    lease.settle();
    assert!(!lease.is_lost());
}

/// An unreachable queue is asked again after 200 ms. Other leases may be shorter.
#[test]
fn a_queue_that_cannot_be_reached_does_not_delay_the_renewals_of_others() {
    let (broken, sound) = (fresh(), fresh());
    let (_, broken_lease) = hold(&broken, 100);
    let (_, lease) = hold(&sound, 300);
    let mut raw = shared().raw();
    raw.run(&["SET", &key(&broken, "reserved"), "foreign"]);
    let mut keeper = keeper();
    keeper.keep(&broken, vec![broken_lease]);
    keeper.keep(&sound, vec![Arc::clone(&lease)]);
    let (mut until_now, mut renewed, mut in_time) = (lease.until(), Instant::now(), 0);
    until("renewals follow each other within 150 ms", || {
        if lease.until() != until_now {
            in_time += u32::from(renewed.elapsed() < Duration::from_millis(150));
            (until_now, renewed) = (lease.until(), Instant::now());
        }
        in_time == 5
    });
}

/// So long a keeper waits before it listens, and a little more.
const LISTENS_AFTER: Duration = Duration::from_millis(700);

#[test]
fn a_keeper_hears_within_a_second_that_a_job_was_cancelled_or_purged() {
    let queue = fresh();
    for (after, is_purged) in [(Duration::ZERO, false), (LISTENS_AFTER, false), (LISTENS_AFTER, true)] {
        let (_, lease, _keeper) = kept(&queue, 60_000);
        std::thread::sleep(after);
        assert!(!lease.is_lost());
        let removed = if is_purged { queue.purge(&[]) } else { queue.cancel(&[id("a")]) };
        assert_eq!(removed, Ok(1));
        let cancelled = Instant::now();
        until("it is lost", || lease.is_lost());
        assert!(lease.is_cancelled());
        assert!(cancelled.elapsed() < Duration::from_secs(1) + stalls_since(cancelled), "{:?}", cancelled.elapsed());
    }
}

#[test]
fn a_keeper_that_listens_asks_nothing() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let (_, lease, _keeper) = kept(&queue, 60_000);
    let mut raw = server.raw();
    let mut commands = || -> u64 {
        let info = format!("{:?}", raw.run(&["INFO", "stats"]));
        let digits = info.split("total_commands_processed:").nth(1).unwrap();
        digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    };
    // As it begins to listen, a message may have been sent already: it renews the lease once.
    let until_then = lease.until();
    until("it listens", || lease.until() > until_then);
    let before = commands();
    std::thread::sleep(Duration::from_secs(2));
    assert!(commands() - before <= 2);
}

#[test]
fn a_keeper_that_has_lost_its_connection_learns_of_a_cancel_in_between() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let (_, lease, _keeper) = kept(&queue, 60_000);
    std::thread::sleep(LISTENS_AFTER);
    let mut raw = server.raw();
    raw.run(&["MULTI"]);
    raw.run(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    raw.run(&["HDEL", &key(&queue, "leases"), "a"]);
    raw.run(&["EXEC"]);
    until("it is lost", || lease.is_lost());
}

#[test]
fn a_lease_that_ended_was_not_cancelled() {
    let queue = fresh();
    let (_, lease) = hold(&queue, 300);
    std::thread::sleep(Duration::from_millis(400));
    let mut keeper = keeper();
    assert!(reserve(&queue).is_some());
    keeper.keep(&queue, vec![Arc::clone(&lease)]);
    until("it is lost", || lease.is_lost());
    assert!(!lease.is_cancelled());
}
