//! Jobs for a loop: what is done is acknowledged in the round trip that fetches the next ones.

use super::keeper::Keeper;
use super::lease::Lease;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, Receipt, Reserved};
use crate::core::queue::{Flow, Interrupts, Look, Queue, Trip, Waited, Waiting, new_slot, wait_for};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Acknowledgements wait for the next fetch no longer than this.
const ACK_WITHIN: Duration = Duration::from_millis(50);

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

/// A finished job whose acknowledgement has not been sent.
#[derive(Debug)]
struct Done {
    id: JobId,
    lease: Arc<Lease>,
    /// A send failed: it may have been acknowledged all the same.
    ambiguous: bool,
}

/// A finished job that was not ours any more when it was to be acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Index of its queue.
    pub queue: usize,
    pub id: JobId,
    pub token: u64,
}

/// What a fetch gave.
#[derive(Debug)]
pub enum Fetched {
    Job(Box<Delivery>),
    /// Nothing is ready, and the wait is over.
    Nothing,
    /// The interrupts asked to leave.
    Left(Flow),
}

/// One watched queue: its lease slot, used again and again, and what is done.
struct Source {
    queue: Queue,
    slot: Arc<str>,
    call: u32,
    /// Leases in the slot that are neither settled nor done, in the order of delivery.
    open: VecDeque<u64>,
    done: Vec<Done>,
    batches: Vec<u64>,
}

impl Source {
    /// Fetches up to `max`, acknowledging what is done on the way.
    fn look(
        &mut self,
        held: &mut Option<Connection>,
        max: usize,
        waiting: Option<Waiting<'_>>,
        keeper: &mut Option<Keeper>,
        lost: &mut Vec<(JobId, u64)>,
    ) -> Result<Look> {
        if self.open.is_empty() {
            self.call = self.call.wrapping_add(1);
        } else {
            (self.slot, self.call) = (new_slot(), 1);
        }
        self.open.clear();
        let done = self.done.iter().map(|done| &done.lease.receipt).collect();
        let mut trip = Trip { slot: &self.slot, call: self.call, max, done, lost: Vec::new() };
        let result = self.queue.look(held, &mut trip, waiting);
        let gone = trip.lost;
        match &result {
            Ok(look) => {
                self.acknowledged(&gone, keeper, lost);
                if let Look::Jobs(jobs) = look {
                    self.open.extend(jobs.iter().map(|job| job.receipt.token));
                }
            }
            Err(_) => {
                // Whatever lies in the slot now: leave it alone.
                (self.slot, self.call) = (new_slot(), 0);
                self.done.iter_mut().for_each(|done| done.ambiguous = true);
            }
        }
        result
    }

    /// The job of a ticket is settled or done.
    fn close(&mut self, ticket: &Ticket) {
        let token = ticket.lease.receipt.token;
        if self.open.front() == Some(&token) {
            self.open.pop_front();
        } else {
            self.open.retain(|open| *open != token);
        }
    }

    fn acknowledged(&mut self, gone: &[u64], keeper: &mut Option<Keeper>, lost: &mut Vec<(JobId, u64)>) {
        for done in self.done.drain(..) {
            done.lease.settle();
            if gone.contains(&done.lease.receipt.token) && !done.ambiguous {
                lost.push((done.id, done.lease.receipt.token));
            }
        }
        if let Some(keeper) = keeper {
            self.batches.drain(..).for_each(|batch| keeper.forget(batch));
        }
    }
}

/// Fetches jobs of several queues, first one first.
pub struct Feed {
    sources: Vec<Source>,
    queues: Vec<Queue>,
    prefetch: usize,
    buffer: VecDeque<Delivery>,
    oldest_done: Option<Instant>,
    keeper: Option<Keeper>,
    lost: Vec<Lost>,
}

impl Feed {
    /// A feed over `queues`, fetching up to `prefetch` jobs a round trip; `keeper` renews their leases.
    #[must_use]
    pub fn new(queues: Vec<Queue>, prefetch: usize, keeper: Option<Keeper>) -> Self {
        let source = |queue: &Queue| Source {
            queue: queue.clone(),
            slot: new_slot(),
            call: 0,
            open: VecDeque::new(),
            done: Vec::new(),
            batches: Vec::new(),
        };
        Self {
            sources: queues.iter().map(source).collect(),
            queues,
            prefetch: prefetch.max(1),
            buffer: VecDeque::new(),
            oldest_done: None,
            keeper,
            lost: Vec::new(),
        }
    }

    /// The queue of a delivery.
    #[must_use]
    pub fn queue(&self, index: usize) -> Option<&Queue> {
        self.queues.get(index)
    }

    /// The thread that keeps the leases.
    pub fn keeper(&mut self) -> Option<&mut Keeper> {
        self.keeper.as_mut()
    }

