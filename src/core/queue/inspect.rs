//! Looking without touching.

use super::Queue;
use crate::core::client::Request;
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, JobInfo, State};
use crate::core::reply;
use crate::core::{keys, scripts};
use redis::Value;
use std::collections::HashMap;

/// Counts, ages and the lateness histogram of a queue.
#[derive(Debug, Clone, PartialEq, Default)]
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
    pub oldest_ready_age_us: Option<u64>,
    pub next_due_at_us: Option<i64>,
    pub paused: bool,
    /// How many jobs were how late: see [`Lateness::from_buckets`].
    pub late: Vec<(u32, u64)>,
    /// Records that lie in no state, less entries without a record: not 0 when another program has changed keys.
    pub unplaced: i64,
}

/// Percentiles of due → reserved in milliseconds, from a histogram with two buckets per doubling.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lateness {
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub count: u64,
}

impl Stats {
    #[must_use]
    pub fn lateness(&self) -> Lateness {
        Lateness::from_buckets(&self.late)
    }

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
        ] {
            *sum += more;
        }
        self.oldest_ready_age_us = self.oldest_ready_age_us.max(other.oldest_ready_age_us);
        self.next_due_at_us = self.next_due_at_us.into_iter().chain(other.next_due_at_us).min();
        self.paused |= other.paused;
        for (bucket, many) in &other.late {
            match self.late.iter_mut().find(|(known, _)| known == bucket) {
                Some((_, sum)) => *sum += many,
                None => self.late.push((*bucket, *many)),
            }
        }
        self.unplaced += other.unplaced;
    }
}

impl Lateness {
    /// `buckets`: index → how many; bucket `b` holds `ms + 1` in `2^(b/2) .. 2^((b+1)/2)`.
    #[must_use]
    pub fn from_buckets(buckets: &[(u32, u64)]) -> Self {
        let mut sorted = buckets.to_vec();
        sorted.sort_unstable();
        let count: u64 = sorted.iter().map(|(_, many)| many).sum();
        let bound = |bucket: f64| (bucket / 2.0).exp2() - 1.0;
        let quantile = |share: f64| {
            let rank = share * count as f64;
            let mut below = 0.0;
            for (bucket, many) in &sorted {
                let (low, high) = (bound(f64::from(*bucket)), bound(f64::from(*bucket) + 1.0));
                if below + *many as f64 >= rank {
                    let within = ((rank - below) / *many as f64).clamp(0.0, 1.0);
                    return if *bucket == 0 { 0.0 } else { low + (high - low) * within };
                }
                below += *many as f64;
            }
            0.0
        };
        Self { p50_ms: quantile(0.50), p95_ms: quantile(0.95), p99_ms: quantile(0.99), count }
    }
}

