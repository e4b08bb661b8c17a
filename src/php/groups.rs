//! Groups of jobs: their limits, their pauses, and what there is of them. `DelayQueue\GroupStats`.

use super::call::Call;
use super::classes::properties;
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::At;
use super::group_limits;
use super::job_info;
use super::object::{Plain, make};
use super::origin::{Origin, active_function};
use super::times;
use super::unwind::{Outcome, throw_error, throw_value_error};
use crate::core::error::Error;
use crate::core::groups::{AllLimits, Group, GroupLimits, GroupStats as Core};
use crate::core::job::State;
use crate::core::queue::Queue;
use ext_php_rs::types::Zval;

pub fn stats_object(stats: &Core) -> Outcome<Zval> {
    let moment = |us: i64| convert::float(convert::unix_seconds_of_us(us));
    let properties = properties::GroupStats {
        waiting: convert::int(stats.waiting),
        reserved: convert::int(stats.reserved),
        next_turn_at: convert::nullable(stats.next_turn_at_us, moment),
        closed_until: convert::nullable(stats.closed_until_us, moment),
        paused: convert::bool(stats.is_paused),
    };
    make(Plain, properties)
}

/// `string $group`
fn name(call: &Call, number: u32) -> Outcome<Group> {
    Group::new(call.bytes(number)?).at(Origin::Argument(number))
}

/// `?string $group = null`
pub fn nullable_name(call: &Call, number: u32) -> Outcome<Option<Group>> {
    match call.nullable_bytes(number)? {
        Some(bytes) => Group::new(bytes).at(Origin::Argument(number)).map(Some),
        None => Ok(None),
    }
}

/// Changes the partitions in which jobs of a group may lie, or all. `done`: "paused".
fn change(
    this: &DelayQueue,
    group: Option<&Group>,
    done: &str,
    change: impl Fn(&Queue) -> Result<(), Error>,
) -> Outcome<Zval> {
    this.queue.sum(group, &format!("partitions {done}"), |part| change(part).map(|()| 1))?;
    Ok(convert::null())
}

pub fn limit_groups(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let group = nullable_name(call, 1)?;
    let limits = match call.non_null(2) {
        Some(value) => Some(group_limits::argument(call, 2, value)?),
        None => None,
    };
    change(this, group.as_ref(), "limited", |part| part.limit_groups(group.as_ref(), limits.as_ref()))
}

pub fn limit_queue(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let limits = group_limits::of_arguments(call)?;
    let limits = Some(limits).filter(|limits| *limits != GroupLimits::default());
    // To forget a limit that was set while there was one is right for any number.
    if limits.is_some() && this.queue.count_of_parts() > 1 {
        let why = "a queue of several partitions cannot be limited as a whole: each is served by itself, and does not \
                   know how many jobs of the others run";
        return Err(throw_value_error(&format!("{}(): {why}", active_function())));
    }
    this.queue.first().limit_queue(limits.as_ref())?;
    Ok(convert::null())
}

pub fn limits(call: &Call) -> Outcome<Zval> {
    let AllLimits { queue, others, groups } = call.this::<DelayQueue>()?.queue.limits()?;
    let nullable = |limits: Option<GroupLimits>| limits.as_ref().map_or(Ok(convert::null()), group_limits::object);
    let of_groups = groups.iter().map(|(group, limits)| Ok((group.as_bytes(), group_limits::object(limits)?)));
    let of_groups = convert::named(of_groups.collect::<Outcome<Vec<_>>>()?);
    Ok(convert::map([("queue", nullable(queue)?), ("others", nullable(others)?), ("groups", of_groups)]))
}

pub fn rate_limit(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let Some(value) = call.arg(1) else { return Err(throw_error("rateLimit() needs a duration")) };
    let for_ms = times::span(value, Origin::Argument(1))?;
    let group = nullable_name(call, 2)?;
    this.queue.rate_limit(for_ms, group.as_ref())?;
    Ok(convert::null())
}

pub fn pause(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let for_ms = match call.non_null(1) {
        Some(value) => Some(times::span(value, Origin::Argument(1))?),
        None => None,
    };
    let group = nullable_name(call, 2)?;
    change(this, group.as_ref(), "paused", |part| part.pause(for_ms, group.as_ref()))
}

pub fn resume(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let group = nullable_name(call, 1)?;
    change(this, group.as_ref(), "resumed", |part| part.resume(group.as_ref()))
}

pub fn is_paused(call: &Call) -> Outcome<Zval> {
    Ok(convert::bool(call.this::<DelayQueue>()?.queue.is_paused(nullable_name(call, 1)?.as_ref())?))
}

pub fn cancel_group(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let group = name(call, 1)?;
    let reserved = call.bool_or(2, false)?;
    let cancel = |part: &Queue| part.cancel_group(&group, reserved);
    Ok(convert::int(this.queue.sum(Some(&group), "jobs cancelled", cancel)?))
}

pub fn group_stats(call: &Call) -> Outcome<Zval> {
    stats_object(&call.this::<DelayQueue>()?.queue.group_stats(&name(call, 1)?)?)
}

pub fn groups(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let limit = call.at_least(1, call.int_or(1, 100)?, 1)?;
    let after = call.optional_bytes(2)?.unwrap_or_default();
    Ok(convert::list(this.queue.groups(limit, &after)?.iter().map(convert::bytes)))
}

/// `list()` with a group: a page of its jobs in this state.
pub fn list_group(call: &Call, group: &Group, state: State, offset: u64, limit: u64) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    if call.non_null(4).is_some() {
        return Err(Origin::Argument(4).value_error("must be null when argument #5 ($group) is given"));
    }
    if state == State::Buried {
        let must = "must be null for State::Buried: a group does not know its buried jobs";
        return Err(Origin::Argument(5).value_error(must));
    }
    let mut out = Vec::new();
    for info in this.queue.list_group(group, state, offset, limit)? {
        out.push(job_info::object(&info, this.defaults.encoding.format)?);
    }
    Ok(convert::list(out))
}
