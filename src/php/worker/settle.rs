//! What becomes of a job after its handler ran.

use super::callable::Ending;
use super::events::Event;
use super::run::Loop;
use crate::core::error::{Error, Result};
use crate::core::job::Due;
use crate::core::queue::{Failed, Held, Queue};
use crate::core::worker::feed::{Delivery, Ticket};
use crate::core::worker::keeper::timeout_reason;
use crate::php::call::{Fault, Outcome};
use crate::php::object::inside;
use crate::php::{exceptions, job, reason, sys};
use ext_php_rs::types::Zval;
use std::time::{Duration, Instant};

/// A job in the hands of the handler.
pub struct Job {
    pub queue: Queue,
    pub held: Held,
    pub ticket: Ticket,
    pub object: Zval,
}

impl Job {
    pub fn new(queue: Queue, delivery: Delivery, payload: Zval) -> Outcome<Self> {
        let held = delivery.job.held();
        let object = job::leased(queue.clone(), delivery.job, payload, &delivery.ticket.lease)?;
        Ok(Self { queue, held, ticket: delivery.ticket, object })
    }

    fn inner(&self) -> Option<&job::Job> {
        inside::<job::Job>(&self.object)
    }
}

/// What the handler's end means.
pub enum Verdict {
    Done,
    Release(Due, Zval),
    Bury(Vec<u8>, Zval),
    Fail(Vec<u8>, Option<Zval>),
    TimedOut(Vec<u8>, Option<Zval>),
    /// The process ends, or this loop at least.
    Ends(Fault),
}

impl Verdict {
    pub fn of(ending: Ending, timed_out: bool, timeout: Duration) -> Self {
        match ending {
            Ending::Returned(true) => Self::Fail(b"the handler returned false".to_vec(), None),
            Ending::Returned(false) => Self::Done,
            Ending::Threw(exception) => {
                let Some(object) = exception.object() else { return Self::Fail(Vec::new(), None) };
                if let Some(delay_ms) = exceptions::release_delay_ms(object) {
                    return Self::Release(Due::InMs(delay_ms), exception);
                }
                if exceptions::is_bury(object) {
                    return Self::Bury(reason::message(object), exception);
                }
                if timed_out && exceptions::is_timeout(object) {
                    return Self::TimedOut(timeout_reason(timeout).into_bytes(), Some(exception));
                }
                Self::Fail(reason::of_throwable(object), Some(exception))
            }
            Ending::Exited => Self::Ends(Fault::Thrown),
            Ending::Fatal => Self::Ends(Fault::Bailout),
        }
    }
}

/// Why the loop ends with a job in hand. A fatal error may leave in the same way as `exit()`.
pub fn last_words() -> Vec<u8> {
    if let Some(text) = sys::fatal_error_message() {
        return reason::bounded(&text);
    }
    if let Some(exception) = sys::pending_throwable() {
        return reason::of_throwable(exception);
    }
    if sys::fiber_is_destroyed() {
        return b"the fiber in which the handler ran was destroyed".to_vec();
    }
    format!("the handler called exit() with status {}", sys::exit_status()).into_bytes()
}

/// How long a settling is repeated while Redis is away: until the lease ends, and a signal does not shorten it.
const SETTLE_RETRY: Duration = Duration::from_millis(100);

impl Loop<'_> {
    pub fn settle(&mut self, job: &Job, verdict: &Verdict) -> Outcome<()> {
        if let Verdict::Ends(fault) = verdict {
            return Err(*fault);
        }
        self.in_hand = None;
        let inner = job.inner();
        if inner.is_some_and(job::Job::is_settled) {
            self.feed.settled(&job.ticket);
            return Ok(());
        }
        if inner.is_some_and(job::Job::is_lost) || job.ticket.lease.is_lost() {
            self.feed.settled(&job.ticket);
            return self.emit(Event::LeaseLost, Some(&job.object), None);
        }
        match verdict {
            Verdict::Done => {
                if let Some(inner) = inner {
                    inner.set_settled();
                }
                if self.listeners().has(Event::LeaseLost) {
                    let key = (job.ticket.queue, job.held.receipt.token);
                    self.unacknowledged.insert(key, job.object.shallow_clone());
                }
                let sent = self.feed.done(&job.ticket);
                self.emit(Event::Succeeded, Some(&job.object), None)?;
                match sent {
                    Err(error) if !error.is_retryable() => Err(error.into()),
                    _ => Ok(()), // it stays to be acknowledged
                }
            }
            Verdict::Release(due, exception) => {
                if self.settled(job, || job.queue.release(&job.held, *due, None))?.is_some() {
                    self.emit(Event::Released, Some(&job.object), Some(exception))?;
                }
                Ok(())
            }
            Verdict::Bury(why, exception) => {
                if self.settled(job, || job.queue.bury(&job.held, Some(why)))?.is_some() {
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

    fn fail(&mut self, job: &Job, why: &[u8], exception: Option<&Zval>) -> Outcome<()> {
        let Some(failed) = self.settled(job, || job.queue.fail(&job.held, Some(why)))? else { return Ok(()) };
        self.emit(Event::Failed, Some(&job.object), exception)?;
        if failed == Failed::Buried {
            self.emit(Event::Buried, Some(&job.object), exception)?;
        }
        Ok(())
    }

    /// Runs a settling operation, again while Redis is away and the lease lasts. `None`: the lease was lost.
    fn settled<T>(&mut self, job: &Job, work: impl Fn() -> Result<T>) -> Outcome<Option<T>> {
        let result = loop {
            match work() {
                Err(error) if error.is_retryable() && Instant::now() < job.ticket.lease.until() => {
                    std::thread::sleep(SETTLE_RETRY)
                }
                result => break result,
            }
        };
        match &result {
            Ok(_) | Err(Error::LeaseLost { .. }) => self.feed.settled(&job.ticket),
            Err(_) => self.feed.abandoned(&job.ticket),
        }
        if let Some(inner) = job.inner() {
            if result.is_ok() { inner.set_settled() } else { inner.set_lost() }
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
}
