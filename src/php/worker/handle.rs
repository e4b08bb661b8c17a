//! One job: from its bytes to the end of its handler.

use super::alarm::{Limit, Run};
use super::callable::{Ending, attempt, discard};
use super::events::Event;
use super::run::Loop;
use super::settle::{Job, Verdict, last_words};
use crate::core::queue::{Held, Queue};
use crate::core::worker::feed::Delivery;
use crate::core::worker::lease::Lease;
use crate::core::worker::watch::{Cause, Limits};
use crate::php::call::{Fault, Outcome};
use crate::php::new_job::Format;
use crate::php::{convert, exceptions, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The job that is being handled, should the loop end before it is settled.
pub struct InHand {
    queue: Queue,
    held: Held,
    lease: Arc<Lease>,
    /// It goes back uncounted: the process is ending, and its handler was told to stop.
    is_put_back: bool,
}

impl Loop<'_> {
    pub(super) fn handle(&mut self, delivery: Delivery) -> Outcome<()> {
        let Some(queue) = self.feed.queue(delivery.ticket.queue).cloned() else { return Ok(()) };
        let (held, lease) = (delivery.job.held(), Arc::clone(&delivery.ticket.lease));
        self.in_hand = Some(InHand { queue: queue.clone(), held, lease, is_put_back: false });
        let encoding = self.queue.defaults.encoding;
        let payload = match encoding.format {
            Format::Raw => Ok(convert::bytes(&delivery.job.payload)),
            Format::Json => json::decode(&delivery.job.payload)?,
        };
        let payload = match payload {
            Ok(payload) => payload,
            Err(words) => {
                let why = format!("payload is not valid JSON: {words}");
                let verdict = Verdict::Bury(why.clone().into_bytes(), exceptions::payload(&why));
                let job = Job::new(queue, delivery, convert::null(), encoding)?;
                self.settle(&job, &verdict)?;
                return discard((job, verdict));
            }
        };
        let job = Job::new(queue, delivery, payload, encoding)?;
        self.jobs += 1;
        self.emit(Event::Processing, Some(&job.object), None)?;
        let timeout = match job.held.options.timeout_ms {
            0 => self.options.timeout,
            own_ms => Duration::from_millis(own_ms),
        };
        self.feed.keeper().begins(&job.ticket);
        let started = Instant::now();
        let limits = Limits { timeout, shutdown: self.options.shutdown, grace: self.options.grace };
        let (ending, cause) = self.call_handler(&job, limits);
        self.ran = Some(started.elapsed());
        if self.is_child() {
            return Err(match ending {
                Ending::Returned(_) => self.same_process().err().unwrap_or(Fault::Thrown),
                Ending::Threw(exception) => exceptions::throw_again(exception),
                Ending::Exited => Fault::Thrown,
                Ending::Fatal => Fault::Bailout,
            });
        }
        if let Some(in_hand) = &mut self.in_hand {
            in_hand.is_put_back = cause == Some(Cause::Shutdown);
        }
        let verdict = Verdict::of(ending, cause, timeout);
        let settled = self.settle(&job, &verdict);
        self.feed.keeper().has_ended();
        settled?;
        self.ran = None;
        discard((job, verdict))
    }

    /// The second: which of its limits has ended it.
    fn call_handler(&mut self, job: &Job, limits: Limits) -> (Ending, Option<Cause>) {
        let arguments = [job.object.shallow_clone(), self.object.shallow_clone()];
        let hears_of_cancel = self.options.throw_on_cancel || self.listeners().has(Event::Cancelled);
        self.has_told_of_cancel = !hears_of_cancel;
        if limits.are_none() && !hears_of_cancel {
            return (attempt(&self.handler, arguments), None);
        }
        let run = Run::new(&job.object, self.object, &job.ticket.lease, self.options.throw_on_cancel);
        let limit = Limit::start(limits, &self.rung, run);
        if !limits.are_none() {
            self.feed.keeper().watch(&job.queue, &job.held, limits);
        }
        let ending = attempt(&self.handler, arguments);
        self.feed.keeper().unwatch();
        self.has_told_of_cancel = limit.has_told();
        (ending, limit.cause())
    }

    /// Settles the job in hand, because the process ends, or something that is not the handler's threw. The attempt has failed, unless the handler
    /// was told to stop.
    pub(super) fn drop_job_in_hand(&mut self) {
        if let Some(InHand { queue, held, lease, is_put_back }) = self.in_hand.take() {
            let _ = if is_put_back { queue.put_back(&held) } else { queue.fail(&held, Some(&last_words())).map(drop) };
            lease.settle();
        }
    }
}
