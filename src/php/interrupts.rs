//! The wishes of PHP while a wait goes on: signal handlers, exceptions, `stop()`.

use super::sys::{self, Interrupt};
use super::unwind::{Outcome, Unwind, guard, run};
use crate::core::error::Error;
use crate::core::queue::{Flow, Interrupts};
use crate::core::worker::listing::Orders;
use std::cell::Cell;
use std::os::fd::RawFd;
use std::sync::Arc;

/// The core asks it between the slices of a wait. PHP code runs in here: the caller must hold no borrow.
pub struct PhpInterrupts<'a> {
    stop: &'a Cell<bool>,
    /// Of the worker that waits, and whether it is paused meanwhile.
    orders: Option<(Arc<Orders>, bool)>,
    fault: Option<Unwind>,
}

impl<'a> PhpInterrupts<'a> {
    pub fn new(stop: &'a Cell<bool>) -> Self {
        Self { stop, orders: None, fault: None }
    }

    /// The wait ends, too, when an operator wants something else than when it began.
    pub fn obeying(stop: &'a Cell<bool>, orders: Option<&Arc<Orders>>) -> Self {
        let orders = orders.map(|orders| (Arc::clone(orders), orders.is_paused()));
        Self { stop, orders, fault: None }
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
        let is_called = self.orders.as_ref().is_some_and(|(orders, was_paused)| {
            orders.look();
            orders.end().is_some() || orders.is_paused() != *was_paused
        });
        if self.stop.get() || is_called { Flow::Return } else { Flow::Continue }
    }

    fn calls(&self) -> RawFd {
        self.orders.as_ref().map_or(-1, |(orders, _)| orders.calls())
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
