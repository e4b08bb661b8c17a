//! Pushes at random: one job, a few, or so many that housekeeping takes more than one call.

use super::super::pushing::Refused;
use super::super::reference::{Push, backoff};
use super::Walk;
use crate::audit::Snapshot;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::groups::Group;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate};
use delayqueue::core::queue::Queue;
use delayqueue::core::traits::{Limit, OnExpiry, Traits};

impl Walk {
    pub(super) fn new_push(&mut self) -> Push {
        let number = self.below(1_000_000);
        let on_duplicate = match self.below(4) {
            0 => OnDuplicate::Keep,
            1 => OnDuplicate::Replace,
            _ => OnDuplicate::Fail,
        };
        let id = self.id();
        let unique_ms = self.pick(&[None, None, None, None, Some(20), Some(2_000)]);
        let max_wait_ms =
            if on_duplicate == OnDuplicate::Replace { self.pick(&[None, Some(15), Some(900)]) } else { None };
        let (options, due) = (self.options(), self.due());
        Push { id, payload: format!("p{number}").into_bytes(), options, due, on_duplicate, unique_ms, max_wait_ms }
    }

    pub(super) fn new_job(push: &Push) -> NewJob {
        let mut options = push.options.clone();
        if let Some(ms) = push.max_wait_ms {
            let traits = Traits::default().longest_wait(ms);
            let group = options.group().map(Group::from_redis);
            options.extras.traits = group.iter().fold(traits, Traits::group).before(&[]);
        }
        NewJob {
            id: Some(id(&push.id)),
            payload: push.payload.clone(),
            due: push.due,
            options,
            on_duplicate: push.on_duplicate,
            unique_ms: push.unique_ms,
        }
    }

    fn options(&mut self) -> JobOptions {
        let mut options = self.options_without_traits();
        options.extras.traits = self.traits().before(&[]);
        options
    }

    /// Most jobs have none.
    fn traits(&mut self) -> Traits {
        let mut traits = Traits::default();
        if self.below(8) == 0 {
            let (by, then) = (self.limit(), self.pick(&[OnExpiry::Bury, OnExpiry::Drop]));
            traits = traits.expires(by, then);
        }
        if self.below(8) == 0 {
            traits = traits.retry_until(self.limit());
        }
        match self.some_group() {
            Some(group) => traits.group(&group),
            None => traits,
        }
    }

    fn limit(&mut self) -> Limit {
        match self.below(2) {
            0 => Limit::AtUs(self.model.now + self.pick(&[-10, 0, 5, 100, 4_000, 20_000]) * 1000),
            _ => Limit::AfterDueMs(self.pick(&[1, 20, 200, 2_000, 20_000])),
        }
    }

    /// The default ones are stored as nothing at all.
    fn options_without_traits(&mut self) -> JobOptions {
        if self.below(2) == 0 {
            return JobOptions::default();
        }
        let priority = if self.has_priorities() { self.pick(&[0, 5, 1023, 1024, 1025, u32::MAX]) } else { 1024 };
        let headers = self.headers().unwrap_or_default();
        JobOptions {
            priority,
            ttr_ms: self.pick(&[100, 500, 3_000, 60_000]),
            max_attempts: self.pick(&[0, 1, 2, 3]),
            backoff: self.pick(&[Some(backoff()), None]),
            timeout_ms: self.pick(&[0, 0, 1_500]),
            headers,
            ..JobOptions::default()
        }
    }

    pub(super) fn headers(&mut self) -> Option<Vec<(String, String)>> {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        self.pick(&[
            None,
            None,
            Some(Vec::new()),
            Some(vec![header("trace", "a\"b")]),
            Some(vec![header("tenant", "7"), header("a.b", "")]),
        ])
    }

    /// Changes of headers.
    pub(super) fn changes(&mut self) -> Vec<(String, Option<String>)> {
        let change = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        self.pick(&[
            Vec::new(),
            vec![change("trace", Some("b\"a"))],
            vec![change("tenant", None)],
            vec![change("a.b", Some("")), change("trace", None), change("new", Some("1"))],
        ])
    }

