//! Looking without touching.

use super::Queue;
use crate::core::client::Request;
use crate::core::clock;
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, JobInfo, Place, State};
use crate::core::reply;
use crate::core::{keys, scripts};
use redis::Value;

/// More than a queue has. Numbers of scripts are exact up to twice as many.
const MOST_PLACES: u64 = 1 << 52;

impl Queue {
    pub(super) fn looking(&self) -> impl Fn(Error) -> Error + '_ {
        |error| error.while_doing(|| format!("looking at queue '{}'", self.name))
    }

    /// One job, without holding it.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn peek(&self, id: &JobId) -> Result<Option<JobInfo>> {
        let look = || {
            let (mut reply, _) = self.script_again(&scripts::PEEK, &[id.as_bytes()])?;
            match reply.word.as_str() {
                "JOB" => {
                    let state = reply::state(&reply.text()?)?;
                    let info = reply.info(&self.name, state)?;
                    Ok(Some(self.looked_at(JobInfo { waiting: reply.waiting()?, ..info })))
                }
                "MISSING" => Ok(None),
                _ => Err(reply::unexpected()),
            }
        };
        look().map_err(self.looking())
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
        self.list_from(state, None, offset, limit)
    }

    /// A page whose `offset` counts from behind a place, whether its job is still there or not.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn list_from(&self, state: State, after: Option<&Place>, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        let (mut jobs, mut at) = (Vec::new(), offset);
        let mut after = after.cloned();
        while (jobs.len() as u64) < limit {
            let want = (limit - jobs.len() as u64).min(200);
            let (page, looked, is_full) = self.list_page(state, after.as_ref(), at, want).map_err(self.looking())?;
            // Jobs that come and go meanwhile move no place.
            match page.last() {
                Some(last) => (after, at) = (Some(last.place()), 0),
                None => at = at.saturating_add(looked),
            }
            jobs.extend(page);
            if looked == 0 || looked < want && !is_full {
                break;
            }
        }
        Ok(jobs)
    }

    /// The jobs of a page; how many places were looked at, as one without a record shows no job; and whether the page holds no more bytes.
    fn list_page(
        &self,
        state: State,
        after: Option<&Place>,
        offset: u64,
        limit: u64,
    ) -> Result<(Vec<JobInfo>, u64, bool)> {
        let (offset, limit, bytes) =
            (offset.min(MOST_PLACES).to_string(), limit.to_string(), self.most_bytes().to_string());
        let place = after.map_or_else(Vec::new, |Place { priority, at_us, id, .. }| {
            [format!("{priority} {at_us} ").as_bytes(), id.as_bytes()].concat()
        });
        let args = [state.word().as_bytes(), offset.as_bytes(), limit.as_bytes(), bytes.as_bytes(), &place];
        let (mut reply, _) = self.script_again(&scripts::LIST, &args)?;
        reply.text()?;
        let looked = u64::try_from(reply.int()?).unwrap_or(0);
        let is_full = reply.int()? == 1;
        let mut jobs = Vec::new();
        while !reply.is_at_end() {
            jobs.push(self.looked_at(reply.info(&self.name, state)?));
        }
        Ok((jobs, looked, is_full))
    }

    /// How many waiting jobs, delayed and ready ones, are due before each of these moments. Asks without a script, so jobs whose lease has ended
    /// count once a script has taken them back.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn count_due(&self, until_us: &[i64]) -> Result<Vec<u64>> {
        if until_us.is_empty() {
            return Ok(Vec::new());
        }
        let count = || {
            let replies = self.client.run(|request, _, _| {
                request.all_replies();
                self.ask_for_counts(request, until_us);
            });
            let counts: Option<Vec<i64>> = replies.and_then(reply::all)?.map(reply::int).collect();
            if let Some(counts) = counts.and_then(|counts| Self::read_counts(&counts, until_us)) {
                return Ok(counts);
            }
            // One by one: a slot that moves is followed, and an error is told.
            let one = |command: [&[u8]; 4]| self.ask_for_int(|request| request.command(&command));
            let counts: Vec<i64> = until_us
                .iter()
                .flat_map(|until_us| self.places_due().map(|key| (key, before(*until_us))))
                .map(|(key, before)| one([b"ZCOUNT", key, b"-inf", before.as_bytes()]))
                .collect::<Result<_>>()?;
            Self::read_counts(&counts, until_us).ok_or_else(reply::unexpected)
        };
        self.client.in_one_operation(count).map_err(self.looking())
    }

    /// Where waiting jobs are.
    fn places_due(&self) -> [&[u8]; 3] {
        [self.keys.waiting(), self.keys.prioritized(), self.keys.grouped()]
    }

    /// Asks how many waiting jobs are due before each of these moments.
    pub(super) fn ask_for_counts(&self, request: &mut Request, until_us: &[i64]) {
        for until_us in until_us {
            for key in self.places_due() {
                request.command(&[b"ZCOUNT", key, b"-inf", before(*until_us).as_bytes()]);
            }
        }
    }

    /// The replies to [`Queue::ask_for_counts`], if they are complete.
    pub(super) fn read_counts(counts: &[i64], until_us: &[i64]) -> Option<Vec<u64>> {
        let of_moments = counts.chunks_exact(3).map(|counts| u64::try_from(counts.iter().sum::<i64>()).unwrap_or(0));
        (counts.len() == 3 * until_us.len()).then(|| of_moments.collect())
    }

    fn ask_for_int(&self, ask: impl Fn(&mut Request)) -> Result<i64> {
        let reply = self.client.run(|request, _, _| ask(request)).map_err(|error| self.naming_key(error))?;
        reply::int(reply).ok_or_else(reply::unexpected)
    }

    /// Redis' clock, in microseconds since 1970.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn now_us(&self) -> Result<i64> {
        let time = self.client.run(|request, _, _| request.command(&[b"TIME"]));
        let now_us = time.and_then(|time| reply::time_us(&time).ok_or_else(reply::unexpected));
        now_us.map(|now_us| now_us.saturating_add(clock::offset_us())).map_err(self.looking())
    }

    /// Jobs in one state, or in all.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn count(&self, state: Option<State>) -> Result<u64> {
        Ok(self.stats()?.count(state))
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

/// A score that is earlier.
fn before(until_us: i64) -> String {
    format!("({until_us}")
}
