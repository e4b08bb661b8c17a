//! The task of a job, by whose name runs are counted.

use super::call::Call;
use super::callbacks::{callable, warn};
use super::classes::properties;
use super::convert;
use super::object::property;
use super::unwind::{Outcome, Unwind, guard, take_throwable};
use super::{reason, sys};
use crate::core::registry::task_name;
use ext_php_rs::ffi;
use ext_php_rs::types::Zval;

/// How a loop names the tasks of its jobs.
pub enum Tasks {
    /// By `task` of the payload.
    OfPayload,
    /// As a callable of the user says.
    Named(Zval),
    /// Not: payloads are sealed, and names would be readable.
    Hidden,
}

impl Tasks {
    /// Of the argument with this number.
    pub fn read(call: &Call, number: u32, is_sealed: bool) -> Outcome<Self> {
        Ok(match call.nullable(number, callable)? {
            Some(callable) => Self::Named(callable),
            None if is_sealed => Self::Hidden,
            None => Self::OfPayload,
        })
    }

    /// `None`: the run of this job is not counted.
    pub fn of(&self, job: &Zval) -> Outcome<Option<String>> {
        let named = match self {
            Self::Hidden => None,
            Self::OfPayload => {
                let payload = job.object().and_then(|object| property::<properties::Job>(object, "payload"));
                let task = payload.and_then(Zval::array).and_then(|payload| payload.get("task"));
                task.and_then(|task| task.dereference().str()).map(task_name)
            }
            Self::Named(callable) => call_with(callable, job)?.str().map(task_name),
        };
        Ok(named.filter(|name| !name.is_empty()))
    }
}

/// Its answer; null where it throws, which is reported with a warning, as of a listener.
fn call_with(callable: &Zval, job: &Zval) -> Outcome<Zval> {
    let mut arguments = [job.shallow_clone()];
    let mut out = Zval::new();
    // SAFETY: callable, argument and result outlive the call.
    let called = guard(|| unsafe {
        let callable = std::ptr::from_ref(callable).cast_mut();
        ffi::_call_user_function_impl(
            std::ptr::null_mut(),
            callable,
            &raw mut out,
            1,
            arguments.as_mut_ptr(),
            std::ptr::null_mut(),
        );
    });
    match called {
        Ok(()) => Ok(out),
        Err(Unwind::Thrown) if sys::pending_throwable().is_some() => {
            let what =
                take_throwable().and_then(|exception| exception.object().map(reason::headline)).unwrap_or_default();
            warn(&format!("The name of a task could not be found: {}", String::from_utf8_lossy(&what)))?;
            Ok(convert::null())
        }
        Err(fault) => Err(fault),
    }
}
