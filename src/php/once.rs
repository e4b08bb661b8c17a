//! `pushOnce()` and the receipts: jobs that arrive once, with their past.

use super::call::Call;
use super::classes::properties;
use super::convert::{self, ArrayKey};
use super::delay_queue::DelayQueue;
use super::fields::Fields;
use super::object::{Plain, make};
use super::options::Defaults;
use super::origin::Origin;
use super::unwind::{Outcome, Unwind};
use super::{args, headers, items, payload, times};
use crate::core::job::{OnDuplicate, State};
use crate::core::queue::{OnceJob, PushOnce as Core};
use crate::core::record::History;
use ext_php_rs::types::Zval;

pub fn push_once(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let mut sum = Core::default();
    items::each_chunk(
        call,
        |item, index| once_job(item, index, &this.defaults),
        |jobs| {
            sum.add(this.queue.push_once(jobs)?);
            Ok(())
        },
    )?;
    object(sum)
}

pub fn object(sum: Core) -> Outcome<Zval> {
    let (added, kept, known) = (convert::int(sum.added), convert::int(sum.kept), convert::int(sum.known));
    make(Plain, properties::PushOnce { added, kept, known })
}

/// An item of `pushOnce()`. Without a payload it is a receipt alone.
pub fn once_job(item: &Zval, index: usize, defaults: &Defaults) -> Outcome<OnceJob> {
    let fields = Fields::of_item_once(item, index)?;
    let Some(receipt) = fields.given("receipt", args::id)? else {
        return Err(fields.get("receipt").1.value_error("must be given"));
    };
    let receipt = receipt.as_bytes().to_vec();
    let is_receipt_only = fields.get("payload").0.is_none();
    let sealed = fields.nullable("seal", headers::read_seal)?;
    let mut job = if is_receipt_only {
        fields.without_payload(defaults)?
    } else {
        fields.job_with(defaults, OnDuplicate::Keep, |value, origin| match &sealed {
            None => defaults.encoding.encode(value, origin),
            Some(_) => payload::stored(value, origin).map(<[u8]>::to_vec),
        })?
    };
    if job.on_duplicate == OnDuplicate::Fail {
        let must = "must be OnDuplicate::Keep or Replace: a job whose id is taken is kept, and counted";
        return Err(fields.get("onDuplicate").1.value_error(must));
    }
    job.options.seal = sealed;
    let is_buried = fields.nullable("state", |value, origin| match args::state(value, origin)? {
        State::Buried => Ok(true),
        _ => Err(origin.value_error("must be State::Buried or null")),
    })?;
    let created_at_ms = fields.nullable("createdAt", |value, origin| Ok(unix_us(value, origin)?.div_euclid(1000)))?;
    let past = fields.nullable("past", past)?;
    Ok(OnceJob { receipt, job, is_receipt_only, created_at_ms, past, is_buried: is_buried == Some(true) })
}

/// Unix seconds that are not before 1970.
fn unix_us(value: &Zval, origin: Origin<'_>) -> Outcome<i64> {
    match args::number(value, origin)? {
        seconds if seconds < 0.0 => Err(origin.value_error("must be greater than or equal to 0")),
        seconds => times::unix_us(seconds, f64::round, origin),
    }
}

/// The past of a job, by the names of `JobInfo`.
fn past(value: &Zval, origin: Origin<'_>) -> Outcome<History> {
    let Some(table) = value.array() else { return Err(origin.wrong_type("array", value)) };
    let mut past = History::default();
    for (key, value) in convert::entries(table) {
        let ArrayKey::Text(name) = key else { return Err(unknown(&key, origin)) };
        let words = format!("past.{key}");
        let here = match origin {
            Origin::NullableKey(index, _) if matches!(name, b"firstDueAt" | b"lastError") => {
                Origin::NullableKey(index, &words)
            }
            Origin::NullableKey(index, _) => Origin::Key(index, &words),
            elsewhere => elsewhere,
        };
        let count = match name {
            b"attempts" => &mut past.attempts,
            b"timeouts" => &mut past.timeouts,
            b"releases" => &mut past.releases,
            b"buries" => &mut past.buries,
            b"kicks" => &mut past.kicks,
            b"firstDueAt" => {
                if !value.is_null() {
                    past.first_due_us = unix_us(value, here)?;
                }
                continue;
            }
            b"lastError" => {
                if !value.is_null() {
                    past.last_error = Some(super::reason::bounded(&args::bytes(value, here)?));
                }
                continue;
            }
            _ => return Err(unknown(&key, origin)),
        };
        *count = args::u32_in(0, u32::MAX - 1)(value, here)?;
    }
    Ok(past)
}

fn unknown(key: &ArrayKey<'_>, origin: Origin<'_>) -> Unwind {
    origin.value_error(&format!("has the unknown key \"{key}\""))
}

pub fn receipts(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let older_than_ms = call.optional(1, times::span)?.unwrap_or(0);
    let prefix = call.optional(2, args::bytes)?.unwrap_or_default();
    let limit = call.optional(3, args::at_least(1))?.unwrap_or(1000);
    let found = this.queue.receipts(older_than_ms, &prefix, usize::try_from(limit).unwrap_or(usize::MAX))?;
    Ok(convert::list(found.iter().map(convert::bytes)))
}

pub fn taken_ids(this: &DelayQueue) -> Outcome<Zval> {
    let taken = this.queue.taken_ids()?;
    Ok(convert::list(taken.iter().map(|(id, until_us)| {
        convert::map([
            ("id", convert::bytes(id.as_bytes())),
            ("until", convert::float(convert::unix_seconds_of_us(*until_us))),
        ])
    })))
}

pub fn forget_receipts(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let names = call.each(1, |value, origin| Ok(args::id(value, origin)?.as_bytes().to_vec()))?;
    if names.is_empty() {
        return Ok(convert::int(0));
    }
    Ok(convert::int(this.queue.sum(None, "receipts forgotten", |part| part.forget_receipts(&names))?))
}