impl Queue {
    fn looking(&self) -> impl Fn(Error) -> Error + '_ {
        |error| error.while_doing(|| format!("looking at queue '{}'", self.name))
    }

    /// One job, without holding it.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn peek(&self, id: &JobId) -> Result<Option<JobInfo>> {
        let (mut reply, _) = self.script_again(&scripts::PEEK, &[id.as_bytes()]).map_err(self.looking())?;
        match reply.word.as_str() {
            "JOB" => {
                let state = reply::state(&reply.text()?)?;
                reply.info(&self.name, state).map(|info| Some(self.looked_at(info)))
            }
            "MISSING" => Ok(None),
            _ => Err(reply::unexpected()),
        }
    }

    /// The first job of a state in its order.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn peek_state(&self, state: State) -> Result<Option<JobInfo>> {
        Ok(self.list(state, 0, 1)?.into_iter().next())
    }

    /// A page of jobs of one state: ready ones in the order of serving, delayed ones by due time, reserved ones by the end
    /// of their lease, buried ones oldest first.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn list(&self, state: State, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        let mut jobs = Vec::new();
        let mut at = offset;
        while (jobs.len() as u64) < limit {
            let want = (limit - jobs.len() as u64).min(200);
            let (page, looked, is_full) = self.list_page(state, at, want)?;
            jobs.extend(page);
            at += looked;
            if looked < want && !is_full {
                break;
            }
        }
        Ok(jobs)
    }

    /// The jobs of a page; how many places were looked at, as one without a record shows no job; and whether the page holds no more bytes.
    fn list_page(&self, state: State, offset: u64, limit: u64) -> Result<(Vec<JobInfo>, u64, bool)> {
        let (offset, limit, bytes) = (offset.to_string(), limit.to_string(), self.most_bytes().to_string());
        let args = [state.word(), &offset, &limit, &bytes].map(str::as_bytes);
        let (mut reply, _) = self.script_again(&scripts::LIST, &args).map_err(self.looking())?;
        reply.text()?;
        let looked = u64::try_from(reply.int()?).unwrap_or(0);
        let is_full = reply.int()? == 1;
        let mut jobs = Vec::new();
        while !reply.is_at_end() {
            jobs.push(self.looked_at(reply.info(&self.name, state)?));
        }
        Ok((jobs, looked, is_full))
    }

    /// Jobs in one state, or in all.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn count(&self, state: Option<State>) -> Result<u64> {
        let stats = self.stats()?;
        Ok(match state {
            Some(State::Delayed) => stats.delayed,
            Some(State::Ready) => stats.ready,
            Some(State::Reserved) => stats.reserved,
            Some(State::Buried) => stats.buried,
            None => stats.delayed + stats.ready + stats.reserved + stats.buried,
        })
    }

    /// # Errors
    /// Connection and server errors.
    pub fn is_paused(&self) -> Result<bool> {
        Ok(self.stats()?.paused)
    }

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
        let counters = counters(reply.rest()?);
        let get = |name: &str| counters.get(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let buckets: Vec<(u32, u64)> = counters
            .iter()
            .filter_map(|(name, many)| Some((name.strip_prefix("late")?.parse().ok()?, many.parse().ok()?)))
            .collect();
        Ok(Stats {
            delayed,
            ready,
            reserved,
            buried,
            // Nothing counts pushes: every job that was ever pushed is still here, or was acknowledged, cancelled or replaced.
            pushed: placed + get("acked") + get("cancelled") + get("replaced"),
            acked: get("acked"),
            failed: get("failed"),
            timed_out: get("timed_out"),
            cancelled: get("cancelled"),
            oldest_ready_age_us: oldest.map(|due| u64::try_from(now_us - due).unwrap_or(0)),
            next_due_at_us,
            paused,
            late: buckets,
            unplaced: i64::try_from(records).unwrap_or(i64::MAX) - i64::try_from(placed).unwrap_or(0),
        })
    }

    /// Names of all queues under the prefix, sorted.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn queues(&self) -> Result<Vec<String>> {
        const PAGE: usize = 1000;
        let (mut names, mut first) = (Vec::new(), 0);
        loop {
            let (from, to) = (first.to_string(), (first + PAGE - 1).to_string());
            let value = self.ask_index(|request, index| {
                request.command(&[b"ZRANGE", index, from.as_bytes(), to.as_bytes()]);
            })?;
            let Value::Array(page) = value else { return Err(reply::unexpected()) };
            let is_last = page.len() < PAGE;
            first += page.len();
            // A name that is not UTF-8 is none of ours.
            names.extend(page.into_iter().filter_map(reply::text));
            if is_last {
                names.sort_unstable();
                names.dedup();
                return Ok(names);
            }
        }
    }

    /// How many partitions of this queue have been pushed to, as far as the index knows; 0 for a queue that is not in it.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn known_partitions(&self) -> Result<u64> {
        let score = self.ask_index(|request, index| request.command(&[b"ZSCORE", index, self.name.as_bytes()]))?;
        Ok(match score {
            Value::Double(count) => count as u64,
            other => reply::text(other).and_then(|count| count.parse().ok()).unwrap_or(0),
        })
    }

    /// Takes the queue out of the index of names.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn unlist(&self) -> Result<()> {
        self.ask_index(|request, index| request.command(&[b"ZREM", index, self.name.as_bytes()])).map(|_| ())
    }

    /// The index of queues lies in a slot of its own.
    fn ask_index(&self, ask: impl Fn(&mut Request, &[u8])) -> Result<Value> {
        let prefix = self.keys.prefix();
        let (client, index) = (self.client.for_slot(keys::index_slot(prefix)), keys::index(prefix));
        let value = client.run(|request, _, _| ask(request, index.as_bytes()));
        value.map_err(|error| error.while_doing(|| "looking at the index of queues".into()))
    }
}

fn counters(values: Vec<Vec<u8>>) -> HashMap<String, String> {
    let texts: Vec<String> = values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
    texts.chunks_exact(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_come_from_the_right_bucket() {
        assert_eq!(Lateness::from_buckets(&[]), Lateness::default());
        let lateness = Lateness::from_buckets(&[(0, 90), (6, 9), (20, 1)]);
        assert_eq!((lateness.p50_ms, lateness.count), (0.0, 100));
        assert!((7.0..10.4).contains(&lateness.p95_ms), "{lateness:?}"); // 2^3 − 1 … 2^3.5 − 1
        assert!(lateness.p99_ms < 10.4);
    }
}
