//! The numbers of a queue: counts, ages, and the counters of its life and of the last hour.

use super::Queue;
use super::histogram::{Histogram, RunOutcome};
use crate::core::error::Result;
use crate::core::job::State;
use crate::core::registry::Headcount;
use crate::core::reply::Reply;
use crate::core::scripts;
use std::collections::{BTreeMap, BTreeSet};

const HOUR_US: i64 = 3_600_000_000;
/// The word in a snapshot that is no counter: how many jobs there were.
const JOBS: &str = "jobs";

/// Counters as `meta` has them: a word, and behind it the bucket of a time where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    fn read<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let numbers = fields.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?)));
        Self(numbers.collect())
    }

    fn add(&mut self, other: &Self, sign: i64) {
        for (name, number) in &other.0 {
            *self.0.entry(name.clone()).or_default() += sign * number;
        }
    }

    /// The buckets of a word; `None`: counted without a time.
    fn of<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (Option<u32>, i64)> + 'a {
        self.0.iter().filter_map(move |(name, number)| match name.strip_prefix(word)? {
            "" => Some((None, *number)),
            bucket => Some((Some(bucket.parse().ok()?), *number)),
        })
    }

    fn histogram(&self, words: &[&str]) -> Histogram {
        let buckets = words.iter().flat_map(|word| self.of(word));
        buckets.filter_map(|(bucket, number)| Some((bucket?, number))).collect()
    }

    /// How often this was counted, with a time or without.
    #[must_use]
    pub fn count(&self, word: &str) -> u64 {
        u64::try_from(self.of(word).map(|(_, number)| number).sum::<i64>()).unwrap_or(0)
    }

    /// The jobs that are gone: acknowledged, given up, cancelled, replaced or dropped.
    fn left(&self) -> u64 {
        ["acked", "given_up", "cancelled", "replaced", "dropped"].map(|word| self.count(word)).iter().sum()
    }

    /// From due to reserved. A job that comes back has a new due time, and counts again.
    #[must_use]
    pub fn lateness(&self) -> Histogram {
        self.histogram(&["late"])
    }

    /// From first due to reserved: the same where a job did not come back. So only the differences are stored.
    #[must_use]
    pub fn wait(&self) -> Histogram {
        self.histogram(&["late", "wait"])
    }

    /// From the start of the handler to its end.
    #[must_use]
    pub fn run(&self, outcome: RunOutcome) -> Histogram {
        self.histogram(&[outcome.word()])
    }
}

/// The counters of a queue at a moment of the past (`lua/lib/snapshot.lua`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub at_us: i64,
    pub pushed: u64,
    pub ever: Counters,
}

impl Snapshot {
    /// `None` without the number of jobs, which tells how many were pushed.
    fn read(at_us: i64, text: &str) -> Option<Self> {
        let mut ever = Counters::read(pairs(text.split(' ')));
        let jobs = u64::try_from(ever.0.remove(JOBS)?).ok()?;
        Some(Self { at_us, pushed: jobs + ever.left(), ever })
    }
}

/// The history of two sets of jobs together: at each moment of one, the last snapshot of both until then. It begins where both have one.
fn together(a: &[Snapshot], b: &[Snapshot]) -> Vec<Snapshot> {
    let (Some(first), Some(other)) = (a.first(), b.first()) else { return [a, b].concat() };
    let moments: BTreeSet<i64> = a.iter().chain(b).map(|snapshot| snapshot.at_us).collect();
    let until = |of: &[Snapshot], at_us: i64| of.iter().rev().find(|snapshot| snapshot.at_us <= at_us).cloned();
    let both = |at_us: i64| {
        let (mut sum, more) = (until(a, at_us)?, until(b, at_us)?);
        (sum.at_us, sum.pushed) = (at_us, sum.pushed + more.pushed);
        sum.ever.add(&more.ever, 1);
        Some(sum)
    };
    moments.range(first.at_us.max(other.at_us)..).filter_map(|at_us| both(*at_us)).collect()
}

/// Counts, ages and counters of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    pub delayed: u64,
    pub ready: u64,
    /// Ready jobs of groups that may not be served now: full, paused, or without a token.
    pub blocked: u64,
    pub reserved: u64,
    pub buried: u64,
    /// Since the queue was made.
    pub pushed: u64,
    pub acked: u64,
    pub failed: u64,
    pub timed_out: u64,
    pub cancelled: u64,
    /// Jobs that were too late to be run: buried, or removed.
    pub expired: u64,
    /// Of the jobs that may be served.
    pub oldest_ready_age_us: Option<u64>,
    pub next_due_at_us: Option<i64>,
    pub paused: bool,
    /// The workers that serve the queue, where the list of them can be read. One partition knows of none.
    pub workers: Option<Headcount>,
    /// Since the queue was made.
    pub ever: Counters,
    /// Of the last hour, and up to five minutes more.
    pub hour: Counters,
    /// The snapshots that are there, oldest first.
    pub history: Vec<Snapshot>,
    /// Records that lie in no state, less entries without a record: not 0 when another program has changed keys.
    pub unplaced: i64,
}

