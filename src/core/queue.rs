//! One queue on Redis. API sketch: bodies follow.

use super::dsn::Dsn;
use super::error::{Error, Result};
use super::job::{Due, JobId, JobInfo, JobOptions, NewJob, Receipt, Reserved, State};
use std::time::Duration;

/// How a queue is reached. Opens nothing.
#[derive(Clone)]
pub struct QueueConfig {
    pub name: String,
    pub prefix: String,
    pub dsn: Dsn,
    pub max_payload: usize,
    pub connect_timeout: Duration,
    pub read_timeout: Duration,
    /// Keep the connection for the process; otherwise it ends with the last `Queue` clone or `close()`.
    pub persistent: bool,
}

/// What the embedding language wants after a signal or a slice of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on waiting.
    Continue,
    /// Return without a job (`stop()` was called).
    Return,
    /// Return [`Error::Interrupted`]: an exception is pending.
    Raise,
}

/// Asked whenever a wait is interrupted by a signal, and before each wait.
pub trait Interrupts {
    fn poll(&mut self) -> Flow;
}

/// Never interrupts.
pub struct NoInterrupts;
impl Interrupts for NoInterrupts {
    fn poll(&mut self) -> Flow {
        Flow::Continue
    }
}

/// What a holder needs to settle a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    pub id: JobId,
    pub receipt: Receipt,
    pub attempts: u32,
    pub options: JobOptions,
}

/// What became of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    Retried { due_at_ms: i64 },
    Buried,
}

/// Counts, ages and the lateness histogram.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    pub delayed: u64,
    pub ready: u64,
    pub reserved: u64,
    pub buried: u64,
    pub pushed: u64,
    pub acked: u64,
    pub failed: u64,
    pub timed_out: u64,
    pub cancelled: u64,
    pub oldest_ready_age_ms: Option<u64>,
    pub next_due_at_ms: Option<i64>,
    pub paused: bool,
    pub lateness: Lateness,
}

/// Percentiles of due → reserved in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lateness {
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Ok,
    Warn,
    Error,
}

/// One finding of [`Queue::doctor`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub level: Level,
    pub check: &'static str,
    pub message: String,
}

/// # Errors
/// [`Error::Invalid`], to follow an argument name.
pub fn check_queue_name(bytes: &[u8]) -> Result<String> {
    let _ = bytes;
    unbuilt()
}
/// # Errors
/// [`Error::Invalid`], to follow an argument name.
pub fn check_prefix(bytes: &[u8]) -> Result<String> {
    let _ = bytes;
    unbuilt()
}

fn unbuilt<T>() -> Result<T> {
    Err(Error::Invalid("not built yet".into()))
}

/// A named set of jobs. Cheap to clone; not bound to a connection.
#[derive(Clone)]
pub struct Queue {
    config: QueueConfig,
}

impl Queue {
    #[must_use]
    pub fn new(config: QueueConfig) -> Self {
        Self { config }
    }
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }
    /// Another queue over the same connection, prefix and limits.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Self {
        let mut config = self.config.clone();
        config.name = name.to_owned();
        Self { config }
    }
    pub fn push(&self, job: &NewJob) -> Result<JobId> {
        let _ = job;
        unbuilt()
    }
    /// Any number of jobs; chunks of up to 500 are atomic.
    pub fn push_many(&self, jobs: &[NewJob]) -> Result<Vec<JobId>> {
        let _ = jobs;
        unbuilt()
    }
    /// The classic consumer: take and delete.
    pub fn take(&self, max_due_at_ms: Option<i64>, limit: usize) -> Result<Vec<Vec<u8>>> {
        let _ = (max_due_at_ms, limit);
        unbuilt()
    }
    /// `watch`: queue names, first one first. `timeout` `None`: for ever. Empty result: nothing in time, or `Flow::Return`.
    pub fn reserve(
        &self,
        watch: &[String],
        max: usize,
        timeout: Option<Duration>,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Vec<Reserved>> {
        let _ = (watch, max, timeout, interrupts);
        unbuilt()
    }
    pub fn reserve_job(&self, id: &JobId) -> Result<Option<Reserved>> {
        let _ = id;
        unbuilt()
    }
    pub fn ack(&self, held: &Held) -> Result<()> {
        let _ = held;
        unbuilt()
    }
    /// One answer per job: was it still ours.
    pub fn ack_many(&self, held: &[Held]) -> Result<Vec<bool>> {
        let _ = held;
        unbuilt()
    }
    pub fn release(&self, held: &Held, due: Due, priority: Option<u32>) -> Result<()> {
        let _ = (held, due, priority);
        unbuilt()
    }
    /// The delay comes from the job's backoff, jittered here.
    pub fn fail(&self, held: &Held, reason: Option<&[u8]>) -> Result<Failed> {
        let _ = (held, reason);
        unbuilt()
    }
    pub fn bury(&self, held: &Held, reason: Option<&[u8]>) -> Result<()> {
        let _ = (held, reason);
        unbuilt()
    }
    /// Returns the new end of the lease in Unix ms.
    pub fn touch(&self, held: &Held, ttr_ms: Option<u64>) -> Result<i64> {
        let _ = (held, ttr_ms);
        unbuilt()
    }
    pub fn peek(&self, id: &JobId) -> Result<Option<JobInfo>> {
        let _ = id;
        unbuilt()
    }
    /// The first job of a state in its order.
    pub fn peek_state(&self, state: State) -> Result<Option<JobInfo>> {
        let _ = state;
        unbuilt()
    }
    pub fn list(&self, state: State, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        let _ = (state, offset, limit);
        unbuilt()
    }
    pub fn count(&self, state: Option<State>) -> Result<u64> {
        let _ = state;
        unbuilt()
    }
    pub fn cancel(&self, ids: &[JobId]) -> Result<u64> {
        let _ = ids;
        unbuilt()
    }
    pub fn reschedule(&self, id: &JobId, due: Due) -> Result<bool> {
        let _ = (id, due);
        unbuilt()
    }
    pub fn update(&self, id: &JobId, payload: &[u8]) -> Result<bool> {
        let _ = (id, payload);
        unbuilt()
    }
    pub fn kick(&self, max: u64, reset_attempts: bool) -> Result<u64> {
        let _ = (max, reset_attempts);
        unbuilt()
    }
    pub fn kick_job(&self, id: &JobId, reset_attempts: bool) -> Result<bool> {
        let _ = (id, reset_attempts);
        unbuilt()
    }
    /// `None`: until `resume()`.
    pub fn pause(&self, for_ms: Option<u64>) -> Result<()> {
        let _ = for_ms;
        unbuilt()
    }
    pub fn resume(&self) -> Result<()> {
        unbuilt()
    }
    pub fn is_paused(&self) -> Result<bool> {
        unbuilt()
    }
    /// Empty slice: all states.
    pub fn purge(&self, states: &[State]) -> Result<u64> {
        let _ = states;
        unbuilt()
    }
    pub fn stats(&self) -> Result<Stats> {
        unbuilt()
    }
    /// Names of all queues under the prefix, sorted.
    pub fn queues(&self) -> Result<Vec<String>> {
        unbuilt()
    }
    pub fn doctor(&self) -> Result<Vec<Check>> {
        unbuilt()
    }
    pub fn close(&self) {}
}
