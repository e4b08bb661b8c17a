//! Jobs that arrive once, however often they are pushed: the queue keeps a receipt of each.

use super::Queue;
use super::push::{Encoded, fitting, word};
use crate::core::error::{Error, Result};
use crate::core::job::NewJob;
use crate::core::record::History;
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use std::cell::Cell;
use std::time::Instant;

/// A job that is to arrive once, with its past.
#[derive(Debug, Clone, PartialEq)]
pub struct OnceJob {
    pub receipt: Vec<u8>,
    /// A job whose options have a seal comes with the sealed payload.
    pub job: NewJob,
    /// There is no job: only the receipt is given, and the id taken for as long as the job says.
    pub is_receipt_only: bool,
    /// `None`: now, by the clock of this host.
    pub created_at_ms: Option<i64>,
    /// Without a first due time it falls due first when it falls due.
    pub past: Option<History>,
    /// It is buried, since it fell due.
    pub is_buried: bool,
}

/// The outcome for jobs that were to arrive once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PushOnce {
    pub added: u64,
    /// Their ids were taken: what is there was kept.
    pub kept: u64,
    /// The queue had their receipts.
    pub known: u64,
}

impl PushOnce {
    fn read(reply: &mut Reply) -> Result<Self> {
        let mut count = || Ok(u64::try_from(reply.int()?).unwrap_or(0));
        Ok(Self { added: count()?, kept: count()?, known: count()? })
    }

    pub fn add(&mut self, other: Self) {
        *self = Self { added: self.added + other.added, kept: self.kept + other.kept, known: self.known + other.known };
    }
}

impl Queue {
    /// Adds the jobs whose receipts the queue does not have, in chunks each of which is added whole or not at all. After an error, the same call
    /// again adds what is missing.
    ///
    /// # Errors
    /// [`Error::PayloadTooLarge`], [`Error::QueueFull`], [`Error::Seal`], connection and server errors.
    pub fn push_once(&self, jobs: &[OnceJob]) -> Result<PushOnce> {
        jobs.iter().try_for_each(|one| self.check_payload(&one.job.payload))?;
        let (mut sum, mut rest) = (PushOnce::default(), jobs);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(fitting(rest.iter().map(|one| &one.job.payload)));
            let pushing = || format!("pushing {} jobs once to queue '{}'", jobs.len(), self.name);
            sum.add(self.push_once_chunk(chunk).map_err(|error| error.while_doing(pushing))?);
            rest = after;
        }
        Ok(sum)
    }

    fn push_once_chunk(&self, jobs: &[OnceJob]) -> Result<PushOnce> {
        let encoded: Vec<Encoded<'_>> =
            jobs.iter().map(|one| Encoded::new(self, &one.job, one.created_at_ms)).collect::<Result<_>>()?;
        let pasts: Vec<Vec<u8>> =
            jobs.iter().map(|one| one.past.as_ref().map(|past| past.encode()).unwrap_or_default()).collect();
        let mut args: Vec<&[u8]> = Vec::with_capacity(9 * jobs.len());
        for ((one, new), past) in jobs.iter().zip(&encoded).zip(&pasts) {
            let (id, record): (&[u8], &[u8]) = match one.is_receipt_only {
                true => (one.job.id.as_ref().map_or(b"", |id| id.as_bytes()), b""),
                false => (new.id.as_bytes(), &new.record),
            };
            let state: &[u8] = if one.is_buried { b"1" } else { b"" };
            args.extend([&one.receipt, id, record, new.due.as_bytes(), word(one.job.on_duplicate)]);
            args.extend([new.priority.as_bytes(), new.unique.as_bytes(), past, state]);
        }
        let (last_round, was_lost) = (self.client.last_round(), Cell::new(false));
        self.client.in_one_operation(|| {
            loop {
                let mut reply = self.indexing(|request, is_repeat| {
                    was_lost.set(was_lost.get() || is_repeat);
                    self.write_script(request, &scripts::PUSH_ONCE, &args);
                })?;
                match reply.word.as_str() {
                    "OK" => return PushOnce::read(&mut reply),
                    "AGAIN" if Instant::now() < last_round => {}
                    "AGAIN" => return Err(Error::unfinished(was_lost.get())),
                    _ => return Err(reply::unexpected()),
                }
            }
        })
    }
}
