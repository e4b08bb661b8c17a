//! A model of a queue in a few hundred lines: one flat list of jobs, no indexes, no laziness but the documented one.

use super::groups::Groups;
use super::job::{Job, Place, TOO_LATE};
use super::serving::Fairness;
use super::times::Times;
use delayqueue::core::backoff::Backoff;
use delayqueue::core::job::{Due, JobOptions, OnDuplicate, State};
use delayqueue::core::process;
use delayqueue::core::queue::Changes;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Reference {
    pub jobs: Vec<Job>,
    pub now: i64,
    pub tokens: u64,
    pub paused_until: Option<i64>,
    pub counters: Counters,
    pub times: Times,
    /// Acknowledged without a run.
    pub taken: u64,
    /// Until when ids are taken, and when receipts were given.
    pub recent: BTreeMap<String, i64>,
    pub receipts: BTreeMap<String, i64>,
    pub groups: Groups,
    pub fairness: Fairness,
    /// The latest time that any script has seen: the clock may be set back.
    pub latest: i64,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Counters {
    pub pushed: u64,
    pub acked: u64,
    /// Removed after a run that has failed.
    pub given_up: u64,
    pub failed: u64,
    pub timed_out: u64,
    pub cancelled: u64,
    /// Buried or dropped, because they were too late.
    pub expired: u64,
    pub dropped: u64,
}

#[derive(Clone)]
pub struct Push {
    pub id: String,
    pub payload: Vec<u8>,
    pub options: JobOptions,
    pub due: Due,
    pub on_duplicate: OnDuplicate,
    pub unique_ms: Option<u64>,
    pub max_wait_ms: Option<u64>,
}

impl Reference {
    pub fn due(&self, due: Due) -> i64 {
        match due {
            Due::InMs(ms) => self.now + i64::try_from(ms).unwrap() * 1000,
            Due::AtUs(at) => at,
        }
    }

    pub fn find(&mut self, id: &str) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.id == id)
    }

    fn held_by(jobs: &mut [Job], token: u64) -> Option<&mut Job> {
        jobs.iter_mut().find(|job| matches!(job.place, Place::Held { token: held, .. } if held == token))
    }

    /// A job that nobody holds.
    fn free(&mut self, id: &str) -> Option<&mut Job> {
        self.find(id).filter(|job| !job.is_held())
    }

    pub fn state(&self, job: &Job) -> State {
        match job.place {
            Place::Waiting if job.due <= self.now => State::Ready,
            Place::Waiting => State::Delayed,
            Place::Held { .. } => State::Reserved,
            Place::Buried { .. } => State::Buried,
        }
    }

    /// Leases that ran out: back to the old place, or buried.
    pub fn reclaim(&mut self) {
        let now = self.now;
        for job in &mut self.jobs {
            if matches!(job.place, Place::Held { deadline, .. } if deadline <= now) {
                // Its handler may not have begun: no attempt, and no run.
                if !job.is_behind {
                    job.attempts += 1;
                    self.times.timed_out(job.options.ttr_ms);
                }
                job.timeouts += 1;
                job.error = "lease expired".into();
                job.asked = None;
                job.come_back();
                self.counters.timed_out += 1;
                if job.is_spent() || job.is_too_late_at(job.due.max(now)) {
                    job.bury(now, &format!("lease expired, held by {}", process::worker()));
                } else {
                    self.groups.take_back(job, job.due);
                }
            }
        }
    }

    pub fn in_order(&self, state: State) -> Vec<&Job> {
        let mut jobs: Vec<&Job> = self.jobs.iter().filter(|job| self.state(job) == state).collect();
        jobs.sort_by_key(|job| {
            let (priority, at) = match job.place {
                Place::Waiting if state == State::Ready && job.group().is_none() => (job.options.priority, job.due),
                Place::Waiting if state == State::Ready => (1024, job.due),
                Place::Waiting => (0, job.due),
                Place::Held { deadline, .. } => (0, deadline),
                Place::Buried { since } => (0, since),
            };
            (priority, at, job.id.clone())
        });
        jobs
    }

    /// Forgets a pause that is over, as the scripts that ask do: the clock may be set back.
    pub fn is_paused(&mut self) -> bool {
        self.paused_until = self.paused_until.filter(|until| *until > self.now);
        self.paused_until.is_some()
    }

    pub fn reserve(&mut self, max: usize) -> Vec<Job> {
        self.reclaim();
        if self.is_paused() {
            return Vec::new();
        }
        let ready: Vec<String> = self.in_order(State::Ready).iter().map(|job| job.id.clone()).collect();
        let (mut ids, mut is_full) = (Vec::new(), false);
        for id in ready {
            if is_full || self.ends_late(&id) {
                continue;
            }
            let is_alone = self.find(&id).unwrap().goes_alone();
            is_full = is_alone || ids.len() + 1 == max;
            if ids.is_empty() || !is_alone {
                ids.push(id);
            }
        }
        let leased = self.lease_together(&ids);
        self.times.handed_out(self.now, &leased);
        leased
    }

    pub fn reserve_job(&mut self, id: &str) -> Option<Job> {
        self.reclaim();
        let is_waiting = self.free(id)?.place == Place::Waiting;
        if is_waiting && self.ends_late(id) { None } else { Some(self.lease(id)) }
    }

    /// The answer of a reserve was lost: it is as if it had not been, but for the numbers that were used.
    pub fn forget_lease(&mut self, leased: &[Job]) {
        for job in leased {
            self.take_back_unseen(&job.id);
        }
    }

    pub(super) fn lease_together(&mut self, ids: &[String]) -> Vec<Job> {
        for (at, id) in ids.iter().enumerate() {
            self.lease(id);
            self.find(id).unwrap().is_behind = at > 0;
        }
        ids.iter().map(|id| self.find(id).unwrap().clone()).collect()
    }

    fn lease(&mut self, id: &str) -> Job {
        self.tokens += 1;
        let (token, now) = (self.tokens, self.now);
        self.spend_for(id);
        let job = self.find(id).unwrap();
        let deadline = now + i64::try_from(job.options.ttr_ms).unwrap() * 1000;
        (job.place, job.is_behind) = (Place::Held { token, deadline }, false);
        job.clone()
    }

    pub fn ack(&mut self, token: u64) -> bool {
        self.end(token, false)
    }

    /// The job is removed.
    pub fn end(&mut self, token: u64, failed: bool) -> bool {
        let before = self.jobs.len();
        self.jobs.retain(|job| !matches!(job.place, Place::Held { token: held, .. } if held == token));
        let was_ours = self.jobs.len() < before;
        if was_ours && failed {
            self.counters.given_up += 1;
            self.ran_and_failed(token);
        } else if was_ours {
            self.counters.acked += 1;
            self.times.ran("acked", token);
        }
        was_ours
    }

    fn ran_and_failed(&mut self, token: u64) {
        self.counters.failed += 1;
        self.times.ran("failed", token);
    }

    /// `error`: of a run that has failed.
    pub fn release(&mut self, token: u64, due: Due, priority: Option<u32>, counts: bool, error: Option<&str>) -> bool {
        let is_moment = matches!(due, Due::AtUs(_));
        let (due, now) = (self.due(due), self.now);
        let Some(job) = Self::held_by(&mut self.jobs, token) else { return false };
        let asked = job.asked.take().filter(|_| error.is_none());
        let (due, is_moment) = (asked.map_or(due, |asked| due.min(asked)), is_moment || asked.is_some());
        job.options.priority = priority.unwrap_or(job.options.priority);
        let new_error = error.filter(|error| !error.is_empty());
        if counts {
            (job.attempts, job.releases) = (job.attempts + 1, job.releases + 1);
        }
        if let Some(error) = new_error {
            error.clone_into(&mut job.error);
        }
        if counts || new_error.is_some() || !job.options.extras.traits.is_empty() {
            job.come_back();
        }
        if is_moment && due < now {
            job.first_due.get_or_insert(now);
        }
        if !counts {
            job.start();
        }
        if counts && job.is_too_late_at(due.max(now)) {
            let error = if job.error.is_empty() { TOO_LATE.into() } else { job.error.clone() };
            job.bury(now, &error);
        } else {
            self.groups.take_back(job, due);
        }
        if error.is_some() {
            self.ran_and_failed(token);
        } else if counts {
            self.times.ran("released", token);
        }
        true
    }

    pub fn give_back(&mut self, token: u64) -> bool {
        let Some(id) = Self::held_by(&mut self.jobs, token).map(|job| job.id.clone()) else { return false };
        self.take_back_unseen(&id);
        true
    }

    /// `None`: not ours; else whether it was buried. `due`: if it was not.
    pub fn fail(&mut self, token: u64, due: i64, reason: &str) -> Option<bool> {
        let now = self.now;
        let job = Self::held_by(&mut self.jobs, token)?;
        (job.attempts, job.error, job.asked) = (job.attempts + 1, reason.to_owned(), None);
        job.come_back();
        let (is_spent, is_late) = (job.is_spent(), job.is_too_late_at(due));
        if is_spent || is_late {
            job.bury(now, if !is_spent && reason.is_empty() { TOO_LATE } else { reason });
        } else {
            self.groups.take_back(job, due);
        }
        self.ran_and_failed(token);
        Some(is_spent || is_late)
    }

    pub fn bury(&mut self, token: u64, reason: &str, failed: bool) -> bool {
        let now = self.now;
        let Some(job) = Self::held_by(&mut self.jobs, token) else { return false };
        (job.attempts, job.asked) = (job.attempts + 1, None);
        job.come_back();
        job.bury(now, reason);
        if failed {
            self.ran_and_failed(token);
        } else {
            self.times.ran("buried", token);
        }
        true
    }

    /// The new deadline.
    pub fn touch(&mut self, token: u64, ttr_ms: u64, never_shortens: bool) -> Option<i64> {
        let until = self.now + i64::try_from(ttr_ms).unwrap() * 1000;
        let job = Self::held_by(&mut self.jobs, token)?;
        let Place::Held { deadline: old, .. } = job.place else { unreachable!() };
        let deadline = if never_shortens { until.max(old) } else { until };
        job.place = Place::Held { token, deadline };
        Some(deadline)
    }

    pub fn cancel(&mut self, ids: &[String]) -> u64 {
        let before = self.jobs.len();
        self.jobs.retain(|job| !ids.contains(&job.id));
        let gone = (before - self.jobs.len()) as u64;
        self.counters.cancelled += gone;
        gone
    }

    pub fn reschedule(&mut self, id: &str, due: Due, held: bool) -> bool {
        self.reclaim();
        let (due, now) = (self.due(due), self.now);
        if let Some(job) = self.find(id).filter(|job| held && job.is_held()) {
            job.asked = Some(due);
            return true;
        }
        self.free(id).map(|job| job.go_to(due, now)).is_some()
    }

    pub fn update(&mut self, id: &str, changes: &Changes, due: Option<Due>) -> bool {
        if self.find(id).is_none() {
            return false; // the client has looked
        }
        self.reclaim();
        let (due, now) = (due.map(|due| self.due(due)), self.now);
        let Some(job) = self.free(id) else { return false };
        change(job, changes);
        if let Some(due) = due {
            job.go_to(due, now);
        }
        true
    }

    pub fn update_held(&mut self, token: u64, changes: &Changes) -> bool {
        Self::held_by(&mut self.jobs, token).map(|job| change(job, changes)).is_some()
    }

    fn kick_one(&mut self, id: &str, resets: bool) {
        let now = self.now;
        let job = self.find(id).unwrap();
        (job.kicks, job.first_due) = (job.kicks + 1, Some(now));
        if resets {
            (job.attempts, job.timeouts) = (0, 0);
        }
        job.comes_first &= job.waits();
        job.wait_from(now);
    }

    pub fn kick(&mut self, max: usize, resets: bool) -> u64 {
        self.reclaim();
        let ids: Vec<String> = self.in_order(State::Buried).into_iter().take(max).map(|job| job.id.clone()).collect();
        ids.iter().for_each(|id| self.kick_one(id, resets));
        ids.len() as u64
    }

    pub fn kick_job(&mut self, id: &str, resets: bool) -> bool {
        self.reclaim();
        let now = self.now;
        let can_be = self.free(id).is_some_and(|job| job.place != Place::Waiting || job.due > now);
        if can_be {
            self.kick_one(id, resets);
        }
        can_be
    }

    /// A lease that is over counts as held: nothing looks for it here.
    pub fn forget(&mut self) -> bool {
        let is_unused = !self.is_paused() && self.jobs.is_empty() && self.receipts.is_empty();
        let is_unused = is_unused && self.recent.values().all(|until| *until <= self.now);
        let is_unused = is_unused && self.groups.are_unused_at(self.now);
        if is_unused {
            self.recent.clear();
            self.groups = Groups::default();
            (self.tokens, self.counters, self.times, self.taken) = (0, Counters::default(), Times::default(), 0);
        }
        is_unused
    }

    pub fn purge(&mut self, state: State) -> u64 {
        self.reclaim();
        let ids: Vec<String> = self.in_order(state).into_iter().map(|job| job.id.clone()).collect();
        self.cancel(&ids)
    }
}

fn change(job: &mut Job, changes: &Changes) {
    if let Some(payload) = changes.payload {
        job.payload = payload.to_vec();
    }
    let headers = &mut job.options.headers;
    for (name, value) in changes.headers {
        match (value, headers.iter_mut().find(|(known, _)| known == name)) {
            (Some(value), Some(header)) => header.1.clone_from(value),
            (Some(value), None) => headers.push((name.clone(), value.clone())),
            (None, _) => headers.retain(|(known, _)| known != name),
        }
    }
}

/// The walk's backoffs have no jitter, so that the model knows the delay.
pub fn backoff() -> Backoff {
    Backoff::Linear { step_ms: 7, base_ms: 3 }
}
