//! Headers, an `array<string,string>`, and the words of a seal travel beside a payload. They are checked before anything is sent.

use super::convert::{self, ArrayKey};
use super::origin::{Origin, type_name};
use super::unwind::Outcome;
use crate::core::seal::Seal;
use ext_php_rs::types::Zval;

/// Most headers of a job.
const MOST: usize = 64;
/// The longest name.
const NAME_BYTES: usize = 100;
/// Most bytes of all names and values together.
const BYTES: usize = 8 << 10;

/// Names and values in their order. Nothing is coerced, but that PHP makes an int of a name such as `123`.
pub fn read(value: &Zval, origin: Origin<'_>) -> Outcome<Vec<(String, String)>> {
    let Some(table) = value.array() else { return Err(origin.wrong_type("array", value)) };
    if table.len() > MOST {
        return Err(origin.value_error(&format!("must have at most {MOST} headers, {} given", table.len())));
    }
    let mut headers = Vec::with_capacity(table.len());
    for (key, value) in convert::entries(table) {
        let name = key.to_string();
        if !is_name(name.as_bytes()) {
            let must = format!("must have names of 1 to {NAME_BYTES} bytes of [A-Za-z0-9._-], \"{name}\" given");
            return Err(origin.value_error(&must));
        }
        let Some(bytes) = value.zend_str() else {
            let given = type_name(value);
            return Err(origin.type_error_saying(&format!("must be an array of strings, {given} given for \"{name}\"")));
        };
        let Ok(text) = std::str::from_utf8(bytes.as_bytes()) else {
            return Err(origin.value_error(&format!("must have values of valid UTF-8, that of \"{name}\" is not")));
        };
        headers.push((name, text.to_owned()));
    }
    let size: usize = headers.iter().map(|(name, text)| name.len() + text.len()).sum();
    if size > BYTES {
        return Err(origin.value_error(&format!("must have at most {BYTES} bytes of names and values, {size} given")));
    }
    Ok(headers)
}

/// A key that is no UTF-8 has become one with replacement characters, which are no letters of a name either.
fn is_name(name: &[u8]) -> bool {
    let is_fine = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=NAME_BYTES).contains(&name.len()) && name.iter().all(is_fine)
}

pub fn seal_array(seal: &Seal) -> Zval {
    let words = [("alg", &seal.algorithm), ("key", &seal.key), ("tag", &seal.tag)];
    convert::map(words.map(|(name, text)| (name, convert::bytes(text))))
}

/// Whether it is a good one shows when the job is opened.
pub fn read_seal(value: &Zval, origin: Origin<'_>) -> Outcome<Seal> {
    let Some(table) = value.array() else { return Err(origin.wrong_type("array", value)) };
    let mut seal = Seal::default();
    let mut found = 0;
    for (key, value) in convert::entries(table) {
        let slot = match key {
            ArrayKey::Text(b"alg") => &mut seal.algorithm,
            ArrayKey::Text(b"key") => &mut seal.key,
            ArrayKey::Text(b"tag") => &mut seal.tag,
            _ => return Err(origin.value_error(&format!("has the unknown key \"{key}\""))),
        };
        let Some(text) = value.zend_str() else {
            let given = type_name(value);
            return Err(origin.type_error_saying(&format!("must be an array of strings, {given} given for \"{key}\"")));
        };
        match std::str::from_utf8(text.as_bytes()) {
            Ok(text) if text.len() <= LONGEST => text.clone_into(slot),
            _ => {
                return Err(
                    origin.value_error(&format!("must have at most {LONGEST} bytes of valid UTF-8 for \"{key}\""))
                );
            }
        }
        found += 1;
    }
    if found == 3 { Ok(seal) } else { Err(origin.value_error("must have the keys \"alg\", \"key\" and \"tag\"")) }
}

/// More than any algorithm needs, and within the room of a record.
const LONGEST: usize = 200;
