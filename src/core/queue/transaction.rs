//! The usual push: two plain commands in a transaction, which cost Redis less than half of what `lua/push.lua` does. A
//! transaction cannot decide anything, so the job has to be due late enough that there is nothing to decide but whether its id
//! is free; and what is not as it was taken to be is put right by the script before `push` returns.

use super::Queue;
use super::push::{Encoded, Pushed};
use crate::core::clock;
use crate::core::connection::Connection;
use crate::core::error::{Doing, Error, Result};
use crate::core::job::Due;
use crate::core::link::Repeat;
use crate::core::record;
use crate::core::reply::{self, Reply};
use crate::core::server_clock::{Claim, Moment};
use redis::Value;
use std::time::Instant;

/// An idle consumer looks every two seconds, so one that falls due later than this need wake nobody.
const LEAST_DELAY_MS: i64 = 3000;

/// Where a transaction puts a job.
pub(super) struct Place {
    claim: Claim,
    pub(super) due_at_ms: i64,
    pub(super) member: Vec<u8>,
    pub(super) record: Vec<u8>,
}

/// One push of one job: over which connection, and until when.
struct Trip<'a> {
    job: &'a Encoded<'a>,
    held: Option<Connection>,
    until: Instant,
}

impl Queue {
    /// Pushes one job of default priority that replaces none.
    pub(super) fn push_one(&self, job: &Encoded<'_>) -> Result<Pushed> {
        let mut trip = Trip { job, held: None, until: self.link.deadline() };
        let result = self.push_over(&mut trip);
        if let Some(connection) = trip.held {
            self.link.give_back(connection);
        }
        result
    }

    fn push_over(&self, trip: &mut Trip<'_>) -> Result<Pushed> {
        let (mut place, mut is_transaction, job) = (None, false, trip.job);
        let value =
            self.link.run_until(trip.until, &mut trip.held, Repeat::Yes, &mut |request, attempt, connection| {
                self.write_index(request, connection);
                if attempt.since_lost.is_none() {
                    place = Place::of(job, connection);
                }
                is_transaction = attempt.since_lost.is_none() && place.is_some();
                match &place {
                    Some(place) if is_transaction => {
                        let [waiting, jobs] = self.keys.places();
                        let mut due = itoa::Buffer::new();
                        let put: [&[u8]; 4] = [b"ZADD", waiting, due.format(place.due_at_ms).as_bytes(), &place.member];
                        request.transaction(&[&put, &[b"HSETNX", jobs, job.id.as_bytes(), &place.record]]);
                    }
                    _ => {
                        if is_far_off(job, 0) && connection.clock.is_wanted() {
                            request.transaction(&[]); // for the next one
                        }
                        self.write_push(request, job, attempt, place.as_ref().map(Place::head));
                    }
                }
            });
        match (&place, value) {
            // The right to MULTI has been taken away meanwhile: the commands were executed one by one.
            (Some(place), Err(Error::Server { message, .. }))
                if is_transaction && message.contains("EXEC without MULTI") =>
            {
                self.put_right(trip, place)
            }
            (Some(_), Err(Error::Server { code, .. })) if is_transaction && code == "NOPERM" => self.push_anew(trip),
            (Some(place), Ok(value)) if is_transaction => self.read_transaction(trip, place, value),
            (_, value) => pushed(value?),
        }
    }

    fn read_transaction(&self, trip: &mut Trip<'_>, place: &Place, value: Value) -> Result<Pushed> {
        let answered = Moment::now();
        let time = trip.held.as_mut().and_then(|connection| connection.aside.take());
        let server_us = time.as_ref().and_then(reply::time_us);
        let is_borne_out = server_us.is_some_and(|server_us| place.claim.is_borne_out(server_us, answered));
        let answers = reply::transaction(value)?;
        match answers.as_slice() {
            [Value::Int(_), Value::Int(1)] if is_borne_out => Ok(Pushed::New),
            [Value::Int(_), Value::Int(1)] => self.put_right(trip, place),
            [Value::Int(_), Value::Int(_)] => {
                // Failing here leaves a member without its record, which whoever meets it drops.
                let _ = self.take_back(trip, place, false);
                Ok(Pushed::Duplicate)
            }
            // A key is not what it should be: the script says so, after nothing is left of this.
            [_, stored] => {
                self.take_back(trip, place, *stored == Value::Int(1))
                    .map_err(|error| in_doubt("but for its place, and this could not be undone", &error))?;
                self.push_anew(trip)
            }
            _ => Err(reply::unexpected()),
        }
    }

