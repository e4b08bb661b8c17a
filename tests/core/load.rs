//! Producers and workers that log the fate of every job, while a test breaks the servers.

use crate::support::*;
use crate::worker_loop;
use delayqueue::core::error::Error;
use delayqueue::core::job::NewJob;
use delayqueue::core::queue::{NoInterrupts, Queue, Settled};
use delayqueue::core::worker::feed::Fetched;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct Log {
    /// When the push of each had succeeded.
    pub accepted: BTreeMap<String, Instant>,
    pub ambiguous: BTreeSet<String>,
    pub refused: BTreeSet<String>,
    /// How often each was acknowledged, or may have been.
    pub done: BTreeMap<String, u32>,
    /// When each that is delayed may come at the earliest.
    not_before: BTreeMap<String, Instant>,
    pub early: Vec<String>,
    pub errors: Vec<(Instant, Error)>,
    pub deliveries: Vec<Instant>,
    pub longest_push: Duration,
    pub longest_reserve: Duration,
}

/// Pushes about 500 jobs a second, every tenth of them delayed.
fn produce(queue: &Queue, stop: &AtomicBool, log: &Mutex<Log>) {
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let name = format!("j{n}");
        let delay_ms = if n % 10 == 0 { 300 } else { 0 };
        let new: NewJob = delayed(&name, delay_ms);
        let started = Instant::now();
        log.lock().unwrap().not_before.insert(name.clone(), started + Duration::from_millis(delay_ms));
        let pushed = queue.push(&new);
        let mut log = log.lock().unwrap();
        log.longest_push = log.longest_push.max(started.elapsed());
        match pushed {
            Ok(_) => drop(log.accepted.insert(name, Instant::now())),
            Err(error) => {
                let is_ambiguous = matches!(error, Error::Connection { ambiguous: true, .. });
                if is_ambiguous { &mut log.ambiguous } else { &mut log.refused }.insert(name);
                log.errors.push((Instant::now(), error));
            }
        }
        drop(log);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for jobs and acknowledges them, as a worker loop does.
fn consume(queue: &Queue, stop: &AtomicBool, log: &Mutex<Log>) {
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        let found = queue.reserve(&[queue.name().to_owned()], 7, Some(Duration::from_millis(500)), &mut NoInterrupts);
        let took = started.elapsed();
        let acked = found.as_ref().is_ok_and(|jobs| !jobs.is_empty());
        let acked = acked.then(|| queue.ack_many(&finished(found.as_ref().unwrap())));
        let mut log = log.lock().unwrap();
        log.longest_reserve = log.longest_reserve.max(took);
        match found {
            Ok(jobs) => {
                for (n, job) in jobs.iter().enumerate() {
                    let name = job.id.to_string();
                    log.deliver(&name);
                    let may_be_done = match &acked {
                        Some(Ok(acked)) => acked[n] == Settled::Ours,
                        Some(Err(error)) => matches!(error, Error::Connection { ambiguous: true, .. }),
                        None => false,
                    };
                    if may_be_done {
                        *log.done.entry(name).or_default() += 1;
                    }
                }
                log.errors.extend(acked.and_then(Result::err).map(|error| (Instant::now(), error)));
            }
            Err(error) => {
                log.errors.push((Instant::now(), error));
                drop(log);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// As [`consume`], in a worker's loop, whose next fetch acknowledges.
fn consume_in_loop(queue: &Queue, stop: &AtomicBool, log: &Mutex<Log>) {
    let mut feed = worker_loop::feed(queue, 4, true);
    while !stop.load(Ordering::Relaxed) {
        let found = feed.next(Some(Duration::from_millis(500)), &mut NoInterrupts);
        let mut log = log.lock().unwrap();
        match found {
            Ok(Fetched::Job(delivery)) => {
                log.deliver(&delivery.job.id.to_string());
                *log.done.entry(delivery.job.id.to_string()).or_default() += 1;
                drop(log);
                feed.done(&delivery.ticket);
            }
            Ok(_) => {}
            Err(error) => {
                log.errors.push((Instant::now(), error));
                drop(log);
                feed.give_up_ended();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
    feed.return_rest().unwrap();
    feed.flush().unwrap();
}

/// A producer and two workers, one of them a loop, work until `break_it` is through.
pub fn while_working<T>(queue: &Queue, break_it: impl FnOnce(&Mutex<Log>) -> T) -> (T, Log) {
    let (stop, log) = (AtomicBool::new(false), Mutex::new(Log::default()));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| produce(queue, &stop, &log));
        scope.spawn(|| consume(queue, &stop, &log));
        scope.spawn(|| consume_in_loop(queue, &stop, &log));
        let stop_at_end = StopAtEnd(&stop);
        wait_for_deliveries(&log, 50);
        let result = break_it(&log);
        drop(stop_at_end);
        result
    });
    (result, log.into_inner().unwrap())
}

/// Lets the threads end also when an assertion fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Serves everything that is left, leases included, and counts it.
pub fn drain(queue: &Queue, done: &mut BTreeMap<String, u32>) {
    for _ in 0..3 {
        travel(61_000);
        loop {
            let jobs = reserve_many(queue, 500);
            if jobs.is_empty() {
                break;
            }
            ack_all(queue, &jobs);
            for job in jobs {
                *done.entry(job.id.to_string()).or_default() += 1;
            }
        }
    }
    assert_eq!(states(queue), [0, 0, 0, 0]);
}

/// Until so many more jobs were delivered.
pub fn wait_for_deliveries(log: &Mutex<Log>, more: usize) {
    let before = log.lock().unwrap().deliveries.len();
    crate::topology::soon("jobs are delivered", || log.lock().unwrap().deliveries.len() >= before + more);
}

impl Log {
    fn deliver(&mut self, name: &str) {
        let now = Instant::now();
        self.deliveries.push(now);
        if self.not_before.get(name).is_some_and(|at| now < *at) {
            self.early.push(name.to_owned());
        }
    }

    /// How long after a moment the first job came.
    pub fn resumed_after(&self, moment: Instant) -> Duration {
        let first = self.deliveries.iter().filter(|at| **at > moment).min();
        *first.expect("jobs were delivered afterwards") - moment
    }

    /// The accepted jobs that nobody ever saw, once nothing is left.
    pub fn drain(&mut self, queue: &Queue) -> Vec<(String, Instant)> {
        drain(queue, &mut self.done);
        let lost = self.accepted.iter().filter(|(name, _)| !self.done.contains_key(*name));
        lost.map(|(name, at)| (name.clone(), *at)).collect()
    }

    /// Ends the account of a fault: what was lost, of a load that went on within three seconds of a moment.
    pub fn close(&mut self, what: &str, queue: &Queue, moment: Instant) -> Vec<(String, Instant)> {
        let (lost, resumed) = (self.drain(queue), self.resumed_after(moment));
        self.report(what, resumed, lost.len());
        self.assert_sound();
        assert!(resumed < Duration::from_secs(3), "{what}: {resumed:?}");
        lost
    }

    /// Redis answers before its replica has the write: what was on its way may be lost with a master, and no more.
    pub fn assert_next_to_nothing_lost(&self, lost: &[(String, Instant)], deadline: Duration) {
        assert!(self.longest_push < deadline + Duration::from_millis(500), "{:?}", self.longest_push);
        assert!(lost.len() <= 2, "{lost:?}");
    }

    /// The account that holds through every fault: nothing early, no refused job, no error that is not worth another try.
    pub fn assert_sound(&self) {
        assert_eq!(self.early, Vec::<String>::new());
        let risen: Vec<_> = self.refused.iter().filter(|name| self.done.contains_key(*name)).collect();
        assert!(risen.is_empty(), "refused, not even ambiguous, and there nevertheless: {risen:?}");
        let hopeless: Vec<_> = self.errors.iter().filter(|(_, error)| !error.is_retryable()).collect();
        assert!(hopeless.is_empty(), "{hopeless:?}");
        assert!(self.accepted.len() > 100, "only {} jobs", self.accepted.len());
    }

    pub fn doubled(&self) -> usize {
        self.done.values().filter(|times| **times > 1).count()
    }

    /// One line for `cargo test -- --nocapture`.
    pub fn report(&self, what: &str, resumed: Duration, lost: usize) {
        let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
        for (_, error) in &self.errors {
            *kinds.entry(error.to_string().chars().take(160).collect()).or_default() += 1;
        }
        println!(
            "{what}: resumed after {resumed:?}; {} accepted, {lost} lost, {} done twice, {} ambiguous, {} refused; \
             longest push {:?}, longest reserve {:?}; errors {kinds:#?}",
            self.accepted.len(),
            self.doubled(),
            self.ambiguous.len(),
            self.refused.len(),
            self.longest_push,
            self.longest_reserve,
        );
    }
}
