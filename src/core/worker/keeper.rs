//! A thread of our own that renews leases, acknowledges jobs that are done, and ends runs that take too long. It never touches memory of
//! the embedding language; to reach it, it calls [`Alarm`].
//!
//! It starts with the first lease it is given, sleeps without a timer while there is nothing to do, and ends with its keeper.
//! A forked child has no such thread: its keeper does nothing.

use super::bell::Bell;
use super::done::{ACK_WITHIN, Done, DoneJobs};
use super::ears::Ears;
use super::lease::Lease;
use super::listing::{self, Listing};
use super::watch::{Cause, Limits, Ring, Run};
use crate::core::job::Receipt;
use crate::core::process::Generation;
use crate::core::queue::{Held, Queue};
use crate::core::thread;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How the thread reaches the embedding language when a run has to end. Called on the thread.
pub trait Alarm: Send {
    /// When the process was first asked to end.
    fn asked_to_end(&self) -> Option<Instant> {
        None
    }
    /// The time is over: make the handler stop at its next instruction. Called again every 100 ms until it does.
    fn ring(&self, cause: Cause, times: u32);
    /// Leases were lost: the job of one of them may be running.
    fn leases_lost(&self) {}
    /// It did not stop: its job is settled; end the process.
    fn give_up(&self, message: &str) -> !;
}

/// A batch of leases, and their queue.
type Kept = (Queue, Vec<Arc<Lease>>);

#[derive(Default)]
pub(super) struct State {
    kept: Vec<Kept>,
    pub done: DoneJobs,
    /// The queues of `done`, by their index.
    queues: Vec<Queue>,
    /// Jobs were done since the thread last looked.
    is_active: bool,
    run: Option<Run>,
    /// The entry in the list of workers, of a loop that is to be listed.
    pub listing: Option<Listing>,
    /// When the thread will look by itself; `None`: it waits to be told.
    planned: Option<Instant>,
    ends: bool,
}

pub(super) struct Shared {
    state: Mutex<State>,
    told: Bell,
    /// The thread has sent its acknowledgements, or written its entry.
    pub sent: Condvar,
    pub alarm: Mutex<Box<dyn Alarm>>,
    process: Generation,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a forked child the thread does not exist, and it may have held the lock: touch nothing.
    pub fn has_ended(&self) -> bool {
        !self.process.is_current() || self.state().ends
    }

    pub fn tell_if_earlier(&self, state: &mut State, at: Instant) {
        if state.planned.is_none_or(|planned| at < planned) {
            state.planned = Some(at);
            self.told.ring();
        }
    }
}

/// Owner of the thread.
pub struct Keeper {
    shared: Arc<Shared>,
    is_started: bool,
    renews: bool,
    /// A handler runs, as far as the list of workers knows.
    pub(super) is_running: bool,
}

impl Keeper {
    /// `renews`: without it the thread only sends acknowledgements and checks time limits.
    #[must_use]
    pub fn new(alarm: Box<dyn Alarm>, renews: bool) -> Self {
        let (told, sent) = (Bell::new(), Condvar::new());
        let (state, process) = (Mutex::default(), Generation::current());
        let shared = Shared { state, told, sent, alarm: Mutex::new(alarm), process };
        Self { shared: Arc::new(shared), is_started: false, renews, is_running: false }
    }

    /// `None` in a forked child.
    pub(super) fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.shared.process.is_current().then(|| self.shared.state())
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The queues of the jobs that [`Keeper::done`] is told of, by their index.
    pub(super) fn serve(&mut self, queues: &[Queue]) {
        if let Some(mut state) = self.state() {
            state.queues = queues.iter().map(Queue::detached).collect();
        }
    }

    /// Keeps these leases alive until they are settled or lost.
    pub fn keep(&mut self, queue: &Queue, leases: Vec<Arc<Lease>>) {
        let first = leases.iter().map(|lease| lease.renew_at().min(lease.listen_at())).min();
        let Some(first) = first else { return };
        if !self.renews {
            return;
        }
        self.start();
        let Some(mut state) = self.state() else { return };
        for lease in &leases {
            lease.set_keeper(Arc::downgrade(&self.shared));
        }
        // The thread forgets settled leases when it wakes, which may be in an hour. Before the list grows, they go.
        if state.kept.len() == state.kept.capacity() {
            state.kept.retain(|(_, leases)| !leases.iter().all(|lease| lease.has_ended()));
        }
        state.kept.push((queue.detached(), leases));
        self.shared.tell_if_earlier(&mut state, first);
    }

