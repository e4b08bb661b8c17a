//! The users of `docs/acl.md` have all the rights they need, and not one more.

use crate::audit::Snapshot;
use crate::support::*;
use crate::worker_loop;
use delayqueue::core::clock;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::keys::Keys;
use delayqueue::core::queue::{Flow, Interrupts, NoInterrupts, Queue, QueueConfig};
use delayqueue::core::scripts;
use std::time::{Duration, Instant};

/// The ACL line of a user, as the documentation shows it.
pub fn documented(user: &str) -> Vec<String> {
    let text = include_str!("../../docs/acl.md");
    let start = format!("ACL SETUSER {user} ");
    let line = text.lines().find(|line| line.starts_with(&start)).expect("docs/acl.md has the user");
    line.split_whitespace().map(|word| if word == ">SECRET" { ">secret".into() } else { word.into() }).collect()
}

pub fn set_user(raw: &mut Raw, line: &[String]) {
    let mut args: Vec<&str> = line.iter().map(String::as_str).collect();
    args.insert(3, "reset");
    assert!(matches!(raw.run(&args), redis::Value::Okay), "{args:?}");
}

/// Errors of a scenario; a lost lease is none of them.
#[derive(Default)]
struct Errors(Vec<Error>);

impl Errors {
    fn get<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }
}

fn produce(queue: &Queue, errors: &mut Errors) {
    errors.get(queue.push(&job("a")));
    errors.get(queue.push(&delayed("b", 300)));
    errors.get(queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..job("a") }));
    errors.get(queue.push(&prioritized("c", 5)));
    errors.get(queue.push_many(&[job("d"), delayed("e", 60_000), delayed("f", 60_000)], &mut Vec::new()));
    errors.get(queue.push_many(&[job("x"), prioritized("y", 9), job("z")], &mut Vec::new()));
    for duplicate in [job("a"), prioritized("a", 5)] {
        if let Err(error) = queue.push(&duplicate)
            && !matches!(error, Error::Duplicate { .. })
        {
            errors.0.push(error);
        }
    }
}

fn replace(queue: &Queue, errors: &mut Errors) {
    let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..delayed("a", 100) };
    errors.get(queue.push(&replacing));
}

