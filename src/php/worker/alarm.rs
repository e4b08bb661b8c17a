//! Time limits of handlers: the watching thread flags the engine, and the engine's interrupt hook throws.

use crate::core::worker::keeper::Alarm;
use crate::php::{exceptions, sys};
use ext_php_rs::ffi::{self, zend_execute_data};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

type Hook = unsafe extern "C" fn(*mut zend_execute_data);
static NEXT: OnceLock<Option<Hook>> = OnceLock::new();

thread_local! {
    /// The limits of the handlers that are running, inner ones last.
    static LIMITS: RefCell<Vec<Rc<Limited>>> = const { RefCell::new(Vec::new()) };
}

/// MINIT: puts our hook before the hooks that are there (pcntl's).
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
        let rung = LIMITS.with_borrow(|all| all.iter().rfind(|limited| limited.is_due(frame)).cloned());
        if let Some(limited) = rung {
            limited.thrown.set(true);
            limited.rung.store(false, Ordering::SeqCst);
            exceptions::throw_timeout(&limited.words);
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

/// Rung, and not yet thrown: shared with the watching thread.
pub type Rung = Arc<AtomicBool>;

/// A run as this thread knows it.
struct Limited {
    words: String,
    rung: Rung,
    thrown: Cell<bool>,
    /// That of the loop.
    frame: *const zend_execute_data,
}

impl Limited {
    /// The alarm ends only code that the handler has called: when its fiber is suspended, other code runs.
    fn is_due(&self, running: *const zend_execute_data) -> bool {
        self.rung.load(Ordering::SeqCst) && !self.thrown.get() && sys::is_called_from(running, self.frame)
    }
}

/// While it lives, an alarm throws into the handler.
pub struct Limit(Rc<Limited>);

impl Limit {
    pub fn start(words: String, rung: &Rung) -> Self {
        rung.store(false, Ordering::SeqCst);
        let limited = Limited { words, rung: Arc::clone(rung), thrown: Cell::new(false), frame: sys::current_frame() };
        let limited = Rc::new(limited);
        LIMITS.with_borrow_mut(|all| all.push(Rc::clone(&limited)));
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
        Self(limited)
    }

    /// Whether the alarm has thrown.
    pub fn has_thrown(&self) -> bool {
        self.0.thrown.get()
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        LIMITS.with_borrow_mut(|all| all.retain(|limited| !Rc::ptr_eq(limited, &self.0)));
        self.0.rung.store(false, Ordering::SeqCst);
    }
}

/// The engine of the thread that runs the loop, as the watching thread sees it.
pub struct Engine {
    interrupt: *const AtomicBool,
    thread: libc::pthread_t,
    rung: Rung,
}

// SAFETY: the flag is an atomic that lives as long as the thread serves PHP, which the loop does until it drops the keeper.
unsafe impl Send for Engine {}

impl Engine {
    pub fn current(rung: Rung) -> Self {
        // SAFETY: `vm_interrupt` is a `zend_atomic_bool`, a one-byte atomic.
        unsafe {
            let globals = ffi::ext_php_rs_executor_globals();
            Self { interrupt: (&raw const (*globals).vm_interrupt).cast(), thread: libc::pthread_self(), rung }
        }
    }
}

impl Alarm for Engine {
    fn ring(&self, times: u32) {
        if times == 1 {
            self.rung.store(true, Ordering::SeqCst);
        }
        // SAFETY: see `Engine`; the poke handler is in place while a limited run lasts, and the signal is ours.
        unsafe {
            (*self.interrupt).store(true, Ordering::SeqCst);
            if self.rung.load(Ordering::SeqCst) {
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
