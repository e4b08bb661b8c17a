//! `DelayQueue\GroupLimits`: a plain value object, which PHP copies, compares, prints and serializes by its properties.

use super::call::Call;
use super::classes::{self, properties};
use super::exceptions::set_property;
use super::object::{Properties, plain, property};
use super::origin::Origin;
use super::unwind::{Outcome, Unwind, throw_error};
use super::{args, convert, sys};
use crate::core::duration;
use crate::core::groups::{GroupLimits as Core, Rate};
use ext_php_rs::types::{ZendObject, Zval};

pub fn construct(call: &Call) -> Outcome<Zval> {
    let limits = of_arguments(call)?;
    let weight = call.optional(4, args::u32_in(1, u32::MAX))?.unwrap_or(1);
    let ordered = call.bool_or(5, false)?;
    if ordered && limits.concurrency.is_some_and(|concurrency| concurrency != 1) {
        return Err(Origin::Argument(1).value_error("must be 1 or null when argument #5 ($ordered) is true"));
    }
    let concurrency = if ordered { Some(1) } else { limits.concurrency };
    fill(call.object()?, &Core { concurrency, weight, ordered, ..limits })?;
    Ok(convert::null())
}

/// The limits in the first three arguments, which are those of `limitQueue()`, too.
pub fn of_arguments(call: &Call) -> Outcome<Core> {
    let concurrency = call.nullable(1, args::u32_in(1, u32::MAX))?;
    let rate = call.nullable(2, |value, origin| {
        Rate::parse(&String::from_utf8_lossy(&args::bytes(value, origin)?)).map_err(|error| origin.throw(error))
    })?;
    let burst = call.nullable(3, args::u32_in(1, u32::MAX))?;
    if burst.is_some() && rate.is_none() {
        return Err(Origin::Argument(3).value_error("must be null when argument #2 ($rate) is null"));
    }
    // Equal limits are equal objects.
    let burst = burst.filter(|burst| rate.is_some_and(|rate| rate.starts != *burst));
    Ok(Core { concurrency, rate, burst, ..Core::default() })
}

/// Sets the properties, each of which a readonly object takes once.
fn fill(object: *mut ZendObject, limits: &Core) -> Outcome<()> {
    let values = properties::GroupLimits {
        concurrency: convert::nullable(limits.concurrency, convert::int),
        rate: convert::nullable(limits.rate, |rate| convert::bytes(text(rate))),
        burst: convert::nullable(limits.burst, convert::int),
        weight: convert::int(limits.weight),
        ordered: convert::bool(limits.ordered),
    };
    for (name, mut value) in properties::GroupLimits::NAMES.iter().zip(values.into_slots()) {
        set_property(classes::GROUP_LIMITS.entry(), object, name, &mut value);
        if sys::exception_pending() {
            return Err(Unwind::Thrown);
        }
    }
    Ok(())
}

/// Equal rates have equal texts.
fn text(rate: Rate) -> String {
    format!("{}/{}", rate.starts, duration::text(rate.per_us.div_ceil(1000)))
}

/// The PHP object of limits that are set.
pub fn object(limits: &Core) -> Outcome<Zval> {
    let mut out = plain(classes::GROUP_LIMITS.entry())?;
    let Some(object) = out.object_mut() else { return Err(Unwind::Thrown) };
    fill(object, limits)?;
    Ok(out)
}

/// A `GroupLimits` argument. `unserialize()` asks no constructor: the values are checked here again.
pub fn read(value: &Zval, origin: Origin<'_>) -> Outcome<Core> {
    let Some(object) = value.object().filter(|object| classes::GROUP_LIMITS.owns(object)) else {
        return Err(origin.wrong_type(classes::GROUP_LIMITS.name, value));
    };
    let property = |name: &str| property::<properties::GroupLimits>(object, name);
    let (Some(weight), Some(ordered)) =
        (property("weight").and_then(Zval::long), property("ordered").and_then(Zval::bool))
    else {
        return Err(throw_error("The DelayQueue\\GroupLimits object was not constructed"));
    };
    let wrong = || origin.value_error("must have values that its constructor takes");
    let positive = |value: i64| u32::try_from(value).ok().filter(|number| *number > 0).ok_or_else(wrong);
    let limits = Core {
        concurrency: property("concurrency").and_then(Zval::long).map(positive).transpose()?,
        rate: property("rate").and_then(Zval::str).map(|text| Rate::parse(text).map_err(|_| wrong())).transpose()?,
        burst: property("burst").and_then(Zval::long).map(positive).transpose()?,
        weight: positive(weight)?,
        ordered,
    };
    let fits = (!ordered || limits.concurrency == Some(1)) && (limits.burst.is_none() || limits.rate.is_some());
    if fits { Ok(limits) } else { Err(wrong()) }
}
