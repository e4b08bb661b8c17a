//! The wishes of PHP while a wait goes on: signal handlers, exceptions, `stop()`.

use super::sys::{self, Interrupt};
use super::unwind::{Outcome, Unwind, guard, run};
use crate::core::error::Error;
use crate::core::queue::{Flow, Interrupts};
use std::cell::Cell;

/// The core asks it between the slices of a wait. PHP code runs in here: the caller must hold no borrow.
pub struct PhpInterrupts<'a> {
    stop: &'a Cell<bool>,
    fault: Option<Unwind>,
}

impl<'a> PhpInterrupts<'a> {
    pub fn new(stop: &'a Cell<bool>) -> Self {
        Self { stop, fault: None }
    }

    /// The outcome of the core's work, with the fault that ended it.
    pub fn finish<T>(self, result: Result<T, Error>) -> Outcome<T> {
        match (result, self.fault) {
            (Err(Error::Interrupted), Some(fault)) => Err(fault),
            (Ok(value), None) => Ok(value),
            // The core went on although a handler threw: the exception leaves all the same.
            (Ok(_), Some(fault)) => Err(fault),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Has the wait end with this.
    pub fn raise(&mut self, fault: Unwind) -> Flow {
        self.fault = Some(fault);
        Flow::Raise
    }
}

impl Interrupts for PhpInterrupts<'_> {
    fn poll(&mut self) -> Flow {
        match sys::take_interrupt() {
            Interrupt::None => {}
            Interrupt::TimedOut => return self.raise(Unwind::Thrown),
            Interrupt::Handlers(function) => {
                // SAFETY: the engine calls it with the running frame in the same way.
                if let Err(fault) = guard(|| unsafe { function(sys::current_frame()) }) {
                    return self.raise(fault);
                }
            }
        }
        if let Err(fault) = dispatch_signals() {
            return self.raise(fault);
        }
        if self.stop.get() { Flow::Return } else { Flow::Continue }
    }
}

/// With `pcntl_async_signals(false)` nothing is flagged: ask pcntl, if it is there.
fn dispatch_signals() -> Outcome<()> {
    let function = sys::find_function(sys::function_table(), "pcntl_signal_dispatch");
    if function.is_null() {
        return if sys::exception_pending() { Err(Unwind::Thrown) } else { Ok(()) };
    }
    run(function, None, &mut []).map(drop)
}
