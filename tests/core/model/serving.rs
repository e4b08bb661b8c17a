//! Reserves of queues with groups: each job that Redis has picked is checked by the states of jobs and by the limits alone. Only the order
//! between groups is taken from the line, and within bounds from nothing.

use super::groups::QUEUE;
use super::job::Job;
use super::reference::Reference;
use delayqueue::core::job::State;
use std::collections::{BTreeMap, BTreeSet};

const DEFAULT_PRIORITY: u32 = 1024;

/// Waits of tenants, and for whom they waited.
#[derive(Debug, Default)]
pub struct Fairness {
    /// One group and another: how many jobs of the first were served while the second waited all the time.
    served: BTreeMap<(String, String), u32>,
    /// Since when a group could be served, or was served last; not before this.
    since: BTreeMap<String, i64>,
}

/// The line, with the number of jobs that each group has had in its turn.
#[derive(Debug, Default)]
pub struct Line {
    pub groups: Vec<(String, i64)>,
    pub had: BTreeMap<String, u32>,
}

impl Reference {
    /// After each step: who waits now. When the clock was set back, groups may stand in line later.
    pub fn note_who_waits(&mut self) {
        if self.now < self.latest {
            return self.forget_who_waits();
        }
        let servable: Vec<String> = self.names().into_iter().filter(|group| self.is_servable(group)).collect();
        self.fairness.since.retain(|group, _| servable.contains(group));
        self.fairness.served.retain(|(_, other), _| servable.contains(other));
        for group in servable {
            self.fairness.since.entry(group).or_insert(self.latest);
        }
    }

    pub fn forget_who_waits(&mut self) {
        self.fairness = Fairness::default();
    }

    /// The next jobs of the queue and of the groups that may be served, when these are chosen already.
    fn candidates(&self, chosen: &[String]) -> (Option<&Job>, BTreeMap<String, &Job>) {
        let is_left = |job: &&Job| !chosen.contains(&job.id);
        let plain = self.in_order(State::Ready).into_iter().filter(is_left).find(|job| job.group().is_none());
        let mut groups = BTreeMap::new();
        for name in self.names() {
            let due = self.due_in(&name);
            let used = due.iter().filter(|job| !is_left(job)).count();
            if self.room(&name) > i64::try_from(used).unwrap() {
                groups.extend(due.into_iter().find(is_left).map(|job| (name, job)));
            }
        }
        (plain, groups)
    }

    pub fn someone_is_servable(&mut self) -> bool {
        if self.is_paused() || self.room(QUEUE) == 0 {
            return false;
        }
        let in_time = |job: &Job| job.end_at(self.now).is_none();
        let ready = self.in_order(State::Ready);
        ready.into_iter().any(|job| job.group().is_none() && in_time(job))
            || self.names().iter().any(|name| self.room(name) > 0 && self.due_in(name).into_iter().any(in_time))
    }

    /// Leases what Redis has leased, after a check that it was allowed to; `gone`: no longer waiting jobs there.
    pub fn serve(&mut self, max: usize, got: &[String], gone: &BTreeSet<String>, line: Option<&Line>) -> Vec<Job> {
        let has_ended = self.end_late(gone);
        if has_ended {
            self.forget_who_waits(); // a group may have had its turns with jobs that were too late
        }
        if self.is_paused() {
            assert_eq!(got, [] as [String; 0], "the queue is paused");
            return Vec::new();
        }
        let most = usize::try_from(self.room(QUEUE)).unwrap().min(max);
        assert!(got.len() <= most, "{got:?}: more than {most}");
        let mut chosen: Vec<String> = Vec::new();
        for id in got {
            self.check_choice(id, &chosen, has_ended);
            self.count_turn(id, &chosen);
            chosen.push(id.clone());
        }
        let is_alone = |id: &String| self.jobs.iter().any(|job| job.id == *id && job.goes_alone());
        assert!(got.len() < 2 || !got.iter().any(is_alone), "a job that goes alone is in {got:?}");
        // A reserve takes no others in the places of jobs that are too late, unless it finds nothing.
        if got.len() < most && !got.iter().any(is_alone) && (got.is_empty() || !has_ended) {
            self.check_end(got);
        }
        if let Some(line) = line {
            assert_eq!(got, self.by_line(most, line), "the order of the line {line:?}");
        }
        let leased = self.lease_together(got);
        self.times.handed_out(self.now, &leased);
        for group in leased.iter().filter_map(Job::group) {
            self.fairness.since.remove(group);
        }
        self.note_who_waits();
        leased
    }

    /// Jobs that are too late, and that Redis has met. Whether there are some.
    pub fn end_late(&mut self, gone: &BTreeSet<String>) -> bool {
        let ready: Vec<String> = self.in_order(State::Ready).iter().map(|job| job.id.clone()).collect();
        let met: Vec<&String> = ready.iter().filter(|id| gone.contains(*id)).collect();
        met.into_iter().filter(|id| self.ends_late(id)).count() > 0
    }

