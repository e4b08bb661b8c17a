//! Who does nothing else meanwhile waits for an answer awake, as long as that is short.

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

fn sleeps_in(work: impl FnOnce()) -> i64 {
    let before = sleeps();
    work();
    sleeps() - before
}

fn fill(queue: &Queue) {
    for n in (0..JOBS).step_by(100) {
        queue.push_many(&(n..n + 100).map(|n| job(&n.to_string())).collect::<Vec<_>>()).unwrap();
    }
}

fn by_loop(queue: &Queue) -> i64 {
    fill(queue);
    sleeps_in(|| {
        let mut feed = Feed::new(vec![queue.clone()], 1, None);
        for _ in 0..JOBS {
            let Fetched::Job(delivery) = feed.next(Some(Duration::ZERO), &mut NoInterrupts).unwrap() else {
                panic!("a job is missing")
            };
            feed.done(&delivery.ticket).unwrap();
        }
        feed.flush().unwrap();
    })
}

fn by_hand(queue: &Queue) -> i64 {
    fill(queue);
    sleeps_in(|| (0..JOBS).for_each(|_| assert_eq!(queue.ack(&reserve(queue).unwrap().held()), Ok(()))))
}

/// With each batch a look, to wait for which there is nothing better to do, and a transaction that is waited for asleep.
fn by_batch(queue: &Queue) -> i64 {
    queue.push(&delayed("first", 3_600_000)).unwrap();
    let sleeps = sleeps_in(|| {
        for batch in 0..JOBS / 3 {
            let mut connection = queue.link().take().unwrap();
            connection.clock.forget(); // else the batch is written meanwhile
            connection.looks = Default::default();
            queue.link().give_back(connection);
            let jobs: Vec<_> = (0..16).map(|n| delayed(&format!("{batch}.{n}"), 3_600_000)).collect();
            queue.push_many(&jobs).unwrap();
        }
    });
    queue.purge(&[]).unwrap();
    sleeps
}

#[test]
fn fewer_answers_are_slept_for() {
    let server = Server::start(&[]);
    let with = |name: &str, spin: bool| Queue::new(QueueConfig { spin, ..config(server.dsn(), name) });
    for (name, work, share) in
        [("loop", by_loop as fn(&Queue) -> i64, 0.5), ("hand", by_hand, 0.5), ("batch", by_batch, 0.8)]
    {
        let (mut asleep, mut awake) = (0, 0);
        for _ in 0..50 {
            asleep += work(&with(name, false));
            awake += work(&with(name, true));
            // On a busy machine many an answer is there before anybody could fall asleep.
            if asleep > 200 && (awake as f64) < asleep as f64 * share {
                break;
            }
        }
        assert!((awake as f64) < asleep as f64 * share, "{name}: {awake} sleeps instead of {asleep}");
    }
}