    /// Has a job acknowledged that is done, should no fetch do it before.
    pub(super) fn done(&mut self, ticket: super::feed::Ticket) {
        self.start();
        let has_run = std::mem::take(&mut self.is_running);
        let Some(mut state) = self.state() else { return };
        let due_at = state.done.add(ticket);
        state.is_active = true;
        // Here, under the same lock, since most jobs come by.
        if has_run && let Some(at) = state.listing.as_mut().and_then(Listing::has_ended) {
            self.shared.tell_if_earlier(&mut state, at);
        }
        self.shared.tell_if_earlier(&mut state, due_at);
    }

    /// Queues failed acknowledgements for another try.
    pub(super) fn put_back(&self, state: &mut State, failed: Vec<Done>) {
        state.done.put_back(failed);
        self.shared.tell_if_earlier(state, Instant::now() + RETRY);
    }

    /// Watches the run of one job.
    pub fn watch(&mut self, queue: &Queue, held: &Held, limits: Limits) {
        self.start();
        let Some(mut state) = self.state() else { return };
        let run = Run::new(queue, held, limits);
        let look_at = run.look_at();
        state.run = Some(run);
        if let Some(at) = look_at {
            self.shared.tell_if_earlier(&mut state, at);
        }
    }

    /// The run is over.
    pub fn unwatch(&mut self) {
        if let Some(mut state) = self.state() {
            state.run = None;
        }
    }

    pub(super) fn start(&mut self) {
        if self.is_started || !self.shared.process.is_current() {
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
            state.kept.clear();
            state.run = None;
            state.listing = None;
            self.shared.told.ring();
        }
        // Not joined: it may be waiting for Redis.
    }
}

impl State {
    /// The time until the next lease is to be renewed.
    pub(super) fn until_renewal(&self) -> Duration {
        let now = Instant::now();
        let open = self.kept.iter().flat_map(|(_, leases)| leases).filter(|lease| lease.is_open(now));
        open.map(|lease| lease.renew_at().saturating_duration_since(now)).min().unwrap_or(Duration::MAX)
    }
}

/// When an unreachable Redis is asked again.
const RETRY: Duration = Duration::from_millis(200);

fn run(shared: &Shared) {
    let mut ears = Ears::default();
    let mut state = shared.state();
    loop {
        if state.ends {
            return;
        }
        let now = Instant::now();
        let alarm = || shared.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        match Run::due(&mut state.run, now, || alarm().asked_to_end()) {
            // Under the lock: once unwatch() has returned, nothing rings for that run.
            Some(Ring::Stop(cause, times)) => alarm().ring(cause, times),
            Some(Ring::GiveUp(run)) => {
                let behind = behind(&state, &run);
                drop(state);
                run.give_up(shared, &behind)
            }
            None => {}
        }
        // A server that cannot be reached must not cost the others their leases.
        let mut unreached: Vec<Kept> = due_renewals(&mut state, now, ears.take_heard());
        if !unreached.is_empty() {
            drop(state);
            unreached.retain(|(queue, leases)| !renew(shared, queue, leases));
            state = shared.state();
        }
        let mut were_sent = true;
        if state.done.due_at().is_some_and(|at| at <= now) {
            (state, were_sent) = acknowledge(shared, state);
        }
        if state.listing.as_ref().and_then(Listing::due_at).is_some_and(|at| at <= now) {
            state = listing::write_entry(shared, state);
        }
        state.planned = next_look(&mut state, &unreached, were_sent);
        let (planned, listened_to) = (state.planned, listened_to(&state));
        drop(state);
        ears.wait(&shared.told, planned, &listened_to);
        state = shared.state();
    }
}

/// The queues of jobs that have been held for long, each with the consumer that holds them.
fn listened_to(state: &State) -> Vec<(Queue, String)> {
    let now = Instant::now();
    let mut found: Vec<(Queue, String)> = Vec::new();
    for (queue, leases) in &state.kept {
        let Some(lease) = leases.iter().find(|lease| lease.is_open(now) && lease.listen_at() <= now) else { continue };
        let consumer = lease.receipt.consumer();
        if !found.iter().any(|(known, other)| known.is_same(queue) && *other == consumer) {
            found.push((queue.clone(), consumer));
        }
    }
    found
}

