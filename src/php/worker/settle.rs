//! Settles a job after its handler ran.

use super::state::Loop;
use crate::core::clock;
use crate::core::error::{Error, Result};
use crate::core::groups::Group;
use crate::core::queue::{Failed, Held, Queue, Settled};
use crate::core::worker::alarm::Cause;
use crate::core::worker::lease::{Delivery, Ticket};
use crate::core::worker::watch::timeout_reason;
use crate::php::callbacks::Ending;
use crate::php::callbacks::Event;
use crate::php::delay_queue::DelayQueue;
use crate::php::object::inside;
use crate::php::payload::Encoding;
use crate::php::release::{self, Back, RateLimit};
use crate::php::unwind::{Outcome, Unwind};
use crate::php::{classes, job, reason, sys};
use ext_php_rs::types::Zval;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A job in the hands of the handler.
pub struct HandledJob {
    pub queue: Queue,
    pub held: Held,
    pub ticket: Ticket,
    pub object: Zval,
}

impl HandledJob {
    pub fn new(queue: Queue, delivery: Delivery, payload: Zval, encoding: Encoding) -> Outcome<Self> {
        let held = delivery.job.held();
        let lease = Arc::clone(&delivery.ticket.lease);
        let object = job::object(queue.clone(), delivery.job, payload, lease, encoding)?;
        let ticket = Ticket { since: held.since, ..delivery.ticket };
        Ok(Self { queue, held, ticket, object })
    }

    fn inner(&self) -> Option<&job::Job> {
        inside::<job::Job>(&self.object)
    }

    /// Whether its run has failed: the handler has said so, or has ended so with the job in hand.
    pub fn failed_by(&self, verdict: &Verdict) -> bool {
        match self.inner() {
            Some(job) if job.is_settled() => job.has_failed(),
            _ => matches!(verdict, Verdict::Fail(..) | Verdict::TimedOut(..) | Verdict::Ends(_)),
        }
    }
}

/// The meaning of the handler's end.
pub enum Verdict {
    Done,
    Release(Back, Vec<u8>, Zval),
    RateLimited(RateLimit, Vec<u8>, Zval),
    Bury(Vec<u8>, Zval),
    Fail(Vec<u8>, Option<Zval>),
    TimedOut(Vec<u8>, Option<Zval>),
    /// The process, or a handler around the loop, has to end, and the handler was told to stop.
    PutBack(Zval),
    /// The process ends, or this loop at least.
    Ends(Unwind),
}

impl Verdict {
    /// `is_called_away`: a handler around the loop has to end, and this one was told to.
    pub fn of(ending: Ending, cause: Option<Cause>, timeout: Duration, is_called_away: bool) -> Self {
        match ending {
            Ending::Returned => Self::Done,
            Ending::Threw(exception) => {
                let Some(object) = exception.object() else { return Self::Fail(Vec::new(), None) };
                // Also while the process ends: the job goes back uncounted in both cases.
                if let Some(limit) = release::rate_limit(object) {
                    return Self::RateLimited(limit, reason::message(object), exception);
                }
                if is_called_away || cause == Some(Cause::Shutdown) {
                    return Self::PutBack(exception);
                }
                if let Some(back) = release::back(object) {
                    return Self::Release(back, reason::message(object), exception);
                }
                if classes::BURY.owns(object) {
                    return Self::Bury(reason::message(object), exception);
                }
                if cause == Some(Cause::TimedOut) && classes::TIMEOUT_EXCEPTION.owns(object) {
                    return Self::TimedOut(timeout_reason(timeout).into_bytes(), Some(exception));
                }
                Self::Fail(reason::of_throwable(object), Some(exception))
            }
            Ending::Exited => Self::Ends(Unwind::Thrown),
            Ending::Fatal => Self::Ends(Unwind::Bailout),
        }
    }
}

/// Why the loop ends with a job in hand. A fatal error may leave in the same way as `exit()`.
pub fn last_words() -> Vec<u8> {
    if let Some(text) = sys::fatal_error_message() {
        return reason::of_fatal_error(&text);
    }
    if let Some(exception) = sys::pending_throwable() {
        return reason::of_throwable(exception);
    }
    if sys::fiber_is_destroyed() {
        return b"the fiber in which the handler ran was destroyed".to_vec();
    }
    let status = sys::exit_status();
    if status == 0 {
        // A supervisor is to see that the job has failed.
        sys::set_exit_status(1);
    }
    format!("the handler called exit() with status {status}").into_bytes()
}

/// The pause before a settling is repeated while Redis is away.
const SETTLE_RETRY: Duration = Duration::from_millis(100);

