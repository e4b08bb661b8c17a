//! How a method of ours ends early: an exception, or a fatal error.
//!
//! All code that runs PHP code goes through [`guard`], so that a fatal error leaves by returning like every other error:
//! all Rust values on the way are dropped before the engine takes over.

use super::sys;
use ext_php_rs::ffi::{self, zend_class_entry, zend_function};
use ext_php_rs::types::{ZendObject, Zval};
use ext_php_rs::zend::{CatchError, ExecutorGlobals, try_catch};
use std::ffi::CString;
use std::panic::AssertUnwindSafe;

/// Why a method ends early.
#[derive(Debug, Clone, Copy)]
pub enum Unwind {
    /// An exception, or an `exit()`, is pending in the engine.
    Thrown,
    /// A fatal error: the engine unwinds as soon as everything here is dropped.
    Bailout,
}

pub type Outcome<T> = Result<T, Unwind>;

/// Runs PHP code.
pub fn guard<R>(work: impl FnOnce() -> R) -> Outcome<R> {
    match try_catch(AssertUnwindSafe(work)) {
        Ok(value) if !sys::exception_pending() => Ok(value),
        Ok(_) => Err(Unwind::Thrown),
        Err(CatchError::Bailout) => Err(Unwind::Bailout),
        Err(_) => Err(internal_error()),
    }
}

/// A panic, or a bug of ours that amounts to one. Its own text may hold data of the user, and is not shown.
pub fn internal_error() -> Unwind {
    throw_error("The delayqueue extension failed an internal check: please report it")
}

/// Calls a function of PHP's; for a method with the object.
pub fn run(function: *mut zend_function, object: Option<&ZendObject>, args: &mut [Zval]) -> Outcome<Zval> {
    let (this, class) = match object {
        Some(object) => (std::ptr::from_ref(object).cast_mut(), object.ce),
        None => (std::ptr::null_mut(), std::ptr::null_mut()),
    };
    let count = u32::try_from(args.len()).unwrap_or(0);
    let mut out = Zval::new();
    // SAFETY: the function comes from one of the engine's tables; object, arguments and result outlive the call.
    guard(|| unsafe {
        let result = &raw mut out;
        ffi::zend_call_known_function(function, this, class, result, count, args.as_mut_ptr(), std::ptr::null_mut());
    })?;
    Ok(out)
}

/// Text for C: NUL bytes become `\0`, because C would end there.
pub fn c_text(text: &[u8]) -> CString {
    let mut clean = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => clean.extend_from_slice(b"\\0"),
            other => clean.push(*other),
        }
    }
    CString::new(clean).unwrap_or_default()
}

/// Throws, with an exception that is pending already as `previous`. Returns the exception to add properties to.
pub fn throw(class: *mut zend_class_entry, message: &str, code: i64) -> Option<*mut ZendObject> {
    // SAFETY: the class is registered; the engine copies the message.
    let object = unsafe { ffi::zend_throw_exception(class, c_text(message.as_bytes()).as_ptr(), code) };
    (!object.is_null()).then_some(object)
}

/// An `\Error`: the program is wrong.
pub fn throw_error(message: &str) -> Unwind {
    throw(sys::find_class("Error"), message, 0);
    Unwind::Thrown
}

/// Throws an exception that was caught.
pub fn throw_again(mut exception: Zval) -> Unwind {
    // SAFETY: an object of a Throwable class; the engine takes over our reference.
    unsafe { ffi::zend_throw_exception_object(&raw mut exception) };
    std::mem::forget(exception);
    Unwind::Thrown
}

/// Takes a pending exception, but not the engine's mark of `exit()`, which travels the same way and must go on.
pub fn take_throwable() -> Option<Zval> {
    sys::pending_throwable()?;
    let exception = ExecutorGlobals::take_exception()?;
    let mut value = Zval::new();
    ext_php_rs::convert::IntoZval::set_zval(exception, &mut value, false).ok()?;
    Some(value)
}
