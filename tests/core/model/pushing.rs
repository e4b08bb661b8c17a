//! How jobs come into the model.

use super::job::{Job, Place};
use super::reference::{Push, Reference};
use delayqueue::core::job::{Due, OnDuplicate};
use delayqueue::core::record::History;

/// A job that is to arrive once.
pub struct Once {
    pub receipt: String,
    pub push: Push,
    /// There is no job.
    pub is_receipt_only: bool,
    pub past: Option<History>,
    pub is_buried: bool,
}

/// Why a push was refused.
#[derive(Debug, PartialEq)]
pub enum Refused {
    Duplicate(String),
    Full,
}

impl Reference {
    /// All or none. `is_lost`: the answer was lost, and the call comes again.
    pub fn push(&mut self, batch: &[Push], capacity: Option<usize>, is_lost: bool) -> Result<(), Refused> {
        let mut result = self.try_push(batch, capacity, false);
        if is_lost {
            match &result {
                // Its jobs are placed again where one of them replaces.
                Ok(stored) if batch.iter().any(|push| push.on_duplicate == OnDuplicate::Replace) => {
                    stored.clone().iter().for_each(|(id, unique_ms)| self.take_id(id, *unique_ms));
                }
                Ok(_) => {}
                Err(_) => result = self.try_push(batch, capacity, true),
            }
        }
        result.map(drop)
    }

    /// Returns the ids that are taken by it, and for how long.
    fn try_push(
        &mut self,
        batch: &[Push],
        capacity: Option<usize>,
        is_again: bool,
    ) -> Result<Vec<(String, u64)>, Refused> {
        let before = (self.jobs.clone(), self.counters.clone());
        let mut stored: Vec<(&Push, i64)> = Vec::new();
        for (push, after) in batch.iter().zip(0..) {
            let index = self.jobs.iter().position(|job| job.id == push.id);
            let is_taken = push.unique_ms.is_some() && self.is_recent(&push.id);
            let replaces = push.on_duplicate == OnDuplicate::Replace;
            let may_replace = index
                .filter(|at| replaces && (!is_taken || self.jobs[*at].place == Place::Waiting))
                .filter(|at| !self.jobs[*at].is_held_at(self.now));
            match (index, may_replace) {
                (_, Some(at)) => {
                    let latest = self.limit_of(at);
                    self.counters.timed_out += u64::from(self.jobs[at].is_held());
                    self.jobs.remove(at);
                    stored.retain(|(other, _)| other.id != push.id);
                    self.add(push, after, latest);
                }
                (None, None) if !is_taken => self.add(push, after, None),
                _ if is_taken && is_again => continue,
                _ if push.on_duplicate == OnDuplicate::Keep || replaces && is_taken => continue,
                _ => {
                    (self.jobs, self.counters) = before;
                    return Err(Refused::Duplicate(push.id.clone()));
                }
            }
            stored.push((push, after));
        }
        if self.jobs.len() > before.0.len() && capacity.is_some_and(|most| self.jobs.len() > most) {
            (self.jobs, self.counters) = before;
            return Err(Refused::Full);
        }
        let taken = stored.iter().filter_map(|(push, _)| Some((push.id.clone(), push.unique_ms?)));
        let taken: Vec<(String, u64)> = taken.collect();
        taken.iter().for_each(|(id, unique_ms)| self.take_id(id, *unique_ms));
        Ok(taken)
    }

    /// By when a job that replaces this one falls due, if that one waits and was never served.
    fn limit_of(&self, at: usize) -> Option<i64> {
        let job = &self.jobs[at];
        job.latest().filter(|_| job.place == Place::Waiting && !job.has_come_back())
    }

    fn is_recent(&self, id: &str) -> bool {
        self.recent.get(id).is_some_and(|until| *until > self.now)
    }

