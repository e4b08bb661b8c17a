//! The comparisons that concern groups: limits, spent tokens, closings, and what the API tells of each.

use super::groups::QUEUE;
use super::walk::Walk;
use crate::audit::Snapshot;
use delayqueue::core::groups::{AllLimits, Group, GroupStats};
use delayqueue::core::job::{JobInfo, State};
use std::collections::BTreeMap;

type Moments = BTreeMap<String, i64>;

/// A moment that has passed means nothing, and may have been dropped, or moved within the past: then the model has what Redis has.
fn compare_moments(what: &str, found: &Moments, model: &mut Moments, latest: i64, seen: impl Fn(&str, i64) -> i64) {
    let names: Vec<String> = found.keys().chain(model.keys()).cloned().collect();
    for name in names {
        let (there, here) = (found.get(&name), model.get(&name));
        let is_past = |at: Option<&i64>| at.is_none_or(|at| *at <= latest);
        let as_seen = |at: Option<&i64>| at.map(|at| seen(&name, *at));
        assert!(
            as_seen(there) == as_seen(here) || is_past(there) && is_past(here),
            "{what} '{name}': {there:?}, expected {here:?}"
        );
        match there {
            Some(at) => drop(model.insert(name, *at)),
            None => drop(model.remove(&name)),
        }
    }
}

impl Walk {
    pub(super) fn compare_limits(&mut self, found: &Snapshot) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (mut spent, mut closed) = (Moments::new(), Moments::new());
        for (name, at) in &found.spent {
            let name = text(name);
            match name.strip_suffix('\n') {
                Some(group) if !group.is_empty() => closed.insert(group.to_owned(), *at),
                _ => spent.insert(name, *at),
            };
        }
        let latest = self.model.latest;
        // Tokens that limits of now do not allow to be spent are written off by the script that looks at the group.
        let (groups, now) = (self.model.groups.clone(), self.model.now);
        let seen = |name: &str, at| groups.written_off(name, at, now);
        compare_moments("tokens are spent of", &spent, &mut self.model.groups.spent, latest, seen);
        compare_moments("closed is", &closed, &mut self.model.groups.closed_until, latest, |_, at| at);
        let limits = found.limits.iter().map(|(name, limits)| (text(name), text(limits)));
        let limits: BTreeMap<String, String> =
            limits.filter(|(name, _)| name == QUEUE || !name.ends_with('\n')).collect();
        let expected = self.model.groups.limits.iter().map(|(name, limits)| (name.clone(), limits.encode()));
        assert_eq!(limits, expected.collect());
    }

    /// Limits and groups as the API tells them.
    pub(super) fn compare_groups(&mut self) {
        let (limits, mut expected) = (self.queue.limits().unwrap(), AllLimits::default());
        for (name, limits) in &self.model.groups.limits {
            match name.as_str() {
                QUEUE => expected.queue = Some(*limits),
                "" => expected.others = Some(*limits),
                name => expected.groups.push((Group::new(name).unwrap(), *limits)),
            }
        }
        assert_eq!(limits, expected);
        let names = self.queue.groups(100, b"").unwrap();
        let names: Vec<String> = names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
        assert_eq!(names, self.model.names());
        if let Some(first) = names.first() {
            let behind = self.queue.groups(2, first.as_bytes()).unwrap();
            let expected: Vec<&[u8]> = names.iter().skip(1).take(2).map(String::as_bytes).collect();
            assert_eq!(behind, expected);
        }
        let found = Snapshot::of(&mut self.raw, &self.queue);
        for name in names.iter().take(3) {
            self.compare_group(name, &found);
        }
    }

    fn compare_group(&mut self, name: &str, found: &Snapshot) {
        let (group, now) = (Group::new(name).unwrap(), self.model.now);
        let held = self.model.jobs.iter().filter(|job| job.is_held() && job.group() == Some(name));
        let closed = self.model.groups.closed_until.get(name).copied().filter(|until| *until > now);
        let place = found.line.iter().find(|(other, _)| other == name.as_bytes()).map(|(_, at)| *at);
        let expected = GroupStats {
            waiting: self.model.in_group(name).len() as u64,
            reserved: held.count() as u64,
            next_turn_at_us: place
                .map(|at| at.max(closed.unwrap_or(at)))
                .filter(|at| *at < i64::MAX && !self.model.in_group(name).is_empty()),
            closed_until_us: closed.filter(|until| *until < i64::MAX),
            is_paused: closed.is_some(),
        };
        assert_eq!(self.queue.group_stats(&group).unwrap(), expected, "'{name}'");
        let is_due = |info: &JobInfo| info.due_at_us <= now;
        for state in [State::Delayed, State::Ready] {
            let jobs = self.model.in_group(name).into_iter().filter(|job| (job.due <= now) == (state == State::Ready));
            let expected: Vec<String> = jobs.map(|job| job.id.clone()).collect();
            let found = self.queue.list_group(&group, state, 0, 1_000).unwrap();
            assert!(found.iter().all(|info| is_due(info) == (state == State::Ready)));
            let ids: Vec<String> = found.iter().map(|info| info.id.to_string()).collect();
            assert_eq!(ids, expected, "{state:?} jobs of '{name}'");
            let page = self.queue.list_group(&group, state, 1, 2).unwrap();
            assert_eq!(page, found.into_iter().skip(1).take(2).collect::<Vec<_>>());
        }
        let held = self.queue.list_group(&group, State::Reserved, 0, 1_000).unwrap();
        let mut ids: Vec<String> = held.iter().map(|info| info.id.to_string()).collect();
        ids.sort();
        let is_held = self.model.jobs.iter().filter(|job| job.is_held() && job.group() == Some(name));
        let mut expected: Vec<String> = is_held.map(|job| job.id.clone()).collect();
        expected.sort();
        assert_eq!(ids, expected, "held jobs of '{name}'");
    }

    /// Every job lies in its state.
    pub(super) fn check_all(&mut self, queue: &delayqueue::core::queue::Queue) {
        let checks = queue.examine(true).unwrap();
        let jobs = checks.last().unwrap();
        assert!(jobs.message.starts_with("every job"), "{jobs:?}");
    }
}
