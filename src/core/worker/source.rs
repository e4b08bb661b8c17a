//! One watched queue: what a trip to it acknowledges, and the lease slots that the trips fill in turn.

use super::lease::Lease;
use crate::core::job::{JobId, Receipt, Reserved};
use crate::core::queue::{Queue, Trip, new_slot};
use std::collections::VecDeque;
use std::sync::Arc;

/// A job on its way to the handler.
#[derive(Debug)]
pub struct Delivery {
    pub job: Reserved,
    pub ticket: Ticket,
}

/// What the feed needs to know of a job that it delivered.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Index of its queue.
    pub queue: usize,
    pub id: JobId,
    pub lease: Arc<Lease>,
}

/// A finished job that was not ours any more when it was to be acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Index of its queue.
    pub queue: usize,
    pub id: JobId,
    pub token: u64,
}

/// A finished job that is not known to be acknowledged.
#[derive(Debug)]
pub(super) struct Done {
    id: JobId,
    pub lease: Arc<Lease>,
    /// A send failed: it may have been acknowledged all the same.
    ambiguous: bool,
}

impl Done {
    pub fn lost(self, queue: usize) -> Lost {
        Lost { queue, token: self.lease.receipt.token, id: self.id }
    }
}

/// What one trip fetched, under leases that are being kept.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub deliveries: VecDeque<Delivery>,
    /// As many as were asked for: there may be more.
    pub is_full: bool,
    /// Its number with the keeper; 0: none.
    pub kept: u64,
}

impl Batch {
    /// `keep` has the leases renewed from now on.
    pub fn new(queue: usize, jobs: Vec<Reserved>, asked: usize, keep: impl FnOnce(Vec<Arc<Lease>>) -> u64) -> Self {
        let is_full = jobs.len() >= asked;
        let mut leases = Vec::with_capacity(jobs.len());
        let deliver = |job: Reserved| {
            let lease = Lease::new(job.receipt.clone(), job.options.ttr_ms, job.lease_until);
            leases.push(Arc::clone(&lease));
            Delivery { ticket: Ticket { queue, id: job.id.clone(), lease }, job }
        };
        let deliveries = jobs.into_iter().map(deliver).collect();
        Self { deliveries, is_full, kept: keep(leases) }
    }

    pub fn tokens(&self) -> impl Iterator<Item = u64> {
        self.deliveries.iter().map(|delivery| delivery.job.receipt.token)
    }
}

/// A lease slot, used again once nothing in it is open.
#[derive(Debug)]
struct Slot {
    name: Arc<str>,
    call: u32,
    /// Leases that are neither settled nor done, in the order of delivery.
    open: VecDeque<u64>,
    /// What the keeper keeps of it; 0: nothing.
    kept: u64,
}

/// What a trip takes along, for another thread to make it.
#[derive(Debug)]
pub(super) struct Request {
    slot: Arc<str>,
    call: u32,
    max: usize,
    done: Vec<Receipt>,
}

impl Request {
    pub fn trip(&self) -> Trip<'_> {
        let done = self.done.iter().collect();
        Trip { slot: &self.slot, call: self.call, max: self.max, done, lost: Vec::new() }
    }
}

/// A trip under way, as the source remembers it.
#[derive(Debug)]
pub(super) struct Departure {
    slot: Slot,
    done: Vec<Done>,
    over: Vec<u64>,
}

impl Departure {
    /// Whether the slot has been used before.
    pub fn is_used_again(&self) -> bool {
        self.slot.call > 1
    }

    pub fn trip(&self, max: usize) -> Trip<'_> {
        let done = self.done.iter().map(|done| &done.lease.receipt).collect();
        Trip { slot: &self.slot.name, call: self.slot.call, max, done, lost: Vec::new() }
    }

    pub fn request(&self, max: usize) -> Request {
        let done = self.done.iter().map(|done| done.lease.receipt.clone()).collect();
        Request { slot: Arc::clone(&self.slot.name), call: self.slot.call, max, done }
    }
}

/// Which batch a trip fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The next one, and none is in hand.
    Next,
    /// The one behind that in hand.
    Behind,
}

/// One watched queue.
pub(super) struct Source {
    pub queue: Queue,
    index: usize,
    /// Of the batch in hand.
    slot: Option<Slot>,
    /// Of the batch before or behind it.
    other: Option<Slot>,
    pub done: Vec<Done>,
    /// Kept batches that no slot has any more.
    over: Vec<u64>,
}

