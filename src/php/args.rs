//! Scalars with the coercion and the errors of PHP's own functions.

use super::call::Call;
use super::origin::Origin;
use super::sys;
use super::unwind::{Outcome, Unwind, guard};
use ext_php_rs::types::{ZendStr, Zval};
use std::borrow::Cow;

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

/// An int, or `None` where PHP would not make one of the value.
pub fn int(value: &Zval, origin: Origin<'_>) -> Outcome<Option<i64>> {
    match value.long() {
        Some(exact) => Ok(Some(exact)),
        None => coerce(value, origin, 0, sys::zend_parse_arg_long_slow, sys::zend_parse_arg_long_weak),
    }
}

/// A float, or `None`.
pub fn float(value: &Zval, origin: Origin<'_>) -> Outcome<Option<f64>> {
    match value.double() {
        Some(exact) => Ok(Some(exact)),
        None => coerce(value, origin, 0.0, sys::zend_parse_arg_double_slow, sys::zend_parse_arg_double_weak),
    }
}

/// A bool, or `None`.
pub fn bool(value: &Zval, origin: Origin<'_>) -> Outcome<Option<bool>> {
    match value.bool() {
        Some(exact) => Ok(Some(exact)),
        None => coerce(value, origin, false, sys::zend_parse_arg_bool_slow, sys::zend_parse_arg_bool_weak),
    }
}

/// The bytes of a string, or `None`: the value's own, or those of PHP's conversion. Copy them before PHP code runs again, which
/// may change a value in an array by a reference to it.
pub fn bytes<'a>(value: &'a Zval, origin: Origin<'_>) -> Outcome<Option<Cow<'a, [u8]>>> {
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

/// `int|float` as seconds, or `None`.
pub fn number(value: &Zval, origin: Origin<'_>) -> Outcome<Option<f64>> {
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
    let Origin::Argument(number) = origin else { return float(value, origin) };
    let mut copy = value.shallow_clone();
    let mut out: *mut Zval = std::ptr::null_mut();
    // SAFETY: the engine's own parser; `out` points to `copy`.
    let accepted = guard(|| unsafe { sys::zend_parse_arg_number_slow(&raw mut copy, &raw mut out, number) })?;
    Ok(if accepted { copy.double().or_else(|| copy.long().map(|n| n as f64)) } else { None })
}

impl Call {
    fn required<'a, T>(&'a self, number: u32, read: fn(&'a Zval, Origin<'_>) -> Outcome<Option<T>>) -> Outcome<T> {
        let Some(value) = self.arg(number) else { return Err(self.type_error(number, &Zval::new())) };
        match read(value, Origin::Argument(number))? {
            Some(read) => Ok(read),
            None => Err(self.type_error(number, value)),
        }
    }

    fn optional<'a, T>(
        &'a self,
        number: u32,
        nullable: bool,
        read: fn(&'a Zval, Origin<'_>) -> Outcome<Option<T>>,
    ) -> Outcome<Option<T>> {
        match self.arg(number) {
            None => Ok(None),
            Some(value) if nullable && value.is_null() => Ok(None),
            Some(_) => self.required(number, read).map(Some),
        }
    }

    pub fn bytes(&self, number: u32) -> Outcome<Cow<'_, [u8]>> {
        self.required(number, bytes)
    }

    pub fn int(&self, number: u32) -> Outcome<i64> {
        self.required(number, int)
    }

    pub fn number(&self, number: u32) -> Outcome<f64> {
        self.required(number, self::number)
    }

    /// `string $x = …`
    pub fn optional_bytes(&self, number: u32) -> Outcome<Option<Cow<'_, [u8]>>> {
        self.optional(number, false, bytes)
    }

    /// `?string $x = null`
    pub fn nullable_bytes(&self, number: u32) -> Outcome<Option<Cow<'_, [u8]>>> {
        self.optional(number, true, bytes)
    }

    /// `?int $x = null`
    pub fn nullable_int(&self, number: u32) -> Outcome<Option<i64>> {
        self.optional(number, true, int)
    }

    /// `int|float|null $x = …`; `None` when left out, `Some(None)` for null.
    pub fn nullable_number(&self, number: u32) -> Outcome<Option<Option<f64>>> {
        match self.arg(number) {
            None => Ok(None),
            Some(_) => self.optional(number, true, self::number).map(Some),
        }
    }

    /// `int $x = default`
    pub fn int_or(&self, number: u32, default: i64) -> Outcome<i64> {
        Ok(self.optional(number, false, int)?.unwrap_or(default))
    }

    /// `float $x = default`
    pub fn float_or(&self, number: u32, default: f64) -> Outcome<f64> {
        Ok(self.optional(number, false, float)?.unwrap_or(default))
    }

    /// `bool $x = default`
    pub fn bool_or(&self, number: u32, default: bool) -> Outcome<bool> {
        Ok(self.optional(number, false, bool)?.unwrap_or(default))
    }

    /// An int of at least `min`, as a count.
    pub fn at_least(&self, number: u32, value: i64, min: u32) -> Outcome<u64> {
        match u64::try_from(value) {
            Ok(count) if count >= u64::from(min) => Ok(count),
            _ => Err(Origin::Argument(number).value_error(&format!("must be greater than or equal to {min}"))),
        }
    }

    /// `int|float|null $timeout = 0`: `None` waits for ever.
    pub fn timeout(&self, number: u32) -> Outcome<Option<std::time::Duration>> {
        let seconds = match self.nullable_number(number)? {
            None => return Ok(Some(std::time::Duration::ZERO)),
            Some(None) => return Ok(None),
            Some(Some(seconds)) => seconds,
        };
        let ms = crate::core::duration::from_seconds(seconds);
        let ms = super::exceptions::At::at(ms, Origin::Argument(number))?;
        Ok(Some(std::time::Duration::from_millis(ms)))
    }
}

/// Range errors of the integers that the protocol keeps in 32 bits.
pub fn u32_in(value: i64, origin: Origin<'_>, min: u32, max: u32) -> Outcome<u32> {
    match u32::try_from(value) {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        _ => Err::<u32, Unwind>(origin.value_error(&format!("must be between {min} and {max}"))),
    }
}
