//! `DelayQueue\Testing`: moves this process' view of the time, and makes the objects that tests need without Redis.

mod job;
mod values;

use super::unwind::{Outcome, throw_error};
pub use job::{calls, job, outcome};
pub use values::{group_stats, job_info, push_once, stats};

use super::call::Call;
use super::{convert, settings, times};
use crate::core::{clock, memory};
use ext_php_rs::types::Zval;

fn check() -> Outcome<()> {
    if settings::testing() {
        return Ok(());
    }
    Err(throw_error("DelayQueue\\Testing needs the ini setting delayqueue.testing=1; never set it in production"))
}

pub fn travel(call: &Call) -> Outcome<Zval> {
    check()?;
    let by_ms = call.required(1, times::millis)?;
    let by_ms = i64::try_from(by_ms).unwrap_or(i64::MAX);
    // Delays are rounded up to a millisecond: a job that was pushed just now with this very delay has to be due afterwards.
    std::thread::sleep(std::time::Duration::from_millis(1));
    clock::set_offset_ms(clock::offset_ms().saturating_add(by_ms));
    Ok(convert::null())
}

pub fn travel_to(call: &Call) -> Outcome<Zval> {
    check()?;
    let target_ms = times::ms_up(call.required(1, times::moment)?);
    let real_now_ms = times::now_ms().saturating_sub(clock::offset_ms());
    clock::set_offset_ms(target_ms.saturating_sub(real_now_ms));
    Ok(convert::null())
}

/// Deletes what `memory://name` holds.
pub fn forget_memory(call: &Call) -> Outcome<Zval> {
    check()?;
    let name = call.optional(1, super::args::bytes)?.unwrap_or_default();
    memory::forget(&String::from_utf8_lossy(&name)).map_err(|error| {
        throw_error(&format!("memory://{name} cannot be forgotten: {error}", name = String::from_utf8_lossy(&name)))
    })?;
    Ok(convert::null())
}

pub fn travel_back() -> Outcome<Zval> {
    check()?;
    clock::set_offset_ms(0);
    Ok(convert::null())
}

/// Outside of tests it is 0.0, and no error: a clock may ask it anywhere.
pub fn offset() -> Outcome<Zval> {
    Ok(convert::float(convert::unix_seconds(clock::offset_ms())))
}
