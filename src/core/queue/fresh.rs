//! Batches whose ids were generated here: nobody else can have them, so there is nothing to look at, and one round trip does. What is
//! not as it was taken to be is put right by the scripts before `push_many` returns.

use super::Queue;
use super::batch::Batch;
use super::place::{self, Times};
use crate::core::error::{Error, Result};
use crate::core::link::{Attempt, Repeat, is_no_transaction};
use crate::core::reply::{self, Reply};
use crate::core::server_clock::Claim;
use redis::Value;

/// Tells the script that jobs of these ids can only be those of an earlier try, which added all of them.
const REPEATED: &str = "fresh";

impl Queue {
    /// Adds the jobs, or says `false`: then none of them is there.
    pub(super) fn push_fresh(&self, batch: &mut Batch<'_>) -> Result<bool> {
        let Batch { jobs, held, until, is_fresh, .. } = batch;
        let mut first = held.as_mut().filter(|_| *is_fresh).and_then(|held| place::claim(jobs, &mut held.clock));
        if first.is_none() {
            return Ok(false);
        }
        let (mut claim, mut was_lost) = (None, false);
        let value = self.link.run_until(*until, held, Repeat::Yes, &mut |request, attempt, connection| {
            was_lost = attempt.since_lost.is_some();
            if !was_lost {
                claim = first.take().or_else(|| place::claim(jobs, &mut connection.clock));
            }
            self.write_index(request, connection);
            match claim.filter(|_| !was_lost) {
                Some(claim) => request.transaction(|request| {
                    // Should it be none: members without their records are dropped by whoever meets them.
                    self.write_members(request, jobs, Times::of(claim));
                    self.write_records(request, jobs, Times::of(claim));
                }),
                None => self.write_each(request, REPEATED, jobs),
            }
        });
        match (claim, value) {
            (Some(claim), Err(error)) if is_no_transaction(&error) => self.push_loose(batch, claim).map(|()| true),
            (Some(claim), value) if !was_lost => self.read_fresh(batch, claim, value),
            (claim, value) => {
                self.chunk_pushed(Reply::new(value?)?)?;
                claim.map_or(Ok(()), |claim| self.put_batch_right(batch, claim)).map(|()| true)
            }
        }
    }

    fn read_fresh(&self, batch: &mut Batch<'_>, claim: Claim, value: Result<Value>) -> Result<bool> {
        let is_added = match value {
            Err(Error::Server { code, .. }) if code == "NOPERM" => false,
            value => self.read_added(batch, Times::of(claim), value?)?,
        };
        if is_added && !batch.held.as_mut().is_some_and(|connection| connection.bears_out(claim)) {
            self.put_batch_right(batch, claim)?;
        }
        Ok(is_added)
    }

    /// What was to be in a transaction has been executed one by one, or not at all.
    fn push_loose(&self, batch: &mut Batch<'_>, claim: Claim) -> Result<()> {
        let Batch { jobs, held, until, .. } = batch;
        let repeated = self.link.run_until(*until, held, Repeat::Yes, &mut |request, _, _| {
            self.write_each(request, REPEATED, jobs);
        });
        repeated.and_then(Reply::new).and_then(|reply| self.chunk_pushed(reply)).map_err(|error| {
            Error::in_doubt("the jobs may have been stored, and this could not be made sure", error)
        })?;
        self.put_batch_right(batch, claim)
    }

    /// The jobs are there, but were perhaps stamped by a clock that does not go like Redis' own. What somebody has done to one of them
    /// meanwhile stays so.
    fn put_batch_right(&self, batch: &mut Batch<'_>, claim: Claim) -> Result<()> {
        let (Batch { jobs, held, until, .. }, times) = (batch, Times::of(claim));
        let values = self.link.run_until(*until, held, Repeat::Yes, &mut |request, _, _| {
            request.keep_all();
            request.whole();
            for (quarters, job) in (1..).zip(*jobs) {
                self.write_push(request, job, Attempt::default(), Some(times.place(quarters, job).head()));
            }
        });
        values.and_then(reply::transaction).and_then(reply::all_ok).map_err(|error| {
            Error::in_doubt("the jobs were stored with times that may not be right, and could not be put right", error)
        })
    }
}