    fn check_choice(&self, id: &str, chosen: &[String], has_ended: bool) {
        let job = self.jobs.iter().find(|job| job.id == id).expect("a job that is there");
        assert!(job.waits() && job.due <= self.now && job.end_at(self.now).is_none(), "{job:?} is not ready");
        let (plain, groups) = self.candidates(chosen);
        let priority = plain.map_or(u32::MAX, |job| job.options.priority);
        let Some(group) = job.group() else {
            assert_eq!(plain.map(|job| &job.id), Some(&job.id), "the order of jobs without groups");
            // A group may have had its turn with a late job; when the clock was set back, it may stand in line later.
            let is_clear = self.now == self.latest && !has_ended;
            let is_last = priority > DEFAULT_PRIORITY && is_clear;
            assert!(!is_last || groups.is_empty(), "'{id}' is less urgent than the jobs of {:?}", groups.keys());
            let waits_longer = |group: &&String| {
                let is_new =
                    !chosen.iter().any(|id| self.jobs.iter().any(|job| job.id == *id && job.group() == Some(group)));
                is_new && self.fairness.since.get(*group).is_some_and(|since| *since < job.due)
            };
            let before: Vec<&String> = groups.keys().filter(waits_longer).collect();
            let is_between = priority == DEFAULT_PRIORITY && is_clear;
            assert!(!is_between || before.is_empty(), "{before:?} wait longer than '{id}'");
            return;
        };
        assert!(plain.is_none() || priority >= DEFAULT_PRIORITY, "{plain:?} is more urgent than '{id}'");
        let next = groups.get(group).map(|job| &job.id);
        assert_eq!(next, Some(&job.id), "of '{group}', which has room for {}", self.room(group));
    }

    /// Nobody is served again and again while another one waits.
    fn count_turn(&mut self, id: &str, chosen: &[String]) {
        let Some(group) = self.find(id).unwrap().group().map(str::to_owned) else { return };
        let waiting: Vec<String> = self.candidates(chosen).1.into_keys().collect();
        let weight = self.groups.limits_of(&group).weight;
        for other in waiting.iter().filter(|other| **other != group) {
            if self.fairness.since.contains_key(other) {
                let served = self.fairness.served.entry((group.clone(), other.clone())).or_default();
                *served += 1;
                assert!(*served <= 2 * weight + 1, "{served} jobs of '{group}' were served while '{other}' waited");
            }
        }
        self.fairness.served.retain(|(_, other), _| *other != group);
    }

    /// Of a batch that is not full: nobody is forgotten, unless the next one goes alone.
    fn check_end(&self, got: &[String]) {
        let (plain, groups) = self.candidates(got);
        let is_alone = |job: &&Job| job.goes_alone() && job.end_at(self.now).is_none();
        if !got.is_empty() && plain.into_iter().chain(groups.values().copied()).any(|job| is_alone(&job)) {
            return;
        }
        assert_eq!(plain.map(|job| &job.id), None, "is forgotten behind {got:?}");
        // When the clock was set back, groups may stand in line later; only a reserve that finds nothing puts them right.
        if self.now == self.latest || got.is_empty() {
            assert!(groups.is_empty(), "{:?} are forgotten behind {got:?}", groups.keys());
        }
    }

    /// The rule of the line: jobs without a group are tenants of their own, and each group gives its weight in each round.
    fn by_line(&self, most: usize, line: &Line) -> Vec<String> {
        let ready = self.in_order(State::Ready);
        let plain: Vec<&Job> = ready.into_iter().filter(|job| job.group().is_none()).collect();
        let ids = |jobs: Vec<&Job>| jobs.into_iter().map(|job| job.id.clone()).collect::<Vec<_>>();
        let some =
            |is_wanted: fn(u32) -> bool| plain.iter().copied().filter(move |job| is_wanted(job.options.priority));
        let mut picked = ids(some(|priority| priority < DEFAULT_PRIORITY).take(most).collect());
        let mut left: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut turns: Vec<&str> = Vec::new();
        let mut entries: Vec<(i64, bool, &str)> =
            some(|priority| priority == DEFAULT_PRIORITY).map(|job| (job.due, false, job.id.as_str())).collect();
        entries.extend(
            line.groups.iter().filter(|(_, at)| *at <= self.now).map(|(group, at)| (*at, true, group.as_str())),
        );
        entries.sort_unstable();
        let weight_of = |group: &str| self.groups.limits_of(group).weight as usize;
        for (_, is_group, name) in entries {
            if picked.len() >= most {
                break;
            }
            if !is_group {
                picked.push(name.to_owned());
                continue;
            }
            let room = usize::try_from(self.room(name)).unwrap();
            let jobs = left.entry(name).or_insert_with(|| ids(self.due_in(name).into_iter().take(room).collect()));
            if jobs.is_empty() {
                continue;
            }
            let had = line.had.get(name).map_or(0, |had| *had as usize).min(weight_of(name) - 1);
            let many = (weight_of(name) - had).min(jobs.len()).min(most - picked.len());
            picked.extend(jobs.drain(..many));
            turns.push(name);
        }
        while picked.len() < most && turns.iter().any(|name| !left[name].is_empty()) {
            for name in &turns {
                let jobs = left.get_mut(name).unwrap();
                let many = weight_of(name).min(jobs.len()).min(most - picked.len());
                picked.extend(jobs.drain(..many));
            }
        }
        let rest = most.saturating_sub(picked.len());
        picked.extend(ids(some(|priority| priority > DEFAULT_PRIORITY).take(rest).collect()));
        let goes_alone = |id: &String| self.jobs.iter().any(|job| job.id == *id && job.goes_alone());
        let end = picked.iter().position(goes_alone).map_or(picked.len(), |at| at.max(1));
        picked.truncate(end);
        picked
    }
}
