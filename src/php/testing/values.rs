//! The values that a queue gives, for doubles of `QueueInterface`.

use super::check;
use crate::core::groups::GroupStats;
use crate::core::job::{DEFAULT_PRIORITY, JobId, JobInfo, JobOptions, Place, State};
use crate::core::queue::{PushOnce, Stats};
use crate::core::registry::{Activity, Headcount};
use crate::php::call::Call;
use crate::php::classes::properties::JobInfo as InfoProperties;
use crate::php::convert::ArrayKey;
use crate::php::exceptions::set_property;
use crate::php::object::{self, Properties, property, unfilled};
use crate::php::origin::Origin;
use crate::php::payload::Format;
use crate::php::unwind::{Outcome, Unwind};
use crate::php::{args, convert, groups, job_info, once, stats, sys, times};
use ext_php_rs::types::Zval;
use std::cell::OnceCell;

/// An answer of `pushOnce()`.
pub fn push_once(call: &Call) -> Outcome<Zval> {
    check()?;
    let count = |number| call.optional(number, args::at_least(0)).map(Option::unwrap_or_default);
    once::object(PushOnce { added: count(1)?, kept: count(2)?, known: count(3)? })
}

/// Numbers of no group.
pub fn group_stats(call: &Call) -> Outcome<Zval> {
    check()?;
    let count = |number| call.optional(number, args::at_least(0)).map(Option::unwrap_or_default);
    #[expect(clippy::cast_possible_truncation, reason = "times of the far future lose digits, not their order")]
    let moment = |number| -> Outcome<Option<i64>> {
        Ok(call.nullable(number, args::number)?.map(|seconds| (seconds * 1_000_000.0).round() as i64))
    };
    groups::stats_object(&GroupStats {
        waiting: count(1)?,
        reserved: count(2)?,
        next_turn_at_us: moment(3)?,
        closed_until_us: moment(4)?,
        is_paused: call.bool_or(5, false)?,
    })
}

fn blank(now_us: i64) -> JobInfo {
    JobInfo {
        id: JobId::from_redis(b"test"),
        queue: String::from("default"),
        state: State::Ready,
        payload: b"null".to_vec(),
        options: JobOptions::default(),
        attempts: 0,
        created_at_ms: now_us.div_euclid(1000),
        due_at_us: now_us,
        lease_until_us: None,
        timeouts: 0,
        releases: 0,
        buries: 0,
        kicks: 0,
        first_due_at_us: None,
        last_error: None,
        seal_error: None,
        partition: 0,
    }
}

/// One with these properties; the others are those of another, or of a new job.
pub fn job_info(call: &Call) -> Outcome<Zval> {
    check()?;
    let blank = job_info::object(&blank(times::now_us()), Format::Json)?;
    let like = call.nullable(2, args::object_with::<job_info::JobInfo>)?;
    let Some(like) = like.or_else(|| blank.object()) else { return Err(Unwind::Thrown) };
    let changes = properties(call)?;
    if let Some((key, _)) = changes.iter().find(|(key, _)| !InfoProperties::NAMES.contains(&key.as_str())) {
        return Err(unknown(key));
    }
    let mut made = unfilled(InfoProperties::class(), job_info::JobInfo { place: OnceCell::new() })?;
    let Some(object) = made.object_mut() else { return Err(Unwind::Thrown) };
    for name in InfoProperties::NAMES {
        let change = changes.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let value = change.or_else(|| property::<InfoProperties>(like, name));
        // The engine checks the type.
        set_property(
            InfoProperties::class().entry(),
            object,
            name,
            &mut value.map_or_else(convert::null, Zval::shallow_clone),
        );
        if sys::exception_pending() {
            return Err(Unwind::Thrown);
        }
    }
    if let (Some(inside), Some(place)) = (object::inside::<job_info::JobInfo>(&made), place(&made)) {
        let _ = inside.place.set(place);
    }
    Ok(made)
}

