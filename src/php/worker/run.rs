//! The loop: fetch, call, settle, until there is a reason to stop.

use super::Options;
use super::alarm::{Engine, Limit};
use super::callable::attempt;
use super::events::{Event, Listeners};
use super::settle::{Job, Verdict};
use super::signals::{self, Signals};
use crate::core::error::Error;
use crate::core::link;
use crate::core::queue::{Flow, Interrupts, Queue, rest};
use crate::core::worker::feed::{Delivery, Feed, Fetched};
use crate::core::worker::keeper::{Keeper, timeout_reason};
use crate::php::call::Outcome;
use crate::php::delay_queue::DelayQueue;
use crate::php::exceptions;
use crate::php::interrupts::PhpInterrupts;
use crate::php::new_job::Format;
use crate::php::{json, sys};
use ext_php_rs::types::Zval;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Signal,
    MaxJobs,
    MaxTime,
    MemoryLimit,
    Empty,
    Stopped,
}

/// How it went.
pub struct Ended {
    pub stop: Stop,
    pub jobs: u64,
}

/// What a dying process may still spend on Redis.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Pauses between attempts to reach a lost Redis.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const LONGEST_RETRY: Duration = Duration::from_secs(2);

pub struct Loop<'a> {
    queue: &'a DelayQueue,
    object: &'a Zval,
    handler: Zval,
    pub(super) options: Options,
    pub(super) feed: Feed,
    started: Instant,
    jobs: u64,
    /// Since when Redis is away, and the pause before it is asked again.
    away: Option<Duration>,
    /// Objects of jobs that are done and not acknowledged yet, for those who listen to lost leases.
    pub(super) unacknowledged: HashMap<u64, Zval>,
    _signals: Signals,
}

/// Asks for handlers and for what the loop itself watches.
struct LoopInterrupts<'a>(PhpInterrupts<'a>);

impl Interrupts for LoopInterrupts<'_> {
    fn poll(&mut self) -> Flow {
        match self.0.poll() {
            Flow::Continue if signals::stop_requested() || signals::paused() => Flow::Return,
            flow => flow,
        }
    }
}

/// The same while SIGUSR2 holds the loop.
struct PausedInterrupts<'a>(PhpInterrupts<'a>);

impl Interrupts for PausedInterrupts<'_> {
    fn poll(&mut self) -> Flow {
        match self.0.poll() {
            Flow::Continue if signals::stop_requested() || !signals::paused() => Flow::Return,
            flow => flow,
        }
    }
}

impl<'a> Loop<'a> {
    pub fn new(queue: &'a DelayQueue, object: &'a Zval, handler: Zval, options: Options) -> Self {
        let sibling =
            |name: &String| if **name == *queue.queue.name() { queue.queue.clone() } else { queue.queue.sibling(name) };
        let queues: Vec<Queue> = queue.watched().iter().map(sibling).collect();
        let keeper = Keeper::new(Box::new(Engine::current()), options.heartbeat);
        Self {
            queue,
            object,
            handler,
            feed: Feed::new(queues, options.prefetch, Some(keeper)),
            options,
            started: Instant::now(),
            jobs: 0,
            away: None,
            unacknowledged: HashMap::new(),
            _signals: Signals::install(),
        }
    }

    pub(super) fn listeners(&self) -> &Listeners {
        &self.queue.listeners
    }

    pub(super) fn emit(&self, event: Event, job: Option<&Zval>, error: Option<&Zval>) -> Outcome<()> {
        if self.listeners().has(event) { self.listeners().emit(event, job, error) } else { Ok(()) }
    }

    pub fn run(mut self) -> Outcome<Ended> {
        let result = self.emit(Event::WorkerStarting, None, None).and_then(|()| self.rounds());
        let stop = match result {
            Ok(stop) => stop,
            Err(fault) => {
                link::within(LAST_WORDS, || self.leave());
                return Err(fault);
            }
        };
        self.leave();
        self.report_lost()?;
        self.emit(Event::WorkerStopping, None, None)?;
        Ok(Ended { stop, jobs: self.jobs })
    }

    /// Sends what is done and gives back what was not started; what fails comes back when its lease ends.
    fn leave(&mut self) {
        let _ = self.feed.flush();
        let _ = self.feed.return_rest();
    }

    fn rounds(&mut self) -> Outcome<Stop> {
        loop {
            if let Some(stop) = self.reason_to_stop() {
                return Ok(stop);
            }
            if signals::paused() {
                self.leave();
                let mut interrupts = PausedInterrupts(PhpInterrupts::new(&self.queue.stop));
                let flow = rest(self.options.idle_timeout, &mut interrupts);
                self.left(interrupts.0, flow)?;
                continue;
            }
            let wait = self.longest_wait();
            let waited = Instant::now();
            let mut interrupts = LoopInterrupts(PhpInterrupts::new(&self.queue.stop));
            match self.feed.next(Some(wait), &mut interrupts) {
                Ok(Fetched::Job(delivery)) => {
                    self.back()?;
                    self.report_lost()?;
                    self.handle(*delivery)?;
                }
                Ok(Fetched::Nothing) => {
                    self.back()?;
                    self.report_lost()?;
                    if self.options.stop_when_empty {
                        return Ok(Stop::Empty);
                    }
                    if waited.elapsed() >= self.options.idle_timeout {
                        self.emit(Event::Idle, None, None)?;
                    }
                }
                Ok(Fetched::Left(flow)) => self.left(interrupts.0, flow)?,
                Err(error) => self.away(error)?,
            }
        }
    }

