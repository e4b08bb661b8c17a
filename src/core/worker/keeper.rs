//! A thread of our own that renews leases and ends runs that take too long. It never touches memory of the embedding
//! language; what it must do there it does through [`Alarm`].
//!
//! It starts with the first batch it is given, sleeps without a timer while there is nothing to keep, and ends with its keeper.
//! A forked child has no such thread: its keeper does nothing.

use super::lease::Lease;
use super::thread;
use crate::core::job::Receipt;
use crate::core::process::Generation;
use crate::core::queue::{Held, Queue};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How the thread reaches the embedding language when a run takes too long. Called on the thread.
pub trait Alarm: Send {
    /// The time is over: make the handler stop at its next instruction. Called again every 100 ms until it does.
    fn ring(&self, times: u32);
    /// It did not stop: the failure is recorded; end the process.
    fn give_up(&self, message: &str) -> !;
}

/// A run with a time limit.
struct Run {
    queue: Queue,
    held: Held,
    timeout: Duration,
    deadline: Instant,
    grace_ends: Instant,
    rung: u32,
}

#[derive(Default)]
pub(super) struct State {
    /// A handful at most, and one comes and goes with each trip.
    batches: BTreeMap<u64, (Queue, Vec<Arc<Lease>>)>,
    next_batch: u64,
    run: Option<Run>,
    /// When the thread will look by itself; `None`: it waits to be told.
    planned: Option<Instant>,
    ends: bool,
}

pub(super) struct Shared {
    state: Mutex<State>,
    told: Condvar,
    alarm: Mutex<Box<dyn Alarm>>,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`Keeper::keep`]; 0 when there is nothing to keep, or the keeper is gone.
    pub(super) fn keep(self: &Arc<Self>, queue: &Queue, leases: Vec<Arc<Lease>>) -> u64 {
        let Some(first) = leases.iter().map(|lease| lease.renew_at()).min() else { return 0 };
        let mut state = self.state();
        if state.ends {
            return 0;
        }
        state.next_batch += 1;
        let batch = state.next_batch;
        for lease in &leases {
            let _ = lease.keeper.set(Arc::downgrade(self));
        }
        state.batches.insert(batch, (queue.clone(), leases));
        self.tell_if_earlier(&mut state, first);
        batch
    }

    pub(super) fn forget(&self, batch: u64) {
        self.state().batches.remove(&batch);
    }

    pub(super) fn tell_if_earlier(&self, state: &mut State, at: Instant) {
        if state.planned.is_none_or(|planned| at < planned) {
            state.planned = Some(at);
            self.told.notify_one();
        }
    }
}

/// Owner of the thread.
pub struct Keeper {
    shared: Arc<Shared>,
    is_started: bool,
    process: Generation,
    renews: bool,
}

impl Keeper {
    /// `renews`: without it only time limits are watched.
    #[must_use]
    pub fn new(alarm: Box<dyn Alarm>, renews: bool) -> Self {
        let shared = Shared { state: Mutex::default(), told: Condvar::new(), alarm: Mutex::new(alarm) };
        Self { shared: Arc::new(shared), is_started: false, process: Generation::current(), renews }
    }

    /// In a forked child the thread does not exist, and it may have held the lock: touch nothing.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.process.is_current().then(|| self.shared.state())
    }

    /// Keeps the leases of a batch alive until [`Keeper::forget`].
    pub fn keep(&mut self, queue: &Queue, leases: Vec<Arc<Lease>>) -> u64 {
        if !self.renews || !self.process.is_current() {
            return 0;
        }
        self.start();
        self.shared.keep(queue, leases)
    }

    /// For the thread that fetches ahead; `None` when no leases are renewed.
    pub(super) fn shared(&self) -> Option<Arc<Shared>> {
        self.renews.then(|| Arc::clone(&self.shared))
    }

    /// The batch is settled.
    pub fn forget(&mut self, batch: u64) {
        if self.process.is_current() {
            self.shared.forget(batch);
        }
    }

    /// Watches the run of one job.
    pub fn watch(&mut self, queue: &Queue, held: &Held, timeout: Duration, grace: Duration) {
        self.start();
        let Some(mut state) = self.state() else { return };
        let deadline = Instant::now() + timeout;
        let run =
            Run { queue: queue.clone(), held: held.clone(), timeout, deadline, grace_ends: deadline + grace, rung: 0 };
        state.run = Some(run);
        self.shared.tell_if_earlier(&mut state, deadline);
    }

    /// The run is over.
    pub fn unwatch(&mut self) {
        if let Some(mut state) = self.state() {
            state.run = None;
        }
    }

    fn start(&mut self) {
        if self.is_started || !self.process.is_current() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        self.is_started = thread::start(move || run(&shared));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(mut state) = self.state() {
            state.ends = true;
            state.batches.clear();
            state.run = None;
            self.shared.told.notify_one();
        }
        // Not joined: it may be waiting for Redis.
    }
}

