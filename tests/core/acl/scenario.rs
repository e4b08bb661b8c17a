//! All that a worker does, and all that a producer does. Redis looks at rights only where a command is run.

use crate::groups::{of, of_priority};
use crate::new_jobs::{once, past, receipt_only, unique};
use crate::registry::entry;
use crate::support::*;
use crate::worker_loop;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::keys::Keys;
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Flow, Interrupts, NoInterrupts, OnceJob, Queue};
use delayqueue::core::registry::Registry;
use delayqueue::core::scripts;
use std::time::{Duration, Instant};

/// Errors of a scenario; a lost lease is none of them.
#[derive(Default)]
pub struct Errors(pub Vec<Error>);

impl Errors {
    pub fn get<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }
}

pub fn produce(queue: &Queue, errors: &mut Errors) {
    errors.get(queue.push(&job("a")));
    errors.get(queue.push(&delayed("b", 300)));
    errors.get(queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..job("a") }));
    errors.get(queue.push(&prioritized("c", 5)));
    errors.get(queue.push_many(&[job("d"), delayed("e", 60_000), delayed("f", 60_000)], &mut Vec::new()));
    errors.get(queue.push_many(&[job("x"), prioritized("y", 9), job("z")], &mut Vec::new()));
    errors.get(queue.push(&NewJob { due: Due::AtUs(1_000), ..delayed("moment", 0) }));
    errors.get(queue.try_push(unique("u", 60_000, OnDuplicate::Keep)));
    errors.get(queue.try_push(unique("u", 60_000, OnDuplicate::Keep)));
    errors.get(queue.with_capacity(Some(1_000)).push(&job("counted")));
    let buried = OnceJob { past: Some(past()), is_buried: true, ..once("r2", job("o2")) };
    let alone = receipt_only("r3", unique("o3", 60_000, OnDuplicate::Keep));
    errors.get(queue.push(&of("g", "g1")));
    errors.get(queue.push(&NewJob { due: Due::InMs(60_000), ..of_priority("g", "g2", 5) }));
    errors.get(queue.push_many(&[of("g", "g3"), job("g4"), of("h", "g5")], &mut Vec::new()));
    errors.get(queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..of("h", "g1") }));
    errors.get(queue.push_once(&[once("r4", of("g", "g6"))]));
    errors.get(queue.push_once(&[once("r1", unique("o1", 60_000, OnDuplicate::Keep)), buried, alone]));
    errors.get(queue.receipts(0, b"", 10));
    errors.get(queue.taken_ids());
    errors.get(queue.forget_receipts(&[b"r1".to_vec(), b"o1".to_vec()]));
    for duplicate in [job("a"), prioritized("a", 5)] {
        if let Err(error) = queue.push(&duplicate)
            && !matches!(error, Error::Duplicate { .. })
        {
            errors.0.push(error);
        }
    }
}

pub fn replace(queue: &Queue, errors: &mut Errors) {
    let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..delayed("a", 100) };
    errors.get(queue.push(&replacing));
}

pub fn consume(queue: &Queue, errors: &mut Errors) {
    let now = Some(Duration::ZERO);
    let reserve = |max: usize, errors: &mut Errors| {
        errors.get(queue.reserve(&[queue.name().to_owned()], max, now, &mut NoInterrupts)).unwrap_or_default()
    };
    for job in reserve(1, errors) {
        errors.get(queue.touch(&job.held(), None));
        errors.get(queue.update_held(&job.held(), Changes::new(b"new", &[("trace".into(), Some("1".into()))])));
        errors.get(queue.release(&job.held(), Due::InMs(0), Some(7), true));
    }
    for (n, job) in reserve(10, errors).iter().enumerate() {
        match n {
            0 => errors.get(queue.ack(&job.held())),
            1 => errors.get(queue.fail(&job.held(), Some(b"boom"))).map(|_| ()),
            2 => errors.get(queue.give_back(&[&job.receipt])).map(|_| ()),
            _ => errors.get(queue.bury(&job.held(), None)),
        };
    }
    errors.get(queue.peek(&id("f")));
    errors.get(queue.update(&id("f"), Changes::payload(b"new"), None, None));
    errors.get(queue.reschedule(&id("f"), Due::InMs(50_000), false));
    errors.get(queue.kick_job(&id("f"), false));
    errors.get(queue.kick(10, true));
    errors.get(queue.reserve_job(&id("f")));
    let short = JobOptions { ttr_ms: 1_000, max_attempts: 1, ..JobOptions::default() };
    errors.get(queue.push(&NewJob { options: short, ..job("g") }));
    errors.get(queue.reserve_job(&id("g")));
    travel(1_001);
    errors.get(queue.stats());
    errors.get(queue.list(State::Delayed, 0, 10));
    errors.get(queue.list(State::Ready, 0, 10));
    errors.get(queue.count_due(&[0]));
    errors.get(queue.now_us());
    errors.get(queue.cancel(&[id("f")]));
    errors.get(queue.pause(None, None));
    errors.get(queue.resume(None));
    errors.get(queue.wait(&[queue.name().to_owned()], now, &mut NoInterrupts));
    errors.get(queue.take(None, 2));
    errors.get(queue.queues());
    errors.get(queue.purge(&[]));
}

