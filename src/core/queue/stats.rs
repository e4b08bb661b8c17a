//! The numbers of a queue: counts, ages, and the counters of its life and of the last hour.

use super::Queue;
use super::histogram::Histogram;
use crate::core::error::Result;
use crate::core::registry::Headcount;
use crate::core::scripts;
use std::collections::BTreeMap;

const HOUR_US: i64 = 3_600_000_000;

/// The end of a run that a queue counts, with the time that the run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Acked,
    Failed,
    Released,
    Buried,
    TimedOut,
}

impl Outcome {
    pub const ALL: [Self; 5] = [Self::Acked, Self::Failed, Self::Released, Self::Buried, Self::TimedOut];

    /// The word used in Redis, in PHP and for Prometheus.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Acked => "acked",
            Self::Failed => "failed",
            Self::Released => "released",
            Self::Buried => "buried",
            Self::TimedOut => "timed_out",
        }
    }
}

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
    pub fn run(&self, outcome: Outcome) -> Histogram {
        self.histogram(&[outcome.word()])
    }
}

/// Counts, ages and counters of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    pub delayed: u64,
    pub ready: u64,
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
    pub oldest_ready_age_us: Option<u64>,
    pub next_due_at_us: Option<i64>,
    pub paused: bool,
    /// The workers that serve the queue, where the list of them can be read. One partition knows of none.
    pub workers: Option<Headcount>,
    /// Since the queue was made.
    pub ever: Counters,
    /// Of the last hour, and up to five minutes more.
    pub hour: Counters,
    /// Records that lie in no state, less entries without a record: not 0 when another program has changed keys.
    pub unplaced: i64,
}

impl Stats {
    /// The same of two sets of jobs together.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.delayed, other.delayed),
            (&mut self.ready, other.ready),
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
        self.unplaced += other.unplaced;
    }
}

impl Queue {
    /// # Errors
    /// Connection and server errors.
    pub fn stats(&self) -> Result<Stats> {
        let (mut reply, _) = self.script_again(&scripts::STATS, &[]).map_err(self.looking())?;
        let now_us = reply.int()?;
        let mut next = || reply.int().map(|number| u64::try_from(number).unwrap_or(0));
        let (delayed, ready, reserved, buried, records) = (next()?, next()?, next()?, next()?, next()?);
        let placed = delayed + ready + reserved + buried;
        let oldest = reply.optional_int()?;
        let next_due_at_us = reply.optional_int()?;
        let paused = reply.int()? == 1;
        let fields: Vec<String> =
            reply.rest()?.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
        let ever = Counters::read(pairs(fields.iter().map(String::as_str)));
        let hour = last_hour(&ever, &fields, now_us);
        Ok(Stats {
            delayed,
            ready,
            reserved,
            buried,
            // Nothing counts pushes: every job that was ever pushed is still here, or one of these.
            pushed: placed
                + ["acked", "cancelled", "replaced", "dropped"].map(|word| ever.count(word)).iter().sum::<u64>(),
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
            unplaced: i64::try_from(records).unwrap_or(i64::MAX) - i64::try_from(placed).unwrap_or(0),
        })
    }
}

/// The counters of now, less those of the newest snapshot that is an hour old (`lua/lib/snapshot.lua`). Without one the queue is younger.
fn last_hour(ever: &Counters, fields: &[String], now_us: i64) -> Counters {
    let snapshots = pairs(fields.iter().map(String::as_str))
        .filter_map(|(name, text)| Some((name.strip_prefix("snapshot")?.parse::<i64>().ok()?, text)));
    let mut hour = ever.clone();
    if let Some((_, then)) = snapshots.filter(|(at_us, _)| *at_us <= now_us - HOUR_US).max() {
        hour.add(&Counters::read(pairs(then.split(' '))), -1);
    }
    hour
}

fn pairs<'a>(mut texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (&'a str, &'a str)> {
    std::iter::from_fn(move || Some((texts.next()?, texts.next()?)))
}
