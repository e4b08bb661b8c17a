//! Jobs for a loop: what is done is acknowledged in the round trip that fetches the next ones.

use super::ahead::Ahead;
use super::batch::Batch;
pub use super::batch::{Delivery, Ticket};
use super::keeper::Keeper;
use super::lease::Lease;
pub use super::source::Lost;
use super::source::{Arrived, Done, Source};
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::job::{Receipt, Reserved};
use crate::core::queue::{Flow, Interrupts, Look, Outlook, Queue, Waited, Waiting, wait_for};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Acknowledgements wait for the next fetch no longer than this, and a batch that takes longer is fetched without haste.
const ACK_WITHIN: Duration = Duration::from_millis(50);

/// What a fetch gave.
#[derive(Debug)]
pub enum Fetched {
    Job(Box<Delivery>),
    /// Nothing is ready, and the wait is over.
    Nothing,
    /// The interrupts asked to leave.
    Left(Flow),
}

/// What was acknowledged and what was lost since last asked.
#[derive(Default)]
struct News {
    lost: Vec<Lost>,
    acknowledged: Vec<(usize, u64)>,
}

impl News {
    fn add(&mut self, arrived: Arrived, keeper: Option<&mut Keeper>) {
        self.lost.extend(arrived.lost);
        self.acknowledged.extend(arrived.acknowledged);
        if let Some(keeper) = keeper {
            arrived.over.into_iter().for_each(|batch| keeper.forget(batch));
        }
    }
}

/// Fetches jobs of several queues, first one first.
pub struct Feed {
    sources: Vec<Source>,
    queues: Vec<Queue>,
    prefetch: usize,
    /// How many more jobs are wanted.
    wanted: usize,
    buffer: VecDeque<Delivery>,
    /// Since when the batch in hand is being handled, and whether it was full.
    in_hand: Option<(Instant, bool)>,
    ahead: Option<Ahead>,
    oldest_done: Option<Instant>,
    keeper: Option<Keeper>,
    news: News,
}

impl Feed {
    /// A feed over `queues`, fetching up to `prefetch` jobs a round trip; `keeper` renews their leases.
    #[must_use]
    pub fn new(queues: Vec<Queue>, prefetch: usize, keeper: Option<Keeper>) -> Self {
        Self {
            sources: queues.iter().enumerate().map(|(index, queue)| Source::new(index, queue.clone())).collect(),
            queues,
            prefetch: prefetch.max(1),
            wanted: usize::MAX,
            buffer: VecDeque::new(),
            in_hand: None,
            ahead: None,
            oldest_done: None,
            keeper,
            news: News::default(),
        }
    }

    /// While a full batch is being handled, the next one is on its way: from a single queue, and after a full batch that was
    /// handled within 50 ms. Slow handlers would gain nothing, and hold two or three times as many jobs.
    #[must_use]
    pub fn fetching_ahead(mut self) -> Self {
        self.ahead = (self.prefetch > 1 && self.sources.len() == 1).then(Ahead::default);
        self
    }

    /// No more than so many jobs are wanted from now on.
    pub fn want(&mut self, jobs: usize) {
        self.wanted = jobs;
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
        self.with_ahead(Ahead::poll);
        if let Some(delivery) = self.next_buffered() {
            return Ok(Fetched::Job(Box::new(delivery)));
        }
        let was_quick = self.in_hand.take().is_some_and(|(began, is_full)| is_full && began.elapsed() < ACK_WITHIN);
        self.with_ahead(Ahead::wait);
        while let Some(batch) = self.take_ahead(was_quick)? {
            if let Some(delivery) = self.begin(batch, was_quick)? {
                return Ok(Fetched::Job(Box::new(delivery)));
            }
        }
        let max = self.prefetch.min(self.wanted).max(1);
        match self.fetch(max, timeout, interrupts)? {
            Waited::Jobs(index, jobs) => {
                let batch = self.keep(index, jobs, max);
                let delivery = self.begin(batch, was_quick)?;
                Ok(delivery.map_or(Fetched::Nothing, |delivery| Fetched::Job(Box::new(delivery))))
            }
            Waited::Nothing => Ok(Fetched::Nothing),
            Waited::Left(flow) => Ok(Fetched::Left(flow)),
        }
    }

