//! `DelayQueue\Stats`.

use super::call::{Call, Outcome, method};
use super::class::{Class, Declaration, Kind, Method, Rejected};
use super::convert;
use super::object::{Handlers, Inside, creator, make};
use super::prometheus;
use crate::core::queue::Stats as Core;
use ext_php_rs::types::Zval;
use std::sync::OnceLock;

/// The fields of a `DelayQueue\Stats` object.
pub struct Stats {
    pub queue: String,
    pub numbers: Core,
}

static CLASS: Class = Class::new("DelayQueue\\Stats");
static HANDLERS: OnceLock<Handlers> = OnceLock::new();

impl Inside for Stats {
    fn class() -> &'static Class {
        &CLASS
    }
    fn handlers() -> &'static OnceLock<Handlers> {
        &HANDLERS
    }
}

static METHODS: [Method; 2] =
    [method!("lateness(): array", lateness), method!("toPrometheus(): string", to_prometheus)];

pub fn register() -> Result<(), Rejected> {
    CLASS.register(&Declaration {
        kind: Kind::Final,
        parent: None,
        interfaces: &[],
        properties: &[
            "readonly int $delayed",
            "readonly int $ready",
            "readonly int $reserved",
            "readonly int $buried",
            "readonly int $pushed",
            "readonly int $acked",
            "readonly int $failed",
            "readonly int $timedOut",
            "readonly int $cancelled",
            "readonly ?float $oldestReadyAge",
            "readonly ?float $nextDueAt",
            "readonly bool $paused",
        ],
        methods: &METHODS,
        create: Some(creator::<Stats>()),
    })
}

pub fn object(queue: &str, numbers: Core) -> Outcome<Zval> {
    let properties = vec![
        convert::int(numbers.delayed),
        convert::int(numbers.ready),
        convert::int(numbers.reserved),
        convert::int(numbers.buried),
        convert::int(numbers.pushed),
        convert::int(numbers.acked),
        convert::int(numbers.failed),
        convert::int(numbers.timed_out),
        convert::int(numbers.cancelled),
        convert::nullable(numbers.oldest_ready_age_us, |us| convert::float(us as f64 / 1_000_000.0)),
        convert::nullable(numbers.next_due_at_us, |us| convert::float(convert::unix_seconds_of_us(us))),
        convert::bool(numbers.paused),
    ];
    make(Stats { queue: queue.to_owned(), numbers }, properties)
}

fn lateness(call: &Call) -> Outcome<Zval> {
    let lateness = call.this::<Stats>()?.numbers.lateness();
    Ok(convert::map([
        ("p50", convert::float(lateness.p50_ms)),
        ("p95", convert::float(lateness.p95_ms)),
        ("p99", convert::float(lateness.p99_ms)),
        ("count", convert::int(lateness.count)),
    ]))
}

fn to_prometheus(call: &Call) -> Outcome<Zval> {
    let stats = call.this::<Stats>()?;
    Ok(convert::bytes(prometheus::text(&stats.queue, &stats.numbers)))
}
