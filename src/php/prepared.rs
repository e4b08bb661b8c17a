//! `prepare()` and `DelayQueue\PreparedJob`: what a push would store, for programs that store it elsewhere first.

use super::backoff;
use super::call::{Call, Outcome};
use super::class::{Class, Declaration, Kind, Rejected};
use super::convert;
use super::delay_queue::DelayQueue;
use super::enums;
use super::headers;
use super::new_job::Fields;
use super::object::{Handlers, Inside, creator, make};
use crate::core::job::{Due, JobId, OnDuplicate};
use crate::core::{record, traits};
use ext_php_rs::types::Zval;
use std::sync::OnceLock;

/// All there is lies in the properties.
pub struct PreparedJob;

static CLASS: Class = Class::new("DelayQueue\\PreparedJob");
static HANDLERS: OnceLock<Handlers> = OnceLock::new();

impl Inside for PreparedJob {
    fn class() -> &'static Class {
        &CLASS
    }
    fn handlers() -> &'static OnceLock<Handlers> {
        &HANDLERS
    }
}

pub fn register() -> Result<(), Rejected> {
    CLASS.register(&Declaration {
        kind: Kind::Final,
        parent: None,
        interfaces: &[],
        properties: &[
            "readonly string $id",
            "readonly string $body",
            "readonly array $headers",
            "readonly ?float $delay",
            "readonly ?float $dueAt",
            "readonly int $priority",
            "readonly float $ttr",
            "readonly int $maxAttempts",
            "readonly \\DelayQueue\\Backoff $backoff",
            "readonly float $timeout",
            "readonly \\DelayQueue\\OnDuplicate $onDuplicate",
            "readonly ?float $unique",
            "readonly ?string $group",
            "readonly ?string $extras",
            "readonly int $partitions",
            "readonly bool $isSealed",
        ],
        methods: &[],
        create: Some(creator::<PreparedJob>()),
    })
}

/// Asks no Redis.
pub fn prepare(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let job = Fields::of_call(call).job(&this.defaults)?;
    let (delay, due_at) = match job.due {
        Due::InMs(ms) => (convert::float(convert::seconds(ms)), convert::null()),
        Due::AtUs(us) => (convert::null(), convert::float(convert::unix_seconds_of_us(us))),
    };
    let on_duplicate = match job.on_duplicate {
        OnDuplicate::Fail => "Fail",
        OnDuplicate::Keep => "Keep",
        OnDuplicate::Replace => "Replace",
    };
    let options = job.options;
    let properties = vec![
        convert::bytes(job.id.unwrap_or_else(JobId::generate).as_bytes()),
        convert::bytes(&job.payload),
        headers::array(&options.headers),
        delay,
        due_at,
        convert::int(options.priority),
        convert::float(convert::seconds(options.ttr_ms)),
        convert::int(options.max_attempts),
        backoff::object(options.backoff)?,
        convert::float(convert::seconds(options.timeout_ms)),
        enums::case_of(&enums::ON_DUPLICATE, on_duplicate),
        convert::nullable(job.unique_ms, |ms| convert::float(convert::seconds(ms))),
        convert::nullable(traits::group(&options.extras.traits), convert::bytes),
        convert::nullable(record::encode_extras(&options.extras), convert::bytes),
        convert::int(this.queue.count_of_parts()),
        convert::bool(this.queue.first().has_keys()),
    ];
    make(PreparedJob, properties)
}
