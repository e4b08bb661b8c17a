//! The limits of a run, and how the keeper reaches the embedding language when one of them is over.

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

/// How the keeper's thread reaches the embedding language. Called on that thread.
pub trait Alarm: Send + Sync {
    /// When the process was first asked to end.
    fn asked_to_end(&self) -> Option<Instant> {
        None
    }
    /// The time is over: make the handler stop at its next instruction. Called again every 100 ms until it does.
    fn ring(&self, cause: Cause, times: u32);
    /// Leases were lost: the job of one of them may be running.
    fn leases_lost(&self) {}
    /// It did not stop: its job is settled; end the process.
    fn give_up(&self, message: &str) -> !;
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
