//! The usual push: two plain commands in a transaction, which cost Redis less than half of what `lua/push.lua` does. A
//! transaction cannot decide anything, so the job has to be due late enough that there is nothing to decide but whether its id
//! is free; and what is not as it was taken to be is put right by the script before `push` returns.

use super::Queue;
use super::place::{self, Place, Times, may_be_far_off};
use super::push::{Encoded, Pushed};
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::link::{Repeat, is_no_transaction};
use crate::core::reply::{self, Reply};
use crate::core::server_clock::Claim;
use redis::Value;
use std::time::Instant;

/// One push of one job: over which connection, and until when.
struct Trip<'a> {
    job: &'a Encoded<'a>,
    claim: Option<Claim>,
    held: Option<Connection>,
    until: Instant,
}

impl Queue {
    /// Pushes one job of default priority that replaces none.
    pub(super) fn push_one(&self, job: &Encoded<'_>) -> Result<Pushed> {
        let mut trip = Trip { job, claim: None, held: None, until: self.link.deadline() };
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
                    trip.claim = place::claim(std::slice::from_ref(job), &mut connection.clock);
                    place = trip.claim.map(|claim| Times::of(claim).place(0, job));
                }
                is_transaction = attempt.since_lost.is_none() && place.is_some();
                match &place {
                    Some(place) if is_transaction => {
                        let [waiting, jobs] = self.keys.places();
                        let mut due = itoa::Buffer::new();
                        let due = due.format(place.due_at_ms).as_bytes();
                        request.transaction(|request| {
                            request.command(&[b"ZADD", waiting, due, &place.member(job).concat()]);
                            request.command(&[b"HSETNX", jobs, job.id.as_bytes(), &place.record(job).concat()]);
                        });
                    }
                    _ => {
                        if may_be_far_off(job) && connection.clock.is_wanted() {
                            request.transaction(|_| {}); // for the next one
                        }
                        self.write_push(request, job, attempt, place.as_ref().map(Place::head));
                    }
                }
            });
        match (&place, value) {
            // The right to MULTI has been taken away meanwhile: the commands were executed one by one.
            (Some(place), Err(error)) if is_transaction && is_no_transaction(&error) => self.put_right(trip, place),
            (Some(_), Err(Error::Server { code, .. })) if is_transaction && code == "NOPERM" => self.push_anew(trip),
            (Some(_), Ok(Value::Nil)) if is_transaction => self.push_anew(trip), // something was still watched
            (Some(place), Ok(value)) if is_transaction => self.read_transaction(trip, place, value),
            (_, value) => pushed(value?),
        }
    }

    fn read_transaction(&self, trip: &mut Trip<'_>, place: &Place, value: Value) -> Result<Pushed> {
        let claimed = trip.held.as_mut().zip(trip.claim);
        let is_borne_out = claimed.is_some_and(|(connection, claim)| connection.bears_out(claim));
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
                self.take_back(trip, place, *stored == Value::Int(1)).map_err(|error| {
                    Error::in_doubt("the job was stored but for its place, and this could not be undone", error)
                })?;
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
        answer.and_then(pushed).map_err(|error| {
            Error::in_doubt("the job was stored with a time that was not right, and could not be put right", error)
        })
    }

    fn take_back(&self, trip: &mut Trip<'_>, place: &Place, is_stored: bool) -> Result<()> {
        let ([waiting, jobs], job) = (self.keys.places(), trip.job);
        let member = place.member(job).concat();
        self.link
            .run_until(trip.until, &mut trip.held, Repeat::No, &mut |request, _, _| {
                request.command(&[b"ZREM", waiting, &member]);
                if is_stored {
                    request.command(&[b"HDEL", jobs, job.id.as_bytes()]);
                }
            })
            .map(|_| ())
    }
}

fn pushed(value: Value) -> Result<Pushed> {
    match Reply::new(value)?.word.as_str() {
        "OK" => Ok(Pushed::New),
        "DUPLICATE" => Ok(Pushed::Duplicate),
        _ => Err(reply::unexpected()),
    }
}
