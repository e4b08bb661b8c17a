//! A waiter that no script has woken finds by itself that a job is due; and how few commands it sends for that.

use crate::machine::stalls_since;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::topology::soon;
use delayqueue::core::connection::Connection;
use delayqueue::core::job::{Due, JobOptions, NewJob};
use delayqueue::core::queue::{NoInterrupts, Queue};
use delayqueue::core::reply;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A waiter checks after five seconds at the latest, and is served at once then.
const FOUND_AFTER: Duration = Duration::from_millis(6500);

/// Waits for a job of one of the queues, and says which it got. It has checked them when it is to have done so.
fn waiting(server: &Server, queues: &[&Queue], has_checked: bool) -> JoinHandle<Option<String>> {
    let (queue, watch) = (queues[0].clone(), queues.iter().map(|queue| queue.name().to_owned()).collect::<Vec<_>>());
    let mut raw = server.raw();
    let waiter = std::thread::spawn(move || {
        let jobs = queue.reserve(&watch, 1, Some(Duration::from_secs(120)), &mut NoInterrupts).unwrap();
        jobs.first().map(|job| job.id.to_string())
    });
    for queue in queues {
        until("it waits", || raw.int(&["ZCARD", &key(queue, "waiters")]) == 1);
    }
    let looked = raw.calls("time");
    until("it checks", || !has_checked || raw.calls("time") > looked);
    waiter
}

/// Does something while no waiter is registered, so that the wake-up is lost.
fn unheard(server: &Server, queue: &Queue, work: impl FnOnce()) {
    let mut raw = server.raw();
    raw.run(&["DEL", &key(queue, "waiters")]);
    work();
}

fn is_found(waiter: JoinHandle<Option<String>>, name: &str, what: &str) {
    let started = Instant::now();
    assert_eq!(waiter.join().unwrap().as_deref(), Some(name), "{what}");
    assert!(started.elapsed() < FOUND_AFTER + stalls_since(started), "{what}: {:?}", started.elapsed());
}

