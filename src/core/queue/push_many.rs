//! Producing many jobs: push_many, in chunks that are added whole or not at all.

use super::Queue;
use super::batch::Batch;
use super::place::{Place, Times};
use super::push::{Encoded, due_args, retry_window};
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, NewJob, OnDuplicate};
use crate::core::link::{Repeat, Request};
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use crate::core::server_clock::Claim;
use std::borrow::Cow;

/// Most jobs of one atomic chunk.
pub const CHUNK: usize = 500;
/// Most payload bytes of one atomic chunk: a script should not hold Redis for long.
const CHUNK_BYTES: usize = 8 << 20;

impl Queue {
    /// Adds many jobs, in chunks of up to 500 as their size allows, each of which is added whole or not at all.
    ///
    /// # Errors
    /// As [`Queue::push`]; the chunks before the failing one stay.
    pub fn push_many(&self, jobs: &[NewJob]) -> Result<Vec<JobId>> {
        for job in jobs {
            self.check_size(job)?;
        }
        let mut ids = Vec::with_capacity(jobs.len());
        let mut rest = jobs;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take(CHUNK).take_while(|job| {
                bytes += job.payload.len();
                bytes <= CHUNK_BYTES
            });
            let (chunk, after) = rest.split_at(fits.count().max(1).min(rest.len()));
            let mut generate = JobId::series();
            let encoded: Vec<Encoded<'_>> =
                chunk.iter().map(|job| Encoded::new(job, &mut generate, self.compress)).collect();
            self.push_chunk(&encoded).map_err(|error| {
                error.while_doing(|| format!("pushing {} jobs to queue '{}'", chunk.len(), self.name))
            })?;
            ids.extend(encoded.into_iter().map(|job| job.id));
            rest = after;
        }
        Ok(ids)
    }

    fn push_chunk(&self, jobs: &[Encoded<'_>]) -> Result<()> {
        let until = self.link.deadline();
        let Some(mut batch) = Batch::new(jobs, until) else { return self.push_each(jobs) };
        batch.held = Some(self.link.take_until(until)?);
        let result = self.push_batch(&mut batch);
        // It cannot be in a transaction; if it were, the next request would go into that.
        if let Some(connection) = batch.held.filter(|connection| !connection.in_transaction) {
            self.link.give_back(connection);
        }
        result
    }

    fn push_batch(&self, batch: &mut Batch<'_>) -> Result<()> {
        if self.push_fresh(batch)? || self.push_watched(batch)? { Ok(()) } else { self.push_made(batch) }
    }

    /// Sends members and records as they shall be, which spares Redis a quarter of the work. It must be known what time
    /// it is for Redis; the script checks that.
    fn push_made(&self, batch: &mut Batch<'_>) -> Result<()> {
        let Batch { jobs, bytes, held, until, has_asked, is_fresh } = batch;
        let mut is_made = held.as_mut().is_some_and(|connection| connection.makes.take_chance());
        loop {
            let mut sent = Sent::Each;
            let value = self.link.run_until(*until, held, Repeat::Yes, &mut |request, attempt, connection| {
                if std::mem::take(&mut connection.in_transaction) {
                    request.abort();
                }
                let is_made = is_made && attempt.since_lost.is_none();
                let claim = if is_made { connection.clock.claim(jobs.len()) } else { None };
                sent = match claim {
                    Some(_) => Sent::Made,
                    None if is_made && !*has_asked && connection.clock.is_wanted() => Sent::Question,
                    None => Sent::Each,
                };
                if sent == Sent::Question {
                    return request.transaction(|_| {});
                }
                self.write_index(request, connection);
                if claim.is_none() && *is_fresh && connection.clock.is_wanted() {
                    request.transaction(|_| {}); // for the next one
                }
                match claim {
                    Some(claim) => self.write_made(request, jobs, claim, *bytes),
                    None => self.write_each(request, &retry_window(attempt), jobs),
                }
            });
            match (sent, value) {
                (Sent::Question, Err(error @ Error::Connection { .. })) => return Err(error.of_a_question()),
                // What it was answered does not matter here: the clock has heard it, or nobody has.
                (Sent::Question, _) => *has_asked = true,
                (Sent::Each, value) => return self.chunk_pushed(Reply::new(value?)?),
                (Sent::Made, value) => {
                    let reply = Reply::new(value?)?;
                    is_made = reply.word != "CLOCK";
                    if let Some(connection) = held {
                        connection.makes.saw(is_made);
                        if !is_made {
                            connection.clock.forget();
                        }
                    }
                    if is_made {
                        return self.chunk_pushed(reply);
                    }
                }
            }
        }
    }

    fn write_made(&self, request: &mut Request, jobs: &[Encoded<'_>], claim: Claim, bytes: usize) {
        // Not before they arrive: the more bytes, the longer they are on their way, a millisecond for each 64 KiB begun.
        let on_its_way_ms = i64::try_from(bytes / 65_536).unwrap_or(i64::MAX) + 1;
        let delay_from_us = claim.delay_from_us.saturating_add(on_its_way_ms.saturating_mul(1000));
        let times = Times::new(claim.stamp_us, delay_from_us);
        let places: Vec<Place> = (1..).zip(jobs).map(|(quarters, job)| times.place(quarters, job)).collect();
        let first = places.iter().map(|place| place.due_at_ms).min().unwrap_or(0);
        let numbers = [claim.stamp_us, delay_from_us, first].map(|number| number.to_string());
        let [stamped, delayed, first, count] = [&numbers[0], &numbers[1], &numbers[2], &jobs.len().to_string()];
        let made: Vec<[Vec<u8>; 3]> = jobs
            .iter()
            .zip(&places)
            .map(|(job, place)| {
                let due = place.due_at_ms.to_string().into_bytes();
                [place.record(job).concat(), due, place.member(job).concat()]
            })
            .collect();
        let mut args: Vec<&[u8]> = Vec::with_capacity(6 + 4 * jobs.len());
        args.extend([b"".as_slice(), b"made"]);
        args.extend([stamped, delayed, first, count].map(|text| text.as_bytes()));
        args.extend(jobs.iter().zip(&made).flat_map(|(job, [record, ..])| [job.id.as_bytes(), record]));
        args.extend(made.iter().flat_map(|[_, due, member]| [due.as_slice(), member]));
        self.write_script(request, &scripts::PUSH_MANY, &args);
    }

    /// The same for jobs of any kind: the script makes of them what is to be stored.
    pub(super) fn push_each(&self, jobs: &[Encoded<'_>]) -> Result<()> {
        let value = self.link.run(|request, attempt, connection| {
            self.write_index(request, connection);
            self.write_each(request, &retry_window(attempt), jobs);
        })?;
        self.chunk_pushed(Reply::new(value)?)
    }

    pub(super) fn write_each(&self, request: &mut Request, retry: &str, jobs: &[Encoded<'_>]) {
        let dues: Vec<(String, String)> = jobs.iter().map(|job| due_args(job.job.due)).collect();
        let bodies: Vec<Cow<'_, [u8]>> = jobs.iter().map(Encoded::body).collect();
        let mut args: Vec<&[u8]> = Vec::with_capacity(2 + 6 * jobs.len());
        args.extend([retry.as_bytes(), b"each"]);
        for ((job, body), (delay, at)) in jobs.iter().zip(&bodies).zip(&dues) {
            let mode: &[u8] = match job.job.on_duplicate {
                OnDuplicate::Fail => b"fail",
                OnDuplicate::Keep => b"keep",
                OnDuplicate::Replace => b"replace",
            };
            args.extend([job.id.as_bytes(), body, job.flags, delay.as_bytes(), at.as_bytes(), mode]);
        }
        self.write_script(request, &scripts::PUSH_MANY, &args);
    }

    pub(super) fn chunk_pushed(&self, mut reply: Reply) -> Result<()> {
        match reply.word.as_str() {
            "OK" => Ok(()),
            "DUPLICATE" | "RESERVED" => Err(self.duplicate(&reply.bytes()?)),
            _ => Err(reply::unexpected()),
        }
    }
}

/// What a request contained.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Question,
    Made,
    Each,
}
