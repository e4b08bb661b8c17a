//! `DelayQueue\JobInfo`: a look at a job.

use super::backoff;
use super::call::Outcome;
use super::class::{Class, Declaration, Kind, Rejected};
use super::convert;
use super::enums;
use super::headers;
use super::json;
use super::new_job::Format;
use super::object::{Handlers, Inside, creator, make};
use super::seal;
use crate::core::job::{JobInfo as Core, Place};
use crate::core::{record, traits};
use ext_php_rs::types::Zval;
use std::sync::OnceLock;

/// All that it tells lies in the properties.
pub struct JobInfo {
    /// Where a queue on Redis has seen the job; `None` of one that a test has made.
    pub place: Option<Place>,
}

pub static CLASS: Class = Class::new("DelayQueue\\JobInfo");
static HANDLERS: OnceLock<Handlers> = OnceLock::new();

impl Inside for JobInfo {
    fn class() -> &'static Class {
        &CLASS
    }
    fn handlers() -> &'static OnceLock<Handlers> {
        &HANDLERS
    }
}

/// In the order of the slots.
pub const PROPERTIES: [&str; 27] = [
    "readonly string $id",
    "readonly string $queue",
    "readonly \\DelayQueue\\State $state",
    "readonly mixed $payload",
    "readonly string $body",
    "readonly int $attempts",
    "readonly int $maxAttempts",
    "readonly int $priority",
    "readonly float $ttr",
    "readonly float $timeout",
    "readonly \\DelayQueue\\Backoff $backoff",
    "readonly float $createdAt",
    "readonly float $dueAt",
    "readonly ?float $leaseUntil",
    "readonly int $timeouts",
    "readonly int $releases",
    "readonly int $buries",
    "readonly int $kicks",
    "readonly ?float $firstDueAt",
    "readonly ?float $expiresAt",
    "readonly ?float $retryUntil",
    "readonly ?string $lastError",
    "readonly array $headers",
    "readonly ?string $group",
    "readonly ?array $seal",
    "readonly ?string $sealError",
    "readonly ?string $extras",
];

pub fn register() -> Result<(), Rejected> {
    CLASS.register(&Declaration {
        kind: Kind::Final,
        parent: None,
        interfaces: &[],
        properties: &PROPERTIES,
        methods: &[],
        create: Some(creator::<JobInfo>()),
    })
}

/// The payload of a body that is not JSON, or not to be trusted, is null; the body tells.
pub fn object(info: &Core, format: Format) -> Outcome<Zval> {
    let payload = match format {
        _ if info.seal_error.is_some() => convert::null(),
        Format::Raw => convert::bytes(&info.payload),
        Format::Json => json::decode(&info.payload)?.unwrap_or_else(|_| convert::null()),
    };
    let moment = |us: i64| convert::float(convert::unix_seconds_of_us(us));
    // A kick has lifted both.
    let limits: &[u8] = if info.kicks == 0 { &info.options.extras.traits } else { &[] };
    let first_due_us = info.first_due_at_us.unwrap_or(info.due_at_us);
    let expires_at_us = traits::expires_at_us(limits, first_due_us);
    let properties = vec![
        convert::bytes(info.id.as_bytes()),
        convert::bytes(&info.queue),
        enums::state_value(info.state),
        payload,
        convert::bytes(&info.payload),
        convert::int(info.attempts),
        convert::int(info.options.max_attempts),
        convert::int(info.options.priority),
        convert::float(convert::seconds(info.options.ttr_ms)),
        convert::float(convert::seconds(info.options.timeout_ms)),
        backoff::object(info.options.backoff.clone())?,
        convert::float(convert::unix_seconds(info.created_at_ms)),
        moment(info.due_at_us),
        convert::nullable(info.lease_until_us, moment),
        convert::int(info.timeouts),
        convert::int(info.releases),
        convert::int(info.buries),
        convert::int(info.kicks),
        convert::nullable(info.first_due_at_us, moment),
        convert::nullable(expires_at_us.map(|(at_us, _)| at_us), moment),
        convert::nullable(traits::retry_until_us(limits, first_due_us), moment),
        convert::nullable(info.last_error.as_deref(), convert::bytes),
        headers::array(&info.options.headers),
        convert::nullable(traits::group(&info.options.extras.traits), convert::bytes),
        convert::nullable(info.options.seal.as_ref(), seal::array),
        convert::nullable(info.seal_error.as_ref(), |why| convert::bytes(why.to_string())),
        convert::nullable(record::encode_extras(&info.options.extras), convert::bytes),
    ];
    make(JobInfo { place: Some(info.place()) }, properties)
}
