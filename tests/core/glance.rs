//! What a waiter finds by glancing, when nobody has woken it; and how little it asks for that.

use crate::audit::key;
use crate::denied::user_without;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::transaction::server_ms;
use delayqueue::core::clock;
use delayqueue::core::connection::Connection;
use delayqueue::core::job::{Due, JobOptions, NewJob};
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A waiter glances after so long, and is served at once then.
const FOUND_AFTER: Duration = Duration::from_millis(3500);

/// Waits for a job of one of the queues, and says which it got. It has glanced at them when it is to have done so.
fn waiting(server: &Server, queues: &[&Queue], has_glanced: bool) -> JoinHandle<Option<String>> {
    let (queue, watch) = (queues[0].clone(), queues.iter().map(|queue| queue.name().to_owned()).collect::<Vec<_>>());
    let mut raw = server.raw();
    let before = raw.calls("time");
    let waiter = std::thread::spawn(move || {
        let jobs = queue.reserve(&watch, 1, Some(Duration::from_secs(30)), &mut NoInterrupts).unwrap();
        jobs.first().map(|job| job.id.to_string())
    });
    for queue in queues {
        until("it waits", || raw.int(&["ZCARD", &key(queue, "waiters")]) == 1);
    }
    let looked = raw.calls("time");
    assert!(looked > before);
    until("it glances", || !has_glanced || raw.calls("time") > looked);
    waiter
}

/// Does something while nobody seems to wait, so that the wake-up is lost.
fn unheard(server: &Server, queue: &Queue, work: impl FnOnce()) {
    let mut raw = server.raw();
    raw.run(&["DEL", &key(queue, "waiters")]);
    work();
}

fn is_found(waiter: JoinHandle<Option<String>>, name: &str, what: &str) {
    let started = Instant::now();
    assert_eq!(waiter.join().unwrap().as_deref(), Some(name), "{what}");
    assert!(started.elapsed() < FOUND_AFTER, "{what}: {:?}", started.elapsed());
}

/// What may happen to a queue, so that there is a job soon.
type Event = (&'static str, fn(&Queue));

const EVENTS: [Event; 5] = [
    ("ready", |queue| drop(queue.push(&job("a")).unwrap())),
    ("delayed", |queue| drop(queue.push(&delayed("a", 500)).unwrap())),
    ("urgent", |queue| drop(queue.push(&prioritized("a", 5)).unwrap())),
    ("urgent, delayed", |queue| {
        queue.push(&NewJob { due: Due::InMs(500), ..prioritized("a", 5) }).unwrap();
    }),
    ("a lease that ends", |queue| {
        queue.push(&NewJob { options: JobOptions { ttr_ms: 500, ..JobOptions::default() }, ..job("a") }).unwrap();
        assert!(reserve(queue).is_some());
    }),
];

/// All of them, each while somebody waits.
fn all_are_found(has_glanced: bool, denied: &str) {
    let scenes = EVENTS.map(|(what, happen)| {
        let server = Server::start(&[]);
        server.queue("q").push(&delayed("far", 3_600_000)).unwrap();
        let waiter = waiting(&server, &[&Queue::new(config(user_without(&server, &[denied]), "q"))], has_glanced);
        (what, happen, server, waiter)
    });
    for (_, happen, server, _) in &scenes {
        let queue = server.queue("q");
        unheard(server, &queue, || happen(&queue));
    }
    for (what, _, _server, waiter) in scenes {
        is_found(waiter, "a", what);
    }
}

#[test]
fn what_nobody_was_told_of_is_found_wherever_it_lies() {
    all_are_found(false, "+@all");
}

#[test]
fn what_changes_after_a_glance_is_found() {
    all_are_found(true, "+@all");
}

#[test]
fn a_lease_of_a_job_that_did_not_wait_is_found_when_it_ends() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.push(&NewJob { options: JobOptions { ttr_ms: 500, ..JobOptions::default() }, ..job("a") }).unwrap();
    queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
    let waiter = waiting(&server, &[&queue], true);
    unheard(&server, &queue, || assert!(queue.reserve_job(&id("a")).unwrap().is_some()));
    is_found(waiter, "a", "its lease has ended");
}

#[test]
fn who_may_not_hear_of_changes_finds_it_by_asking_each_time() {
    let rights = ["-client|tracking", "-client|caching", "-exists"];
    let tried = rights.map(|rights| std::thread::spawn(move || all_are_found(true, rights)));
    tried.into_iter().for_each(|tried| tried.join().unwrap());
}

#[test]
fn who_has_been_refused_asks_from_the_next_glance_on_and_is_not_refused_again() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = Queue::new(config(user_without(&server, &["-client|tracking"]), "q"));
    let waiter = waiting(&server, &[&queue], true);
    let before = (raw.calls("time"), raw.calls("zrange"));
    until("it glances twice", || raw.calls("time") == before.0 + 2);
    assert_eq!(raw.calls("zrange"), before.1 + 8);
    server.queue("q").push(&job("a")).unwrap();
    is_found(waiter, "a", "pushed");
    let redis::Value::Array(log) = raw.run(&["ACL", "LOG"]) else { panic!("no log") };
    assert_eq!(log.len(), 1);
    let entry = format!("{:?}", log[0]);
    assert!(entry.contains("'\"count\"'), int(1)"), "{entry}");
}

