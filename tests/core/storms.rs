//! Redis forgets scripts, closes connections, dies and comes back, stands still: under load.

use crate::audit;
use crate::load::drain;
use crate::machine::stalls_since;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::queue::{NoInterrupts, Queue, Settled};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

/// The fate of every job.
#[derive(Default)]
struct Report {
    accepted: BTreeSet<String>,
    ambiguous: BTreeSet<String>,
    refused: BTreeSet<String>,
    /// How often each was acknowledged, or may have been.
    done: BTreeMap<String, u32>,
    errors: Vec<Error>,
}

fn produce(queue: &Queue, name: &str, stop: &AtomicBool, report: &Mutex<Report>) {
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let count = [1, 20, 1, 40][if n % 5 == 0 { n / 5 % 4 } else { 0 }];
        let jobs: Vec<_> = (0..count).map(|at| job(&format!("{name}.{n}.{at}"))).collect();
        let ids = jobs.iter().map(|job| job.id.as_ref().unwrap().to_string());
        let pushed =
            if count == 1 { queue.push(&jobs[0]).map(|_| ()) } else { queue.push_many(&jobs, &mut Vec::new()) };
        let mut report = report.lock().unwrap();
        match pushed {
            Ok(()) => report.accepted.extend(ids),
            Err(error) => {
                if matches!(error, Error::Connection { ambiguous: true, .. }) {
                    report.ambiguous.extend(ids);
                } else {
                    report.refused.extend(ids);
                }
                report.errors.push(error);
            }
        }
    }
}

fn consume(queue: &Queue, stop: &AtomicBool, report: &Mutex<Report>) {
    while !stop.load(Ordering::Relaxed) {
        match queue.reserve(&[queue.name().to_owned()], 7, Some(Duration::ZERO), &mut NoInterrupts) {
            Ok(jobs) if jobs.is_empty() => std::thread::yield_now(),
            Ok(jobs) => {
                let acked = queue.ack_many(&finished(&jobs));
                let mut report = report.lock().unwrap();
                for (n, job) in jobs.iter().enumerate() {
                    let done = match &acked {
                        Ok(acked) => acked[n] == Settled::Ours,
                        Err(error) => matches!(error, Error::Connection { ambiguous: true, .. }),
                    };
                    if done {
                        *report.done.entry(job.id.to_string()).or_default() += 1;
                    }
                }
                report.errors.extend(acked.err());
            }
            Err(error) => report.lock().unwrap().errors.push(error),
        }
    }
}

/// The threads that work while Redis is disturbed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Load {
    Producers,
    Consumers,
    Both,
}

/// Four threads work while `disturb` is called again and again.
fn under_load(queue: &Queue, load: Load, report: Report, seconds: f64, mut disturb: impl FnMut()) -> Report {
    let (stop, report) = (AtomicBool::new(false), Mutex::new(report));
    let connected = Barrier::new(5); // a first connection that fails is reported at once
    std::thread::scope(|scope| {
        for (n, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let (stop, report, connected) = (&stop, &report, &connected);
            scope.spawn(move || {
                queue.queues().unwrap();
                connected.wait();
                if load == Load::Producers || load == Load::Both && n % 2 == 0 {
                    produce(queue, name, stop, report);
                } else {
                    consume(queue, stop, report);
                }
            });
        }
        connected.wait();
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < end {
            disturb();
        }
        stop.store(true, Ordering::Relaxed);
    });
    report.into_inner().unwrap()
}

fn assert_nothing_lost(report: &Report) {
    let done: BTreeSet<String> = report.done.keys().cloned().collect();
    let lost: Vec<_> = report.accepted.difference(&done).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), report.accepted.len());
    let risen: Vec<_> = report.refused.intersection(&done).collect();
    assert!(risen.is_empty(), "refused, not even ambiguous, and there nevertheless: {risen:?}");
    assert!(report.accepted.len() > 100, "only {} jobs", report.accepted.len());
}

