//! The exception classes, and the one place where an error becomes a PHP exception.

use super::call::{Call, Fault, Outcome};
use super::class::Class;
use super::classes;
use super::convert;
use super::duration_arg;
use super::place::{Place, active_function};
use super::sys;
use crate::core::error::Error;
use crate::core::job::JobId;
use ext_php_rs::ffi::{self, zend_class_entry};
use ext_php_rs::types::{ZendObject, ZendStr, Zval};
use std::ffi::CString;

/// `new Release('30s', 'rate limited')`
pub fn construct(call: &Call) -> Outcome<Zval> {
    let delay_ms = match call.arg(1) {
        Some(value) => duration_arg::span(value, Place::Argument(1))?,
        None => 0,
    };
    let message = call.optional_bytes(2)?;
    fill_release(call.object()?, delay_ms, message.as_deref())?;
    Ok(Zval::new())
}

/// The properties that the constructors of it and of its subclasses set.
pub fn fill_release(object: *mut ZendObject, delay_ms: u64, message: Option<&[u8]>) -> Outcome<()> {
    let mut delay = Zval::new();
    delay.set_double(convert::seconds(delay_ms));
    set_property(classes::RELEASE.entry(), object, "delay", &mut delay);
    if let Some(message) = message {
        let mut text = Zval::new();
        text.set_zend_string(ZendStr::new(message, false));
        set_property(sys::find_class("Exception"), object, "message", &mut text);
    }
    if sys::exception_pending() { Err(Fault::Thrown) } else { Ok(()) }
}

