//! The words beside a sealed payload as PHP has them: `array{alg: string, key: string, tag: string}`.

use super::array::{self, Key};
use super::call::Outcome;
use super::convert;
use super::place::{Place, type_name};
use crate::core::seal::Seal;
use ext_php_rs::types::Zval;

pub fn array(seal: &Seal) -> Zval {
    let words = [("alg", &seal.algorithm), ("key", &seal.key), ("tag", &seal.tag)];
    convert::map(words.map(|(name, text)| (name, convert::bytes(text))))
}

/// Whether it is a good one shows when the job is opened.
pub fn read(value: &Zval, place: Place<'_>) -> Outcome<Seal> {
    let Some(table) = value.array() else { return Err(place.type_error("?array", value)) };
    let mut seal = Seal::default();
    let mut found = 0;
    for (key, value) in array::entries(table) {
        let slot = match key {
            Key::Text(b"alg") => &mut seal.algorithm,
            Key::Text(b"key") => &mut seal.key,
            Key::Text(b"tag") => &mut seal.tag,
            _ => return Err(place.value_error(&format!("has the unknown key \"{key}\""))),
        };
        let Some(text) = value.zend_str() else {
            let given = type_name(value);
            return Err(place.type_error_saying(&format!("must be an array of strings, {given} given for \"{key}\"")));
        };
        match std::str::from_utf8(text.as_bytes()) {
            Ok(text) if text.len() <= LONGEST => text.clone_into(slot),
            _ => {
                return Err(
                    place.value_error(&format!("must have at most {LONGEST} bytes of valid UTF-8 for \"{key}\""))
                );
            }
        }
        found += 1;
    }
    if found == 3 { Ok(seal) } else { Err(place.value_error("must have the keys \"alg\", \"key\" and \"tag\"")) }
}

/// More than any algorithm needs, and within the room of a record.
const LONGEST: usize = 200;
