//! Where the calls of a test's job go instead of to Redis.

use super::call::{Fault, Outcome};
use super::exceptions;
use super::job_call::Made;
use super::worker::callable::{Ending, attempt};
use ext_php_rs::types::Zval;
use std::cell::RefCell;

/// Keeps the calls of one job, and tells a listener of each.
pub struct Recorder {
    /// The listener, or null, and behind it the calls. Never borrowed while PHP code runs.
    values: RefCell<Vec<Zval>>,
}

impl Recorder {
    /// Without a listener null.
    pub fn new(listener: Zval) -> Self {
        Self { values: RefCell::new(vec![listener]) }
    }

    /// The exception of a listener refuses the call: it has not been made then.
    pub fn note(&self, call: &Made<'_>) -> Outcome<()> {
        let object = call.object()?;
        let listener = self.values.borrow().first().filter(|value| !value.is_null()).map(Zval::shallow_clone);
        if let Some(listener) = listener {
            match attempt(&listener, [object.shallow_clone()]) {
                Ending::Returned(_) => {}
                Ending::Threw(exception) => return Err(exceptions::throw_again(exception)),
                Ending::Exited => return Err(Fault::Thrown),
                Ending::Fatal => return Err(Fault::Bailout),
            }
        }
        self.values.borrow_mut().push(object);
        Ok(())
    }

    /// In their order.
    pub fn calls(&self) -> Vec<Zval> {
        self.values.borrow().iter().skip(1).map(Zval::shallow_clone).collect()
    }

    /// For the engine's collector of cycles.
    pub fn held_values(&self) -> (*mut Zval, usize) {
        self.values.try_borrow_mut().map_or((std::ptr::null_mut(), 0), |mut all| (all.as_mut_ptr(), all.len()))
    }
}
