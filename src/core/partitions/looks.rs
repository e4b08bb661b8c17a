//! Looks at several partitions.

use super::Partitions;
use crate::core::error::Result;
use crate::core::job::{JobInfo, Place, State};
use crate::core::queue::{Content, counts_due, stats_of, that_have};

impl Partitions {
    /// A page of jobs of one state: those of the first partition in their order, then those of the second, and so on. Its `offset` counts from
    /// behind a place, which lies in the partition that had the job when it was listed, also where a push of today would choose another one.
    ///
    /// # Errors
    /// As [`super::Queue::list_from`].
    pub fn list_from(&self, state: State, after: Option<&Place>, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        let (mut jobs, mut skip) = (Vec::new(), offset);
        let begin = after.map_or(0, |place| usize::from(place.partition));
        for (number, part) in that_have(&self.all(), Content::Jobs)?.into_iter().filter(|(number, _)| *number >= begin)
        {
            let after = after.filter(|_| number == begin);
            let left = limit - jobs.len() as u64;
            if left == 0 {
                break;
            }
            let page = part.list_from(state, after, skip, left)?;
            // How many of this partition were skipped matters only where there is a next one.
            if page.is_empty() && skip > 0 && !self.further.is_empty() {
                skip -= match after {
                    Some(_) => part.list_from(state, after, 0, skip)?.len() as u64,
                    None => part.count(Some(state))?.min(skip),
                };
            } else {
                skip = 0;
            }
            jobs.extend(page);
        }
        Ok(jobs)
    }

    /// Jobs in one state, or in all.
    ///
    /// # Errors
    /// As [`super::Queue::count`].
    pub fn count(&self, state: Option<State>) -> Result<u64> {
        Ok(stats_of(&self.all())?.iter().map(|part| part.count(state)).sum())
    }

    /// How many waiting jobs are due before each of these moments.
    ///
    /// # Errors
    /// As [`super::Queue::count_due`].
    pub fn count_due(&self, until_us: &[i64]) -> Result<Vec<u64>> {
        let mut sums = vec![0; until_us.len()];
        for counts in counts_due(&self.all(), until_us)? {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }
}
