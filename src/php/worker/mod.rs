//! `consume()`, `drain()`, `on()`.

pub mod alarm;
mod handle;
mod run;
mod settle;
pub mod signals;
mod state;
mod wait;

use super::args;
use super::call::Call;
use super::callable;
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::At;
use super::origin::Origin;
use super::times;
use crate::core::duration;
use crate::php::classes;
use crate::php::unwind::Outcome;
use ext_php_rs::types::Zval;
use state::{ConsumeOptions, Loop};
use std::time::Duration;

pub fn consume(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let handler = callable::argument(call, 1)?;
    let default = ConsumeOptions::default();
    let idle_timeout = match call.nullable_number(2)? {
        None => default.idle_timeout,
        Some(seconds) => {
            let ms = duration::from_seconds(seconds.unwrap_or(0.0)).at(Origin::Argument(2))?;
            if ms == 0 {
                return Err(Origin::Argument(2).value_error("must be greater than 0"));
            }
            Duration::from_millis(ms)
        }
    };
    let length = |number: u32, default: Duration| match call.arg(number) {
        None => Ok(default),
        Some(value) => times::millis(value, Origin::Argument(number)).map(Duration::from_millis),
    };
    let prefetch = call.at_least(7, call.int_or(7, 1)?, 1)?;
    let options = ConsumeOptions {
        idle_timeout,
        max_jobs: call.at_least(3, call.int_or(3, 0)?, 0)?,
        max_time: length(4, default.max_time)?,
        memory_limit: memory_limit(call, 5)?,
        stop_when_empty: call.bool_or(6, false)?,
        prefetch: usize::try_from(args::u32_in(
            i64::try_from(prefetch).unwrap_or(i64::MAX),
            Origin::Argument(7),
            1,
            500,
        )?)
        .unwrap_or(1),
        timeout: length(8, default.timeout)?,
        grace: length(9, default.grace)?,
        heartbeat: call.bool_or(10, true)?,
        throw_on_cancel: call.bool_or(11, false)?,
        shutdown: length(12, default.shutdown)?,
    };
    let object = call.this_value()?;
    let ended = Loop::new(this, &object, handler, options).run()?;
    Ok(classes::case_object(ended.stop))
}

pub fn drain(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let handler = callable::argument(call, 1)?;
    let max_jobs = call.at_least(2, call.int_or(2, 0)?, 0)?;
    let options = ConsumeOptions { max_jobs, stop_when_empty: true, ..ConsumeOptions::default() };
    let object = call.this_value()?;
    Ok(convert::int(Loop::new(this, &object, handler, options).run()?.jobs))
}

pub fn on(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let null = Zval::new();
    let value = call.arg(1).unwrap_or(&null);
    let Some(event) = classes::case(value) else { return Err(call.type_error(1, value)) };
    let listener = callable::argument(call, 2)?;
    this.listeners.add(event, listener);
    call.this_value()
}

/// Bytes, as a number or in the words of php.ini: `128M`.
fn memory_limit(call: &Call, number: u32) -> Outcome<u64> {
    let origin = Origin::Argument(number);
    let Some(value) = call.arg(number) else { return Ok(0) };
    if let Some(text) = value.str() {
        let (digits, unit) = match text.trim().split_at_checked(text.trim().len().saturating_sub(1)) {
            Some((digits, unit)) if unit.chars().all(|c| c.is_ascii_alphabetic()) => (digits, unit),
            _ => (text.trim(), ""),
        };
        let factor = match unit.to_ascii_uppercase().as_str() {
            "" => Some(1),
            "K" => Some(1 << 10),
            "M" => Some(1 << 20),
            "G" => Some(1 << 30),
            _ => None,
        };
        let bytes = digits
            .trim()
            .parse::<u64>()
            .ok()
            .zip(factor)
            .and_then(|(number, factor): (u64, u64)| number.checked_mul(factor));
        return bytes.ok_or_else(|| origin.value_error("must be a number of bytes, such as 134217728 or \"128M\""));
    }
    call.at_least(number, call.int(number)?, 0)
}
