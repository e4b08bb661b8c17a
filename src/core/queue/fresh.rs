//! Batches whose ids were generated here: nobody else can have them, so there is nothing to look at, and one round trip does. What is
//! not as it was taken to be is put right by `lua/push.lua` before `push_many` returns, as after [`super::transaction`].

use super::Queue;
use super::batch::Batch;
use super::place::Times;
use super::push::Encoded;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::link::{Attempt, Repeat, Request};
use crate::core::reply::{self, Reply};
use crate::core::server_clock::{Claim, Moment};
use redis::Value;

impl Queue {
    /// Adds the jobs, or says `false`: then none of them is there.
    pub(super) fn push_fresh(&self, batch: &mut Batch<'_>) -> Result<bool> {
        let Batch { jobs, held, until, is_fresh, .. } = batch;
        let mut first = held.as_mut().filter(|_| *is_fresh).and_then(|connection| claim(jobs, connection));
        if first.is_none() {
            return Ok(false);
        }
        let (mut claimed, mut is_transaction, mut was_lost) = (None, false, false);
        let value = self.link.run_until(*until, held, Repeat::Yes, &mut |request, attempt, connection| {
            was_lost = attempt.since_lost.is_some();
            if !was_lost {
                claimed = first.take().or_else(|| claim(jobs, connection));
            }
            is_transaction = claimed.is_some() && !was_lost;
            self.write_index(request, connection);
            match claimed {
                Some(claim) if is_transaction => {
                    request.transaction(|request| self.write_jobs(request, jobs, Times::of(claim)));
                }
                Some(claim) => self.write_each(request, &Times::of(claim).own_since(), jobs),
                None => self.write_each(request, "", jobs),
            }
        });
        let Some(claim) = claimed.filter(|_| is_transaction || was_lost) else {
            return self.chunk_pushed(Reply::new(value?)?).map(|()| true);
        };
        match value {
            value if was_lost => self.recognized(batch, claim, value),
            // The right to MULTI has been taken away meanwhile: the commands were executed one by one.
            Err(Error::Server { message, .. }) if message.contains("EXEC without MULTI") => {
                let value = self.link.run_until(batch.until, &mut batch.held, Repeat::Yes, &mut |request, _, _| {
                    self.write_each(request, &Times::of(claim).own_since(), batch.jobs);
                });
                self.recognized(batch, claim, value)
            }
            Err(Error::Server { code, .. }) if code == "NOPERM" => Ok(false),
            value => self.read_fresh(batch, claim, value?),
        }
    }

    fn read_fresh(&self, batch: &mut Batch<'_>, claim: Claim, value: Value) -> Result<bool> {
        let answered = Moment::now();
        let time = batch.held.as_mut().and_then(|connection| connection.aside.take());
        let server_us = time.as_ref().and_then(reply::time_us);
        if !self.read_added(batch, Times::of(claim), value)? {
            return Ok(false);
        }
        if !server_us.is_some_and(|us| claim.is_borne_out(us, answered)) {
            self.put_batch_right(batch, claim)?;
        }
        Ok(true)
    }

    /// The script has added what the transaction may have added already, by whatever time.
    fn recognized(&self, batch: &mut Batch<'_>, claim: Claim, value: Result<Value>) -> Result<bool> {
        self.chunk_pushed(Reply::new(value?)?)?;
        self.put_batch_right(batch, claim).map(|()| true)
    }

    /// The jobs are there, but those of the transaction were stamped by a clock that may not go like Redis' own. What somebody has done
    /// to one of them meanwhile stays so.
    fn put_batch_right(&self, batch: &mut Batch<'_>, claim: Claim) -> Result<()> {
        let (Batch { jobs, held, until, .. }, times) = (batch, Times::of(claim));
        let write = |request: &mut Request, quarters: u64, job: &Encoded<'_>| {
            self.write_push(request, job, Attempt::default(), Some(times.place(quarters, job).head()));
        };
        let mut put = || {
            let Some((first, rest)) = jobs.split_first() else { return Ok(()) };
            // The first one alone: afterwards Redis knows the script.
            let value =
                self.link.run_until(*until, held, Repeat::Yes, &mut |request, _, _| write(request, 1, first))?;
            reply::all_ok(vec![value])?;
            let values = self.link.run_until(*until, held, Repeat::Yes, &mut |request, _, _| {
                request.keep_all();
                (2..).zip(rest).for_each(|(quarters, job)| write(request, quarters, job));
            })?;
            reply::all_ok(reply::transaction(values)?)
        };
        put().map_err(|error| {
            Error::in_doubt("the jobs were stored with times that were not right, and could not be put right", &error)
        })
    }
}

/// Redis' time for the jobs; `None` when one of them falls due too soon, or that is not known.
fn claim(jobs: &[Encoded<'_>], connection: &mut Connection) -> Option<Claim> {
    let claim = connection.clock.claim(jobs.len())?;
    let times = Times::of(claim);
    jobs.iter().all(|job| times.is_far_off(job)).then_some(claim)
}
