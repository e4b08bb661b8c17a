//! Payloads as bytes: JSON by PHP's own encoder and decoder, or the bytes of a string.

use super::convert::{self, ArrayKey};
use super::exceptions::{code_of, message_of, throw_payload};
use super::origin::{Origin, type_name};
use super::sys;
use super::unwind::{Outcome, Unwind, guard, run, take_throwable, throw_error};
use crate::core::error::Error;
use ext_php_rs::types::{ZendObject, Zval};

/// How payloads are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Raw,
}

/// How payloads become bytes, and how many these may be.
#[derive(Debug, Clone, Copy)]
pub struct Encoding {
    pub format: Format,
    pub max_payload: usize,
}

/// The stored bytes of a sealed payload, as a JobInfo shows them.
pub fn stored<'a>(value: &'a Zval, origin: Origin<'_>) -> Outcome<&'a [u8]> {
    value.zend_str().map(|text| text.as_bytes()).ok_or_else(|| origin.type_error("string", value))
}

impl Encoding {
    /// The bytes to store for a payload, within `maxPayload`.
    pub fn encode(self, value: &Zval, origin: Origin<'_>) -> Outcome<Vec<u8>> {
        let bytes = match self.format {
            Format::Json => encode_json(value, origin)?,
            Format::Raw => stored(value, origin)?.to_vec(),
        };
        if bytes.len() > self.max_payload {
            let error = Error::PayloadTooLarge { size: bytes.len(), limit: self.max_payload };
            return Err(throw_payload(&format!("{}{error}", origin.context()), 0));
        }
        Ok(bytes)
    }
}

impl Format {
    /// Its name among the options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Raw => "raw",
        }
    }

    /// The payload of stored bytes, or why they are none.
    pub fn decode(self, bytes: &[u8]) -> Outcome<Result<Zval, String>> {
        match self {
            Self::Raw => Ok(Ok(convert::bytes(bytes))),
            Self::Json => Ok(decode_json(bytes)?.map_err(|words| format!("payload is not valid JSON: {words}"))),
        }
    }

    /// The payload, or null.
    pub fn decode_or_null(self, bytes: &[u8]) -> Outcome<Zval> {
        Ok(self.decode(bytes)?.unwrap_or_else(|_| convert::null()))
    }
}

const UNESCAPED_SLASHES: i64 = 1 << 6;
const UNESCAPED_UNICODE: i64 = 1 << 8;
const PRESERVE_ZERO_FRACTION: i64 = 1 << 10;
const THROW_ON_ERROR: i64 = 1 << 22;
const OBJECT_AS_ARRAY: i64 = 1;
const DEPTH: i64 = 512;

/// `json_encode()` with the contract's flags. The function itself is called: its output is the promise, and it
/// leaves `json_last_error()` alone. Errors say which item of a list it is.
fn encode_json(value: &Zval, origin: Origin<'_>) -> Outcome<Vec<u8>> {
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
                    refuse_lost(value, origin)?;
                }
                Ok(text.to_vec())
            }
            None => Err(throw_error("json_encode() did not return a string")),
        },
        Err(Unwind::Thrown) => Err(rename_json_exception(origin)),
        Err(fault) => Err(fault),
    }
}

/// `json_decode($text, true, 512)`; the error has the words of `json_last_error_msg()`.
fn decode_json(text: &[u8]) -> Outcome<Result<Zval, String>> {
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
        Err(Unwind::Thrown) => match pending_json_exception().map(message_of) {
            Some(words) => {
                let _ = take_throwable();
                Ok(Err(words))
            }
            None => Err(Unwind::Thrown),
        },
        Err(fault) => Err(fault),
    }
}

/// A pending `JsonException` becomes the `previous` of a `PayloadException` with its words; others stay.
fn rename_json_exception(origin: Origin<'_>) -> Unwind {
    match pending_json_exception().map(|exception| (message_of(exception), code_of(exception))) {
        Some((message, code)) => throw_payload(&format!("{}{message}", origin.context()), code),
        None => Unwind::Thrown,
    }
}

fn pending_json_exception() -> Option<&'static ZendObject> {
    sys::pending_throwable().filter(|exception| sys::is_a(exception, "JsonException"))
}

/// Objects of which `json_encode()` keeps nothing and says nothing: it prints `{}` for a Closure, a Generator, a PDO.
/// Such an object: its class, and the steps to it, the last one first.
struct Found {
    class: String,
    steps: Vec<String>,
}

/// Refuses a payload that has such an object, and says where. The payload has been encoded, so it ends.
fn refuse_lost(payload: &Zval, origin: Origin<'_>) -> Outcome<()> {
    let Some(Found { class, steps }) = find(payload.dereference()) else { return Ok(()) };
    let path: String = steps.into_iter().rev().collect();
    let words = match path.is_empty() {
        true => format!("A {class} cannot be a payload"),
        false => format!("payload{path} is a {class}, of which JSON keeps nothing"),
    };
    Err(throw_payload(&format!("{}{words}", origin.context()), 0))
}

fn find(value: &Zval) -> Option<Found> {
    if let Some(table) = value.array() {
        return convert::entries(table).find_map(|(key, value)| {
            find(value).map(|found| match key {
                ArrayKey::Int(_) => found.below(format!("[{key}]")),
                ArrayKey::Text(_) => found.below(format!("['{key}']")),
            })
        });
    }
    let object = value.object()?;
    if sys::is_a(object, "JsonSerializable") {
        return None;
    }
    if sys::keeps_nothing(object) {
        return Some(Found { class: type_name(value), steps: Vec::new() });
    }
    convert::entries(object.get_properties().ok()?).find_map(|(key, value)| match key {
        // A private or protected property, which JSON leaves out.
        ArrayKey::Text([0, ..]) => None,
        _ => find(sys::pointed_at(value)).map(|found| found.below(format!("->{key}"))),
    })
}

impl Found {
    fn below(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }
}
