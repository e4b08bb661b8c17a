//! A wait in memory ends where nothing can come.

use super::faults::queue_in;
use crate::support::*;
use crate::worker_loop;
use delayqueue::core::job::State;
use delayqueue::core::queue::NoInterrupts;
use std::time::{Duration, Instant};

const LONG: Option<Duration> = Some(Duration::from_secs(600));

#[test]
fn a_thread_that_is_alone_waits_for_a_job_that_is_due_soon_and_for_no_other() {
    let (queue, began) = (queue_in("memory://alone", "q"), Instant::now());
    let watched = ["q".to_owned()];
    let wait = |timeout| queue.reserve(&watched, 1, timeout, &mut NoInterrupts).unwrap();
    assert!(wait(LONG).is_empty());
    queue.push(&delayed("late", 30_000)).unwrap();
    assert!(wait(None).is_empty());
    queue.push(&delayed("soon", 300)).unwrap();
    let job = wait(None).pop().expect("it falls due within a second");
    assert!(began.elapsed() >= Duration::from_millis(300));
    queue.ack(&job.held()).unwrap();
    travel(30_000);
    assert_eq!(wait(LONG).len(), 1, "the time has come");
    assert_eq!(queue.count(Some(State::Reserved)).unwrap(), 1);
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn several_queues_in_memory_are_waited_for_as_one() {
    let queue = queue_in("memory://several", "a");
    let watched = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
    assert!(queue.reserve(&watched, 1, None, &mut NoInterrupts).unwrap().is_empty());
    queue.sibling("c").push(&delayed("soon", 200)).unwrap();
    assert_eq!(queue.reserve(&watched, 1, None, &mut NoInterrupts).unwrap().len(), 1);
}

#[test]
fn another_thread_that_has_the_store_may_push_and_is_waited_for() {
    let queue = queue_in("memory://two", "q");
    queue.count(None).unwrap();
    let (ready, begins) = std::sync::mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let queue = queue_in("memory://two", "q");
        queue.count(None).unwrap();
        ready.send(()).unwrap();
        queue.reserve(&["q".to_owned()], 1, LONG, &mut NoInterrupts).unwrap()
    });
    begins.recv().unwrap();
    until("it waits", || queue_waiters(&queue) == 1);
    queue.push(&job("a")).unwrap();
    assert_eq!(waiter.join().unwrap().len(), 1);
}

fn queue_waiters(queue: &delayqueue::core::queue::Queue) -> i64 {
    Raw::open(&delayqueue::core::dsn::Dsn::parse("memory://two").unwrap()).int(&["ZCARD", &key(queue, "waiters")])
}

/// The thread that keeps leases has connections of its own.
#[test]
fn the_keeper_of_a_loop_keeps_it_from_nothing() {
    let queue = queue_in("memory://keeper", "q");
    push_many(&queue, &[job("a"), job("b")]);
    let mut feed = worker_loop::feed(&queue, 1, true);
    for _ in 0..2 {
        let delivery = worker_loop::next(&mut feed);
        feed.done(&delivery.ticket);
    }
    assert!(matches!(feed.next(None, &mut NoInterrupts), Ok(delayqueue::core::worker::feed::Fetched::Nothing)));
    assert_eq!(queue.stats().unwrap().acked, 2);
}
