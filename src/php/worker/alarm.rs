//! Time limits of handlers, also in a process that is to end, and the news that a job was cancelled: the watching thread flags the engine, and
//! the engine's interrupt hook throws or tells the listeners.

use super::signals;
use crate::core::worker::alarm::{Alarm, Cause};
use crate::core::worker::lease::Lease;
use crate::core::worker::watch::Limits;
use crate::php::callbacks::{self, Ending, Event};
use crate::php::delay_queue::DelayQueue;
use crate::php::object::inside;
use crate::php::unwind::{Outcome, Unwind, take_throwable, throw, throw_again};
use crate::php::{classes, sys};
use ext_php_rs::ffi::{self, zend_execute_data};
use ext_php_rs::types::Zval;
use ext_php_rs::zend::bailout;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;

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
    let told = catch_unwind(|| {
        let due = LIMITS.with_borrow(|all| next(all, frame));
        let cancelled = || LIMITS.with_borrow(|all| all.iter().rfind(|limited| limited.is_cancelled(frame)).cloned());
        if let Some(limited) = due {
            limited.throw();
        } else if let Some(limited) = cancelled() {
            limited.rung.lost.store(false, Ordering::SeqCst);
            return limited.run.tell_of_cancel();
        }
        Ok(())
    });
    // SAFETY: the hook that was there before, called as the engine would; 0 is none.
    unsafe {
        if let Some(next) = std::mem::transmute::<usize, Option<Hook>>(NEXT.load(Ordering::SeqCst)) {
            next(frame);
        }
    }
    if let Ok(Err(Unwind::Bailout)) = told {
        // SAFETY: nothing of ours is left to drop.
        unsafe { bailout() };
    }
}

/// The run that is to be told next, of those that have called the running code: when a fiber is suspended, other code runs. Those around a handler that cleans up, or that is about to hear of the shutdown itself, wait for its end: it is
/// told once, and ends its own job.
fn next(all: &[Rc<Limited>], running: *const zend_execute_data) -> Option<Rc<Limited>> {
    if callbacks::are_told() {
        return None; // what is thrown into a listener ends in a warning: the alarm rings again
    }
    let mut hears_of_shutdown = false;
    for limited in all.iter().rev().filter(|limited| sys::is_called_from(running, limited.frame)) {
        if limited.thrown.get().is_some() {
            return None;
        }
        match limited.rung.due() {
            Some(Cause::Shutdown) if hears_of_shutdown => {}
            Some(_) => return Some(Rc::clone(limited)),
            None => hears_of_shutdown |= !limited.limits.shutdown.is_zero(),
        }
    }
    None
}

/// A signal that does nothing but end a system call of the thread that runs the handler.
fn poke_signal() -> c_int {
    libc::SIGRTMIN() + 9
}

/// The signs of the watching thread, which the run has not obeyed yet.
#[derive(Default)]
pub struct Signs {
    /// The [`Cause`] to throw; 0: none.
    due: AtomicU8,
    /// Some lease was lost.
    lost: AtomicBool,
    /// A handler runs that is to hear of it.
    is_running: AtomicBool,
}

impl Signs {
    fn due(&self) -> Option<Cause> {
        let due = self.due.load(Ordering::SeqCst);
        [Cause::TimedOut, Cause::Shutdown].into_iter().find(|cause| *cause as u8 == due)
    }
}

pub type Rung = Arc<Signs>;

/// The run of a handler.
pub struct HandlerRun {
    job: Zval,
    /// The queue object of the loop.
    queue: Zval,
    lease: Arc<Lease>,
    /// A cancelled job is to end the handler.
    throws: bool,
    is_told: Cell<bool>,
    started: Instant,
}

impl HandlerRun {
    pub fn new(job: &Zval, queue: &Zval, lease: &Arc<Lease>, throws: bool) -> Self {
        let (job, queue) = (job.shallow_clone(), queue.shallow_clone());
        Self { job, queue, lease: Arc::clone(lease), throws, is_told: Cell::new(false), started: Instant::now() }
    }

