//! `DelayQueue\Job`: a job under a lease.

use super::call::Call;
use super::classes::properties;
use super::enlisted::Enlistment;
use super::exceptions::{self, throw_lease_lost};
use super::object::{Handlers, Inside, make};
use super::open_jobs::{self, OpenJob};
use super::origin::Origin;
use super::payload::{self, Encoding, Format};
use super::recorder::{RecordedCall, RecordedContent, Recorder};
use super::unwind::{Outcome, Unwind, take_throwable};
use super::{args, convert, headers, reason, times};
use crate::core::clock;
use crate::core::error::Error;
use crate::core::job::{Due, Reserved};
use crate::core::process::Generation;
use crate::core::queue::{Changes, Finished, Held, Queue, SealedContent};
use crate::core::registry::TaskCount;
use crate::core::worker::lease::{Lease, Ticket};
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The fields of a `DelayQueue\Job` object.
pub struct Job {
    pub queue: Queue,
    held: Rc<Held>,
    /// How `update()` stores a payload.
    encoding: Encoding,
    settled: Cell<bool>,
    /// It was settled as one whose run has failed.
    failed: Cell<bool>,
    /// Shared with the thread that renews it.
    lease: Arc<Lease>,
    /// In the hands of the program, not of a loop.
    is_given_out: Cell<bool>,
    /// The lease is kept for as long as the object lives, not by a loop.
    is_kept_alive: Cell<bool>,
    /// How far tests had moved the time when the lease began.
    offset_ms: Cell<i64>,
    /// A child of this process holds a copy of the object, not the lease.
    process: Generation,
    /// The loop of the program's own that it is reported to, and the name of its task there.
    enlisted: RefCell<Option<(Rc<Enlistment>, Option<String>)>>,
    /// Of a test's job: it takes the calls, and nothing is sent.
    pub recorder: Option<Recorder>,
}

impl Inside for Job {
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
    fn held_values(&self) -> (*mut Zval, usize) {
        self.recorder.as_ref().map_or((std::ptr::null_mut(), 0), Recorder::held_values)
    }
}

/// The PHP object of a reservation.
pub fn object(queue: Queue, reserved: Reserved, payload: Zval, lease: Arc<Lease>, encoding: Encoding) -> Outcome<Zval> {
    made(queue, reserved, payload, lease, encoding, None)
}

/// A job that no Redis knows: the recorder takes its calls.
pub fn recorded(queue: Queue, reserved: Reserved, payload: Zval, encoding: Encoding, to: Recorder) -> Outcome<Zval> {
    let lease = Lease::of(&reserved);
    made(queue, reserved, payload, lease, encoding, Some(to))
}

fn made(
    queue: Queue,
    reserved: Reserved,
    payload: Zval,
    lease: Arc<Lease>,
    encoding: Encoding,
    recorder: Option<Recorder>,
) -> Outcome<Zval> {
    let options = &reserved.options;
    let properties = properties::Job {
        id: convert::bytes(reserved.id.as_bytes()),
        queue: convert::bytes(reserved.queue.as_bytes()),
        payload,
        body: convert::bytes(&reserved.payload),
        attempts: convert::int(reserved.attempts),
        max_attempts: convert::int(options.max_attempts),
        priority: convert::int(options.priority),
        ttr: convert::float(convert::seconds(options.ttr_ms)),
        created_at: convert::float(convert::unix_seconds(reserved.created_at_ms)),
        due_at: convert::float(convert::unix_seconds_of_us(reserved.due_at_us)),
        reserved_at: convert::float(convert::unix_seconds_of_us(reserved.reserved_at_us)),
        token: convert::int(reserved.receipt.token()),
        timeouts: convert::int(reserved.timeouts),
        last_error: convert::nullable(reserved.last_error.as_deref(), convert::bytes),
        headers: convert::texts(&options.headers),
        group: convert::nullable(options.group(), convert::bytes),
    };
    let job = Job {
        queue,
        held: Rc::new(reserved.held()),
        encoding,
        settled: Cell::new(false),
        failed: Cell::new(false),
        lease,
        is_given_out: Cell::new(false),
        is_kept_alive: Cell::new(false),
        offset_ms: Cell::new(clock::offset_ms()),
        process: Generation::current(),
        enlisted: RefCell::default(),
        recorder,
    };
    make(job, properties)
}

