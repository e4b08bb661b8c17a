//! The offset that tests add to Redis' clock: one per thread of the embedding language. Production never touches it.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

thread_local! {
    static OFFSET_MS: OnceCell<Offset> = const { OnceCell::new() };
}

/// That of one thread, which the threads that it starts see as well.
pub(super) type Offset = Arc<AtomicI64>;

/// Milliseconds added to Redis' `TIME` by every script this thread runs.
#[must_use]
pub fn offset_ms() -> i64 {
    // A thread that is ending has lost it already.
    OFFSET_MS.try_with(|own| own.get().map_or(0, |offset| offset.load(Ordering::Relaxed))).unwrap_or(0)
}

/// The same in microseconds.
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
