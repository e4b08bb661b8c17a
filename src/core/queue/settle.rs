//! Operations of the holder of a job.

use super::histogram::RunOutcome;
use super::thread::answered_consumer;
use super::{Queue, bucket_of, due_arg};
use crate::core::clock::{self, Moment};
use crate::core::error::{Error, Result};
use crate::core::job::{Due, JobId, JobOptions, LeaseReceipt, Reserved};
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use std::collections::HashSet;
use std::time::Duration;

/// Most jobs of one script call.
const MOST: usize = 500;

/// The data that a holder needs to settle a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    pub receipt: LeaseReceipt,
    pub attempts: u32,
    pub options: JobOptions,
    /// When its run began: as the job reached its handler, or its caller.
    pub since: Moment,
}

impl Held {
    /// How long its run lasts so far.
    #[must_use]
    pub fn ran(&self) -> Duration {
        self.since.elapsed()
    }

    /// The job is done now.
    #[must_use]
    pub fn finished(&self) -> Finished<'_> {
        Finished { receipt: &self.receipt, ran: self.ran() }
    }

    #[must_use]
    pub fn id(&self) -> &JobId {
        &self.receipt.id
    }
}

impl Reserved {
    /// The data to settle it later.
    #[must_use]
    pub fn held(&self) -> Held {
        let since = Moment::now();
        Held { receipt: self.receipt.clone(), attempts: self.attempts, options: self.options.clone(), since }
    }
}

/// A job that is done, and how long that took.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    pub receipt: &'a LeaseReceipt,
    pub ran: Duration,
}

/// The run times of jobs as scripts take them: two digits for each, or two for all.
pub(super) fn runs_of(done: &[Finished<'_>]) -> String {
    let buckets: Vec<u32> = done.iter().map(|job| bucket_of(job.ran).min(99)).collect();
    let of_all = buckets.iter().all(|bucket| Some(bucket) == buckets.first());
    let shown = if of_all { buckets.get(..1).unwrap_or_default() } else { &buckets };
    shown.iter().flat_map(|bucket| [bucket / 10, bucket % 10]).filter_map(|digit| char::from_digit(digit, 10)).collect()
}

/// The outcome of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    Retried { due_at_us: i64 },
    Buried,
}

/// Whether a job was still ours when it was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Ours,
    /// It was given back, and buried, because its next attempt would come too late.
    Buried,
    Lost,
}

const TAKEN: &str = "its time ran out and it was taken back, or it was cancelled";

impl Queue {
    pub(super) fn lost(&self, held: &Held) -> Error {
        Error::LeaseLost { queue: self.name.to_string(), id: held.id().to_string(), reason: TAKEN }
    }

