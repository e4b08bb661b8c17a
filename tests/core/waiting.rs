//! Waiting without polling.

use crate::machine::stalls_since;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::job::{JobOptions, NewJob};
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
    shared().raw().int(&["ZCARD", &key(queue, "waiters")])
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
    assert!(at - pushed < Duration::from_secs(2) + stalls_since(pushed), "{:?}", at - pushed);
    assert_eq!(waiters(&queue), 0);
}

#[test]
fn a_due_time_wakes_a_waiter_and_never_early() {
    let queue = fresh();
    let waiter = waiting(&queue, 1, 10.0);
    let pushed = Instant::now();
    queue.push(&delayed("a", 300)).unwrap();
    let (_, at) = waiter.recv().unwrap().unwrap();
    assert!(at - pushed >= Duration::from_millis(300));
    assert!(at - pushed < Duration::from_secs(2) + stalls_since(pushed), "{:?}", at - pushed);
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
    push_many(&queue, &jobs);
    let started = Instant::now();
    let mut got: Vec<String> = receiver.iter().take(8).map(|got| got.unwrap().0).collect();
    got.sort();
    assert_eq!(got.len(), 8);
    assert!(started.elapsed() < Duration::from_secs(3) + stalls_since(started), "{:?}", started.elapsed());
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
        // It was to look at the job that is due in 600 ms, and leaves before.
        let mut interrupts = LeaveAfter(Instant::now() + Duration::from_millis(100));
        other
            .reserve(&[other.name().to_owned()], 1, Some(Duration::from_millis(300)), &mut interrupts)
            .map(|jobs| jobs.len())
    });
    until("it waits", || waiters(&queue) == 1);
    let receiver = waiting_more(&queue, 2);
    let _ = leaver.join().unwrap();
    let (_, at) = receiver.recv().unwrap().unwrap();
    assert!(at.elapsed() < Duration::from_secs(5) + stalls_since(at));
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

/// A thousand leases have ended, and a script takes back a hundred of them.
fn with_ended_leases(jobs: usize) -> Queue {
    let queue = fresh();
    let options = JobOptions { ttr_ms: 1_000, ..JobOptions::default() };
    push_many(
        &queue,
        &(0..jobs).map(|n| NewJob { options: options.clone(), ..job(&format!("{n}")) }).collect::<Vec<_>>(),
    );
    let held: Vec<_> = (0..jobs).step_by(500).flat_map(|_| reserve_many(&queue, 500)).collect();
    assert_eq!(held.len(), jobs);
    until("the leases have ended", || held.iter().all(|job| job.lease_until < Instant::now()));
    queue
}

#[test]
fn a_signal_ends_a_reserve_while_redis_takes_back_many_jobs() {
    struct Leave(u32);
    impl Interrupts for Leave {
        fn poll(&mut self) -> Flow {
            self.0 += 1;
            if self.0 == 3 { Flow::Return } else { Flow::Continue }
        }
    }
    let queue = with_ended_leases(1_000);
    let watch = [queue.name().to_owned()];
    for timeout in [Some(Duration::ZERO), Some(Duration::from_secs(100)), None] {
        assert_eq!(queue.reserve(&watch, 1, timeout, &mut Leave(0)).unwrap(), []);
    }
    assert_eq!(shared().raw().int(&["ZCARD", &key(&queue, "reserved")]), 100, "nine calls have been made");
    assert!(reserve(&queue).is_some(), "without a signal it goes on until there is a job");
}

#[test]
fn a_reserve_ends_with_its_timeout_while_redis_takes_back_many_jobs() {
    let queue = with_ended_leases(1_000);
    let watch = [queue.name().to_owned()];
    let timeout = Some(Duration::from_micros(1));
    assert_eq!(queue.reserve(&watch, 1, timeout, &mut NoInterrupts).unwrap(), []);
    let left = shared().raw().int(&["ZCARD", &key(&queue, "reserved")]);
    assert!(left >= 700, "one call, and another with which it stops waiting: {left}");
    assert_eq!(waiters(&queue), 0);
    assert_eq!(reserve_many(&queue, 10).len(), 1, "poison is leased alone");
}

#[test]
fn looking_is_one_script() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let mut looks = |queue: &Queue| {
        let before = raw.calls("evalsha");
        let found = reserve_many(queue, 1).len();
        (found, raw.calls("evalsha") - before)
    };
    looks(&queue);
    assert_eq!(looks(&queue), (0, 1));
    push_many(&queue, &[job("a"), job("b")]);
    assert_eq!(looks(&queue), (1, 1));
    assert_eq!(looks(&queue), (1, 1));
    assert_eq!(looks(&queue), (0, 1));
}

#[test]
fn waiting_for_a_job_takes_none_and_does_not_keep_it_from_others() {
    let queue = fresh();
    let wait = |queue: &Queue, seconds: f64| {
        queue.wait(&[queue.name().to_owned()], Some(Duration::from_secs_f64(seconds)), &mut NoInterrupts).unwrap()
    };
    assert!(!wait(&queue, 0.0) && !wait(&queue, 0.1));
    assert_eq!(waiters(&queue), 0);
    queue.push(&delayed("a", 200)).unwrap();
    assert!(wait(&queue, 10.0));
    assert_eq!(states(&queue), [0, 1, 0, 0]);
    assert_eq!(queue.list(delayqueue::core::job::State::Ready, 0, 1).unwrap()[0].attempts, 0);
    assert_eq!(serve_all(&queue), ["a"]);
    // Whichever of the two is told first, the one that takes jobs gets it.
    for (round, pushed) in [job("b"), delayed("c", 300), prioritized("d", 5)].into_iter().enumerate() {
        let looker = queue.clone();
        let looking = std::thread::spawn(move || wait(&looker, 10.0));
        until("one waits", || waiters(&queue) == 1);
        let taker = waiting_more(&queue, 2);
        queue.push(&pushed).unwrap();
        let started = Instant::now();
        assert!(taker.recv().unwrap().is_some(), "round {round}");
        assert!(
            started.elapsed() < Duration::from_secs(3) + stalls_since(started),
            "round {round}: {:?}",
            started.elapsed()
        );
        queue.push(&delayed("for the other", 0)).unwrap(); // should it have come too late
        assert!(looking.join().unwrap());
        queue.purge(&[]).unwrap();
    }
}

#[test]
fn a_waiter_whose_connection_is_lost_as_it_begins_to_listen_waits_all_the_same() {
    for fault in [Fault::DropBefore, Fault::DropReply] {
        let (server, proxy) = Proxy::with_server();
        let queue = proxy.queue("q", Duration::from_secs(5));
        server.queue("q").push(&delayed("a", 300)).unwrap();
        proxy.fail_at(b"SUBSCRIBE", fault);
        let jobs = queue.reserve(&["q".into()], 1, Some(Duration::from_secs(10)), &mut NoInterrupts).unwrap();
        assert_eq!((jobs.len(), proxy.heal()), (1, 1), "{fault:?}");
    }
}
