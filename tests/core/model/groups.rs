//! Groups in the model: limits and states of jobs alone say who may be served. It knows no book and no line.

use super::job::Job;
use super::reference::Reference;
use delayqueue::core::groups::GroupLimits;
use std::collections::BTreeMap;

/// The name of the queue among the limits, and of all groups without limits of their own.
pub const QUEUE: &str = "\n";
pub const OTHERS: &str = "";
/// More than any batch.
const MANY: i64 = 1_000_000;

#[derive(Debug, Default, Clone)]
pub struct Groups {
    pub limits: BTreeMap<String, GroupLimits>,
    /// Until when the tokens are spent.
    pub spent: BTreeMap<String, i64>,
    pub closed_until: BTreeMap<String, i64>,
}

fn interval_of(limits: &GroupLimits) -> i64 {
    limits.rate.map_or(0, |rate| i64::try_from(rate.per_us.div_ceil(u64::from(rate.starts))).unwrap())
}

fn burst_of(limits: &GroupLimits) -> i64 {
    limits.rate.map_or(1, |rate| i64::from(limits.burst.unwrap_or(rate.starts)))
}

impl Groups {
    pub fn limits_of(&self, name: &str) -> GroupLimits {
        let others = self.limits.get(OTHERS).filter(|_| name != QUEUE);
        self.limits.get(name).or(others).copied().unwrap_or_default()
    }

    /// From when on a group has a token, and is not closed.
    pub fn opens(&self, name: &str, now: i64) -> i64 {
        let (limits, closed) = (self.limits_of(name), self.closed_until.get(name).copied().unwrap_or(0));
        let spent = self.spent_at(name, now);
        match interval_of(&limits) {
            0 => closed,
            interval => closed.max(spent - (burst_of(&limits) - 1) * interval),
        }
    }

    /// Until when its tokens are spent: for no longer than the limits of now allow, which may have been changed, or the clock set back.
    pub fn spent_at(&self, name: &str, now: i64) -> i64 {
        let spent = self.spent.get(name).copied().unwrap_or(0);
        self.written_off(name, spent, now)
    }

    pub fn written_off(&self, name: &str, spent: i64, now: i64) -> i64 {
        match self.limits_of(name) {
            limits if interval_of(&limits) > 0 => spent.min(now + burst_of(&limits) * interval_of(&limits)),
            _ => spent,
        }
    }

    fn tokens(&self, name: &str, now: i64) -> i64 {
        let limits = self.limits_of(name);
        let (interval, spent) = (interval_of(&limits), self.spent_at(name, now));
        match interval {
            _ if self.opens(name, now) > now => 0,
            0 => MANY,
            _ => (now + burst_of(&limits) * interval - spent.max(now)) / interval,
        }
    }

    fn spend(&mut self, name: &str, now: i64) {
        let interval = interval_of(&self.limits_of(name));
        if interval > 0 {
            let spent = now.max(self.spent_at(name, now)) + interval;
            self.spent.insert(name.to_owned(), spent);
        }
    }

    fn refund(&mut self, name: &str) {
        let interval = interval_of(&self.limits_of(name));
        if interval > 0 {
            *self.spent.entry(name.to_owned()).or_default() -= interval;
        }
    }

    /// No limit is set, and nobody is kept out.
    pub fn are_unused_at(&self, now: i64) -> bool {
        self.limits.is_empty() && self.spent.values().chain(self.closed_until.values()).all(|until| *until <= now)
    }

    /// A job that was held waits again: in an ordered group as its first.
    pub fn take_back(&self, job: &mut Job, due: i64) {
        job.wait_from(due);
        job.comes_first = job.group().is_some_and(|group| self.limits_of(group).ordered);
    }
}

