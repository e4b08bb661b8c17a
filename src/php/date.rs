//! PHP's dates as Unix milliseconds, through PHP's own date extension.

use super::call::{Fault, Outcome, guard, run};
use super::convert;
use super::exceptions::throw_error;
use super::sys;
use crate::core::clock;
use ext_php_rs::ffi::zend_class_entry;
use ext_php_rs::types::{ZendObject, Zval};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// This process' view of the time: the machine's clock, moved as `Testing` says.
pub fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let offset = clock::offset_ms();
    let moved = Duration::from_millis(offset.unsigned_abs());
    if offset < 0 { now.saturating_sub(moved) } else { now.saturating_add(moved) }
}

/// [`now`] in milliseconds.
pub fn now_ms() -> i64 {
    i64::try_from(now().as_millis()).unwrap_or(i64::MAX)
}

pub fn is_interval(object: &ZendObject) -> bool {
    instance_of(object, "DateInterval")
}

pub fn is_moment(object: &ZendObject) -> bool {
    instance_of(object, "DateTimeInterface")
}

fn instance_of(object: &ZendObject, class: &str) -> bool {
    // SAFETY: the date extension is part of PHP; its classes live as long as the process.
    unsafe { sys::find_class(class).as_ref() }.is_some_and(|ce| object.instance_of(ce))
}

/// The moment of a `DateTimeInterface` in microseconds.
pub fn moment_us(object: &ZendObject) -> Outcome<i64> {
    let base = if instance_of(object, "DateTimeImmutable") { "DateTimeImmutable" } else { "DateTime" };
    // A subclass may override format(): ask the base class.
    let text = call_method(base, "format", object, [convert::bytes("U u")])?;
    let text = text.str().unwrap_or_default();
    let parsed = text.split_once(' ').and_then(|(s, us)| Some((s.parse::<i64>().ok()?, us.parse::<i64>().ok()?)));
    match parsed {
        Some((seconds, micros)) => Ok(seconds.saturating_mul(1_000_000).saturating_add(micros)),
        None => Err(throw_error("The date object could not be read")),
    }
}

/// Whether a `DateInterval` has calendar months or years, as `'P1M'` has.
pub fn has_months(interval: &ZendObject) -> bool {
    ["y", "m"].iter().any(|name| interval.get_property::<i64>(name).is_ok_and(|count| count != 0))
}

/// The length of a `DateInterval` that begins now, in microseconds.
pub fn interval_us(interval: &Zval) -> Outcome<i64> {
    let now = now();
    let text = format!("@{}.{:06}", now.as_secs(), now.subsec_micros());
    let class = "DateTimeImmutable";
    // SAFETY: as in `instance_of`.
    let Some(ce) = (unsafe { sys::find_class(class).as_ref() }) else {
        return Err(throw_error("The date extension is missing"));
    };
    let mut start = Zval::new();
    let mut fresh = guard(|| ce.new())?;
    start.set_object(&mut fresh);
    drop(fresh);
    let Some(object) = start.object() else { return Err(Fault::Thrown) };
    call_method(class, "__construct", object, [convert::bytes(text)])?;
    let end = call_method(class, "add", object, [interval.shallow_clone()])?;
    let Some(end) = end.object() else { return Err(throw_error("The interval could not be added to the present")) };
    let began = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
    Ok(moment_us(end)?.saturating_sub(began))
}

/// Rounds microseconds up to milliseconds: nothing may happen before its moment.
pub fn ms_up(us: i64) -> i64 {
    us.div_euclid(1000) + i64::from(us.rem_euclid(1000) != 0)
}

/// Calls a method of the class itself, even where a subclass overrides it.
fn call_method<const N: usize>(class: &str, method: &str, object: &ZendObject, args: [Zval; N]) -> Outcome<Zval> {
    let ce: *mut zend_class_entry = sys::find_class(class);
    if ce.is_null() {
        return Err(throw_error("The date extension is missing"));
    }
    // SAFETY: the class was found a moment ago.
    let function = sys::find_function(unsafe { &raw const (*ce).function_table }, method);
    if function.is_null() {
        return Err(throw_error("The date extension is missing"));
    }
    let mut args = args;
    run(function, Some(object), &mut args)
}
