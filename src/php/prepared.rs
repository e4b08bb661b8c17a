//! `prepare()` and `DelayQueue\PreparedJob`: what a push would store, for programs that store it elsewhere first.

use super::backoff;
use super::call::{Call, Outcome};
use super::classes::{cases, properties};
use super::convert;
use super::delay_queue::DelayQueue;
use super::enums;
use super::headers;
use super::new_job::Fields;
use super::object::{Plain, make};
use crate::core::job::{Due, JobId, OnDuplicate};
use crate::core::{record, traits};
use ext_php_rs::types::Zval;

/// Asks no Redis.
pub fn prepare(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let job = Fields::of_call(call).job(&this.defaults)?;
    let (delay, due_at) = match job.due {
        Due::InMs(ms) => (convert::float(convert::seconds(ms)), convert::null()),
        Due::AtUs(us) => (convert::null(), convert::float(convert::unix_seconds_of_us(us))),
    };
    let on_duplicate = match job.on_duplicate {
        OnDuplicate::Fail => cases::OnDuplicate::Fail,
        OnDuplicate::Keep => cases::OnDuplicate::Keep,
        OnDuplicate::Replace => cases::OnDuplicate::Replace,
    };
    let options = job.options;
    let properties = properties::PreparedJob {
        id: convert::bytes(job.id.unwrap_or_else(JobId::generate).as_bytes()),
        body: convert::bytes(&job.payload),
        headers: headers::array(&options.headers),
        delay,
        due_at,
        priority: convert::int(options.priority),
        ttr: convert::float(convert::seconds(options.ttr_ms)),
        max_attempts: convert::int(options.max_attempts),
        backoff: backoff::object(options.backoff)?,
        timeout: convert::float(convert::seconds(options.timeout_ms)),
        on_duplicate: enums::object(on_duplicate),
        unique: convert::nullable(job.unique_ms, |ms| convert::float(convert::seconds(ms))),
        group: convert::nullable(traits::group(&options.extras.traits), convert::bytes),
        extras: convert::nullable(record::encode_extras(&options.extras), convert::bytes),
        partitions: convert::int(this.queue.count_of_parts()),
        is_sealed: convert::bool(this.queue.first().has_keys()),
    };
    make(Plain, properties)
}
