//! Time as a thread sees it: the offset that tests add to Redis' clock, the end of the time that its operations have, and the clock that run times
//! are measured on.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

thread_local! {
    /// One per thread of the embedding language. Production never touches it.
    static OFFSET_MS: OnceCell<Offset> = const { OnceCell::new() };
    /// Where a caller has set one for all operations.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The offset of one thread, which the threads that it starts see as well.
pub(super) type Offset = Arc<AtomicI64>;

/// Milliseconds added to Redis' `TIME` by every script this thread runs.
#[must_use]
pub fn offset_ms() -> i64 {
    // A thread that is ending has lost it already.
    OFFSET_MS.try_with(|own| own.get().map_or(0, |offset| offset.load(Ordering::Relaxed))).unwrap_or(0)
}

/// [`offset_ms`] in microseconds.
#[must_use]
pub fn offset_us() -> i64 {
    offset_ms() * 1000
}

/// Moves this thread's view of Redis' time; 0 returns to the present.
pub fn set_offset_ms(offset_ms: i64) {
    shared().store(offset_ms, Ordering::Relaxed);
}

/// For a thread that is to [`share`] the offset of this one.
pub(super) fn shared() -> Offset {
    OFFSET_MS.with(|own| Arc::clone(own.get_or_init(Offset::default)))
}

/// From its start on, a thread sees the time as the one that started it.
pub(super) fn share(offset: Offset) {
    let _ = OFFSET_MS.with(|own| own.set(offset));
}

/// Runs `work`, all operations of which have to be done in time.
pub fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let before = DEADLINE.replace(Some(capped(Instant::now() + time)));
    let result = work();
    DEADLINE.set(before);
    result
}

/// A deadline, or that of [`within`] if it is earlier.
#[must_use]
pub fn capped(deadline: Instant) -> Instant {
    DEADLINE.get().map_or(deadline, |cap| deadline.min(cap))
}

/// A moment on a clock that nobody sets: time since this process first asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    #[must_use]
    pub fn now() -> Self {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        Self(nanos(FIRST.get_or_init(Instant::now).elapsed()))
    }

    /// So much earlier: for tests, whose machine may have been started just now.
    #[must_use]
    pub fn before(self, by: Duration) -> Self {
        Self(self.0 - nanos(by))
    }

    #[must_use]
    pub fn elapsed(self) -> Duration {
        Duration::from_nanos(u64::try_from(Self::now().0 - self.0).unwrap_or(0))
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
