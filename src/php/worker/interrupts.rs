//! The loop while it waits: it heeds signals, and tells listeners that it is idle.

use super::events::{Event, Listeners};
use super::has_reached;
use super::run::Loop;
use super::signals;
use crate::core::process::Generation;
use crate::core::queue::{Flow, Interrupts};
use crate::core::worker::listing::Orders;
use crate::php::interrupts::PhpInterrupts;
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
        LoopInterrupts { php, paused, orders, process: self.process, idling: None }
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
    /// Whether a signal or an operator wants something else than when the wait began.
    fn is_called(&self) -> bool {
        self.orders.look();
        let paused = signals::paused() || self.orders.is_paused();
        signals::stop_requested() || self.orders.end().is_some() || paused != self.paused
    }
}

impl Interrupts for LoopInterrupts<'_> {
    fn poll(&mut self) -> Flow {
        match self.php.poll() {
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
