//! Times as PHP programs write them: seconds, duration strings, `DateInterval`, `DateTimeInterface`, read by PHP's own date extension.

use super::call::Call;
use super::object::plain;
use super::origin::Origin;
use super::unwind::{Outcome, Unwind, run, throw_error};
use super::{args, convert, sys};
use crate::core::clock;
use crate::core::duration;
use crate::core::job::{Due, TTR_RANGE_MS};
use crate::core::traits::Limit;
use ext_php_rs::ffi::zend_class_entry;
use ext_php_rs::types::{ZendObject, Zval};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DURATION: &str = "DateInterval|string|int|float";
const DUE: &str = "DateInterval|DateTimeInterface|string|int|float";

/// `int|float|string|DateInterval` in milliseconds, rounded up.
pub fn millis(value: &Zval, origin: Origin<'_>) -> Outcome<u64> {
    let value = value.dereference();
    if let Some(object) = value.object()
        && is_interval(object)
    {
        if has_months(object) {
            return Err(origin.value_error(duration::NO_MONTHS));
        }
        let ms = ms_up(interval_us(value)?);
        return match u64::try_from(ms) {
            Ok(ms) if ms <= duration::MAX_MS => Ok(ms),
            Ok(_) => Err(origin.value_error("must be at most 100 years")),
            Err(_) => Err(origin.value_error("must be greater than or equal to 0")),
        };
    }
    scalar(value, origin, DURATION)
}

/// `DelayQueue\\duration()`: seconds.
pub fn duration(call: &Call) -> Outcome<Zval> {
    Ok(convert::float(convert::seconds(call.required(1, millis)?)))
}

/// `int|float|string|DateInterval|DateTimeInterface`: when a job falls due.
pub fn due(value: &Zval, origin: Origin<'_>) -> Outcome<Due> {
    Ok(match time(value, origin)? {
        Time::AtUs(at_us) => Due::AtUs(at_us),
        Time::Ms(ms) => Due::InMs(ms),
    })
}

/// A moment, or a time after a job first fell due, which is longer than 0.
pub fn limit(value: &Zval, origin: Origin<'_>) -> Outcome<Limit> {
    match time(value, origin)? {
        Time::AtUs(at_us) => Ok(Limit::AtUs(at_us)),
        Time::Ms(0) => Err(origin.value_error("must be greater than 0")),
        Time::Ms(ms) => Ok(Limit::AfterDueMs(ms)),
    }
}

/// `DateTimeInterface`, in microseconds.
pub fn moment(value: &Zval, origin: Origin<'_>) -> Outcome<i64> {
    match value.object().filter(|object| is_moment(object)) {
        Some(object) => moment_us(object),
        None => Err(origin.wrong_type("DateTimeInterface", value)),
    }
}

/// A moment or a duration.
enum Time {
    AtUs(i64),
    Ms(u64),
}

fn time(value: &Zval, origin: Origin<'_>) -> Outcome<Time> {
    let value = value.dereference();
    if let Some(object) = value.object() {
        if is_moment(object) {
            let at_us = moment_us(object)?;
            let limit_ms = i64::try_from(duration::MAX_MS).unwrap_or(i64::MAX);
            if ms_up(at_us).saturating_sub(now_ms()) > limit_ms {
                return Err(origin.value_error("must be at most 100 years"));
            }
            return Ok(Time::AtUs(at_us));
        }
        if is_interval(object) {
            return millis(value, origin).map(Time::Ms);
        }
    }
    let instead =
        |time: &str| format!("for a moment give a DateTimeInterface, such as new DateTimeImmutable('@{time}')");
    refuse_unix_time(value, origin, instead)?;
    scalar(value, origin, DUE).map(Time::Ms)
}

/// A duration of some length.
pub fn longer_than_0(value: &Zval, origin: Origin<'_>) -> Outcome<u64> {
    match span(value, origin)? {
        0 => Err(origin.value_error("must be greater than 0")),
        ms => Ok(ms),
    }
}

