//! The keeper's work comes in duties. The loop and the keeper's thread share the state of each, and the timer of all.

use super::ears::Bell;
use crate::core::process::Generation;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A part of the keeper's work. Whatever brings its moment forward tells the [`Timer`].
pub(super) trait Duty: Send + Sync {
    /// When there is something to do next, as far as it is known.
    fn due_at(&self) -> Option<Instant>;

    /// Does what is due. It may wait for Redis, but not with its lock.
    fn run(&self);
}

/// When an unreachable Redis is asked again.
pub(super) const RETRY: Duration = Duration::from_millis(200);

/// When the thread looks at its duties next.
pub(super) struct Timer {
    /// `None`: it waits to be told.
    planned: Mutex<Option<Instant>>,
    pub bell: Bell,
    is_over: AtomicBool,
    process: Generation,
}

impl Default for Timer {
    fn default() -> Self {
        let (planned, is_over, process) = (Mutex::default(), AtomicBool::default(), Generation::current());
        Self { planned, bell: Bell::new(), is_over, process }
    }
}

impl Timer {
    /// The thread has to look by then. The caller holds no lock of a duty.
    pub fn tell(&self, at: Instant) {
        if self.is_over() {
            return;
        }
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        if planned.is_none_or(|planned| at < planned) {
            *planned = Some(at);
            self.bell.ring();
        }
    }

    /// The thread looks next when `next` says. A moment told meanwhile is compared with that.
    pub fn plan(&self, next: impl FnOnce() -> Option<Instant>) -> Option<Instant> {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        *planned = next();
        *planned
    }

    /// The thread ends as soon as it can. A forked child does not ring, because the bell is that of its parent.
    pub fn end(&self) {
        if !self.is_over() {
            self.is_over.store(true, Ordering::SeqCst);
            self.bell.ring();
        }
    }

    /// Also in a forked child, which has no such thread. A keeper that has ended may still be there, because its thread waits for Redis.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || !self.process.is_current()
    }
}

/// The state of a duty. In a forked child nobody gets it, because the thread may have held the lock.
pub(super) struct Shared<T> {
    state: Mutex<T>,
    sent: Condvar,
    pub timer: Arc<Timer>,
}

impl<T: Default> Shared<T> {
    pub fn new(timer: &Arc<Timer>) -> Self {
        Self { state: Mutex::default(), sent: Condvar::new(), timer: Arc::clone(timer) }
    }

    /// `None` in a forked child.
    pub fn lock(&self) -> Option<MutexGuard<'_, T>> {
        self.timer.process.is_current().then(|| self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the thread look at the moment that the change returns.
    pub fn change(&self, change: impl FnOnce(&mut T) -> Option<Instant>) {
        if let Some(at) = self.lock().and_then(|mut state| change(&mut state)) {
            self.timer.tell(at);
        }
    }

    /// Waits for as long as the thread `is_sending`, or until the deadline.
    pub fn lock_once_sent(&self, deadline: Instant, is_sending: impl Fn(&T) -> bool) -> Option<MutexGuard<'_, T>> {
        let (state, left) = (self.lock()?, deadline.saturating_duration_since(Instant::now()));
        let waited = self.sent.wait_timeout_while(state, left, |state| is_sending(state));
        Some(waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Ends such waits.
    pub fn has_sent(&self) {
        self.sent.notify_all();
    }
}
