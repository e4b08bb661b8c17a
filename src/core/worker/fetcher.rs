//! A thread of our own that makes the next trip while the embedding language handles the jobs of the last one. It never
//! touches memory of that language.
//!
//! It starts with the first request, sleeps between them, and ends with its fetcher, which does not wait for it. A forked child
//! has no such thread: its fetcher does nothing.

use super::keeper;
use super::source::{Batch, Request};
use super::thread;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::process::Generation;
use crate::core::queue::{Look, Queue};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What a trip gave.
pub(super) struct Answer {
    /// `None`: nothing was ready.
    pub batch: Result<Option<Batch>>,
    /// Tokens that were to be acknowledged and are not ours any more.
    pub gone: Vec<u64>,
}

#[derive(Default)]
struct State {
    request: Option<Request>,
    answer: Option<Answer>,
    /// The fetcher is gone.
    ends: bool,
    /// The thread is gone.
    has_ended: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    asked: Condvar,
    answered: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread knows.
struct Errand {
    index: usize,
    queue: Queue,
    keeper: Option<Arc<keeper::Shared>>,
}

/// Owner of the thread.
pub(super) struct Fetcher {
    shared: Arc<Shared>,
    process: Generation,
}

impl Fetcher {
    /// Fetches from the queue of that index; `keeper` renews the leases at once. `None`: the system has no thread to give.
    pub fn start(index: usize, queue: &Queue, keeper: Option<Arc<keeper::Shared>>) -> Option<Self> {
        let shared = Arc::new(Shared::default());
        let errand = Errand { index, queue: queue.for_another_thread(), keeper };
        let theirs = Arc::clone(&shared);
        thread::start(move || run(&theirs, &errand)).then(|| Self { shared, process: Generation::current() })
    }

    /// In a forked child the thread does not exist, and it may have held the lock: touch nothing.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.process.is_current().then(|| self.shared.state())
    }

    /// Makes the trip; its answer is to be taken before the next one.
    pub fn send(&self, request: Request) {
        if let Some(mut state) = self.state() {
            state.request = Some(request);
            self.shared.asked.notify_one();
        }
    }

    /// The answer, if it is there.
    pub fn take(&self) -> Option<Answer> {
        self.state()?.answer.take()
    }

    /// The answer, waited for. `None`: it did not come in time, or never will; the fetcher is of no more use, and the thread
    /// gives back what it still gets.
    pub fn wait(&self, until: Option<Instant>) -> Option<Answer> {
        let mut state = self.state()?;
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
            self.shared.asked.notify_one();
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
    let mut held = None;
    let mut state = shared.state();
    while !state.ends {
        let Some(request) = state.request.take() else {
            state = shared.asked.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(state);
        let answer = errand.run(&request, &mut held);
        state = shared.state();
        if state.ends {
            drop(state);
            return errand.give_back(answer);
        }
        state.answer = Some(answer);
        shared.answered.notify_one();
    }
}

impl Errand {
    /// The leases are kept as soon as they are known: the one who waits for them may be busy for long.
    fn run(&self, request: &Request, held: &mut Option<Connection>) -> Answer {
        let mut trip = request.trip();
        let look = self.queue.look(held, &mut trip, None);
        let keep = |leases| self.keeper.as_ref().map_or(0, |keeper| keeper.keep(&self.queue, leases));
        let batch = look.map(|look| match look {
            Look::Jobs(jobs) => Some(Batch::new(self.index, jobs, trip.max, keep)),
            Look::Nothing(_) => None,
        });
        Answer { batch, gone: trip.lost }
    }

    /// Nobody waits for these jobs any more. What cannot be given back comes back when its lease ends.
    fn give_back(&self, answer: Answer) {
        let Ok(Some(batch)) = answer.batch else { return };
        if let Some(keeper) = &self.keeper {
            keeper.forget(batch.kept);
        }
        for delivery in &batch.deliveries {
            match self.queue.return_unstarted(&delivery.job.held()) {
                Ok(()) | Err(Error::LeaseLost { .. }) => {}
                Err(_) => return,
            }
        }
    }
}