    /// The next batch of those that were fetched ahead. One that is still sealed is opened, with the trip for the one behind it if there
    /// is one.
    fn take_ahead(&mut self, was_quick: bool) -> Result<Option<Batch>> {
        if self.ahead.as_ref().is_some_and(Ahead::is_sealed) {
            if was_quick && self.send_ahead(0) {
                self.with_ahead(Ahead::wait);
            }
            if let (Some(ahead), Some(source)) = (&mut self.ahead, self.sources.first_mut())
                && ahead.is_sealed()
            {
                ahead.unseal(source)?;
            }
        }
        self.ahead.as_mut().map_or(Ok(None), Ahead::take)
    }

    fn with_ahead(&mut self, work: impl FnOnce(&mut Ahead, &mut Source) -> Option<Arrived>) {
        if let (Some(ahead), Some(source)) = (&mut self.ahead, self.sources.first_mut())
            && let Some(arrived) = work(ahead, source)
        {
            self.news.add(arrived, self.keeper.as_mut());
        }
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

    /// Fetches with this thread, acknowledging what is done on the way.
    fn fetch(&mut self, max: usize, timeout: Option<Duration>, interrupts: &mut dyn Interrupts) -> Result<Waited> {
        let Self { sources, queues, keeper, news, .. } = self;
        let Some(link) = queues.first().map(|queue| queue.link().clone()) else { return Ok(Waited::Nothing) };
        let mut held = None;
        let mut look = |queue: &Queue, held: &mut Option<Connection>, waiting: Option<Waiting<'_>>| {
            let found = sources.iter_mut().find(|source| source.queue.name() == queue.name());
            let Some(source) = found else { return Ok(Look::Nothing(Outlook::default())) };
            loop {
                let departure = source.depart();
                let is_used_again = departure.is_used_again();
                let mut trip = departure.trip(max);
                let result = source.queue.look(held, &mut trip, waiting);
                let gone = trip.lost;
                match &result {
                    Ok(look) => {
                        let jobs = if let Look::Jobs(jobs) = look { jobs.as_slice() } else { &[] };
                        let tokens = jobs.iter().map(|job| job.receipt.token);
                        news.add(source.arrive(departure, &gone, tokens, 0), keeper.as_mut());
                    }
                    Err(error) => {
                        source.miss(departure);
                        if error.is_slot_taken() && is_used_again {
                            continue;
                        }
                    }
                }
                return result;
            }
        };
        let result = wait_for(&link, &mut held, queues, timeout, interrupts, &mut look);
        if let Some(connection) = held {
            link.give_back(connection);
        }
        if result.is_ok() {
            self.oldest_done = None;
        }
        result
    }

    fn keep(&mut self, index: usize, jobs: Vec<Reserved>, asked: usize) -> Batch {
        let Self { sources, keeper, .. } = self;
        let Some(source) = sources.get_mut(index) else { return Batch::default() };
        let batch = Batch::new(index, jobs, asked, |leases| {
            keeper.as_mut().map_or(0, |keeper| keeper.keep(&source.queue, leases))
        });
        source.keep(batch.kept);
        batch
    }

    /// The batch is in hand now: fetches the one behind it, or sends what no trip took along.
    fn begin(&mut self, batch: Batch, was_quick: bool) -> Result<Option<Delivery>> {
        self.in_hand = Some((Instant::now(), batch.is_full));
        self.buffer = batch.deliveries;
        let delivery = self.next_buffered();
        if delivery.is_some() && batch.is_full && was_quick && self.send_ahead(self.buffer.len() + 1) {
            return Ok(delivery);
        }
        match (self.flush(), delivery) {
            (Ok(()), delivery) => Ok(delivery),
            (Err(error), delivery) => {
                delivery.into_iter().for_each(|delivery| self.put_back(delivery));
                Err(error)
            }
        }
    }