/// A loop over a queue without priorities: the shortest way through `lua/reserve.lua`.
pub fn consume_plainly(queue: &Queue, errors: &mut Errors) {
    errors.get(queue.push_many(&[job("a"), job("b"), job("c"), job("d")], &mut Vec::new()));
    let mut feed = worker_loop::feed(queue, 2, true);
    for _ in 0..4 {
        match errors.get(worker_loop::try_next(&mut feed)) {
            Some(Some(delivery)) => feed.done(&delivery.ticket),
            _ => return,
        }
    }
    errors.get(feed.flush());
}

/// A worker that enters itself into the list of workers, and leaves it.
pub fn enlist(queue: &Queue, errors: &mut Errors) {
    let registry = Registry::of(queue);
    errors.get(registry.write("0123456789abcdef", &entry(&[]), true));
    errors.get(registry.remove("0123456789abcdef"));
}

/// The request of a reserve when the answer to its first try was lost.
pub fn repeat(raw: &mut Raw, errors: &mut Errors) {
    let keys = Keys::new("dq", "q", 0);
    let mut command = vec![b"EVAL".as_slice(), scripts::RESERVE.source.as_bytes(), b"15"];
    command.extend(keys.all());
    command.extend(["0", "consumer", "1", "1", "r", "1000000", "", "0", ""].map(str::as_bytes));
    for _ in 0..2 {
        if let redis::Value::ServerError(error) = raw.run_bytes(&command) {
            errors.0.push(Error::from_redis(error.code(), error.details().unwrap_or_default()));
        }
    }
}

/// A push wakes a consumer that waits.
pub fn wait(queue: &Queue, waiters: &str, raw: &mut Raw, errors: &mut Errors) {
    struct Deadline(Instant);
    impl Interrupts for Deadline {
        fn poll(&mut self) -> Flow {
            if Instant::now() > self.0 { Flow::Return } else { Flow::Continue }
        }
    }
    let watch = [queue.name().to_owned()];
    errors.get(queue.reserve(&watch, 1, Some(Duration::from_millis(20)), &mut NoInterrupts));
    let waiter = queue.clone();
    let thread = std::thread::spawn(move || {
        waiter.reserve(
            &watch,
            1,
            Some(Duration::from_millis(500)),
            &mut Deadline(Instant::now() + Duration::from_secs(2)),
        )
    });
    while raw.int(&["ZCARD", waiters]) == 0 && !thread.is_finished() {
        std::thread::yield_now();
    }
    errors.get(queue.push(&job("w")));
    for job in errors.get(thread.join().unwrap()).unwrap_or_default() {
        errors.get(queue.ack(&job.held()));
    }
}

/// Another consumer waits: the push must wake it.
pub fn wake(queue: &Queue, admin: &Queue, raw: &mut Raw, errors: &mut Errors) {
    let waiter = admin.clone();
    let thread = std::thread::spawn(move || {
        waiter.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(2)), &mut NoInterrupts).unwrap().len()
    });
    until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
    errors.get(queue.push(&job("w")));
    thread.join().unwrap();
}

/// Over three hash tags.
pub fn spread(queue: &Queue, only_pushes: bool, errors: &mut Errors) {
    let parts = Partitions::new(&queue.sibling("spread"), 3);
    let jobs = (0..9).map(|n| job(&format!("s{n}"))).collect();
    errors.get(parts.push_many(jobs, &mut Vec::new()));
    if only_pushes {
        return;
    }
    errors.get(parts.first().known_partitions());
    errors.get(parts.stats());
    if let Some(Some((part, held))) =
        errors.get(parts.at_home(&id("s5"), |part| Ok(part.reserve_job(&id("s5"))?.map(|job| (part.clone(), job)))))
    {
        errors.get(part.ack(&held.held()));
    }
    errors.get(parts.cancel(&[id("s1"), id("s2")]));
    errors.get(parts.sum(None, "jobs deleted", |part| part.purge(&[])));
}
