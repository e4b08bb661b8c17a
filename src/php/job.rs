//! `DelayQueue\Job`: a job under a lease.

use super::args;
use super::call::{Call, Outcome, method};
use super::class::{Class, Declaration, Kind, Method, Rejected};
use super::convert;
use super::duration_arg;
use super::exceptions::throw_lease_lost;
use super::object::{Handlers, Inside, creator, make};
use super::place::Place;
use super::reason;
use crate::core::clock;
use crate::core::error::Error;
use crate::core::job::{Due, Reserved};
use crate::core::process::Generation;
use crate::core::queue::{Held, Queue};
use crate::core::worker::lease::Lease;
use ext_php_rs::types::Zval;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What a `DelayQueue\Job` object holds.
pub struct Job {
    pub queue: Queue,
    held: Held,
    settled: Cell<bool>,
    /// Shared with whoever renews the lease.
    lost: Arc<AtomicBool>,
    /// Kept alive by a loop: its end moves.
    lease: Option<Arc<Lease>>,
    /// End of the lease on the monotonic clock, and how far tests had moved the time then.
    lease_until: Cell<(Instant, i64)>,
    /// A child of this process holds a copy of the object, not the lease.
    process: Generation,
}

static CLASS: Class = Class::new("DelayQueue\\Job");
static HANDLERS: OnceLock<Handlers> = OnceLock::new();

impl Inside for Job {
    fn class() -> &'static Class {
        &CLASS
    }
    fn handlers() -> &'static OnceLock<Handlers> {
        &HANDLERS
    }
}

static METHODS: [Method; 8] = [
    method!("ack(): void", ack),
    method!(
        "release(int|float|string|\\DateInterval|\\DateTimeInterface $delay = 0, ?int $priority = null): void",
        release
    ),
    method!("fail(\\Throwable|string|null $reason = null): void", fail),
    method!("bury(\\Throwable|string|null $reason = null): void", bury),
    method!("touch(int|float|string|\\DateInterval|null $ttr = null): float", touch),
    method!("timeLeft(): float", time_left),
    method!("isSettled(): bool", is_settled),
    method!("isLost(): bool", is_lost),
];

pub fn register() -> Result<(), Rejected> {
    CLASS.register(&Declaration {
        kind: Kind::Final,
        parent: None,
        interfaces: &[],
        properties: &[
            "readonly string $id",
            "readonly string $queue",
            "readonly mixed $payload",
            "readonly string $body",
            "readonly int $attempts",
            "readonly int $maxAttempts",
            "readonly int $priority",
            "readonly float $ttr",
            "readonly float $createdAt",
            "readonly float $dueAt",
            "readonly float $reservedAt",
            "readonly int $token",
            "readonly ?string $lastError",
        ],
        methods: &METHODS,
        create: Some(creator::<Job>()),
    })
}

/// The PHP object of a reservation; properties in the order of their declaration.
pub fn object(queue: Queue, reserved: Reserved, payload: Zval) -> Outcome<Zval> {
    build(queue, reserved, payload, None)
}

/// The same for a job whose lease a loop keeps alive.
pub fn leased(queue: Queue, reserved: Reserved, payload: Zval, lease: &Arc<Lease>) -> Outcome<Zval> {
    build(queue, reserved, payload, Some(Arc::clone(lease)))
}

fn build(queue: Queue, reserved: Reserved, payload: Zval, lease: Option<Arc<Lease>>) -> Outcome<Zval> {
    let properties = vec![
        convert::bytes(reserved.id.as_bytes()),
        convert::bytes(reserved.queue.as_bytes()),
        payload,
        convert::bytes(&reserved.payload),
        convert::int(reserved.attempts),
        convert::int(reserved.options.max_attempts),
        convert::int(reserved.options.priority),
        convert::float(convert::seconds(reserved.options.ttr_ms)),
        convert::float(convert::unix_seconds(reserved.created_at_ms)),
        convert::float(convert::unix_seconds(reserved.due_at_ms)),
        convert::float(convert::unix_seconds(reserved.reserved_at_ms)),
        convert::int(reserved.receipt.token),
        convert::nullable(reserved.last_error.as_deref(), convert::bytes),
    ];
    let job = Job {
        queue,
        held: reserved.held(),
        settled: Cell::new(false),
        lost: lease.as_ref().map_or_else(Arc::default, |lease| lease.lost_flag()),
        lease,
        lease_until: Cell::new((reserved.lease_until, clock::offset_ms())),
        process: Generation::current(),
    };
    make(job, properties)
}

