//! The duty that ends the run of a handler in time: within its own limit, and soon after the process was asked to end.

use super::alarm::{Alarm, Cause};
use super::done::DoneJobs;
use super::duty::{Duty, Shared, Timer};
use super::renewals::Renewals;
use crate::core::queue::{Held, Queue};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// No look follows the other sooner than this.
const LEAST_PAUSE: Duration = Duration::from_millis(20);
/// A handler that does not stop is told again so often.
const RING_EVERY: Duration = Duration::from_millis(100);

/// The limits of one run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// From the beginning of the run; zero: none.
    pub timeout: Duration,
    /// From the moment at which the process was asked to end; zero: none.
    pub shutdown: Duration,
    /// How long a handler that was told to stop is waited for.
    pub grace: Duration,
}

impl Limits {
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.timeout.is_zero() && self.shutdown.is_zero()
    }

    /// The words for a run that reached one of them.
    #[must_use]
    pub fn reason(&self, cause: Cause) -> String {
        match cause {
            Cause::TimedOut => timeout_reason(self.timeout),
            Cause::Shutdown => format!("still running {} s after the signal to end", self.shutdown.as_secs_f64()),
        }
    }
}

/// The words for a run that took too long.
#[must_use]
pub fn timeout_reason(timeout: Duration) -> String {
    format!("timed out after {} s", timeout.as_secs_f64())
}

/// A run with limits.
struct LimitedRun {
    /// One job, or a batch, each with its queue.
    held: Vec<(Queue, Held)>,
    limits: Limits,
    started: Instant,
    looked: Instant,
    /// Why and when it has to end, as far as that is known: the limit that comes first.
    end: Option<(Instant, Cause)>,
    rung: u32,
}

enum Ring {
    Stop(Cause, u32),
    GiveUp,
}

impl LimitedRun {
    fn new(held: Vec<(Queue, Held)>, limits: Limits) -> Self {
        let now = Instant::now();
        let mut run = Self { held, limits, started: now, looked: now, end: None, rung: 0 };
        run.look(now, None);
        run
    }

    /// `asked`: when the process was asked to end. Once the handler was told to stop, nothing changes the cause.
    fn look(&mut self, now: Instant, asked: Option<Instant>) {
        self.looked = now;
        if self.rung == 0 {
            let Limits { timeout, shutdown, .. } = self.limits;
            let timeout = (!timeout.is_zero()).then(|| (self.started + timeout, Cause::TimedOut));
            let shutdown = asked.filter(|_| !shutdown.is_zero()).map(|asked| (asked + shutdown, Cause::Shutdown));
            self.end = [timeout, shutdown].into_iter().flatten().min_by_key(|(at, _)| *at);
        }
    }

    /// When the keeper has to look at it next. One look in each span of the shutdown limit finds every request to end in time: nobody has to wake
    /// the keeper for it.
    fn look_at(&self) -> Option<Instant> {
        let ring = self.end.map(|(at, _)| (at + RING_EVERY * self.rung).min(at + self.limits.grace));
        let asks = self.rung == 0 && !self.limits.shutdown.is_zero();
        let ask = asks.then(|| self.looked + self.limits.shutdown.max(LEAST_PAUSE));
        [ring, ask].into_iter().flatten().min()
    }

    /// The steps that are due now.
    fn due(&mut self, now: Instant, asked: impl FnOnce() -> Option<Instant>) -> Option<Ring> {
        let asked = if self.limits.shutdown.is_zero() { None } else { asked() };
        self.look(now, asked);
        let (at, cause) = self.end?;
        if now >= at + self.limits.grace && self.rung > 0 {
            return Some(Ring::GiveUp);
        }
        if now >= at + RING_EVERY * self.rung {
            if self.rung == 0 {
                // The grace begins when the handler hears of it: the keeper may have waited for a silent server meanwhile.
                self.end = Some((now, cause));
            }
            self.rung += 1;
            return Some(Ring::Stop(cause, self.rung));
        }
        None
    }
}

/// Watches one run of a handler, or none.
pub(super) struct Watch {
    run: Shared<Option<LimitedRun>>,
    alarm: Arc<dyn Alarm>,
    renewals: Arc<Renewals>,
    done: Arc<DoneJobs>,
}

impl Watch {
    pub fn new(timer: &Arc<Timer>, alarm: Arc<dyn Alarm>, renewals: &Arc<Renewals>, done: &Arc<DoneJobs>) -> Self {
        let (renewals, done) = (Arc::clone(renewals), Arc::clone(done));
        Self { run: Shared::new(timer), alarm, renewals, done }
    }

    pub fn begin(&self, held: Vec<(Queue, Held)>, limits: Limits) {
        self.run.change(|slot| slot.insert(LimitedRun::new(held, limits)).look_at());
    }

    /// Nothing rings for the run any more.
    pub fn end(&self) {
        drop(self.run.lock().and_then(|mut slot| slot.take()));
    }

    /// Settles the jobs whose handler did not stop, gives back the jobs behind them, and ends the process.
    fn give_up(&self, run: &LimitedRun) -> ! {
        let LimitedRun { held, limits, end, .. } = run;
        let cause = end.map_or(Cause::TimedOut, |(_, cause)| cause);
        let reason = limits.reason(cause);
        let settle = |(queue, held): &(Queue, Held)| match cause {
            Cause::TimedOut => queue.fail(held, Some(reason.as_bytes())).map(drop),
            Cause::Shutdown => queue.put_back(held),
        };
        let recorded = match held.iter().map(settle).fold(Ok(()), Result::and) {
            Ok(()) => String::new(),
            Err(error) => format!(" (not recorded: {error})"),
        };
        for (queue, receipts) in self
            .renewals
            .behind(|receipt| held.iter().any(|(_, held)| *receipt == held.receipt) || self.done.has_receipt(receipt))
        {
            let _ = queue.give_back(&receipts.iter().collect::<Vec<_>>());
        }
        let first = held.first().map(|(queue, held)| (held.id().to_string(), queue.name()));
        let (id, queue) = first.unwrap_or_default();
        let others = if held.len() > 1 { format!(" and {} others", held.len() - 1) } else { String::new() };
        let was = if cause == Cause::Shutdown { "was " } else { "" };
        let job = format!("job '{id}'{others} of queue '{queue}'");
        self.alarm.give_up(&format!("{job} {was}{reason} and did not stop{recorded}"))
    }
}

impl Duty for Watch {
    fn due_at(&self) -> Option<Instant> {
        self.run.lock()?.as_ref()?.look_at()
    }

    fn run(&self) {
        let Some(mut slot) = self.run.lock() else { return };
        let ring = slot.as_mut().and_then(|run| run.due(Instant::now(), || self.alarm.asked_to_end()));
        match ring {
            // Under the lock: once `end` has returned, nothing rings for that run.
            Some(Ring::Stop(cause, times)) => self.alarm.ring(cause, times),
            Some(Ring::GiveUp) => {
                let run = slot.take();
                drop(slot);
                if let Some(run) = run {
                    self.give_up(&run)
                }
            }
            None => {}
        }
    }
}
