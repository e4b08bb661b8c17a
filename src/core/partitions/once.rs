//! Receipts of a queue that is spread. That of a job lies in the job's home; one that has no job in the first partition.

use super::Partitions;
use super::homes::homes;
use crate::core::error::Result;
use crate::core::job::JobId;
use crate::core::queue::{Content, OnceJob, PushOnce, that_have};
use std::collections::BTreeMap;

impl Partitions {
    /// Adds jobs whose receipts the queue does not have. Where there were fewer partitions before, receipts and jobs may lie in older homes, of
    /// which the first partition is always one: these are looked at before.
    ///
    /// # Errors
    /// As [`Queue::push_once`](crate::core::queue::Queue::push_once).
    pub fn push_once(&self, jobs: Vec<OnceJob>) -> Result<PushOnce> {
        let with_id = |mut one: OnceJob| {
            if !one.is_receipt_only {
                // A repeat has to look in the same homes.
                one.job.id.get_or_insert_with(|| JobId::of_receipt(&one.receipt));
            }
            one
        };
        let jobs: Vec<OnceJob> = jobs.into_iter().map(with_id).collect();
        if self.further.is_empty() {
            return self.first.push_once(&jobs);
        }
        let mut sum = PushOnce::default();
        let mut chosen: BTreeMap<(usize, bool), Vec<OnceJob>> = BTreeMap::new();
        for ((has_receipt, has_job), one) in self.in_older_homes(&jobs)?.into_iter().zip(jobs) {
            if has_receipt {
                sum.known += 1;
                continue;
            }
            let home = name_of(&one).map_or(0, |name| self.home(name));
            let one = OnceJob { is_receipt_only: one.is_receipt_only || has_job, ..one };
            chosen.entry((home, has_job)).or_default().push(one);
        }
        for ((home, has_job), jobs) in chosen {
            let told = self.part(home).push_once(&jobs)?;
            // Beside a job in an older home only the receipt is given.
            sum.add(if has_job { PushOnce { added: 0, kept: told.added, ..told } } else { told });
        }
        Ok(sum)
    }

    /// Whether an older home of each job has its receipt, and whether one has a job of its id.
    fn in_older_homes(&self, jobs: &[OnceJob]) -> Result<Vec<(bool, bool)>> {
        let mut found = vec![(false, false); jobs.len()];
        for number in 0..self.count_of_parts() {
            let is_older = |name: &[u8]| {
                let mut others = homes(name, self.count_of_parts()).filter(|home| *home != self.home(name));
                others.any(|home| home == number)
            };
            let (mut places, mut asked) = (Vec::new(), Vec::new());
            for (one, place) in jobs.iter().zip(&mut found) {
                if name_of(one).is_some_and(is_older) {
                    places.push(place);
                    asked.push((one.receipt.as_slice(), one.job.id.as_ref().filter(|_| !one.is_receipt_only)));
                }
            }
            for (place, (has_receipt, has_job)) in places.into_iter().zip(self.part(number).has_receipts(&asked)?) {
                *place = (place.0 || has_receipt, place.1 || has_job);
            }
        }
        Ok(found)
    }

    /// # Errors
    /// As [`Queue::receipts`](crate::core::queue::Queue::receipts).
    pub fn receipts(&self, older_than_ms: u64, prefix: &[u8], limit: usize) -> Result<Vec<Vec<u8>>> {
        let mut found: Vec<Vec<u8>> = Vec::new();
        for (_, part) in that_have(&self.all(), Content::Receipts)? {
            found.extend(part.receipts(older_than_ms, prefix, limit - found.len())?);
            if found.len() >= limit {
                break;
            }
        }
        Ok(found)
    }

    /// # Errors
    /// As [`Queue::taken_ids`](crate::core::queue::Queue::taken_ids).
    pub fn taken_ids(&self) -> Result<Vec<(JobId, i64)>> {
        let parts = that_have(&self.all(), Content::TakenIds)?;
        let ids: Vec<Vec<(JobId, i64)>> = parts.into_iter().map(|(_, part)| part.taken_ids()).collect::<Result<_>>()?;
        Ok(ids.into_iter().flatten().collect())
    }
}

/// The name by which a job chooses its home: that of its group, else its id.
fn name_of(one: &OnceJob) -> Option<&[u8]> {
    let group = one.job.options.group();
    group.or_else(|| one.job.id.as_ref().map(JobId::as_bytes))
}