/// Where the properties of a job say that it is; `None`: no queue has such an id or priority.
fn place(job: &Zval) -> Option<Place> {
    let is = |name| property::<InfoProperties>(job.object()?, name).filter(|value| !value.is_null());
    let seconds = is("leaseUntil").or_else(|| is("dueAt"))?.double()?;
    let priority =
        if is("group").is_some() { DEFAULT_PRIORITY } else { u32::try_from(is("priority")?.long()?).ok()? };

    Some(Place {
        state: args::state(is("state")?, Origin::Argument(1)).ok()?,
        priority,
        at_us: (seconds * 1e6).round() as i64,
        id: JobId::new(is("id")?.zend_str()?.as_bytes()).ok()?,
        partition: 0,
    })
}

fn unknown(key: &str) -> Unwind {
    Origin::Argument(1).value_error(&format!("has the unknown key \"{key}\""))
}

/// The first argument, by its keys.
fn properties(call: &Call) -> Outcome<Vec<(String, Zval)>> {
    let Some(given) = call.arg(1) else { return Ok(Vec::new()) };
    let Some(table) = given.array() else { return Err(Origin::Argument(1).wrong_type("array", given)) };
    let named = convert::entries(table).map(|(key, value)| match key {
        ArrayKey::Text(text) => Ok((String::from_utf8_lossy(text).into_owned(), value.shallow_clone())),
        ArrayKey::Int(_) => Err(unknown(&key.to_string())),
    });
    named.collect()
}

/// Numbers of a queue.
pub fn stats(call: &Call) -> Outcome<Zval> {
    check()?;
    let name = call
        .optional(2, args::bytes)?
        .map_or_else(|| "default".into(), |name| String::from_utf8_lossy(&name).into_owned());
    let mut numbers = Stats::default();
    for (key, value) in properties(call)? {
        if key == "paused" {
            numbers.paused = value.bool().ok_or_else(|| wrong(&key, "bool"))?;
            continue;
        }
        if key == "workers" {
            numbers.workers = headcount(&value).ok_or_else(|| wrong(&key, "?array, of non-negative ints by state"))?;
            continue;
        }
        if matches!(key.as_str(), "oldestReadyAge" | "nextDueAt") {
            if value.is_null() {
                continue;
            }
            // PHP takes an int for a float everywhere, and a division gives one.
            let seconds = value.double().or_else(|| value.long().map(|seconds| seconds as f64));
            let seconds = seconds.ok_or_else(|| wrong(&key, "?float"))?;
            #[expect(clippy::cast_possible_truncation, reason = "seconds of any queue")]
            let us = (seconds * 1_000_000.0).round() as i64;
            match key.as_str() {
                "nextDueAt" => numbers.next_due_at_us = Some(us),
                _ => numbers.oldest_ready_age_us = Some(u64::try_from(us).unwrap_or(0)),
            }
            continue;
        }
        let count = match key.as_str() {
            "delayed" => &mut numbers.delayed,
            "ready" => &mut numbers.ready,
            "reserved" => &mut numbers.reserved,
            "buried" => &mut numbers.buried,
            "blocked" => &mut numbers.blocked,
            "pushed" => &mut numbers.pushed,
            "acked" => &mut numbers.acked,
            "failed" => &mut numbers.failed,
            "timedOut" => &mut numbers.timed_out,
            "cancelled" => &mut numbers.cancelled,
            "expired" => &mut numbers.expired,
            _ => return Err(unknown(&key)),
        };
        *count =
            value.long().and_then(|count| u64::try_from(count).ok()).ok_or_else(|| wrong(&key, "non-negative int"))?;
    }
    stats::object(&name, numbers)
}

/// `Some(None)`: null; `None`: another value.
fn headcount(value: &Zval) -> Option<Option<Headcount>> {
    if value.is_null() {
        return Some(None);
    }
    let mut count = Headcount::default();
    for (key, value) in convert::entries(value.array()?) {
        let ArrayKey::Text(word) = key else { return None };
        let activity = Activity::ALL.into_iter().find(|activity| activity.word().as_bytes() == word)?;
        *count.of(activity) = value.long()?.try_into().ok()?;
    }
    Some(Some(count))
}

fn wrong(key: &str, expected: &str) -> Unwind {
    Origin::Argument(1).type_error_saying(&format!("must have \"{key}\" of type {expected}"))
}
