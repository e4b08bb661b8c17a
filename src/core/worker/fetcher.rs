//! Trips for the batch behind the one in hand. The loop sends the request and goes on with its jobs; when it needs the answer, it
//! reads it. When it is busy for longer, a thread of our own reads in its stead, so that the leases are kept: it never touches
//! memory of the embedding language. In the usual case nobody is woken: handing each batch over would cost more than it gains.
//!
//! The thread starts with the first request, sleeps without a timer while nothing is asked, and ends with its fetcher, which does
//! not wait for it. A forked child has no such thread: its fetcher does nothing.

use super::batch::{Batch, Sealed};
use super::keeper;
use super::source::Request;
use super::thread;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::job::Reserved;
use crate::core::process::Generation;
use crate::core::queue::{Held, Look, Queue};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For so long, the one who asked may be busy before the thread reads the answer.
const STAND_IN_AFTER: Duration = Duration::from_millis(20);

/// What a trip leased.
pub(super) enum Brought {
    Batch(Batch),
    Sealed(Sealed),
    /// Nothing was ready.
    Nothing,
}

/// What a trip gave.
pub(super) struct Answer {
    pub brought: Result<Brought>,
    /// The jobs of the sealed batch that it took along; `None`: nobody could ask for them.
    pub seen: Option<Result<Vec<Reserved>>>,
    /// Tokens that were to be acknowledged and are not ours any more.
    pub gone: Vec<u64>,
}

#[derive(Default)]
struct State {
    /// Asked, and nobody is reading the answer.
    request: Option<Request>,
    /// For the next request, or with the request that was sent over it.
    connection: Option<Connection>,
    /// When the thread is to read it.
    stand_in: Option<Instant>,
    answer: Option<Answer>,
    /// The thread looks by itself from time to time, as long as there are requests.
    is_watching: bool,
    was_asked: bool,
    /// The fetcher is gone.
    ends: bool,
    /// The thread is gone.
    has_ended: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The thread has something to do.
    told: Condvar,
    answered: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What it takes to make a trip, for the loop and the thread.
struct Errand {
    index: usize,
    queue: Queue,
    keeper: Option<Arc<keeper::Shared>>,
}

/// Owner of the thread.
pub(super) struct Fetcher {
    shared: Arc<Shared>,
    errand: Arc<Errand>,
    process: Generation,
}

impl Fetcher {
    /// Fetches from the queue of that index; `keeper` renews the leases at once. `None`: the system has no thread to give.
    pub fn start(index: usize, queue: &Queue, keeper: Option<Arc<keeper::Shared>>) -> Option<Self> {
        let shared = Arc::new(Shared::default());
        let errand = Arc::new(Errand { index, queue: queue.detached(), keeper });
        let theirs = (Arc::clone(&shared), Arc::clone(&errand));
        let started = thread::start(move || run(&theirs.0, &theirs.1));
        started.then(|| Self { shared, errand, process: Generation::current() })
    }

    /// In a forked child the thread does not exist, and it may have held the lock: touch nothing.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.process.is_current().then(|| self.shared.state())
    }

    /// Begins a trip; its answer is to be taken before the next one. Without a connection the thread opens one.
    pub fn send(&self, request: Request) {
        let Some(mut state) = self.state() else { return };
        let mut stand_in = Instant::now();
        let ready = state.connection.as_mut().filter(|connection| connection.is_usable());
        let is_sent = ready.is_some();
        if let Some(connection) = ready {
            self.errand.queue.begin_look(connection, &request.trip());
            stand_in += STAND_IN_AFTER;
        }
        state.request = Some(request);
        state.stand_in = Some(stand_in);
        state.was_asked = true;
        if !is_sent || !state.is_watching {
            self.shared.told.notify_one();
        }
    }

    /// The answer, if the thread has read it.
    pub fn take(&self) -> Option<Answer> {
        self.state()?.answer.take()
    }

    /// The answer, waited for. `None`: it never comes, and the fetcher is of no more use.
    pub fn wait(&self) -> Option<Answer> {
        let mut state = self.state()?;
        let Some(request) = state.request.take() else { return self.wait_for_thread(state, None) };
        state.stand_in = None;
        let mut connection = state.connection.take();
        drop(state);
        let answer = self.errand.run(&request, &mut connection);
        self.state()?.connection = connection;
        Some(answer)
    }

