//! Changes of several partitions. One that fails does not keep the others from it, and the error says what was done.

use super::Partitions;
use super::homes::homes;
use crate::core::error::{Error, Result};
use crate::core::job::JobId;
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};

impl Partitions {
    /// # Errors
    /// As [`Queue::cancel`] and [`Partitions::sum`].
    pub fn cancel(&self, ids: &[JobId]) -> Result<u64> {
        let mut seen = HashSet::new();
        let ids: Vec<JobId> = ids.iter().filter(|id| seen.insert(*id)).cloned().collect();
        let mut chosen: BTreeMap<usize, Vec<JobId>> = BTreeMap::new();
        for id in &ids {
            homes(id.as_bytes(), self.count_of_parts())
                .for_each(|home| chosen.entry(home).or_default().push(id.clone()));
        }
        // A job of a group lies where its group does, so that any partition may have it.
        for (number, id) in self.elsewhere(&ids)? {
            chosen.entry(number).or_default().push(id);
        }
        self.change_each(chosen.keys().copied(), "jobs cancelled", |number, _| {
            chosen.get(&number).map_or(Ok(0), |ids| self.part(number).cancel(ids))
        })
    }

    /// # Errors
    /// As [`Queue::kick`].
    pub fn kick(&self, max: u64, reset_attempts: bool) -> Result<u64> {
        let in_doubt = Cell::new(false);
        self.change_each(self.homes_of(None), "jobs kicked", |number, kicked| match max.saturating_sub(kicked) {
            // A partition that failed may have kicked as many as were wanted.
            0 => Ok(0),
            _ if in_doubt.get() => Ok(0),
            left => {
                self.part(number).kick(left, reset_attempts).inspect_err(|error| in_doubt.set(error.is_ambiguous()))
            }
        })
    }

    /// Changes these partitions, one after the other; `change` gets the sum so far, and returns how many more were changed. After an error that may
    /// pass, further partitions of that server are not asked: each might take the time of one operation. `done`: "jobs cancelled".
    ///
    /// # Errors
    /// The first one, or the first that is ambiguous, as it is, if nothing was changed; else [`Error::Connection`] with `ambiguous`.
    pub(super) fn change_each(
        &self,
        numbers: impl ExactSizeIterator<Item = usize>,
        done: &str,
        change: impl Fn(usize, u64) -> Result<u64>,
    ) -> Result<u64> {
        if self.further.is_empty() {
            return change(0, 0);
        }
        let (all, mut changed, mut sum) = (numbers.len(), 0_usize, 0);
        let (mut failure, mut away) = (None, Vec::new());
        for number in numbers {
            let server = match self.part(number).client().server() {
                Ok(server) => server,
                Err(error) => {
                    failure.get_or_insert(error); // no node answers, nor would one for the next partition
                    break;
                }
            };
            if away.contains(&server) {
                continue;
            }
            match change(number, sum) {
                Ok(more) => (sum, changed) = (sum + more, changed + 1),
                Err(error) => {
                    away.extend(error.is_retryable().then_some(server));
                    // An ambiguous error tells that something may have been done.
                    if failure.as_ref().is_none_or(|known: &Error| error.is_ambiguous() && !known.is_ambiguous()) {
                        failure = Some(error);
                    }
                }
            }
        }
        match failure {
            None => Ok(sum),
            Some(error) if sum == 0 => Err(error),
            Some(error) => {
                let how = format!("{done}: {sum}, partitions that failed: {} of {all}", all - changed);
                Err(Error::in_doubt(&how, error).while_doing(|| format!("changing queue '{}'", self.name())))
            }
        }
    }
}
