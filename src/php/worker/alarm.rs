//! Time limits of handlers: the watching thread flags the engine, and the engine's interrupt hook throws.

use crate::core::worker::keeper::Alarm;
use crate::php::exceptions;
use ext_php_rs::ffi::{self, zend_execute_data};
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

/// Rung, and not yet thrown.
static RUNG: AtomicBool = AtomicBool::new(false);

type Hook = unsafe extern "C" fn(*mut zend_execute_data);
static NEXT: OnceLock<Option<Hook>> = OnceLock::new();

thread_local! {
    /// The words to throw with, while a handler with a time limit runs.
    static WORDS: Cell<Option<String>> = const { Cell::new(None) };
}

/// MINIT: puts our hook before whatever hooks there are (pcntl's).
pub fn hook() {
    // SAFETY: the module is starting, no request runs.
    unsafe {
        if NEXT.set(ffi::zend_interrupt_function).is_ok() {
            ffi::zend_interrupt_function = Some(on_interrupt);
        }
    }
}

unsafe extern "C" fn on_interrupt(frame: *mut zend_execute_data) {
    let _ = catch_unwind(|| {
        if RUNG.swap(false, Ordering::SeqCst)
            && let Some(words) = WORDS.take()
        {
            exceptions::throw_timeout(&words);
        }
    });
    if let Some(Some(next)) = NEXT.get() {
        // SAFETY: the hook that was there before, called as the engine would.
        unsafe { next(frame) };
    }
}

/// A signal that does nothing but end a system call of the main thread.
fn poke_signal() -> c_int {
    libc::SIGRTMIN() + 9
}

extern "C" fn on_poke(_: c_int) {}

/// The part of a run that this thread knows: while it lives, an alarm throws into the handler.
pub struct Limit(());

impl Limit {
    pub fn start(words: String) -> Self {
        WORDS.set(Some(words));
        RUNG.store(false, Ordering::SeqCst);
        static POKED: Once = Once::new();
        // It stays for the life of the process: a poke may be on its way when the run ends.
        POKED.call_once(|| {
            // SAFETY: sigaction with memory of ours; the handler does nothing.
            unsafe {
                let mut ours: libc::sigaction = std::mem::zeroed();
                ours.sa_sigaction = on_poke as extern "C" fn(c_int) as usize;
                libc::sigaction(poke_signal(), &raw const ours, std::ptr::null_mut());
            }
        });
        Self(())
    }

    /// Whether the alarm has thrown.
    pub fn has_thrown(&self) -> bool {
        let words = WORDS.take();
        let thrown = words.is_none();
        WORDS.set(words);
        thrown
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        WORDS.set(None);
        RUNG.store(false, Ordering::SeqCst);
    }
}

/// The engine of the thread that runs the loop, as the watching thread sees it.
pub struct Engine {
    interrupt: *const AtomicBool,
    thread: libc::pthread_t,
}

// SAFETY: the flag is an atomic that lives as long as the thread serves PHP, which the loop does until it drops the keeper.
unsafe impl Send for Engine {}

impl Engine {
    pub fn current() -> Self {
        // SAFETY: `vm_interrupt` is a `zend_atomic_bool`, a one-byte atomic.
        unsafe {
            let globals = ffi::ext_php_rs_executor_globals();
            Self { interrupt: (&raw const (*globals).vm_interrupt).cast(), thread: libc::pthread_self() }
        }
    }
}

impl Alarm for Engine {
    fn ring(&self, times: u32) {
        if times == 1 {
            RUNG.store(true, Ordering::SeqCst);
        }
        // SAFETY: see `Engine`; the poke handler is in place while a limited run lasts, and the signal is ours.
        unsafe {
            (*self.interrupt).store(true, Ordering::SeqCst);
            if RUNG.load(Ordering::SeqCst) {
                libc::pthread_kill(self.thread, poke_signal());
            }
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
