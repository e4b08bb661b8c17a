//! How the keeper reaches the embedding language when a run has to end.

use std::time::Instant;

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
