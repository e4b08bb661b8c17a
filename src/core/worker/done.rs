//! Jobs that are done and not known to be acknowledged: with the next fetch, or by the keeper, whichever comes first.

use super::duty::{Duty, RETRY, Shared, Timer};
use super::lease::{JobKey, Ticket};
use crate::core::error::Result;
use crate::core::job::LeaseReceipt;
use crate::core::queue::{Finished, Queue, Settled};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A job that is done waits no longer than this for its acknowledgement.
const ACK_WITHIN: Duration = Duration::from_millis(50);
/// A job that makes room in its group, or in the queue, waits no longer than this: another worker may have the next job of the group.
const MAKE_ROOM_WITHIN: Duration = Duration::from_millis(2);

/// A finished job.
#[derive(Debug)]
pub(super) struct Done {
    ticket: Ticket,
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
pub(super) struct DoneJobs(Shared<Jobs>);

#[derive(Default)]
struct Jobs {
    /// The queues of the jobs, by the index of a ticket.
    queues: Arc<[Queue]>,
    open: Vec<Done>,
    last_added: Option<Instant>,
    /// The keeper is sending some of them.
    is_sending: bool,
    acknowledged: Vec<JobKey>,
    /// Their leases were gone when they were to be acknowledged.
    lost: Vec<JobKey>,
}

impl DoneJobs {
    pub fn new(timer: &Arc<Timer>) -> Self {
        Self(Shared::new(timer))
    }

    /// The queues whose jobs will be added.
    pub fn serve(&self, queues: &[Queue]) {
        if let Some(mut jobs) = self.0.lock() {
            jobs.queues = queues.iter().map(Queue::detached).collect();
        }
    }

    /// Has a job acknowledged, by the keeper if no fetch does it before.
    pub fn add(&self, ticket: Ticket) {
        let ran = ticket.since.elapsed();
        let within = if ticket.lease.receipt.counts() { MAKE_ROOM_WITHIN } else { ACK_WITHIN };
        let now = Instant::now();
        self.0.change(|jobs| {
            jobs.last_added = Some(now);
            jobs.open.push(Done { ticket, due_at: now + within, ran, is_ambiguous: false });
            Some(now + within)
        });
    }

    /// Takes those of one queue, to acknowledge them.
    pub fn take(&self, queue: usize) -> Vec<Done> {
        let taken = |jobs: &mut Jobs| jobs.open.extract_if(.., |done| done.ticket.queue == queue).collect();
        self.0.lock().map(|mut jobs| taken(&mut jobs)).unwrap_or_default()
    }

    pub fn has(&self, queue: usize) -> bool {
        self.0.lock().is_some_and(|jobs| jobs.open.iter().any(|done| done.ticket.queue == queue))
    }

    pub fn has_receipt(&self, receipt: &LeaseReceipt) -> bool {
        self.0.lock().is_some_and(|jobs| jobs.open.iter().any(|done| done.ticket.lease.receipt == *receipt))
    }

    /// Acknowledges those of one queue.
    ///
    /// # Errors
    /// Connection and server errors; the jobs stay.
    pub fn acknowledge(&self, index: usize, queue: &Queue) -> Result<()> {
        let done = self.take(index);
        if done.is_empty() {
            return Ok(());
        }
        let answer = queue.ack_many(&done.iter().map(Done::finished).collect::<Vec<_>>());
        self.answered(done, answer.as_ref().map(|settled| |at: usize| settled.get(at).copied()).ok());
        answer.map(drop)
    }

    /// They have been acknowledged, but for those that were not ours any more. Without an answer they may or may not have been: they are to be
    /// acknowledged again.
    pub fn answered(&self, mut sent: Vec<Done>, settled: Option<impl Fn(usize) -> Option<Settled>>) {
        self.0.change(|jobs| {
            let Some(settled) = settled else {
                let retry_at = Instant::now() + RETRY;
                sent.iter_mut().for_each(|done| (done.is_ambiguous, done.due_at) = (true, retry_at));
                jobs.open.splice(..0, sent);
                return Some(retry_at);
            };
            for (at, done) in sent.into_iter().enumerate() {
                done.ticket.lease.settle();
                let is_lost = settled(at) == Some(Settled::Lost) && !done.is_ambiguous;
                if is_lost { &mut jobs.lost } else { &mut jobs.acknowledged }.push(done.ticket.key());
            }
            None
        });
    }

    /// Acknowledgements that can no longer succeed count as lost.
    pub fn give_up(&self, is_over: impl Fn(&Ticket) -> bool) {
        let Some(mut jobs) = self.0.lock() else { return };
        let Jobs { open, lost, .. } = &mut *jobs;
        for done in open.extract_if(.., |done| is_over(&done.ticket)) {
            done.ticket.lease.settle(); // or it would be renewed, once Redis is back
            lost.push(done.ticket.key());
        }
    }

    /// Waits while the keeper is sending, until the deadline.
    pub fn wait_for_keeper(&self, deadline: Instant) {
        drop(self.0.lock_once_sent(deadline, |jobs| jobs.is_sending));
    }

    /// Since last asked.
    pub fn take_acknowledged(&self) -> Vec<JobKey> {
        self.0.lock().map(|mut jobs| std::mem::take(&mut jobs.acknowledged)).unwrap_or_default()
    }

    /// Since last asked.
    pub fn take_lost(&self) -> Vec<JobKey> {
        self.0.lock().map(|mut jobs| std::mem::take(&mut jobs.lost)).unwrap_or_default()
    }
}

impl Duty for DoneJobs {
    /// The first of them has waited long enough. As long as jobs come and go, the thread looks by itself: waking it for each would cost more
    /// than its work.
    fn due_at(&self) -> Option<Instant> {
        let jobs = self.0.lock()?;
        let first = jobs.open.iter().map(|done| done.due_at).min();
        first.or_else(|| jobs.last_added.map(|at| at + ACK_WITHIN).filter(|at| *at > Instant::now()))
    }

    fn run(&self) {
        let Some(mut jobs) = self.0.lock() else { return };
        jobs.is_sending = true;
        let queues = Arc::clone(&jobs.queues);
        drop(jobs);
        for (index, queue) in queues.iter().enumerate() {
            let _ = self.acknowledge(index, queue); // the jobs stay, and come again
        }
        if let Some(mut jobs) = self.0.lock() {
            jobs.is_sending = false;
        }
        self.0.has_sent();
    }
}