    pub(super) fn push(&mut self, batch: &[Push], is_lost: bool) {
        let jobs: Vec<NewJob> = batch.iter().map(Self::new_job).collect();
        let capacity = if self.below(5) == 0 { Some(self.below(40) as usize + 1) } else { None };
        let said = |push: &Push| {
            let Push { id, due, options, on_duplicate, unique_ms, max_wait_ms, .. } = push;
            let group = options.group().map(Group::from_redis);
            format!("{id} {due:?} {} {group:?} {on_duplicate:?} {unique_ms:?} {max_wait_ms:?}", options.priority)
        };
        self.note(format!("push, at most {capacity:?}: {:?}", batch.iter().map(said).collect::<Vec<_>>()));
        let queue = self.queue(is_lost).with_capacity(capacity.map(|most| most as u64));
        if let ([push], [job], 0) = (batch, jobs.as_slice(), self.below(3)) {
            return self.try_push(&queue, push, job, capacity, is_lost);
        }
        let mut stored = Vec::new();
        let got = if let [one] = jobs.as_slice() {
            queue.push(one).map(|one| stored.push(one))
        } else {
            queue.push_many(&jobs, &mut stored)
        };
        match (got, self.model.push(batch, capacity, is_lost)) {
            (Ok(()), Ok(())) => assert_eq!(stored.len(), batch.len()),
            (Err(Error::Duplicate { id, .. }), Err(Refused::Duplicate(expected))) => {
                assert_eq!((id, stored), (expected, Vec::new()));
            }
            (Err(Error::QueueFull { .. }), Err(Refused::Full)) => assert_eq!(stored, Vec::new()),
            (Err(Error::Connection { ambiguous: true, .. }), Err(Refused::Full)) if is_lost => {}
            (got, expected) => panic!("push gave {got:?}, expected {expected:?}"),
        }
    }

    /// Where it keeps what is there, it tells that it has stored nothing.
    fn try_push(&mut self, queue: &Queue, push: &Push, job: &NewJob, capacity: Option<usize>, is_lost: bool) {
        self.note("  (as a try)".into());
        let got = queue.try_push(job.clone());
        let fails = push.on_duplicate == OnDuplicate::Keep;
        let on_duplicate = if fails { OnDuplicate::Fail } else { push.on_duplicate };
        let expected = self.model.push(&[Push { on_duplicate, ..push.clone() }], capacity, is_lost);
        let is_there = self.model.find(&push.id).is_some_and(|job| job.payload == push.payload);
        match (&got, &expected) {
            (Ok(Some(_)), Ok(())) => assert!(is_there || is_lost && push.unique_ms.is_some()),
            (Ok(None), Ok(())) => assert!(!is_there && on_duplicate == OnDuplicate::Replace),
            (Ok(None), Err(Refused::Duplicate(_))) | (Err(Error::QueueFull { .. }), Err(Refused::Full)) => {}
            (Err(Error::Connection { ambiguous: true, .. }), Err(Refused::Full)) if is_lost => {}
            (got, expected) => panic!("try_push gave {got:?}, expected {expected:?}"),
        }
    }

    /// So many jobs that one script does not take all their leases back. The walk acknowledges none of them; most are removed, or there would be
    /// too many soon.
    pub(super) fn push_bulk(&mut self) {
        let ids: Vec<String> = (0..130).map(|n| format!("bulk{n}")).collect();
        let mut batch = Vec::new();
        for id in &ids {
            let mut options = JobOptions { ttr_ms: 100, ..JobOptions::default() };
            options.priority = if self.has_priorities() { self.pick(&[5, 1024, 1024]) } else { 1024 };
            if let Some(group) = self.some_group() {
                options.extras.traits = Traits::default().group(&group).before(&[]);
            }
            let due = Due::AtUs(self.model.now - 60_000_000);
            batch.push(Push { id: id.clone(), options, due, on_duplicate: OnDuplicate::Keep, ..self.new_push() });
        }
        self.push(&batch, false);
        self.reserve(125, false);
        let found = Snapshot::of(&mut self.raw, &self.queue);
        self.compare_limits(&found); // tokens may have been written off
        self.set_clock(self.model.now + 100_000);
        let max = self.pick(&[1, 30]);
        self.reserve(max, false);
        for some in ids.chunks(43) {
            self.cancel(some.to_vec(), false);
        }
    }
}
