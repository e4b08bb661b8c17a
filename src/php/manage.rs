//! Looking at jobs and queues, and moving them about.

use super::call::Call;
use super::classes::properties;
use super::delay_queue::DelayQueue;
use super::job_info::{self, JobInfo};
use super::origin::Origin;
use super::stats as stats_object;
use super::unwind::{Outcome, throw_error};
use super::{args, convert, groups, headers, object, times};
use crate::core::doctor::Level;
use crate::core::install;
use crate::core::job::{Fingerprint, JobId, Place, State};
use crate::core::queue::Changes;
use ext_php_rs::types::Zval;

pub fn peek(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    match this.queue.at_home(&id, |part| part.peek(&id))? {
        Some(info) => job_info::object(&info, this.defaults.encoding.format),
        None => Ok(convert::null()),
    }
}

fn peek_state(this: &DelayQueue, state: State) -> Outcome<Zval> {
    match this.queue.peek_state(state)? {
        Some(info) => job_info::object(&info, this.defaults.encoding.format),
        None => Ok(convert::null()),
    }
}

pub fn peek_ready(this: &DelayQueue) -> Outcome<Zval> {
    peek_state(this, State::Ready)
}

pub fn peek_delayed(this: &DelayQueue) -> Outcome<Zval> {
    peek_state(this, State::Delayed)
}

pub fn peek_buried(this: &DelayQueue) -> Outcome<Zval> {
    peek_state(this, State::Buried)
}

pub fn list(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let state = call.required(1, args::state)?;
    let offset = call.optional(2, args::at_least(0))?.unwrap_or(0);
    let limit = call.optional(3, args::at_least(1))?.unwrap_or(100);
    if let Some(group) = call.nullable(5, args::group)? {
        return groups::list_group(this, call, &group, state, offset, limit);
    }
    let after = call.nullable(4, |value, origin| place(value, origin, state))?;
    let mut out = Vec::new();
    for info in this.queue.list_from(state, after.as_ref(), offset, limit)? {
        out.push(job_info::object(&info, this.defaults.encoding.format)?);
    }
    Ok(convert::list(out))
}

/// The place in the order of this state at which a job was seen.
fn place(value: &Zval, origin: Origin<'_>, state: State) -> Outcome<Place> {
    let place = match object::inside::<JobInfo>(value) {
        Some(info) => info.place.get().cloned(),
        None => Place::parse(&args::bytes(value, origin)?),
    };
    match place {
        Some(place) if place.state == state => Ok(place),
        Some(_) => Err(origin.value_error("must be a job in the state that is listed")),
        None => Err(origin.value_error("must be a job, or the place of one")),
    }
}

pub fn count_due(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let until_us = call.each(1, times::moment)?;
    Ok(convert::list(this.queue.count_due(&until_us)?.into_iter().map(convert::int)))
}

pub fn now(this: &DelayQueue) -> Outcome<Zval> {
    Ok(convert::float(convert::unix_seconds_of_us(this.queue.first().now_us()?)))
}

pub fn count(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let state = call.nullable(1, args::state)?;
    Ok(convert::int(this.queue.count(state)?))
}

pub fn cancel(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let ids = call.each(1, args::id)?;
    if ids.is_empty() {
        return Ok(convert::int(0));
    }
    Ok(convert::int(this.queue.cancel(&ids)?))
}

pub fn reschedule(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let due = call.required(2, times::due)?;
    let held = call.bool_or(3, false)?;
    Ok(convert::bool(this.queue.at_home(&id, |part| part.reschedule(&id, due, held))?))
}

pub fn update(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let payload = call.nullable(2, |value, origin| this.defaults.encoding.encode(value, origin))?;
    let headers = call.nullable(3, headers::changes)?.unwrap_or_default();
    let due = call.nullable(4, times::due)?;
    let unchanged = call.nullable(5, |value, origin| fingerprint(this, &id, value, origin))?;
    let changes = Changes { payload: payload.as_deref(), headers: &headers };
    let updated = this.queue.at_home(&id, |part| part.update(&id, changes, due, unchanged.as_ref()));
    Ok(convert::bool(updated.map_err(|error| Origin::Argument(3).throw(error))?)) // with those that stay, the headers may be too many
}

/// What the job of this id was when this queue has shown it.
fn fingerprint(this: &DelayQueue, id: &JobId, value: &Zval, origin: Origin<'_>) -> Outcome<Fingerprint> {
    let Some(info) = object::inside::<JobInfo>(value) else { return Err(origin.wrong_type("JobInfo", value)) };
    let is = |name: &str, wanted: &[u8]| {
        let found = value.object().and_then(|object| object::property::<properties::JobInfo>(object, name));
        found.and_then(Zval::zend_str).is_some_and(|text| text.as_bytes() == wanted)
    };
    match &info.fingerprint {
        _ if !is("id", id.as_bytes()) => Err(origin.value_error("must be the job of argument #1 ($id)")),
        Some(seen) if is("queue", this.queue.name().as_bytes()) => Ok(seen.clone()),
        _ => Err(origin.value_error("must be a job that this queue has shown")),
    }
}

pub fn reseal(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let plain_too = call.bool_or(2, true)?;
    if !this.queue.first().has_keys() {
        return Err(throw_error("DelayQueue::reseal() needs the option \"keys\""));
    }
    Ok(convert::bool(this.queue.at_home(&id, |part| part.reseal(&id, plain_too))?))
}

pub fn kick_job(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let reset = call.bool_or(2, true)?;
    Ok(convert::bool(this.queue.at_home(&id, |part| part.kick_job(&id, reset))?))
}

pub fn kick(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    // Those that are buried again meanwhile stay so: it ends.
    let max = match call.nullable(1, args::at_least(1))? {
        Some(max) => max,
        None => this.queue.count(Some(State::Buried))?,
    };
    let reset = call.bool_or(2, true)?;
    Ok(convert::int(this.queue.kick(max, reset)?))
}

pub fn purge(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let mut states = Vec::new();
    for state in call.each(1, args::state)? {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    Ok(convert::int(this.queue.sum(None, "jobs deleted", |part| part.purge(&states))?))
}

pub fn forget(this: &DelayQueue) -> Outcome<Zval> {
    Ok(convert::bool(this.queue.forget()?))
}

pub fn stats(this: &DelayQueue) -> Outcome<Zval> {
    stats_object::object(this.queue.name(), this.queue.stats()?)
}

pub fn queues(this: &DelayQueue) -> Outcome<Zval> {
    Ok(convert::list(this.queue.first().queues()?.iter().map(convert::bytes)))
}

pub fn partitions(this: &DelayQueue) -> Outcome<Zval> {
    Ok(convert::int(this.queue.first().known_partitions()?))
}

pub fn install_scripts(this: &DelayQueue) -> Outcome<Zval> {
    let servers = install::install_scripts(this.queue.first().client())?;
    Ok(convert::int(servers))
}

pub fn doctor(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let repair = call.bool_or(1, false)?;
    let checks = this.queue.doctor(repair)?;
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