impl Reference {
    /// How many more jobs of a group, or of the queue, may be leased.
    pub fn room(&self, name: &str) -> i64 {
        let is_counted = |job: &&Job| job.is_held() && (name == QUEUE || job.group() == Some(name));
        let held = i64::try_from(self.jobs.iter().filter(is_counted).count()).unwrap();
        let places = self.groups.limits_of(name).ordered.then_some(1).or(self.groups.limits_of(name).concurrency);
        let places = places.map_or(MANY, |most| i64::from(most) - held);
        places.min(self.groups.tokens(name, self.now)).max(0)
    }

    /// The names of groups with waiting or held jobs.
    pub fn names(&self) -> Vec<String> {
        let in_book = |job: &&Job| job.waits() || job.is_held();
        let mut names: Vec<String> =
            self.jobs.iter().filter(in_book).filter_map(|job| job.group().map(str::to_owned)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The waiting jobs of a group, in its order.
    pub fn in_group(&self, group: &str) -> Vec<&Job> {
        let mut jobs: Vec<&Job> = self.jobs.iter().filter(|job| job.waits() && job.group() == Some(group)).collect();
        jobs.sort_by_key(|job| {
            let priority = if job.comes_first { 0 } else { job.options.priority };
            (!job.comes_first, priority, job.due, job.id.clone())
        });
        jobs
    }

    /// The due ones; in an ordered group only those before a job that came back and is not due again.
    pub fn due_in(&self, group: &str) -> Vec<&Job> {
        let (is_ordered, mut jobs) = (self.groups.limits_of(group).ordered, self.in_group(group));
        let blocks = |job: &&Job| is_ordered && job.comes_first && job.due > self.now;
        jobs.truncate(jobs.iter().position(blocks).unwrap_or(jobs.len()));
        jobs.retain(|job| job.due <= self.now);
        jobs
    }

    pub fn is_servable(&self, group: &str) -> bool {
        self.room(group) > 0 && !self.due_in(group).is_empty()
    }

    /// Whether who comes next depends on `waiting` and `prioritized` alone.
    pub fn is_plain(&self) -> bool {
        !self.groups.limits.contains_key(QUEUE) && !self.jobs.iter().any(|job| job.waits() && job.group().is_some())
    }

    pub(super) fn spend_for(&mut self, id: &str) {
        let (now, is_limited) = (self.now, self.groups.limits.contains_key(QUEUE));
        let group = self.find(id).unwrap().group().map(str::to_owned);
        for name in group.as_deref().into_iter().chain(is_limited.then_some(QUEUE)) {
            self.groups.spend(name, now);
        }
        let job = self.find(id).unwrap();
        (job.is_limited, job.comes_first) = (is_limited, false);
    }

    /// As if nobody had reserved it.
    pub(super) fn take_back_unseen(&mut self, id: &str) {
        let job = self.jobs.iter_mut().find(|job| job.id == id).unwrap();
        for name in job.group().into_iter().chain(job.is_limited.then_some(QUEUE)) {
            self.groups.refund(name);
        }
        let due = job.asked.take().map_or(job.due, |asked| job.due.min(asked));
        self.groups.take_back(job, due);
    }

    /// The waiting jobs of a group, and with `reserved` its held ones.
    pub fn cancel_group(&mut self, group: &str, reserved: bool) -> u64 {
        self.reclaim();
        let is_meant = |job: &&Job| job.group() == Some(group) && (job.waits() || reserved && job.is_held());
        let ids: Vec<String> = self.jobs.iter().filter(is_meant).map(|job| job.id.clone()).collect();
        self.cancel(&ids)
    }

    /// Ready jobs that may not be served now, because their group may not.
    pub fn blocked(&self) -> Vec<&Job> {
        let groups = self.names().into_iter().filter(|group| self.is_servable(group));
        let servable: Vec<&String> = groups.flat_map(|group| self.due_in(&group)).map(|job| &job.id).collect();
        let is_ready = |job: &&Job| job.waits() && job.due <= self.now && job.group().is_some();
        self.jobs.iter().filter(is_ready).filter(|job| !servable.contains(&&job.id)).collect()
    }
}