    /// Listeners hear of it once, in the middle of the handler's code.
    fn tell_of_cancel(&self) -> Outcome<()> {
        self.is_told.set(true);
        if let Some(queue) = inside::<DelayQueue>(&self.queue) {
            queue.listeners.emit(Event::Cancelled, Some(&self.job), None, Some(self.started.elapsed()))?;
        }
        if self.throws {
            throw(classes::CANCELLED_EXCEPTION.entry(), &format!("job '{}' was cancelled", self.lease.receipt.id), 0);
        }
        Ok(())
    }
}

/// A run as this thread knows it.
struct Limited {
    limits: Limits,
    rung: Rung,
    thrown: Cell<Option<Cause>>,
    /// The frame of the loop.
    frame: *const zend_execute_data,
    run: HandlerRun,
}

impl Limited {
    fn throw(&self) {
        let Some(cause) = self.rung.due() else { return };
        self.thrown.set(Some(cause));
        self.rung.due.store(0, Ordering::SeqCst);
        let words = self.limits.reason(cause);
        let class = match cause {
            Cause::TimedOut => &classes::TIMEOUT_EXCEPTION,
            Cause::Shutdown => &classes::SHUTDOWN_EXCEPTION,
        };
        throw(class.entry(), &words, 0);
    }

    fn is_cancelled(&self, running: *const zend_execute_data) -> bool {
        self.rung.lost.load(Ordering::SeqCst)
            && !self.run.is_told.get()
            && self.run.lease.is_cancelled()
            && sys::is_called_from(running, self.frame)
    }
}

/// While it lives, an alarm throws into the handler.
pub struct LimitGuard(Rc<Limited>);

impl LimitGuard {
    pub fn start(limits: Limits, rung: &Rung, run: HandlerRun) -> Self {
        rung.due.store(0, Ordering::SeqCst);
        rung.lost.store(false, Ordering::SeqCst);
        let (thrown, frame) = (Cell::new(None), sys::current_frame());
        let limited = Limited { limits, rung: Arc::clone(rung), thrown, frame, run };
        let limited = Rc::new(limited);
        LIMITS.with_borrow_mut(|all| all.push(Rc::clone(&limited)));
        static POKED: Once = Once::new();
        POKED.call_once(|| signals::ignore(poke_signal(), 0));
        rung.is_running.store(true, Ordering::SeqCst);
        Self(limited)
    }

    /// The end of the handler with what the alarm throws. A call that the alarm ends may fail, and its exception leave the handler before the engine
    /// looks at the alarm: not each version of PHP looks when a handler has ended.
    pub fn throw_into(&self, ending: Ending) -> Ending {
        let is_due =
            || LIMITS.with_borrow(|all| next(all, sys::current_frame()).is_some_and(|due| Rc::ptr_eq(&due, &self.0)));
        match ending {
            Ending::Threw(exception) if is_due() => {
                throw_again(exception);
                self.0.throw();
                take_throwable().map_or(Ending::Exited, Ending::Threw)
            }
            ending => ending,
        }
    }

    /// Why the handler was to end. A shutdown counts also where nothing was thrown: the handler of a suspended fiber ends with the fiber.
    pub fn cause(&self) -> Option<Cause> {
        self.0.thrown.get().or_else(|| self.0.rung.due().filter(|cause| *cause == Cause::Shutdown))
    }

    /// Whether listeners have heard that the job was cancelled.
    pub fn has_told(&self) -> bool {
        self.0.run.is_told.get()
    }
}

impl Drop for LimitGuard {
    fn drop(&mut self) {
        LIMITS.with_borrow_mut(|all| all.retain(|limited| !Rc::ptr_eq(limited, &self.0)));
        let signs = &self.0.rung;
        signs.due.store(0, Ordering::SeqCst);
        [&signs.lost, &signs.is_running].into_iter().for_each(|sign| sign.store(false, Ordering::SeqCst));
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
}

impl Engine {
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