#[test]
fn every_queue_is_glanced_at_and_one_after_another_may_change() {
    let server = Server::start(&[]);
    let queues = ["a", "b", "c"].map(|name| server.queue(name));
    let waiter = waiting(&server, &queues.each_ref(), true);
    for queue in &queues[..2] {
        queue.push(&delayed("later", 100_000)).unwrap(); // after which only this one is asked for again
    }
    let mut raw = server.raw();
    let before = raw.calls("time");
    until("it glances", || raw.calls("time") > before + 1);
    unheard(&server, &queues[2], || drop(queues[2].push(&job("c")).unwrap()));
    is_found(waiter, "c", "in the last of three queues");
}

#[test]
fn the_end_of_a_pause_is_found() {
    for has_glanced in [false, true] {
        let server = Server::start(&[]);
        let queue = server.queue("q");
        queue.push(&job("a")).unwrap();
        queue.pause(None).unwrap();
        let waiter = waiting(&server, &[&queue], has_glanced);
        unheard(&server, &queue, || queue.resume().unwrap());
        is_found(waiter, "a", "after the pause");
    }
}

#[test]
fn a_pause_that_gets_shorter_ends_earlier() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.push(&job("a")).unwrap();
    queue.pause(Some(100_000)).unwrap();
    let waiter = waiting(&server, &[&queue], true);
    queue.pause(Some(500)).unwrap(); // which wakes nobody
    is_found(waiter, "a", "after the shorter pause");
}

#[test]
fn a_pause_that_begins_while_somebody_waits_is_heeded() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let waiter = waiting(&server, &[&queue], true);
    queue.pause(None).unwrap();
    queue.push(&job("a")).unwrap();
    let before = scripts(&mut raw);
    until("it glances", || raw.calls("hget") > 8);
    assert!(scripts(&mut raw) - before <= 4, "it looks once, and only glances then");
    queue.resume().unwrap();
    is_found(waiter, "a", "after the pause");
}

/// Registers somebody who never comes, but may be listening, until the result is dropped.
fn register(server: &Server, looks_at: i64, is_listening: bool) -> Connection {
    let limit = Duration::from_secs(2);
    let mut connection = Connection::open(&server.dsn(), limit, limit).unwrap();
    server.raw().run(&["ZADD", "dq:{q}:waiters", &looks_at.to_string(), "other"]);
    if is_listening {
        connection.subscribe("dq:{q}:waiters:other").unwrap();
    }
    connection
}

/// Also by the clock of a test that has travelled.
#[test]
fn whoever_was_to_look_and_does_not_is_stood_in_for() {
    for ahead_ms in [0, 3_600_000] {
        let server = Server::start(&[]);
        let queue = server.queue("q");
        queue.push(&delayed("a", 1500 + ahead_ms)).unwrap();
        let due = queue.peek(&id("a")).unwrap().unwrap().due_at_ms;
        let _other = register(&server, due, true);
        let started = Instant::now();
        let waiter = std::thread::spawn(move || {
            clock::set_thread_offset_ms(i64::try_from(ahead_ms).unwrap());
            let jobs = queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(30)), &mut NoInterrupts).unwrap();
            jobs.first().map(|job| job.id.to_string())
        });
        is_found(waiter, "a", "due");
        assert!(started.elapsed() > Duration::from_millis(1500), "by who is not there");
    }
}

/// How late a waiter gets a job beside somebody who has died, if the job comes before the waiter, or after it.
#[test]
fn who_has_died_makes_nobody_late() {
    for is_first in [true, false] {
        let server = Server::start(&[]);
        let (queue, consumer, mut raw) = (server.queue("q"), server.queue("q"), server.raw());
        let now = server_ms(&mut raw);
        let push = || drop(queue.push(&delayed("a", 1200)).unwrap());
        if is_first {
            push();
        }
        let _other = register(&server, now + 600, false);
        let waiter = std::thread::spawn(move || {
            let timeout = Some(Duration::from_secs(20));
            let job = consumer.reserve(&["q".to_owned()], 1, timeout, &mut NoInterrupts).unwrap().remove(0);
            job.reserved_at_ms - job.due_at_ms
        });
        let registered = if is_first { 1 } else { 2 };
        until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == registered);
        if !is_first {
            push();
        }
        let late_ms = waiter.join().unwrap();
        assert!((0..250).contains(&late_ms), "{late_ms} ms late, pushed first: {is_first}");
    }
}

