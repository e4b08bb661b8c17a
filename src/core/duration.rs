//! Durations as people write them, in whole milliseconds, rounded up.

use super::error::{Error, Result};
use jiff::{Span, SpanRelativeTo, Unit};

/// The longest duration accepted: 100 years of 365.25 days.
pub const MAX_MS: u64 = 3_155_760_000_000;

/// The error of a duration that has some.
pub const NO_MONTHS: &str = "must have no months or years, as their lengths differ: give days";

/// Converts seconds to milliseconds, rounded up, so that nothing happens before its moment.
///
/// # Errors
/// [`Error::Invalid`] for negative, NaN, infinite or > 100-year values: "must be …", to follow an argument name.
pub fn from_seconds(seconds: f64) -> Result<u64> {
    if !seconds.is_finite() {
        return Err(Error::Invalid("must be finite".into()));
    }
    if seconds < 0.0 {
        return Err(Error::Invalid("must be greater than or equal to 0".into()));
    }
    // 1.1 * 1000.0 is 1100.0000000000002: forgive the float's own error, which grows with the number, before rounding up.
    let ms = seconds * 1000.0;
    let ms = if (ms - ms.round()).abs() < ms.mul_add(4.0 * f64::EPSILON, 1e-6) { ms.round() } else { ms.ceil() };
    if ms > MAX_MS as f64 {
        return Err(Error::Invalid("must be at most 100 years".into()));
    }
    Ok(ms as u64)
}

/// Parses `15`, `1.5`, `500ms`, `15m`, `2h30m`, `1d` or ISO 8601 `PT15M`.
///
/// # Errors
/// [`Error::Invalid`] when the text is no duration, or out of range. Months and years have no fixed length: refused.
pub fn parse(text: &str) -> Result<u64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return from_seconds(seconds);
    }
    let unreadable = || {
        Error::Invalid(
            "must be a number of seconds or a duration such as \"500ms\", \"15m\", \"2h30m\", \"1d\" or \"PT15M\""
                .into(),
        )
    };
    let span: Span = text.parse().map_err(|_| unreadable())?;
    if span.get_years() != 0 || span.get_months() != 0 {
        return Err(Error::Invalid(NO_MONTHS.into()));
    }
    let seconds = span.total((Unit::Second, SpanRelativeTo::days_are_24_hours())).map_err(|_| unreadable())?;
    from_seconds(seconds)
}

/// A duration as [`parse`] reads it, in the largest unit that it is whole in.
#[must_use]
pub fn text(ms: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    match units.into_iter().find(|(length, _)| ms > 0 && ms.is_multiple_of(*length)) {
        Some((length, unit)) => format!("{}{unit}", ms / length),
        None => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_documented_form() {
        for (text, ms) in [
            ("0", 0),
            ("15", 15_000),
            ("1.5", 1500),
            (" 2 ", 2000),
            ("500ms", 500),
            ("15m", 900_000),
            ("2h30m", 9_000_000),
            ("1d", 86_400_000),
            ("PT15M", 900_000),
            ("P1D", 86_400_000),
            ("1.1", 1100),
            ("0.0001", 1),
            ("1e3", 1_000_000),
            ("1w", 604_800_000),
            ("15 minutes", 900_000),
            ("1 hour 30 minutes", 5_400_000),
            ("1.5h", 5_400_000),
            ("1,5h", 5_400_000),
            ("1us", 1),
            ("P1W", 604_800_000),
        ] {
            assert_eq!(parse(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for (ms, printed) in [
            (0, "0ms"),
            (1, "1ms"),
            (1_431_469_937_939, "1431469937939ms"),
            (90_000, "90s"),
            (900_000, "15m"),
            (7_200_000, "2h"),
            (172_800_000, "2d"),
        ] {
            assert_eq!(text(ms), printed);
            assert_eq!(parse(printed), Ok(ms));
        }
    }

    #[test]
    fn refuses_text_that_is_no_duration() {
        for text in ["", "abc", "-1", "-5s", "NaN", "INF", "1e20", "P1M", "P1Y", "1mo", "0x10", "5 apples"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["P1M", "P1Y", "P1Y2DT3H", "1mo", "2 years"] {
            assert_eq!(parse(text), Err(Error::Invalid(NO_MONTHS.into())), "{text}");
        }
    }
}
