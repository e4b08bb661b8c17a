//! `DelayQueue\Backoff`.

use super::call::Call;
use super::classes::{self, properties};
use super::object::{Handlers, Inside, inside, make};
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, convert, times};
use crate::core::backoff::{Backoff as Core, MAX_STAGES};
use ext_php_rs::types::Zval;
use std::sync::OnceLock;

/// The fields of a `DelayQueue\Backoff` object.
pub struct Backoff(pub Core);

impl Inside for Backoff {
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
    fn equals(&self, other: &Self) -> bool {
        self.0 == other.0
    }
    fn debug_info(&self) -> Option<Zval> {
        Some(convert::map([("schedule", convert::bytes(self.0.to_string()))]))
    }
}

/// A `?Backoff` argument or option.
pub fn argument(value: &Zval, origin: Origin<'_>) -> Outcome<Core> {
    match inside::<Backoff>(value) {
        Some(backoff) => Ok(backoff.0.clone()),
        None => Err(origin.wrong_type(classes::BACKOFF.name, value)),
    }
}

pub fn object(backoff: Core) -> Outcome<Zval> {
    make(Backoff(backoff), properties::Backoff {})
}

fn duration(call: &Call, number: u32, default_ms: u64) -> Outcome<u64> {
    Ok(call.optional(number, times::millis)?.unwrap_or(default_ms))
}

pub fn fixed(call: &Call) -> Outcome<Zval> {
    object(Core::Fixed { delay_ms: duration(call, 1, 0)? })
}

pub fn linear(call: &Call) -> Outcome<Zval> {
    object(Core::Linear { step_ms: duration(call, 1, 0)?, base_ms: duration(call, 2, 0)? })
}

pub fn stages(call: &Call) -> Outcome<Zval> {
    let origin = Origin::Argument(1);
    let Some(given) = call.arg(1) else { return Err(origin.value_error("must be given")) };
    let mut delays_ms = Vec::new();
    if let Some(table) = given.array() {
        for (key, value) in convert::entries(table) {
            delays_ms.push(times::millis(value, Origin::Delay(&key))?);
        }
    } else {
        return object(
            Core::parse(&format!("stages {}", String::from_utf8_lossy(&args::bytes(given, origin)?)))
                .map_err(|error| origin.throw(error))?,
        );
    }
    if delays_ms.is_empty() {
        return Err(origin.value_error("must not be empty"));
    }
    if delays_ms.len() > MAX_STAGES {
        return Err(origin.value_error(&format!("must have at most {MAX_STAGES} delays")));
    }
    object(Core::Stages { delays_ms })
}

pub fn exponential(call: &Call) -> Outcome<Zval> {
    let base_ms = duration(call, 1, 0)?;
    let factor = call.optional(2, args::float)?.unwrap_or(2.0);
    let max_ms = duration(call, 3, 3_600_000)?;
    let jitter = call.optional(4, args::float)?.unwrap_or(0.1);
    if !factor.is_finite() || factor < 1.0 {
        return Err(Origin::Argument(2).value_error("must be finite and greater than or equal to 1"));
    }
    if !(0.0..=1.0).contains(&jitter) {
        return Err(Origin::Argument(4).value_error("must be between 0 and 1"));
    }
    object(Core::Exponential { base_ms, factor, max_ms, jitter })
}

pub fn delay_after(backoff: &Backoff, call: &Call) -> Outcome<Zval> {
    let attempt = call.required(1, args::u32_in(1, u32::MAX))?;
    Ok(convert::float(convert::seconds(backoff.0.delay_after_ms(attempt))))
}

pub fn parse(call: &Call) -> Outcome<Zval> {
    let text = call.required(1, args::bytes)?;
    object(Core::parse(&String::from_utf8_lossy(&text)).map_err(|error| Origin::Argument(1).throw(error))?)
}

pub fn to_string(backoff: &Backoff) -> Outcome<Zval> {
    Ok(convert::bytes(backoff.0.to_string()))
}
