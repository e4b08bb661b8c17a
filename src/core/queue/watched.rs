//! Batches without a script: what a script would look at is asked for first and watched, and the transaction that adds the jobs
//! is not executed if any of that has changed. Two round trips, but no payload goes through Lua, and while the first one is under way,
//! the second one is written, and sent but for its end.

use super::Queue;
use super::batch::Batch;
use super::place::Times;
use super::push::Encoded;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::link::{Attempt, Repeat, Request};
use crate::core::reply::{self, Reply, Seen};
use crate::core::resp::write_arg;
use crate::core::server_clock::{Claim, Moment};
use redis::Value;
use std::time::Instant;

/// With fewer jobs, what a second round trip costs even nearby is hardly spared.
const WATCHES_FROM: usize = 8;
/// What a batch spares, and each job of it, in microseconds: if Redis is further away than that, a look does not pay.
const SPARED_US: (f64, f64) = (20.0, 2.5);

/// More takes so long to send that it would tell little how long the look took.
const AHEAD_BYTES: usize = 256 << 10;

/// What adds the jobs, written before it was known what time it is for Redis.
struct Written {
    claim: Claim,
    /// All of it, or what comes behind the records if those are on their way.
    request: Request,
}

impl Queue {
    /// Adds the jobs, or says `false`: then none of them is there, and there is more to it than a transaction can do. Whoever goes on over
    /// the same connection has to end the transaction that may have been begun.
    pub(super) fn push_watched(&self, batch: &mut Batch<'_>) -> Result<bool> {
        let has_chance = |batch: &mut Batch<'_>| batch.held.as_mut().is_some_and(|held| held.looks.take_chance());
        if !self.ask_first || batch.jobs.len() < WATCHES_FROM || !has_chance(batch) {
            return Ok(false);
        }
        let (seen, written) = self.watch(batch)?;
        let is_added = match seen {
            Some(seen) if !seen.is_taken && (written.is_some() || !is_open(batch)) => {
                self.push_seen(batch, seen, written)?
            }
            _ => false,
        };
        if let Some(connection) = &mut batch.held {
            // The fastest trip of late tells how far it is. What this one took longer Redis was busy, and a script would have waited too.
            let spared_us = SPARED_US.0 + SPARED_US.1 * batch.jobs.len() as f64;
            let is_near = connection.clock.shortest_us().is_some_and(|us| (us as f64) < spared_us);
            connection.looks.saw(is_added && is_near);
        }
        Ok(is_added)
    }

    fn push_seen(&self, batch: &mut Batch<'_>, seen: Seen, mut written: Option<Written>) -> Result<bool> {
        let Batch { jobs, held, until, .. } = batch;
        let times = written.as_ref().map_or(Times::new(seen.time_us, seen.time_us), |written| Times::of(written.claim));
        if seen.has_waiters && !jobs.iter().all(|job| times.is_far_off(job)) {
            return Ok(false);
        }
        let mut is_transaction = false;
        let value = self.link.run_until(*until, held, Repeat::Yes, &mut |request, attempt, connection| {
            is_transaction = std::mem::take(&mut connection.in_transaction);
            match written.take() {
                Some(written) if is_transaction => request.append(&written.request),
                _ if is_transaction => {
                    self.write_records(request, jobs, times);
                    self.write_members(request, jobs, times);
                    request.command(&[b"EXEC"]);
                    connection.clock.stamped(times.stamp_us(), jobs.len());
                }
                _ => {
                    let retry = attempt.since_lost.map_or_else(String::new, |_| times.own_since());
                    self.write_each(request, &retry, jobs);
                }
            }
        });
        match value {
            value if !is_transaction => self.chunk_pushed(Reply::new(value?)?).map(|()| true),
            Err(Error::Server { code, .. }) if code == "NOPERM" => {
                if let Some(connection) = held {
                    connection.looks.deny();
                }
                Ok(false)
            }
            value => self.read_added(batch, times, members_first(value?)),
        }
    }

