//! Time limits of handlers: the watching thread flags the engine, and the engine's interrupt hook throws.

use super::nudge;
use crate::core::worker::keeper::Alarm;
use crate::php::{exceptions, sys};
use ext_php_rs::ffi::{self, zend_execute_data};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};

type Hook = unsafe extern "C" fn(*mut zend_execute_data);
/// The address of the hook that was there before; 0: none.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The limits of the handlers that are running, inner ones last.
    static LIMITS: RefCell<Vec<Rc<Limited>>> = const { RefCell::new(Vec::new()) };
}

/// MINIT: puts our hook before the hooks that are there (pcntl's). An engine that starts once more in this process has forgotten both.
pub fn hook() {
    // SAFETY: the module is starting, no request runs.
    unsafe {
        NEXT.store(ffi::zend_interrupt_function.map_or(0, |next| next as usize), Ordering::SeqCst);
        ffi::zend_interrupt_function = Some(on_interrupt);
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
    // SAFETY: the hook that was there before, called as the engine would; 0 is none.
    unsafe {
        if let Some(next) = std::mem::transmute::<usize, Option<Hook>>(NEXT.load(Ordering::SeqCst)) {
            next(frame);
        }
    }
}

/// A signal that does nothing but end a system call of the thread that runs the handler.
fn poke_signal() -> c_int {
    libc::SIGRTMIN() + 9
}

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
        POKED.call_once(|| nudge::ignore(poke_signal(), 0));
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
