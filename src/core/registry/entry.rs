//! The entry of a worker: its text in Redis, and the orders behind it.

use super::LISTED_FOR;
use crate::core::keys::check_queue_name;
use crate::core::process;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// An operator's wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// End as after SIGTERM.
    Stop,
    /// End as after SIGTERM, for another process to follow.
    Restart,
    /// Take no more jobs.
    Pause,
    Resume,
}

impl Order {
    pub const ALL: [Self; 4] = [Self::Stop, Self::Restart, Self::Pause, Self::Resume];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }

    fn of(line: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word().as_bytes() == line)
    }
}

/// The activity of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    Idle,
    Working,
    /// It takes no jobs, though it may be finishing one.
    Paused,
    /// It was told to end, and is finishing a job.
    Stopping,
}

impl Activity {
    pub const ALL: [Self; 4] = [Self::Idle, Self::Working, Self::Paused, Self::Stopping];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
        }
    }
}

/// The words of a worker about itself.
#[derive(Debug)]
pub struct Entry {
    /// The program that runs the loop: "worker", "laravel".
    pub kind: String,
    pub activity: Activity,
    pub queues: Vec<String>,
    /// Queue and id of the job that runs, and for how long it has.
    pub job: Option<(String, String, Duration)>,
    /// Since the worker began.
    pub up: Duration,
}

/// A worker as the list shows it. Times are microseconds of Redis' clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    pub(super) id: String,
    pub host: String,
    pub pid: i64,
    pub version: String,
    pub kind: String,
    pub activity: Activity,
    pub queues: Vec<String>,
    pub job: Option<RunningJob>,
    /// Resident memory of the process, in bytes.
    pub memory: Option<u64>,
    pub started_at_us: i64,
    /// When it wrote this.
    pub seen_at_us: i64,
    /// Orders that it has not heard yet.
    pub orders: Vec<Order>,
}

/// How many workers there are, by their activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headcount {
    pub idle: u64,
    pub working: u64,
    pub paused: u64,
    pub stopping: u64,
}

impl Headcount {
    pub fn of(&mut self, activity: Activity) -> &mut u64 {
        match activity {
            Activity::Idle => &mut self.idle,
            Activity::Working => &mut self.working,
            Activity::Paused => &mut self.paused,
            Activity::Stopping => &mut self.stopping,
        }
    }
}

/// The job that a worker runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningJob {
    pub queue: String,
    pub id: String,
    pub since_us: i64,
}

/// Its line of JSON.
pub(super) fn text_of(entry: &Entry) -> String {
    let (host, pid) = process::host_and_pid();
    let job = entry.job.as_ref().map(|(queue, id, time)| json!({ "queue": queue, "id": id, "ms": millis(*time) }));
    let text = json!({
        "host": host,
        "pid": pid,
        "version": env!("CARGO_PKG_VERSION"),
        "kind": entry.kind,
        "state": entry.activity.word(),
        "queues": entry.queues,
        "job": job,
        "memory": process::resident_memory(),
        "up_ms": millis(entry.up),
        "listed_ms": millis(LISTED_FOR),
    });
    text.to_string()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The lines behind the entry. Words of a newer version are none of ours.
pub(super) fn orders_in(value: &[u8]) -> Vec<Order> {
    value.split(|byte| *byte == b'\n').skip(1).filter_map(Order::of).collect()
}

/// An entry as it was found, with the rest of its life. `None`: it is gone, or none of ours. Its texts may be anybody's: they are cut.
pub(super) fn read(id: &str, value: &[u8], ttl_ms: i64, now_us: i64) -> Option<Worker> {
    let line = value.split(|byte| *byte == b'\n').next()?;
    let entry: Json = serde_json::from_slice(line).ok()?;
    let age_us = micros(&entry, "listed_ms")?.saturating_sub(ttl_ms.max(0).saturating_mul(1000)).max(0);
    let seen_at_us = now_us - age_us;
    let job = entry.get("job").and_then(|job| {
        Some(RunningJob {
            queue: text(job, "queue", 200).unwrap_or_default(),
            id: text(job, "id", 200)?,
            since_us: seen_at_us - micros(job, "ms").unwrap_or(0),
        })
    });
    let state = entry.get("state").and_then(Json::as_str);
    let queues = entry.get("queues").and_then(Json::as_array)?;
    Some(Worker {
        id: id.to_owned(),
        host: text(&entry, "host", 64)?,
        pid: entry.get("pid").and_then(Json::as_i64)?,
        version: text(&entry, "version", 32)?,
        kind: text(&entry, "kind", 32).unwrap_or_else(|| "worker".into()),
        activity: Activity::ALL.into_iter().find(|activity| Some(activity.word()) == state)?,
        queues: queues.iter().filter_map(|name| check_queue_name(name.as_str()?.as_bytes()).ok()).collect(),
        job,
        memory: entry.get("memory").and_then(Json::as_u64),
        started_at_us: seen_at_us - micros(&entry, "up_ms")?,
        seen_at_us,
        orders: orders_in(value),
    })
}

fn text(object: &Json, name: &str, longest: usize) -> Option<String> {
    Some(object.get(name)?.as_str()?.chars().take(longest).collect())
}

/// A length of time in milliseconds, as microseconds that can be added to others.
fn micros(object: &Json, name: &str) -> Option<i64> {
    object.get(name)?.as_i64().map(|ms| ms.clamp(0, 1 << 50) * 1000)
}
