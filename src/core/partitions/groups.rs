//! Groups of a queue of several partitions: each lies in the partition that its name chooses.

use super::Partitions;
use super::homes::homes;
use crate::core::error::Result;
use crate::core::groups::{AllLimits, Group, GroupLimits, GroupStats};
use crate::core::job::{JobInfo, State};
use std::collections::BTreeSet;

impl Partitions {
    /// The partitions in which jobs of a group may lie, or all.
    fn homes_of(&self, group: Option<&Group>) -> std::vec::IntoIter<usize> {
        let numbers: Vec<usize> = match group {
            Some(group) => homes(group.as_bytes(), self.count_of_parts()).collect(),
            None => self.numbers().collect(),
        };
        numbers.into_iter()
    }

    /// # Errors
    /// As [`super::Queue::limit_groups`].
    pub fn limit_groups(&self, group: Option<&Group>, limits: Option<&GroupLimits>) -> Result<()> {
        let limit = |number, _| self.part(number).limit_groups(group, limits).map(|()| 1);
        self.change_each(self.homes_of(group), "partitions limited", limit).map(drop)
    }

    /// # Errors
    /// As [`super::Queue::limit_queue`]. No partition knows how many jobs another one has leased: a queue of several has no such limits.
    pub fn limit_queue(&self, limits: Option<&GroupLimits>) -> Result<()> {
        self.first.limit_queue(limits)
    }

    /// # Errors
    /// As [`super::Queue::limits`].
    pub fn limits(&self) -> Result<AllLimits> {
        self.in_one_operation(|| {
            let mut all = self.first.limits()?;
            for part in &self.further {
                all.groups.extend(part.limits()?.groups);
            }
            all.groups.sort_by(|(one, _), (other, _)| one.cmp(other));
            all.groups.dedup_by(|(one, _), (other, _)| one == other);
            Ok(all)
        })
    }

    /// # Errors
    /// As [`super::Queue::rate_limit`].
    pub fn rate_limit(&self, for_ms: u64, group: Option<&Group>) -> Result<()> {
        let limit = |number, _| self.part(number).rate_limit(for_ms, group).map(|()| 1);
        self.change_each(self.homes_of(group), "partitions limited", limit).map(drop)
    }

    /// # Errors
    /// As [`super::Queue::pause`].
    pub fn pause(&self, for_ms: Option<u64>, group: Option<&Group>) -> Result<()> {
        let pause = |number, _| self.part(number).pause(for_ms, group).map(|()| 1);
        self.change_each(self.homes_of(group), "partitions paused", pause).map(drop)
    }

    /// # Errors
    /// As [`super::Queue::resume`].
    pub fn resume(&self, group: Option<&Group>) -> Result<()> {
        let resume = |number, _| self.part(number).resume(group).map(|()| 1);
        self.change_each(self.homes_of(group), "partitions resumed", resume).map(drop)
    }

    /// # Errors
    /// As [`super::Queue::is_paused`].
    pub fn is_paused(&self, group: Option<&Group>) -> Result<bool> {
        match group {
            Some(group) => Ok(self.group_stats(group)?.is_paused),
            None => Ok(self.in_one_operation(|| self.sum())?.paused),
        }
    }

    /// # Errors
    /// As [`super::Queue::cancel_group`].
    pub fn cancel_group(&self, group: &Group, reserved: bool) -> Result<u64> {
        self.change_each(self.homes_of(Some(group)), "jobs cancelled", |number, _| {
            self.part(number).cancel_group(group, reserved)
        })
    }

    /// # Errors
    /// As [`super::Queue::group_stats`].
    pub fn group_stats(&self, group: &Group) -> Result<GroupStats> {
        self.in_one_operation(|| {
            let mut sum = GroupStats::default();
            for number in self.homes_of(Some(group)) {
                sum.add(self.part(number).group_stats(group)?);
            }
            Ok(sum)
        })
    }

    /// # Errors
    /// As [`super::Queue::groups`].
    pub fn groups(&self, limit: u64, after: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.in_one_operation(|| {
            let mut names = BTreeSet::new();
            for part in self.parts() {
                names.extend(part.groups(limit, after)?);
            }
            Ok(names.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
        })
    }

    /// # Errors
    /// As [`super::Queue::list_group`].
    pub fn list_group(&self, group: &Group, state: State, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        self.in_one_operation(|| {
            let mut jobs = Vec::new();
            for number in self.homes_of(Some(group)) {
                // More than one only where the queue had fewer partitions before: an offset over both reads what it passes over.
                jobs.extend(self.part(number).list_group(group, state, 0, offset.saturating_add(limit))?);
            }
            let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
            Ok(jobs.into_iter().skip(skipped).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
        })
    }
}
