//! Jobs for a loop: the round trip that fetches the next ones acknowledges those that are done.

use super::done::{Done, DoneJobs};
use super::keeper::Keeper;
use super::lease::{Delivery, JobKey, Ticket};
use super::listing::Orders;
use crate::core::error::Result;
use crate::core::job::{LeaseReceipt, Reserved};
use crate::core::pool::Connections;
use crate::core::queue::{
    Fetch, Flow, Interrupts, Queue, ReserveOutcome, Settled, Source, Waited, Waiting, forget_calls, wait_for,
};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The result of a fetch.
#[derive(Debug)]
pub enum Fetched {
    Job(Box<Delivery>),
    /// Nothing is ready, and the wait is over.
    Nothing,
    /// Nothing so far; Redis has housekeeping left that may make jobs ready. Ask again.
    Unfinished,
    /// The interrupts asked to leave.
    Left(Flow),
}

/// Fetches jobs of several queues, first one first.
pub struct Feed {
    queues: Vec<Queue>,
    prefetch: usize,
    /// How many more jobs are wanted.
    wanted: usize,
    /// Leased, and not started.
    buffer: VecDeque<Delivery>,
    keeper: Keeper,
}

impl Feed {
    /// A feed over `queues`, fetching up to `prefetch` jobs a round trip; `keeper` renews their leases, and acknowledges jobs that are done
    /// while the loop is busy.
    #[must_use]
    pub fn new(queues: Vec<Queue>, prefetch: usize, keeper: Keeper) -> Self {
        // Waiting for a replica after each job would gain nothing: a loop cannot take back what its handler has done.
        let queues: Vec<Queue> = queues.iter().map(Queue::hasty).collect();
        keeper.done.serve(&queues);
        Self { queues, prefetch: prefetch.max(1), wanted: usize::MAX, buffer: VecDeque::new(), keeper }
    }

    /// Puts the loop on the list of workers; `waits`: it is one that waits for jobs. The orders of operators come to `orders`.
    pub fn enlist(&mut self, orders: Arc<Orders>, waits: bool) {
        self.keeper.enlist(&self.queues, orders, waits);
    }

    /// Takes the loop off the list of workers.
    pub fn sign_off(&mut self) {
        if let Some(queue) = self.queues.first() {
            self.keeper.sign_off(queue.client().deadline());
        }
    }

    /// No more than so many jobs are wanted from now on.
    pub fn want(&mut self, jobs: usize) {
        self.wanted = jobs;
    }

