//! What a queue does, in a hundred lines: one flat list of jobs, no indexes, no laziness but the documented one.

use delayqueue::core::backoff::Backoff;
use delayqueue::core::job::{Due, OnDuplicate, State};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Waiting,
    Held { token: u64, deadline: i64 },
    Buried { since: i64 },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: String,
    pub payload: Vec<u8>,
    pub priority: u32,
    pub ttr: i64,
    pub max_attempts: u32,
    pub due: i64,
    pub pushed: u64,
    pub place: Place,
    pub attempts: u32,
    pub timeouts: u32,
    pub releases: u32,
    pub buries: u32,
    pub kicks: u32,
    pub error: Option<String>,
}

#[derive(Debug, Default)]
pub struct Reference {
    pub jobs: Vec<Job>,
    pub now: i64,
    pub pushes: u64,
    pub tokens: u64,
    pub paused_until: Option<i64>,
    pub counters: Counters,
    /// Jobs handed out so late: `ms + 1` in `2^(bucket/2) .. 2^((bucket+1)/2)`.
    pub lateness: BTreeMap<u32, u64>,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Counters {
    pub pushed: u64,
    pub acked: u64,
    pub failed: u64,
    pub timed_out: u64,
    pub cancelled: u64,
}

pub struct Push {
    pub id: String,
    pub payload: Vec<u8>,
    pub priority: u32,
    pub ttr: i64,
    pub max_attempts: u32,
    pub due: Due,
    pub on_duplicate: OnDuplicate,
}

impl Reference {
    pub fn due(&self, due: Due) -> i64 {
        match due {
            Due::InMs(0) => self.now,
            Due::InMs(ms) => self.now + 1 + i64::try_from(ms).unwrap(), // the clock is never at a whole millisecond
            Due::AtMs(at) => at,
        }
    }