    /// What there is to know beforehand; `None` if Redis refuses to tell. And what adds the jobs if nothing is in the way, unless the time
    /// in it has turned out to be wrong.
    fn watch(&self, batch: &mut Batch<'_>) -> Result<(Option<Seen>, Option<Written>)> {
        let Batch { jobs, held, until, has_asked, .. } = batch;
        let (mut asked, mut was_asked, mut was_repeated) = (Moment::now(), false, false);
        let mut ask = |request: &mut Request, attempt: Attempt, connection: &mut Connection| {
            request.keep_all();
            if self.spin {
                request.spin();
            }
            if attempt.begun.is_none() {
                (asked, was_asked, was_repeated) = (Moment::now(), true, was_asked);
                self.write_look(request, connection, jobs);
            }
        };
        let written = held.as_mut().and_then(|connection| {
            let claim = connection.clock.claim(jobs.len()); // first: it is the look's time that bears it out
            self.link.begin(*until, connection, &mut ask);
            Some(self.write_ahead(connection, jobs, claim?, *until))
        });
        let answers = self.link.run_until(*until, held, Repeat::Yes, &mut ask);
        let answers = reply::transaction(answers.map_err(Error::of_a_question)?)?;
        let answered = Moment::now();
        *has_asked = true;
        let Some(connection) = held else { return Ok((None, None)) };
        connection.in_transaction = reply::is_in_transaction(&answers);
        if connection.is_open && !connection.in_transaction {
            *held = None; // the records must never be stored by themselves
            return Ok((None, None));
        }
        let seen = reply::seen(&answers, jobs.len());
        match seen {
            Some(Seen { is_taken: true, .. }) => {} // the records came with it, which takes its time
            Some(seen) => connection.clock.hear(asked, answered, seen.time_us),
            None if reply::is_denied(&answers) => connection.looks.deny(),
            None => connection.indexed.clear(), // that may have been refused
        }
        let is_right = |written: &Written| seen.is_some_and(|seen| written.claim.is_borne_out(seen.time_us, answered));
        Ok((seen, written.filter(|written| !was_repeated && is_right(written))))
    }

    fn write_look(&self, request: &mut Request, connection: &mut Connection, jobs: &[Encoded<'_>]) {
        self.write_index(request, connection);
        let [_, hash, waiters] = self.keys.push();
        request.command(&[b"TIME"]); // first, since so it is known best when that was
        request.command(&[b"WATCH", hash, waiters]);
        request.command(&[b"ZCARD", waiters]);
        request.command_of(2 + jobs.len(), |out| {
            write_arg(out, &[b"HMGET"]);
            write_arg(out, &[hash]);
            jobs.iter().for_each(|job| write_arg(out, &[job.id.as_bytes()]));
        });
        request.command(&[b"MULTI"]);
    }

    /// Writes what adds the jobs while Redis looks, and sends the records but for their end: Redis takes them in, and does nothing with them
    /// yet. Unless it may turn out that the script has to add them, since somebody waits.
    fn write_ahead(&self, connection: &mut Connection, jobs: &[Encoded<'_>], claim: Claim, until: Instant) -> Written {
        let (mut request, times) = (Request::new(connection, false), Times::of(claim));
        self.write_records(&mut request, jobs, times);
        if request.buffer.len() <= AHEAD_BYTES && jobs.iter().all(|job| times.is_far_off(job)) {
            connection.send_open(&request.buffer, until);
            connection.recycle(request.buffer);
            request = Request::new(connection, false);
        }
        self.write_members(&mut request, jobs, times);
        request.command(&[b"EXEC"]);
        Written { claim, request }
    }
}

/// Whether a part of the transaction is on its way.
fn is_open(batch: &Batch<'_>) -> bool {
    batch.held.as_ref().is_some_and(|connection| connection.is_open)
}

/// The answer to a transaction of records and members, the other way round.
fn members_first(mut answers: Value) -> Value {
    if let Value::Array(answers) = &mut answers {
        answers.reverse();
    }
    answers
}
