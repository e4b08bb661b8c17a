//! A consumer waits for an answer awake, as long as that is short.

use crate::support::*;
use delayqueue::core::queue::{NoInterrupts, Queue, QueueConfig};
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::time::Duration;

const JOBS: usize = 300;

/// How often this thread has gone to sleep.
fn sleeps() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: writes one rusage, and zeros are one.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_nvcsw
    }
}

fn sleeps_of(queue: &Queue, consume: impl Fn(&Queue)) -> i64 {
    for n in (0..JOBS).step_by(100) {
        queue.push_many(&(n..n + 100).map(|n| job(&n.to_string())).collect::<Vec<_>>()).unwrap();
    }
    let before = sleeps();
    consume(queue);
    assert_eq!(queue.stats().unwrap().ready, 0);
    sleeps() - before
}

fn by_loop(queue: &Queue) {
    let mut feed = Feed::new(vec![queue.clone()], 1, None);
    for _ in 0..JOBS {
        let Fetched::Job(delivery) = feed.next(Some(Duration::ZERO), &mut NoInterrupts).unwrap() else {
            panic!("a job is missing")
        };
        feed.done(&delivery.ticket).unwrap();
    }
    feed.flush().unwrap();
}

fn by_hand(queue: &Queue) {
    for _ in 0..JOBS {
        queue.ack(&reserve(queue).unwrap().held()).unwrap();
    }
}

#[test]
fn fewer_answers_are_slept_for() {
    let server = Server::start(&[]);
    let with = |name: &str, spin: bool| Queue::new(QueueConfig { spin, ..config(server.dsn(), name) });
    for (name, consume) in [("loop", by_loop as fn(&Queue)), ("hand", by_hand)] {
        let (mut asleep, mut awake) = (0, 0);
        for _ in 0..50 {
            asleep += sleeps_of(&with(name, false), consume);
            awake += sleeps_of(&with(name, true), consume);
            // On a busy machine many an answer is there before anybody could fall asleep.
            if asleep > 200 {
                break;
            }
        }
        assert!(awake < asleep / 2, "{name}: {awake} sleeps instead of {asleep}");
    }
}
