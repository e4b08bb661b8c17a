//! The comparisons of the walk: each reservation, the keys in Redis after each step, and now and then all that the API tells.

use super::job::{Job, Place};
use super::times::run_of;
use super::walk::Walk;
use crate::audit::{self, Lease, Snapshot, says_history};
use delayqueue::core::clock::Moment;
use delayqueue::core::job::{JobInfo, Place as JobPlace, Reserved, State};
use delayqueue::core::queue::{Held, Histogram, RunOutcome};
use delayqueue::core::record::{History, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

impl Walk {
    pub(super) fn compare_reserved(&mut self, got: Vec<Reserved>, expected: &[Job]) {
        let ids: Vec<String> = got.iter().map(|job| job.id.to_string()).collect();
        let of_model: Vec<String> = expected.iter().map(|job| job.id.clone()).collect();
        assert_eq!(ids, of_model, "which jobs, and their order: {expected:?} {:?}", self.model.in_order(State::Ready));
        for (job, model) in got.iter().zip(expected) {
            let Place::Held { token, .. } = model.place else { panic!("{model:?}") };
            assert_eq!((&job.payload, &job.options), (&model.payload, &model.options));
            let error = job.last_error.clone().map(|text| String::from_utf8(text).unwrap()).unwrap_or_default();
            assert_eq!(
                (job.attempts, job.due_at_us, job.reserved_at_us, job.receipt.token(), error),
                (model.attempts + 1, model.due, self.model.now, token, model.error.clone())
            );
            self.held.push(held_for_long(job));
        }
        if self.held.len() > 300 {
            self.held.drain(..100);
        }
    }

    /// Every key: each job with all that is known of it is in its one place, and nothing else is there.
    pub(super) fn compare_keys(&mut self) {
        self.model.note_who_waits();
        let found = Snapshot::of(&mut self.raw, &self.queue);
        let (places, faults) = found.examine(self.model.latest);
        assert!(faults.is_empty(), "{faults:#?}");
        assert_eq!(found.jobs.len(), self.model.jobs.len(), "jobs: {places:?}");
        for (key, model) in [(&found.recent, &self.model.recent), (&found.receipts, &self.model.receipts)] {
            let found: BTreeMap<String, i64> =
                key.iter().map(|(name, at)| (String::from_utf8(name.clone()).unwrap(), *at)).collect();
            assert_eq!(found, *model, "receipts, or ids that are taken");
        }
        self.compare_limits(&found);
        let firsts: BTreeSet<Vec<u8>> = found.firsts().collect();
        let sets = [&found.waiting, &found.prioritized, &found.grouped, &found.reserved, &found.buried];
        let scores: BTreeMap<&[u8], i64> = sets.into_iter().flatten().map(|(id, at)| (id.as_slice(), *at)).collect();
        for job in &self.model.jobs {
            let id = job.id.as_bytes();
            let record = Record::decode(found.jobs.get(id).expect("a record").clone()).unwrap();
            assert_eq!((&record.payload, &record.options), (&job.payload, &job.options), "{}", job.id);
            let (place, at) = match job.place {
                Place::Waiting if job.group().is_some() => ("grouped", job.due),
                Place::Waiting if job.options.priority == 1024 => ("waiting", job.due),
                Place::Waiting => ("prioritized", job.due),
                Place::Held { deadline, .. } => ("reserved", deadline),
                Place::Buried { since } => ("buried", since),
            };
            assert_eq!((places[&job.id], scores[id]), (place, at), "{}", job.id);
            if let Place::Held { token, .. } = job.place {
                let lease = Lease::parse(&found.leases[id]).unwrap();
                let expected = (token, job.due, job.is_limited, job.is_behind);
                assert_eq!((lease.token, lease.due, lease.has('l'), lease.has('a')), expected, "{}", job.id);
            }
            assert_eq!(firsts.contains(id), job.waits() && job.comes_first, "'{}' is the first of its group", job.id);
            let past = found.history.get(id);
            let is_said = says_history(&found.jobs[id]);
            let came_back = job.first_due.is_some();
            assert_eq!((past.is_some(), is_said), (came_back, came_back), "the history of '{}'", job.id);
            let past = past.map(|bytes| History::decode(bytes)).unwrap_or_default();
            let error = past.last_error.map(|text| String::from_utf8(text).unwrap()).unwrap_or_default();
            assert_eq!(
                (past.attempts, past.timeouts, past.releases, past.buries, past.kicks, past.first_due_us, error),
                (
                    job.attempts,
                    job.timeouts,
                    job.releases,
                    job.buries,
                    job.kicks,
                    job.first_due.unwrap_or(0),
                    job.error.clone()
                ),
                "the history of '{}'",
                job.id
            );
        }
        let (counters, jobs) = (&self.model.counters, self.model.jobs.len() as u64);
        let seen = self.model.times.runs.iter().filter(|((word, _), _)| *word == "timed_out").map(|(_, many)| many);
        let expected = [
            ("token", self.model.tokens),
            ("timed_out", counters.timed_out - u64::try_from(seen.sum::<i64>()).unwrap()), // of jobs that were replaced, or leased behind another one
            ("acked", self.model.taken),
            ("given_up", counters.given_up),
            ("cancelled", counters.cancelled),
            ("expired", counters.expired),
            ("dropped", counters.dropped),
            (
                "replaced",
                counters.pushed - jobs - counters.acked - counters.given_up - counters.cancelled - counters.dropped,
            ),
        ];
        let mut meta: BTreeMap<String, String> = expected
            .into_iter()
            .filter(|(_, many)| *many > 0)
            .map(|(name, many)| (name.into(), many.to_string()))
            .collect();
        meta.extend(self.model.times.lateness.iter().map(|(bucket, many)| (format!("late{bucket}"), many.to_string())));
        meta.extend(self.model.times.wait.iter().map(|(bucket, many)| (format!("wait{bucket}"), many.to_string())));
        meta.extend(
            self.model.times.runs.iter().map(|((word, bucket), many)| (format!("{word}{bucket}"), many.to_string())),
        );
        let until =
            self.model.paused_until.map(|until| if until == i64::MAX { "forever".into() } else { until.to_string() });
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(found.limits.get(b"\n\n".as_slice()).map(text), until, "the pause of the queue");
        let found: BTreeMap<String, String> =
            found.meta.iter().map(|(name, value)| (text(name), text(value))).collect();
        let found: BTreeMap<String, String> =
            found.into_iter().filter(|(name, _)| !name.starts_with("snapshot")).collect();
        assert_eq!(found, meta, "meta");
    }

    /// The answers of all operations that only look.
    pub(super) fn compare_answers(&mut self) {
        self.model.reclaim();
        for state in State::ALL {
            let found = self.queue.list(state, 0, 1_000).unwrap();
            let model = self.model.in_order(state);
            assert_eq!(found.len(), model.len(), "{state:?}: {found:?}");
            for (info, job) in found.iter().zip(&model) {
                compare_info(info, job, state);
            }
            let (offset, limit) = (model.len() / 3, model.len() / 2);
            let page = self.queue.list(state, offset as u64, limit as u64).unwrap();
            assert_eq!(page, found[offset..offset + limit], "a page of {state:?}");
            // Behind jobs that are there, and behind those of an earlier look, which have moved or gone since then.
            let looked: Vec<JobInfo> = self.looked.iter().filter(|info| info.state == state).cloned().collect();
            // A job that fell due at the same moment before, with another priority, is taken for the one that is there now.
            let is_other = |info: &JobInfo, job: &Job| {
                job.id == info.id.to_string()
                    && job.due == info.due_at_us
                    && job.options.priority != info.options.priority
            };
            let looked: Vec<JobInfo> =
                looked.into_iter().filter(|info| !self.model.jobs.iter().any(|job| is_other(info, job))).collect();
            for after in looked.iter().chain(found.get(offset)).chain(found.last()).map(JobInfo::place) {
                let behind: Vec<&JobInfo> = found.iter().filter(|info| is_behind(&info.place(), &after)).collect();
                let page = self.queue.list_from(state, Some(&after), 1, 5).unwrap();
                assert_eq!(
                    page.iter().collect::<Vec<_>>(),
                    behind.into_iter().skip(1).take(5).collect::<Vec<_>>(),
                    "{after:?}"
                );
            }
            self.looked.retain(|info| info.state != state);
            self.looked.extend(found.iter().step_by(7).take(4).cloned());
        }
        for job in self.model.jobs.iter().take(10) {
            let info = self.queue.peek(&crate::support::id(&job.id)).unwrap().expect("the job is there");
            compare_info(&info, job, self.model.state(job));
        }
        assert_eq!(self.queue.peek(&crate::support::id("nobody")).unwrap(), None);
        let moments: Vec<i64> = self.model.jobs.iter().flat_map(|job| [job.due, job.due + 1]).take(12).collect();
        let waiting = |job: &&Job| job.place == Place::Waiting;
        let before = |until: &i64| self.model.jobs.iter().filter(waiting).filter(|job| job.due < *until).count() as u64;
        assert_eq!(self.queue.count_due(&moments).unwrap(), moments.iter().map(before).collect::<Vec<_>>());
        assert_eq!(self.queue.now_us().unwrap(), self.model.now);
        self.compare_stats();
        self.compare_groups();
        let (_, faults) = audit::examine_at(&mut self.raw, &self.queue, self.model.latest);
        assert!(faults.is_empty(), "{faults:#?}");
    }

    fn compare_stats(&mut self) {
        let stats = self.queue.stats().unwrap();
        let counters = &self.model.counters;
        assert_eq!(
            (stats.pushed, stats.acked, stats.failed, stats.timed_out, stats.cancelled),
            (counters.pushed, counters.acked, counters.failed, counters.timed_out, counters.cancelled)
        );
        assert_eq!(stats.expired, counters.expired + counters.dropped);
        let counts = State::ALL.map(|state| self.model.in_order(state).len() as u64);
        assert_eq!([stats.delayed, stats.ready, stats.reserved, stats.buried], counts);
        let first = |state| self.model.in_order(state).into_iter().map(|job| job.due).min();
        assert_eq!(stats.next_due_at_us, first(State::Delayed));
        let blocked: Vec<&str> = self.model.blocked().iter().map(|job| job.id.as_str()).collect();
        let mut servable = self.model.in_order(State::Ready);
        servable.retain(|job| !blocked.contains(&job.id.as_str()));
        let oldest = servable.iter().map(|job| u64::try_from(self.model.now - job.due).unwrap()).max();
        // When the clock was set back, groups may stand in line later: they seem to be blocked.
        let is_exact = self.model.now == self.model.latest;
        let found = (stats.blocked, stats.oldest_ready_age_us);
        assert!(
            found == (blocked.len() as u64, oldest) || !is_exact && found.0 > blocked.len() as u64,
            "{found:?}, {blocked:?}"
        );
        let of = |numbers: &BTreeMap<u32, i64>| numbers.clone().into_iter().collect::<Vec<_>>();
        let lateness = of(&self.model.times.lateness);
        let wait = [lateness.clone(), of(&self.model.times.wait)].concat();
        assert_eq!(stats.ever.lateness(), Histogram::from_iter(lateness));
        assert_eq!(stats.ever.wait(), Histogram::from_iter(wait));
        for outcome in RunOutcome::ALL {
            let runs = self.model.times.runs.iter().filter(|((word, _), _)| *word == outcome.word());
            let runs = Histogram::from_iter(runs.map(|((_, bucket), many)| (*bucket, *many)));
            assert_eq!(stats.ever.run(outcome), runs, "{outcome:?}");
        }
        assert_eq!(stats.hour, stats.ever, "a walk takes less than an hour");
        assert_eq!((stats.paused, stats.unplaced), (self.model.is_paused(), 0));
    }
}

/// As if its run had begun so long ago that a slow machine makes no difference.
pub fn held_for_long(job: &Reserved) -> Held {
    let middle_ms = (f64::from(run_of(job.receipt.token())) / 2.0 + 0.25).exp2() - 1.0;
    Held { since: Moment::now().before(Duration::from_secs_f64(middle_ms / 1000.0)), ..job.held() }
}

/// By the order of the state, in which only ready jobs have priorities.
fn is_behind(place: &JobPlace, other: &JobPlace) -> bool {
    let order = |place: &JobPlace| {
        let priority = if place.state == State::Ready { place.priority } else { 0 };
        (priority, place.at_us, place.id.clone())
    };
    order(place) > order(other)
}

fn compare_info(info: &JobInfo, job: &Job, state: State) {
    let error = info.last_error.clone().map(|text| String::from_utf8(text).unwrap()).unwrap_or_default();
    let deadline = if let Place::Held { deadline, .. } = job.place { Some(deadline) } else { None };
    assert_eq!(
        (info.id.to_string(), info.state, info.due_at_us, info.lease_until_us),
        (job.id.clone(), state, job.due, deadline)
    );
    assert_eq!((&info.payload, &info.options), (&job.payload, &job.options));
    let attempts = job.attempts + u32::from(state == State::Reserved);
    assert_eq!(
        (info.attempts, info.timeouts, info.releases, info.buries, info.kicks, error),
        (attempts, job.timeouts, job.releases, job.buries, job.kicks, job.error.clone())
    );
}