    fn left(&self, interrupts: PhpInterrupts<'_>, flow: Flow) -> Outcome<()> {
        let result = if flow == Flow::Raise { Err(Error::Interrupted) } else { Ok(()) };
        interrupts.finish(result)
    }

    fn reason_to_stop(&self) -> Option<Stop> {
        let options = &self.options;
        if signals::stop_requested() {
            return Some(Stop::Signal);
        }
        if self.queue.stop.take() {
            return Some(Stop::Stopped);
        }
        if options.max_jobs > 0 && self.jobs >= options.max_jobs {
            return Some(Stop::MaxJobs);
        }
        if !options.max_time.is_zero() && self.started.elapsed() >= options.max_time {
            return Some(Stop::MaxTime);
        }
        if options.memory_limit > 0 && sys::memory_usage() >= options.memory_limit {
            return Some(Stop::MemoryLimit);
        }
        None
    }

    fn longest_wait(&self) -> Duration {
        if self.options.stop_when_empty {
            return Duration::ZERO;
        }
        if self.options.max_time.is_zero() {
            return self.options.idle_timeout;
        }
        self.options.idle_timeout.min(self.options.max_time.saturating_sub(self.started.elapsed()))
    }

    /// Redis is away, or refuses for the moment: wait and ask again. Anything else ends the loop; so does an outage where
    /// the loop is to return when nothing is there.
    fn away(&mut self, error: Error) -> Outcome<()> {
        if !error.is_retryable() || self.options.stop_when_empty {
            return Err(error.into());
        }
        let pause = match self.away {
            Some(pause) => (pause * 2).min(LONGEST_RETRY),
            None => {
                let exception = exceptions::object_of(error);
                self.emit(Event::ConnectionLost, None, Some(&exception))?;
                FIRST_RETRY
            }
        };
        self.away = Some(pause);
        self.feed.give_up_ended();
        self.report_lost()?;
        let mut interrupts = LoopInterrupts(PhpInterrupts::new(&self.queue.stop));
        let flow = rest(pause.mul_f64(0.5 + 0.5 * crate::core::queue::random_unit()), &mut interrupts);
        self.left(interrupts.0, flow)
    }

    /// Redis answers again.
    fn back(&mut self) -> Outcome<()> {
        if self.away.take().is_some() {
            self.emit(Event::ConnectionRestored, None, None)?;
        }
        Ok(())
    }

    pub(super) fn report_lost(&mut self) -> Outcome<()> {
        for lost in self.feed.take_lost() {
            let job = self.unacknowledged.remove(&lost.token);
            self.emit(Event::LeaseLost, job.as_ref(), None)?;
        }
        if self.feed.is_acknowledged() {
            self.unacknowledged.clear();
        }
        Ok(())
    }

    fn handle(&mut self, delivery: Delivery) -> Outcome<()> {
        let payload = match self.queue.defaults.format {
            Format::Raw => Ok(crate::php::convert::bytes(&delivery.job.payload)),
            Format::Json => json::decode(&delivery.job.payload)?,
        };
        let Some(queue) = self.feed.queue(delivery.ticket.queue).cloned() else { return Ok(()) };
        let payload = match payload {
            Ok(payload) => payload,
            Err(words) => return self.bury_undecodable(&queue, &delivery, &words),
        };
        let job = Job::new(queue, delivery, payload)?;
        self.jobs += 1;
        self.emit(Event::Processing, Some(&job.object), None)?;
        let timeout = match job.held.options.timeout_ms {
            0 => self.options.timeout,
            own_ms => Duration::from_millis(own_ms),
        };
        let mut arguments = [job.object.shallow_clone(), self.object.shallow_clone()];
        let (ending, timed_out) = if timeout.is_zero() {
            (attempt(&self.handler, &mut arguments), false)
        } else {
            let limit = Limit::start(timeout_reason(timeout));
            if let Some(keeper) = self.feed.keeper() {
                keeper.watch(&job.queue, &job.held, timeout, self.options.grace);
            }
            let ending = attempt(&self.handler, &mut arguments);
            if let Some(keeper) = self.feed.keeper() {
                keeper.unwatch();
            }
            let timed_out = limit.has_thrown();
            (ending, timed_out)
        };
        match Verdict::of(ending, timed_out, timeout) {
            Verdict::Ends(fault, reason) => {
                link::within(LAST_WORDS, || {
                    let _ = job.queue.fail(&job.held, Some(&reason));
                });
                self.feed.settled(&job.ticket);
                Err(fault)
            }
            verdict => self.settle(&job, verdict),
        }
    }
}
