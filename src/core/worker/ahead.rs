//! Fetching ahead: while a batch is being handled, the next one is on its way. What the feed has to remember of that.

use super::fetcher::{Answer, Fetcher};
use super::keeper::Keeper;
use super::source::{Arrived, Batch, Departure, Source, Which};
use crate::core::error::Error;
use crate::core::link;
use std::time::Instant;

/// One trip ahead at a time, and what it brought.
#[derive(Default)]
pub(super) struct Ahead {
    fetcher: Option<Fetcher>,
    in_flight: Option<(Departure, Instant)>,
    batch: Option<Batch>,
    /// The trip failed: to be told when nothing is left in hand.
    fault: Option<Error>,
}

impl Ahead {
    /// Sends the trip for the batch behind the one in hand. False: it cannot be sent.
    pub fn send(&mut self, source: &mut Source, max: usize, keeper: Option<&Keeper>) -> bool {
        if self.fetcher.is_none() {
            self.fetcher = Fetcher::start(source.index(), &source.queue, keeper.and_then(Keeper::shared));
        }
        let Some(fetcher) = &self.fetcher else { return false };
        let departure = source.depart(Which::Behind);
        fetcher.send(departure.request(max));
        self.in_flight = Some((departure, Instant::now()));
        true
    }

    /// Takes the answer if it is there.
    pub fn poll(&mut self, source: &mut Source) -> Option<Arrived> {
        self.in_flight.as_ref()?;
        let answer = self.fetcher.as_ref()?.take()?;
        self.arrived(source, answer)
    }

    /// Waits for the answer: as long as it takes, which [`crate::core::queue::Queue::look`] bounds.
    pub fn wait(&mut self, source: &mut Source) -> Option<Arrived> {
        let fetcher = self.in_flight.as_ref().and(self.fetcher.as_ref())?;
        let answer = fetcher.wait();
        self.ended(source, answer)
    }

    /// Waits for the answer no longer than an operation may take that began with the trip. Then the thread is left to itself:
    /// it gives back what it still gets.
    pub fn collect(&mut self, source: &mut Source) -> Option<Arrived> {
        let (_, sent) = self.in_flight.as_ref()?;
        let until = link::capped(*sent + source.queue.link().read_timeout());
        let answer = self.fetcher.as_ref()?.wait_until(until);
        self.ended(source, answer)
    }

    fn ended(&mut self, source: &mut Source, answer: Option<Answer>) -> Option<Arrived> {
        if let Some(answer) = answer {
            return self.arrived(source, answer);
        }
        self.fetcher = None;
        let (departure, _) = self.in_flight.take()?;
        source.miss(departure);
        None
    }

    /// What the last trip brought, for somebody who asks for no more.
    pub fn leave(&mut self) -> Option<Batch> {
        self.fault = None;
        self.batch.take()
    }

    fn arrived(&mut self, source: &mut Source, answer: Answer) -> Option<Arrived> {
        let (departure, _) = self.in_flight.take()?;
        match answer.batch {
            Ok(batch) => {
                let tokens = batch.iter().flat_map(Batch::tokens);
                let arrived = source.arrive(Which::Behind, departure, &answer.gone, tokens);
                source.keep(Which::Behind, batch.as_ref().map_or(0, |batch| batch.kept));
                self.batch = batch;
                Some(arrived)
            }
            Err(error) => {
                source.miss(departure);
                self.fault = (!error.is_slot_taken()).then_some(error);
                None
            }
        }
    }

    /// What the last trip brought.
    ///
    /// # Errors
    /// Its error.
    pub fn take(&mut self) -> Result<Option<Batch>, Error> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(self.batch.take()),
        }
    }
}