    /// The queues, first one first.
    #[must_use]
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// Whether they are in the memory of this process.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.queues.iter().all(|queue| queue.client().key().dsn.in_memory().is_some())
    }

    /// The queue of a delivery.
    #[must_use]
    pub fn queue(&self, index: usize) -> Option<&Queue> {
        self.queues.get(index)
    }

    /// The thread that keeps the leases.
    pub fn keeper(&mut self) -> &mut Keeper {
        &mut self.keeper
    }

    /// The next job; fetches when none is left, waiting up to `timeout` (`None`: for ever). A prefetched job whose lease ran
    /// out meanwhile is not delivered.
    ///
    /// # Errors
    /// Connection and server errors. Jobs that are done stay to be acknowledged.
    pub fn next(&mut self, timeout: Option<Duration>, interrupts: &mut dyn Interrupts) -> Result<Fetched> {
        if let Some(delivery) = self.next_buffered() {
            return Ok(Fetched::Job(Box::new(delivery)));
        }
        match self.fetch(timeout, interrupts)? {
            Waited::Jobs(index, jobs) => {
                self.keep(index, jobs);
                Ok(self.next_buffered().map_or(Fetched::Nothing, |delivery| Fetched::Job(Box::new(delivery))))
            }
            Waited::Nothing => Ok(Fetched::Nothing),
            Waited::Unfinished => Ok(Fetched::Unfinished),
            Waited::Left(flow) => Ok(Fetched::Left(flow)),
        }
    }

    /// The next job that may go with others of this queue, all partitions of it: one that is there, or comes within this time. Nothing, where the next
    /// one goes alone, or is of another queue.
    ///
    /// # Errors
    /// As [`Feed::next`].
    pub fn next_of(
        &mut self,
        index: usize,
        most: usize,
        time: Duration,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Fetched> {
        let parts = self.parts_of(index);
        // A queue without partitions has given all that was ready.
        if self.buffer.is_empty() && (parts.len() > 1 || !time.is_zero()) {
            let mut source = Fetching { max: most, first: parts.start, done: &self.keeper.done };
            match wait_for(self.queues.get(parts.clone()).unwrap_or_default(), Some(time), interrupts, &mut source)? {
                Waited::Jobs(part, jobs) => self.keep(parts.start + part, jobs),
                Waited::Nothing => return Ok(Fetched::Nothing),
                Waited::Unfinished => return Ok(Fetched::Unfinished),
                Waited::Left(flow) => return Ok(Fetched::Left(flow)),
            }
        }
        let Some(next) = self.next_buffered() else { return Ok(Fetched::Nothing) };
        if !parts.contains(&next.ticket.queue) {
            self.put_back(next);
            return Ok(Fetched::Nothing);
        }
        if next.job.goes_alone() {
            // Kept here, it would lose an attempt with the batch whose handler ends the process.
            next.ticket.lease.settle();
            if let Some(queue) = self.queues.get(next.ticket.queue) {
                queue.give_back(&[&next.job.receipt])?;
            }
            return Ok(Fetched::Nothing);
        }
        Ok(Fetched::Job(Box::new(next)))
    }

    /// The partitions of the queue that this is one of.
    fn parts_of(&self, index: usize) -> Range<usize> {
        let name = self.queues.get(index).map(Queue::name);
        let is_other = |queue: &Queue| Some(queue.name()) != name;
        let start = self.queues.iter().take(index).rposition(is_other).map_or(0, |at| at + 1);
        let end = self.queues.iter().skip(index).position(is_other).map_or(self.queues.len(), |many| index + many);
        start..end
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

    fn fetch(&mut self, timeout: Option<Duration>, interrupts: &mut dyn Interrupts) -> Result<Waited> {
        let max = self.prefetch.min(self.wanted).max(1);
        wait_for(&self.queues, timeout, interrupts, &mut Fetching { max, first: 0, done: &self.keeper.done })
    }

    fn keep(&mut self, index: usize, jobs: Vec<Reserved>) {
        self.buffer = jobs.into_iter().map(|job| Delivery::new(index, job)).collect();
        let leases = self.buffer.iter().map(|delivery| delivery.ticket.lease.clone()).collect();
        if let Some(queue) = self.queues.get(index) {
            self.keeper.keep(queue, leases);
        }
    }

    /// The job is done: the next fetch acknowledges it, or the keeper: within 2 ms if that makes room for others, within 50 ms if not. Its lease is
    /// kept until then.
    pub fn done(&mut self, ticket: &Ticket) {
        self.keeper.done(ticket.clone());
    }

    /// Acknowledges all that is done. A queue that refuses does not keep the others from it.
    ///
    /// # Errors
    /// Connection and server errors, the first one. Jobs of that queue stay to be acknowledged.
    pub fn flush(&mut self) -> Result<()> {
        if let Some(queue) = self.queues.first() {
            self.keeper.done.wait_for_keeper(queue.client().deadline());
        }
        let all = self.queues.iter().enumerate().map(|(index, queue)| self.keeper.done.acknowledge(index, queue));
        all.fold(Ok(()), Result::and)
    }

    /// Acknowledgements that can no longer succeed, because their leases ended while Redis was away, count as lost.
    pub fn give_up_ended(&mut self) {
        let now = Instant::now();
        self.keeper.done.give_up(|ticket| ticket.lease.until() <= now);
    }

    /// Acknowledgements that neither loop nor keeper will send any more count as lost.
    pub fn give_up_all(&mut self) {
        self.keeper.done.give_up(|_| true);
    }

    /// Jobs that have been acknowledged since last asked.
    pub fn take_acknowledged(&mut self) -> Vec<JobKey> {
        self.keeper.done.take_acknowledged()
    }

    /// Jobs whose leases were gone when they were to be acknowledged, since last asked.
    pub fn take_lost(&mut self) -> Vec<JobKey> {
        self.keeper.done.take_lost()
    }

    /// The job is not started after all: it is the next one again.
    pub fn put_back(&mut self, delivery: Delivery) {
        self.buffer.push_front(delivery);
    }

    /// The loop ends: gives back what was fetched and not started, without counting an attempt, in one script per queue.
    ///
    /// # Errors
    /// Connection and server errors, the first one; such jobs come back when their leases end.
    pub fn return_rest(&mut self) -> Result<()> {
        let rest = std::mem::take(&mut self.buffer);
        // Or they would be renewed.
        rest.iter().for_each(|delivery| delivery.ticket.lease.settle());
        let mut result = Ok(());
        let mut without: Vec<&Queue> = Vec::new();
        for (index, queue) in self.queues.iter().enumerate() {
            let of_queue = rest.iter().filter(|delivery| delivery.ticket.queue == index);
            let receipts: Vec<&LeaseReceipt> = of_queue.map(|delivery| &delivery.job.receipt).collect();
            if receipts.is_empty() {
                without.push(queue);
            } else {
                result = result.and(queue.give_back(&receipts).map(drop));
            }
        }
        result.and(forget_calls(&without))
    }
}

/// Leases so many jobs at most, and acknowledges those that are done.
struct Fetching<'a> {
    max: usize,
    /// The index of the first queue that is asked.
    first: usize,
    done: &'a DoneJobs,
}

impl Source for Fetching<'_> {
    fn reserve(
        &mut self,
        index: usize,
        queue: &Queue,
        connections: &mut Connections,
        waiting: Option<Waiting<'_>>,
    ) -> Result<ReserveOutcome> {
        let done = self.done.take(self.first + index);
        let finished = done.iter().map(Done::finished).collect();
        let mut fetch = Fetch { max: self.max, done: finished, lost: Vec::new() };
        let result = queue.reserve_now(connections, &mut fetch, waiting);
        let lost = std::mem::take(&mut fetch.lost);
        let settled = |at| Some(if lost.contains(&at) { Settled::Lost } else { Settled::Ours });
        self.done.answered(done, result.is_ok().then_some(settled));
        result
    }

    fn has_news(&mut self, index: usize) -> bool {
        self.done.has(self.first + index)
    }
}