#[test]
fn who_loses_the_connection_while_glancing_registers_anew() {
    let server = Server::start(&[]);
    let (proxy, mut raw) = (Proxy::before(&server), server.raw());
    let queue = proxy.queue("q", Duration::from_secs(2));
    let waiter = std::thread::spawn(move || {
        let _ = queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(30)), &mut NoInterrupts);
    });
    let mut waiters =
        || raw.text(&["EVAL", "return table.concat(redis.call('ZRANGE', KEYS[1], 0, -1), ' ')", "1", "dq:{q}:waiters"]);
    until("it waits", || !waiters().is_empty());
    let before = waiters();
    proxy.fail_at(b"TIME", Fault::DropReply);
    until("it waits under another name", || waiters().split(' ').any(|name| name != before));
    assert_eq!(proxy.heal(), 1);
    drop((server, waiter));
}

#[test]
fn a_clock_that_is_set_ahead_is_noticed() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue("q");
    queue.push(&delayed("a", 3_600_000)).unwrap();
    let waiter = waiting(&server, &[&queue], true);
    clock.advance(3_600_010);
    is_found(waiter, "a", "due by the new time");
}

/// Commands that Redis has executed since the last `CONFIG RESETSTAT`, those of scripts and scripts themselves among them, but not what
/// the tests ask for.
fn commands(raw: &mut Raw) -> u64 {
    let ours = ["cmdstat_config", "cmdstat_info", "cmdstat_zcard"];
    let stats = raw.text(&["INFO", "commandstats"]);
    let calls = stats.lines().filter(|line| !ours.iter().any(|name| line.starts_with(name)));
    calls.filter_map(|line| line.split_once(":calls=")?.1.split(',').next()?.parse::<u64>().ok()).sum()
}

fn scripts(raw: &mut Raw) -> u64 {
    raw.calls("evalsha") + raw.calls("eval")
}

/// How many commands a look that registers is, with the glance behind it, and how many one more glance is.
fn costs(arrange: fn(&Queue)) -> (u64, f64) {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    arrange(&queue);
    let wait = |seconds| {
        let jobs = queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(seconds)), &mut NoInterrupts).unwrap();
        assert_eq!(jobs.len(), 0);
    };
    wait(0); // from now on Redis knows the scripts
    raw.run(&["CONFIG", "RESETSTAT"]);
    wait(0);
    let plain_look = commands(&mut raw);
    raw.run(&["CONFIG", "RESETSTAT"]);
    let observer = std::thread::spawn(move || {
        until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        let looks = commands(&mut raw) - 2; // SUBSCRIBE and PING
        let redis::Value::Array(waiter) = raw.run(&["ZRANGE", "dq:{q}:waiters", "0", "0", "WITHSCORES"]) else {
            panic!()
        };
        let redis::Value::Array(first) = &waiter[0] else { panic!("{waiter:?}") };
        let redis::Value::Double(looks_at) = first[1] else { panic!("{waiter:?}") };
        assert!(looks_at - server_ms(&mut raw) as f64 > 120_000.0, "it looks for itself then");
        raw.run(&["CONFIG", "RESETSTAT"]);
        until("it glances", || raw.calls("time") == 1);
        let (first, at) = (commands(&mut raw), Instant::now());
        raw.run(&["CONFIG", "RESETSTAT"]);
        until("it glances again", || raw.calls("time") == 2);
        assert!(at.elapsed() > Duration::from_millis(2900), "{:?}", at.elapsed());
        assert_eq!(scripts(&mut raw), 0, "it only glances");
        (looks - plain_look + first, commands(&mut raw) as f64 / 2.0)
    });
    wait(8);
    observer.join().unwrap()
}

/// An idle waiter looks after 127 seconds at the earliest, so once in two minutes, and glances after 1.7 in between.
#[test]
fn an_idle_waiter_costs_one_command_a_second_or_less() {
    let arrangements: [fn(&Queue); 4] = [
        |_| {},
        |queue| drop(queue.push(&delayed("far", 3_600_000)).unwrap()),
        |queue| drop(queue.push(&NewJob { due: Due::InMs(3_600_000), ..prioritized("far", 5) }).unwrap()),
        |queue| {
            queue.push(&job("due")).unwrap();
            queue.pause(None).unwrap();
        },
    ];
    let measured = arrangements.map(|arrange| std::thread::spawn(move || costs(arrange)));
    for (number, measured) in measured.into_iter().enumerate() {
        let (look, glance) = measured.join().unwrap();
        assert!(look > 8 && glance == 1.0, "arrangement {number}: {look} {glance}");
        let per_second = look as f64 / 120.0 + glance / 1.7;
        assert!(per_second <= 1.0, "arrangement {number}: {look} commands in a look and a glance");
    }
}

#[test]
fn what_another_waiter_will_look_at_is_no_news() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    queue.push(&delayed("a", 14_000)).unwrap();
    let waiters = [1, 2].map(|count| {
        let queue = queue.clone();
        let waiter = std::thread::spawn(move || {
            queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(9)), &mut NoInterrupts).unwrap().len()
        });
        until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == count);
        waiter
    });
    let before = (raw.calls("time"), scripts(&mut raw));
    until("both glance", || raw.calls("time") >= before.0 + 4);
    assert_eq!(scripts(&mut raw), before.1);
    waiters.into_iter().for_each(|waiter| assert_eq!(waiter.join().unwrap(), 0));
}
