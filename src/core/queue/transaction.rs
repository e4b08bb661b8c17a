//! The usual push: two plain commands in a transaction, which cost Redis less than half of what `lua/push.lua` does. A
//! transaction cannot decide anything, so the job has to be due late enough that there is nothing to decide but whether its id
//! is free, and what is not as it was taken to be is put right by the script, before anybody can have met it.

use super::Queue;
use super::push::{Encoded, Pushed};
use crate::core::clock;
use crate::core::connection::Connection;
use crate::core::error::{Doing, Error, Result};
use crate::core::job::Due;
use crate::core::link::Repeat;
use crate::core::record::{self, Stamp};
use crate::core::reply::{self, Reply};
use crate::core::server_clock::Claim;
use redis::Value;
use std::time::Instant;

/// An idle consumer looks every two seconds, so one that falls due later than this need wake nobody.
const LEAST_DELAY_MS: i64 = 3000;

/// Where a transaction puts a job.
struct Place {
    claim: Claim,
    stamp: Stamp,
    member: Vec<u8>,
    due_at_ms: i64,
}

impl Queue {
    /// Pushes one job of default priority that replaces none.
    pub(super) fn push_one(&self, job: &Encoded<'_>) -> Result<Pushed> {
        let mut held = None;
        let result = self.push_over(&mut held, job);
        if let Some(connection) = held {
            self.link.give_back(connection);
        }
        result
    }

    fn push_over(&self, held: &mut Option<Connection>, job: &Encoded<'_>) -> Result<Pushed> {
        let mut place: Option<Place> = None;
        let mut is_transaction = false;
        let value = self.link.run_on(held, Repeat::Yes, &mut |request, attempt, connection| {
            self.write_index(request, connection);
            if attempt.since_lost.is_none() {
                place = Place::of(job, connection);
            }
            is_transaction = attempt.since_lost.is_none() && place.is_some();
            match &place {
                Some(place) if is_transaction => {
                    let [waiting, jobs] = self.keys.places();
                    let mut due = itoa::Buffer::new();
                    let due = due.format(place.due_at_ms).as_bytes();
                    let record = record::encode(place.stamp, place.due_at_ms, &job.body);
                    let put: [&[u8]; 4] = [b"ZADD", waiting, due, &place.member];
                    request.transaction(&[&put, &[b"HSETNX", jobs, job.id.as_bytes(), &record]]);
                }
                _ => {
                    if is_late(job, 0) && !connection.clock.is_known() {
                        request.transaction(&[]); // for the next one
                    }
                    self.write_push(request, job, attempt, place.as_ref().map(|place| place.stamp));
                }
            }
        })?;
        match &place {
            Some(place) if is_transaction => self.check(held, job, place, value),
            _ => pushed(value),
        }
    }

    /// Reads the answer to a transaction.
    fn check(&self, held: &mut Option<Connection>, job: &Encoded<'_>, place: &Place, value: Value) -> Result<Pushed> {
        let answered = Instant::now();
        let (answers, server_us) = reply::transaction(value)?;
        let [waiting, jobs] = self.keys.places();
        let take_back: [&[u8]; 3] = [b"ZREM", waiting, &place.member];
        match answers.as_slice() {
            [Value::Int(_), Value::Int(1)] if place.claim.is_borne_out(server_us, answered) => Ok(Pushed::New),
            [Value::Int(_), Value::Int(1)] => self.put_right(held, job, place.stamp),
            [Value::Int(_), Value::Int(_)] => {
                // Failing here leaves a member without its record, which whoever meets it drops.
                let _ = self.link.run_on(held, Repeat::Yes, &mut |request, _, _| request.command(&take_back));
                Ok(Pushed::Duplicate)
            }
            // A key is not what it should be: what was done of it is undone, and the script says the rest.
            [_, stored] => {
                let is_stored = *stored == Value::Int(1);
                pushed(self.link.run_on(held, Repeat::Yes, &mut |request, attempt, _| {
                    request.command(&take_back);
                    if is_stored {
                        request.command(&[b"HDEL", jobs, job.id.as_bytes()]);
                    }
                    self.write_push(request, job, attempt, None);
                })?)
            }
            _ => Err(reply::unexpected()),
        }
    }

    /// The job is there, and was stamped by a clock that does not go like Redis' own.
    fn put_right(&self, held: &mut Option<Connection>, job: &Encoded<'_>, stamp: Stamp) -> Result<Pushed> {
        if let Some(connection) = held {
            connection.clock.forget();
        }
        let answer = self.link.run_on(held, Repeat::Yes, &mut |request, attempt, _| {
            self.write_push(request, job, attempt, Some(stamp));
        });
        answer.and_then(pushed).map_err(|error| Error::Connection {
            doing: Doing::default(),
            message: format!("the job was pushed by a clock that had changed, and could not be put right: {error}"),
            ambiguous: true,
        })
    }
}

impl Place {
    /// `None` when the job falls due too soon, or it is not known what time it is for Redis.
    fn of(job: &Encoded<'_>, connection: &mut Connection) -> Option<Self> {
        if !is_late(job, 0) {
            return None;
        }
        let claim = connection.clock.claim()?;
        let now_ms = claim.us.checked_add(999)?.div_euclid(1000) + clock::offset_ms(); // rounded up, so that it is never early
        if !is_late(job, now_ms) {
            return None;
        }
        let due_at_ms = match job.job.due {
            Due::InMs(delay) => now_ms.checked_add_unsigned(delay)?,
            Due::AtMs(at) => at,
        };
        let stamp = record::stamp(claim.us, 0, job.flags);
        Some(Self { claim, stamp, member: [stamp.as_slice(), job.id.as_bytes()].concat(), due_at_ms })
    }
}

/// Whether the job falls due late enough after this time.
fn is_late(job: &Encoded<'_>, now_ms: i64) -> bool {
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