impl Loop<'_> {
    /// `has_told`: listeners have heard that the job was cancelled, or there are none.
    pub fn settle(&mut self, job: &HandledJob, verdict: &Verdict, has_told: bool) -> Outcome<()> {
        if let Verdict::Ends(fault) = verdict {
            return Err(*fault);
        }
        self.in_hand.retain(|in_hand| in_hand.held.receipt != job.held.receipt);
        let inner = job.inner();
        if inner.is_some_and(job::Job::is_settled) {
            return Ok(());
        }
        let lease = &job.ticket.lease;
        if lease.is_lost() {
            if lease.is_cancelled() && !has_told {
                self.emit(Event::Cancelled, Some(&job.object), None)?;
            }
            return self.emit(Event::LeaseLost, Some(&job.object), None);
        }
        match verdict {
            Verdict::Done => {
                if let Some(inner) = inner {
                    inner.set_done();
                }
                if self.listeners().has(Event::LeaseLost) {
                    self.unacknowledged.insert(job.ticket.key(), job.object.shallow_clone());
                }
                // A limit of keepAlive() is over with the handler: the lease is kept until the job is acknowledged.
                job.ticket.lease.keep_until(None);
                self.feed.done(&job.ticket);
                self.emit(Event::Succeeded, Some(&job.object), None)
            }
            Verdict::Release(Back { due, count_attempt }, why, exception) => {
                let work = || job.queue.release_because(&job.held, *due, *count_attempt, why);
                match self.settled(job, Settled::Ours, work)? {
                    Some(Settled::Ours) => self.emit(Event::Released, Some(&job.object), Some(exception)),
                    Some(Settled::Buried) => self.emit(Event::Buried, Some(&job.object), Some(exception)),
                    Some(Settled::Lost) | None => Ok(()),
                }
            }
            Verdict::RateLimited(limit, why, exception) => {
                // The limit comes first, or another worker could take the job in between.
                let queue = self.queue;
                let (limited, _) = self.persist(job, || rate_limit(queue, job, limit));
                if self.settled(job, (), || job.queue.put_back_because(&job.held, why))?.is_some() {
                    self.emit(Event::Released, Some(&job.object), Some(exception))?;
                }
                match limited {
                    // The loop goes on once Redis is back, as after other settlings.
                    Err(error) if !error.is_retryable() => Err(error.into()),
                    _ => Ok(()),
                }
            }
            Verdict::PutBack(exception) => {
                if self.settled(job, (), || job.queue.put_back(&job.held))?.is_some() {
                    self.emit(Event::Released, Some(&job.object), Some(exception))?;
                }
                Ok(())
            }
            Verdict::Bury(why, exception) => {
                if self.settled(job, (), || job.queue.bury(&job.held, Some(why)))?.is_some() {
                    self.emit(Event::Buried, Some(&job.object), Some(exception))?;
                }
                Ok(())
            }
            Verdict::Fail(why, exception) => self.fail(job, why, exception.as_ref()),
            Verdict::TimedOut(why, exception) => {
                self.emit(Event::TimedOut, Some(&job.object), exception.as_ref())?;
                self.fail(job, why, exception.as_ref())
            }
            Verdict::Ends(fault) => Err(*fault),
        }
    }

    fn fail(&mut self, job: &HandledJob, why: &[u8], exception: Option<&Zval>) -> Outcome<()> {
        let failed = job.queue.failed_unseen(&job.held);
        let Some(failed) = self.settled(job, failed, || job.queue.fail(&job.held, Some(why)))? else { return Ok(()) };
        self.emit(Event::Failed, Some(&job.object), exception)?;
        if failed == Failed::Buried {
            self.emit(Event::Buried, Some(&job.object), exception)?;
        }
        Ok(())
    }

    /// Runs a settling operation. `None`: the lease was lost. `unseen`: the result of one whose answer was lost.
    fn settled<T>(&mut self, job: &HandledJob, unseen: T, work: impl Fn() -> Result<T>) -> Outcome<Option<T>> {
        let (result, is_ambiguous) = self.persist(job, work);
        let result = match result {
            // The try before has ended the lease.
            Err(Error::LeaseLost { .. }) if is_ambiguous => Ok(unseen),
            result => result,
        };
        match job.inner() {
            Some(inner) if result.is_ok() => inner.set_settled(),
            _ => job.ticket.lease.lose(),
        }
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if matches!(error, Error::LeaseLost { .. }) || error.is_retryable() => {
                self.emit(Event::LeaseLost, Some(&job.object), None)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Repeats an operation while Redis is away, the lease lasts, and no signal asks to end. The second: whether an answer was lost.
    fn persist<T>(&mut self, job: &HandledJob, work: impl Fn() -> Result<T>) -> (Result<T>, bool) {
        let mut is_ambiguous = false;
        loop {
            let time = self.time_to_end();
            let result = match time {
                Some(left) => clock::within(left, &work),
                None => work(),
            };
            is_ambiguous |= matches!(&result, Err(Error::Connection { ambiguous: true, .. }));
            match result {
                Err(error)
                    if error.is_retryable()
                        && !self.is_silent
                        && Instant::now() < job.ticket.lease.until()
                        && time.is_none_or(|left| left > SETTLE_RETRY) =>
                {
                    std::thread::sleep(SETTLE_RETRY);
                }
                result => return (result, is_ambiguous),
            }
        }
    }
}

/// Lets nobody have a job of the group that the limit names, else of the group of the job, else of its queue.
fn rate_limit(queue: &DelayQueue, job: &HandledJob, limit: &RateLimit) -> Result<()> {
    let own = job.held.options.group().map(Group::from_redis);
    queue.queue.named(job.queue.name()).rate_limit(limit.for_ms, limit.group.as_ref().or(own.as_ref()))
}
