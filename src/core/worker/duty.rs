//! The keeper's work comes in duties. The loop and the keeper's thread share the state of each, and the timer of all.

use super::bell::Bell;
use crate::core::process::Generation;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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

/// The state of a duty. In a forked child the thread does not exist, and it may have held the lock: nobody gets it there.
pub(super) struct Shared<T> {
    state: Mutex<T>,
    sent: Condvar,
    process: Generation,
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Self { state: Mutex::default(), sent: Condvar::new(), process: Generation::current() }
    }
}

impl<T> Shared<T> {
    /// False in a forked child.
    pub fn is_ours(&self) -> bool {
        self.process.is_current()
    }

    /// `None` in a forked child.
    pub fn lock(&self) -> Option<MutexGuard<'_, T>> {
        self.is_ours().then(|| self.state.lock().unwrap_or_else(PoisonError::into_inner))
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

/// When the thread looks at its duties next.
#[derive(Default)]
pub(super) struct Timer {
    /// `None`: it waits to be told.
    planned: Shared<Option<Instant>>,
    pub bell: Bell,
    is_over: AtomicBool,
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Timer")
    }
}

impl Timer {
    /// The thread has to look by then. The caller holds no lock of a duty.
    pub fn tell(&self, at: Instant) {
        if let Some(mut planned) = self.planned.lock()
            && planned.is_none_or(|planned| at < planned)
        {
            *planned = Some(at);
            self.bell.ring();
        }
    }

    /// The thread looks next when `next` says. Whoever tells meanwhile is compared with that.
    pub fn plan(&self, next: impl FnOnce() -> Option<Instant>) -> Option<Instant> {
        let mut planned = self.planned.lock()?;
        *planned = next();
        *planned
    }

    /// The thread ends as soon as it can.
    pub fn end(&self) {
        // A forked child has the bell of its parent.
        if self.planned.is_ours() {
            self.is_over.store(true, Ordering::SeqCst);
            self.bell.ring();
        }
    }

    /// A keeper that has ended may still be there, because its thread waits for Redis.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || !self.planned.is_ours()
    }
}