/// A duration where a Unix time might be given by mistake, and no moment can be.
pub fn span(value: &Zval, origin: Origin<'_>) -> Outcome<u64> {
    refuse_unix_time(value.dereference(), origin, |time| format!("for a moment give {time} - time()"))?;
    millis(value, origin)
}

/// Seconds that are a Unix time of 2001 to 2065 were taken for a delay, which would be one of 31 to 95 years.
fn refuse_unix_time(value: &Zval, origin: Origin<'_>, instead: impl Fn(&str) -> String) -> Outcome<()> {
    const UNIX_TIMES: std::ops::Range<f64> = 1e9..3e9;
    let text = match (value.long(), value.double(), value.zend_str()) {
        (Some(seconds), ..) => seconds.to_string(),
        (_, Some(seconds), _) => seconds.to_string(),
        (_, _, Some(text)) => String::from_utf8_lossy(text.as_bytes()).trim().to_owned(),
        _ => return Ok(()),
    };
    if !text.parse().is_ok_and(|seconds: f64| UNIX_TIMES.contains(&seconds)) {
        return Ok(());
    }
    Err(origin.value_error(&format!("must be a delay, and {text} looks like a Unix time: {}", instead(&text))))
}

/// A lease length: 0.1 s to 30 days.
pub fn ttr(value: &Zval, origin: Origin<'_>) -> Outcome<u64> {
    let ms = millis(value, origin)?;
    if TTR_RANGE_MS.contains(&ms) { Ok(ms) } else { Err(origin.value_error("must be between 0.1 seconds and 30 days")) }
}

fn scalar(value: &Zval, origin: Origin<'_>, expected: &str) -> Outcome<u64> {
    let ms = if let Some(seconds) = value.long() {
        duration::from_seconds(seconds as f64)
    } else if let Some(seconds) = value.double() {
        duration::from_seconds(seconds)
    } else if let Some(flag) = value.bool().filter(|_| !origin.is_strict()) {
        // As PHP converts a bool, and below a Stringable, where int|float|string is declared.
        duration::from_seconds(f64::from(u8::from(flag)))
    } else if (value.is_string() || value.is_object())
        && let Some(text) = args::bytes_if_any(value, origin)?
    {
        duration::parse(&String::from_utf8_lossy(&text))
    } else {
        return Err(origin.wrong_type(expected, value));
    };
    ms.map_err(|error| origin.throw(error))
}

/// Unix seconds as microseconds. `round` decides between two of them.
pub fn unix_us(seconds: f64, round: fn(f64) -> f64, origin: Origin<'_>) -> Outcome<i64> {
    const LAST_US: f64 = 253_402_300_799_999_999.0; // the end of the year 9999
    if !seconds.is_finite() {
        return Err(origin.value_error("must be finite"));
    }
    let us = seconds * 1_000_000.0;
    // A float of today is exact to a quarter of a microsecond: forgive its error before rounding.
    let us = if (us - us.round()).abs() < 0.3 { us.round() } else { round(us) };
    if us.abs() > LAST_US {
        return Err(origin.value_error("must lie before the year 10000"));
    }
    Ok(us as i64)
}

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
    sys::is_a(object, "DateInterval")
}

pub fn is_moment(object: &ZendObject) -> bool {
    sys::is_a(object, "DateTimeInterface")
}

/// The moment of a `DateTimeInterface` in microseconds.
pub fn moment_us(object: &ZendObject) -> Outcome<i64> {
    let base = if sys::is_a(object, "DateTimeImmutable") { "DateTimeImmutable" } else { "DateTime" };
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
    let start = plain(sys::find_class(class))?;
    let Some(object) = start.object() else { return Err(Unwind::Thrown) };
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

/// [`now`] in microseconds.
pub fn now_us() -> i64 {
    i64::try_from(now().as_micros()).unwrap_or(i64::MAX)
}