/// When an unreachable Redis is asked again.
const RETRY: Duration = Duration::from_millis(200);

fn run(shared: &Shared) {
    let mut state = shared.state();
    loop {
        if state.ends {
            return;
        }
        let now = Instant::now();
        match due_alarm(&mut state, now) {
            // Under the lock: once unwatch() has returned, nothing rings for that run.
            Some(Ring::Stop(times)) => shared.alarm.lock().unwrap_or_else(PoisonError::into_inner).ring(times),
            Some(Ring::GiveUp(run)) => {
                drop(state);
                give_up(shared, &run)
            }
            None => {}
        }
        let due = due_renewals(&state, now);
        if !due.is_empty() {
            drop(state);
            let mut reached = true;
            for (queue, leases) in due {
                reached &= renew(&queue, &leases);
            }
            state = shared.state();
            if !reached {
                state.planned = Some(Instant::now() + RETRY);
                let (guard, _) = shared.told.wait_timeout(state, RETRY).unwrap_or_else(PoisonError::into_inner);
                state = guard;
            }
            continue;
        }
        state.planned = next_look(&state);
        state = match state.planned {
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now());
                shared.told.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
            None => shared.told.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

fn next_look(state: &State) -> Option<Instant> {
    let leases = state.batches.values().flat_map(|(_, leases)| leases);
    let renewals = leases.filter(|lease| lease.is_open()).map(|lease| lease.renew_at());
    let alarm = state.run.as_ref().map(|run| ring_at(run).min(run.grace_ends));
    renewals.chain(alarm).min()
}

fn ring_at(run: &Run) -> Instant {
    run.deadline + Duration::from_millis(100) * run.rung
}

enum Ring {
    Stop(u32),
    GiveUp(Box<Run>),
}

fn due_alarm(state: &mut State, now: Instant) -> Option<Ring> {
    let run = state.run.as_mut()?;
    if now >= run.grace_ends && run.rung > 0 {
        return state.run.take().map(|run| Ring::GiveUp(Box::new(run)));
    }
    if now >= ring_at(run) {
        run.rung += 1;
        return Some(Ring::Stop(run.rung));
    }
    None
}

/// All open leases of every queue that has one to renew: one round trip renews them together.
fn due_renewals(state: &State, now: Instant) -> Vec<(Queue, Vec<Arc<Lease>>)> {
    let mut queues: HashMap<&str, (Queue, Vec<Arc<Lease>>, bool)> = HashMap::new();
    for (queue, leases) in state.batches.values() {
        let (_, open, is_due) = queues.entry(queue.name()).or_insert_with(|| (queue.clone(), Vec::new(), false));
        for lease in leases.iter().filter(|lease| lease.is_open()) {
            open.push(Arc::clone(lease));
            *is_due |= lease.renew_at() <= now;
        }
    }
    queues.into_values().filter(|(_, _, is_due)| *is_due).map(|(queue, leases, _)| (queue, leases)).collect()
}

/// False when Redis could not be asked.
fn renew(queue: &Queue, leases: &[Arc<Lease>]) -> bool {
    for some in leases.chunks(500) {
        let asked = Instant::now();
        let receipts: Vec<(&Receipt, u64)> = some.iter().map(|lease| (&lease.receipt, lease.ttr_ms)).collect();
        let Ok(ends) = queue.touch_many(&receipts) else { return false };
        for (lease, end) in some.iter().zip(ends) {
            match end {
                Some(_) => lease.extend(asked + Duration::from_millis(lease.ttr_ms)),
                None if lease.is_open() => lease.lost.store(true, Ordering::Relaxed),
                None => {}
            }
        }
    }
    true
}

/// The words for a run that took too long.
#[must_use]
pub fn timeout_reason(timeout: Duration) -> String {
    format!("timed out after {} s", timeout.as_secs_f64())
}

fn give_up(shared: &Shared, run: &Run) -> ! {
    let reason = timeout_reason(run.timeout);
    let recorded = match run.queue.fail(&run.held, Some(reason.as_bytes())) {
        Ok(_) => String::new(),
        Err(error) => format!(" (not recorded: {error})"),
    };
    let message = format!("job '{}' of queue '{}' {reason} and did not stop{recorded}", run.held.id, run.queue.name());
    shared.alarm.lock().unwrap_or_else(PoisonError::into_inner).give_up(&message)
}
