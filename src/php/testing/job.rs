//! Jobs that no Redis knows.

use super::check;
use crate::core::dsn::Dsn;
use crate::core::groups::Group;
use crate::core::job::{
    DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, DEFAULT_TTR_MS, JobId, JobOptions, LeaseReceipt, Reserved,
};
use crate::core::queue::Queue;
use crate::core::traits::Traits;
use crate::php::call::Call;
use crate::php::classes::properties;
use crate::php::delay_queue::DelayQueue;
use crate::php::job::{self, Job};
use crate::php::job_info::JobInfo;
use crate::php::options::QueueOptions;
use crate::php::origin::Origin;
use crate::php::payload::Encoding;
use crate::php::recorder::Recorder;
use crate::php::unwind::Outcome;
use crate::php::{args, callbacks, convert, headers, object, times};
use ext_php_rs::types::Zval;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Nobody listens there, and nobody is asked: the calls of these jobs end in their recorders.
const NOWHERE: &[u8] = b"redis+unix:///dev/null";

/// A job as a worker would get it.
struct TestJob {
    id: JobId,
    queue: String,
    body: Vec<u8>,
    payload: Zval,
    options: JobOptions,
    attempts: u32,
    created_at_us: i64,
    due_at_us: i64,
    token: i64,
    group: Option<Group>,
    last_error: Option<Vec<u8>>,
}

impl TestJob {
    fn object(mut self, encoding: Encoding, listener: Zval) -> Outcome<Zval> {
        if let Some(group) = &self.group {
            self.options.extras.traits = Traits::default().group(group).before(&[]);
        }
        let lease_until = Instant::now().checked_add(Duration::from_millis(self.options.ttr_ms));
        let lease = format!("- {} {} test", self.token, self.due_at_us).into_bytes();
        let options = QueueOptions { persistent: false, ..QueueOptions::default() };
        let queue = Queue::new(options.config(self.queue.clone(), Dsn::shared(NOWHERE)?));
        let reserved = Reserved {
            id: self.id.clone(),
            queue: Arc::from(self.queue),
            payload: self.body,
            options: self.options,
            attempts: self.attempts,
            created_at_ms: self.created_at_us.div_euclid(1000),
            due_at_us: self.due_at_us,
            reserved_at_us: times::now_us(),
            lease_until: lease_until.unwrap_or_else(Instant::now),
            receipt: LeaseReceipt { id: self.id, lease: Arc::from(lease) },
            last_error: self.last_error,
        };
        job::recorded(queue, reserved, self.payload, encoding, Recorder::new(listener))
    }
}

pub fn job(call: &Call) -> Outcome<Zval> {
    check()?;
    let encoding = QueueOptions::default().defaults.encoding;
    let body = call.required(1, |value, origin| encoding.encode(value, origin))?;
    let listener = call.nullable(10, callbacks::callable)?.unwrap_or_else(convert::null);
    let made = TestJob {
        id: call.optional(2, args::id)?.unwrap_or_else(|| JobId::from_redis(b"test")),
        queue: call.optional(5, args::queue_name)?.unwrap_or_else(|| String::from("default")),
        // As a worker sees it: an object has become an array.
        payload: encoding.format.decode_or_null(&body)?,
        body,
        options: JobOptions {
            headers: call.optional(4, headers::read)?.unwrap_or_default(),
            max_attempts: call.optional(6, args::max_attempts)?.unwrap_or(DEFAULT_MAX_ATTEMPTS),
            priority: call.optional(7, args::priority)?.unwrap_or(DEFAULT_PRIORITY),
            ttr_ms: call.optional(8, times::ttr)?.unwrap_or(DEFAULT_TTR_MS),
            ..JobOptions::default()
        },
        attempts: call.optional(3, args::u32_in(1, u32::MAX))?.unwrap_or(1),
        created_at_us: times::now_us(),
        due_at_us: times::now_us(),
        token: 1,
        group: call.nullable(11, args::group)?,
        last_error: call.nullable(9, args::bytes)?.map(std::borrow::Cow::into_owned),
    };
    made.object(encoding, listener)
}

fn us(value: Option<&Zval>) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "times of the far future lose digits, not their order")]
    value.and_then(Zval::double).map_or(0, |seconds| (seconds * 1_000_000.0).round() as i64)
}

fn number(value: Option<&Zval>) -> u32 {
    value.and_then(Zval::long).and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

/// The job that `reserve()` would give for a job that looks so.
pub fn job_of(call: &Call) -> Outcome<Zval> {
    check()?;
    let info = call.required(1, args::object_with::<JobInfo>)?;
    let queue = call.required(2, args::inside::<DelayQueue>)?;
    let listener = call.required(4, callbacks::callable)?;
    let property = |name: &str| object::property::<properties::JobInfo>(info, name);
    let bytes = |name: &str| property(name).and_then(Zval::zend_str).map(|text| text.as_bytes().to_vec());
    let made = TestJob {
        id: JobId::from_redis(&bytes("id").unwrap_or_default()),
        queue: String::from_utf8_lossy(&bytes("queue").unwrap_or_default()).into_owned(),
        payload: property("payload").map_or_else(convert::null, Zval::shallow_clone),
        body: bytes("body").unwrap_or_default(),
        options: JobOptions {
            headers: property("headers").map_or(Ok(Vec::new()), |value| headers::read(value, Origin::Argument(1)))?,
            max_attempts: number(property("maxAttempts")),
            priority: number(property("priority")),
            ttr_ms: crate::core::duration::from_seconds(property("ttr").and_then(Zval::double).unwrap_or(0.0))
                .unwrap_or(0),
            ..JobOptions::default()
        },
        attempts: number(property("attempts")).saturating_add(1),
        created_at_us: us(property("createdAt")),
        due_at_us: us(property("dueAt")),
        token: call.required(3, args::int)?,
        group: bytes("group").map(|name| Group::from_redis(&name)),
        last_error: bytes("lastError"),
    };
    made.object(queue.defaults.encoding, listener)
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
