//! Jobs that no Redis knows.

use super::check;
use crate::core::groups::Group;
use crate::core::job::{DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, DEFAULT_TTR_MS, JobId, JobOptions, Receipt, Reserved};
use crate::core::queue::{Queue, QueueConfig, check_queue_name};
use crate::core::traits::Traits;
use crate::php::args::u32_in;
use crate::php::call::Call;
use crate::php::callable;
use crate::php::classes::properties;
use crate::php::delay_queue::DelayQueue;
use crate::php::exceptions::At;
use crate::php::job::{self, Job};
use crate::php::object::{self, inside, inside_object};
use crate::php::options::QueueOptions;
use crate::php::origin::Origin;
use crate::php::payload::Encoding;
use crate::php::recorder::Recorder;
use crate::php::unwind::{Outcome, throw_error};
use crate::php::{convert, groups, headers, job_info, times};
use ext_php_rs::types::Zval;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Nobody listens there, and nobody is asked: the calls of these jobs end in their recorders.
const NOWHERE: &[u8] = b"redis+unix:///dev/null";

fn queue_named(name: &str) -> Outcome<Queue> {
    let options = QueueOptions::default();
    Ok(Queue::new(QueueConfig {
        name: name.to_owned(),
        prefix: options.prefix,
        dsn: crate::core::dsn::Dsn::shared(NOWHERE)?,
        max_payload: options.defaults.encoding.max_payload,
        capacity: None,
        keyring: None,
        connect_timeout: options.connect_timeout,
        read_timeout: options.read_timeout,
        durability: options.durability,
        persistent: false,
    }))
}

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
        let lease = format!("{} {} test", self.token, self.due_at_us).into_bytes();
        let queue = queue_named(&self.queue)?;
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
            receipt: Receipt { id: self.id, lease: Arc::from(lease) },
            last_error: self.last_error,
        };
        job::recorded(queue, reserved, self.payload, encoding, Recorder::new(listener))
    }
}

pub fn job(call: &Call) -> Outcome<Zval> {
    check()?;
    let Some(payload) = call.arg(1) else { return Err(throw_error("job() needs a payload")) };
    let encoding = QueueOptions::default().defaults.encoding;
    let body = encoding.encode(payload, Origin::Argument(1))?;
    let listener = match call.non_null(10) {
        Some(_) => callable::argument(call, 10)?,
        None => convert::null(),
    };
    let number = |at: u32, default: u32, min: u32| {
        u32_in(call.int_or(at, i64::from(default))?, Origin::Argument(at), min, u32::MAX)
    };
    let made = TestJob {
        id: match call.optional_bytes(2)? {
            Some(bytes) => JobId::new(bytes).at(Origin::Argument(2))?,
            None => JobId::from_redis(b"test"),
        },
        queue: match call.optional_bytes(5)? {
            Some(bytes) => check_queue_name(&bytes).at(Origin::Argument(5))?,
            None => String::from("default"),
        },
        // As a worker sees it: an object has become an array.
        payload: encoding.format.decode_or_null(&body)?,
        body,
        options: JobOptions {
            headers: call
                .arg(4)
                .map(|value| headers::read(value, Origin::Argument(4)))
                .transpose()?
                .unwrap_or_default(),
            max_attempts: number(6, DEFAULT_MAX_ATTEMPTS, 0)?,
            priority: number(7, DEFAULT_PRIORITY, 0)?,
            ttr_ms: match call.arg(8) {
                Some(value) => times::ttr(value, Origin::Argument(8))?,
                None => DEFAULT_TTR_MS,
            },
            ..JobOptions::default()
        },
        attempts: number(3, 1, 1)?,
        created_at_us: times::now_us(),
        due_at_us: times::now_us(),
        token: 1,
        group: groups::nullable_name(call, 11)?,
        last_error: call.nullable_bytes(9)?.map(std::borrow::Cow::into_owned),
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
    let null = Zval::new();
    let given = call.arg(1).unwrap_or(&null);
    let Some(info) = given.object().filter(|object| inside_object::<job_info::JobInfo>(object).is_some()) else {
        return Err(call.type_error(1, given));
    };
    let queue = call.arg(2).unwrap_or(&null);
    let Some(queue) = inside::<DelayQueue>(queue) else { return Err(call.type_error(2, queue)) };
    let listener = callable::argument(call, 4)?;
    let property = |name: &str| object::property::<properties::JobInfo>(info, name);
    let bytes = |name: &str| property(name).and_then(Zval::zend_str).map(|text| text.as_bytes().to_vec());
    let made = TestJob {
        id: JobId::from_redis(&bytes("id").unwrap_or_default()),
        queue: String::from_utf8_lossy(&bytes("queue").unwrap_or_default()).into_owned(),
        payload: property("payload").map_or_else(convert::null, Zval::shallow_clone),
        body: bytes("body").unwrap_or_default(),
        options: JobOptions {
            headers: headers::read(property("headers").unwrap_or(&null), Origin::Argument(1))?,
            max_attempts: number(property("maxAttempts")),
            priority: number(property("priority")),
            ttr_ms: crate::core::duration::from_seconds(property("ttr").and_then(Zval::double).unwrap_or(0.0))
                .unwrap_or(0),
            ..JobOptions::default()
        },
        attempts: number(property("attempts")).saturating_add(1),
        created_at_us: us(property("createdAt")),
        due_at_us: us(property("dueAt")),
        token: call.int(3)?,
        group: bytes("group").map(|name| Group::from_redis(&name)),
        last_error: bytes("lastError"),
    };
    made.object(queue.defaults.encoding, listener)
}

fn recorder(call: &Call) -> Outcome<&Recorder> {
    check()?;
    let Some(given) = call.arg(1) else { return Err(throw_error("a job must be given")) };
    let Some(job) = inside::<Job>(given) else { return Err(call.type_error(1, given)) };
    match &job.recorder {
        Some(recorder) => Ok(recorder),
        None => Err(Origin::Argument(1).value_error("must be a job of DelayQueue\\Testing::job()")),
    }
}

/// The call that settled it.
pub fn outcome(call: &Call) -> Outcome<Zval> {
    let recorder = recorder(call)?;
    let settled = call.arg(1).and_then(inside::<Job>).is_some_and(Job::is_settled);
    let last = recorder.calls().pop().filter(|_| settled);
    Ok(last.unwrap_or_else(convert::null))
}

pub fn calls(call: &Call) -> Outcome<Zval> {
    Ok(convert::list(recorder(call)?.calls()))
}
