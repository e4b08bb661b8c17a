//! Waiting without polling.

use crate::support::*;
use delayqueue::core::queue::{Flow, Interrupts, NoInterrupts, Queue};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn wait(queue: &Queue, seconds: f64) -> Option<(String, Instant)> {
    let jobs = queue
        .reserve(&[queue.name().to_owned()], 1, Some(Duration::from_secs_f64(seconds)), &mut NoInterrupts)
        .unwrap();
    let now = Instant::now();
    jobs.into_iter().next().map(|job| {
        queue.ack(&job.held()).unwrap();
        (job.id.to_string(), now)
    })
}

fn waiters(queue: &Queue) -> i64 {
    shared().raw().int(&["ZCARD", &format!("dq:{{{}}}:waiters", queue.name())])
}

/// Runs `count` waiting threads; each reports what it got, and when.
fn waiting(queue: &Queue, count: usize, seconds: f64) -> mpsc::Receiver<Option<(String, Instant)>> {
    let (sender, receiver) = mpsc::channel();
    for _ in 0..count {
        let (queue, sender) = (queue.clone(), sender.clone());
        std::thread::spawn(move || {
            let _ = sender.send(wait(&queue, seconds));
        });
    }
    let queue = queue.clone();
    until("all wait", || waiters(&queue) == count as i64);
    receiver
}

#[test]
fn a_push_wakes_a_waiter_at_once() {
    let queue = fresh();
    let waiter = waiting(&queue, 1, 10.0);
    let pushed = Instant::now();
    queue.push(&job("a")).unwrap();
    let (id, at) = waiter.recv().unwrap().unwrap();
    assert_eq!(id, "a");
    assert!(at - pushed < Duration::from_millis(500), "{:?}", at - pushed);
    assert_eq!(waiters(&queue), 0);
}

#[test]
fn a_waiter_looks_once_more_shortly_before_a_job_falls_due() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    queue.push(&delayed("a", 300)).unwrap();
    let before = raw.calls("evalsha") + raw.calls("eval");
    assert!(wait(&queue, 10.0).is_some());
    let scripts = raw.calls("evalsha") + raw.calls("eval") - before;
    assert!(scripts >= 5, "the first look, that of a waiter, the one before, the one that counts, and ack: {scripts}");
}

#[test]
fn a_due_time_wakes_a_waiter_and_never_early() {
    let queue = fresh();
    let waiter = waiting(&queue, 1, 10.0);
    let pushed = Instant::now();
    queue.push(&delayed("a", 300)).unwrap();
    let (_, at) = waiter.recv().unwrap().unwrap();
    assert!(at - pushed >= Duration::from_millis(300));
    assert!(at - pushed < Duration::from_millis(900), "{:?}", at - pushed);
}

#[test]
fn an_earlier_job_shortens_the_wait() {
    let queue = fresh();
    queue.push(&delayed("late", 60_000)).unwrap();
    let waiter = waiting(&queue, 2, 10.0);
    queue.push(&delayed("early", 200)).unwrap();
    assert_eq!(waiter.recv().unwrap().unwrap().0, "early");
}

#[test]
fn one_push_does_not_wake_the_herd() {
    let queue = fresh();
    let receiver = waiting(&queue, 50, 1.2);
    queue.push(&job("a")).unwrap();
    until("one is served", || waiters(&queue) == 49);
    assert_eq!(receiver.iter().take(50).flatten().count(), 1);
}

#[test]
fn a_burst_of_due_jobs_reaches_all_waiters() {
    let queue = fresh();
    let receiver = waiting(&queue, 8, 10.0);
    let jobs: Vec<_> = (0..8).map(|n| delayed(&format!("j{n}"), 200)).collect();
    queue.push_many(&jobs).unwrap();
    let started = Instant::now();
    let mut got: Vec<String> = receiver.iter().take(8).map(|got| got.unwrap().0).collect();
    got.sort();
    assert_eq!(got.len(), 8);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn a_timeout_leaves_no_waiter_behind() {
    let queue = fresh();
    let started = Instant::now();
    assert_eq!(wait(&queue, 0.3), None);
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(waiters(&queue), 0);
}

#[test]
fn a_leaving_waiter_hands_its_wake_up_to_another() {
    struct LeaveAfter(Instant);
    impl Interrupts for LeaveAfter {
        fn poll(&mut self) -> Flow {
            if Instant::now() >= self.0 { Flow::Raise } else { Flow::Continue }
        }
    }
    let queue = fresh();
    queue.push(&delayed("a", 600)).unwrap();
    let other = queue.clone();
    let leaver = std::thread::spawn(move || {
        // The owner of the timer is asked once when it falls asleep and once when it wakes, early by 300 ms.
        let mut interrupts = LeaveAfter(Instant::now() + Duration::from_millis(100));
        other
            .reserve(&[other.name().to_owned()], 1, Some(Duration::from_millis(300)), &mut interrupts)
            .map(|jobs| jobs.len())
    });
    until("it waits", || waiters(&queue) == 1);
    let receiver = waiting_more(&queue, 2);
    let _ = leaver.join().unwrap();
    let (_, at) = receiver.recv().unwrap().unwrap();
    assert!(at.elapsed() < Duration::from_secs(5));
}

fn waiting_more(queue: &Queue, total: i64) -> mpsc::Receiver<Option<(String, Instant)>> {
    let (sender, receiver) = mpsc::channel();
    let waiter = queue.clone();
    std::thread::spawn(move || sender.send(wait(&waiter, 10.0)));
    until("both wait", || waiters(queue) == total);
    receiver
}

#[test]
fn watching_several_queues_serves_the_first_one_first() {
    let (first, second) = (fresh(), fresh());
    let watch = [first.name().to_owned(), second.name().to_owned()];
    second.push(&job("b")).unwrap();
    first.push(&job("a")).unwrap();
    let mut got = Vec::new();
    for _ in 0..2 {
        let job = first.reserve(&watch, 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap().remove(0);
        first.sibling(&job.queue).ack(&job.held()).unwrap();
        got.push(job.id.to_string());
    }
    assert_eq!(got, ["a", "b"]);
    let (waiter, pushed) = (first.clone(), second.clone());
    let thread = std::thread::spawn(move || {
        waiter.reserve(&watch, 1, Some(Duration::from_secs(10)), &mut NoInterrupts).unwrap().len()
    });
    until("it waits on both", || waiters(&first) == 1 && waiters(&second) == 1);
    pushed.push(&job("c")).unwrap();
    assert_eq!(thread.join().unwrap(), 1);
    assert_eq!(waiters(&first), 0);
}

#[test]
fn looking_again_at_an_empty_queue_is_one_request() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let mut requests = |queue: &Queue| -> (usize, usize) {
        raw.run(&["CONFIG", "RESETSTAT"]);
        let found = reserve_many(queue, 1).len();
        let stats = raw.text(&["INFO", "commandstats"]);
        let calls = |name: &str| {
            let line = stats.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:calls=")));
            line.map_or(0, |rest| rest.split(',').next().unwrap().parse::<usize>().unwrap())
        };
        (found, calls("evalsha") + calls("eval"))
    };
    requests(&queue);
    assert_eq!(requests(&queue), (0, 1));
    queue.push_many(&[job("a"), job("b")]).unwrap();
    assert_eq!(requests(&queue), (1, 1));
    assert!(requests(&queue).0 == 1, "the short script again");
    assert!(requests(&queue).1 <= 2, "it is found to be empty");
    assert_eq!(requests(&queue), (0, 1));
}
