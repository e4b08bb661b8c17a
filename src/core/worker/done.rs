//! Jobs that are done and not known to be acknowledged: with the next fetch, or by the keeper, whichever comes first.

use super::delivery::{JobKey, Ticket};
use crate::core::job::Receipt;
use crate::core::queue::{Finished, Settled};
use std::time::{Duration, Instant};

/// A job that is done waits no longer than this for its acknowledgement.
pub(super) const ACK_WITHIN: Duration = Duration::from_millis(50);
/// A job that makes room in its group, or in the queue, waits no longer than this: another worker may have the next job of the group.
const MAKE_ROOM_WITHIN: Duration = Duration::from_millis(2);

/// A finished job.
#[derive(Debug)]
pub(super) struct Done {
    pub ticket: Ticket,
    due_at: Instant,
    ran: Duration,
    /// A send failed: it may have been acknowledged all the same.
    is_ambiguous: bool,
}

impl Done {
    pub fn finished(&self) -> Finished<'_> {
        Finished { receipt: &self.ticket.lease.receipt, ran: self.ran }
    }
}

/// All finished jobs of a loop, shared between the loop and its keeper.
#[derive(Debug, Default)]
pub(super) struct DoneJobs {
    open: Vec<Done>,
    /// The keeper is sending some of them.
    pub is_sending: bool,
    pub acknowledged: Vec<JobKey>,
    /// Their leases were gone when they were to be acknowledged.
    pub lost: Vec<JobKey>,
}

impl DoneJobs {
    /// Returns when it is to be acknowledged at the latest.
    pub fn add(&mut self, ticket: Ticket) -> Instant {
        let ran = ticket.since.elapsed();
        let within = if ticket.lease.receipt.counts() { MAKE_ROOM_WITHIN } else { ACK_WITHIN };
        let due_at = Instant::now() + within;
        self.open.push(Done { ticket, due_at, ran, is_ambiguous: false });
        due_at
    }

    /// When the first of them has waited long enough.
    pub fn due_at(&self) -> Option<Instant> {
        self.open.iter().map(|done| done.due_at).min()
    }

    /// Takes those of one queue, to acknowledge them.
    pub fn take(&mut self, queue: usize) -> Vec<Done> {
        self.open.extract_if(.., |done| done.ticket.queue == queue).collect()
    }

    pub fn has(&self, queue: usize) -> bool {
        self.open.iter().any(|done| done.ticket.queue == queue)
    }

    pub fn has_receipt(&self, receipt: &Receipt) -> bool {
        self.open.iter().any(|done| done.ticket.lease.receipt == *receipt)
    }

    pub fn queues(&self) -> Vec<usize> {
        let mut queues: Vec<usize> = self.open.iter().map(|done| done.ticket.queue).collect();
        queues.sort_unstable();
        queues.dedup();
        queues
    }

    /// The answer is missing, so they may or may not have been acknowledged: they are to be acknowledged again.
    pub fn put_back(&mut self, mut failed: Vec<Done>) {
        failed.iter_mut().for_each(|done| done.is_ambiguous = true);
        failed.append(&mut self.open);
        self.open = failed;
    }

    /// They have been acknowledged, but for those that were not ours any more.
    pub fn answered(&mut self, sent: Vec<Done>, settled: impl Fn(usize) -> Option<Settled>) {
        for (at, done) in sent.into_iter().enumerate() {
            done.ticket.lease.settle();
            let is_lost = settled(at) == Some(Settled::Lost) && !done.is_ambiguous;
            if is_lost { &mut self.lost } else { &mut self.acknowledged }.push(done.ticket.key());
        }
    }

    /// Acknowledgements that can no longer succeed count as lost.
    pub fn give_up(&mut self, is_over: impl Fn(&Ticket) -> bool) {
        for done in self.open.extract_if(.., |done| is_over(&done.ticket)) {
            done.ticket.lease.settle(); // or it would be renewed, once Redis is back
            self.lost.push(done.ticket.key());
        }
    }
}