    fn take_id(&mut self, id: &str, unique_ms: u64) {
        self.recent.insert(id.to_owned(), self.now + i64::try_from(unique_ms).unwrap() * 1000);
        let mut past: Vec<_> = self.recent.iter().filter(|(_, until)| **until <= self.now).collect();
        past.sort_by_key(|(id, until)| (**until, (*id).clone()));
        let past: Vec<String> = past.into_iter().take(10).map(|(id, _)| id.clone()).collect();
        self.recent.retain(|id, _| !past.contains(id));
    }

    /// `old_latest`: of the job that it replaces.
    fn add(&mut self, push: &Push, after: i64, old_latest: Option<i64>) {
        self.counters.pushed += 1;
        let is_moment = matches!(push.due, Due::AtUs(_));
        let due = self.due(push.due) + if is_moment { 0 } else { after };
        let mut options = push.options.clone();
        let latest = push.max_wait_ms.map(|ms| old_latest.unwrap_or(self.now + i64::try_from(ms).unwrap() * 1000));
        if let Some(at) = latest {
            options.extras.traits = Job::traits_by(at, &options.extras.traits);
        }
        self.jobs.push(Job {
            id: push.id.clone(),
            payload: push.payload.clone(),
            options,
            due: latest.map_or(due, |latest| due.min(latest)),
            place: Place::Waiting,
            attempts: 0,
            timeouts: 0,
            releases: 0,
            buries: 0,
            kicks: 0,
            error: String::new(),
            first_due: (due < self.now).then_some(self.now),
            comes_first: false,
            is_limited: false,
            is_behind: false,
            asked: None,
        });
    }

    /// How many were added, kept, known.
    pub fn push_once(&mut self, batch: &[Once]) -> [u64; 3] {
        if batch.iter().any(|once| once.push.on_duplicate == OnDuplicate::Replace) {
            self.reclaim();
        }
        let mut counts = [0; 3];
        for (once, after) in batch.iter().zip(0..) {
            let push = &once.push;
            if self.receipts.contains_key(&once.receipt) {
                counts[2] += 1;
                continue;
            }
            let index = self.jobs.iter().position(|job| job.id == push.id);
            let is_taken = push.unique_ms.is_some() && self.is_recent(&push.id);
            let may_replace = index.filter(|at| {
                let place = &self.jobs[*at].place;
                let is_free = *place == Place::Waiting || !is_taken && matches!(place, Place::Buried { .. });
                push.on_duplicate == OnDuplicate::Replace && is_free
            });
            if once.is_receipt_only || may_replace.is_some() || index.is_none() && !is_taken {
                if !once.is_receipt_only {
                    let latest = may_replace.and_then(|at| self.limit_of(at));
                    may_replace.iter().for_each(|at| drop(self.jobs.remove(*at)));
                    self.add(push, after, latest);
                    self.give_past(once, after);
                }
                push.unique_ms.iter().for_each(|unique_ms| self.take_id(&push.id, *unique_ms));
                counts[0] += 1;
            } else {
                counts[1] += 1;
            }
            self.receipts.insert(once.receipt.clone(), self.now);
        }
        counts
    }

    /// To the job that was added last.
    fn give_past(&mut self, once: &Once, after: i64) {
        let is_moment = matches!(once.push.due, Due::AtUs(_));
        let (now, due) = (self.now, self.due(once.push.due) + if is_moment { 0 } else { after });
        let job = self.jobs.last_mut().unwrap();
        if let Some(past) = &once.past {
            (job.attempts, job.timeouts, job.releases) = (past.attempts, past.timeouts, past.releases);
            (job.buries, job.kicks) = (past.buries, past.kicks);
            job.error = past.last_error.clone().map(|text| String::from_utf8(text).unwrap()).unwrap_or_default();
            job.first_due = Some(if past.first_due_us > 0 { past.first_due_us } else { due.max(now) });
        }
        if once.is_buried {
            (job.due, job.place) = (due, Place::Buried { since: due });
        }
    }

    pub fn forget_receipts(&mut self, names: &[String]) -> u64 {
        let gone = |name: &String| {
            u64::from(self.receipts.remove(name).is_some()) + u64::from(self.recent.remove(name).is_some())
        };
        names.iter().map(gone).sum()
    }
}
