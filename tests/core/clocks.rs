//! Redis' clock is set forward or back: no job is early by it, and none is forgotten.

use crate::support::*;
use delayqueue::core::job::{Due, NewJob, State};
use delayqueue::core::queue::Queue;

/// Pushes in every way a job that is due in 15 minutes.
fn push_in_every_way(queue: &Queue, prefix: &str) -> usize {
    const DELAY_MS: u64 = 900_000;
    let name = |way: &str| format!("{prefix} {way}");
    queue.push(&delayed(&name("one"), DELAY_MS)).unwrap();
    queue.push(&NewJob { id: None, ..delayed("generated", DELAY_MS) }).unwrap();
    queue.push(&NewJob { due: Due::InMs(DELAY_MS), ..prioritized(&name("urgent"), 5) }).unwrap();
    let many: Vec<NewJob> = (0..40).map(|n| delayed(&name(&format!("many {n}")), DELAY_MS)).collect();
    push_many(queue, &many);
    push_many(
        queue,
        &[delayed(&name("mixed"), DELAY_MS), NewJob { due: Due::InMs(DELAY_MS), ..prioritized(&name("b"), 9) }],
    );
    45
}

#[test]
fn no_job_is_early_after_the_clock_was_set() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue("q");
    let mut round = 0;
    for jump_s in [3_600, -1_800, 86_400, -7_200, 2] {
        push_in_every_way(&queue, "before"); // the connection knows the old time, if it keeps any
        queue.purge(&[]).unwrap();
        clock.set_us(clock.now_us() + jump_s * 1_000_000);
        round += 1;
        let before_us = clock.now_us();
        let pushed = push_in_every_way(&queue, &format!("round {round}"));
        let after_us = clock.now_us();
        let listed = queue.list(State::Delayed, 0, 100).unwrap();
        assert_eq!(listed.len(), pushed, "after {jump_s} s");
        for job in &listed {
            let early_us = before_us + 900_000_000 - job.due_at_us;
            let late_us = job.due_at_us - after_us - 900_000_000;
            assert!(early_us <= 0 && late_us <= 1_000, "{} after {jump_s} s: {early_us} {late_us}", job.id);
        }
        clock.set_us(before_us + 899_999_000);
        assert_eq!(reserve(&queue), None, "after {jump_s} s");
        clock.set_us(after_us + 900_001_000);
        assert_eq!(serve_all(&queue).len(), pushed, "after {jump_s} s");
    }
}

#[test]
fn leases_and_pauses_are_counted_by_the_clock_as_it_is_now() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue("q");
    queue.push(&job("a")).unwrap();
    let held = reserve(&queue).unwrap();
    clock.set_us(clock.now_us() - 3_600_000_000);
    assert_eq!(reserve(&queue), None, "the lease lasts longer");
    assert!(queue.touch(&held.held(), None).is_ok());
    clock.advance(60_001);
    assert_eq!(
        states(&queue),
        [1, 0, 0, 0],
        "a lease that was renewed ends by the new time, and the job keeps its moment"
    );
    clock.advance(3_600_000);
    assert_eq!(reserve(&queue).map(|job| job.attempts), Some(2));
    queue.pause(Some(10_000), None).unwrap();
    queue.push(&job("b")).unwrap();
    clock.advance(9_000);
    assert_eq!(reserve(&queue), None);
    clock.advance(1_001);
    assert_eq!(reserve(&queue).map(|job| job.id), Some(id("b")));
}

#[test]
fn a_job_keeps_its_moment_whatever_the_clock_says_meanwhile() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue("q");
    let at_ms = clock.now_ms() + 600_000;
    queue.push(&NewJob { due: Due::AtUs(at_ms * 1000), ..job("a") }).unwrap();
    clock.set_us(clock.now_us() - 3_600_000_000);
    assert_eq!(queue.peek(&id("a")).unwrap().unwrap().due_at_us, at_ms * 1000);
    assert_eq!(reserve(&queue), None);
    clock.set_us(at_ms * 1000 - 10_000);
    assert_eq!(reserve(&queue), None);
    clock.set_us(at_ms * 1000);
    assert_eq!(reserve(&queue).unwrap().due_at_us, at_ms * 1000);
}

/// The clocks of hosts, as a producer sees them that computes a moment by its own.
#[test]
fn a_moment_is_one_on_redis_clock_and_a_delay_does_not_know_the_producers() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue("q");
    let producers_us = clock.now_us() - 3_600_000_000; // Redis is an hour ahead
    queue.push(&NewJob { due: Due::AtUs(producers_us + 900_000_000), ..job("moment") }).unwrap();
    queue.push(&delayed("delay", 900_000)).unwrap();
    assert_eq!(reserve(&queue).map(|job| job.id), Some(id("moment")));
    assert_eq!(queue.peek(&id("delay")).unwrap().unwrap().state, State::Delayed);
    let created_ms = queue.peek(&id("delay")).unwrap().unwrap().created_at_ms;
    let hosts_ms = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::try_from(created_ms).unwrap().abs_diff(hosts_ms) < 60_000, "{created_ms}: the producer's clock");
}
