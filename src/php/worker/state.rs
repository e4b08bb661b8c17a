//! A loop of `consume()`: what it is to do, what it holds, and what every part of it asks.

use super::engine::Engine;
use super::runs::{self, LoopFrame};
use super::signals::{self, Signals};
use super::signs::Rung;
use crate::core::error::Error;
use crate::core::process::Generation;
use crate::core::queue::{Flow, Held, Queue};
use crate::core::worker::feed::Feed;
use crate::core::worker::keeper::Keeper;
use crate::core::worker::lease::{JobKey, Lease};
use crate::core::worker::listing::Orders;
use crate::php::callbacks::{Event, Listeners};
use crate::php::delay_queue::DelayQueue;
use crate::php::interrupts::PhpInterrupts;
use crate::php::origin::active_function;
use crate::php::sys;
use crate::php::task::Tasks;
use crate::php::unwind::{Outcome, throw_error};
use ext_php_rs::types::Zval;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The parameters of `consume()`.
pub struct ConsumeOptions {
    pub idle_timeout: Duration,
    /// 0: no limit, here and below.
    pub max_jobs: u64,
    pub max_time: Duration,
    pub memory_limit: u64,
    pub stop_when_empty: bool,
    pub prefetch: usize,
    pub timeout: Duration,
    pub grace: Duration,
    pub heartbeat: bool,
    pub throw_on_cancel: bool,
    pub shutdown: Duration,
    /// The handler gets up to so many jobs at once, in a list; `None`: one, by itself.
    pub batch: Option<usize>,
    /// How long a batch waits for more jobs.
    pub within: Duration,
}

impl Default for ConsumeOptions {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(5),
            max_jobs: 0,
            max_time: Duration::ZERO,
            memory_limit: 0,
            stop_when_empty: false,
            prefetch: 1,
            timeout: Duration::ZERO,
            grace: Duration::from_secs(5),
            heartbeat: true,
            throw_on_cancel: false,
            shutdown: Duration::ZERO,
            batch: None,
            within: Duration::ZERO,
        }
    }
}

/// Whether the program has taken that many bytes; 0: no limit.
pub fn has_reached(memory_limit: u64) -> bool {
    memory_limit > 0 && sys::memory_usage() >= memory_limit
}

/// The time that a loop may still take once it has to end. The process is to be gone within five seconds, and the operation that was under way may have
/// taken two of them.
const AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// A job that is being handled, should the loop end before it is settled.
pub struct InHand {
    pub(super) queue: Queue,
    pub(super) held: Held,
    pub(super) lease: Arc<Lease>,
    /// It goes back uncounted: the process is ending, and its handler was told to stop.
    pub(super) is_put_back: bool,
}

/// A loop that runs.
pub struct Loop<'a> {
    pub(super) queue: &'a DelayQueue,
    pub(super) object: &'a Zval,
    pub(super) handler: Zval,
    pub(super) options: ConsumeOptions,
    pub(super) tasks: Tasks,
    pub(super) feed: Feed,
    pub(super) started: Instant,
    pub(super) jobs: u64,
    /// Redis has answered the look at the start, or nobody listens to it.
    pub(super) is_ready: bool,
    /// Since when Redis is away, and the pause before it is asked again.
    pub(super) away: Option<Duration>,
    /// The process that runs the loop: a forked child must not go on with it.
    pub(super) process: Generation,
    /// When the loop noticed that it has to end.
    pub(super) ending: Option<Instant>,
    /// The orders of operators.
    pub(super) orders: Arc<Orders>,
    pub(super) in_hand: Vec<InHand>,
    /// For how long the handler ran of the job that is being settled.
    pub(super) ran: Option<Duration>,
    pub(super) rung: Rung,
    /// Objects of jobs that are done and not acknowledged yet, for listeners to lost leases.
    pub(super) unacknowledged: HashMap<JobKey, Zval>,
    pub(super) frame: LoopFrame,
    /// An exception of the handler that is about the job of a handler around this loop: the loop ends, and throws it.
    pub(super) passing: Option<Zval>,
    /// Listeners hear nothing any more: one of them has ended the loop.
    pub(super) is_silent: bool,
    _signals: Signals,
}

impl<'a> Loop<'a> {
    pub fn new(queue: &'a DelayQueue, object: &'a Zval, handler: Zval, options: ConsumeOptions, tasks: Tasks) -> Self {
        let rung = Rung::default();
        let keeper = Keeper::new(Box::new(Engine::current(Rung::clone(&rung))), options.heartbeat);
        let prefetch = options.batch.unwrap_or(options.prefetch);
        let mut feed = Feed::new(queue.queue.of_all(&queue.watched()), prefetch, keeper);
        let (signals, orders) = (Signals::install(), Arc::<Orders>::default());
        feed.enlist(Arc::clone(&orders), !options.stop_when_empty);
        Self {
            queue,
            object,
            handler,
            feed,
            options,
            tasks,
            started: Instant::now(),
            jobs: 0,
            is_ready: !queue.listeners.has(Event::WorkerReady),
            away: None,
            process: Generation::current(),
            ending: None,
            orders,
            in_hand: Vec::new(),
            ran: None,
            rung,
            unacknowledged: HashMap::new(),
            frame: LoopFrame::enter(),
            passing: None,
            is_silent: false,
            _signals: signals,
        }
    }

    pub(super) fn listeners(&self) -> &Listeners {
        &self.queue.listeners
    }

    pub(super) fn emit(&self, event: Event, job: Option<&Zval>, error: Option<&Zval>) -> Outcome<()> {
        if self.is_silent || !self.listeners().has(event) {
            return Ok(());
        }
        self.listeners().emit(event, job, error, self.ran)?;
        self.same_process()
    }

    /// A child has neither the leases nor the thread that keeps them.
    pub(super) fn same_process(&self) -> Outcome<()> {
        if self.is_child() {
            let must = "a forked child must end by itself, for instance with exit()";
            return Err(throw_error(&format!("{}(): {must}", active_function())));
        }
        Ok(())
    }

    pub(super) fn is_child(&self) -> bool {
        !self.process.is_current()
    }

    /// Whether a signal or an operator has told it to take no jobs.
    pub(super) fn is_paused(&self) -> bool {
        signals::paused() || self.orders.is_paused()
    }

    /// Whether the loop has to end because of a handler around it.
    pub(super) fn is_called_away(&self) -> bool {
        self.passing.is_some() || runs::is_called_away(self.frame.get())
    }

    /// The time that the loop may still spend on Redis, once it has to end.
    pub(super) fn time_to_end(&mut self) -> Option<Duration> {
        (signals::stop_requested() || self.is_called_away())
            .then(|| AFTER_SIGNAL.saturating_sub(self.ending.get_or_insert_with(Instant::now).elapsed()))
    }

    pub(super) fn left(&self, interrupts: PhpInterrupts<'_>, flow: Flow) -> Outcome<()> {
        let result = if flow == Flow::Raise { Err(Error::Interrupted) } else { Ok(()) };
        interrupts.finish(result)
    }
}
