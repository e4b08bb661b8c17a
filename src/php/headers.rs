//! Headers of a job: `array<string,string>`, checked before anything is sent.

use super::array;
use super::call::{Call, Outcome};
use super::convert;
use super::place::{Place, type_name};
use ext_php_rs::types::Zval;

/// Most headers of a job.
const MOST: usize = 64;
/// The longest name.
const NAME_BYTES: usize = 100;
/// Most bytes of all names and values together.
const BYTES: usize = 8 << 10;

/// Names and values in their order. Nothing is coerced, but that PHP makes an int of a name such as `123`.
pub fn read(value: &Zval, place: Place<'_>) -> Outcome<Vec<(String, String)>> {
    let Some(table) = value.array() else { return Err(place.type_error("array", value)) };
    if table.len() > MOST {
        return Err(place.value_error(&format!("must have at most {MOST} headers, {} given", table.len())));
    }
    let mut headers = Vec::with_capacity(table.len());
    for (key, value) in array::entries(table) {
        let name = key.to_string();
        if !is_name(name.as_bytes()) {
            let must = format!("must have names of 1 to {NAME_BYTES} bytes of [A-Za-z0-9._-], \"{name}\" given");
            return Err(place.value_error(&must));
        }
        let Some(bytes) = value.zend_str() else {
            let given = type_name(value);
            return Err(place.type_error_saying(&format!("must be an array of strings, {given} given for \"{name}\"")));
        };
        let Ok(text) = std::str::from_utf8(bytes.as_bytes()) else {
            return Err(place.value_error(&format!("must have values of valid UTF-8, that of \"{name}\" is not")));
        };
        headers.push((name, text.to_owned()));
    }
    let size: usize = headers.iter().map(|(name, text)| name.len() + text.len()).sum();
    if size > BYTES {
        return Err(place.value_error(&format!("must have at most {BYTES} bytes of names and values, {size} given")));
    }
    Ok(headers)
}

/// A key that is no UTF-8 has become one with replacement characters, which are no letters of a name either.
fn is_name(name: &[u8]) -> bool {
    let is_fine = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=NAME_BYTES).contains(&name.len()) && name.iter().all(is_fine)
}

/// `?array $headers = null`: `None` keeps the headers of the job.
pub fn nullable(call: &Call, number: u32) -> Outcome<Option<Vec<(String, String)>>> {
    call.non_null(number).map(|value| read(value, Place::Argument(number))).transpose()
}

/// The array of a job's headers.
pub fn array(headers: &[(String, String)]) -> Zval {
    convert::named(headers.iter().map(|(name, text)| (name.as_str(), convert::bytes(text))))
}
