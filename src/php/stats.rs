//! `DelayQueue\Stats`.

use super::call::{Call, Outcome, method};
use super::class::{Class, Declaration, Kind, Method, Rejected};
use super::convert;
use super::object::{Handlers, Inside, creator, inside, make};
use super::place::Place;
use super::prometheus;
use crate::core::queue::{self, Counters, Histogram, Stats as Core};
use crate::core::registry::{Activity, Headcount};
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

static METHODS: [Method; 6] = [
    method!("lateness(bool $sinceStart = false): array", lateness),
    method!("waitTime(bool $sinceStart = false): array", wait_time),
    method!("runTimes(bool $sinceStart = false): array", run_times),
    method!("history(): array", history),
    method!("toPrometheus(): string", to_prometheus),
    method!("static prometheusPage(\\DelayQueue\\Stats ...$queues): string", prometheus_page),
];

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
            "readonly int $blocked",
            "readonly int $pushed",
            "readonly int $acked",
            "readonly int $failed",
            "readonly int $timedOut",
            "readonly int $cancelled",
            "readonly int $expired",
            "readonly ?float $oldestReadyAge",
            "readonly ?float $nextDueAt",
            "readonly bool $paused",
            "readonly ?array $workers",
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
        convert::int(numbers.blocked),
        convert::int(numbers.pushed),
        convert::int(numbers.acked),
        convert::int(numbers.failed),
        convert::int(numbers.timed_out),
        convert::int(numbers.cancelled),
        convert::int(numbers.expired),
        convert::nullable(numbers.oldest_ready_age_us, |us| convert::float(us as f64 / 1_000_000.0)),
        convert::nullable(numbers.next_due_at_us, |us| convert::float(convert::unix_seconds_of_us(us))),
        convert::bool(numbers.paused),
        convert::nullable(numbers.workers, workers),
    ];
    make(Stats { queue: queue.to_owned(), numbers }, properties)
}

/// Counts by the words of `workers()`.
fn workers(mut count: Headcount) -> Zval {
    convert::map(Activity::ALL.map(|activity| (activity.word(), convert::int(*count.of(activity)))))
}

/// The counters that the first argument asks for.
fn counters(call: &Call) -> Outcome<&Counters> {
    let numbers = &call.this::<Stats>()?.numbers;
    Ok(if call.bool_or(1, false)? { &numbers.ever } else { &numbers.hour })
}

fn quantiles(histogram: &Histogram) -> Zval {
    let quantiles = histogram.quantiles();
    convert::map([
        ("p50", convert::float(quantiles.p50_ms)),
        ("p95", convert::float(quantiles.p95_ms)),
        ("p99", convert::float(quantiles.p99_ms)),
        ("count", convert::int(quantiles.count)),
    ])
}

fn lateness(call: &Call) -> Outcome<Zval> {
    Ok(quantiles(&counters(call)?.lateness()))
}

fn wait_time(call: &Call) -> Outcome<Zval> {
    Ok(quantiles(&counters(call)?.wait()))
}

fn run_times(call: &Call) -> Outcome<Zval> {
    let counters = counters(call)?;
    Ok(convert::map(queue::Outcome::ALL.map(|outcome| (outcome.word(), quantiles(&counters.run(outcome))))))
}

fn history(call: &Call) -> Outcome<Zval> {
    let history = &call.this::<Stats>()?.numbers.history;
    Ok(convert::list(history.iter().map(|snapshot| {
        let count = |word| convert::int(snapshot.ever.count(word));
        convert::map([
            ("at", convert::float(convert::unix_seconds_of_us(snapshot.at_us))),
            ("pushed", convert::int(snapshot.pushed)),
            ("acked", count("acked")),
            ("failed", count("failed")),
            ("timedOut", count("timed_out")),
            ("cancelled", count("cancelled")),
            ("released", count("released")),
            ("buried", count("buried")),
        ])
    })))
}

fn to_prometheus(call: &Call) -> Outcome<Zval> {
    let stats = call.this::<Stats>()?;
    Ok(convert::bytes(prometheus::page(&[(&stats.queue, &stats.numbers)])))
}

fn prometheus_page(call: &Call) -> Outcome<Zval> {
    let mut queues: Vec<(&str, &Core)> = Vec::new();
    for number in call.rest(1) {
        let Some(value) = call.arg(number) else { continue };
        let Some(stats) = inside::<Stats>(value) else {
            return Err(Place::Argument(number).type_error("DelayQueue\\Stats", value));
        };
        queues.push((&stats.queue, &stats.numbers));
    }
    Ok(convert::bytes(prometheus::page(&queues)))
}
