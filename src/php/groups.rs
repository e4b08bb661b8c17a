//! Groups of jobs: their limits, their pauses, and what there is of them. `DelayQueue\GroupStats`.

use super::call::Call;
use super::classes::properties;
use super::delay_queue::DelayQueue;
use super::exceptions::throw_invalid_call;
use super::object::{Plain, make};
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, convert, group_limits, job_info, times};
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

pub fn limit_groups(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let group = call.nullable(1, args::group)?;
    let limits = call.nullable(2, group_limits::read)?;
    change(this, group.as_ref(), "limited", |part| part.limit_groups(group.as_ref(), limits.as_ref()))
}

pub fn limit_queue(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let limits = group_limits::of_arguments(call)?;
    let limits = Some(limits).filter(|limits| *limits != GroupLimits::default());
    // To forget a limit that was set while there was one is right for any number.
    if limits.is_some() && this.queue.count_of_parts() > 1 {
        let why = "a queue of several partitions cannot be limited as a whole: each is served by itself, and does not \
                   know how many jobs of the others run";
        return Err(throw_invalid_call(why));
    }
    this.queue.first().limit_queue(limits.as_ref())?;
    Ok(convert::null())
}

pub fn limits(this: &DelayQueue) -> Outcome<Zval> {
    let AllLimits { queue, others, groups } = this.queue.limits()?;
    let nullable = |limits: Option<GroupLimits>| limits.as_ref().map_or(Ok(convert::null()), group_limits::object);
    let of_groups = groups.iter().map(|(group, limits)| Ok((group.as_bytes(), group_limits::object(limits)?)));
    let of_groups = convert::map(of_groups.collect::<Outcome<Vec<_>>>()?);
    Ok(convert::map([("queue", nullable(queue)?), ("others", nullable(others)?), ("groups", of_groups)]))
}

pub fn rate_limit(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let for_ms = call.required(1, times::span)?;
    let group = call.nullable(2, args::group)?;
    this.queue.rate_limit(for_ms, group.as_ref())?;
    Ok(convert::null())
}

pub fn pause(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let for_ms = call.nullable(1, times::span)?;
    let group = call.nullable(2, args::group)?;
    change(this, group.as_ref(), "paused", |part| part.pause(for_ms, group.as_ref()))
}

pub fn resume(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let group = call.nullable(1, args::group)?;
    change(this, group.as_ref(), "resumed", |part| part.resume(group.as_ref()))
}

pub fn is_paused(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    Ok(convert::bool(this.queue.is_paused(call.nullable(1, args::group)?.as_ref())?))
}

pub fn cancel_group(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let group = call.required(1, args::group)?;
    let reserved = call.bool_or(2, false)?;
    let cancel = |part: &Queue| part.cancel_group(&group, reserved);
    Ok(convert::int(this.queue.sum(Some(&group), "jobs cancelled", cancel)?))
}

pub fn group_stats(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    stats_object(&this.queue.group_stats(&call.required(1, args::group)?)?)
}

pub fn groups(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let limit = call.optional(1, args::at_least(1))?.unwrap_or(100);
    let after = call.optional(2, args::bytes)?.unwrap_or_default();
    Ok(convert::list(this.queue.groups(limit, &after)?.iter().map(convert::bytes)))
}

/// `list()` with a group: a page of its jobs in this state.
pub fn list_group(
    this: &DelayQueue,
    call: &Call,
    group: &Group,
    state: State,
    offset: u64,
    limit: u64,
) -> Outcome<Zval> {
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
