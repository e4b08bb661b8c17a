//! `DelayQueue\Stats`.

use super::call::Call;
use super::classes::{self, properties};
use super::object::{Handlers, Inside, inside, make};
use super::unwind::Outcome;
use super::{convert, prometheus};
use crate::core::queue::{self, Counters, Histogram, Stats as Core};
use crate::core::registry::{Activity, Headcount};
use ext_php_rs::types::Zval;
use std::sync::OnceLock;

/// The fields of a `DelayQueue\Stats` object.
pub struct Stats {
    pub queue: String,
    pub numbers: Core,
}

impl Inside for Stats {
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
}

pub fn object(queue: &str, numbers: Core) -> Outcome<Zval> {
    let properties = properties::Stats {
        delayed: convert::int(numbers.delayed),
        ready: convert::int(numbers.ready),
        reserved: convert::int(numbers.reserved),
        buried: convert::int(numbers.buried),
        blocked: convert::int(numbers.blocked),
        pushed: convert::int(numbers.pushed),
        acked: convert::int(numbers.acked),
        failed: convert::int(numbers.failed),
        timed_out: convert::int(numbers.timed_out),
        cancelled: convert::int(numbers.cancelled),
        expired: convert::int(numbers.expired),
        oldest_ready_age: convert::nullable(numbers.oldest_ready_age_us, |us| convert::float(us as f64 / 1_000_000.0)),
        next_due_at: convert::nullable(numbers.next_due_at_us, |us| convert::float(convert::unix_seconds_of_us(us))),
        paused: convert::bool(numbers.paused),
        workers: convert::nullable(numbers.workers, workers),
    };
    make(Stats { queue: queue.to_owned(), numbers }, properties)
}

/// Counts by the words of `workers()`.
fn workers(mut count: Headcount) -> Zval {
    convert::map(Activity::ALL.map(|activity| (activity.word(), convert::int(*count.of(activity)))))
}

/// The counters that the first argument asks for.
fn counters<'a>(stats: &'a Stats, call: &Call) -> Outcome<&'a Counters> {
    let numbers = &stats.numbers;
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

pub fn lateness(stats: &Stats, call: &Call) -> Outcome<Zval> {
    Ok(quantiles(&counters(stats, call)?.lateness()))
}

pub fn wait_time(stats: &Stats, call: &Call) -> Outcome<Zval> {
    Ok(quantiles(&counters(stats, call)?.wait()))
}

pub fn run_times(stats: &Stats, call: &Call) -> Outcome<Zval> {
    let counters = counters(stats, call)?;
    Ok(convert::map(queue::RunOutcome::ALL.map(|outcome| (outcome.word(), quantiles(&counters.run(outcome))))))
}

pub fn history(stats: &Stats) -> Outcome<Zval> {
    let history = &stats.numbers.history;
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

pub fn to_prometheus(stats: &Stats) -> Outcome<Zval> {
    Ok(convert::bytes(prometheus::page(&[(&stats.queue, &stats.numbers)])))
}

pub fn prometheus_page(call: &Call) -> Outcome<Zval> {
    let queues = call.each(1, |value, origin| match inside::<Stats>(value) {
        Some(stats) => Ok((stats.queue.as_str(), &stats.numbers)),
        None => Err(origin.type_error(classes::STATS.name, value)),
    })?;
    Ok(convert::bytes(prometheus::page(&queues)))
}