    /// The same, but in time. `None` also when it was not; the thread gives back what it still gets.
    pub fn wait_until(&self, until: Instant) -> Option<Answer> {
        let mut state = self.state()?;
        if state.request.is_some() {
            state.stand_in = Some(Instant::now());
            self.shared.told.notify_one();
        }
        self.wait_for_thread(state, Some(until))
    }

    fn wait_for_thread(&self, mut state: MutexGuard<'_, State>, until: Option<Instant>) -> Option<Answer> {
        loop {
            if state.answer.is_some() || state.has_ended {
                return state.answer.take();
            }
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(left) if left.is_zero() => {
                    state.ends = true;
                    return None;
                }
                Some(left) => self.shared.answered.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.shared.answered.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        if let Some(mut state) = self.state() {
            state.ends = true;
            self.shared.told.notify_one();
        }
    }
}

/// Says that the thread has ended, however it did.
struct Ended<'a>(&'a Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.answered.notify_one();
    }
}

fn run(shared: &Shared, errand: &Errand) {
    let _ended = Ended(shared);
    let mut state = shared.state();
    loop {
        let now = Instant::now();
        let is_due = state.ends || state.stand_in.is_some_and(|at| at <= now);
        if is_due && let Some(request) = state.request.take() {
            state.stand_in = None;
            let mut connection = state.connection.take();
            drop(state);
            let answer = errand.run(&request, &mut connection);
            state = shared.state();
            if state.ends {
                drop(state);
                return errand.give_back(&request, answer);
            }
            state.connection = connection;
            state.answer = Some(answer);
            shared.answered.notify_one();
            continue;
        }
        if state.ends {
            return;
        }
        state.is_watching = std::mem::take(&mut state.was_asked) || state.request.is_some();
        state = if state.is_watching {
            let left = state.stand_in.map_or(STAND_IN_AFTER, |at| at.saturating_duration_since(now));
            shared.told.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
        } else {
            shared.told.wait(state).unwrap_or_else(PoisonError::into_inner)
        };
    }
}

impl Errand {
    /// The leases are kept as soon as they are known: the one who waits for them may be busy for long.
    fn run(&self, request: &Request, held: &mut Option<Connection>) -> Answer {
        let mut trip = request.trip();
        let look = self.queue.look(held, &mut trip, None);
        let keep = |leases| self.keeper.as_ref().map_or(0, |keeper| keeper.keep(&self.queue, leases));
        let brought = look.map(|look| match look {
            Look::Jobs(jobs) => Brought::Batch(Batch::new(self.index, jobs, trip.max, keep)),
            Look::Unseen(unseen) => Brought::Sealed(Sealed::new(unseen, trip.max, keep)),
            Look::Nothing(_) => Brought::Nothing,
        });
        Answer { brought, seen: trip.seen, gone: trip.lost }
    }

    /// Nobody waits for these jobs any more. What cannot be given back comes back when its lease ends.
    fn give_back(&self, request: &Request, answer: Answer) {
        let (mut held, mut kept): (Vec<Held>, Vec<u64>) = (Vec::new(), Vec::new());
        if let Some(sealed) = &request.sealed {
            kept.push(sealed.kept);
            match answer.seen {
                Some(Ok(seen)) => held.extend(seen.iter().map(Reserved::held)),
                Some(Err(_)) | None => held.extend(sealed.held()),
            }
        }
        match answer.brought {
            Ok(Brought::Batch(batch)) => {
                kept.push(batch.kept);
                held.extend(batch.deliveries.iter().map(|delivery| delivery.job.held()));
            }
            Ok(Brought::Sealed(sealed)) => {
                kept.push(sealed.kept);
                held.extend(sealed.held());
            }
            Ok(Brought::Nothing) | Err(_) => {}
        }
        if let Some(keeper) = &self.keeper {
            kept.into_iter().for_each(|batch| keeper.forget(batch));
        }
        for held in &held {
            match self.queue.return_unstarted(held) {
                Ok(()) | Err(Error::LeaseLost { .. }) => {}
                Err(_) => return,
            }
        }
    }
}
