//! The exception classes, and the one place where an error becomes a PHP exception.

use super::object::Class;
use super::origin::{Origin, active_function};
use super::unwind::{Unwind, take_throwable, throw};
use super::{classes, convert, sys};
use crate::core::error::Error;
use crate::core::job::JobId;
use ext_php_rs::ffi::zend_class_entry;
use ext_php_rs::types::{ZendObject, Zval};

/// Writes a property, also a readonly one that has no value yet. The engine checks the type.
pub fn set_property(scope: *mut zend_class_entry, object: *mut ZendObject, name: &str, value: &mut Zval) {
    // SAFETY: scope and object are live; the name is passed with its length and the value is copied.
    unsafe { sys::zend_update_property(scope, object, name.as_ptr().cast(), name.len(), value) }
}

/// A payload that cannot be stored; a pending exception becomes its `previous`.
pub fn throw_payload(message: &str, code: i64) -> Unwind {
    throw(classes::PAYLOAD_EXCEPTION.entry(), message, code);
    Unwind::Thrown
}

/// A `DelayQueue\\PayloadException` that is not thrown: for listeners.
pub fn payload(message: &str) -> Zval {
    let _ = throw_payload(message, 0);
    take_throwable().unwrap_or_else(convert::null)
}

/// What an `InvalidArgument` tells: which parameter, which item of a list, which key, and why.
pub struct Invalid<'a> {
    pub parameter: &'a str,
    pub item: Option<usize>,
    pub key: Option<&'a str>,
    pub reason: &'a str,
}

/// An `InvalidArgument`; its message is what is wrong, and the reason.
pub fn throw_invalid(what: &str, Invalid { parameter, item, key, reason }: Invalid<'_>) -> Unwind {
    if sys::exception_pending() {
        return Unwind::Thrown;
    }
    let class = classes::INVALID_ARGUMENT.entry();
    if let Some(object) = throw(class, &format!("{what} {reason}"), 0) {
        set_property(class, object, "reason", &mut convert::bytes(reason));
        set_property(class, object, "parameter", &mut convert::bytes(parameter));
        set_property(class, object, "item", &mut convert::nullable(item, convert::int));
        set_property(class, object, "key", &mut convert::nullable(key, convert::bytes));
    }
    Unwind::Thrown
}

/// An `InvalidArgument` that belongs to no single argument.
pub fn throw_invalid_call(reason: &str) -> Unwind {
    throw_invalid(&format!("{}():", active_function()), Invalid { parameter: "", item: None, key: None, reason })
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

/// The exception of an error, made but not thrown: for listeners.
pub fn object_of(error: Error) -> Zval {
    let _: Unwind = error.into();
    take_throwable().unwrap_or_else(convert::null)
}

/// The lease is not ours any more, and this process knows.
pub fn throw_lease_lost(queue: &str, id: &str, reason: &'static str) -> Unwind {
    Error::LeaseLost { queue: queue.to_owned(), id: id.to_owned(), reason }.into()
}

impl From<Error> for Unwind {
    /// Every error of the core, as the contract names it.
    fn from(error: Error) -> Self {
        throw_storing(error, &[])
    }
}

/// Throws an error of `pushMany()`, with the ids of the jobs that had been stored before it.
pub fn throw_storing(error: Error, stored: &[JobId]) -> Unwind {
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
        Error::Invalid(_) => return throw_invalid_call(&message),
    }
    Unwind::Thrown
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

impl Origin<'_> {
    /// Throws an error of the core. One that is [`Error::Invalid`] names this value.
    pub fn throw(self, error: Error) -> Unwind {
        match error {
            Error::Invalid(must) => self.value_error(&must),
            other => other.into(),
        }
    }
}

/// The message of a Throwable, read without running any code of its class.
pub fn message_of(object: &ZendObject) -> String {
    String::from_utf8_lossy(&message_bytes(object)).into_owned()
}

/// As [`message_of`], as bytes.
pub fn message_bytes(object: &ZendObject) -> Vec<u8> {
    throwable_property(object, "message").zend_str().map(|s| s.as_bytes().to_vec()).unwrap_or_default()
}

pub fn code_of(object: &ZendObject) -> i64 {
    throwable_property(object, "code").long().unwrap_or(0)
}

/// A property that Exception or Error declares, also a private one.
pub fn throwable_property(object: &ZendObject, name: &str) -> Zval {
    let scope = if sys::is_a(object, "Error") { "Error" } else { "Exception" };
    let copy = |value: &Zval| Some(value.dereference().shallow_clone());
    property(sys::find_class(scope), object, name, copy).unwrap_or_else(convert::null)
}
