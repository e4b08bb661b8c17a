//! Payloads as JSON, by PHP's own encoder and decoder.

use super::call::{Fault, Outcome, guard, run};
use super::convert;
use super::exceptions::{throw_error, throw_payload};
use super::lost;
use super::place::Place;
use super::sys;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendObject, Zval};
use ext_php_rs::zend::ExecutorGlobals;

const UNESCAPED_SLASHES: i64 = 1 << 6;
const UNESCAPED_UNICODE: i64 = 1 << 8;
const PRESERVE_ZERO_FRACTION: i64 = 1 << 10;
const THROW_ON_ERROR: i64 = 1 << 22;
const OBJECT_AS_ARRAY: i64 = 1;
const DEPTH: i64 = 512;

/// `json_encode()` with the contract's flags. The function itself is called: its output is the promise, and it
/// leaves `json_last_error()` alone. Errors say which item of a list it is.
pub fn encode(value: &Zval, place: Place<'_>) -> Outcome<Vec<u8>> {
    let function = sys::find_function(sys::function_table(), "json_encode");
    if function.is_null() {
        return Err(throw_error("The payload cannot be encoded: json_encode() is disabled"));
    }
    let flags = UNESCAPED_SLASHES | UNESCAPED_UNICODE | PRESERVE_ZERO_FRACTION | THROW_ON_ERROR;
    let mut args = [value.shallow_clone(), convert::int(flags), convert::int(DEPTH)];
    match run(function, None, &mut args) {
        Ok(out) => match out.zend_str() {
            Some(text) => {
                let text = text.as_bytes();
                // No other payload can hold an object that left nothing behind.
                if memchr::memmem::find(text, b"{}").is_some() {
                    lost::refuse(value, place)?;
                }
                Ok(text.to_vec())
            }
            None => Err(throw_error("json_encode() did not return a string")),
        },
        Err(Fault::Thrown) => Err(rename_json_exception(place)),
        Err(fault) => Err(fault),
    }
}

/// `json_decode($text, true, 512)`; the error has the words of `json_last_error_msg()`.
pub fn decode(text: &[u8]) -> Outcome<Result<Zval, String>> {
    // The parser reads one byte past the end and wants to find NUL there.
    let mut buffer = Vec::with_capacity(text.len() + 1);
    buffer.extend_from_slice(text);
    buffer.push(0);
    let mut out = Zval::new();
    let options = OBJECT_AS_ARRAY | THROW_ON_ERROR;
    // SAFETY: the buffer is NUL-terminated and lives through the call; an empty text is a syntax error to the parser.
    let decoded =
        guard(|| unsafe { sys::php_json_decode_ex(&raw mut out, buffer.as_ptr().cast(), text.len(), options, DEPTH) });
    match decoded {
        Ok(_) => Ok(Ok(out)),
        Err(Fault::Thrown) => match take_json_exception() {
            Some(exception) => Ok(Err(message_of(&exception))),
            None => Err(Fault::Thrown),
        },
        Err(fault) => Err(fault),
    }
}

/// A pending `JsonException` becomes the `previous` of a `PayloadException` with its words; others stay.
fn rename_json_exception(place: Place<'_>) -> Fault {
    let words = {
        let globals = ExecutorGlobals::get();
        globals.exception().filter(|e| is_json_exception(e)).map(|e| (message_of(e), code_of(e)))
    };
    match words {
        Some((message, code)) => throw_payload(&format!("{}{message}", place.context()), code),
        None => Fault::Thrown,
    }
}

fn take_json_exception() -> Option<ext_php_rs::boxed::ZBox<ZendObject>> {
    let ours = {
        let globals = ExecutorGlobals::get();
        globals.exception().is_some_and(is_json_exception)
    };
    if ours { ExecutorGlobals::take_exception() } else { None }
}

fn is_json_exception(object: &ZendObject) -> bool {
    // SAFETY: as in `encode`.
    unsafe { sys::find_class("JsonException").as_ref() }.is_some_and(|ce| object.instance_of(ce))
}

/// The message of a Throwable, read without running any code of its class.
pub fn message_of(object: &ZendObject) -> String {
    String::from_utf8_lossy(&message_bytes(object)).into_owned()
}

/// As [`message_of`], as bytes.
pub fn message_bytes(object: &ZendObject) -> Vec<u8> {
    throwable_property(object, c"message").zend_str().map(|s| s.as_bytes().to_vec()).unwrap_or_default()
}

fn code_of(object: &ZendObject) -> i64 {
    throwable_property(object, c"code").long().unwrap_or(0)
}

/// A property that Exception or Error declares, also a private one.
pub fn throwable_property(object: &ZendObject, name: &std::ffi::CStr) -> Zval {
    let scope = if is_error(object) { "Error" } else { "Exception" };
    let mut room = Zval::new();
    // SAFETY: the object is a live Throwable and `scope` the class that declares the property; the result may lie in
    // `room` or in the object, so it is copied.
    unsafe {
        let object = std::ptr::from_ref(object).cast_mut();
        let scope = sys::find_class(scope);
        let value = ffi::zend_read_property(scope, object, name.as_ptr(), name.count_bytes(), true, &raw mut room);
        value.as_ref().map_or_else(Zval::new, |value| value.dereference().shallow_clone())
    }
}

fn is_error(object: &ZendObject) -> bool {
    // SAFETY: as in `encode`.
    unsafe { sys::find_class("Error").as_ref() }.is_some_and(|ce| object.instance_of(ce))
}
