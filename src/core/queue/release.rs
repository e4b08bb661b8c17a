//! Giving jobs back: to another time, to their old place, or as if nobody had reserved them.

use super::histogram::RunOutcome;
use super::settle::{Finished, Held, Settled, counter_of};
use super::thread::answered_consumer;
use super::{Queue, due_arg};
use crate::core::error::Result;
use crate::core::job::{Due, LeaseReceipt};
use crate::core::scripts;
use std::time::Duration;

/// How jobs are given back, as the script takes it.
struct Release<'a> {
    due: &'a str,
    priority: &'a str,
    /// See [`attempt`].
    attempt: &'a [u8],
    reason: &'a [u8],
    /// The counter of the run; empty: none.
    counter: String,
}

impl Release<'_> {
    /// As if nobody had reserved them.
    const UNDONE: Self = Self { due: "", priority: "", attempt: b"", reason: &[], counter: String::new() };
}

/// Whether the attempt of a job that was started counts. Where nobody has started it there is none.
const fn attempt(counts: bool) -> &'static [u8] {
    if counts { b"1" } else { b"0" }
}

/// The counter of a run that ends so; a run whose attempt does not count is none.
fn released(held: &Held, count_attempt: bool) -> String {
    if count_attempt { counter_of(held, RunOutcome::Released) } else { String::new() }
}

impl Queue {
    /// Back to the queue, or buried where its next attempt would come too late. `priority` `None` keeps it; without `count_attempt` the
    /// attempt has begun, and does not count.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn release(&self, held: &Held, due: Due, priority: Option<u32>, count_attempt: bool) -> Result<()> {
        let priority = priority.map(|priority| priority.to_string()).unwrap_or_default();
        let (due, counter) = (due_arg(due), released(held, count_attempt));
        let how = Release { due: &due, priority: &priority, attempt: attempt(count_attempt), reason: &[], counter };
        self.release_one(held, &how).map(drop)
    }

    /// Back to the queue, with the reason as its last error; or [`Settled::Buried`].
    ///
    /// # Errors
    /// As [`Queue::release`].
    pub fn release_because(&self, held: &Held, due: Due, count_attempt: bool, reason: &[u8]) -> Result<Settled> {
        let (due, counter) = (due_arg(due), released(held, count_attempt));
        self.release_one(held, &Release { due: &due, priority: "", attempt: attempt(count_attempt), reason, counter })
    }

    /// Back to the queue after a run that has failed, with the error as its last one. The run counts also where the attempt does not.
    ///
    /// # Errors
    /// As [`Queue::release`].
    pub fn release_failed(
        &self,
        held: &Held,
        due: Due,
        priority: Option<u32>,
        count_attempt: bool,
        error: &[u8],
    ) -> Result<()> {
        let priority = priority.map(|priority| priority.to_string()).unwrap_or_default();
        let counter = counter_of(held, RunOutcome::Failed);
        let how = Release {
            due: &due_arg(due),
            priority: &priority,
            attempt: attempt(count_attempt),
            reason: error,
            counter,
        };
        self.release_one(held, &how).map(drop)
    }

    fn release_one(&self, held: &Held, how: &Release<'_>) -> Result<Settled> {
        let settled = self.release_receipts(&[&held.receipt], how).map_err(self.doing("releasing", held))?;
        self.outcome(held, &settled)
    }

    /// Back to its old place; the attempt does not count, and has begun.
    ///
    /// # Errors
    /// As [`Queue::release`].
    pub fn put_back(&self, held: &Held) -> Result<()> {
        self.put_back_because(held, &[])
    }

    /// Back to its old place, with the reason as its last error; the attempt does not count, and has begun.
    ///
    /// # Errors
    /// As [`Queue::release`].
    pub fn put_back_because(&self, held: &Held, reason: &[u8]) -> Result<()> {
        self.release_one(held, &Release { attempt: attempt(false), reason, ..Release::UNDONE }).map(drop)
    }

    /// Back to their old places without counting an attempt: no handler has started them.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn give_back(&self, receipts: &[&LeaseReceipt]) -> Result<Vec<Settled>> {
        self.release_receipts(receipts, &Release::UNDONE).map_err(|error| {
            error.while_doing(|| format!("giving {} jobs back to queue '{}'", receipts.len(), self.name))
        })
    }

    fn release_receipts(&self, receipts: &[&LeaseReceipt], how: &Release<'_>) -> Result<Vec<Settled>> {
        let consumer = answered_consumer(self).unwrap_or_default();
        let (due, priority, counter) = (how.due.as_bytes(), how.priority.as_bytes(), how.counter.as_bytes());
        let head = [due, priority, how.attempt, consumer.as_bytes(), how.reason, counter];
        let jobs: Vec<Finished<'_>> =
            receipts.iter().map(|receipt| Finished { receipt, ran: Duration::ZERO }).collect();
        self.settle_many(&jobs, |_, pairs| {
            let args: Vec<&[u8]> = head.iter().chain(pairs).copied().collect();
            self.script_knowing(&scripts::RELEASE, |_| args.clone())
        })
    }
}
