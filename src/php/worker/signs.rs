//! What the watching thread tells the thread that runs a handler.

use crate::core::worker::alarm::Cause;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// A signal that does nothing but end a system call of the thread that runs the handler.
pub fn poke_signal() -> c_int {
    libc::SIGRTMIN() + 9
}

/// The signs of the watching thread, which the run has not obeyed yet.
#[derive(Default)]
pub struct Signs {
    /// The [`Cause`] to throw; 0: none.
    pub(super) due: AtomicU8,
    /// Some lease was lost.
    pub(super) lost: AtomicBool,
    /// A handler runs that is to hear of it.
    pub(super) is_running: AtomicBool,
}

impl Signs {
    pub fn due(&self) -> Option<Cause> {
        let due = self.due.load(Ordering::SeqCst);
        [Cause::TimedOut, Cause::Shutdown].into_iter().find(|cause| *cause as u8 == due)
    }
}

pub type Rung = Arc<Signs>;
