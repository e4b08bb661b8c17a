//! One watched queue: what a trip to it acknowledges, and the lease slots that the trips fill in turn.

use super::batch::{Batch, Sealed, Ticket};
use super::lease::Lease;
use crate::core::job::{JobId, Receipt, Reserved};
use crate::core::queue::{Queue, Trip, new_slot};
use std::collections::VecDeque;
use std::sync::Arc;

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
    /// Whether the next batch may come sealed.
    pub may_be_unseen: bool,
    /// The batch before it, to be opened.
    pub sealed: Option<Arc<Sealed>>,
}

impl Request {
    pub fn trip(&self) -> Trip<'_> {
        let unseen = self.sealed.as_ref().map_or(&[][..], |sealed| &sealed.unseen);
        let done = self.done.iter().collect();
        let Self { call, may_be_unseen, .. } = *self;
        Trip { call, done, may_be_unseen, unseen, ..Trip::new(&self.slot, self.max) }
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
        Trip { call: self.slot.call, done, ..Trip::new(&self.slot.name, max) }
    }

    pub fn request(&self, max: usize, may_be_unseen: bool, sealed: Option<Arc<Sealed>>) -> Request {
        let done = self.done.iter().map(|done| done.lease.receipt.clone()).collect();
        Request { slot: Arc::clone(&self.slot.name), call: self.slot.call, max, done, may_be_unseen, sealed }
    }
}

/// So many batches are open at once at most: in hand, behind it, and sealed behind that.
const SLOTS: usize = 3;

/// One watched queue.
pub(super) struct Source {
    pub queue: Queue,
    index: usize,
    /// In the order of their batches: the one in hand first.
    slots: VecDeque<Slot>,
    pub done: Vec<Done>,
    /// Kept batches that no slot has any more.
    over: Vec<u64>,
}

impl Source {
    pub fn new(index: usize, queue: Queue) -> Self {
        Self { queue, index, slots: VecDeque::with_capacity(SLOTS), done: Vec::new(), over: Vec::new() }
    }

    pub fn index(&self) -> usize {
        self.index
    }

    /// A trip begins: takes along what is done. [`Source::arrive`] or [`Source::miss`] ends it.
    pub fn depart(&mut self) -> Departure {
        let of_done = self.done.first().map(|done| &done.lease.receipt.slot);
        let place =
            |wanted: &dyn Fn(&Slot) -> bool| self.slots.iter().position(|slot| slot.open.is_empty() && wanted(slot));
        // The slot of what is done is acknowledged for least.
        let free = place(&|slot| Some(&slot.name) == of_done).or_else(|| place(&|_| true));
        // One that has been in use for so long holds what nobody acknowledges any more.
        let old = free.or((self.slots.len() == SLOTS).then_some(0)).and_then(|place| self.slots.remove(place));
        self.over.extend(old.as_ref().map(|slot| slot.kept).filter(|kept| *kept > 0));
        let slot = match old {
            Some(Slot { name, call, open, .. }) if free.is_some() => {
                Slot { name, call: call.wrapping_add(1), open, kept: 0 }
            }
            _ => Slot { name: new_slot(), call: 1, open: VecDeque::new(), kept: 0 },
        };
        Departure { slot, done: std::mem::take(&mut self.done), over: std::mem::take(&mut self.over) }
    }

    /// A trip was answered with jobs of these tokens, which the keeper keeps under this number.
    pub fn arrive(
        &mut self,
        departure: Departure,
        gone: &[u64],
        tokens: impl Iterator<Item = u64>,
        kept: u64,
    ) -> Arrived {
        let Departure { mut slot, done, over } = departure;
        slot.open.extend(tokens);
        slot.kept = kept;
        self.slots.push_back(slot);
        Arrived { over, ..Self::ends_of(self.index, done, gone) }
    }

    /// Under this number the keeper keeps what has arrived last.
    pub fn keep(&mut self, kept: u64) {
        if let Some(slot) = self.slots.back_mut() {
            slot.kept = kept;
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
        let slots = self.slots.iter_mut().filter(|slot| slot.name == *name);
        slots.for_each(|slot| slot.open.push_back(*token));
    }

    /// The job of a ticket is settled or done.
    pub fn close(&mut self, ticket: &Ticket) {
        self.close_token(ticket.lease.receipt.token);
    }

    /// The jobs of a sealed batch have been read; what is not there is closed.
    pub fn unseal(&mut self, sealed: &Sealed, seen: Vec<Reserved>) -> Batch {
        let batch = sealed.unseal(self.index, seen);
        let mut seen = batch.tokens().peekable();
        for token in sealed.tokens() {
            if seen.next_if_eq(&token).is_none() {
                self.close_token(token);
            }
        }
        drop(seen);
        batch
    }

    /// These leases have been given back.
    pub fn close_all(&mut self, sealed: &Sealed) {
        sealed.let_go();
        sealed.tokens().for_each(|token| self.close_token(token));
    }

    fn close_token(&mut self, token: u64) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.open.front() == Some(&token)) {
            slot.open.pop_front();
        } else {
            self.slots.iter_mut().for_each(|slot| slot.open.retain(|open| *open != token));
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
