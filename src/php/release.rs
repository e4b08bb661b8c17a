//! `DelayQueue\Release` and `DelayQueue\RateLimited`: exceptions by which a handler gives its job back.

use super::call::Call;
use super::exceptions::{property, set_property};
use super::unwind::{Outcome, Unwind};
use super::{args, classes, convert, sys, times};
use crate::core::groups::Group;
use crate::core::job::Due;
use ext_php_rs::types::{ZendObject, Zval};

/// `new Release('30s', 'rate limited')`, `new Release(new DateTimeImmutable('tomorrow'), countAttempt: false)`
pub fn construct_release(call: &Call) -> Outcome<Zval> {
    let due = call.optional(1, times::due)?.unwrap_or(Due::InMs(0));
    let message = call.optional(2, args::bytes)?;
    let back = Back { due, count_attempt: call.bool_or(3, true)? };
    fill_release(call.object()?, &back, message.as_deref())?;
    Ok(convert::null())
}

/// When a job comes back, and whether its attempt counts.
pub struct Back {
    pub due: Due,
    pub count_attempt: bool,
}

/// Sets the properties that `Release` has, in its constructor and in those of its subclasses.
fn fill_release(object: *mut ZendObject, back: &Back, message: Option<&[u8]>) -> Outcome<()> {
    let (delay, due_at) = convert::due(back.due);
    let values = [("delay", delay), ("dueAt", due_at), ("countAttempt", convert::bool(back.count_attempt))];
    let message = message.map(|message| (sys::find_class("Exception"), "message", convert::bytes(message)));
    let values = values.map(|(name, value)| (classes::RELEASE.entry(), name, value));
    for (class, name, mut value) in values.into_iter().chain(message) {
        set_property(class, object, name, &mut value);
        if sys::exception_pending() {
            return Err(Unwind::Thrown);
        }
    }
    Ok(())
}

/// `new RateLimited('30s')`, or `new RateLimited($seconds, 'tenant-42', 'too many requests')`
pub fn construct_rate_limited(call: &Call) -> Outcome<Zval> {
    let for_ms = call.required(1, times::span)?;
    let group = call.nullable(2, args::group)?;
    let message = call.optional(3, args::bytes)?;
    let back = Back { due: Due::InMs(for_ms), count_attempt: false };
    fill_release(call.object()?, &back, message.as_deref())?;
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
    let for_ms = delay_ms(exception);
    let group = property(classes::RATE_LIMITED.entry(), exception, "group", |value| {
        value.zend_str().and_then(|name| Group::new(name.as_bytes()).ok())
    });
    Some(RateLimit { for_ms, group })
}

/// What a thrown `DelayQueue\Release` asks for. One whose constructor did not run comes back at once, and counts.
pub fn back(object: &ZendObject) -> Option<Back> {
    if !classes::RELEASE.owns(object) {
        return None;
    }
    let seconds = |name| property(classes::RELEASE.entry(), object, name, Zval::double);
    let due = match seconds("dueAt") {
        Some(seconds) => Due::AtUs((seconds * 1e6).round() as i64),
        None => Due::InMs(delay_ms(object)),
    };
    let count_attempt = property(classes::RELEASE.entry(), object, "countAttempt", Zval::bool).unwrap_or(true);
    Some(Back { due, count_attempt })
}

fn delay_ms(object: &ZendObject) -> u64 {
    let seconds = property(classes::RELEASE.entry(), object, "delay", Zval::double).unwrap_or(0.0);
    crate::core::duration::from_seconds(seconds.max(0.0)).unwrap_or(0)
}
