//! The offset that tests add to Redis' clock. Production never touches it.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

static OFFSET_MS: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static THREAD_OFFSET_MS: Cell<i64> = const { Cell::new(0) };
}

/// Milliseconds added to Redis' `TIME` by every script this thread runs.
#[must_use]
pub fn offset_ms() -> i64 {
    OFFSET_MS.load(Ordering::Relaxed) + THREAD_OFFSET_MS.get()
}

/// The same in microseconds.
#[must_use]
pub fn offset_us() -> i64 {
    offset_ms() * 1000
}

/// Moves this process' view of Redis' time; 0 returns to the present.
pub fn set_offset_ms(offset_ms: i64) {
    OFFSET_MS.store(offset_ms, Ordering::Relaxed);
}

/// The same for one thread, for tests that run side by side.
pub fn set_thread_offset_ms(offset_ms: i64) {
    THREAD_OFFSET_MS.set(offset_ms);
}
