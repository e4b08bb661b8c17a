//! Fetching ahead: while a batch is being handled, the next one is on its way. What the feed has to remember of that.

use super::batch::{Batch, Sealed};
use super::fetcher::{Answer, Brought, Fetcher};
use super::keeper::Keeper;
use super::source::{Arrived, Departure, Source};
use crate::core::error::Error;
use crate::core::link;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Of so many jobs on, a batch is leased sealed: below that, the command that reads the records costs as much as it saves.
const SEALED_FROM: usize = 32;

/// A trip under way.
struct Flight {
    departure: Departure,
    /// The batch that it opens.
    sealed: Option<Arc<Sealed>>,
    sent: Instant,
}

/// One trip ahead at a time, and what the ones before it brought.
#[derive(Default)]
pub(super) struct Ahead {
    fetcher: Option<Fetcher>,
    flight: Option<Flight>,
    /// In their order.
    batches: VecDeque<Batch>,
    /// The one behind these; and one more, if a trip could lease it and not open the other.
    sealed: VecDeque<Arc<Sealed>>,
    /// The trip failed: to be told when nothing is left in hand.
    fault: Option<Error>,
}

impl Ahead {
    /// Sends the trip for the batch behind the one in hand, or, where that has been leased sealed, opens it and leases the
    /// next. False: there is one already, or it cannot be sent.
    pub fn send(&mut self, source: &mut Source, max: usize, keeper: Option<&Keeper>) -> bool {
        let has_enough = !self.batches.is_empty() || self.sealed.len() > 1;
        if has_enough || self.flight.is_some() || self.fault.is_some() {
            return false;
        }
        if self.fetcher.is_none() {
            self.fetcher = Fetcher::start(source.index(), &source.queue, keeper.and_then(Keeper::shared));
        }
        let Some(fetcher) = &self.fetcher else { return false };
        let (departure, sealed) = (source.depart(), self.sealed.pop_front());
        fetcher.send(departure.request(max, max >= SEALED_FROM, sealed.clone()));
        self.flight = Some(Flight { departure, sealed, sent: Instant::now() });
        true
    }

    /// Takes the answer if it is there.
    pub fn poll(&mut self, source: &mut Source) -> Option<Arrived> {
        self.flight.as_ref()?;
        let answer = self.fetcher.as_ref()?.take()?;
        self.arrived(source, answer)
    }

    /// Waits for the answer: as long as it takes, which [`crate::core::queue::Queue::look`] bounds.
    pub fn wait(&mut self, source: &mut Source) -> Option<Arrived> {
        let fetcher = self.flight.as_ref().and(self.fetcher.as_ref())?;
        let answer = fetcher.wait();
        self.ended(source, answer)
    }

    /// Waits for the answer no longer than an operation may take that began with the trip. Then the thread is left to itself:
    /// it gives back what it still gets.
    pub fn collect(&mut self, source: &mut Source) -> Option<Arrived> {
        let flight = self.flight.as_ref()?;
        let until = link::capped(flight.sent + source.queue.link().read_timeout());
        let answer = self.fetcher.as_ref()?.wait_until(until);
        self.ended(source, answer)
    }

    fn ended(&mut self, source: &mut Source, answer: Option<Answer>) -> Option<Arrived> {
        if let Some(answer) = answer {
            return self.arrived(source, answer);
        }
        self.fetcher = None;
        let Flight { departure, sealed, .. } = self.flight.take()?;
        if let Some(sealed) = sealed {
            sealed.let_go();
        }
        source.miss(departure);
        None
    }

    fn arrived(&mut self, source: &mut Source, answer: Answer) -> Option<Arrived> {
        let Flight { departure, sealed, .. } = self.flight.take()?;
        match (sealed, answer.seen) {
            (Some(sealed), Some(Ok(seen))) => self.batches.push_back(source.unseal(&sealed, seen)),
            (Some(sealed), seen) => {
                self.sealed.push_front(sealed);
                self.fault = seen.and_then(Result::err);
            }
            (None, _) => {}
        }
        match answer.brought {
            Ok(brought) => {
                let (tokens, kept): (Vec<u64>, u64) = match &brought {
                    Brought::Batch(batch) => (batch.tokens().collect(), batch.kept),
                    Brought::Sealed(sealed) => (sealed.tokens().collect(), sealed.kept),
                    Brought::Nothing => (Vec::new(), 0),
                };
                let arrived = source.arrive(departure, &answer.gone, tokens.into_iter(), kept);
                match brought {
                    Brought::Batch(batch) => self.batches.push_back(batch),
                    Brought::Sealed(sealed) => self.sealed.push_back(Arc::new(sealed)),
                    Brought::Nothing => {}
                }
                Some(arrived)
            }
            Err(error) => {
                source.miss(departure);
                self.fault = (!error.is_slot_taken()).then_some(error);
                None
            }
        }
    }

    /// How many jobs are leased behind those in hand, as far as is known.
    pub fn jobs(&self) -> usize {
        let sealed: usize = self.sealed.iter().map(|sealed| sealed.unseen.len()).sum();
        self.batches.iter().map(|batch| batch.deliveries.len()).sum::<usize>() + sealed
    }

    /// Whether the next batch has not been seen, and there is nothing else to tell.
    pub fn is_sealed(&self) -> bool {
        self.batches.is_empty() && self.fault.is_none() && !self.sealed.is_empty()
    }

    /// Opens the next batch by itself, in a round trip of its own.
    ///
    /// # Errors
    /// Connection and server errors; it stays sealed.
    pub fn unseal(&mut self, source: &mut Source) -> Result<(), Error> {
        if let Some(sealed) = self.sealed.front() {
            let seen = source.queue.see(&sealed.unseen)?;
            self.batches.push_back(source.unseal(sealed, seen));
            self.sealed.pop_front();
        }
        Ok(())
    }

    /// What the trips brought that is next.
    ///
    /// # Errors
    /// That of the last trip.
    pub fn take(&mut self) -> Result<Option<Batch>, Error> {
        match (self.batches.pop_front(), self.fault.take()) {
            (None, Some(fault)) => Err(fault),
            (batch, fault) => {
                self.fault = fault;
                Ok(batch)
            }
        }
    }

    /// All that the trips brought, for somebody who asks for no more; but for what is sealed.
    pub fn leave(&mut self) -> VecDeque<Batch> {
        self.fault = None;
        std::mem::take(&mut self.batches)
    }

    /// Gives back what is sealed, without counting an attempt.
    ///
    /// # Errors
    /// Connection and server errors: it stays, to be given back again.
    pub fn return_sealed(&mut self, source: &mut Source) -> Result<(), Error> {
        while let Some(sealed) = self.sealed.front() {
            for held in sealed.held() {
                match source.queue.return_unstarted(&held) {
                    Ok(()) | Err(Error::LeaseLost { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            source.close_all(sealed);
            self.sealed.pop_front();
        }
        Ok(())
    }
}