impl Stats {
    /// Jobs in one state, or in all.
    #[must_use]
    pub fn count(&self, state: Option<State>) -> u64 {
        match state {
            Some(State::Delayed) => self.delayed,
            Some(State::Ready) => self.ready,
            Some(State::Reserved) => self.reserved,
            Some(State::Buried) => self.buried,
            None => self.delayed + self.ready + self.reserved + self.buried,
        }
    }

    /// Adds the numbers of other jobs.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.delayed, other.delayed),
            (&mut self.ready, other.ready),
            (&mut self.blocked, other.blocked),
            (&mut self.reserved, other.reserved),
            (&mut self.buried, other.buried),
            (&mut self.pushed, other.pushed),
            (&mut self.acked, other.acked),
            (&mut self.failed, other.failed),
            (&mut self.timed_out, other.timed_out),
            (&mut self.cancelled, other.cancelled),
            (&mut self.expired, other.expired),
        ] {
            *sum += more;
        }
        self.oldest_ready_age_us = self.oldest_ready_age_us.max(other.oldest_ready_age_us);
        self.next_due_at_us = self.next_due_at_us.into_iter().chain(other.next_due_at_us).min();
        self.paused |= other.paused;
        self.ever.add(&other.ever, 1);
        self.hour.add(&other.hour, 1);
        self.history = together(&self.history, &other.history);
        self.unplaced += other.unplaced;
    }
}

impl Queue {
    /// # Errors
    /// Connection and server errors.
    pub fn stats(&self) -> Result<Stats> {
        let answer = self.script_again(&scripts::STATS, &[]).and_then(|(reply, _)| Stats::read(reply));
        answer.map_err(self.looking())
    }
}

impl Stats {
    pub(super) fn read(mut reply: Reply) -> Result<Self> {
        let now_us = reply.int()?;
        let mut next = || reply.int().map(|number| u64::try_from(number).unwrap_or(0));
        let (delayed, ready, reserved, buried, records) = (next()?, next()?, next()?, next()?, next()?);
        let placed = delayed + ready + reserved + buried;
        let oldest = reply.optional_int()?;
        let next_due_at_us = reply.optional_int()?;
        let paused = reply.int()? == 1;
        let blocked = u64::try_from(reply.int()?).unwrap_or(0);
        let fields: Vec<String> =
            reply.rest()?.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
        let ever = Counters::read(pairs(fields.iter().map(String::as_str)));
        // After the clock was set back some are of the future.
        let mut snapshots: Vec<(i64, &str)> = snapshots(&fields).filter(|(at_us, _)| *at_us <= now_us).collect();
        snapshots.sort_unstable();
        let hour = last_hour(&ever, &snapshots, now_us);
        let history = snapshots.iter().filter_map(|(at_us, text)| Snapshot::read(*at_us, text)).collect();
        Ok(Self {
            delayed,
            ready,
            blocked,
            reserved,
            buried,
            // Nothing counts pushes: every job that was ever pushed is still here or has left.
            pushed: placed + ever.left(),
            acked: ever.count("acked"),
            failed: ever.count("failed"),
            timed_out: ever.count("timed_out"),
            cancelled: ever.count("cancelled"),
            expired: ever.count("expired") + ever.count("dropped"),
            oldest_ready_age_us: oldest.map(|due| u64::try_from(now_us - due).unwrap_or(0)),
            next_due_at_us,
            paused,
            workers: None,
            ever,
            hour,
            history,
            unplaced: i64::try_from(records).unwrap_or(i64::MAX) - i64::try_from(placed).unwrap_or(0),
        })
    }
}

/// The counters of now, less those of the newest snapshot that is an hour old (`lua/lib/snapshot.lua`). Without one the queue is younger.
fn last_hour(ever: &Counters, snapshots: &[(i64, &str)], now_us: i64) -> Counters {
    let mut hour = ever.clone();
    if let Some((_, then)) = snapshots.iter().rev().find(|(at_us, _)| *at_us <= now_us - HOUR_US) {
        let mut then = Counters::read(pairs(then.split(' ')));
        then.0.remove(JOBS);
        hour.add(&then, -1);
    }
    hour
}

/// Their moments and texts.
fn snapshots(fields: &[String]) -> impl Iterator<Item = (i64, &str)> {
    pairs(fields.iter().map(String::as_str))
        .filter_map(|(name, text)| Some((name.strip_prefix("snapshot")?.parse().ok()?, text)))
}

fn pairs<'a>(mut texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (&'a str, &'a str)> {
    std::iter::from_fn(move || Some((texts.next()?, texts.next()?)))
}
