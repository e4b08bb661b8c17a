//! Calls the callables of the user: handlers, and listeners of the loop. Letting go of a value is such a call too: destructors run, and the
//! collector of cycles; nothing that they do may jump over the loop.

use super::classes::Case;
pub use super::classes::cases::Event;
use super::origin::Origin;
use super::unwind::{Outcome, Unwind, guard, take_throwable};
use super::worker::surroundings::Changes;
use super::{classes, convert, reason, sys};
use ext_php_rs::error::php_error;
use ext_php_rs::ffi;
use ext_php_rs::flags::ErrorType;
use ext_php_rs::types::Zval;
use std::cell::RefCell;
use std::ffi::CStr;
use std::time::Duration;

/// `callable`, checked with php-src's own words.
pub fn callable(value: &Zval, origin: Origin<'_>) -> Outcome<Zval> {
    let mut error: *mut std::ffi::c_char = std::ptr::null_mut();
    // SAFETY: the engine looks at a live value; the error is a string of its allocator that is ours to free.
    unsafe {
        let is_callable = sys::zend_is_callable_ex(
            std::ptr::from_ref(value).cast_mut(),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut error,
        );
        if is_callable {
            if !error.is_null() {
                ffi::_efree(error.cast());
            }
            return Ok(value.shallow_clone());
        }
        let why = if error.is_null() {
            String::from("no array or string given")
        } else {
            CStr::from_ptr(error).to_string_lossy().into_owned()
        };
        if !error.is_null() {
            ffi::_efree(error.cast());
        }
        Err(origin.type_error_saying(&format!("must be a valid callback, {why}")))
    }
}

/// Calls it. What it returns means nothing.
fn invoke<const N: usize>(callable: &Zval, mut arguments: [Zval; N]) -> Outcome<()> {
    let count = u32::try_from(N).unwrap_or(0);
    guard(move || {
        let mut out = Zval::new();
        // SAFETY: callable, arguments and result outlive the call.
        unsafe {
            ffi::_call_user_function_impl(
                std::ptr::null_mut(),
                std::ptr::from_ref(callable).cast_mut(),
                &raw mut out,
                count,
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            );
        }
    })
}

/// Lets go of values.
pub fn discard<T>(values: T) -> Outcome<()> {
    guard(move || drop(values))
}

/// How a call of user code ended.
pub enum Ending {
    Returned,
    Threw(Zval),
    /// `exit()`: pending in the engine, to be left alone.
    Exited,
    /// A fatal error: the engine unwinds once we are done.
    Fatal,
}

/// Calls it and takes the exception that it throws.
pub fn attempt<const N: usize>(callable: &Zval, arguments: [Zval; N]) -> Ending {
    match invoke(callable, arguments) {
        Ok(()) => Ending::Returned,
        Err(Unwind::Bailout) => Ending::Fatal,
        Err(Unwind::Thrown) => match take_throwable() {
            Some(exception) => Ending::Threw(exception),
            None => Ending::Exited,
        },
    }
}

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
        if wanted.is_empty() {
            return Ok(());
        }
        // What listeners of a loop's end change is for the time after it.
        let changes = Changes::watch(false);
        for callable in &wanted {
            let or_null = |value: Option<&Zval>| value.map_or_else(Zval::new, Zval::shallow_clone);
            let ran = ran.map_or_else(convert::null, |ran| convert::float(ran.as_secs_f64()));
            let arguments = [classes::case_object(event), or_null(job), or_null(error), ran];
            match attempt(callable, arguments) {
                Ending::Returned => {}
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
        if event == Event::WorkerStopping {
            changes.leave()
        } else {
            changes.undo()?
        }
        discard(wanted)
    }
}