/// An event after which a job is ready soon.
type Event = (&'static str, fn(&Queue));

const EVENTS: [Event; 6] = [
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
    ("a lease of a job that was buried", |queue| {
        queue.push(&NewJob { options: JobOptions { ttr_ms: 500, ..JobOptions::default() }, ..job("a") }).unwrap();
        queue.bury(&reserve(queue).unwrap().held(), None).unwrap();
        assert!(queue.reserve_job(&id("a")).unwrap().is_some());
    }),
];

/// All of them, each while a consumer waits.
fn all_are_found(has_checked: bool) {
    let scenes = EVENTS.map(|(what, happen)| {
        let server = Server::start(&[]);
        server.queue("q").push(&delayed("far", 3_600_000)).unwrap();
        let waiter = waiting(&server, &[&server.queue("q")], has_checked);
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
fn a_lost_wake_up_is_made_good_wherever_the_job_lies() {
    all_are_found(false);
}

#[test]
fn a_wake_up_that_is_lost_after_a_check_is_made_good_by_the_next() {
    all_are_found(true);
}

#[test]
fn every_queue_is_checked() {
    let server = Server::start(&[]);
    let queues = ["a", "b", "c"].map(|name| server.queue(name));
    let waiter = waiting(&server, &queues.each_ref(), true);
    for queue in &queues[..2] {
        queue.push(&delayed("later", 100_000)).unwrap();
    }
    unheard(&server, &queues[2], || drop(queues[2].push(&job("c")).unwrap()));
    is_found(waiter, "c", "in the last of three queues");
}

#[test]
fn the_end_of_a_pause_is_found() {
    for has_checked in [false, true] {
        let server = Server::start(&[]);
        let queue = server.queue("q");
        queue.push(&job("a")).unwrap();
        queue.pause(None, None).unwrap();
        let waiter = waiting(&server, &[&queue], has_checked);
        unheard(&server, &queue, || queue.resume(None).unwrap());
        is_found(waiter, "a", "after the pause");
    }
}

#[test]
fn a_pause_that_gets_shorter_ends_earlier() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.push(&job("a")).unwrap();
    queue.pause(Some(100_000), None).unwrap();
    let waiter = waiting(&server, &[&queue], true);
    queue.pause(Some(500), None).unwrap(); // which wakes no waiter
    is_found(waiter, "a", "after the shorter pause");
}

#[test]
fn a_pause_that_begins_while_a_consumer_waits_is_heeded() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let waiter = waiting(&server, &[&queue], true);
    queue.pause(None, None).unwrap();
    queue.push(&job("a")).unwrap();
    let before = raw.calls("evalsha");
    let checks = raw.calls("time");
    // That may take two checks of five seconds.
    soon("it checks", || raw.calls("time") > checks + 1);
    assert!(raw.calls("evalsha") - before <= 4, "it looks once, and only checks then");
    assert_eq!(states(&queue), [0, 1, 0, 0]);
    queue.resume(None).unwrap();
    is_found(waiter, "a", "after the pause");
}

/// Registers a waiter that never looks, but may be listening, until the result is dropped.
fn register(server: &Server, looks_at_us: i64, is_listening: bool) -> Connection {
    let limit = Duration::from_secs(2);
    let mut connection = Connection::open(&server_of(&server.dsn()), limit, limit).unwrap();
    if is_listening {
        connection.subscribe(vec!["dq:{q}:waiters:other".to_owned()]).unwrap();
    }
    server.raw().run(&["ZADD", "dq:{q}:waiters", &looks_at_us.to_string(), "other"]);
    connection
}

fn now_us(server: &Server) -> i64 {
    reply::time_us(&server.raw().run(&["TIME"])).unwrap()
}

/// How late a waiter gets a job beside another that has died, or is stopped and never looks; if the job comes before the waiter, or
/// after it.
#[test]
fn a_waiter_that_never_looks_makes_no_other_late_by_more_than_a_quarter_of_a_second() {
    let cases = [true, false].map(|is_listening| [true, false].map(|is_first| (is_listening, is_first)));
    for (is_listening, is_first) in cases.into_iter().flatten() {
        // On a busy machine a single try may be late for another reason.
        let mut late_us = (0..5).map(|_| late_beside_another(is_listening, is_first));
        let found = late_us.find(|late_us| *late_us <= 250_000);
        assert!(found.is_some(), "listening: {is_listening}, pushed first: {is_first}");
    }
}

fn late_beside_another(is_listening: bool, is_first: bool) -> i64 {
    let server = Server::start(&[]);
    let (queue, consumer, mut raw) = (server.queue("q"), server.queue("q"), server.raw());
    let push = || drop(queue.push(&delayed("a", 1200)).unwrap());
    if is_first {
        push();
    }
    let _other = register(&server, now_us(&server) + 600_000, is_listening);
    let waiter = std::thread::spawn(move || {
        let timeout = Some(Duration::from_secs(20));
        let job = consumer.reserve(&["q".to_owned()], 1, timeout, &mut NoInterrupts).unwrap().remove(0);
        job.reserved_at_us - job.due_at_us
    });
    let registered = if is_listening || !is_first { 2 } else { 1 };
    until("it waits", || waiter.is_finished() || raw.int(&["ZCARD", "dq:{q}:waiters"]) == registered);
    if !is_first {
        push();
    }
    let late_us = waiter.join().unwrap();
    assert!(late_us >= 0, "{late_us} µs late");
    late_us
}

/// For a job that is ready at once: the wake-up goes to a waiter that is stopped.
#[test]
fn a_ready_job_reaches_a_second_waiter_when_the_first_is_stopped() {
    for pushed in [job("a"), prioritized("a", 5)] {
        let server = Server::start(&[]);
        let queue = server.queue("q");
        let waiter = waiting(&server, &[&queue], false);
        let _other = register(&server, now_us(&server) + 900_000_000, true); // the last one: it is told first
        let started = Instant::now();
        queue.push(&pushed).unwrap();
        assert_eq!(waiter.join().unwrap().as_deref(), Some("a"));
        assert!(started.elapsed() < Duration::from_secs(2) + stalls_since(started), "{:?}", started.elapsed());
    }
}

#[test]
fn a_waiter_that_loses_its_connection_while_checking_registers_anew() {
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
    until("it waits under another name", || waiters().split(' ').any(|name| !name.is_empty() && name != before));
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

/// Commands that Redis has executed since the last `CONFIG RESETSTAT`, less those of the tests themselves.
fn commands(raw: &mut Raw) -> u64 {
    let ours = ["cmdstat_config", "cmdstat_info", "cmdstat_zcard"];
    let stats = raw.text(&["INFO", "commandstats"]);
    let calls = stats.lines().filter(|line| !ours.iter().any(|name| line.starts_with(name)));
    calls.filter_map(|line| line.split_once(":calls=")?.1.split(',').next()?.parse::<u64>().ok()).sum()
}

/// How many commands a check is, and how long after the one before it comes.
fn costs(arrange: fn(&Queue)) -> (u64, Duration) {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    arrange(&queue);
    let waiter = std::thread::spawn(move || {
        queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(12)), &mut NoInterrupts).unwrap().len()
    });
    until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
    raw.run(&["CONFIG", "RESETSTAT"]);
    until("it checks", || raw.calls("time") == 1);
    let at = Instant::now();
    raw.run(&["CONFIG", "RESETSTAT"]);
    until("it checks again", || raw.calls("time") == 1);
    let found = (commands(&mut raw), at.elapsed());
    assert_eq!(raw.calls("evalsha"), 0, "it only checks");
    assert_eq!(waiter.join().unwrap(), 0);
    found
}

#[test]
fn an_idle_waiter_costs_about_one_command_a_second() {
    let arrangements: [fn(&Queue); 4] = [
        |_| {},
        |queue| drop(queue.push(&delayed("far", 3_600_000)).unwrap()),
        |queue| drop(queue.push(&NewJob { due: Due::InMs(3_600_000), ..prioritized("far", 5) }).unwrap()),
        |queue| {
            queue.push(&job("due")).unwrap();
            queue.pause(None, None).unwrap();
        },
    ];
    let measured = arrangements.map(|arrange| std::thread::spawn(move || costs(arrange)));
    for (number, measured) in measured.into_iter().enumerate() {
        let (check, after) = measured.join().unwrap();
        let per_second = check as f64 / after.as_secs_f64();
        // Five commands each five seconds, which the waiter begins up to half a second sooner.
        assert!(per_second <= 1.2, "arrangement {number}: {check} commands each {after:?}");
    }
}

/// One of them has to look at it, and a second one in case the first is stopped.
#[test]
fn fifty_idle_waiters_look_at_most_twelve_times_at_a_job_that_is_far_off() {
    const WAITERS: i64 = 50;
    let (_server, queue, mut raw) = Server::with_queue(&["--maxclients", "200"]);
    let (sender, served) = std::sync::mpsc::channel();
    for _ in 0..WAITERS {
        let (queue, sender) = (queue.clone(), sender.clone());
        std::thread::spawn(move || {
            while let Ok(jobs) = queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(60)), &mut NoInterrupts) {
                for job in jobs {
                    queue.ack(&job.held()).unwrap();
                    let _ = sender.send(job.reserved_at_us - job.due_at_us);
                }
            }
        });
    }
    until("all wait", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == WAITERS);
    for (name, delay_ms) in [("soon", 1_000), ("far", 8_000), ("ready", 0)] {
        let before = raw.calls("evalsha") + raw.calls("eval");
        let pushed = Instant::now();
        queue.push(&delayed(name, delay_ms)).unwrap();
        let late_us = served.recv_timeout(Duration::from_secs(60)).unwrap();
        let most_us = 2_000_000 + i64::try_from(stalls_since(pushed).as_micros()).unwrap();
        until("all wait again", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == WAITERS);
        std::thread::sleep(Duration::from_millis(500)); // the second look, if a waiter makes it
        let looks = raw.calls("evalsha") + raw.calls("eval") - before - 2; // the push, and the acknowledgement
        assert!(looks <= 12, "{looks} looks at a job that was {name}");
        assert!((0..most_us).contains(&late_us), "{late_us} µs late, {name}");
    }
}