impl Job {
    pub fn finished(&self) -> Finished<'_> {
        self.held.finished()
    }

    /// As far as this process knows: not settled, not lost, not inherited by a fork.
    pub fn is_ours(&self) -> bool {
        !self.settled.get() && !self.lease.is_lost() && self.process.is_current()
    }

    /// From now on it is failed at once when the request dies.
    pub fn give_out(&self) {
        let (queue, held, lease) = (self.queue.clone(), Rc::clone(&self.held), Arc::clone(&self.lease));
        open_jobs::add(OpenJob { queue, held, lease, process: self.process });
        self.is_given_out.set(true);
    }

    /// It is done; its loop keeps the lease until it is acknowledged.
    pub fn set_done(&self) {
        self.settled.set(true);
    }

    pub fn set_settled(&self) {
        self.settled.set(true);
        self.lease.settle();
        self.report_end();
    }

    /// The list of workers shows it as the job of this loop, until it is settled or let go.
    pub fn report_to(&self, enlisted: &Rc<Enlistment>, task: Option<String>) {
        enlisted.begins(&self.queue, Ticket { queue: 0, lease: Arc::clone(&self.lease), since: self.held.since });
        self.enlisted.replace(Some((Rc::clone(enlisted), task)));
    }

    fn report_end(&self) {
        if let Some((enlisted, task)) = self.enlisted.take() {
            if let Some(task) = task.filter(|_| self.is_settled()) {
                enlisted.ran(task, TaskCount::of_run(self.held.ran(), self.has_failed()));
            }
            enlisted.ends(self.lease.receipt.token());
        }
    }

    pub fn is_settled(&self) -> bool {
        self.settled.get()
    }

    pub fn set_lost(&self) {
        self.lease.lose();
    }

    /// Until the lease ends, on a clock that tests may have moved.
    fn seconds_left(&self) -> f64 {
        let travelled = clock::offset_ms().saturating_sub(self.offset_ms.get()) as f64 / 1000.0;
        let left = self.lease.until().saturating_duration_since(Instant::now()).as_secs_f64() - travelled;
        left.max(0.0)
    }

    /// Refuses a call that cannot succeed, without a round trip.
    fn check(&self) -> Outcome<()> {
        let reason = if !self.process.is_current() {
            "it was reserved by the process this one was forked from"
        } else if self.settled.get() {
            "it is settled already"
        } else if self.lease.is_lost() {
            "it was cancelled or taken over"
        } else {
            return Ok(());
        };
        Err(throw_lease_lost(self.queue.name(), &self.held.id().to_string(), reason))
    }

    /// Settles with `work`, which the core has done or refused.
    fn settle<'a, T>(
        &self,
        call: impl FnOnce() -> RecordedCall<'a>,
        work: impl FnOnce(&Held) -> Result<T, Error>,
    ) -> Outcome<Zval> {
        self.check()?;
        let call = call();
        self.failed.set(call.failed || call.name == "fail");
        if !self.is_recorded(|| call)? {
            self.note(work(&self.held))?;
        }
        self.set_settled();
        Ok(convert::null())
    }

    pub fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// Whether the job is a test's, whose recorder has taken the call or thrown.
    fn is_recorded<'a>(&self, call: impl FnOnce() -> RecordedCall<'a>) -> Outcome<bool> {
        let Some(recorder) = &self.recorder else { return Ok(false) };
        let taken = recorder.note(&call());
        if taken.is_err() && exceptions::lease_lost_is_pending() {
            self.set_lost();
        }
        taken.map(|()| true)
    }

    /// Acknowledges a test's job; `None`: it is none. False where it is lost.
    pub fn ack_recorded(&self) -> Option<Outcome<bool>> {
        self.recorder.as_ref()?;
        let result = self.settle(|| RecordedCall { name: "ack", ..RecordedCall::default() }, |_| Ok(()));
        Some(match result {
            Err(Unwind::Thrown) if exceptions::lease_lost_is_pending() => {
                let _ = take_throwable();
                Ok(false)
            }
            result => result.map(|_| true),
        })
    }

    /// Remembers when Redis said that the lease is lost.
    fn note<T>(&self, result: Result<T, Error>) -> Outcome<T> {
        if let Err(Error::LeaseLost { .. }) = &result {
            self.set_lost();
        }
        Ok(result?)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.report_end();
        if self.is_given_out.get() {
            open_jobs::let_go(&self.lease);
        }
        if self.is_kept_alive.get() {
            self.lease.settle();
        }
    }
}

pub fn ack(job: &Job, call: &Call) -> Outcome<Zval> {
    let failed = call.bool_or(1, false)?;
    job.settle(
        || RecordedCall { name: "ack", failed, ..RecordedCall::default() },
        |held| {
            if failed { job.queue.ack_failed(held) } else { job.queue.ack(held) }
        },
    )
}

pub fn release(job: &Job, call: &Call) -> Outcome<Zval> {
    let due = call.optional(1, times::due)?.unwrap_or(Due::InMs(0));
    let priority = call.nullable(2, args::priority)?;
    let count_attempt = call.bool_or(3, true)?;
    let error = call.nullable(4, reason::read)?;
    let (is_uncounted, failed, reason) = (!count_attempt, error.is_some(), error.as_deref());
    let call = || RecordedCall {
        name: "release",
        due: Some(due),
        priority,
        is_uncounted,
        failed,
        reason,
        ..RecordedCall::default()
    };
    job.settle(call, |held| match reason {
        Some(error) => job.queue.release_failed(held, due, priority, count_attempt, error),
        None => job.queue.release(held, due, priority, count_attempt),
    })
}

