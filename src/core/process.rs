//! Which process this is, without asking the kernel: a fork changes it.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static FORKS: AtomicU64 = AtomicU64::new(0);

/// Tells a process from the parents it was forked from. A thing made under another value belongs to a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation(u64);

impl Generation {
    #[must_use]
    pub fn current() -> Self {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            // SAFETY: the handler only increments an atomic number. The C library forgets it when this library is unloaded.
            unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        });
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// False in a child that was forked since.
    #[must_use]
    pub fn is_current(self) -> bool {
        self == Self::current()
    }
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
