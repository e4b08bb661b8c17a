//! `DelayQueue\\NewJob`: a plain value object, which PHP copies, compares, prints and serializes by its properties.

use super::call::Call;
use super::classes::{self, cases, properties};
use super::exceptions::set_property;
use super::fields::Fields;
use super::object::{Properties, plain};
use super::origin::Origin;
use super::unwind::{Outcome, Unwind};
use super::{convert, sys};
use ext_php_rs::types::{ZendHashTable, ZendObject, Zval};

pub fn construct(call: &Call) -> Outcome<Zval> {
    let job = Fields::of_parameters(call);
    job.check()?;
    fill(call.object()?, &job)?;
    Ok(convert::null())
}

/// A copy with the values that are given by name.
pub fn with(this: &ZendObject, call: &Call) -> Outcome<Zval> {
    if call.given() > 0 {
        return Err(Origin::Argument(1).value_error("must be given by its name"));
    }
    let job = Fields::of_object(this, None)?;
    let nothing = ZendHashTable::new();
    let job = job.changed(call.named().unwrap_or(&nothing))?;
    job.check()?;
    let mut out = plain(classes::NEW_JOB.entry())?;
    let Some(object) = out.object_mut() else { return Err(Unwind::Thrown) };
    fill(object, &job)?;
    Ok(out)
}

/// Sets the properties, each of which a readonly object takes once.
fn fill(object: *mut ZendObject, job: &Fields) -> Outcome<()> {
    for name in properties::NewJob::NAMES {
        let mut value = job.get(name).0.map_or_else(|| default(name), Zval::shallow_clone);
        set_property(classes::NEW_JOB.entry(), object, name, &mut value);
        if sys::exception_pending() {
            return Err(Unwind::Thrown);
        }
    }
    Ok(())
}

/// The value of a parameter that is left out.
fn default(name: &str) -> Zval {
    match name {
        "delay" => convert::int(0),
        "headers" => convert::list([]),
        "onDuplicate" => classes::case_object(cases::OnDuplicate::Fail),
        "onExpiry" => classes::case_object(cases::OnExpiry::Bury),
        _ => convert::null(),
    }
}
