//! `DelayQueue\GroupLimits`: a plain value object, which PHP copies, compares, prints and serializes by its properties.

use super::args::u32_in;
use super::call::Call;
use super::class::Properties;
use super::classes::{self, properties};
use super::convert;
use super::exceptions::{At, set_property};
use super::object::property;
use super::origin::Origin;
use super::sys;
use super::unwind::{Outcome, Unwind, guard, throw_error};
use crate::core::duration;
use crate::core::groups::{GroupLimits as Core, Rate};
use ext_php_rs::types::{ZendObject, Zval};

pub fn construct(call: &Call) -> Outcome<Zval> {
    let limits = of_arguments(call)?;
    let weight = match call.arg(4) {
        Some(_) => u32_in(call.int(4)?, Origin::Argument(4), 1, u32::MAX)?,
        None => 1,
    };
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
    let positive = |number: u32| match call.nullable_int(number)? {
        Some(value) => u32_in(value, Origin::Argument(number), 1, u32::MAX).map(Some),
        None => Ok(None),
    };
    let concurrency = positive(1)?;
    let rate = match call.nullable_bytes(2)? {
        Some(text) => Some(Rate::parse(&String::from_utf8_lossy(&text)).at(Origin::Argument(2))?),
        None => None,
    };
    let burst = positive(3)?;
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
    // SAFETY: the class is registered, and lives as long as the process.
    let Some(ce) = (unsafe { classes::GROUP_LIMITS.entry().as_ref() }) else { return Err(Unwind::Thrown) };
    let mut out = Zval::new();
    let mut fresh = guard(|| ce.new())?;
    out.set_object(&mut fresh);
    drop(fresh);
    let Some(object) = out.object_mut() else { return Err(Unwind::Thrown) };
    fill(object, limits)?;
    Ok(out)
}

/// A `GroupLimits` argument. `unserialize()` asks no constructor: the values are checked here again.
pub fn argument(call: &Call, number: u32, value: &Zval) -> Outcome<Core> {
    let Some(object) = value.object().filter(|object| classes::GROUP_LIMITS.owns(object)) else {
        return Err(call.type_error(number, value));
    };
    let property = |name: &str| property::<properties::GroupLimits>(object, name);
    let (Some(weight), Some(ordered)) =
        (property("weight").and_then(Zval::long), property("ordered").and_then(Zval::bool))
    else {
        return Err(throw_error("The DelayQueue\\GroupLimits object was not constructed"));
    };
    let wrong = || Origin::Argument(number).value_error("must have values that its constructor takes");
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
