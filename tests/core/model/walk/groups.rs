//! Steps of queues with groups: limits, closings, and reserves that may serve one of several.

use super::super::groups::{OTHERS, QUEUE};
use super::super::job::Job;
use super::super::reference::Push;
use super::super::serving::Line;
use super::Walk;
use super::others::unless_in_doubt;
use crate::audit::Snapshot;
use crate::support::*;
use delayqueue::core::groups::{Group, GroupLimits, Rate};
use delayqueue::core::job::{Due, OnDuplicate, Reserved};
use std::collections::BTreeSet;

/// One is the beginning of others, one is as an id, one has a space, one is not of ASCII.
pub(super) const GROUPS: [&str; 5] = ["j1", "j1 b", "j", "z-", "\u{fc}"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn line_of(found: &Snapshot) -> Line {
    let had =
        found.limits.iter().filter_map(|(name, many)| Some((name.strip_suffix(b"\n")?, text(many).parse().ok()?)));
    Line {
        groups: found.line.iter().map(|(group, at)| (text(group), *at)).collect(),
        had: had.map(|(group, many)| (text(group), many)).collect(),
    }
}

impl Walk {
    pub(super) fn some_group(&mut self) -> Option<Group> {
        if !self.has_groups || self.below(10) < 3 { None } else { Some(self.group()) }
    }

    fn group(&mut self) -> Group {
        Group::new(self.pick(&GROUPS)).unwrap()
    }

    pub(super) fn step_of_groups(&mut self, is_lost: bool) {
        match self.below(100) {
            0..28 => {
                let group = if self.below(4) == 0 { None } else { Some(self.group()) };
                let limits = self.limits();
                self.limit_groups(group.as_ref(), limits, is_lost);
            }
            28..36 => {
                let limits = self.limits().map(|limits| GroupLimits {
                    concurrency: limits.concurrency.map(|most| most + 2),
                    weight: 1,
                    ordered: false,
                    ..limits
                });
                self.limit_queue(
                    limits.filter(|limits| limits.concurrency.is_some() || limits.rate.is_some()),
                    is_lost,
                );
            }
            36..52 => {
                let group = if self.below(6) == 0 { None } else { Some(self.group()) };
                let for_ms = self.pick(&[10, 10, 300, 2_000]);
                self.rate_limit(for_ms, group.as_ref(), is_lost);
            }
            52..62 => {
                let (group, for_ms) = (self.group(), self.pick(&[None, Some(30), Some(1_000)]));
                self.pause_group(&group, for_ms, is_lost);
            }
            62..82 => {
                let group = self.group();
                self.resume_group(&group, is_lost);
            }
            82..85 => {
                let (group, reserved) = (self.group(), self.below(2) == 0);
                self.cancel_group(&group, reserved, is_lost);
            }
            85..88 => self.repair(is_lost),
            _ => self.rush(),
        }
    }

    fn limits(&mut self) -> Option<GroupLimits> {
        let concurrency = self.pick(&[None, Some(1), Some(1), Some(2), Some(3)]);
        let (interval_us, burst) =
            (self.pick(&[0, 0, 20_000, 100_000, 1_000_000]), self.pick(&[None, Some(1), Some(3)]));
        let starts = self.pick(&[1, 2]);
        let rate = Some(Rate { starts, per_us: interval_us * u64::from(starts) }).filter(|_| interval_us > 0);
        let ordered = self.below(5) < 2;
        let concurrency = if ordered { Some(1) } else { concurrency };
        let weight = self.pick(&[1, 1, 3]);
        if self.below(5) < 2 {
            return None;
        }
        let burst = burst.filter(|burst| rate.is_some_and(|rate| rate.starts != *burst)); // as it comes back
        Some(GroupLimits { concurrency, rate, burst, weight, ordered })
    }

    fn set_limits(&mut self, name: &str, limits: Option<GroupLimits>) {
        match limits {
            Some(limits) => drop(self.model.groups.limits.insert(name.to_owned(), limits)),
            None => drop(self.model.groups.limits.remove(name)),
        }
        self.model.forget_who_waits();
    }

    pub(super) fn limit_groups(&mut self, group: Option<&Group>, limits: Option<GroupLimits>, is_lost: bool) {
        self.note(format!("limit_groups {group:?} {limits:?}"));
        self.queue(is_lost).limit_groups(group, limits.as_ref()).unwrap();
        self.set_limits(group.map_or(OTHERS, |group| std::str::from_utf8(group.as_bytes()).unwrap()), limits);
    }

    pub(super) fn limit_queue(&mut self, limits: Option<GroupLimits>, is_lost: bool) {
        self.note(format!("limit_queue {limits:?}"));
        self.queue(is_lost).limit_queue(limits.as_ref()).unwrap();
        self.set_limits(QUEUE, limits);
        if limits.is_none() {
            self.model.groups.spent.remove(QUEUE);
        }
    }

    pub(super) fn rate_limit(&mut self, for_ms: u64, group: Option<&Group>, is_lost: bool) {
        self.note(format!("rate_limit {for_ms} {group:?}"));
        self.queue(is_lost).rate_limit(for_ms, group).unwrap();
        let until = self.model.now + i64::try_from(for_ms).unwrap() * 1000;
        if let Some(group) = group {
            let closed = self.model.groups.closed_until.entry(text(group.as_bytes())).or_insert(until);
            *closed = until.max(*closed);
        } else {
            self.model.paused_until = self.model.paused_until.max(Some(until));
        }
    }

    pub(super) fn pause_group(&mut self, group: &Group, for_ms: Option<u64>, is_lost: bool) {
        self.note(format!("pause {group} {for_ms:?}"));
        self.queue(is_lost).pause(for_ms, Some(group)).unwrap();
        let until = for_ms.map_or(i64::MAX, |ms| self.model.now + i64::try_from(ms).unwrap() * 1000);
        self.model.groups.closed_until.insert(text(group.as_bytes()), until);
    }

    pub(super) fn resume_group(&mut self, group: &Group, is_lost: bool) {
        self.note(format!("resume {group}"));
        self.queue(is_lost).resume(Some(group)).unwrap();
        self.model.groups.closed_until.remove(&text(group.as_bytes()));
    }

    pub(super) fn cancel_group(&mut self, group: &Group, reserved: bool, is_lost: bool) {
        self.note(format!("cancel_group {group} {reserved}"));
        let expected = self.model.cancel_group(&text(group.as_bytes()), reserved);
        let got = self.queue(is_lost).cancel_group(group, reserved);
        assert_eq!(unless_in_doubt(got), if is_lost { None } else { Some(expected) });
    }

    /// Many jobs at once, so that groups have more than one turn.
    fn rush(&mut self) {
        let mut batch: Vec<Push> = Vec::new();
        for _ in 0..12 {
            let push = Push { due: Due::InMs(0), on_duplicate: OnDuplicate::Keep, ..self.new_push() };
            batch.push(push);
        }
        self.push(&batch, false);
        self.set_clock(self.model.now + 20);
        for max in [5, 2, 3] {
            self.reserve(max, false);
        }
    }

    /// No limits, and no group closed.
    pub(super) fn open_all(&mut self) {
        let named = |name: &String| Group::new(name).ok();
        for name in self.model.groups.limits.keys().cloned().collect::<Vec<_>>() {
            if name == QUEUE {
                self.limit_queue(None, false)
            } else {
                self.limit_groups(named(&name).as_ref(), None, false)
            }
        }
        for group in self.model.groups.closed_until.keys().filter_map(named).collect::<Vec<_>>() {
            self.resume_group(&group, false);
        }
    }

    /// It finds nothing that is wrong.
    fn repair(&mut self, is_lost: bool) {
        self.note("repair".into());
        let queue = self.queue(is_lost);
        self.check_all(&queue);
    }

    /// The line before a reserve, where the order between groups follows from it: no lease is over, and no job is too late.
    pub(super) fn look_at_line(&mut self, is_lost: bool) -> Option<Line> {
        let is_behind = self.model.now < self.model.latest; // then groups may stand in line later
        if !self.has_groups || is_lost || is_behind || self.below(2) == 0 {
            return None;
        }
        self.note("  (after a look at the line)".into());
        drop(self.queue.stats().unwrap()); // takes back what is over
        self.model.reclaim();
        if self
            .model
            .jobs
            .iter()
            .any(|job| job.waits() && job.due <= self.model.now && job.end_at(self.model.now).is_some())
        {
            return None;
        }
        let found = Snapshot::of(&mut self.raw, &self.queue);
        Some(line_of(&found))
    }

    /// The jobs that a reserve may give: the model's own choice, or where groups wait, that of Redis if it was allowed.
    pub(super) fn expected(&mut self, got: &[Reserved], max: usize, is_lost: bool, line: Option<&Line>) -> Vec<Job> {
        self.model.reclaim();
        if self.has_groups && got.is_empty() && !self.model.is_paused() {
            self.check_empty();
        }
        if self.model.is_plain() {
            let mut expected = self.model.reserve(max);
            if is_lost {
                self.model.forget_lease(&expected);
                expected = self.model.reserve(max);
            }
            return expected;
        }
        let found = Snapshot::of(&mut self.raw, &self.queue);
        let (gone, before) = (self.gone(&found), self.model.tokens);
        if is_lost {
            self.model.tokens = got.first().map_or(found.counter("token"), |job| job.receipt.token() - 1);
            assert!(self.model.tokens >= before);
            self.model.forget_who_waits(); // the call that nobody saw was a turn of some
        }
        let unseen = self.model.tokens - before;
        let ids: Vec<String> = got.iter().map(|job| job.id.to_string()).collect();
        let expected = self.model.serve(max, &ids, &gone, line);
        if let Some(line) = line {
            self.check_turns(line, &line_of(&found), &expected);
        }
        if is_lost {
            self.adopt(&found, unseen);
        }
        expected
    }

    /// After a reserve that finds nothing: no group stands in line that cannot be served, and a queue without limits and jobs of groups is plain.
    fn check_empty(&mut self) {
        let found = Snapshot::of(&mut self.raw, &self.queue);
        let is_open = !self.model.groups.limits.contains_key(QUEUE);
        assert!(!is_open || found.line.iter().all(|(_, at)| *at > self.model.now), "looks in vain: {:?}", found.line);
        if self.model.groups.limits.is_empty() && self.model.names().is_empty() {
            // The first one looks where the last job was, and puts its closed group where that opens; the second one drops that, too.
            assert_eq!(reserve_many(&self.queue, 1), []);
            let found = Snapshot::of(&mut self.raw, &self.queue);
            let sets = [found.line, found.grouped, found.groups].concat();
            assert_eq!((sets, found.limits), Default::default(), "the queue is plain again");
        }
    }

    /// A group whose turn is over goes to the end of the line; a group with a weight counts its jobs of this turn.
    fn check_turns(&self, before: &Line, after: &Line, leased: &[Job]) {
        for (group, at) in &after.groups {
            let many = leased.iter().filter(|job| job.group() == Some(group)).count();
            let had = many + before.had.get(group).map_or(0, |had| *had as usize);
            let is_over = had >= self.model.groups.limits_of(group).weight as usize;
            // The groups of a batch stand behind each other in its order.
            let end = self.model.now - leased.len() as i64;
            assert!(many == 0 || !is_over || *at > end, "'{group}' had {had} and stays at {at}");
            let expected = if many > 0 && is_over { 0 } else { had };
            let counted = after.had.get(group).map_or(0, |had| *had as usize);
            assert_eq!(counted, expected, "'{group}' had {had} jobs in its turn");
        }
    }

    /// Jobs that wait in the model, and no longer in Redis.
    fn gone(&self, found: &Snapshot) -> BTreeSet<String> {
        let sets = [&found.waiting, &found.prioritized, &found.grouped];
        let left: BTreeSet<&[u8]> = sets.into_iter().flatten().map(|(id, _)| id.as_slice()).collect();
        let waiting = self.model.jobs.iter().filter(|job| job.waits() && !left.contains(job.id.as_bytes()));
        waiting.map(|job| job.id.clone()).collect()
    }

    /// Nobody knows which jobs the reserve has leased whose answer was lost, and has given back since then.
    fn adopt(&mut self, found: &Snapshot, unseen: u64) {
        let counted = |word: &str| {
            let fields = found.meta.iter().filter_map(|(name, value)| {
                Some((text(name).strip_prefix(word)?.parse::<u32>().ok()?, text(value).parse::<i64>().unwrap()))
            });
            fields.collect::<std::collections::BTreeMap<u32, i64>>()
        };
        let (late, wait) = (counted("late"), counted("wait"));
        let known: i64 = self.model.times.lateness.values().sum();
        assert_eq!(late.values().sum::<i64>(), known + i64::try_from(unseen).unwrap());
        (self.model.times.lateness, self.model.times.wait) = (late, wait);
        let firsts: Vec<String> = found.firsts().map(|id| text(&id)).collect();
        let groups = &self.model.groups;
        for job in self.model.jobs.iter_mut().filter(|job| job.waits()) {
            let (is_first, was_first) = (firsts.contains(&job.id), job.comes_first);
            let is_ordered = job.group().is_some_and(|group| groups.limits_of(group).ordered);
            assert!(is_first == was_first || is_first == is_ordered, "{job:?} is the first: {is_first}");
            job.comes_first = is_first;
        }
    }

    pub(super) fn check_wait(&mut self, got: bool) {
        self.model.reclaim();
        if self.model.is_plain() {
            assert_eq!(got, self.model.is_ready());
            return;
        }
        let found = Snapshot::of(&mut self.raw, &self.queue);
        let gone = self.gone(&found);
        self.model.end_late(&gone);
        let expected = self.model.someone_is_servable();
        assert_eq!(got, expected);
    }
}
