//! Time limits of handlers, also in a process that is to end, and the news that a job was cancelled: the watching thread flags the engine, and
//! the engine's interrupt hook throws or tells the listeners.

use super::nudge;
use super::runs::{self, HandlerRun, Run, Word};
use super::signs::{Rung, poke_signal};
use crate::core::worker::alarm::Cause;
use crate::core::worker::watch::Limits;
use crate::php::callbacks::Ending;
use crate::php::sys;
use crate::php::unwind::{Unwind, take_throwable, throw_again};
use ext_php_rs::ffi::{self, zend_execute_data};
use ext_php_rs::zend::bailout;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

type Hook = unsafe extern "C" fn(*mut zend_execute_data);
/// The address of the hook that was there before; 0: none.
static NEXT: AtomicUsize = AtomicUsize::new(0);

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
        let due = runs::with(|all| next(all, frame));
        let cancelled = || runs::with(|all| all.iter().rfind(|run| run.is_cancelled(frame)).cloned());
        if let Some((run, cause)) = due {
            run.say(Word::Limit(cause), frame);
        } else if let Some(run) = cancelled() {
            run.rung.lost.store(false, Ordering::SeqCst);
            run.handler.tell_of_cancel()?;
            if run.handler.throws {
                run.say(Word::Cancelled, frame);
            }
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

/// The run that is to be told next, of those that have called the running code: when a fiber is suspended, other code runs. Those around a handler
/// that cleans up, or that is about to hear of the shutdown itself, wait for its end: it is told once, and ends its own job.
fn next(all: &[Rc<Run>], running: *const zend_execute_data) -> Option<(Rc<Run>, Cause)> {
    let called = || all.iter().rev().filter(|run| run.is_heard() && sys::is_called_from(running, run.frame));
    if called().any(|run| run.passing.get().is_some()) {
        return None; // the loops inside that run end first
    }
    let mut hears_of_shutdown = false;
    for run in called() {
        if run.thrown.get().is_some() {
            return None;
        }
        match run.rung.due() {
            Some(Cause::Shutdown) if hears_of_shutdown => {}
            Some(cause) => return Some((Rc::clone(run), cause)),
            None => hears_of_shutdown |= !run.limits.shutdown.is_zero(),
        }
    }
    None
}

/// While it lives, an alarm throws into the handler.
pub struct LimitGuard(Rc<Run>);

impl LimitGuard {
    pub fn start(number: u64, limits: Limits, rung: &Rung, handler: HandlerRun) -> Self {
        rung.due.store(0, Ordering::SeqCst);
        rung.lost.store(false, Ordering::SeqCst);
        let run = runs::enter(number, limits, rung, handler);
        static POKED: Once = Once::new();
        POKED.call_once(|| nudge::ignore(poke_signal(), 0));
        rung.is_running.store(true, Ordering::SeqCst);
        Self(run)
    }

    /// The end of the handler with what the alarm throws. A call that the alarm ends may fail, and its exception leave the handler before the engine
    /// looks at the alarm: not each version of PHP looks when a handler has ended.
    pub fn throw_into(&self, ending: Ending) -> Ending {
        let due = || {
            let due = runs::with(|all| next(all, self.0.frame));
            due.filter(|(run, _)| Rc::ptr_eq(run, &self.0)).map(|(_, cause)| cause)
        };
        let Ending::Threw(exception) = ending else { return ending };
        let Some(cause) = due() else { return Ending::Threw(exception) };
        throw_again(exception);
        self.0.say(Word::Limit(cause), self.0.frame);
        take_throwable().map_or(Ending::Exited, Ending::Threw)
    }

    /// Why the handler was to end. A shutdown counts also where nothing was thrown: the handler of a suspended fiber ends with the fiber.
    pub fn cause(&self) -> Option<Cause> {
        self.0.thrown.get().or_else(|| self.0.rung.due().filter(|cause| *cause == Cause::Shutdown))
    }

    /// Of each job, whether listeners have heard that it was cancelled, or there are none.
    pub fn told(&self) -> Vec<bool> {
        self.0.handler.told()
    }
}

impl Drop for LimitGuard {
    fn drop(&mut self) {
        runs::leave(&self.0);
        let signs = &self.0.rung;
        signs.due.store(0, Ordering::SeqCst);
        [&signs.lost, &signs.is_running].into_iter().for_each(|sign| sign.store(false, Ordering::SeqCst));
    }
}
