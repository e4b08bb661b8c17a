//! Calls the callables of the user. Letting go of a value is such a call too: destructors run, and the collector of cycles;
//! nothing that they do may jump over the loop.

use crate::php::origin::Origin;
use crate::php::sys;
use crate::php::unwind::{Outcome, Unwind, guard, take_throwable};
use ext_php_rs::ffi;
use ext_php_rs::types::Zval;
use std::ffi::CStr;

/// `callable`, checked with php-src's own words.
pub fn read(value: &Zval, origin: Origin<'_>) -> Outcome<Zval> {
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

/// Calls it; whether it returned false.
fn invoke<const N: usize>(callable: &Zval, mut arguments: [Zval; N]) -> Outcome<bool> {
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
        out.bool() == Some(false)
    })
}

/// Lets go of values.
pub fn discard<T>(values: T) -> Outcome<()> {
    guard(move || drop(values))
}

/// How a call of user code ended.
pub enum Ending {
    /// Whether it returned false.
    Returned(bool),
    Threw(Zval),
    /// `exit()`: pending in the engine, to be left alone.
    Exited,
    /// A fatal error: the engine unwinds once we are done.
    Fatal,
}

/// Calls it and takes the exception that it throws.
pub fn attempt<const N: usize>(callable: &Zval, arguments: [Zval; N]) -> Ending {
    match invoke(callable, arguments) {
        Ok(is_false) => Ending::Returned(is_false),
        Err(Unwind::Bailout) => Ending::Fatal,
        Err(Unwind::Thrown) => match take_throwable() {
            Some(exception) => Ending::Threw(exception),
            None => Ending::Exited,
        },
    }
}