fn next_look(state: &mut State, unreached: &[Kept], were_sent: bool) -> Option<Instant> {
    let now = Instant::now();
    let reached = state.kept.iter().filter(|(queue, _)| !unreached.iter().any(|(other, _)| other.is_same(queue)));
    let open = reached.flat_map(|(_, leases)| leases).filter(|lease| lease.is_open(now));
    let look_at = |lease: &Arc<Lease>| match lease.listen_at() {
        listen_at if listen_at > now => lease.renew_at().min(listen_at),
        _ => lease.renew_at(),
    };
    let renewals = open.map(look_at).min();
    let alarm = state.run.as_ref().and_then(Run::look_at);
    // As long as jobs come and go, the thread looks by itself: waking it for each would cost more than its work.
    let next_done = std::mem::take(&mut state.is_active).then_some(now + ACK_WITHIN);
    let done = if were_sent { state.done.due_at().or(next_done) } else { None };
    let retry = (!were_sent || !unreached.is_empty()).then_some(now + RETRY);
    let listing = state.listing.as_ref().and_then(Listing::due_at);
    [renewals, alarm, done, retry, listing].into_iter().flatten().min()
}

/// Acknowledges all that is done. False when Redis could not be asked.
fn acknowledge<'a>(shared: &'a Shared, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
    let mut is_reached = true;
    state.done.is_sending = true;
    for index in state.done.queues() {
        let Some(queue) = state.queues.get(index).cloned() else { continue };
        let done = state.done.take(index);
        drop(state);
        let result = queue.ack_many(&done.iter().map(Done::finished).collect::<Vec<_>>());
        state = shared.state();
        match result {
            Ok(settled) => state.done.answered(done, |at| settled.get(at).copied()),
            Err(_) => {
                state.done.put_back(done);
                is_reached = false;
            }
        }
    }
    state.done.is_sending = false;
    shared.sent.notify_all();
    (state, is_reached)
}

/// The jobs that were leased along with that of a run and have not begun.
fn behind(state: &State, run: &Run) -> Vec<(Queue, Vec<Receipt>)> {
    let has_begun = |receipt: &Receipt| receipt == run.receipt() || state.done.has_receipt(receipt);
    let waiting = |leases: &[Arc<Lease>]| {
        let open = leases.iter().filter(|lease| !lease.has_ended() && !has_begun(&lease.receipt));
        open.map(|lease| lease.receipt.clone()).collect::<Vec<_>>()
    };
    let all = state.kept.iter().map(|(queue, leases)| (queue.clone(), waiting(leases)));
    all.filter(|(_, receipts)| !receipts.is_empty()).collect()
}

/// All open leases of every queue that has one to renew, or of every queue at all: one round trip renews them together. Forgets those that have
/// ended.
fn due_renewals(state: &mut State, now: Instant, of_all: bool) -> Vec<Kept> {
    let mut queues: Vec<(Kept, bool)> = Vec::new();
    state.kept.retain_mut(|(queue, leases)| {
        leases.retain(|lease| !lease.has_ended());
        let open: Vec<_> = leases.iter().filter(|lease| lease.is_open(now)).cloned().collect();
        let is_due = open.iter().any(|lease| of_all || lease.renew_at() <= now);
        match queues.iter_mut().find(|((known, _), _)| known.is_same(queue)) {
            Some(((_, all), is_any_due)) => {
                all.extend(open);
                *is_any_due |= is_due;
            }
            None => queues.push(((queue.clone(), open), is_due)),
        }
        !leases.is_empty()
    });
    queues.into_iter().filter_map(|(kept, is_due)| is_due.then_some(kept)).collect()
}

/// False when Redis could not be asked.
fn renew(shared: &Shared, queue: &Queue, leases: &[Arc<Lease>]) -> bool {
    let mut is_any_lost = false;
    for some in leases.chunks(500) {
        let asked = Instant::now();
        let receipts: Vec<(&Receipt, u64)> = some.iter().map(|lease| (&lease.receipt, lease.ttr_ms)).collect();
        let Ok(ends) = queue.renew(&receipts) else { return false };
        for (lease, end) in some.iter().zip(ends) {
            match end {
                Some(_) => lease.renewed(asked + Duration::from_millis(lease.ttr_ms)),
                None if lease.is_open(asked) => {
                    lease.is_gone();
                    is_any_lost = true;
                }
                None => {}
            }
        }
    }
    if is_any_lost {
        shared.alarm.lock().unwrap_or_else(PoisonError::into_inner).leases_lost();
    }
    true
}