    /// Nothing came of the transaction.
    fn push_anew(&self, trip: &mut Trip<'_>) -> Result<Pushed> {
        let job = trip.job;
        pushed(self.link.run_until(trip.until, &mut trip.held, Repeat::Yes, &mut |request, attempt, _| {
            self.write_push(request, job, attempt, None);
        })?)
    }

    /// The job is there, but was stamped by a clock that does not go like Redis' own, or not in one with its place.
    fn put_right(&self, trip: &mut Trip<'_>, place: &Place) -> Result<Pushed> {
        let job = trip.job;
        let answer = self.link.run_until(trip.until, &mut trip.held, Repeat::Yes, &mut |request, attempt, _| {
            self.write_push(request, job, attempt, Some(place.head()));
        });
        answer
            .and_then(pushed)
            .map_err(|error| in_doubt("with a time that was not right, and could not be put right", &error))
    }

    fn take_back(&self, trip: &mut Trip<'_>, place: &Place, is_stored: bool) -> Result<()> {
        let ([waiting, jobs], job) = (self.keys.places(), trip.job);
        self.link
            .run_until(trip.until, &mut trip.held, Repeat::No, &mut |request, _, _| {
                request.command(&[b"ZREM", waiting, &place.member]);
                if is_stored {
                    request.command(&[b"HDEL", jobs, job.id.as_bytes()]);
                }
            })
            .map(|_| ())
    }
}

impl Place {
    /// `None` when the job falls due too soon, or it is not known what time it is for Redis.
    fn of(job: &Encoded<'_>, connection: &mut Connection) -> Option<Self> {
        if !is_far_off(job, 0) {
            return None;
        }
        let claim = connection.clock.claim()?;
        let now_ms = now_ms(claim.delay_from_us);
        is_far_off(job, now_ms).then(|| Self::new(job, claim, 0, due_at_ms(job.job.due, now_ms)))
    }

    /// A place among jobs that are pushed together: so many quarters of a microsecond after the first.
    pub(super) fn new(job: &Encoded<'_>, claim: Claim, quarters: u64, due_at_ms: i64) -> Self {
        let stamp = record::stamp(claim.stamp_us, quarters, job.flags);
        let member = [stamp.as_slice(), job.id.as_bytes()].concat();
        let record = record::encode(stamp, due_at_ms, job.body_parts());
        Self { claim, due_at_ms, member, record }
    }

    /// What the record begins with.
    fn head(&self) -> &[u8] {
        record::head(&self.record)
    }
}

/// Redis' time in milliseconds, rounded up, so that nothing is early.
pub(super) fn now_ms(server_us: i64) -> i64 {
    server_us.saturating_add(999).div_euclid(1000).saturating_add(clock::offset_ms())
}

/// The due time of what is pushed now.
pub(super) fn due_at_ms(due: Due, now_ms: i64) -> i64 {
    match due {
        Due::InMs(delay) => now_ms.saturating_add_unsigned(delay),
        Due::AtMs(at) => at.max(0),
    }
}

/// Whether the job falls due late enough after this time.
fn is_far_off(job: &Encoded<'_>, now_ms: i64) -> bool {
    match job.job.due {
        Due::InMs(delay) => delay >= LEAST_DELAY_MS.unsigned_abs(),
        Due::AtMs(at) => at >= now_ms + LEAST_DELAY_MS,
    }
}

fn pushed(value: Value) -> Result<Pushed> {
    match Reply::new(value)?.word.as_str() {
        "OK" => Ok(Pushed::New),
        "DUPLICATE" => Ok(Pushed::Duplicate),
        _ => Err(reply::unexpected()),
    }
}

fn in_doubt(how: &str, why: &Error) -> Error {
    Error::Connection { doing: Doing::default(), message: format!("the job was stored, {how}: {why}"), ambiguous: true }
}
