//! Jobs that no Redis knows.

use super::check;
use crate::core::dsn::Dsn;
use crate::core::job::{
    DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, DEFAULT_TTR_MS, JobId, JobOptions, LeaseReceipt, Reserved,
};
use crate::core::queue::Queue;
use crate::core::traits::Traits;
use crate::php::call::Call;
use crate::php::job::{self, Job};
use crate::php::options::QueueOptions;
use crate::php::recorder::Recorder;
use crate::php::unwind::Outcome;
use crate::php::{args, callbacks, convert, headers, times};
use ext_php_rs::types::Zval;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Nobody listens there, and nobody is asked: the calls of these jobs end in their recorders.
const NOWHERE: &[u8] = b"redis+unix:///dev/null";

/// As a worker would get it.
pub fn job(call: &Call) -> Outcome<Zval> {
    check()?;
    let encoding = QueueOptions::default().defaults.encoding;
    let body = call.required(1, |value, origin| encoding.encode(value, origin))?;
    let id = call.optional(2, args::id)?.unwrap_or_else(|| JobId::from_redis(b"test"));
    let name = call.optional(5, args::queue_name)?.unwrap_or_else(|| String::from("default"));
    let listener = call.nullable(10, callbacks::callable)?.unwrap_or_else(convert::null);
    let mut options = JobOptions {
        headers: call.optional(4, headers::read)?.unwrap_or_default(),
        max_attempts: call.optional(6, args::max_attempts)?.unwrap_or(DEFAULT_MAX_ATTEMPTS),
        priority: call.optional(7, args::priority)?.unwrap_or(DEFAULT_PRIORITY),
        ttr_ms: call.optional(8, times::ttr)?.unwrap_or(DEFAULT_TTR_MS),
        ..JobOptions::default()
    };
    if let Some(group) = call.nullable(11, args::group)? {
        options.extras.traits = Traits::default().group(&group).before(&[]);
    }
    let now_us = times::now_us();
    let of_queue = QueueOptions { persistent: false, ..QueueOptions::default() };
    let queue = Queue::new(of_queue.config(name.clone(), Dsn::shared(NOWHERE)?));
    // An object has become an array.
    let payload = encoding.format.decode_or_null(&body)?;
    let reserved = Reserved {
        id: id.clone(),
        queue: Arc::from(name),
        payload: body,
        attempts: call.optional(3, args::u32_in(1, u32::MAX))?.unwrap_or(1),
        created_at_ms: now_us.div_euclid(1000),
        due_at_us: now_us,
        reserved_at_us: now_us,
        lease_until: Instant::now().checked_add(Duration::from_millis(options.ttr_ms)).unwrap_or_else(Instant::now),
        receipt: LeaseReceipt { id, lease: Arc::from(format!("- 1 {now_us} test").into_bytes()) },
        timeouts: 0,
        last_error: call.nullable(9, args::bytes)?.map(std::borrow::Cow::into_owned),
        options,
    };
    job::recorded(queue, reserved, payload, encoding, Recorder::new(listener))
}

fn recorder(call: &Call) -> Outcome<&Recorder> {
    check()?;
    call.required(1, |value, origin| {
        let recorder = args::inside::<Job>(value, origin)?.recorder.as_ref();
        recorder.ok_or_else(|| origin.value_error("must be a job of DelayQueue\\Testing::job()"))
    })
}

/// The call that settled it.
pub fn outcome(call: &Call) -> Outcome<Zval> {
    let recorder = recorder(call)?;
    let settled = call.required(1, args::inside::<Job>)?.is_settled();
    let last = recorder.calls().pop().filter(|_| settled);
    Ok(last.unwrap_or_else(convert::null))
}

pub fn calls(call: &Call) -> Outcome<Zval> {
    Ok(convert::list(recorder(call)?.calls()))
}