    pub fn find(&mut self, id: &str) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.id == id)
    }

    fn by_token(&mut self, token: u64) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| matches!(job.place, Place::Held { token: held, .. } if held == token))
    }

    pub fn state(&self, job: &Job) -> State {
        match job.place {
            Place::Waiting if job.due <= self.now => State::Ready,
            Place::Waiting => State::Delayed,
            Place::Held { .. } => State::Reserved,
            Place::Buried { .. } => State::Buried,
        }
    }

    /// All or none; true when all were accepted.
    pub fn push(&mut self, batch: Vec<Push>) -> bool {
        let before = (self.jobs.clone(), self.pushes, self.counters.clone());
        for push in batch {
            self.pushes += 1;
            let due = self.due(push.due);
            let index = self.jobs.iter().position(|job| job.id == push.id);
            if let Some(index) = index {
                match push.on_duplicate {
                    OnDuplicate::Keep => continue,
                    OnDuplicate::Replace if !matches!(self.jobs[index].place, Place::Held { .. }) => {
                        self.jobs.remove(index);
                    }
                    _ => {
                        (self.jobs, self.pushes, self.counters) = before;
                        return false;
                    }
                }
            }
            self.counters.pushed += 1;
            self.jobs.push(Job {
                id: push.id,
                payload: push.payload,
                priority: push.priority,
                ttr: push.ttr,
                max_attempts: push.max_attempts,
                due,
                pushed: self.pushes,
                place: Place::Waiting,
                attempts: 0,
                timeouts: 0,
                releases: 0,
                buries: 0,
                kicks: 0,
                error: None,
            });
        }
        true
    }

    /// Leases that ran out: back to the old place, or buried.
    pub fn reclaim(&mut self) {
        let now = self.now;
        for job in &mut self.jobs {
            if matches!(job.place, Place::Held { deadline, .. } if deadline <= now) {
                job.timeouts += 1;
                self.counters.timed_out += 1;
                job.error = Some("lease expired".into());
                if job.max_attempts > 0 && job.attempts >= job.max_attempts {
                    job.buries += 1;
                    job.place = Place::Buried { since: now };
                } else {
                    job.place = Place::Waiting;
                }
            }
        }
    }

    pub fn in_order(&self, state: State) -> Vec<&Job> {
        let mut jobs: Vec<&Job> = self.jobs.iter().filter(|job| self.state(job) == state).collect();
        match state {
            State::Ready => jobs.sort_by_key(|job| (job.priority, job.due, job.pushed)),
            State::Delayed => jobs.sort_by_key(|job| (job.due, job.pushed)),
            State::Reserved => jobs.sort_by_key(|job| job.id.clone()),
            State::Buried => jobs.sort_by_key(|job| match job.place {
                Place::Buried { since } => (since, job.id.clone()),
                _ => unreachable!(),
            }),
        }
        jobs
    }

    pub fn is_paused(&self) -> bool {
        self.paused_until.is_some_and(|until| until > self.now)
    }

    pub fn reserve(&mut self, max: usize) -> Vec<Job> {
        self.reclaim();
        if self.is_paused() {
            return Vec::new();
        }
        let ids: Vec<String> = self.in_order(State::Ready).into_iter().take(max).map(|job| job.id.clone()).collect();
        let leased: Vec<Job> = ids.iter().map(|id| self.lease(id)).collect();
        for job in &leased {
            let late = (self.now - job.due + 1) as f64;
            *self.lateness.entry((2.0 * late.log2()).floor() as u32).or_default() += 1;
        }
        leased
    }

    pub fn reserve_job(&mut self, id: &str) -> Option<Job> {
        self.reclaim();
        let job = self.find(id)?;
        (!matches!(job.place, Place::Held { .. })).then_some(())?;
        Some(self.lease(id))
    }

    fn lease(&mut self, id: &str) -> Job {
        self.tokens += 1;
        let (token, now) = (self.tokens, self.now);
        let job = self.find(id).unwrap();
        job.attempts += 1;
        job.place = Place::Held { token, deadline: now + job.ttr };
        job.clone()
    }

    pub fn ack(&mut self, token: u64) -> bool {
        let Some(index) =
            self.jobs.iter().position(|job| matches!(job.place, Place::Held { token: held, .. } if held == token))
        else {
            return false;
        };
        self.jobs.remove(index);
        self.counters.acked += 1;
        true
    }

    pub fn release(&mut self, token: u64, due: Due, priority: Option<u32>) -> bool {
        let due = self.due(due);
        let Some(job) = self.by_token(token) else { return false };
        job.releases += 1;
        (job.due, job.place, job.priority) = (due, Place::Waiting, priority.unwrap_or(job.priority));
        true
    }

    /// `None`: not ours; else whether it was buried.
    pub fn fail(&mut self, token: u64, delay: u64, reason: &str) -> Option<bool> {
        let (now, due) = (self.now, self.due(Due::InMs(delay)));
        let job = self.by_token(token)?;
        job.error = (!reason.is_empty()).then(|| reason.to_owned());
        let spent = job.max_attempts > 0 && job.attempts >= job.max_attempts;
        if spent {
            job.buries += 1;
            job.place = Place::Buried { since: now };
        } else {
            (job.due, job.place) = (due, Place::Waiting);
        }
        self.counters.failed += 1;
        Some(spent)
    }

    pub fn bury(&mut self, token: u64, reason: &str) -> bool {
        let now = self.now;
        let Some(job) = self.by_token(token) else { return false };
        job.buries += 1;
        job.error = (!reason.is_empty()).then(|| reason.to_owned());
        job.place = Place::Buried { since: now };
        true
    }

    pub fn touch(&mut self, token: u64, ttr: Option<i64>) -> Option<i64> {
        let now = self.now;
        let job = self.by_token(token)?;
        let until = now + ttr.unwrap_or(job.ttr);
        job.place = Place::Held { token, deadline: until };
        Some(until)
    }

    pub fn cancel(&mut self, ids: &[String]) -> u64 {
        let before = self.jobs.len();
        self.jobs.retain(|job| !ids.contains(&job.id));
        let gone = (before - self.jobs.len()) as u64;
        self.counters.cancelled += gone;
        gone
    }

    pub fn reschedule(&mut self, id: &str, due: Due) -> bool {
        self.reclaim();
        let due = self.due(due);
        match self.find(id) {
            Some(job) if !matches!(job.place, Place::Held { .. }) => {
                (job.due, job.place) = (due, Place::Waiting);
                true
            }
            _ => false,
        }
    }

    pub fn update(&mut self, id: &str, payload: &[u8]) -> bool {
        self.reclaim();
        match self.find(id) {
            Some(job) if !matches!(job.place, Place::Held { .. }) => {
                job.payload = payload.to_vec();
                true
            }
            _ => false,
        }
    }

    fn kick_one(&mut self, id: &str, reset: bool) {
        let now = self.now;
        let job = self.find(id).unwrap();
        job.kicks += 1;
        if reset {
            job.attempts = 0;
        }
        (job.due, job.place) = (now, Place::Waiting);
    }

    pub fn kick(&mut self, max: usize, reset: bool) -> u64 {
        let ids: Vec<String> = self.in_order(State::Buried).into_iter().take(max).map(|job| job.id.clone()).collect();
        ids.iter().for_each(|id| self.kick_one(id, reset));
        ids.len() as u64
    }

    pub fn kick_job(&mut self, id: &str, reset: bool) -> bool {
        let now = self.now;
        match self.find(id) {
            Some(job)
                if matches!(job.place, Place::Buried { .. }) || (job.place == Place::Waiting && job.due > now) =>
            {
                self.kick_one(id, reset);
                true
            }
            _ => false,
        }
    }

    pub fn take(&mut self, latest: i64, limit: usize) -> Vec<Vec<u8>> {
        self.reclaim();
        if self.is_paused() {
            return Vec::new();
        }
        let mut jobs: Vec<&Job> =
            self.jobs.iter().filter(|job| job.place == Place::Waiting && job.due <= latest).collect();
        jobs.sort_by_key(|job| (job.due, job.pushed));
        let taken: Vec<(String, Vec<u8>)> =
            jobs.into_iter().take(limit).map(|job| (job.id.clone(), job.payload.clone())).collect();
        self.jobs.retain(|job| !taken.iter().any(|(id, _)| *id == job.id));
        self.counters.acked += taken.len() as u64;
        taken.into_iter().map(|(_, payload)| payload).collect()
    }

    pub fn purge(&mut self, state: State) -> u64 {
        self.reclaim();
        let ids: Vec<String> = self.in_order(state).into_iter().map(|job| job.id.clone()).collect();
        self.cancel(&ids)
    }
}

/// The walk's backoffs have no jitter, so that the model knows the delay.
pub fn backoff() -> Backoff {
    Backoff::Linear { step_ms: 7, base_ms: 3 }
}
