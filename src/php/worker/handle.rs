//! One job: from its bytes to the end of its handler.

use super::alarm::{HandlerRun, LimitGuard};
use super::settle::{HandledJob, Verdict, last_words};
use super::state::{InHand, Loop};
use crate::core::worker::alarm::{Cause, Limits};
use crate::core::worker::lease::Delivery;
use crate::php::callable::{Ending, attempt, discard};
use crate::php::listeners::Event;
use crate::php::unwind::{Outcome, Unwind, throw_again};
use crate::php::{convert, exceptions};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Loop<'_> {
    pub(super) fn handle(&mut self, delivery: Delivery) -> Outcome<()> {
        let Some(queue) = self.feed.queue(delivery.ticket.queue).cloned() else { return Ok(()) };
        let (held, lease) = (delivery.job.held(), Arc::clone(&delivery.ticket.lease));
        self.in_hand = Some(InHand { queue: queue.clone(), held, lease, is_put_back: false });
        let encoding = self.queue.defaults.encoding;
        let payload = match encoding.format.decode(&delivery.job.payload)? {
            Ok(payload) => payload,
            Err(why) => {
                let verdict = Verdict::Bury(why.clone().into_bytes(), exceptions::payload(&why));
                let job = HandledJob::new(queue, delivery, convert::null(), encoding)?;
                self.settle(&job, &verdict)?;
                return discard((job, verdict));
            }
        };
        let job = HandledJob::new(queue, delivery, payload, encoding)?;
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
                Ending::Returned(_) => self.same_process().err().unwrap_or(Unwind::Thrown),
                Ending::Threw(exception) => throw_again(exception),
                Ending::Exited => Unwind::Thrown,
                Ending::Fatal => Unwind::Bailout,
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
    fn call_handler(&mut self, job: &HandledJob, limits: Limits) -> (Ending, Option<Cause>) {
        let arguments = [job.object.shallow_clone(), self.object.shallow_clone()];
        let hears_of_cancel = self.options.throw_on_cancel || self.listeners().has(Event::Cancelled);
        self.has_told_of_cancel = !hears_of_cancel;
        if limits.are_none() && !hears_of_cancel {
            return (attempt(&self.handler, arguments), None);
        }
        let run = HandlerRun::new(&job.object, self.object, &job.ticket.lease, self.options.throw_on_cancel);
        let limit = LimitGuard::start(limits, &self.rung, run);
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
