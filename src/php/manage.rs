//! Looking at jobs and queues, and moving them about.

use super::call::Call;
use super::classes;
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::At;
use super::groups;
use super::headers;
use super::job_info::{self, JobInfo};
use super::object::inside;
use super::origin::Origin;
use super::stats as stats_object;
use super::times;
use super::unwind::{Outcome, throw_error};
use crate::core::doctor::Level;
use crate::core::install;
use crate::core::job::{JobId, Place, State};
use ext_php_rs::types::Zval;

fn id(call: &Call) -> Outcome<JobId> {
    JobId::new(call.bytes(1)?).at(Origin::Argument(1))
}

fn state(call: &Call, number: u32, value: &Zval) -> Outcome<State> {
    classes::state(value).ok_or_else(|| call.type_error(number, value))
}

pub fn peek(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = id(call)?;
    match this.queue.at_home(&id, |part| part.peek(&id))? {
        Some(info) => job_info::object(&info, this.defaults.encoding.format),
        None => Ok(convert::null()),
    }
}

fn peek_state(call: &Call, state: State) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    match this.queue.peek_state(state)? {
        Some(info) => job_info::object(&info, this.defaults.encoding.format),
        None => Ok(convert::null()),
    }
}

pub fn peek_ready(call: &Call) -> Outcome<Zval> {
    peek_state(call, State::Ready)
}

pub fn peek_delayed(call: &Call) -> Outcome<Zval> {
    peek_state(call, State::Delayed)
}

pub fn peek_buried(call: &Call) -> Outcome<Zval> {
    peek_state(call, State::Buried)
}

pub fn list(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let Some(value) = call.arg(1) else { return Err(throw_error("list() needs a state")) };
    let state = state(call, 1, value)?;
    let offset = call.at_least(2, call.int_or(2, 0)?, 0)?;
    let limit = call.at_least(3, call.int_or(3, 100)?, 1)?;
    if let Some(group) = groups::nullable_name(call, 5)? {
        return groups::list_group(call, &group, state, offset, limit);
    }
    let after = match call.non_null(4) {
        Some(value) => Some(place(call, 4, value, state)?),
        None => None,
    };
    let mut out = Vec::new();
    for info in this.queue.list_from(state, after, offset, limit)? {
        out.push(job_info::object(&info, this.defaults.encoding.format)?);
    }
    Ok(convert::list(out))
}

/// The place in the order of this state at which a job was seen.
fn place<'a>(call: &Call, number: u32, value: &'a Zval, state: State) -> Outcome<&'a Place> {
    let Some(info) = inside::<JobInfo>(value) else { return Err(call.type_error(number, value)) };
    match &info.place {
        Some(place) if place.state == state => Ok(place),
        Some(_) => Err(Origin::Argument(number).value_error("must be a job in the state that is listed")),
        None => Err(Origin::Argument(number).value_error("must be a job that a DelayQueue has looked at")),
    }
}

pub fn count_due(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let mut until_us = Vec::new();
    for number in call.rest(1) {
        let Some(value) = call.arg(number) else { continue };
        let Some(moment) = value.object().filter(|object| times::is_moment(object)) else {
            return Err(call.type_error(number, value));
        };
        until_us.push(times::moment_us(moment)?);
    }
    Ok(convert::list(this.queue.count_due(&until_us)?.into_iter().map(convert::int)))
}

pub fn now(call: &Call) -> Outcome<Zval> {
    Ok(convert::float(convert::unix_seconds_of_us(call.this::<DelayQueue>()?.queue.first().now_us()?)))
}

pub fn count(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let state = match call.non_null(1) {
        Some(value) => Some(state(call, 1, value)?),
        None => None,
    };
    Ok(convert::int(this.queue.each(None, |part| part.count(state))?.iter().sum::<u64>()))
}

pub fn cancel(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let mut ids = Vec::new();
    for number in call.rest(1) {
        ids.push(JobId::new(call.bytes(number)?).at(Origin::Argument(number))?);
    }
    if ids.is_empty() {
        return Ok(convert::int(0));
    }
    Ok(convert::int(this.queue.cancel(&ids)?))
}

pub fn reschedule(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = id(call)?;
    let Some(delay) = call.arg(2) else { return Err(throw_error("reschedule() needs a delay")) };
    let due = times::due(delay, Origin::Argument(2))?;
    Ok(convert::bool(this.queue.at_home(&id, |part| part.reschedule(&id, due))?))
}

pub fn update(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = id(call)?;
    let Some(payload) = call.arg(2) else { return Err(throw_error("update() needs a payload")) };
    let bytes = this.defaults.encoding.encode(payload, Origin::Argument(2))?;
    let headers = headers::nullable(call, 3)?;
    Ok(convert::bool(this.queue.at_home(&id, |part| part.update(&id, &bytes, headers.as_deref()))?))
}

pub fn reseal(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = id(call)?;
    let plain_too = call.bool_or(2, true)?;
    if !this.queue.first().has_keys() {
        return Err(throw_error("DelayQueue::reseal() needs the option \"keys\""));
    }
    Ok(convert::bool(this.queue.at_home(&id, |part| part.reseal(&id, plain_too))?))
}

pub fn kick_job(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = id(call)?;
    let reset = call.bool_or(2, true)?;
    Ok(convert::bool(this.queue.at_home(&id, |part| part.kick_job(&id, reset))?))
}

pub fn kick(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let max = call.at_least(1, call.int_or(1, 1)?, 1)?;
    let reset = call.bool_or(2, true)?;
    Ok(convert::int(this.queue.kick(max, reset)?))
}

pub fn purge(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let mut states = Vec::new();
    for number in call.rest(1) {
        let Some(value) = call.arg(number) else { continue };
        let state = state(call, number, value)?;
        if !states.contains(&state) {
            states.push(state);
        }
    }
    Ok(convert::int(this.queue.sum(None, "jobs deleted", |part| part.purge(&states))?))
}

pub fn forget(call: &Call) -> Outcome<Zval> {
    Ok(convert::bool(call.this::<DelayQueue>()?.queue.forget()?))
}

pub fn stats(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    stats_object::object(this.queue.name(), this.queue.stats()?)
}

pub fn queues(call: &Call) -> Outcome<Zval> {
    Ok(convert::list(call.this::<DelayQueue>()?.queue.first().queues()?.iter().map(convert::bytes)))
}

pub fn partitions(call: &Call) -> Outcome<Zval> {
    Ok(convert::int(call.this::<DelayQueue>()?.queue.first().known_partitions()?))
}

pub fn install_scripts(call: &Call) -> Outcome<Zval> {
    let servers = install::install_scripts(call.this::<DelayQueue>()?.queue.first().client())?;
    Ok(convert::int(servers))
}

pub fn doctor(call: &Call) -> Outcome<Zval> {
    let repair = call.bool_or(1, false)?;
    let checks = call.this::<DelayQueue>()?.queue.doctor(repair)?;
    Ok(convert::list(checks.iter().map(|check| {
        let level = match check.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        convert::map([
            ("level", convert::bytes(level)),
            ("check", convert::bytes(check.check)),
            ("message", convert::bytes(&check.message)),
        ])
    })))
}
