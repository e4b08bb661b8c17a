//! A chunk of jobs that the client can make itself, and what a transaction adds it with.

use super::Queue;
use super::place::{Times, may_be_far_off};
use super::push::Encoded;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::job::OnDuplicate;
use crate::core::link::{Repeat, Request};
use crate::core::record;
use crate::core::reply;
use crate::core::resp::write_arg;
use redis::Value;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::time::Instant;

/// Of so many jobs on, a round trip to learn what time it is pays.
const ASKS_FROM: usize = 16;
/// More than this is too long on its way for its time to be claimed before it is sent.
const MADE_BYTES: usize = 1 << 20;

/// A chunk that the client can make itself: over which connection, and until when.
pub(super) struct Batch<'a> {
    pub(super) jobs: &'a [Encoded<'a>],
    pub(super) bytes: usize,
    pub(super) held: Option<Connection>,
    pub(super) until: Instant,
    /// Redis has been asked what time it is, or need not be.
    pub(super) has_asked: bool,
    /// All ids were generated here, and no job falls due so soon that somebody has to be woken, as far as that can be known without
    /// the time.
    pub(super) is_fresh: bool,
}

impl<'a> Batch<'a> {
    /// `None` when the script has to make it.
    pub(super) fn new(jobs: &'a [Encoded<'a>], until: Instant) -> Option<Self> {
        let bytes: usize = jobs.iter().map(|job| job.body_len() + job.id.as_bytes().len()).sum();
        let is_fresh = jobs.iter().all(|job| job.job.id.is_none() && may_be_far_off(job));
        let can_be_made = bytes <= MADE_BYTES && can_be_made(jobs);
        can_be_made.then_some(Self { jobs, bytes, held: None, until, has_asked: jobs.len() < ASKS_FROM, is_fresh })
    }
}

/// Whether all are of default priority and new, as far as the client can know.
fn can_be_made(jobs: &[Encoded<'_>]) -> bool {
    let chosen = jobs.iter().filter(|job| job.job.id.is_some()).count();
    let mut ids = FxHashSet::with_capacity_and_hasher(chosen, FxBuildHasher);
    jobs.iter().all(|Encoded { id, job, .. }| {
        let is_new = job.on_duplicate == OnDuplicate::Fail && (job.id.is_none() || ids.insert(id.as_bytes()));
        is_new && !record::is_ranked(&job.options)
    })
}

impl Queue {
    /// Adds what stores where the jobs wait.
    pub(super) fn write_members(&self, request: &mut Request, jobs: &[Encoded<'_>], times: Times) {
        let [waiting, _] = self.keys.places();
        request.command_of(2 + 2 * jobs.len(), |out| {
            write_arg(out, &[b"ZADD"]);
            write_arg(out, &[waiting]);
            for (quarters, job) in (1..).zip(jobs) {
                let place = times.place(quarters, job);
                write_arg(out, &[itoa::Buffer::new().format(place.due_at_ms).as_bytes()]);
                write_arg(out, &place.member(job));
            }
        });
    }

    /// Adds what stores the jobs.
    pub(super) fn write_records(&self, request: &mut Request, jobs: &[Encoded<'_>], times: Times) {
        let [_, hash] = self.keys.places();
        request.command_of(2 + 2 * jobs.len(), |out| {
            write_arg(out, &[b"HSET"]);
            write_arg(out, &[hash]);
            for (quarters, job) in (1..).zip(jobs) {
                write_arg(out, &[job.id.as_bytes()]);
                write_arg(out, &times.place(quarters, job).record(job));
            }
        });
    }

    /// Reads what a transaction of members and records, in this order, answered: whether it added the jobs. Otherwise none of them is there.
    pub(super) fn read_added(&self, batch: &mut Batch<'_>, times: Times, value: Value) -> Result<bool> {
        if value == Value::Nil {
            return Ok(false); // what is watched has changed
        }
        match reply::transaction(value)?.as_slice() {
            [Value::Int(_), Value::Int(_)] => Ok(true),
            // A key is not what it should be: the script says so, after nothing is left of this.
            [_, Value::Int(_)] => self.take_records_back(batch).map(|()| false).map_err(|error| {
                Error::in_doubt(
                    "the jobs were stored, but cannot wait for their time, and this could not be undone",
                    error,
                )
            }),
            [_, _] => {
                // Failing here leaves members without their records, which whoever meets them drops.
                let _ = self.take_members_back(batch, times);
                Ok(false)
            }
            _ => Err(reply::unexpected()),
        }
    }

    /// Nobody can have met them: they wait nowhere.
    fn take_records_back(&self, batch: &mut Batch<'_>) -> Result<()> {
        let Batch { jobs, held, until, .. } = batch;
        let [_, hash] = self.keys.places();
        let ids: Vec<&[u8]> = [b"HDEL", hash].into_iter().chain(jobs.iter().map(|job| job.id.as_bytes())).collect();
        self.link.run_until(*until, held, Repeat::No, &mut |request, _, _| request.command(&ids)).map(|_| ())
    }

    fn take_members_back(&self, batch: &mut Batch<'_>, times: Times) -> Result<()> {
        let Batch { jobs, held, until, .. } = batch;
        let [waiting, _] = self.keys.places();
        let write = |out: &mut Vec<u8>| {
            write_arg(out, &[b"ZREM"]);
            write_arg(out, &[waiting]);
            for (quarters, job) in (1..).zip(*jobs) {
                write_arg(out, &times.place(quarters, job).member(job));
            }
        };
        let mut build = |request: &mut Request, _, _: &mut _| request.command_of(2 + jobs.len(), write);
        self.link.run_until(*until, held, Repeat::No, &mut build).map(|_| ())
    }
}
