//! The offset that tests add to Redis' clock, process-wide. Production never touches it.

use std::sync::atomic::{AtomicI64, Ordering};

static OFFSET_MS: AtomicI64 = AtomicI64::new(0);

/// Milliseconds added to Redis' `TIME` by every script this process runs.
#[must_use]
pub fn offset_ms() -> i64 {
    OFFSET_MS.load(Ordering::Relaxed)
}

/// Moves this process' view of Redis' time; 0 returns to the present.
pub fn set_offset_ms(offset_ms: i64) {
    OFFSET_MS.store(offset_ms, Ordering::Relaxed);
}
