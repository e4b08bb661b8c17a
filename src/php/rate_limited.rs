//! `DelayQueue\RateLimited`: a handler's answer to "too many requests".

use super::call::{Call, Outcome};
use super::classes;
use super::convert;
use super::duration_arg;
use super::exceptions::{self, set_property, throw_error};
use super::groups;
use super::place::Place;
use super::sys;
use crate::core::groups::Group;
use ext_php_rs::types::{ZendObject, Zval};

/// `new RateLimited('30s')`, or `new RateLimited($seconds, 'tenant-42', 'too many requests')`
pub fn construct(call: &Call) -> Outcome<Zval> {
    let Some(value) = call.arg(1) else { return Err(throw_error("RateLimited needs a duration")) };
    let for_ms = duration_arg::span(value, Place::Argument(1))?;
    let group = groups::nullable_name(call, 2)?;
    let message = call.optional_bytes(3)?;
    exceptions::fill_release(call.object()?, for_ms, message.as_deref())?;
    let mut group = convert::nullable(group, |group| convert::bytes(group.as_bytes()));
    set_property(classes::RATE_LIMITED.entry(), call.object()?, "group", &mut group);
    if sys::exception_pending() { Err(super::call::Fault::Thrown) } else { Ok(convert::null()) }
}

/// For how long what is closed.
pub struct RateLimit {
    pub for_ms: u64,
    /// `None`: the group of the job, or the queue.
    pub group: Option<Group>,
}

/// For how long a thrown exception closes, and whom, if it is one of these.
pub fn read(exception: &ZendObject) -> Option<RateLimit> {
    if !classes::RATE_LIMITED.owns(exception) {
        return None;
    }
    let for_ms = exceptions::release_delay_ms(exception)?;
    let group = exceptions::property(classes::RATE_LIMITED.entry(), exception, "group", |value| {
        value.zend_str().and_then(|name| Group::new(name.as_bytes()).ok())
    });
    Some(RateLimit { for_ms, group })
}
