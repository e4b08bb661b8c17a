//! `DelayQueue\JobInfo`: a look at a job.

use super::classes::{self, cases, properties};
use super::object::{Handlers, Inside, make};
use super::payload::Format;
use super::unwind::Outcome;
use super::{backoff, convert, headers};
use crate::core::job::{Fingerprint, JobInfo as Core, Place, WaitReason};
use crate::core::{record, traits};
use ext_php_rs::types::Zval;
use std::cell::OnceCell;
use std::sync::OnceLock;

/// All that it tells lies in the properties.
pub struct JobInfo {
    /// Where a queue has seen the job. Floats of Unix seconds do not know each microsecond.
    pub place: OnceCell<Place>,
    /// `None` of one that no queue has shown.
    pub fingerprint: Option<Fingerprint>,
}

impl Inside for JobInfo {
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
}

/// The payload of a body that is not JSON, or not to be trusted, is null; the body tells.
pub fn object(info: &Core, format: Format) -> Outcome<Zval> {
    let payload = match format {
        _ if info.seal_error.is_some() => convert::null(),
        format => format.decode_or_null(&info.payload)?,
    };
    let moment = |us: i64| convert::float(convert::unix_seconds_of_us(us));
    // A kick has lifted both.
    let limits: &[u8] = if info.kicks == 0 { &info.options.extras.traits } else { &[] };
    let first_due_us = info.first_due_at_us.unwrap_or(info.due_at_us);
    let expires_at_us = traits::expires_at_us(limits, first_due_us);
    let (options, waiting) = (&info.options, info.waiting.as_ref());
    let properties = properties::JobInfo {
        id: convert::bytes(info.id.as_bytes()),
        queue: convert::bytes(&info.queue),
        state: classes::state_object(info.state),
        payload,
        body: convert::bytes(&info.payload),
        attempts: convert::int(info.attempts),
        max_attempts: convert::int(options.max_attempts),
        priority: convert::int(options.priority),
        ttr: convert::float(convert::seconds(options.ttr_ms)),
        timeout: convert::float(convert::seconds(options.timeout_ms)),
        backoff: backoff::object(options.backoff.clone().unwrap_or_default())?,
        created_at: convert::float(convert::unix_seconds(info.created_at_ms)),
        due_at: moment(info.due_at_us),
        lease_until: convert::nullable(info.lease_until_us, moment),
        timeouts: convert::int(info.timeouts),
        releases: convert::int(info.releases),
        buries: convert::int(info.buries),
        kicks: convert::int(info.kicks),
        first_due_at: convert::nullable(info.first_due_at_us, moment),
        expires_at: convert::nullable(expires_at_us.map(|(at_us, _)| at_us), moment),
        retry_until: convert::nullable(traits::retry_until_us(limits, first_due_us), moment),
        last_error: convert::nullable(info.last_error.as_deref(), convert::bytes),
        headers: convert::texts(&options.headers),
        group: convert::nullable(options.group(), convert::bytes),
        seal: convert::nullable(options.seal.as_ref(), headers::seal_array),
        seal_error: convert::nullable(info.seal_error.as_ref(), |why| convert::bytes(why.to_string())),
        extras: convert::nullable(record::encode_extras(&options.extras), convert::bytes),
        waits_for: convert::nullable(waiting, |waiting| classes::case_object(reason(waiting.reason))),
        earliest_at: convert::nullable(waiting.and_then(|waiting| waiting.until_us), moment),
        ahead: convert::nullable(waiting.and_then(|waiting| waiting.ahead), convert::int),
        held_up_by: convert::nullable(waiting.and_then(|waiting| waiting.held_up_by.as_ref()), |id| {
            convert::bytes(id.as_bytes())
        }),
    };
    make(JobInfo { place: info.place().into(), fingerprint: info.fingerprint.clone() }, properties)
}

fn reason(reason: WaitReason) -> cases::WaitReason {
    match reason {
        WaitReason::Delay => cases::WaitReason::Delay,
        WaitReason::QueuePaused => cases::WaitReason::QueuePaused,
        WaitReason::GroupPaused => cases::WaitReason::GroupPaused,
        WaitReason::GroupClosed => cases::WaitReason::GroupClosed,
        WaitReason::GroupOrder => cases::WaitReason::GroupOrder,
        WaitReason::GroupConcurrency => cases::WaitReason::GroupConcurrency,
        WaitReason::GroupRate => cases::WaitReason::GroupRate,
        WaitReason::QueueLimit => cases::WaitReason::QueueLimit,
        WaitReason::Line => cases::WaitReason::Line,
        WaitReason::Nothing => cases::WaitReason::Nothing,
    }
}

pub fn place(this: &JobInfo) -> Outcome<Zval> {
    Ok(convert::bytes(this.place.get().map(Place::to_bytes).unwrap_or_default()))
}