/// Writes a property, also a readonly one that has no value yet. The engine checks the type.
pub fn set_property(scope: *mut zend_class_entry, object: *mut ZendObject, name: &str, value: &mut Zval) {
    // SAFETY: scope and object are live; the name is passed with its length and the value is copied.
    unsafe { sys::zend_update_property(scope, object, name.as_ptr().cast(), name.len(), value) }
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
fn throw(class: *mut zend_class_entry, message: &str, code: i64) -> Option<*mut ZendObject> {
    // SAFETY: the class is registered; the engine copies the message.
    let object = unsafe { ffi::zend_throw_exception(class, c_text(message.as_bytes()).as_ptr(), code) };
    (!object.is_null()).then_some(object)
}

/// An `\Error`: the program is wrong.
pub fn throw_error(message: &str) -> Fault {
    throw(sys::find_class("Error"), message, 0);
    Fault::Thrown
}

/// Throws an exception that was caught.
pub fn throw_again(mut exception: Zval) -> Fault {
    // SAFETY: an object of a Throwable class; the engine takes over our reference.
    unsafe { ffi::zend_throw_exception_object(&raw mut exception) };
    std::mem::forget(exception);
    Fault::Thrown
}

/// A `\ValueError` that belongs to no single argument.
pub fn throw_value_error(message: &str) -> Fault {
    throw(sys::find_class("ValueError"), message, 0);
    Fault::Thrown
}

/// A payload that cannot be stored; a pending exception becomes its `previous`.
pub fn throw_payload(message: &str, code: i64) -> Fault {
    throw(classes::PAYLOAD_EXCEPTION.entry(), message, code);
    Fault::Thrown
}

/// A `DelayQueue\\PayloadException` that is not thrown: for listeners.
pub fn payload(message: &str) -> Zval {
    let _ = throw_payload(message, 0);
    taken()
}

/// A handler ran too long.
pub fn throw_timeout(message: &str) {
    throw(classes::TIMEOUT_EXCEPTION.entry(), message, 0);
}

/// A handler runs, and the process is to end.
pub fn throw_shutdown(message: &str) {
    throw(classes::SHUTDOWN_EXCEPTION.entry(), message, 0);
}

/// The job of a handler was cancelled.
pub fn throw_cancelled(message: &str) {
    throw(classes::CANCELLED_EXCEPTION.entry(), message, 0);
}

/// Milliseconds of a thrown `DelayQueue\\Release`.
pub fn release_delay_ms(object: &ZendObject) -> Option<u64> {
    if !classes::RELEASE.owns(object) {
        return None;
    }
    let seconds = property(classes::RELEASE.entry(), object, "delay", Zval::double).unwrap_or(0.0);
    Some(crate::core::duration::from_seconds(seconds.max(0.0)).unwrap_or(0))
}

/// Reads a property; one that a constructor has not set is null.
pub fn property<T>(
    scope: *mut zend_class_entry,
    object: &ZendObject,
    name: &str,
    read: impl FnOnce(&Zval) -> Option<T>,
) -> Option<T> {
    let mut room = Zval::new();
    // SAFETY: class and object are live; the result is the property's slot, or `room`.
    let value = unsafe {
        let object = std::ptr::from_ref(object).cast_mut();
        sys::zend_read_property(scope, object, name.as_ptr().cast(), name.len(), true, &raw mut room).as_ref()
    };
    value.and_then(read)
}

/// Whether a `DelayQueue\\LeaseLostException` is on its way.
pub fn lease_lost_is_pending() -> bool {
    sys::pending_throwable().is_some_and(|exception| classes::LEASE_LOST_EXCEPTION.owns(exception))
}

/// Whether it is a `DelayQueue\\Bury`.
pub fn is_bury(object: &ZendObject) -> bool {
    classes::BURY.owns(object)
}

/// Whether it is a `DelayQueue\\TimeoutException`.
pub fn is_timeout(object: &ZendObject) -> bool {
    classes::TIMEOUT_EXCEPTION.owns(object)
}

/// Whether it is a `DelayQueue\\ShutdownException`.
pub fn is_shutdown(object: &ZendObject) -> bool {
    classes::SHUTDOWN_EXCEPTION.owns(object)
}

/// The exception of an error, made but not thrown: for listeners.
pub fn object_of(error: Error) -> Zval {
    let _: Fault = error.into();
    taken()
}

/// The exception that was just thrown, taken back.
fn taken() -> Zval {
    let mut value = Zval::new();
    if let Some(exception) = ext_php_rs::zend::ExecutorGlobals::take_exception() {
        let _ = ext_php_rs::convert::IntoZval::set_zval(exception, &mut value, false);
    }
    value
}

/// The lease is not ours any more, and this process knows.
pub fn throw_lease_lost(queue: &str, id: &str, reason: &'static str) -> Fault {
    Error::LeaseLost { queue: queue.to_owned(), id: id.to_owned(), reason }.into()
}

impl From<Error> for Fault {
    /// Every error of the core, as the contract names it.
    fn from(error: Error) -> Self {
        throw_storing(error, &[])
    }
}

/// Throws an error of `pushMany()`, with the ids of the jobs that had been stored before it.
pub fn throw_storing(error: Error, stored: &[JobId]) -> Fault {
    let message = error.to_string();
    match error {
        Error::Interrupted => {}
        Error::Connection { ambiguous, .. } => {
            throw_with(
                &classes::CONNECTION_EXCEPTION,
                &classes::CONNECTION_EXCEPTION,
                &message,
                "ambiguous",
                convert::bool(ambiguous),
                stored,
            );
        }
        Error::Authentication { .. } => {
            let unambiguous = convert::bool(false);
            throw_with(
                &classes::AUTHENTICATION_EXCEPTION,
                &classes::CONNECTION_EXCEPTION,
                &message,
                "ambiguous",
                unambiguous,
                stored,
            );
        }
        Error::Server { code, .. } => {
            throw_with(
                &classes::SERVER_EXCEPTION,
                &classes::SERVER_EXCEPTION,
                &message,
                "redisCode",
                convert::bytes(code),
                stored,
            );
        }
        Error::QueueFull { code, .. } => {
            throw_with(
                &classes::QUEUE_FULL_EXCEPTION,
                &classes::SERVER_EXCEPTION,
                &message,
                "redisCode",
                convert::bytes(code),
                stored,
            );
        }
        Error::LeaseLost { .. } => {
            throw(classes::LEASE_LOST_EXCEPTION.entry(), &message, 0);
        }
        Error::Duplicate { .. } => {
            let message = match stored.len() {
                0 => message,
                before => format!("{message} (jobs stored before: {before})"),
            };
            if let Some(object) = throw(classes::DUPLICATE_JOB_EXCEPTION.entry(), &message, 0) {
                set_stored(&classes::DUPLICATE_JOB_EXCEPTION, object, stored);
            }
        }
        Error::Seal { .. } => {
            throw(classes::SEAL_EXCEPTION.entry(), &message, 0);
        }
        Error::PayloadTooLarge { .. } => return throw_payload(&message, 0),
        Error::Invalid(_) => return throw_value_error(&format!("{}(): {message}", active_function())),
    }
    Fault::Thrown
}

/// Throws a `class` with a property that `scope` declares, as it does `$stored`.
fn throw_with(class: &Class, scope: &Class, message: &str, name: &str, mut value: Zval, stored: &[JobId]) {
    if let Some(object) = throw(class.entry(), message, 0) {
        set_property(scope.entry(), object, name, &mut value);
        set_stored(scope, object, stored);
    }
}

fn set_stored(scope: &Class, object: *mut ZendObject, stored: &[JobId]) {
    if !stored.is_empty() {
        let mut ids = convert::list(stored.iter().map(|id| convert::bytes(id.as_bytes())));
        set_property(scope.entry(), object, "stored", &mut ids);
    }
}

/// Names the argument an [`Error::Invalid`] is about; other errors stay what they are.
pub trait At<T> {
    fn at(self, place: Place<'_>) -> Outcome<T>;
}

impl<T> At<T> for Result<T, Error> {
    fn at(self, place: Place<'_>) -> Outcome<T> {
        self.map_err(|error| match error {
            Error::Invalid(must) => place.value_error(&must),
            other => other.into(),
        })
    }
}
