//! One job: from its bytes to the end of its handler.

use super::alarm::Limit;
use super::callable::{Ending, attempt};
use super::events::Event;
use super::run::Loop;
use super::settle::{Job, Verdict};
use crate::core::worker::feed::Delivery;
use crate::core::worker::keeper::timeout_reason;
use crate::php::call::{Fault, Outcome};
use crate::php::new_job::Format;
use crate::php::{convert, exceptions, json};
use ext_php_rs::types::Zval;
use std::time::Duration;

impl Loop<'_> {
    pub(super) fn handle(&mut self, delivery: Delivery) -> Outcome<()> {
        let Some(queue) = self.feed.queue(delivery.ticket.queue).cloned() else { return Ok(()) };
        let payload = match self.queue.defaults.format {
            Format::Raw => Ok(convert::bytes(&delivery.job.payload)),
            Format::Json => match json::decode(&delivery.job.payload) {
                Ok(payload) => payload,
                Err(fault) => return self.ends(Job::new(queue, delivery, Zval::new())?, fault),
            },
        };
        let payload = match payload {
            Ok(payload) => payload,
            Err(words) => return self.bury_undecodable(&queue, &delivery, &words),
        };
        let job = Job::new(queue, delivery, payload)?;
        self.jobs += 1;
        if let Err(fault) = self.emit(Event::Processing, Some(&job.object), None) {
            return self.ends(job, fault);
        }
        let timeout = match job.held.options.timeout_ms {
            0 => self.options.timeout,
            own_ms => Duration::from_millis(own_ms),
        };
        let (ending, timed_out) = self.call_handler(&job, timeout);
        if self.is_child() {
            return Err(match ending {
                Ending::Returned(_) => self.same_process().err().unwrap_or(Fault::Thrown),
                Ending::Threw(exception) => exceptions::throw_again(exception),
                Ending::Exited => Fault::Thrown,
                Ending::Fatal => Fault::Bailout,
            });
        }
        match Verdict::of(ending, timed_out, timeout) {
            Verdict::Ends(fault, reason) => {
                self.unfinished = Some((job, reason));
                Err(fault)
            }
            verdict => self.settle(&job, verdict),
        }
    }

    /// The second: whether its time limit was thrown into it.
    fn call_handler(&mut self, job: &Job, timeout: Duration) -> (Ending, bool) {
        let mut arguments = [job.object.shallow_clone(), self.object.shallow_clone()];
        if timeout.is_zero() {
            return (attempt(&self.handler, &mut arguments), false);
        }
        let limit = Limit::start(timeout_reason(timeout), &self.rung);
        if let Some(keeper) = self.feed.keeper() {
            keeper.watch(&job.queue, &job.held, timeout, self.options.grace);
        }
        let ending = attempt(&self.handler, &mut arguments);
        if let Some(keeper) = self.feed.keeper() {
            keeper.unwatch();
        }
        (ending, limit.has_thrown())
    }

    /// The process ends with a job in hand that has not got as far as its handler.
    fn ends(&mut self, job: Job, fault: Fault) -> Outcome<()> {
        let ending = if matches!(fault, Fault::Bailout) { Ending::Fatal } else { Ending::Exited };
        if let Verdict::Ends(fault, reason) = Verdict::of(ending, false, Duration::ZERO) {
            self.unfinished = Some((job, reason));
            return Err(fault);
        }
        Err(fault)
    }
}