    /// The next job; fetches when none is left, waiting up to `timeout` (`None`: for ever). A prefetched job whose lease ran
    /// out meanwhile is not delivered.
    ///
    /// # Errors
    /// Connection and server errors. What is done stays to be acknowledged.
    pub fn next(&mut self, timeout: Option<Duration>, interrupts: &mut dyn Interrupts) -> Result<Fetched> {
        if let Some(delivery) = self.next_buffered() {
            return Ok(Fetched::Job(Box::new(delivery)));
        }
        let Self { sources, queues, prefetch, keeper, lost, .. } = self;
        let Some(link) = queues.first().map(|queue| queue.link().clone()) else { return Ok(Fetched::Nothing) };
        let mut held = None;
        let mut look = |queue: &Queue, held: &mut Option<Connection>, waiting: Option<Waiting<'_>>| {
            let found = sources.iter_mut().enumerate().find(|(_, source)| source.queue.name() == queue.name());
            let Some((index, source)) = found else { return Ok(Look::Nothing(None)) };
            let mut gone = Vec::new();
            let result = source.look(held, *prefetch, waiting, keeper, &mut gone);
            lost.extend(gone.into_iter().map(|(id, token)| Lost { queue: index, id, token }));
            result
        };
        let result = wait_for(&link, &mut held, queues, timeout, interrupts, &mut look);
        if let Some(connection) = held {
            link.give_back(connection);
        }
        let waited = result?;
        if let Waited::Jobs(index, jobs) = waited {
            self.keep(index, jobs);
            self.flush()?; // what the other queues have to acknowledge
            return Ok(self.next_buffered().map_or(Fetched::Nothing, |delivery| Fetched::Job(Box::new(delivery))));
        }
        self.oldest_done = None;
        Ok(if let Waited::Left(flow) = waited { Fetched::Left(flow) } else { Fetched::Nothing })
    }

    fn next_buffered(&mut self) -> Option<Delivery> {
        while let Some(delivery) = self.buffer.pop_front() {
            let lease = &delivery.ticket.lease;
            if !lease.is_lost() && lease.until() > Instant::now() {
                return Some(delivery);
            }
            lease.settle();
        }
        None
    }

    fn keep(&mut self, index: usize, jobs: Vec<Reserved>) {
        let Some(source) = self.sources.get_mut(index) else { return };
        let mut leases = Vec::with_capacity(jobs.len());
        for job in jobs {
            let lease = Lease::new(job.receipt.clone(), job.options.ttr_ms, job.lease_until);
            leases.push(Arc::clone(&lease));
            let ticket = Ticket { queue: index, id: job.id.clone(), lease };
            self.buffer.push_back(Delivery { job, ticket });
        }
        if let Some(keeper) = &mut self.keeper {
            source.batches.push(keeper.keep(&source.queue, leases));
        }
    }

    /// The job is done: to be acknowledged with the next fetch, or within 50 ms while prefetched ones are being handled.
    ///
    /// # Errors
    /// Connection and server errors. It stays to be acknowledged.
    pub fn done(&mut self, ticket: &Ticket) -> Result<()> {
        if let Some(source) = self.sources.get_mut(ticket.queue) {
            source.close(ticket);
            let done = Done { id: ticket.id.clone(), lease: Arc::clone(&ticket.lease), ambiguous: false };
            source.done.push(done);
        }
        let oldest = *self.oldest_done.get_or_insert_with(Instant::now);
        if !self.buffer.is_empty() && oldest.elapsed() >= ACK_WITHIN {
            return self.flush();
        }
        Ok(())
    }

    /// The job was settled in another way: nothing is left to do for it.
    pub fn settled(&mut self, ticket: &Ticket) {
        ticket.lease.settle();
        if let Some(source) = self.sources.get_mut(ticket.queue) {
            source.close(ticket);
        }
    }

    /// Sends what is to be acknowledged.
    ///
    /// # Errors
    /// Connection and server errors. It stays to be acknowledged.
    pub fn flush(&mut self) -> Result<()> {
        for (index, source) in self.sources.iter_mut().enumerate() {
            if source.done.is_empty() {
                continue;
            }
            let receipts: Vec<Receipt> = source.done.iter().map(|done| done.lease.receipt.clone()).collect();
            match source.queue.ack_receipts(&receipts) {
                Ok(gone) => {
                    let mut lost = Vec::new();
                    source.acknowledged(&gone, &mut None, &mut lost); // the rest of the batch is still to be kept
                    self.lost.extend(lost.into_iter().map(|(id, token)| Lost { queue: index, id, token }));
                }
                Err(error) => {
                    source.done.iter_mut().for_each(|done| done.ambiguous = true);
                    return Err(error);
                }
            }
        }
        self.oldest_done = None;
        Ok(())
    }

    /// Acknowledgements that can no longer succeed, because their leases ended while Redis was away, count as lost.
    pub fn give_up_ended(&mut self) {
        let now = Instant::now();
        self.give_up(|lease| lease.until() <= now);
    }

    /// Acknowledgements that nobody will send any more count as lost.
    pub fn give_up_all(&mut self) {
        self.give_up(|_| true);
    }

    fn give_up(&mut self, is_over: impl Fn(&Lease) -> bool) {
        for (index, source) in self.sources.iter_mut().enumerate() {
            let (over, open): (Vec<Done>, Vec<Done>) = source.done.drain(..).partition(|done| is_over(&done.lease));
            source.done = open;
            for done in over {
                done.lease.settle(); // or it would be renewed, once Redis is back
                self.lost.push(Lost { queue: index, id: done.id, token: done.lease.receipt.token });
            }
        }
    }

    /// Whether everything that is done has been acknowledged.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.sources.iter().all(|source| source.done.is_empty())
    }

    /// Jobs whose leases were gone when they were to be acknowledged, since last asked.
    pub fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.lost)
    }

    /// The job is not started after all: it is the next one again.
    pub fn put_back(&mut self, delivery: Delivery) {
        self.buffer.push_front(delivery);
    }

    /// Gives back what was fetched and not started, without counting an attempt.
    ///
    /// # Errors
    /// Connection and server errors; such jobs come back when their leases end.
    pub fn return_rest(&mut self) -> Result<()> {
        while let Some(delivery) = self.buffer.pop_front() {
            self.settled(&delivery.ticket);
            let Some(queue) = self.queues.get(delivery.ticket.queue) else { continue };
            match queue.return_unstarted(&delivery.job.held()) {
                Ok(()) | Err(Error::LeaseLost { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
