//! The end of the time that the operations of a thread have, where a caller has set one for all of them.

use std::time::{Duration, Instant};

thread_local! {
    static CAP: std::cell::Cell<Option<Instant>> = const { std::cell::Cell::new(None) };
}

/// Runs `work`, all operations of which have to be done in time.
pub fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let before = CAP.replace(Some(capped(Instant::now() + time)));
    let result = work();
    CAP.set(before);
    result
}

/// A deadline, or that of [`within`] if it is earlier.
#[must_use]
pub fn capped(deadline: Instant) -> Instant {
    CAP.get().map_or(deadline, |cap| deadline.min(cap))
}
