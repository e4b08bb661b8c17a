//! What the holder of a job does with it.

use super::Queue;
use super::push::due_args;
use crate::core::error::{Error, Result};
use crate::core::job::{Due, JobId, JobOptions, Receipt, Reserved};
use crate::core::link::Attempt;
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use std::collections::HashSet;

/// What a holder needs to settle a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    pub id: JobId,
    pub receipt: Receipt,
    pub attempts: u32,
    pub options: JobOptions,
}

impl Reserved {
    /// What is needed to settle it later.
    #[must_use]
    pub fn held(&self) -> Held {
        Held {
            id: self.id.clone(),
            receipt: self.receipt.clone(),
            attempts: self.attempts,
            options: self.options.clone(),
        }
    }
}

/// What became of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    Retried { due_at_ms: i64 },
    Buried,
}

const TAKEN: &str = "its time ran out and it was taken back, or it was cancelled";

impl Queue {
    fn lost(&self, held: &Held) -> Error {
        Error::LeaseLost { queue: self.name.to_string(), id: held.id.to_string(), reason: TAKEN }
    }

    fn doing<'a>(&'a self, what: &'a str, held: &'a Held) -> impl Fn(Error) -> Error + 'a {
        move |error| error.while_doing(|| format!("{what} job '{}' of queue '{}'", held.id, self.name))
    }

    /// Done: removes the job.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn ack(&self, held: &Held) -> Result<()> {
        match self
            .ack_all(std::slice::from_ref(held))
            .map_err(self.doing("acknowledging", held))?
            .contains(&held.receipt)
        {
            true => Err(self.lost(held)),
            false => Ok(()),
        }
    }

    /// Acknowledges many in one round trip; one answer per job: was it still ours.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn ack_many(&self, held: &[Held]) -> Result<Vec<bool>> {
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let lost = self.ack_all(held).map_err(|error| {
            error.while_doing(|| format!("acknowledging {} jobs of queue '{}'", held.len(), self.name))
        })?;
        let mut seen = HashSet::new();
        Ok(held.iter().map(|job| !lost.contains(&job.receipt) && seen.insert(&job.receipt)).collect())
    }

    fn ack_all(&self, held: &[Held]) -> Result<HashSet<Receipt>> {
        let receipts: Vec<Receipt> = held.iter().map(|job| job.receipt.clone()).collect();
        let gone = self.ack_receipts(&receipts)?;
        Ok(receipts.into_iter().filter(|receipt| gone.contains(&receipt.token)).collect())
    }

    /// Acknowledges by receipt; returns the tokens that were not ours any more.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn ack_receipts(&self, receipts: &[Receipt]) -> Result<Vec<u64>> {
        let args = range_args(&ranges(receipts.iter()));
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let mut was_lost = false;
        let value = self.link.run(|request, attempt: Attempt, _| {
            was_lost = attempt.since_lost.is_some();
            if self.spin {
                request.spin();
            }
            request.script(&scripts::ACK, &self.keys.ack(), &args);
        })?;
        let mut reply = Reply::new(value)?;
        if reply.word != "OK" {
            return Err(reply::unexpected());
        }
        if was_lost {
            return Ok(Vec::new()); // what is gone now was acknowledged by the try whose answer was lost
        }
        reply.tokens()
    }

    /// Back to the queue, the attempt stays counted. `priority` `None` keeps it.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn release(&self, held: &Held, due: Due, priority: Option<u32>) -> Result<()> {
        let (delay, at) = due_args(due);
        let priority = priority.map(|priority| priority.to_string()).unwrap_or_default();
        self.give_back(held, &[delay.as_bytes(), at.as_bytes(), priority.as_bytes(), b"0"])
    }

    /// Back to its old place without counting the attempt: it was never started.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn return_unstarted(&self, held: &Held) -> Result<()> {
        self.give_back(held, &[b"0", b"", b"", b"1"])
    }

    fn give_back(&self, held: &Held, rest: &[&[u8]]) -> Result<()> {
        let reply = self.settle(&scripts::RELEASE, "releasing", held, rest)?;
        if reply.word == "LOST" { Err(self.lost(held)) } else { Ok(()) }
    }

    /// Failed: back after the backoff's delay, jittered, or buried when no attempt is left.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn fail(&self, held: &Held, reason: Option<&[u8]>) -> Result<Failed> {
        let delay_ms = held.options.backoff.jittered_after_ms(held.attempts, random_unit());
        let delay = delay_ms.to_string();
        let mut reply =
            self.settle(&scripts::FAIL, "failing", held, &[delay.as_bytes(), reason.unwrap_or_default()])?;
        match reply.word.as_str() {
            "OK" if !reply.is_at_end() => Ok(Failed::Retried { due_at_ms: reply.int()? }),
            // Only its answer was lost: what the script did follows from what we know.
            "OK" if held.options.max_attempts == 0 || held.attempts < held.options.max_attempts => {
                Ok(Failed::Retried { due_at_ms: 0 })
            }
            "OK" | "BURIED" => Ok(Failed::Buried),
            _ => Err(self.lost(held)),
        }
    }

    /// Set aside until kicked.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn bury(&self, held: &Held, reason: Option<&[u8]>) -> Result<()> {
        let reply = self.settle(&scripts::BURY, "burying", held, &[reason.unwrap_or_default()])?;
        if reply.word == "LOST" { Err(self.lost(held)) } else { Ok(()) }
    }

    /// Runs a script that takes one lease. When it finds the lease gone after an answer of its own was lost, it was this
    /// very call that ended it: that counts as done, with a bare `OK`.
    fn settle(&self, script: &scripts::Script, what: &str, held: &Held, rest: &[&[u8]]) -> Result<Reply> {
        let token = held.receipt.token.to_string();
        let mut args: Vec<&[u8]> = vec![held.receipt.slot.as_bytes(), token.as_bytes()];
        args.extend_from_slice(rest);
        let (mut reply, was_lost) = self.script_knowing(script, |_| args.clone()).map_err(self.doing(what, held))?;
        match reply.word.as_str() {
            "LOST" if was_lost => reply.word = "OK".into(),
            "OK" | "BURIED" | "LOST" => {}
            _ => return Err(self.doing(what, held)(reply::unexpected())),
        }
        Ok(reply)
    }

    /// The lease starts anew with the job's TTR, or `ttr_ms`. Returns its new end in Unix milliseconds.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn touch(&self, held: &Held, ttr_ms: Option<u64>) -> Result<i64> {
        let ttr_ms = ttr_ms.unwrap_or(held.options.ttr_ms);
        match self.touch_many(&[(&held.receipt, ttr_ms)]).map_err(self.doing("touching", held))?.first() {
            Some(Some(until_ms)) => Ok(*until_ms),
            _ => Err(self.lost(held)),
        }
    }

    /// Renews many leases in one round trip: their new ends, `None` where the job is no longer ours.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn touch_many(&self, leases: &[(&Receipt, u64)]) -> Result<Vec<Option<i64>>> {
        /// Position in `leases`, token, TTR.
        type Item = (usize, u64, u64);
        let mut slots: Vec<(&str, Vec<Item>)> = Vec::new();
        for (index, (receipt, ttr_ms)) in leases.iter().enumerate() {
            let item = (index, receipt.token, *ttr_ms);
            match slots.iter_mut().find(|(slot, _)| **slot == *receipt.slot) {
                Some((_, items)) => items.push(item),
                None => slots.push((&receipt.slot, vec![item])),
            }
        }
        let mut owned: Vec<Vec<u8>> = Vec::new();
        for (slot, items) in &slots {
            owned.push(slot.as_bytes().to_vec());
            owned.push(items.len().to_string().into_bytes());
            for (_, token, ttr_ms) in items {
                owned.push(token.to_string().into_bytes());
                owned.push(ttr_ms.to_string().into_bytes());
            }
        }
        let args: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
        let mut reply = self.script(&scripts::TOUCH, &args)?;
        if reply.word != "OK" {
            return Err(reply::unexpected());
        }
        let mut ends = vec![None; leases.len()];
        for (index, _, _) in slots.iter().flat_map(|(_, items)| items) {
            let until_ms = reply.int()?;
            if let Some(end) = ends.get_mut(*index) {
                *end = (until_ms > 0).then_some(until_ms);
            }
        }
        Ok(ends)
    }
}

