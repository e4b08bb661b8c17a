//! The users of `docs/acl.md` have all the rights they need, and not one more.

use crate::denied::as_user;
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{Flow, Interrupts, NoInterrupts, Queue, QueueConfig};
use delayqueue::core::record;
use delayqueue::core::scripts;
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::time::{Duration, Instant};

/// The ACL line of a user, as the documentation shows it.
fn documented(user: &str) -> Vec<String> {
    let text = include_str!("../../docs/acl.md");
    let start = format!("ACL SETUSER {user} ");
    let line = text.lines().find(|line| line.starts_with(&start)).expect("docs/acl.md has the user");
    line.split_whitespace().map(|word| if word == ">SECRET" { ">secret".into() } else { word.into() }).collect()
}

fn set_user(raw: &mut Raw, line: &[String]) {
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
    if let Err(error) = queue.push(&job("a"))
        && !matches!(error, Error::Duplicate { .. })
    {
        errors.0.push(error);
    }
    for name in ["late", "later"] {
        errors.get(queue.push(&delayed(name, 50_000))); // the first by a script, the second in a transaction
    }
    errors.get(queue.push(&prioritized("c", 5)));
    errors.get(queue.push_many(&[job("d"), prioritized("e", 9), delayed("f", 60_000)]));
    let mut many: Vec<NewJob> = (0..40).map(|n| delayed(&format!("many{n}"), 50_000)).collect();
    errors.get(queue.push_many(&many)); // in a transaction
    many.swap(0, 1);
    if let Err(error) = queue.push_many(&many)
        && !matches!(error, Error::Duplicate { .. })
    {
        errors.0.push(error);
    }
}

/// What a push sends when the answer to its first try was lost: it must know its own job again, and where a transaction put it.
fn push_retry(dsn: &Dsn, errors: &mut Errors) {
    let keys = ["waiting", "jobs", "waiters"].map(|name| format!("dq:{{q}}:{name}"));
    let [waiting, jobs, waiters] = keys.each_ref().map(String::as_str);
    let args =
        ["EVAL", &scripts::PUSH.source, "3", waiting, jobs, waiters, "a", "payload of a", "0", "0", "0", "", "9"];
    let mut raw = Raw::open(dsn);
    let redis::Value::BulkString(record) = raw.run(&["HGET", jobs, "later"]) else { return };
    let mut after: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
    (after[6], after[12]) = (b"later", b"");
    after.push(record::head(&record));
    for answer in [raw.run(&args), raw.run_bytes(&after)] {
        if let redis::Value::ServerError(error) = answer {
            errors.0.push(Error::from_redis(error.code(), error.details().unwrap_or_default()));
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
        errors.get(queue.release(&job.held(), Due::InMs(0), None));
    }
    for (n, job) in reserve(10, errors).iter().enumerate() {
        match n {
            0 => errors.get(queue.ack(&job.held())),
            1 => errors.get(queue.fail(&job.held(), Some(b"boom"))).map(|_| ()),
            _ => errors.get(queue.bury(&job.held(), None)),
        };
    }
    errors.get(queue.peek(&id("f")));
    errors.get(queue.update(&id("f"), b"new"));
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
    errors.get(queue.take(None, 2));
    errors.get(queue.queues());
    errors.get(queue.purge(&[]));
}

/// A loop over a queue without priorities: what `lua/reserve.lua` does by itself.
fn consume_plainly(queue: &Queue, errors: &mut Errors) {
    errors.get(queue.push_many(&[job("a"), job("b"), job("c"), job("d")]));
    let mut feed = Feed::new(vec![queue.clone()], 2, None);
    for _ in 0..4 {
        match errors.get(feed.next(Some(Duration::ZERO), &mut NoInterrupts)) {
            Some(Fetched::Job(delivery)) => feed.done(&delivery.ticket).unwrap_or_default(),
            _ => return,
        }
    }
    errors.get(feed.flush());
}

/// One waits, until it has glanced at the queue; a push of another wakes the next.
fn wait(queue: &Queue, waiters: &str, raw: &mut Raw, errors: &mut Errors) {
    struct Deadline(Instant);
    impl Interrupts for Deadline {
        fn poll(&mut self) -> Flow {
            if Instant::now() > self.0 { Flow::Return } else { Flow::Continue }
        }
    }
    let watch = [queue.name().to_owned()];
    errors.get(queue.reserve(&watch, 1, Some(Duration::from_millis(2100)), &mut NoInterrupts));
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

/// Runs everything a user is there for with these rights; returns what was refused.
fn refused(server: &Server, raw: &mut Raw, user: &str, line: &[String]) -> Vec<String> {
    raw.run(&["FLUSHALL"]);
    raw.run(&["SCRIPT", "FLUSH"]);
    raw.run(&["ACL", "LOG", "RESET"]);
    set_user(raw, line);
    let mut errors = Errors::default();
    let mut dsn = as_user(server, user);
    dsn.database = 1;
    let queue = Queue::new(QueueConfig { persistent: false, ..config(dsn.clone(), "q") });
    clock::set_thread_offset_ms(0);
    produce(&queue, &mut errors);
    if errors.0.is_empty() {
        push_retry(&dsn, &mut errors);
    }
    let admin = Queue::new(config(Dsn { database: 1, ..server.dsn() }, "q"));
    raw.run(&["SELECT", "1"]);
    if user == "dqworker" {
        replace(&queue, &mut errors);
        consume_plainly(&queue.sibling("plain"), &mut errors);
        consume(&queue, &mut errors);
        if errors.0.is_empty() {
            admin.purge(&[]).unwrap();
            wait(&queue, "dq:{q}:waiters", raw, &mut errors);
        }
    } else if errors.0.is_empty() {
        // Somebody else waits: the push must wake it.
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
fn the_documented_producer_can_do_nothing_but_push() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    set_user(&mut raw, &documented("dqproducer"));
    server.queue("q").push(&job("a")).unwrap();
    let held = reserve(&server.queue("q")).unwrap();
    let producer = Queue::new(config(as_user(&server, "dqproducer"), "q"));
    let denied = |result: Result<(), Error>| matches!(result, Err(Error::Server { code, .. }) if code == "NOPERM");
    assert!(denied(producer.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).map(|_| ())));
    assert!(denied(producer.ack(&held.held())));
    assert!(denied(producer.cancel(&[id("a")]).map(|_| ())));
    assert!(denied(producer.purge(&[]).map(|_| ())));
    assert!(denied(producer.stats().map(|_| ())));
    assert!(denied(producer.take(None, 1).map(|_| ())));
    let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..job("b") };
    producer.push(&replacing).unwrap();
    assert!(denied(producer.push(&replacing).map(|_| ())));
    raw.run(&["ACL", "SETUSER", "dqproducer", "+zscore", "+hdel", "+hincrby"]);
    producer.push(&replacing).unwrap();
    assert_eq!(states(&server.queue("q")), [0, 1, 1, 0]);
}