pub fn fail(job: &Job, call: &Call) -> Outcome<Zval> {
    let reason = call.nullable(1, reason::read)?;
    let call = || RecordedCall { name: "fail", reason: reason.as_deref(), ..RecordedCall::default() };
    job.settle(call, |held| job.queue.fail(held, reason.as_deref()))
}

pub fn bury(job: &Job, call: &Call) -> Outcome<Zval> {
    let reason = call.nullable(1, reason::read)?;
    let failed = call.bool_or(2, false)?;
    let reason = reason.as_deref();
    job.settle(
        || RecordedCall { name: "bury", reason, failed, ..RecordedCall::default() },
        |held| {
            if failed { job.queue.bury_failed(held, reason) } else { job.queue.bury(held, reason) }
        },
    )
}

pub fn touch(job: &Job, call: &Call) -> Outcome<Zval> {
    let ttr_ms = call.nullable(1, times::ttr)?;
    job.check()?;
    let before = Instant::now();
    let length_ms = ttr_ms.unwrap_or(job.held.options.ttr_ms);
    let length = Duration::from_millis(length_ms);
    let mut until_us = times::now_us().saturating_add(i64::try_from(length.as_micros()).unwrap_or(i64::MAX));
    let (length_ms, lease_until_us) = (Some(length_ms), Some(until_us));
    if !job.is_recorded(|| RecordedCall { name: "touch", length_ms, lease_until_us, ..RecordedCall::default() })? {
        until_us = job.note(job.queue.touch(&job.held, ttr_ms))?;
    }
    if let Some(end) = before.checked_add(length) {
        job.offset_ms.set(clock::offset_ms());
        job.lease.touched(end);
    }
    Ok(convert::float(convert::unix_seconds_of_us(until_us)))
}

pub fn keep_alive(job: &Job, call: &Call) -> Outcome<Zval> {
    let at_most_ms = call.nullable(1, times::millis)?;
    if at_most_ms == Some(0) {
        return Err(Origin::Argument(1).value_error("must be greater than 0"));
    }
    job.check()?;
    if !job.is_recorded(|| RecordedCall { name: "keepAlive", length_ms: at_most_ms, ..RecordedCall::default() })? {
        job.lease.keep_until(at_most_ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms))));
        // A loop that keeps the lease already goes on doing so, within this limit.
        if !job.lease.is_kept() {
            open_jobs::keep(&job.queue, &job.lease);
            job.is_kept_alive.set(true);
        }
    }
    Ok(convert::null())
}

pub fn update(job: &Job, call: &Call) -> Outcome<Zval> {
    if call.non_null(3).is_some() {
        return update_to_sealed(job, call);
    }
    let payload = call.nullable(1, |value, origin| job.encoding.encode(value, origin))?;
    let headers = call.nullable(2, headers::changes)?.unwrap_or_default();
    job.check()?;
    let content = RecordedContent { body: payload.as_deref(), format: job.encoding.format, headers: &headers };
    if !job.is_recorded(|| RecordedCall { name: "update", content: Some(content), ..RecordedCall::default() })? {
        let changes = Changes { payload: payload.as_deref(), headers: &headers };
        let updated = job.queue.update_held(&job.held, changes);
        if let Err(error @ Error::Invalid(_)) = updated {
            return Err(Origin::Argument(2).throw(error)); // with those that stay, they are too many
        }
        job.note(updated)?;
    }
    Ok(convert::null())
}

fn update_to_sealed(job: &Job, call: &Call) -> Outcome<Zval> {
    let payload = call.required(1, payload::stored)?;
    let headers = call.nullable(2, headers::read)?.unwrap_or_default();
    let seal = call.required(3, headers::read_seal)?;
    job.check()?;
    let changes: Vec<_> = headers.iter().map(|(name, text)| (name.clone(), Some(text.clone()))).collect();
    let content = RecordedContent { body: Some(payload), format: Format::Raw, headers: &changes };
    if !job.is_recorded(|| RecordedCall { name: "update", content: Some(content), ..RecordedCall::default() })? {
        let content = SealedContent { payload, headers: &headers, seal: &seal };
        job.note(job.queue.update_held_to_sealed(&job.held, content))?;
    }
    Ok(convert::null())
}

/// Seconds until the lease ends, 0 once it has or the job is no longer ours.
pub fn time_left(job: &Job) -> Outcome<Zval> {
    if !job.is_ours() {
        return Ok(convert::float(0.0));
    }
    Ok(convert::float(job.seconds_left()))
}

/// Whether the lease of a job that is ours ends within the margin.
pub fn deadline_soon(job: &Job, call: &Call) -> Outcome<Zval> {
    let margin_ms = call.optional(1, times::millis)?.unwrap_or(1000);
    Ok(convert::bool(job.is_ours() && job.seconds_left() <= convert::seconds(margin_ms)))
}

pub fn is_settled(job: &Job) -> Outcome<Zval> {
    Ok(convert::bool(job.settled.get()))
}

pub fn is_lost(job: &Job) -> Outcome<Zval> {
    Ok(convert::bool(job.lease.is_lost()))
}