fn consume(queue: &Queue, errors: &mut Errors) {
    let now = Some(Duration::ZERO);
    let reserve = |max: usize, errors: &mut Errors| {
        errors.get(queue.reserve(&[queue.name().to_owned()], max, now, &mut NoInterrupts)).unwrap_or_default()
    };
    for job in reserve(1, errors) {
        errors.get(queue.touch(&job.held(), None));
        errors.get(queue.update_held(&job.held(), b"new", Some(&[("trace".into(), "1".into())])));
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
    errors.get(queue.update(&id("f"), b"new", None));
    errors.get(queue.reschedule(&id("f"), Due::InMs(50_000)));
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
    errors.get(queue.cancel(&[id("f")]));
    errors.get(queue.pause(None));
    errors.get(queue.resume());
    errors.get(queue.wait(&[queue.name().to_owned()], now, &mut NoInterrupts));
    errors.get(queue.take(None, 2));
    errors.get(queue.queues());
    errors.get(queue.purge(&[]));
}

/// A loop over a queue without priorities: the shortest way through `lua/reserve.lua`.
fn consume_plainly(queue: &Queue, errors: &mut Errors) {
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

/// The request of a reserve when the answer to its first try was lost.
fn repeat(dsn: &Dsn, errors: &mut Errors) {
    let keys = Keys::new("dq", "q", 0);
    let mut command = vec![b"EVAL".as_slice(), scripts::RESERVE.source.as_bytes(), b"10"];
    command.extend(keys.all());
    command.extend(["0", "consumer", "1", "1", "1 1000000 - 0"].map(str::as_bytes));
    let mut raw = Raw::open(dsn);
    for _ in 0..2 {
        if let redis::Value::ServerError(error) = raw.run_bytes(&command) {
            errors.0.push(Error::from_redis(error.code(), error.details().unwrap_or_default()));
        }
    }
}

/// A push wakes a consumer that waits.
fn wait(queue: &Queue, waiters: &str, raw: &mut Raw, errors: &mut Errors) {
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

/// Runs every operation of a user with these rights; returns the errors of those that were refused.
fn refused(server: &Server, raw: &mut Raw, user: &str, line: &[String]) -> Vec<String> {
    raw.run(&["FLUSHALL"]);
    raw.run(&["SCRIPT", "FLUSH"]);
    raw.run(&["ACL", "LOG", "RESET"]);
    set_user(raw, line);
    let mut errors = Errors::default();
    let dsn = with_database(&as_user(server, user), 1);
    let queue = Queue::new(QueueConfig { persistent: false, ..config(dsn.clone(), "q") });
    clock::set_thread_offset_ms(0);
    produce(&queue, &mut errors);
    let admin = Queue::new(config(with_database(&server.dsn(), 1), "q"));
    raw.run(&["SELECT", "1"]);
    if user == "dqworker" {
        replace(&queue, &mut errors);
        if errors.0.is_empty() {
            repeat(&dsn, &mut errors);
        }
        consume_plainly(&queue.sibling("plain"), &mut errors);
        consume(&queue, &mut errors);
        if errors.0.is_empty() {
            admin.purge(&[]).unwrap();
            wait(&queue, "dq:{q}:waiters", raw, &mut errors);
        }
    } else if errors.0.is_empty() {
        // Another consumer waits: the push must wake it.
        admin.purge(&[]).unwrap();
        let waiter = admin.clone();
        let thread = std::thread::spawn(move || {
            waiter.reserve(&["q".to_owned()], 1, Some(Duration::from_millis(500)), &mut NoInterrupts).unwrap().len()
        });
        until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        errors.get(queue.push(&job("w")));
        thread.join().unwrap();
    }
    raw.run(&["SELECT", "0"]);
    let mut refused: Vec<String> = errors.0.iter().map(ToString::to_string).collect();
    if let redis::Value::Array(entries) = raw.run(&["ACL", "LOG"]) {
        refused.extend(entries.iter().map(|entry| format!("{entry:?}")));
    }
    refused
}

fn is_complete_and_minimal(user: &str) {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let line = documented(user);
    let all = refused(&server, &mut raw, user, &line);
    assert!(all.is_empty(), "{user} lacks a right: {all:#?}");
    for right in line.iter().filter(|word| word.starts_with('+') || word.starts_with('&')) {
        let fewer: Vec<String> = line.iter().filter(|word| *word != right).cloned().collect();
        assert!(!refused(&server, &mut raw, user, &fewer).is_empty(), "{user} does not need {right}");
    }
}

#[test]
fn the_documented_worker_has_exactly_the_rights_it_needs() {
    is_complete_and_minimal("dqworker");
}

#[test]
fn the_documented_producer_has_exactly_the_rights_it_needs() {
    is_complete_and_minimal("dqproducer");
}

#[test]
fn the_documented_producer_can_neither_take_nor_change_a_job() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    set_user(&mut raw, &documented("dqproducer"));
    let queue = server.queue("q");
    push_many(&queue, &[job("a"), job("buried")]);
    let held = reserve(&queue).unwrap();
    queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
    let before = Snapshot::of(&mut raw, &queue);
    let producer = Queue::new(config(as_user(&server, "dqproducer"), "q"));
    let denied = |result: Result<(), Error>| matches!(result, Err(Error::Server { code, .. }) if code == "NOPERM");
    assert!(denied(producer.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).map(|_| ())));
    assert!(denied(producer.ack(&held.held())));
    assert!(denied(producer.bury(&held.held(), None)));
    assert!(denied(producer.release(&held.held(), Due::InMs(0), None, true)));
    assert!(denied(producer.touch(&held.held(), None).map(|_| ())));
    assert!(denied(producer.update(&id("a"), b"", None).map(|_| ())));
    assert!(denied(producer.reserve_job(&id("a")).map(|_| ())));
    assert!(denied(producer.reschedule(&id("a"), Due::InMs(0)).map(|_| ())));
    assert!(denied(producer.kick_job(&id("a"), false).map(|_| ())));
    assert!(denied(producer.peek(&id("a")).map(|_| ())));
    assert!(denied(producer.list(State::Ready, 0, 1).map(|_| ())));
    assert!(denied(producer.cancel(&[id("a")]).map(|_| ())));
    assert!(denied(producer.purge(&[]).map(|_| ())));
    assert!(denied(producer.stats().map(|_| ())));
    assert!(denied(producer.take(None, 1).map(|_| ())));
    assert!(denied(producer.kick(1, false).map(|_| ())));
    assert!(denied(producer.resume()));
    assert_eq!(Snapshot::of(&mut raw, &queue), before);
    let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..job("b") };
    producer.push(&replacing).unwrap();
    assert!(denied(producer.push(&replacing).map(|_| ())));
    assert_eq!(states(&queue), [0, 1, 1, 1]);
    raw.run(&["ACL", "SETUSER", "dqproducer", "+hdel", "+hincrby"]);
    producer.push(&replacing).unwrap();
    assert_eq!(states(&queue), [0, 1, 1, 1]);
}
