//! `DelayQueue\Testing`: moves this process' view of the time, and makes the objects that tests need without Redis.

mod job;
mod values;

use super::call::{Call, Outcome, method};
use super::class::{Class, Declaration, Kind, Method, Rejected};
use super::convert;
use super::date;
use super::duration_arg;
use super::exceptions::throw_error;
use super::ini;
use super::object::{Handlers, Inside, creator};
use super::place::Place;
use crate::core::clock;
use ext_php_rs::types::Zval;
use std::sync::OnceLock;

/// Never made: the class has static methods only.
pub struct Testing;

static CLASS: Class = Class::new("DelayQueue\\Testing");
static HANDLERS: OnceLock<Handlers> = OnceLock::new();

impl Inside for Testing {
    fn class() -> &'static Class {
        &CLASS
    }
    fn handlers() -> &'static OnceLock<Handlers> {
        &HANDLERS
    }
}

static METHODS: [Method; 13] = [
    method!("static travel(int|float|string|\\DateInterval $by): void", travel),
    method!("static travelTo(\\DateTimeInterface $moment): void", travel_to),
    method!("static travelBack(): void", travel_back),
    method!("static offset(): float", offset),
    method!(
        "static job(mixed $payload, string $id = 'test', int $attempts = 1, array $headers = [], \
         string $queue = 'default', int $maxAttempts = 10, int $priority = 1024, \
         int|float|string|\\DateInterval $ttr = 60, ?string $lastError = null, ?callable $listener = null, \
         ?string $group = null): \\DelayQueue\\Job",
        job::job
    ),
    method!("static outcome(\\DelayQueue\\Job $job): ?\\DelayQueue\\JobCall", job::outcome),
    method!("static calls(\\DelayQueue\\Job $job): array", job::calls),
    method!(
        "static jobOf(\\DelayQueue\\JobInfo $info, \\DelayQueue $queue, int $token, callable $listener): \
         \\DelayQueue\\Job",
        job::job_of
    ),
    method!(
        "static jobInfo(array $properties = [], ?\\DelayQueue\\JobInfo $like = null): \\DelayQueue\\JobInfo",
        values::job_info
    ),
    method!(
        "static newJob(\\DelayQueue $queue, array $job, bool $once = false): \\DelayQueue\\JobInfo",
        values::new_job
    ),
    method!(
        "static pushOnce(int $added = 0, int $kept = 0, int $known = 0): \\DelayQueue\\PushOnce",
        values::push_once
    ),
    method!(
        "static groupStats(int $waiting = 0, int $reserved = 0, ?float $nextTurnAt = null, \
         ?float $closedUntil = null, bool $paused = false): \\DelayQueue\\GroupStats",
        values::group_stats
    ),
    method!("static stats(array $properties = [], string $queue = 'default'): \\DelayQueue\\Stats", values::stats),
];

pub fn register() -> Result<(), Rejected> {
    CLASS.register(&Declaration {
        kind: Kind::Final,
        parent: None,
        interfaces: &[],
        properties: &[],
        methods: &METHODS,
        create: Some(creator::<Testing>()),
    })
}

fn check() -> Outcome<()> {
    if ini::testing() {
        return Ok(());
    }
    Err(throw_error("DelayQueue\\Testing needs the ini setting delayqueue.testing=1; never set it in production"))
}

fn travel(call: &Call) -> Outcome<Zval> {
    check()?;
    let by_ms = match call.arg(1) {
        Some(value) => duration_arg::millis(value, Place::Argument(1))?,
        None => 0,
    };
    let by_ms = i64::try_from(by_ms).unwrap_or(i64::MAX);
    // Delays are rounded up to a millisecond: a job that was pushed just now with this very delay has to be due afterwards.
    std::thread::sleep(std::time::Duration::from_millis(1));
    clock::set_offset_ms(clock::offset_ms().saturating_add(by_ms));
    Ok(convert::null())
}

fn travel_to(call: &Call) -> Outcome<Zval> {
    check()?;
    let Some(value) = call.arg(1) else { return Err(throw_error("travelTo() needs a moment")) };
    let Some(moment) = value.object().filter(|o| date::is_moment(o)) else { return Err(call.type_error(1, value)) };
    let target_ms = date::ms_up(date::moment_us(moment)?);
    let real_now_ms = date::now_ms().saturating_sub(clock::offset_ms());
    clock::set_offset_ms(target_ms.saturating_sub(real_now_ms));
    Ok(convert::null())
}

fn travel_back(_call: &Call) -> Outcome<Zval> {
    check()?;
    clock::set_offset_ms(0);
    Ok(convert::null())
}

/// Outside of tests it is 0.0, and no error: a clock may ask it anywhere.
fn offset(_call: &Call) -> Outcome<Zval> {
    Ok(convert::float(convert::unix_seconds(clock::offset_ms())))
}
