//! `push()`, `tryPush()`, `pushMany()`, `producer()` and `prepare()`.

use super::call::Call;
use super::classes::{self, cases, properties};
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::throw_storing;
use super::fields::Fields;
use super::object::{Plain, make};
use super::unwind::Outcome;
use super::{args, backoff, items, times};
use crate::core::job::{Due, JobId, NewJob, OnDuplicate};
use crate::core::record;
use ext_php_rs::types::Zval;

pub fn push(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let job = Fields::of_push(call)?.job(&this.defaults)?;
    Ok(convert::bytes(this.queue.push(job)?.as_bytes()))
}

/// As `push()`; null where the job was not stored for its id.
pub fn try_push(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let job = Fields::of_first(call)?.job(&this.defaults)?;
    Ok(convert::nullable(this.queue.try_push(job)?, |id| convert::bytes(id.as_bytes())))
}

pub fn push_many(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let mut ids = Vec::new();
    let check = |item: &Zval, index| Fields::of_item(item, index)?.job(&this.defaults);
    items::each_chunk(call, check, |jobs| {
        let before = ids.len();
        let pushed = this.queue.push_many(jobs, &mut ids);
        pushed.map_err(|error| throw_storing(error.with_items_at(|position| before + position), &ids))
    })?;
    Ok(convert::list(ids.iter().map(|id: &JobId| convert::bytes(id.as_bytes()))))
}

/// The classic producer: an absolute Unix time as the score, and the same id replaces.
pub fn producer(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let at_us = call.required(2, |value, origin| times::unix_us(args::number(value, origin)?, f64::ceil, origin))?;
    let payload = call.required(3, |value, origin| match value.is_array() {
        true => this.defaults.encoding.encode(value, origin),
        false => Err(origin.wrong_type("array", value)),
    })?;
    let job = NewJob {
        id: Some(id),
        payload,
        due: Due::AtUs(at_us),
        options: this.defaults.options.clone(),
        on_duplicate: OnDuplicate::Replace,
        unique_ms: None,
    };
    this.queue.push(job)?;
    Ok(convert::bool(true))
}

/// The job that a push would store, for programs that store it elsewhere first. Asks no Redis.
pub fn prepare(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let job = Fields::of_first(call)?.job(&this.defaults)?;
    let (delay, due_at) = convert::due(job.due);
    let on_duplicate = match job.on_duplicate {
        OnDuplicate::Fail => cases::OnDuplicate::Fail,
        OnDuplicate::Keep => cases::OnDuplicate::Keep,
        OnDuplicate::Replace => cases::OnDuplicate::Replace,
    };
    let options = job.options;
    let properties = properties::PreparedJob {
        id: convert::bytes(job.id.unwrap_or_else(JobId::generate).as_bytes()),
        body: convert::bytes(&job.payload),
        headers: convert::texts(&options.headers),
        delay,
        due_at,
        priority: convert::int(options.priority),
        ttr: convert::float(convert::seconds(options.ttr_ms)),
        max_attempts: convert::int(options.max_attempts),
        backoff: backoff::object(options.backoff.clone().unwrap_or_default())?,
        timeout: convert::float(convert::seconds(options.timeout_ms)),
        on_duplicate: classes::case_object(on_duplicate),
        unique: convert::nullable(job.unique_ms, |ms| convert::float(convert::seconds(ms))),
        group: convert::nullable(options.group(), convert::bytes),
        extras: convert::nullable(record::encode_extras(&options.extras), convert::bytes),
    };
    make(Plain, properties)
}