#[test]
fn forgotten_scripts_are_sent_again_without_an_error() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let mut report = under_load(&queue, Load::Both, Report::default(), 2.0, || {
        raw.run(&["SCRIPT", "FLUSH"]);
        std::thread::sleep(Duration::from_millis(2));
    });
    assert_eq!(report.errors, []);
    drain(&queue, &mut report.done);
    assert_nothing_lost(&report);
    assert!(report.done.values().all(|times| *times == 1));
}

#[test]
fn closed_connections_lose_nothing_and_double_nothing() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let mut storm = || {
        raw.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        std::thread::sleep(Duration::from_millis(10));
    };
    // One after the other: a job that is done before the retry of its push arrives would be pushed again.
    let report = under_load(&queue, Load::Producers, Report::default(), 1.0, &mut storm);
    assert_eq!(states(&queue), [0, report.accepted.len() as u64, 0, 0]);
    let mut report = under_load(&queue, Load::Consumers, report, 1.0, &mut storm);
    assert_eq!(report.errors, []);
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
    drain(&queue, &mut report.done);
    assert_nothing_lost(&report);
    let doubled: Vec<_> = report.done.iter().filter(|(_, times)| **times != 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

#[test]
fn a_killed_redis_with_aof_loses_nothing_it_accepted() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let queue = server.hasty_queue("q", Duration::from_millis(300));
    let mut killed = 0;
    let mut report = under_load(&queue, Load::Both, Report::default(), 3.0, || {
        std::thread::sleep(Duration::from_millis(400));
        server.kill();
        std::thread::sleep(Duration::from_millis(if killed % 2 == 0 { 0 } else { 500 }));
        server.restart();
        killed += 1;
    });
    assert!(killed >= 2);
    let (_, faults) = audit::examine(&mut server.raw(), &queue);
    assert!(faults.is_empty(), "{faults:?}");
    drain(&server.queue("q"), &mut report.done);
    assert_nothing_lost(&report);
    assert!(
        report.errors.iter().all(|error| matches!(error, Error::Connection { .. }) || error.is_retryable()),
        "{:?}",
        report.errors
    );
}

#[test]
fn a_redis_that_stands_still_costs_no_more_than_the_deadline() {
    let server = Server::start(&[]);
    let queue = server.hasty_queue("q", Duration::from_millis(400));
    queue.push(&job("before")).unwrap();
    server.signal(libc::SIGSTOP);
    let started = Instant::now();
    let found = queue.push(&job("while"));
    assert!(matches!(found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    assert!(started.elapsed() < Duration::from_millis(1_500) + stalls_since(started), "{:?}", started.elapsed());
    let started = Instant::now();
    let found = server.hasty_queue("other", Duration::from_millis(300)).push(&job("new"));
    assert!(
        matches!(found, Err(Error::Connection { ambiguous: false, .. })),
        "it never got as far as sending: {found:?}"
    );
    assert!(started.elapsed() < Duration::from_millis(1_500) + stalls_since(started), "{:?}", started.elapsed());
    server.signal(libc::SIGCONT);
    until("the queue works again", || queue.peek(&id("before")).is_ok_and(|info| info.is_some()));
    // The push that was called ambiguous happened: it was in the socket all the time.
    until("the ambiguous push was applied", || queue.peek(&id("while")).is_ok_and(|info| info.is_some()));
    assert!(matches!(server.queue("q").push(&job("while")), Err(Error::Duplicate { .. })));
}

#[test]
fn a_waiting_worker_survives_a_restart_of_redis() {
    let mut server = Server::start(&["--appendonly", "yes"]);
    let queue = server.queue("q");
    let waiter = queue.clone();
    let thread = std::thread::spawn(move || {
        let mut errors = 0;
        loop {
            match waiter.reserve(&["q".into()], 1, Some(Duration::from_secs(20)), &mut NoInterrupts) {
                Ok(jobs) => return (jobs.len(), errors),
                Err(error) => {
                    assert!(error.is_retryable(), "{error}");
                    errors += 1;
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        }
    });
    let mut raw = server.raw();
    until("it waits", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 1);
    server.kill();
    server.restart();
    let mut raw = server.raw();
    until("it waits again", || raw.text(&["CLIENT", "LIST"]).contains("sub=1"));
    queue.push(&job("a")).unwrap();
    assert_eq!(thread.join().unwrap().0, 1);
}
