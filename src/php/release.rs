//! `DelayQueue\Release` and `DelayQueue\RateLimited`: exceptions by which a handler gives its job back.

use super::call::Call;
use super::exceptions::{property, set_property};
use super::unwind::{Outcome, Unwind};
use super::{args, classes, convert, sys, times};
use crate::core::groups::Group;
use ext_php_rs::types::{ZendObject, ZendStr, Zval};

/// `new Release('30s', 'rate limited')`
pub fn construct_release(call: &Call) -> Outcome<Zval> {
    let delay_ms = call.optional(1, times::span)?.unwrap_or(0);
    let message = call.optional(2, args::bytes)?;
    fill_release(call.object()?, delay_ms, message.as_deref())?;
    Ok(convert::null())
}

/// Sets the properties that `Release` has, in its constructor and in those of its subclasses.
fn fill_release(object: *mut ZendObject, delay_ms: u64, message: Option<&[u8]>) -> Outcome<()> {
    let mut delay = Zval::new();
    delay.set_double(convert::seconds(delay_ms));
    set_property(classes::RELEASE.entry(), object, "delay", &mut delay);
    if let Some(message) = message {
        let mut text = Zval::new();
        text.set_zend_string(ZendStr::new(message, false));
        set_property(sys::find_class("Exception"), object, "message", &mut text);
    }
    if sys::exception_pending() { Err(Unwind::Thrown) } else { Ok(()) }
}

/// `new RateLimited('30s')`, or `new RateLimited($seconds, 'tenant-42', 'too many requests')`
pub fn construct_rate_limited(call: &Call) -> Outcome<Zval> {
    let for_ms = call.required(1, times::span)?;
    let group = call.nullable(2, args::group)?;
    let message = call.optional(3, args::bytes)?;
    fill_release(call.object()?, for_ms, message.as_deref())?;
    let mut group = convert::nullable(group, |group| convert::bytes(group.as_bytes()));
    set_property(classes::RATE_LIMITED.entry(), call.object()?, "group", &mut group);
    if sys::exception_pending() { Err(Unwind::Thrown) } else { Ok(convert::null()) }
}

/// For how long what is closed.
pub struct RateLimit {
    pub for_ms: u64,
    /// `None`: the group of the job, or the queue.
    pub group: Option<Group>,
}

/// For how long a thrown exception closes, and whom, if it is one of these.
pub fn rate_limit(exception: &ZendObject) -> Option<RateLimit> {
    if !classes::RATE_LIMITED.owns(exception) {
        return None;
    }
    let for_ms = delay_ms(exception)?;
    let group = property(classes::RATE_LIMITED.entry(), exception, "group", |value| {
        value.zend_str().and_then(|name| Group::new(name.as_bytes()).ok())
    });
    Some(RateLimit { for_ms, group })
}

/// Milliseconds of a thrown `DelayQueue\Release`.
pub fn delay_ms(object: &ZendObject) -> Option<u64> {
    if !classes::RELEASE.owns(object) {
        return None;
    }
    let seconds = property(classes::RELEASE.entry(), object, "delay", Zval::double).unwrap_or(0.0);
    Some(crate::core::duration::from_seconds(seconds.max(0.0)).unwrap_or(0))
}
