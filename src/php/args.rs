//! One reader for each kind of value that methods take, in arguments, in items of jobs and in options alike, with the coercion and the errors of
//! PHP's own functions.

use super::classes::Case;
use super::classes::cases;
use super::object::{self, Inside};
use super::origin::Origin;
use super::unwind::{Outcome, guard};
use super::{classes, sys};
use crate::core::duration;
use crate::core::groups::Group;
use crate::core::job::{JobId, State};
use crate::core::queue::check_queue_name;
use ext_php_rs::types::{ZendObject, ZendStr, Zval};
use std::borrow::Cow;
use std::time::Duration;

/// The number the engine is told where a value is no argument: it then keeps silent about deprecations.
const NO_ARGUMENT: u32 = u32::MAX;

/// Coerces `value`: `slow` honours `strict_types` and belongs to arguments, `weak` to values in arrays.
fn coerce<T: Copy>(
    value: &Zval,
    origin: Origin<'_>,
    zero: T,
    slow: unsafe extern "C" fn(*const Zval, *mut T, u32) -> bool,
    weak: unsafe extern "C" fn(*const Zval, *mut T, u32) -> bool,
) -> Outcome<Option<T>> {
    if value.is_null() {
        return Ok(None);
    }
    let mut out = zero;
    // Deprecation notices may reach an error handler of the user's.
    // SAFETY: the engine's own parsers, given a live value and room for the result.
    let accepted = guard(|| unsafe {
        match origin {
            Origin::Argument(number) => slow(value, &raw mut out, number),
            _ => weak(value, &raw mut out, NO_ARGUMENT),
        }
    })?;
    Ok(accepted.then_some(out))
}

pub fn int(value: &Zval, origin: Origin<'_>) -> Outcome<i64> {
    let read = match value.long() {
        Some(exact) => Some(exact),
        None => coerce(value, origin, 0, sys::zend_parse_arg_long_slow, sys::zend_parse_arg_long_weak)?,
    };
    read.ok_or_else(|| origin.wrong_type("int", value))
}

fn float_if_any(value: &Zval, origin: Origin<'_>) -> Outcome<Option<f64>> {
    match value.double() {
        Some(exact) => Ok(Some(exact)),
        None => coerce(value, origin, 0.0, sys::zend_parse_arg_double_slow, sys::zend_parse_arg_double_weak),
    }
}

pub fn float(value: &Zval, origin: Origin<'_>) -> Outcome<f64> {
    float_if_any(value, origin)?.ok_or_else(|| origin.wrong_type("float", value))
}

pub fn bool(value: &Zval, origin: Origin<'_>) -> Outcome<bool> {
    let read = match value.bool() {
        Some(exact) => Some(exact),
        None => coerce(value, origin, false, sys::zend_parse_arg_bool_slow, sys::zend_parse_arg_bool_weak)?,
    };
    read.ok_or_else(|| origin.wrong_type("bool", value))
}

/// See [`bytes_if_any`].
pub fn bytes<'a>(value: &'a Zval, origin: Origin<'_>) -> Outcome<Cow<'a, [u8]>> {
    bytes_if_any(value, origin)?.ok_or_else(|| origin.wrong_type("string", value))
}

/// The bytes of a string, or `None` where PHP would not make one of the value: its own, or those of PHP's conversion. Copy them before PHP code runs again, which
/// may change a value in an array by a reference to it.
pub fn bytes_if_any<'a>(value: &'a Zval, origin: Origin<'_>) -> Outcome<Option<Cow<'a, [u8]>>> {
    if let Some(text) = value.zend_str() {
        return Ok(Some(Cow::Borrowed(text.as_bytes())));
    }
    if value.is_null() {
        return Ok(None);
    }
    // The parser writes the string into the value it is given: into a copy, unless the slot is ours.
    let mut copy = value.shallow_clone();
    let mut out: *mut ZendStr = std::ptr::null_mut();
    // SAFETY: as in `coerce`; `out` points into `copy`, which lives until the bytes are copied.
    let accepted = guard(|| unsafe {
        match origin {
            Origin::Argument(number) => sys::zend_parse_arg_str_slow(&raw mut copy, &raw mut out, number),
            _ => sys::zend_parse_arg_str_weak(&raw mut copy, &raw mut out, NO_ARGUMENT),
        }
    })?;
    if !accepted {
        return Ok(None);
    }
    // SAFETY: as above.
    Ok(unsafe { out.as_ref() }.map(|text| Cow::Owned(text.as_bytes().to_vec())))
}