/// Consecutive tokens of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range<'a> {
    pub slot: &'a str,
    pub first: u64,
    pub count: u64,
}

/// Receipts as the fewest ranges.
pub(super) fn ranges<'a>(receipts: impl Iterator<Item = &'a Receipt>) -> Vec<Range<'a>> {
    let mut ranges: Vec<Range<'_>> = Vec::new();
    for Receipt { slot, token } in receipts {
        match ranges.last_mut() {
            Some(last) if *last.slot == **slot && last.first + last.count == *token => last.count += 1,
            _ => ranges.push(Range { slot, first: *token, count: 1 }),
        }
    }
    if ranges.len() < 2 {
        return ranges;
    }
    // Not in order, of several slots, or some of them twice.
    let every = |range: &Range<'a>| (range.first..range.first + range.count).map(|token| (range.slot, token)).collect();
    let mut tokens: Vec<(&str, u64)> = ranges.iter().flat_map::<Vec<_>, _>(every).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let parts = tokens.chunk_by(|before, next| before.0 == next.0 && before.1 + 1 == next.1);
    parts
        .filter_map(|part| part.first().map(|(slot, first)| Range { slot, first: *first, count: part.len() as u64 }))
        .collect()
}

/// Ranges as the scripts take them, in threes: slot, first token, how many tokens.
pub(super) fn range_args(ranges: &[Range<'_>]) -> Vec<Vec<u8>> {
    let three = |range: &Range<'_>| [range.slot.to_owned(), range.first.to_string(), range.count.to_string()];
    ranges.iter().flat_map(three).map(String::into_bytes).collect()
}

/// A random number in `0.0..1.0`; one half when the system has none.
#[must_use]
pub fn random_unit() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / (f64::from(u32::MAX) + 1.0))
}
