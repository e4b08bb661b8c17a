//! `push()`, `tryPush()`, `pushMany()`, `producer()`.

use super::call::{Call, Outcome};
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::{At, throw_error, throw_storing};
use super::items;
use super::new_job::{Fields, encode};
use super::place::Place;
use crate::core::job::{Due, JobId, NewJob, OnDuplicate};
use ext_php_rs::types::Zval;

pub fn push(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let job = Fields::of_call(call).job(&this.defaults)?;
    Ok(convert::bytes(this.queue.push(job)?.as_bytes()))
}

/// As `push()`; null where the job was not stored for its id.
pub fn try_push(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let job = Fields::of_call(call).job(&this.defaults)?;
    Ok(convert::nullable(this.queue.try_push(job)?, |id| convert::bytes(id.as_bytes())))
}

pub fn push_many(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let mut ids = Vec::new();
    let check = |item: &Zval, index| Fields::of_item(item, index)?.job(&this.defaults);
    items::each_chunk(call, check, |jobs| {
        let before = ids.len();
        let pushed = this.queue.push_many(jobs, &mut ids);
        pushed.map_err(|error| throw_storing(error.with_items_at(|position| before + position), &ids))
    })?;
    Ok(convert::list(ids.iter().map(|id: &JobId| convert::bytes(id.as_bytes()))))
}

/// The classic producer: an absolute Unix time as the score, and the same id replaces.
pub fn producer(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = JobId::new(call.bytes(1)?).at(Place::Argument(1))?;
    let at_us = moment_us(call.number(2)?, f64::ceil, Place::Argument(2))?;
    let message = match call.arg(3) {
        Some(message) if message.is_array() => message,
        Some(other) => return Err(call.type_error(3, other)),
        None => return Err(throw_error("producer() needs a message")),
    };
    let payload = encode(message, Place::Argument(3), this.defaults.encoding)?;
    let job = NewJob {
        id: Some(id),
        payload,
        due: Due::AtUs(at_us),
        options: this.defaults.options.clone(),
        on_duplicate: OnDuplicate::Replace,
        unique_ms: None,
    };
    this.queue.push(job)?;
    Ok(convert::bool(true))
}

/// Unix seconds as microseconds. `round` decides between two of them.
pub fn moment_us(seconds: f64, round: fn(f64) -> f64, place: Place<'_>) -> Outcome<i64> {
    const LAST_US: f64 = 253_402_300_799_999_999.0; // the end of the year 9999
    if !seconds.is_finite() {
        return Err(place.value_error("must be finite"));
    }
    let us = seconds * 1_000_000.0;
    // A float of today is exact to a quarter of a microsecond: forgive its error before rounding.
    let us = if (us - us.round()).abs() < 0.3 { us.round() } else { round(us) };
    if us.abs() > LAST_US {
        return Err(place.value_error("must lie before the year 10000"));
    }
    Ok(us as i64)
}
