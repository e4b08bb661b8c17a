//! The run of a handler that is to end in time: within its own limit, and soon after the process was asked to end.

use super::keeper::Shared;
use crate::core::job::Receipt;
use crate::core::queue::{Held, Queue};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Why a run has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// It took too long: the attempt has failed.
    TimedOut = 1,
    /// The process is to end: the job goes back as if nobody had reserved it.
    Shutdown = 2,
}

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

/// No look follows the other sooner than this.
const LEAST_PAUSE: Duration = Duration::from_millis(20);
/// A handler that does not stop is told again so often.
const RING_EVERY: Duration = Duration::from_millis(100);

/// A run with limits.
pub(super) struct Run {
    queue: Queue,
    held: Held,
    limits: Limits,
    started: Instant,
    looked: Instant,
    /// Why and when it has to end, as far as that is known: the limit that comes first.
    end: Option<(Instant, Cause)>,
    rung: u32,
}

pub(super) enum Ring {
    Stop(Cause, u32),
    GiveUp(Box<Run>),
}

impl Run {
    pub fn new(queue: &Queue, held: &Held, limits: Limits) -> Self {
        let now = Instant::now();
        let mut run =
            Self { queue: queue.clone(), held: held.clone(), limits, started: now, looked: now, end: None, rung: 0 };
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
    pub fn look_at(&self) -> Option<Instant> {
        let ring = self.end.map(|(at, _)| (at + RING_EVERY * self.rung).min(at + self.limits.grace));
        let asks = self.rung == 0 && !self.limits.shutdown.is_zero();
        let ask = asks.then(|| self.looked + self.limits.shutdown.max(LEAST_PAUSE));
        [ring, ask].into_iter().flatten().min()
    }

    /// The steps that are due now. Takes the run out that is given up.
    pub fn due(run: &mut Option<Self>, now: Instant, asked: impl FnOnce() -> Option<Instant>) -> Option<Ring> {
        let this = run.as_mut()?;
        let asked = if this.limits.shutdown.is_zero() { None } else { asked() };
        this.look(now, asked);
        let (at, cause) = this.end?;
        if now >= at + this.limits.grace && this.rung > 0 {
            return run.take().map(|run| Ring::GiveUp(Box::new(run)));
        }
        if now >= at + RING_EVERY * this.rung {
            if this.rung == 0 {
                // The grace begins when the handler hears of it: the keeper may have waited for a silent server meanwhile.
                this.end = Some((now, cause));
            }
            this.rung += 1;
            return Some(Ring::Stop(cause, this.rung));
        }
        None
    }

    pub fn receipt(&self) -> &Receipt {
        &self.held.receipt
    }

    /// Settles the job, whose handler did not stop, gives back the jobs behind it, and ends the process.
    pub fn give_up(&self, shared: &Shared, behind: &[(Queue, Vec<Receipt>)]) -> ! {
        let cause = self.end.map_or(Cause::TimedOut, |(_, cause)| cause);
        let reason = self.limits.reason(cause);
        let (what, settled) = match cause {
            Cause::TimedOut => (reason.clone(), self.queue.fail(&self.held, Some(reason.as_bytes())).map(drop)),
            Cause::Shutdown => (format!("was {reason}"), self.queue.put_back(&self.held)),
        };
        let recorded = match settled {
            Ok(()) => String::new(),
            Err(error) => format!(" (not recorded: {error})"),
        };
        for (queue, receipts) in behind {
            let _ = queue.give_back(&receipts.iter().collect::<Vec<_>>());
        }
        let message =
            format!("job '{}' of queue '{}' {what} and did not stop{recorded}", self.held.id(), self.queue.name());
        shared.alarm.lock().unwrap_or_else(PoisonError::into_inner).give_up(&message)
    }
}
