//! `consume()`, `drain()`, `on()`.

pub mod alarm;
pub mod engine;
mod nudge;
mod run;
pub mod runs;
mod settle;
pub mod signals;
pub mod signs;
mod state;
pub mod surroundings;
mod timer;
mod wait;

use super::call::Call;
use super::delay_queue::DelayQueue;
use super::handler::handler;
use super::origin::Origin;
use super::{args, callbacks, convert, times};
use crate::php::classes;
use crate::php::task::Tasks;
use crate::php::unwind::Outcome;
use ext_php_rs::types::Zval;
use state::{ConsumeOptions, Loop};
use std::time::Duration;

pub fn consume(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let object = call.this_value()?;
    let batch = call.nullable(13, prefetch)?;
    let handler = call.required(1, |value, origin| handler(value, origin, &object, batch.is_some()))?;
    let default = ConsumeOptions::default();
    let length = |number: u32, default: Duration| {
        call.optional(number, times::millis).map(|ms| ms.map_or(default, Duration::from_millis))
    };
    let options = ConsumeOptions {
        idle_timeout: call.optional(2, idle_timeout)?.unwrap_or(default.idle_timeout),
        max_jobs: call.optional(3, args::at_least(0))?.unwrap_or(default.max_jobs),
        max_time: length(4, default.max_time)?,
        memory_limit: call.optional(5, memory_limit)?.unwrap_or(default.memory_limit),
        stop_when_empty: call.bool_or(6, default.stop_when_empty)?,
        prefetch: call.optional(7, prefetch)?.unwrap_or(default.prefetch),
        timeout: length(8, default.timeout)?,
        grace: length(9, default.grace)?,
        heartbeat: call.bool_or(10, default.heartbeat)?,
        throw_on_cancel: call.bool_or(11, default.throw_on_cancel)?,
        shutdown: length(12, default.shutdown)?,
        batch,
        within: length(14, default.within)?,
    };
    if batch.is_some() && options.throw_on_cancel {
        // It would end the run of the others.
        return Err(Origin::Argument(11).value_error("must be false when argument #13 ($batch) is given"));
    }
    let tasks = Tasks::read(call, 15, this.hides_payloads())?;
    let ended = Loop::new(this, &object, handler, options, tasks).run()?;
    Ok(classes::case_object(ended.stop))
}

pub fn drain(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let object = call.this_value()?;
    let handler = call.required(1, |value, origin| handler(value, origin, &object, false))?;
    let max_jobs = call.optional(2, args::at_least(0))?.unwrap_or(0);
    let options = ConsumeOptions { max_jobs, stop_when_empty: true, ..ConsumeOptions::default() };
    let tasks = if this.hides_payloads() { Tasks::Hidden } else { Tasks::OfPayload };
    Ok(convert::int(Loop::new(this, &object, handler, options, tasks).run()?.jobs))
}

pub fn on(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let event = call.required(1, args::case)?;
    let listener = call.required(2, callbacks::callable)?;
    this.listeners.add(event, listener);
    call.this_value()
}

fn idle_timeout(value: &Zval, origin: Origin<'_>) -> Outcome<Duration> {
    match args::seconds(value, origin)? {
        0 => Err(origin.value_error("must be greater than 0")),
        ms => Ok(Duration::from_millis(ms)),
    }
}

fn prefetch(value: &Zval, origin: Origin<'_>) -> Outcome<usize> {
    args::u32_in(1, 500)(value, origin).map(|count| usize::try_from(count).unwrap_or(1))
}

/// Bytes, as a number or in the words of php.ini: `128M`.
fn memory_limit(value: &Zval, origin: Origin<'_>) -> Outcome<u64> {
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
    args::at_least(0)(value, origin)
}