/// `int|float`
pub fn number(value: &Zval, origin: Origin<'_>) -> Outcome<f64> {
    number_if_any(value, origin)?.ok_or_else(|| origin.wrong_type("int|float", value))
}

fn number_if_any(value: &Zval, origin: Origin<'_>) -> Outcome<Option<f64>> {
    if let Some(exact) = value.double() {
        return Ok(Some(exact));
    }
    if let Some(exact) = value.long() {
        return Ok(Some(exact as f64));
    }
    if value.is_null() {
        return Ok(None);
    }
    if origin.is_strict() {
        return Ok(None);
    }
    let Origin::Argument(number) = origin else { return float_if_any(value, origin) };
    let mut copy = value.shallow_clone();
    let mut out: *mut Zval = std::ptr::null_mut();
    // SAFETY: the engine's own parser; `out` points to `copy`.
    let accepted = guard(|| unsafe { sys::zend_parse_arg_number_slow(&raw mut copy, &raw mut out, number) })?;
    Ok(if accepted { copy.double().or_else(|| copy.long().map(|n| n as f64)) } else { None })
}

/// An int within these bounds, which the protocol keeps in 32 bits.
pub fn u32_in(min: u32, max: u32) -> impl Fn(&Zval, Origin<'_>) -> Outcome<u32> {
    move |value, origin| match u32::try_from(int(value, origin)?) {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(origin.value_error(&format!("must be between {min} and {max}"))),
    }
}

/// A count.
pub fn at_least(min: u32) -> impl Fn(&Zval, Origin<'_>) -> Outcome<u64> {
    move |value, origin| match u64::try_from(int(value, origin)?) {
        Ok(count) if count >= u64::from(min) => Ok(count),
        _ => Err(origin.value_error(&format!("must be greater than or equal to {min}"))),
    }
}

pub fn priority(value: &Zval, origin: Origin<'_>) -> Outcome<u32> {
    u32_in(0, u32::MAX)(value, origin)
}

/// 0: no limit.
pub fn max_attempts(value: &Zval, origin: Origin<'_>) -> Outcome<u32> {
    u32_in(0, u32::MAX)(value, origin)
}

/// The id of a job, or the name of a receipt.
pub fn id(value: &Zval, origin: Origin<'_>) -> Outcome<JobId> {
    JobId::new(bytes(value, origin)?).map_err(|error| origin.throw(error))
}

pub fn group(value: &Zval, origin: Origin<'_>) -> Outcome<Group> {
    Group::new(bytes(value, origin)?).map_err(|error| origin.throw(error))
}

pub fn queue_name(value: &Zval, origin: Origin<'_>) -> Outcome<String> {
    check_queue_name(&bytes(value, origin)?).map_err(|error| origin.throw(error))
}

/// The case of an enum.
pub fn case<C: Case>(value: &Zval, origin: Origin<'_>) -> Outcome<C> {
    classes::case(value).ok_or_else(|| origin.wrong_type(C::class().name, value))
}

pub fn state(value: &Zval, origin: Origin<'_>) -> Outcome<State> {
    Ok(match case(value, origin)? {
        cases::State::Delayed => State::Delayed,
        cases::State::Ready => State::Ready,
        cases::State::Reserved => State::Reserved,
        cases::State::Buried => State::Buried,
    })
}

/// The value inside an object of ours.
pub fn inside<'a, T: Inside>(value: &'a Zval, origin: Origin<'_>) -> Outcome<&'a T> {
    object::inside(value).ok_or_else(|| origin.wrong_type("object", value))
}

/// An object that has such a value inside.
pub fn object_with<'a, T: Inside>(value: &'a Zval, origin: Origin<'_>) -> Outcome<&'a ZendObject> {
    inside::<T>(value, origin)?;
    value.object().ok_or_else(|| origin.wrong_type("object", value))
}

/// `int|float` seconds, in milliseconds.
pub fn seconds(value: &Zval, origin: Origin<'_>) -> Outcome<u64> {
    duration::from_seconds(number(value, origin)?).map_err(|error| origin.throw(error))
}

/// `int|float|null`: for how long to wait; `None` for ever.
pub fn timeout(value: &Zval, origin: Origin<'_>) -> Outcome<Option<Duration>> {
    if value.is_null() {
        return Ok(None);
    }
    Ok(Some(Duration::from_millis(seconds(value, origin)?)))
}
