//! Runs that have to end: at their own limit, or soon after the process was asked to end.

use crate::machine::stalls_since;
use crate::support::*;
use crate::worker_loop::next;
use delayqueue::core::queue::{Held, Queue};
use delayqueue::core::worker::alarm::{Alarm, Cause};
use delayqueue::core::worker::feed::Feed;
use delayqueue::core::worker::keeper::Keeper;
use delayqueue::core::worker::watch::Limits;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The process of a loop, as its keeper sees it.
#[derive(Default)]
struct Process {
    asked: Option<Instant>,
    rung: Vec<(Instant, Cause)>,
    last_words: Option<String>,
}

struct Bell(Arc<Mutex<Process>>);

impl Alarm for Bell {
    fn asked_to_end(&self) -> Option<Instant> {
        self.0.lock().unwrap().asked
    }
    fn ring(&self, cause: Cause, _: u32) {
        self.0.lock().unwrap().rung.push((Instant::now(), cause));
    }
    fn give_up(&self, message: &str) -> ! {
        self.0.lock().unwrap().last_words = Some(message.to_owned());
        loop {
            std::thread::park();
        }
    }
}

/// A loop that fetches so many jobs at a time.
fn with_bell(queue: &Queue, prefetch: usize) -> (Feed, Arc<Mutex<Process>>) {
    let process = Arc::<Mutex<Process>>::default();
    (Feed::new(vec![queue.clone()], prefetch, Keeper::new(Box::new(Bell(Arc::clone(&process))), true)), process)
}

/// A loop that runs the only job of its queue.
fn running() -> (Queue, Feed, Arc<Mutex<Process>>, Held) {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let (mut feed, process) = with_bell(&queue, 1);
    let held = next(&mut feed).job.held();
    (queue, feed, process, held)
}

/// Milliseconds.
fn limits(timeout: u64, shutdown: u64, grace: u64) -> Limits {
    let [timeout, shutdown, grace] = [timeout, shutdown, grace].map(Duration::from_millis);
    Limits { timeout, shutdown, grace }
}

fn first_ring(process: &Mutex<Process>) -> (Instant, Cause) {
    until("it rings", || !process.lock().unwrap().rung.is_empty());
    process.lock().unwrap().rung[0]
}

fn last_words(process: &Mutex<Process>) -> String {
    until("it gives up", || process.lock().unwrap().last_words.is_some());
    process.lock().unwrap().last_words.clone().unwrap()
}

#[test]
fn a_run_that_takes_too_long_is_rung_then_given_up() {
    let (queue, mut feed, process, held) = running();
    feed.keeper().watch(vec![(queue.clone(), held.clone())], limits(50, 0, 250));
    assert_eq!(first_ring(&process).1, Cause::TimedOut);
    last_words(&process);
    let info = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!(info.last_error.as_deref(), Some(b"timed out after 0.05 s".as_slice()));
}

#[test]
fn a_run_that_ends_in_time_is_left_alone() {
    let (queue, mut feed, process, held) = running();
    process.lock().unwrap().asked = Some(Instant::now());
    feed.keeper().watch(vec![(queue.clone(), held.clone())], limits(300, 300, 1_000));
    feed.keeper().unwatch();
    std::thread::sleep(Duration::from_millis(500));
    assert!(process.lock().unwrap().rung.is_empty());
}

#[test]
fn a_stuck_run_of_a_process_that_is_to_end_goes_back_uncounted_to_its_old_place() {
    let queue = fresh();
    push_many(&queue, &[job("a"), job("b"), job("c")]);
    let due_at_us = queue.peek(&id("a")).unwrap().unwrap().due_at_us;
    let (mut feed, process) = with_bell(&queue, 2);
    let held = next(&mut feed).job.held();
    feed.keeper().watch(vec![(queue.clone(), held.clone())], limits(0, 100, 200));
    std::thread::sleep(Duration::from_millis(300));
    assert!(process.lock().unwrap().rung.is_empty(), "nobody has asked it to end");
    let asked = Instant::now();
    process.lock().unwrap().asked = Some(asked);
    let (at, cause) = first_ring(&process);
    assert_eq!(cause, Cause::Shutdown);
    assert!(at - asked >= Duration::from_millis(100), "after {:?}", at - asked);
    let words = "was still running 0.1 s after the signal to end and did not stop";
    assert_eq!(last_words(&process), format!("job 'a' of queue '{}' {words}", queue.name()));
    let info = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!((info.attempts, info.due_at_us, info.last_error), (0, due_at_us, None));
    assert_eq!(states(&queue), [0, 3, 0, 0], "and so does the one that was fetched along with it");
    let order: Vec<_> = reserve_many(&queue, 3).into_iter().map(|job| (job.id, job.attempts)).collect();
    assert_eq!(order, [(id("a"), 1), (id("b"), 1), (id("c"), 1)]);
}

#[test]
fn the_limit_that_comes_first_is_the_cause_for_good() {
    for (timeout, shutdown, cause, attempts) in [(50, 400, Cause::TimedOut, 1), (400, 50, Cause::Shutdown, 0)] {
        let (queue, mut feed, process, held) = running();
        process.lock().unwrap().asked = Some(Instant::now());
        feed.keeper().watch(vec![(queue.clone(), held.clone())], limits(timeout, shutdown, 600));
        last_words(&process);
        let process = process.lock().unwrap();
        assert!(process.rung.iter().all(|(_, rung)| *rung == cause), "{:?}", process.rung);
        assert_eq!(queue.peek(&id("a")).unwrap().unwrap().attempts, attempts, "{cause:?}");
    }
}

#[test]
fn a_handler_that_hears_of_it_late_has_its_whole_grace() {
    let (queue, mut feed, process, held) = running();
    // The keeper has waited for a silent server.
    process.lock().unwrap().asked = Instant::now().checked_sub(Duration::from_secs(10));
    feed.keeper().watch(vec![(queue.clone(), held.clone())], limits(0, 100, 600));
    let (at, _) = first_ring(&process);
    last_words(&process);
    assert!(at.elapsed() >= Duration::from_millis(600), "{:?}", at.elapsed());
}

#[test]
fn a_request_to_end_is_found_in_time_by_a_keeper_that_nobody_wakes() {
    let (queue, mut feed, process, held) = running();
    feed.keeper().watch(vec![(queue.clone(), held.clone())], limits(0, 700, 60_000));
    // Just after a look, and just before one.
    std::thread::sleep(Duration::from_millis(650));
    let asked = Instant::now();
    process.lock().unwrap().asked = Some(asked);
    let took = first_ring(&process).0 - asked;
    let limit = Duration::from_millis(1_300) + stalls_since(asked);
    assert!(took >= Duration::from_millis(700) && took < limit, "{took:?}");
}
