//! Headers, an `array<string,string>`, and the words of a seal travel beside a payload. They are checked before anything is sent.

use super::convert::{self, ArrayKey};
use super::origin::{Origin, type_name};
use super::unwind::Outcome;
use crate::core::headers::{self, Headers};
use crate::core::seal::Seal;
use ext_php_rs::types::Zval;

/// Names and values in their order. Nothing is coerced, but that PHP makes an int of a name such as `123`.
pub fn read(value: &Zval, origin: Origin<'_>) -> Outcome<Headers> {
    let changes = changes_of(value, origin, "strings")?;
    let headers: Headers = changes.into_iter().map(|(name, text)| (name, text.unwrap_or_default())).collect();
    headers::check(&headers).map_err(|error| origin.throw(error))?;
    Ok(headers)
}

/// As above, and null for one that is removed.
pub fn changes(value: &Zval, origin: Origin<'_>) -> Outcome<Vec<(String, Option<String>)>> {
    changes_of(value, origin, "strings and nulls")
}

fn changes_of(value: &Zval, origin: Origin<'_>, of: &str) -> Outcome<Vec<(String, Option<String>)>> {
    let Some(table) = value.array() else { return Err(origin.wrong_type("array", value)) };
    let mut changes = Vec::with_capacity(table.len());
    for (key, value) in convert::entries(table) {
        // A key that is no UTF-8 becomes one with replacement characters, which are no letters of a name either.
        let name = key.to_string();
        headers::check_name(&name).map_err(|error| origin.throw(error))?;
        if value.is_null() && of != "strings" {
            changes.push((name, None));
            continue;
        }
        let Some(bytes) = value.zend_str() else {
            let given = type_name(value);
            return Err(origin.type_error_saying(&format!("must be an array of {of}, {given} given for \"{name}\"")));
        };
        let Ok(text) = std::str::from_utf8(bytes.as_bytes()) else {
            return Err(origin.value_error(&format!("must have values of valid UTF-8, that of \"{name}\" is not")));
        };
        changes.push((name, Some(text.to_owned())));
    }
    Ok(changes)
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