    pub(super) fn doing<'a>(&'a self, what: &'a str, held: &'a Held) -> impl Fn(Error) -> Error + 'a {
        move |error| error.while_doing(|| format!("{what} job '{}' of queue '{}'", held.id(), self.name))
    }

    pub(super) fn outcome(&self, held: &Held, settled: &[Settled]) -> Result<Settled> {
        settled.first().copied().filter(|settled| *settled != Settled::Lost).ok_or_else(|| self.lost(held))
    }

    /// Done: removes the job.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn ack(&self, held: &Held) -> Result<()> {
        self.ack_one(held, RunOutcome::Acked)
    }

    /// Removes the job, whose run has failed.
    ///
    /// # Errors
    /// As [`Queue::ack`].
    pub fn ack_failed(&self, held: &Held) -> Result<()> {
        self.ack_one(held, RunOutcome::Failed)
    }

    fn ack_one(&self, held: &Held, outcome: RunOutcome) -> Result<()> {
        let settled = self.ack_finished(&[held.finished()], outcome).map_err(self.doing("acknowledging", held))?;
        self.outcome(held, &settled).map(drop)
    }

    /// Acknowledges many in one round trip; one answer per job.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn ack_many(&self, done: &[Finished<'_>]) -> Result<Vec<Settled>> {
        self.ack_finished(done, RunOutcome::Acked).map_err(|error| {
            error.while_doing(|| format!("acknowledging {} jobs of queue '{}'", done.len(), self.name))
        })
    }

    fn ack_finished(&self, done: &[Finished<'_>], outcome: RunOutcome) -> Result<Vec<Settled>> {
        let consumer = answered_consumer(self);
        self.settle_many(done, |part, pairs| {
            let (runs, offset) = (runs_of(part), clock::offset_us().to_string());
            let head = [&offset, outcome.word(), consumer.as_deref().unwrap_or_default(), &runs].map(str::as_bytes);
            let (mut was_lost, keys) = (false, self.keys.ack());
            let named = if part.iter().any(|job| job.receipt.counts()) { keys.len() } else { 5 };
            let args = [&head, pairs].concat();
            let value = self.client.run(|request, attempt, _| {
                was_lost = attempt.is_repeat;
                self.call_script(request, &scripts::ACK, keys.get(..named).unwrap_or(&keys), &args);
            });
            Ok((Reply::new(value.map_err(|error| self.naming_key(error))?)?, was_lost))
        })
    }

    /// Runs a script over pairs of id and lease. A job that is named twice is ours once, and sent once: it counts once.
    pub(super) fn settle_many(
        &self,
        jobs: &[Finished<'_>],
        mut run: impl FnMut(&[Finished<'_>], &[&[u8]]) -> Result<(Reply, bool)>,
    ) -> Result<Vec<Settled>> {
        let mut seen = HashSet::new();
        let (places, unique): (Vec<usize>, Vec<Finished<'_>>) =
            jobs.iter().copied().enumerate().filter(|(_, job)| seen.insert(job.receipt)).unzip();
        let mut settled = vec![Settled::Lost; jobs.len()];
        places.iter().for_each(|at| set(&mut settled, *at, Settled::Ours));
        for (part, places) in unique.chunks(MOST).zip(places.chunks(MOST)) {
            let pairs: Vec<&[u8]> =
                part.iter().flat_map(|job| [job.receipt.id.as_bytes(), &job.receipt.lease]).collect();
            let (mut reply, was_lost) = run(part, &pairs)?;
            if reply.word != "OK" {
                return Err(reply::unexpected());
            }
            // After a lost answer, a job that is gone was settled by the try before.
            let lost = if was_lost { Vec::new() } else { reply.positions()? };
            let buried = if was_lost || reply.is_at_end() { Vec::new() } else { reply.positions()? };
            for (positions, becomes) in [(lost, Settled::Lost), (buried, Settled::Buried)] {
                let places = positions.into_iter().filter_map(|position| places.get(position));
                places.for_each(|at| set(&mut settled, *at, becomes));
            }
        }
        Ok(settled)
    }

    /// Failed: back after the backoff's delay, jittered, or buried when no attempt is left or the next one would come too late.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn fail(&self, held: &Held, reason: Option<&[u8]>) -> Result<Failed> {
        let backoff = held.options.backoff.clone().unwrap_or_default();
        let delay_ms = backoff.jittered_after_ms(held.attempts, random_unit());
        let delay = due_arg(Due::InMs(delay_ms));
        let run = run_of(held);
        let args = [reason.unwrap_or_default(), run.as_bytes(), delay.as_bytes()];
        let (mut reply, was_lost) = self.settle(&scripts::FAIL, "failing", held, &args)?;
        match reply.word.as_str() {
            "OK" => Ok(Failed::Retried { due_at_us: reply.int()? }),
            "BURIED" => Ok(Failed::Buried),
            _ if was_lost => Ok(self.failed_unseen(held)),
            _ => Err(self.lost(held)),
        }
    }

    /// The result of a failure whose answer was lost, as far as it follows from what the holder knows.
    #[must_use]
    pub fn failed_unseen(&self, held: &Held) -> Failed {
        let is_spent = held.options.max_attempts > 0 && held.attempts >= held.options.max_attempts;
        if is_spent { Failed::Buried } else { Failed::Retried { due_at_us: 0 } }
    }

    /// Set aside until kicked.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn bury(&self, held: &Held, reason: Option<&[u8]>) -> Result<()> {
        self.bury_as(held, reason, RunOutcome::Buried)
    }

    /// Set aside after a run that has failed.
    ///
    /// # Errors
    /// As [`Queue::bury`].
    pub fn bury_failed(&self, held: &Held, reason: Option<&[u8]>) -> Result<()> {
        self.bury_as(held, reason, RunOutcome::Failed)
    }

    fn bury_as(&self, held: &Held, reason: Option<&[u8]>, outcome: RunOutcome) -> Result<()> {
        let counter = counter_of(held, outcome);
        let args = [reason.unwrap_or_default(), counter.as_bytes()];
        let (reply, was_lost) = self.settle(&scripts::BURY, "burying", held, &args)?;
        if reply.word == "LOST" && !was_lost { Err(self.lost(held)) } else { Ok(()) }
    }

    /// Runs a script that ends one lease. If it answers `LOST` after an answer of its own was lost, it was this very call that ended it.
    fn settle(&self, script: &scripts::Script, what: &str, held: &Held, rest: &[&[u8]]) -> Result<(Reply, bool)> {
        let consumer = answered_consumer(self).unwrap_or_default();
        let mut args: Vec<&[u8]> = vec![held.id().as_bytes(), &held.receipt.lease, consumer.as_bytes()];
        args.extend_from_slice(rest);
        let (reply, was_lost) = self.script_knowing(script, |_| args.clone()).map_err(self.doing(what, held))?;
        match reply.word.as_str() {
            "OK" | "BURIED" | "LOST" => Ok((reply, was_lost)),
            _ => Err(self.doing(what, held)(reply::unexpected())),
        }
    }

    /// The lease starts anew with the job's TTR, or `ttr_ms`. Returns its new end in Unix microseconds.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn touch(&self, held: &Held, ttr_ms: Option<u64>) -> Result<i64> {
        let ttr_ms = ttr_ms.unwrap_or(held.options.ttr_ms);
        match self.touch_many(&[(&held.receipt, ttr_ms)], b"0").map_err(self.doing("touching", held))?.first() {
            Some(Some(until_us)) => Ok(*until_us),
            _ => Err(self.lost(held)),
        }
    }

    /// Renews leases, none of which gets shorter: their new ends, `None` where the job is no longer ours.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn renew(&self, leases: &[(&LeaseReceipt, u64)]) -> Result<Vec<Option<i64>>> {
        self.touch_many(leases, b"1")
            .map_err(|error| error.while_doing(|| format!("renewing {} leases of queue '{}'", leases.len(), self.name)))
    }

    fn touch_many(&self, leases: &[(&LeaseReceipt, u64)], never_shortens: &[u8]) -> Result<Vec<Option<i64>>> {
        let ttrs: Vec<String> = leases.iter().map(|(_, ttr_ms)| ttr_ms.to_string()).collect();
        let mut args = vec![never_shortens];
        for ((receipt, _), ttr) in leases.iter().zip(&ttrs) {
            args.extend([receipt.id.as_bytes(), &receipt.lease, ttr.as_bytes()]);
        }
        let mut reply = self.script(&scripts::TOUCH, &args)?;
        if reply.word != "OK" {
            return Err(reply::unexpected());
        }
        leases.iter().map(|_| reply.int().map(|until_us| (until_us > 0).then_some(until_us))).collect()
    }
}

/// The run time of one job as scripts take it.
fn run_of(held: &Held) -> String {
    runs_of(&[held.finished()])
}

/// The counter of a run: its outcome and its time.
pub(super) fn counter_of(held: &Held, outcome: RunOutcome) -> String {
    format!("{}{}", outcome.word(), run_of(held))
}

fn set(settled: &mut [Settled], at: usize, to: Settled) {
    if let Some(one) = settled.get_mut(at) {
        *one = to;
    }
}

/// A random number in `0.0..1.0`; one half when the system has none.
#[must_use]
pub fn random_unit() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / (f64::from(u32::MAX) + 1.0))
}