impl Source {
    pub fn new(index: usize, queue: Queue) -> Self {
        Self { queue, index, slot: None, other: None, done: Vec::new(), over: Vec::new() }
    }

    pub fn index(&self) -> usize {
        self.index
    }

    /// A trip begins: takes along what is done. [`Source::arrive`] or [`Source::miss`] ends it.
    pub fn depart(&mut self, which: Which) -> Departure {
        let slot = match self.place(which).take() {
            Some(Slot { name, call, open, kept }) if open.is_empty() => {
                self.over.extend((kept > 0).then_some(kept));
                Slot { name, call: call.wrapping_add(1), open, kept: 0 }
            }
            used => {
                self.over.extend(used.map(|slot| slot.kept).filter(|kept| *kept > 0));
                Slot { name: new_slot(), call: 1, open: VecDeque::new(), kept: 0 }
            }
        };
        Departure { slot, done: std::mem::take(&mut self.done), over: std::mem::take(&mut self.over) }
    }

    /// A trip was answered with jobs of these tokens.
    pub fn arrive(
        &mut self,
        which: Which,
        departure: Departure,
        gone: &[u64],
        tokens: impl Iterator<Item = u64>,
    ) -> Arrived {
        let Departure { mut slot, done, over } = departure;
        slot.open.extend(tokens);
        *self.place(which) = Some(slot);
        Arrived { over, ..Self::ends_of(self.index, done, gone) }
    }

    /// Under this number the keeper keeps what has arrived.
    pub fn keep(&mut self, which: Which, kept: u64) {
        if let Some(slot) = self.place(which) {
            slot.kept = kept;
        }
    }

    fn place(&mut self, which: Which) -> &mut Option<Slot> {
        match which {
            Which::Next => &mut self.slot,
            Which::Behind => &mut self.other,
        }
    }

    /// A trip failed, or nobody waits for its answer any more: what it took along may have been acknowledged, and is to be
    /// acknowledged again. Whatever lies in its slot now is left alone.
    pub fn miss(&mut self, departure: Departure) {
        self.over.extend(departure.over);
        let newer = std::mem::replace(&mut self.done, departure.done);
        self.doubt();
        self.done.extend(newer);
    }

    /// The batch behind is in hand now.
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.slot, &mut self.other);
    }

    /// What is done may have been acknowledged by a request that failed.
    pub fn doubt(&mut self) {
        self.done.iter_mut().for_each(|done| done.ambiguous = true);
    }

    /// All that is done was acknowledged, but for what is gone.
    pub fn acknowledged(&mut self, gone: &[u64]) -> Arrived {
        Self::ends_of(self.index, std::mem::take(&mut self.done), gone)
    }

    fn ends_of(index: usize, done: Vec<Done>, gone: &[u64]) -> Arrived {
        let mut arrived = Arrived::default();
        for done in done {
            done.lease.settle();
            let token = done.lease.receipt.token;
            if gone.contains(&token) && !done.ambiguous {
                arrived.lost.push(done.lost(index));
            } else {
                arrived.acknowledged.push((index, token));
            }
        }
        arrived
    }

    /// The job of a ticket is done.
    pub fn done(&mut self, ticket: &Ticket) {
        self.close(ticket);
        self.done.push(Done { id: ticket.id.clone(), lease: Arc::clone(&ticket.lease), ambiguous: false });
    }

    /// Nobody acknowledges this any more: Redis may still have its lease, so its slot is not used again.
    pub fn abandon(&mut self, done: &Done) {
        done.lease.settle(); // or it would be renewed, once Redis is back
        let Receipt { slot: name, token } = &done.lease.receipt;
        let slots = [&mut self.slot, &mut self.other].into_iter().flatten();
        slots.filter(|slot| slot.name == *name).for_each(|slot| slot.open.push_back(*token));
    }

    /// The job of a ticket is settled or done.
    pub fn close(&mut self, ticket: &Ticket) {
        let token = ticket.lease.receipt.token;
        for slot in [&mut self.slot, &mut self.other].into_iter().flatten() {
            if slot.open.front() == Some(&token) {
                slot.open.pop_front();
                return;
            }
        }
        for slot in [&mut self.slot, &mut self.other].into_iter().flatten() {
            slot.open.retain(|open| *open != token);
        }
    }
}

/// What an answer ended.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    pub lost: Vec<Lost>,
    /// Index of the queue, and token.
    pub acknowledged: Vec<(usize, u64)>,
    /// Batches that need not be kept any longer.
    pub over: Vec<u64>,
}
