//! Groups of a queue of several partitions: each lies in the partition that its name chooses.

use super::Partitions;
use crate::core::error::Result;
use crate::core::groups::{AllLimits, Group, GroupStats};
use crate::core::job::{JobInfo, State};
use crate::core::queue::{Queue, groups_of, limits_of, stats_of};
use std::collections::BTreeSet;

impl Partitions {
    /// # Errors
    /// As [`Queue::limits`].
    pub fn limits(&self) -> Result<AllLimits> {
        let mut parts = limits_of(&self.all())?.into_iter();
        let mut all = parts.next().unwrap_or_default();
        all.groups.extend(parts.flat_map(|part| part.groups));
        all.groups.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.groups.dedup_by(|(one, _), (other, _)| one == other);
        Ok(all)
    }

    /// # Errors
    /// As [`Queue::rate_limit`].
    pub fn rate_limit(&self, for_ms: u64, group: Option<&Group>) -> Result<()> {
        let limit = |part: &Queue| part.rate_limit(for_ms, group).map(|()| 1);
        self.sum(group, "partitions limited", limit).map(drop)
    }

    /// # Errors
    /// As [`Queue::is_paused`].
    pub fn is_paused(&self, group: Option<&Group>) -> Result<bool> {
        Ok(match group {
            None => stats_of(&self.all())?.iter().any(|part| part.paused),
            Some(_) => self.each(group, |part| part.is_paused(group))?.contains(&true),
        })
    }

    /// # Errors
    /// As [`Queue::group_stats`].
    pub fn group_stats(&self, group: &Group) -> Result<GroupStats> {
        let mut sum = GroupStats::default();
        self.each(Some(group), |part| part.group_stats(group))?.into_iter().for_each(|part| sum.add(part));
        Ok(sum)
    }

    /// # Errors
    /// As [`Queue::groups`].
    pub fn groups(&self, limit: u64, after: &[u8]) -> Result<Vec<Vec<u8>>> {
        let names: BTreeSet<Vec<u8>> = groups_of(&self.all(), limit, after)?.into_iter().flatten().collect();
        Ok(names.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }

    /// # Errors
    /// As [`Queue::list_group`].
    pub fn list_group(&self, group: &Group, state: State, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        // More than one has any only where the queue had fewer partitions before: an offset over both reads what it passes over.
        let all = self.each(Some(group), |part| part.list_group(group, state, 0, offset.saturating_add(limit)))?;
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(all.into_iter().flatten().skip(skipped).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }
}