/// For waiters that come when the job is there already: one looks when it is due, a second one a little later.
#[test]
fn waiters_that_come_after_a_job_do_not_all_look_at_it() {
    const WAITERS: i64 = 20;
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    queue.push(&delayed("a", 4_000)).unwrap();
    for _ in 0..WAITERS {
        let queue = queue.clone();
        std::thread::spawn(move || {
            let _ = queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(60)), &mut NoInterrupts);
        });
    }
    until("all wait", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == WAITERS);
    let before = raw.calls("evalsha") + raw.calls("eval");
    until("one is served", || raw.int(&["ZCARD", "dq:{q}:reserved"]) == 1);
    std::thread::sleep(Duration::from_millis(500)); // the second look
    let looks = raw.calls("evalsha") + raw.calls("eval") - before;
    assert!((1..=12).contains(&looks), "{looks} looks");
}

#[test]
fn a_waiter_leaves_a_due_job_to_another_that_will_look_at_it() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    queue.push(&delayed("a", 9_500)).unwrap();
    let waiters = [1, 2].map(|count| {
        let queue = queue.clone();
        let waiter = std::thread::spawn(move || {
            queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(9)), &mut NoInterrupts).unwrap().len()
        });
        until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == count);
        waiter
    });
    let before = (raw.calls("time"), raw.calls("evalsha"));
    until("both check", || raw.calls("time") >= before.0 + 2);
    assert_eq!(raw.calls("evalsha"), before.1);
    waiters.into_iter().for_each(|waiter| assert_eq!(waiter.join().unwrap(), 0));
}
