//! Listeners of the loop.

use super::callable::{Ending, attempt, discard};
use crate::php::class::Case;
use crate::php::classes;
pub use crate::php::classes::cases::Event;
use crate::php::convert;
use crate::php::reason;
use crate::php::unwind::{Outcome, Unwind, guard, take_throwable};
use ext_php_rs::error::php_error;
use ext_php_rs::flags::ErrorType;
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Raises a warning. An error handler may make an exception of it: the handler has been told then, and the caller goes on all the same.
pub fn warn(message: &str) -> Outcome<()> {
    match guard(|| php_error(&ErrorType::Warning, message)) {
        Err(Unwind::Thrown) if take_throwable().is_some() => Ok(()),
        result => result,
    }
}

/// The listeners of one queue object. Never borrowed while PHP code runs.
#[derive(Default)]
pub struct Listeners {
    events: RefCell<Vec<Event>>,
    /// One for each of `events`.
    callables: RefCell<Vec<Zval>>,
}

impl Listeners {
    pub fn add(&self, event: Event, callable: Zval) {
        self.events.borrow_mut().push(event);
        self.callables.borrow_mut().push(callable);
    }

    pub fn has(&self, event: Event) -> bool {
        self.events.borrow().contains(&event)
    }

    /// The callables, for the engine's collector of cycles.
    pub fn values(&self) -> (*mut Zval, usize) {
        // No borrow is held while PHP runs, so none is held while it collects.
        self.callables.try_borrow_mut().map_or((std::ptr::null_mut(), 0), |mut all| (all.as_mut_ptr(), all.len()))
    }

    /// Calls the listeners in their order. One that throws is reported with a warning; the loop goes on. `ran`: for how long the handler has run.
    pub fn emit(&self, event: Event, job: Option<&Zval>, error: Option<&Zval>, ran: Option<Duration>) -> Outcome<()> {
        let wanted: Vec<Zval> = {
            let (events, callables) = (self.events.borrow(), self.callables.borrow());
            let both = events.iter().zip(callables.iter());
            both.filter(|(listens, _)| **listens == event).map(|(_, callable)| callable.shallow_clone()).collect()
        };
        let _told = Telling::begin();
        for callable in &wanted {
            let or_null = |value: Option<&Zval>| value.map_or_else(Zval::new, Zval::shallow_clone);
            let ran = ran.map_or_else(convert::null, |ran| convert::float(ran.as_secs_f64()));
            let arguments = [classes::case_object(event), or_null(job), or_null(error), ran];
            match attempt(callable, arguments) {
                Ending::Returned(_) => {}
                Ending::Threw(exception) => {
                    let what = exception.object().map(reason::headline).unwrap_or_default();
                    let what = String::from_utf8_lossy(&what).into_owned();
                    let message = format!("A listener of Event::{} threw {what}", event.name());
                    warn(&message)?;
                    discard(exception)?;
                }
                Ending::Exited => return Err(Unwind::Thrown),
                Ending::Fatal => return Err(Unwind::Bailout),
            }
        }
        discard(wanted)
    }
}

thread_local! {
    static TELLING: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, listeners run.
struct Telling;

impl Telling {
    fn begin() -> Self {
        TELLING.set(TELLING.get() + 1);
        Self
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        TELLING.set(TELLING.get() - 1);
    }
}

/// Whether this thread runs a listener.
pub fn are_told() -> bool {
    TELLING.get() > 0
}
