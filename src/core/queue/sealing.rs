//! Sealing jobs on their way into a queue, and opening them on their way out (`core/keyring.rs`).

use super::{Queue, Taken};
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, JobInfo, JobOptions, State};
use crate::core::keyring::{self, Address};
use crate::core::seal::Unopened;
use std::borrow::Cow;
use std::collections::HashSet;

/// Jobs of one look of the classic consumer.
const PAGE: u64 = 100;

impl Queue {
    fn address<'a>(&'a self, id: &'a JobId) -> Address<'a> {
        Address { prefix: self.keys.prefix(), queue: &self.name, id }
    }

    /// Whether it seals jobs, and opens them.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.keyring.is_some()
    }

    /// Options and payload as they are to be stored: sealed where there are keys.
    ///
    /// # Errors
    /// [`Error::Seal`] when the system has no random bytes.
    pub(super) fn sealed<'o, 'p>(
        &self,
        id: &JobId,
        options: &'o JobOptions,
        payload: &'p [u8],
    ) -> Result<(Cow<'o, JobOptions>, Cow<'p, [u8]>)> {
        let Some(keys) = &self.keyring else { return Ok((Cow::Borrowed(options), Cow::Borrowed(payload))) };
        let (options, payload) = keys.seal(self.address(id), options, payload)?;
        Ok((Cow::Owned(options), Cow::Owned(payload)))
    }

    /// Puts the readable headers and payload into the place of the sealed ones.
    pub(super) fn open(
        &self,
        id: &JobId,
        options: &mut JobOptions,
        payload: &mut Vec<u8>,
    ) -> std::result::Result<(), Unopened> {
        keyring::open(self.keyring.as_deref(), self.address(id), options, payload)
    }

    /// The reason with which a job that cannot be opened is buried.
    pub(super) fn unopened_reason(&self, id: &JobId, why: &Unopened) -> String {
        self.address(id).reason(why)
    }

    pub(super) fn unopened(&self, id: &JobId, why: &Unopened) -> Error {
        Error::Seal { queue: self.name.to_string(), id: id.to_string(), why: format!("cannot be opened: {why}") }
    }

    /// A look at a job of this partition: opened, or with the reason why it is not.
    pub(super) fn looked_at(&self, mut info: JobInfo) -> JobInfo {
        info.partition = self.keys.partition();
        info.seal_error = self.open(&info.id, &mut info.options, &mut info.payload).err();
        info
    }

    /// The classic consumer of a queue with keys: it takes each job under a lease first, so that one that cannot be opened is buried and
    /// not deleted. Ready jobs come in the order of serving, then delayed ones.
    pub(super) fn take_opened(&self, latest_us: Option<i64>, limit: usize, taken: &mut Vec<Taken>) -> Result<()> {
        let mut others = HashSet::new();
        while taken.len() < limit && !self.is_paused(None)? {
            let ids = self.due_by(latest_us, limit - taken.len(), &others)?;
            if ids.is_empty() {
                break;
            }
            for id in ids {
                if let Some(job) = self.reserve_job(&id)? {
                    self.ack(&job.held())?;
                    taken.push(Taken { payload: job.payload, is_sealed: false });
                } else {
                    others.insert(id);
                }
            }
        }
        Ok(())
    }

    /// Up to `most` jobs that fall due by then (`None`: now) and are not among `others`.
    fn due_by(&self, latest_us: Option<i64>, most: usize, others: &HashSet<JobId>) -> Result<Vec<JobId>> {
        let latest_us_or_end = latest_us.unwrap_or(i64::MAX);
        let mut ids = Vec::new();
        for state in if latest_us.is_some() { [State::Ready, State::Delayed].as_slice() } else { &[State::Ready] } {
            let mut after = None;
            while ids.len() < most {
                let page = self.list_from(*state, after.as_ref(), 0, PAGE)?;
                let is_due = |info: &&JobInfo| info.due_at_us <= latest_us_or_end && !others.contains(&info.id);
                ids.extend(page.iter().filter(is_due).map(|info| info.id.clone()));
                let Some(last) = page.last() else { break };
                if *state == State::Delayed && last.due_at_us > latest_us_or_end {
                    break;
                }
                after = Some(last.place());
            }
        }
        ids.truncate(most);
        Ok(ids)
    }
}
