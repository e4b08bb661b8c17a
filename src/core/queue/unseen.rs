//! Jobs that were leased without their records, which spares Redis to carry payloads through a script. The records are read by a
//! plain command with the request for the batch behind.

use super::{Held, Queue};
use crate::core::error::Result;
use crate::core::job::{DEFAULT_TTR_MS, JobId, JobOptions, Receipt, Reserved};
use crate::core::link::Request;
use crate::core::record::{self, Record, Stamp};
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use crate::core::slot::Slot;
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A lease of a job that nobody has looked at. Its place in the order may have been left over from another one: only a record with the
/// same birth is the job's.
#[derive(Debug, Clone)]
pub struct Unseen {
    pub receipt: Receipt,
    pub lease_until: Instant,
    id: JobId,
    stamp: Stamp,
    reserved_at_ms: i64,
    lease_until_ms: i64,
}

impl Unseen {
    /// The length of such a lease: the jobs have no options.
    pub const TTR_MS: u64 = DEFAULT_TTR_MS;

    /// Reads a `LEASES` answer.
    pub(super) fn read(mut reply: Reply, slot: &Arc<str>, sent: Instant) -> Result<Vec<Self>> {
        let record = reply.bytes()?;
        let reserved_at_ms = reply.int()?;
        let lease = |lease: Slot<'_>| {
            let receipt = Receipt { slot: Arc::clone(slot), token: lease.token };
            let left = Duration::from_millis(u64::try_from(lease.deadline_ms - reserved_at_ms).unwrap_or(0));
            Some(Self {
                receipt,
                lease_until: sent + left,
                id: JobId::from_redis(lease.id),
                stamp: lease.stamp?,
                reserved_at_ms,
                lease_until_ms: lease.deadline_ms,
            })
        };
        Slot::decode(&record).and_then(|leases| leases.into_iter().map(lease).collect()).ok_or_else(reply::unexpected)
    }

    /// What is needed to give it back.
    #[must_use]
    pub fn held(&self) -> Held {
        Held { id: self.id.clone(), receipt: self.receipt.clone(), attempts: 1, options: JobOptions::default() }
    }

    /// The job, if this is its record; `None` when that is damaged.
    fn open(&self, queue: &Arc<str>, record: Vec<u8>) -> Option<Reserved> {
        let record = Record::from_bytes(record)?;
        Some(Reserved {
            id: self.id.clone(),
            queue: Arc::clone(queue),
            payload: record.payload,
            options: record.options,
            attempts: 1,
            created_at_ms: record.created_at_ms,
            due_at_ms: record.due_at_ms,
            reserved_at_ms: self.reserved_at_ms,
            lease_until_ms: self.lease_until_ms,
            lease_until: self.lease_until,
            receipt: self.receipt.clone(),
            last_error: None,
        })
    }
}

impl Queue {
    /// Reads the records of jobs that were leased unseen. Those that are there, in their order; the leases of the others end.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn see(&self, unseen: &[Unseen]) -> Result<Vec<Reserved>> {
        let records = self.link.run(|request, _, _| {
            request.command(&self.see_args(unseen));
        });
        self.see_all(unseen, Some(records?))
    }

    /// Adds what reads the records, if there are any to read.
    pub(super) fn write_see(&self, request: &mut Request, unseen: &[Unseen]) {
        if !unseen.is_empty() {
            request.aside(&self.see_args(unseen));
        }
    }

    fn see_args<'a>(&'a self, unseen: &'a [Unseen]) -> Vec<&'a [u8]> {
        let [_, jobs] = self.keys.places();
        [b"HMGET", jobs].into_iter().chain(unseen.iter().map(|unseen| unseen.id.as_bytes())).collect()
    }

    pub(super) fn see_all(&self, unseen: &[Unseen], records: Option<Value>) -> Result<Vec<Reserved>> {
        let records = reply::records(records, unseen.len())?;
        let mut jobs = Vec::with_capacity(unseen.len());
        let mut strays = Vec::new();
        for (unseen, record) in unseen.iter().zip(records) {
            match record.filter(|record| record::has_birth(record, unseen.stamp)) {
                None => strays.push(&unseen.receipt),
                Some(record) => match unseen.open(&self.name, record) {
                    Some(job) => jobs.push(job),
                    None => drop(self.bury_receipt(&unseen.receipt, b"corrupt record")),
                },
            }
        }
        self.disown(&strays);
        Ok(jobs)
    }

    /// Ends leases of jobs that are not there. Where that fails, as with a record that should be set aside, they run out.
    fn disown(&self, strays: &[&Receipt]) {
        let Some(Receipt { slot, .. }) = strays.first() else { return };
        let tokens: Vec<String> = strays.iter().map(|receipt| receipt.token.to_string()).collect();
        let args: Vec<&[u8]> = std::iter::once(slot.as_bytes()).chain(tokens.iter().map(String::as_bytes)).collect();
        drop(self.link.run(|request, _, _| request.script(&scripts::DISOWN, &self.keys.disown(), &args)));
    }
}
