//! Why a job failed, as it is stored with it: short, and safe to print.

use super::call::{Call, Outcome};
use super::json::message_bytes;
use super::sys;
use ext_php_rs::types::{ZendObject, Zval};

/// Longest text kept, in bytes.
pub const MAX_BYTES: usize = 1000;

/// A `Throwable|string|null` argument.
pub fn argument(call: &Call, number: u32) -> Outcome<Option<Vec<u8>>> {
    let Some(value) = call.non_null(number) else { return Ok(None) };
    if let Some(object) = throwable(value) {
        return Ok(Some(of_throwable(object)));
    }
    if value.is_array() {
        return Err(call.type_error(number, value));
    }
    Ok(call.nullable_bytes(number)?.map(|text| bounded(&text)))
}

fn throwable(value: &Zval) -> Option<&ZendObject> {
    let object = value.object()?;
    // SAFETY: classes of the engine live as long as the process.
    let ce = unsafe { sys::find_class("Throwable").as_ref() }?;
    object.instance_of(ce).then_some(object)
}

/// `RuntimeException: no such file`
pub fn of_throwable(object: &ZendObject) -> Vec<u8> {
    // The engine ends the name of an anonymous class with NUL and the place of its declaration.
    // SAFETY: a live object has a class with a name.
    let name = unsafe { (*object.ce).name.as_ref() }.map_or(&b""[..], |name| name.as_bytes());
    let mut text: Vec<u8> = name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let message = message_bytes(object);
    if !message.is_empty() {
        text.extend_from_slice(b": ");
        text.extend_from_slice(&message);
    }
    bounded(&text)
}

/// The message alone.
pub fn message(object: &ZendObject) -> Vec<u8> {
    bounded(&message_bytes(object))
}

/// Valid UTF-8, without NUL, at most [`MAX_BYTES`], cut between characters.
pub fn bounded(text: &[u8]) -> Vec<u8> {
    // No byte of the input makes less than one of the output: the bytes beyond cannot be kept.
    let head = text.get(..MAX_BYTES + 4).unwrap_or(text);
    let clean = String::from_utf8_lossy(head).replace('\0', "\\0");
    let mut end = clean.len().min(MAX_BYTES);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.as_bytes().get(..end).unwrap_or_default().to_vec()
}