impl Job {
    pub fn held(&self) -> Held {
        self.held.clone()
    }

    /// As far as this process knows: not settled, not lost, not inherited by a fork.
    pub fn is_ours(&self) -> bool {
        !self.settled.get() && !self.lost.load(Ordering::Relaxed) && self.process.is_current()
    }

    pub fn set_settled(&self) {
        self.settled.set(true);
        if let Some(lease) = &self.lease {
            lease.settle();
        }
    }

    pub fn is_settled(&self) -> bool {
        self.settled.get()
    }

    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    pub fn set_lost(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Refuses without a round trip what cannot succeed.
    fn check(&self) -> Outcome<()> {
        let reason = if !self.process.is_current() {
            "it was reserved by the process this one was forked from"
        } else if self.settled.get() {
            "it is settled already"
        } else if self.lost.load(Ordering::Relaxed) {
            "it was cancelled or taken over"
        } else {
            return Ok(());
        };
        Err(throw_lease_lost(self.queue.name(), &self.held.id.to_string(), reason))
    }

    /// Settles with `work`, which the core has done or refused.
    fn settle<T>(&self, work: impl FnOnce(&Held) -> Result<T, Error>) -> Outcome<Zval> {
        self.check()?;
        self.note(work(&self.held))?;
        self.set_settled();
        Ok(convert::null())
    }

    /// Remembers when Redis said that the lease is lost.
    fn note<T>(&self, result: Result<T, Error>) -> Outcome<T> {
        if let Err(Error::LeaseLost { .. }) = &result {
            self.set_lost();
        }
        Ok(result?)
    }
}

fn ack(call: &Call) -> Outcome<Zval> {
    let job = call.this::<Job>()?;
    job.settle(|held| job.queue.ack(held))
}

fn release(call: &Call) -> Outcome<Zval> {
    let job = call.this::<Job>()?;
    let due = match call.arg(1) {
        Some(value) => duration_arg::due(value, Place::Argument(1))?,
        None => Due::InMs(0),
    };
    let priority = match call.nullable_int(2)? {
        Some(number) => Some(args::u32_in(number, Place::Argument(2), 0, u32::MAX)?),
        None => None,
    };
    job.settle(|held| job.queue.release(held, due, priority))
}

fn fail(call: &Call) -> Outcome<Zval> {
    let job = call.this::<Job>()?;
    let reason = reason::argument(call, 1)?;
    job.settle(|held| job.queue.fail(held, reason.as_deref()))
}

fn bury(call: &Call) -> Outcome<Zval> {
    let job = call.this::<Job>()?;
    let reason = reason::argument(call, 1)?;
    job.settle(|held| job.queue.bury(held, reason.as_deref()))
}

fn touch(call: &Call) -> Outcome<Zval> {
    let job = call.this::<Job>()?;
    let ttr_ms = match call.non_null(1) {
        Some(value) => Some(duration_arg::ttr(value, Place::Argument(1))?),
        None => None,
    };
    job.check()?;
    let before = Instant::now();
    let until_ms = job.note(job.queue.touch(&job.held, ttr_ms))?;
    let length = Duration::from_millis(ttr_ms.unwrap_or(job.held.options.ttr_ms));
    if let Some(end) = before.checked_add(length) {
        job.lease_until.set((end, clock::offset_ms()));
        if let Some(lease) = &job.lease {
            lease.renewed(end);
        }
    }
    Ok(convert::float(convert::unix_seconds(until_ms)))
}

/// Seconds until the lease ends, 0 once it has or the job is no longer ours.
fn time_left(call: &Call) -> Outcome<Zval> {
    let job = call.this::<Job>()?;
    if !job.is_ours() {
        return Ok(convert::float(0.0));
    }
    let (touched, offset_ms) = job.lease_until.get();
    let until = job.lease.as_ref().map_or(touched, |lease| lease.until().max(touched));
    let travelled = clock::offset_ms().saturating_sub(offset_ms) as f64 / 1000.0;
    let left = until.saturating_duration_since(Instant::now()).as_secs_f64() - travelled;
    Ok(convert::float(left.max(0.0)))
}

fn is_settled(call: &Call) -> Outcome<Zval> {
    Ok(convert::bool(call.this::<Job>()?.settled.get()))
}

fn is_lost(call: &Call) -> Outcome<Zval> {
    Ok(convert::bool(call.this::<Job>()?.lost.load(Ordering::Relaxed)))
}
