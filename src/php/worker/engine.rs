//! How the keeper's thread reaches the engine of the thread that runs the loop.

use super::signals;
use super::signs::{Rung, poke_signal};
use crate::core::worker::alarm::{Alarm, Cause};
use ext_php_rs::ffi;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The engine of the thread that runs the loop, as the watching thread sees it.
pub struct Engine {
    interrupt: *const AtomicBool,
    thread: libc::pthread_t,
    rung: Rung,
}

// SAFETY: the flag is an atomic that lives as long as the thread serves PHP, which the loop does until it drops the keeper.
unsafe impl Send for Engine {}
// SAFETY: as above; both are read alone.
unsafe impl Sync for Engine {}

impl Engine {
    pub fn current(rung: Rung) -> Self {
        // SAFETY: `vm_interrupt` is a `zend_atomic_bool`, a one-byte atomic.
        unsafe {
            let globals = ffi::ext_php_rs_executor_globals();
            Self { interrupt: (&raw const (*globals).vm_interrupt).cast(), thread: libc::pthread_self(), rung }
        }
    }

    /// Has the engine look at its next instruction; a poke ends a system call, too.
    fn interrupt(&self, pokes: bool) {
        // SAFETY: see `Engine`; the poke handler is in place once a watched run has begun, and the signal is ours.
        unsafe {
            (*self.interrupt).store(true, Ordering::SeqCst);
            if pokes {
                libc::pthread_kill(self.thread, poke_signal());
            }
        }
    }
}

impl Alarm for Engine {
    fn asked_to_end(&self) -> Option<Instant> {
        signals::stop_requested_at()
    }

    fn ring(&self, cause: Cause, times: u32) {
        if times == 1 {
            self.rung.due.store(cause as u8, Ordering::SeqCst);
        }
        self.interrupt(self.rung.due().is_some());
    }

    fn leases_lost(&self) {
        if self.rung.is_running.load(Ordering::SeqCst) {
            self.rung.lost.store(true, Ordering::SeqCst);
            self.interrupt(true);
        }
    }

    fn give_up(&self, message: &str) -> ! {
        let line = format!("delayqueue: {message}; the process ends with 124\n");
        // SAFETY: write and _exit are async-signal-safe; PHP's own shutdown cannot run while it is stuck.
        unsafe {
            libc::write(2, line.as_ptr().cast(), line.len());
            libc::_exit(124)
        }
    }
}
