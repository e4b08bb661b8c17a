//! Times as PHP programs write them: seconds, duration strings, `DateInterval`, `DateTimeInterface`.

use super::call::Outcome;
use super::date;
use super::exceptions::At;
use super::place::Place;
use crate::core::duration;
use crate::core::job::{Due, TTR_RANGE_MS};
use crate::core::traits::Limit;
use ext_php_rs::types::Zval;

const DURATION: &str = "DateInterval|string|int|float";
const DUE: &str = "DateInterval|DateTimeInterface|string|int|float";

/// `int|float|string|DateInterval` in milliseconds, rounded up.
pub fn millis(value: &Zval, place: Place<'_>) -> Outcome<u64> {
    let value = value.dereference();
    if let Some(object) = value.object()
        && date::is_interval(object)
    {
        if date::has_months(object) {
            return Err(place.value_error(duration::NO_MONTHS));
        }
        let ms = date::ms_up(date::interval_us(value)?);
        return match u64::try_from(ms) {
            Ok(ms) if ms <= duration::MAX_MS => Ok(ms),
            Ok(_) => Err(place.value_error("must be at most 100 years")),
            Err(_) => Err(place.value_error("must be greater than or equal to 0")),
        };
    }
    scalar(value, place, DURATION)
}

/// `int|float|string|DateInterval|DateTimeInterface`: when a job falls due.
pub fn due(value: &Zval, place: Place<'_>) -> Outcome<Due> {
    Ok(match time(value, place)? {
        Time::AtUs(at_us) => Due::AtUs(at_us),
        Time::Ms(ms) => Due::InMs(ms),
    })
}

/// A moment, or a time after a job first fell due, which is longer than 0.
pub fn limit(value: &Zval, place: Place<'_>) -> Outcome<Limit> {
    match time(value, place)? {
        Time::AtUs(at_us) => Ok(Limit::AtUs(at_us)),
        Time::Ms(0) => Err(place.value_error("must be greater than 0")),
        Time::Ms(ms) => Ok(Limit::AfterDueMs(ms)),
    }
}

/// A moment or a duration.
enum Time {
    AtUs(i64),
    Ms(u64),
}

fn time(value: &Zval, place: Place<'_>) -> Outcome<Time> {
    let value = value.dereference();
    if let Some(object) = value.object() {
        if date::is_moment(object) {
            let at_us = date::moment_us(object)?;
            let limit_ms = i64::try_from(duration::MAX_MS).unwrap_or(i64::MAX);
            if date::ms_up(at_us).saturating_sub(date::now_ms()) > limit_ms {
                return Err(place.value_error("must be at most 100 years"));
            }
            return Ok(Time::AtUs(at_us));
        }
        if date::is_interval(object) {
            return millis(value, place).map(Time::Ms);
        }
    }
    let instead =
        |time: &str| format!("for a moment give a DateTimeInterface, such as new DateTimeImmutable('@{time}')");
    refuse_unix_time(value, place, instead)?;
    scalar(value, place, DUE).map(Time::Ms)
}

/// A duration of some length.
pub fn longer_than_0(value: &Zval, place: Place<'_>) -> Outcome<u64> {
    match span(value, place)? {
        0 => Err(place.value_error("must be greater than 0")),
        ms => Ok(ms),
    }
}

/// A duration where a Unix time might be given by mistake, and no moment can be.
pub fn span(value: &Zval, place: Place<'_>) -> Outcome<u64> {
    refuse_unix_time(value.dereference(), place, |time| format!("for a moment give {time} - time()"))?;
    millis(value, place)
}

/// Seconds that are a Unix time of 2001 to 2065 were taken for a delay, which would be one of 31 to 95 years.
fn refuse_unix_time(value: &Zval, place: Place<'_>, instead: impl Fn(&str) -> String) -> Outcome<()> {
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
    Err(place.value_error(&format!("must be a delay, and {text} looks like a Unix time: {}", instead(&text))))
}

/// A lease length: 0.1 s to 30 days.
pub fn ttr(value: &Zval, place: Place<'_>) -> Outcome<u64> {
    let ms = millis(value, place)?;
    if TTR_RANGE_MS.contains(&ms) { Ok(ms) } else { Err(place.value_error("must be between 0.1 seconds and 30 days")) }
}

fn scalar(value: &Zval, place: Place<'_>, expected: &str) -> Outcome<u64> {
    if let Some(seconds) = value.long() {
        return duration::from_seconds(seconds as f64).at(place);
    }
    if let Some(seconds) = value.double() {
        return duration::from_seconds(seconds).at(place);
    }
    // As PHP converts a bool or a Stringable where int|float|string is declared.
    let text = match value.bool() {
        Some(_) if place.is_strict() => None,
        Some(flag) => return duration::from_seconds(f64::from(u8::from(flag))).at(place),
        None if value.is_string() || value.is_object() => super::args::bytes(value, place)?,
        None => None,
    };
    match text {
        Some(text) => duration::parse(&String::from_utf8_lossy(&text)).at(place),
        None => Err(place.wrong_type(expected, value)),
    }
}