    /// With so many jobs in hand. False when no trip was sent.
    fn send_ahead(&mut self, in_hand: usize) -> bool {
        let (Some(ahead), [source]) = (&mut self.ahead, self.sources.as_mut_slice()) else { return false };
        let max = self.prefetch.min(self.wanted.saturating_sub(in_hand + ahead.jobs()));
        let sent = max > 0 && ahead.send(source, max, self.keeper.as_ref());
        if sent {
            self.oldest_done = None;
        }
        sent
    }

    /// The job is done: to be acknowledged with the next fetch, or within 50 ms while prefetched ones are being handled.
    ///
    /// # Errors
    /// Connection and server errors. It stays to be acknowledged.
    pub fn done(&mut self, ticket: &Ticket) -> Result<()> {
        if let Some(source) = self.sources.get_mut(ticket.queue) {
            source.done(ticket);
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

    /// Settling the job failed, and nobody tries again: Redis may still have its lease, so its slot is not used again.
    pub fn abandoned(&self, ticket: &Ticket) {
        ticket.lease.settle(); // or it would be renewed
    }

    /// Sends what is to be acknowledged, but for what a trip ahead has taken along.
    ///
    /// # Errors
    /// Connection and server errors. It stays to be acknowledged.
    pub fn flush(&mut self) -> Result<()> {
        for source in &mut self.sources {
            if source.done.is_empty() {
                continue;
            }
            let receipts: Vec<Receipt> = source.done.iter().map(|done| done.lease.receipt.clone()).collect();
            match source.queue.ack_receipts(&receipts) {
                Ok(gone) => self.news.add(source.acknowledged(&gone), None),
                Err(error) => {
                    source.doubt();
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
                source.abandon(&done);
                self.news.lost.push(done.lost(index));
            }
        }
    }

    /// Jobs that have been acknowledged since last asked: index of the queue, and token.
    pub fn take_acknowledged(&mut self) -> Vec<(usize, u64)> {
        std::mem::take(&mut self.news.acknowledged)
    }

    /// Jobs whose leases were gone when they were to be acknowledged, since last asked.
    pub fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.news.lost)
    }

    /// The job is not started after all: it is the next one again.
    pub fn put_back(&mut self, delivery: Delivery) {
        self.buffer.push_front(delivery);
    }

    /// Gives back what was fetched and not started, without counting an attempt. A trip ahead is waited for as long as one
    /// operation may take; what it took along is acknowledged or, if it failed, to be acknowledged again.
    ///
    /// # Errors
    /// Connection and server errors; such jobs come back when their leases end.
    pub fn return_rest(&mut self) -> Result<()> {
        let returned = self.return_buffered();
        self.with_ahead(Ahead::collect);
        let batches = self.ahead.as_mut().map(Ahead::leave).unwrap_or_default();
        self.buffer.extend(batches.into_iter().flat_map(|batch| batch.deliveries));
        self.in_hand = None;
        returned?;
        self.return_buffered()?;
        if let (Some(ahead), Some(source)) = (&mut self.ahead, self.sources.first_mut()) {
            ahead.return_sealed(source)?;
        }
        self.flush()
    }

    fn return_buffered(&mut self) -> Result<()> {
        while let Some(delivery) = self.buffer.pop_front() {
            let Some(queue) = self.queues.get(delivery.ticket.queue) else { continue };
            match queue.return_unstarted(&delivery.job.held()) {
                Ok(()) | Err(Error::LeaseLost { .. }) => self.settled(&delivery.ticket),
                Err(error) => {
                    self.abandoned(&delivery.ticket);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}
