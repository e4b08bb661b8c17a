//! Calling what the user gave us to call.

use crate::php::call::{Call, Fault, Outcome, guard};
use crate::php::place::Place;
use crate::php::sys;
use ext_php_rs::ffi;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::ExecutorGlobals;
use std::ffi::CStr;

/// A `callable` argument, checked with php-src's own words.
pub fn argument(call: &Call, number: u32) -> Outcome<Zval> {
    let null = Zval::new();
    let value = call.arg(number).unwrap_or(&null);
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
        Err(Place::Argument(number).type_error_saying(&format!("must be a valid callback, {why}")))
    }
}

/// Calls it.
pub fn invoke(callable: &Zval, arguments: &mut [Zval]) -> Outcome<Zval> {
    let count = u32::try_from(arguments.len()).unwrap_or(0);
    let mut out = Zval::new();
    // SAFETY: callable, arguments and result outlive the call.
    guard(|| unsafe {
        ffi::_call_user_function_impl(
            std::ptr::null_mut(),
            std::ptr::from_ref(callable).cast_mut(),
            &raw mut out,
            count,
            arguments.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    })?;
    Ok(out)
}

/// How a call of user code ended.
pub enum Ending {
    Returned(Zval),
    Threw(Zval),
    /// `exit()`: pending in the engine, to be left alone.
    Exited,
    /// A fatal error: the engine unwinds once we are done.
    Fatal,
}

/// Calls it and takes what it throws.
pub fn attempt(callable: &Zval, arguments: &mut [Zval]) -> Ending {
    match invoke(callable, arguments) {
        Ok(value) => Ending::Returned(value),
        Err(Fault::Bailout) => Ending::Fatal,
        Err(Fault::Thrown) => match take_throwable() {
            Some(exception) => Ending::Threw(exception),
            None => Ending::Exited,
        },
    }
}

/// Takes a pending exception, but not what looks like one: `exit()` travels the same way and must go on.
pub fn take_throwable() -> Option<Zval> {
    // SAFETY: classes of the engine live as long as the process.
    let throwable = unsafe { sys::find_class("Throwable").as_ref() }?;
    let is_throwable = ExecutorGlobals::get().exception().is_some_and(|object| object.instance_of(throwable));
    if !is_throwable {
        return None;
    }
    let exception = ExecutorGlobals::take_exception()?;
    let mut value = Zval::new();
    ext_php_rs::convert::IntoZval::set_zval(exception, &mut value, false).ok()?;
    Some(value)
}
