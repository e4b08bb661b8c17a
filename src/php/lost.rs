//! Objects of which `json_encode()` keeps nothing and says nothing: it prints `{}` for a Closure, a Generator, a PDO.

use super::array::{self, Key};
use super::call::Outcome;
use super::exceptions::throw_payload;
use super::place::{Place, type_name};
use super::sys;
use ext_php_rs::types::{ZendObject, Zval};

/// A value that was found: its class, and the steps to it, the last one first.
struct Found {
    class: String,
    steps: Vec<String>,
}

/// Refuses a payload that has such an object, and says where. The payload has been encoded, so it ends.
pub fn refuse(payload: &Zval, place: Place<'_>) -> Outcome<()> {
    let Some(Found { class, steps }) = find(payload.dereference()) else { return Ok(()) };
    let path: String = steps.into_iter().rev().collect();
    let words = match path.is_empty() {
        true => format!("A {class} cannot be a payload"),
        false => format!("payload{path} is a {class}, of which JSON keeps nothing"),
    };
    Err(throw_payload(&format!("{}{words}", place.context()), 0))
}

fn find(value: &Zval) -> Option<Found> {
    if let Some(table) = value.array() {
        return array::entries(table).find_map(|(key, value)| {
            find(value).map(|found| match key {
                Key::Int(_) => found.below(format!("[{key}]")),
                Key::Text(_) => found.below(format!("['{key}']")),
            })
        });
    }
    let object = value.object()?;
    if is_a(object, "JsonSerializable") {
        return None;
    }
    if sys::keeps_nothing(object) {
        return Some(Found { class: type_name(value), steps: Vec::new() });
    }
    array::entries(object.get_properties().ok()?).find_map(|(key, value)| match key {
        // A private or protected property, which JSON leaves out.
        Key::Text([0, ..]) => None,
        _ => find(sys::pointed_at(value)).map(|found| found.below(format!("->{key}"))),
    })
}

impl Found {
    fn below(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }
}

fn is_a(object: &ZendObject, class: &str) -> bool {
    // SAFETY: classes of the engine live as long as the process.
    unsafe { sys::find_class(class).as_ref() }.is_some_and(|ce| object.instance_of(ce))
}
