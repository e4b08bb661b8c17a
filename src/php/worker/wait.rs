//! The loop while it waits: it obeys signals, tells listeners that it is idle, and asks for a Redis that is away. It reports the leases that were
//! lost meanwhile.

use super::state::{Loop, has_reached};
use super::{runs, signals, surroundings};
use crate::core::error::Error;
use crate::core::process::Generation;
use crate::core::queue::{Flow, Interrupts, random_unit, rest};
use crate::core::worker::listing::Orders;
use crate::php::callbacks::discard;
use crate::php::callbacks::{Event, Listeners};
use crate::php::exceptions;
use crate::php::interrupts::PhpInterrupts;
use crate::php::unwind::Outcome;
use ext_php_rs::ffi::zend_execute_data;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lets signal handlers run, and checks the signals and limits of the loop.
pub(super) struct LoopInterrupts<'a> {
    pub(super) php: PhpInterrupts<'a>,
    /// Whether the loop was paused when the wait began.
    paused: bool,
    orders: Arc<Orders>,
    process: Generation,
    frame: *const zend_execute_data,
    idling: Option<Idling<'a>>,
}

/// The work of each idle timeout, done while the wait goes on: to begin a new wait would cost Redis more.
struct Idling<'a> {
    listeners: &'a Listeners,
    every: Duration,
    next: Instant,
    /// In bytes; 0: none.
    memory_limit: u64,
}

impl<'a> Loop<'a> {
    pub(super) fn interrupts(&self, paused: bool) -> LoopInterrupts<'a> {
        let (php, orders) = (PhpInterrupts::new(&self.queue.stop), Arc::clone(&self.orders));
        LoopInterrupts { php, paused, orders, process: self.process, frame: self.frame.get(), idling: None }
    }

    /// For a wait in which the loop is idle.
    pub(super) fn idling(&self) -> LoopInterrupts<'a> {
        let every = self.options.idle_timeout;
        let (next, memory_limit) = (Instant::now() + every, self.options.memory_limit);
        let idling = Idling { listeners: &self.queue.listeners, every, next, memory_limit };
        LoopInterrupts { idling: Some(idling), ..self.interrupts(false) }
    }
}

impl LoopInterrupts<'_> {
    /// Whether a signal, an operator or a handler around the loop wants something else than when the wait began.
    fn is_called(&self) -> bool {
        self.orders.look();
        let paused = signals::paused() || self.orders.is_paused();
        let is_to_end = signals::stop_requested() || self.orders.end().is_some() || runs::is_called_away(self.frame);
        is_to_end || paused != self.paused
    }
}

impl Interrupts for LoopInterrupts<'_> {
    fn poll(&mut self) -> Flow {
        let flow = self.php.poll();
        surroundings::take_back_in_time();
        match flow {
            Flow::Continue if self.is_called() => Flow::Return,
            Flow::Continue if !self.process.is_current() => Flow::Return, // a signal handler forked
            flow => flow,
        }
    }

    fn calls(&self) -> RawFd {
        self.orders.calls()
    }

    fn tick_at(&self) -> Option<Instant> {
        self.idling.as_ref().map(|idling| idling.next)
    }

    fn tick(&mut self) -> Flow {
        let Some(idling) = &mut self.idling else { return Flow::Continue };
        let told = idling.listeners.emit(Event::Idle, None, None, None);
        idling.next = Instant::now() + idling.every;
        match told {
            Err(fault) => self.php.raise(fault),
            Ok(()) if has_reached(idling.memory_limit) => Flow::Return,
            Ok(()) => Flow::Continue,
        }
    }
}

/// Pauses between attempts to reach a lost Redis.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const LONGEST_RETRY: Duration = Duration::from_secs(2);

impl Loop<'_> {
    /// Redis is away, or refuses for the moment: wait and ask again. Anything else ends the loop; so does an outage where
    /// the loop is to return when nothing is there, and a store of this process, which does not come back.
    pub(super) fn away(&mut self, error: Error) -> Outcome<()> {
        if !error.is_retryable() || self.options.stop_when_empty || self.feed.is_in_memory() {
            return Err(error.into());
        }
        let pause = match self.away {
            Some(pause) => (pause * 2).min(LONGEST_RETRY),
            None => {
                let exception = exceptions::object_of(error);
                self.emit(Event::ConnectionLost, None, Some(&exception))?;
                discard(exception)?;
                FIRST_RETRY
            }
        };
        self.away = Some(pause);
        self.feed.give_up_ended();
        self.report_lost()?;
        let mut interrupts = self.interrupts(self.is_paused());
        let flow = rest(pause.mul_f64(0.5 + 0.5 * random_unit()), &mut interrupts);
        self.left(interrupts.php, flow)
    }

    /// Redis answers again.
    pub(super) fn back(&mut self) -> Outcome<()> {
        if self.away.take().is_some() {
            self.emit(Event::ConnectionRestored, None, None)?;
        }
        Ok(())
    }

    /// The thread that keeps the leases was still waiting for Redis to confirm these when the loop ended: they may run again.
    pub(super) fn report_unanswered(&mut self) -> Outcome<()> {
        for (_, job) in std::mem::take(&mut self.unacknowledged) {
            self.emit(Event::LeaseLost, Some(&job), None)?;
            discard(job)?;
        }
        Ok(())
    }

    pub(super) fn report_lost(&mut self) -> Outcome<()> {
        for key in self.feed.take_lost() {
            let job = self.unacknowledged.remove(&key);
            self.emit(Event::LeaseLost, job.as_ref(), None)?;
            discard(job)?;
        }
        let acknowledged = self.feed.take_acknowledged();
        if self.unacknowledged.is_empty() {
            return Ok(());
        }
        discard(acknowledged.iter().filter_map(|key| self.unacknowledged.remove(key)).collect::<Vec<_>>())
    }
}
