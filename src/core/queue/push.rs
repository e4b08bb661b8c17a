//! Producing jobs, one or many: each chunk is one script, and added whole or not at all.

use super::thread::Chore;
use super::{Queue, due_arg};
use crate::core::client::Request;
use crate::core::clock::{self, within};
use crate::core::error::{Error, Result};
use crate::core::job::{Due, JobId, NewJob, OnDuplicate};
use crate::core::reply::{self, Reply};
use crate::core::{keys, record, scripts, traits};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::borrow::Cow;
use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most jobs of one atomic chunk.
pub const CHUNK: usize = 500;
/// Most payload bytes of one atomic chunk: a script should not hold Redis for long.
const CHUNK_BYTES: usize = 8 << 20;
/// A push that has succeeded waits no longer than this for the index.
const INDEX_PATIENCE: Duration = Duration::from_millis(100);

/// One job as Redis gets it. It is made once, so that a repeat is the same job.
pub(super) struct Encoded<'a> {
    pub id: JobId,
    pub record: Vec<u8>,
    pub due: String,
    pub priority: String,
    /// In microseconds, or nothing.
    pub unique: String,
    pub job: &'a NewJob,
}

impl<'a> Encoded<'a> {
    pub fn new(queue: &Queue, job: &'a NewJob, created_at_ms: Option<i64>) -> Result<Self> {
        let id = job.id.clone().unwrap_or_else(JobId::generate);
        let (options, payload) = match (&queue.keyring, &job.options.seal) {
            (Some(_), None) => queue.sealed(&id, &job.options, &job.payload)?,
            _ => (Cow::Borrowed(&job.options), Cow::Borrowed(job.payload.as_slice())),
        };
        let mut record = record::encode_head(&options, created_at_ms.unwrap_or_else(now_ms));
        record.extend_from_slice(&payload);
        let unique = job.unique_ms.map_or_else(String::new, |ms| ms.saturating_mul(1000).to_string());
        Ok(Self { id, record, due: due_arg(job.due), priority: options.priority.to_string(), unique, job })
    }

    fn group(&self) -> Option<&[u8]> {
        self.job.options.group()
    }
}

/// The producer's own clock, for `createdAt`.
fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    i64::try_from(now).unwrap_or(0).saturating_add(clock::offset_ms()).max(0)
}

/// The rule for taken ids as `lua/push_any.lua` takes it.
pub(super) const fn word(mode: OnDuplicate) -> &'static [u8] {
    match mode {
        OnDuplicate::Fail => b"fail",
        OnDuplicate::Keep => b"keep",
        OnDuplicate::Replace => b"replace",
    }
}

/// The rule for taken ids, if `lua/push.lua` can add all of them: jobs of groups, or of default priority and no group, of different ids that are
/// taken no longer than the jobs are there, with one rule, which is not to replace.
fn plain_mode(jobs: &[Encoded<'_>]) -> Option<OnDuplicate> {
    let mode = jobs.first()?.job.on_duplicate;
    let of_groups = jobs.first()?.group().is_some();
    let mut ids = FxHashSet::with_capacity_and_hasher(jobs.len(), FxBuildHasher);
    let is_plain = |one: &Encoded<'_>| {
        let NewJob { on_duplicate, unique_ms, options, .. } = one.job;
        let changes_when_stored = traits::has_longest_wait(&options.extras.traits);
        let fits = one.group().is_some() == of_groups && (of_groups || !record::is_prioritized(options));
        *on_duplicate == mode && unique_ms.is_none() && fits && !changes_when_stored
    };
    let are_different = jobs.len() == 1 || jobs.iter().all(|one| one.job.id.is_none() || ids.insert(one.id.clone()));
    (mode != OnDuplicate::Replace && are_different && jobs.iter().all(is_plain)).then_some(mode)
}

/// How many of these payloads make the next chunk: at least one, if there is any.
pub(super) fn fitting<'a>(payloads: impl Iterator<Item = &'a Vec<u8>>) -> usize {
    let (mut count, mut bytes) = (0, 0);
    for payload in payloads.take(CHUNK) {
        bytes += payload.len();
        if count > 0 && bytes > CHUNK_BYTES {
            break;
        }
        count += 1;
    }
    count
}

/// An id that two jobs of a chunk have is not in the queue: none of them was stored.
fn name_items(mut error: Error, chunk: &[NewJob], before: usize) -> Error {
    if let Error::Duplicate { id, items, .. } = &mut error {
        let mut same =
            (before..).zip(chunk).filter(|(_, job)| job.id.as_ref().is_some_and(|own| own.to_string() == *id));
        *items = same.next().zip(same.next()).map(|((first, _), (second, _))| (first, second));
    }
    error
}

impl Queue {
    /// Adds one job and returns its id.
    ///
    /// # Errors
    /// [`Error::Duplicate`], [`Error::PayloadTooLarge`], [`Error::QueueFull`], [`Error::Seal`], connection and server errors.
    pub fn push(&self, job: &NewJob) -> Result<JobId> {
        self.push_one(job).map(|(id, _)| id)
    }

    /// Adds one job; `None`, whatever its rule for taken ids says, where it was not stored for its id.
    ///
    /// # Errors
    /// As [`Queue::push`], less [`Error::Duplicate`].
    pub fn try_push(&self, mut job: NewJob) -> Result<Option<JobId>> {
        if job.on_duplicate == OnDuplicate::Keep {
            job.on_duplicate = OnDuplicate::Fail;
        }
        match self.push_one(&job) {
            Ok((id, was_kept)) => Ok((!was_kept).then_some(id)),
            Err(Error::Duplicate { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Also says whether another job of its id was kept.
    fn push_one(&self, job: &NewJob) -> Result<(JobId, bool)> {
        self.check_payload(&job.payload)?;
        let encoded = [Encoded::new(self, job, None)?];
        let [Encoded { id, .. }] = &encoded;
        let kept = self
            .push_chunk(&encoded)
            .map_err(|error| error.while_doing(|| format!("pushing job '{id}' to queue '{}'", self.name)))?;
        Ok((id.clone(), kept > 0))
    }

    /// Adds many jobs, in chunks of up to 500 as their size allows, each of which is added whole or not at all. Appends the ids of each
    /// chunk to `stored`.
    ///
    /// # Errors
    /// As [`Queue::push`]; the chunks before the failing one are stored.
    pub fn push_many(&self, jobs: &[NewJob], stored: &mut Vec<JobId>) -> Result<()> {
        jobs.iter().try_for_each(|job| self.check_payload(&job.payload))?;
        let mut rest = jobs;
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(fitting(rest.iter().map(|job| &job.payload)));
            let encoded: Vec<Encoded<'_>> =
                chunk.iter().map(|job| Encoded::new(self, job, None)).collect::<Result<_>>()?;
            self.push_chunk(&encoded).map_err(|error| {
                name_items(error, chunk, jobs.len() - rest.len()).while_doing(|| match stored.len() {
                    0 => format!("pushing {} jobs to queue '{}'", chunk.len(), self.name),
                    before => format!("pushing jobs to queue '{}', {before} of which are stored", self.name),
                })
            })?;
            stored.extend(encoded.into_iter().map(|job| job.id));
            rest = after;
        }
        Ok(())
    }

    /// Returns of how many jobs the id was taken, and what is there was kept, as far as the script tells.
    fn push_chunk(&self, jobs: &[Encoded<'_>]) -> Result<i64> {
        let mode = plain_mode(jobs).filter(|_| self.capacity.is_none());
        let was_lost = Cell::new(false);
        let mut reply = self.indexing(|request, is_repeat| {
            was_lost.set(is_repeat);
            match mode {
                Some(mode) => self.write_push(request, jobs, mode, is_repeat),
                None => self.write_push_any(request, jobs, is_repeat),
            }
        })?;
        match reply.word.as_str() {
            "OK" if reply.is_at_end() => Ok(0),
            "OK" => reply.int(),
            "FULL" => {
                let error = Error::over_capacity(reply.int()?, reply.int()?, self.capacity.unwrap_or(0));
                // The lost try may have stored jobs that are done by now, and others have taken their places.
                let in_doubt = |error| Error::in_doubt("an answer was lost, and a later try failed", error);
                Err(if was_lost.get() { in_doubt(error) } else { error })
            }
            "DUPLICATE" | "RESERVED" => {
                let id = JobId::from_redis(&reply.bytes()?);
                Err(Error::Duplicate {
                    queue: self.name.to_string(),
                    id: id.to_string(),
                    items: None,
                    may_be_taken: jobs.iter().any(|one| one.id == id && one.job.unique_ms.is_some()),
                })
            }
            _ => Err(reply::unexpected()),
        }
    }

    /// Runs a script that adds jobs, and enters the queue into the index of names where that is due. `write` gets whether it is a repeat.
    pub(super) fn indexing(&self, write: impl Fn(&mut Request, bool)) -> Result<Reply> {
        let mut must_index = false;
        let value = self.client.run(|request, attempt, connection| {
            must_index = self.is_due_over(connection, Chore::Index);
            if must_index && !self.client.has_slots() {
                self.write_index(request);
            }
            write(request, attempt.is_repeat);
        });
        let reply = Reply::new(value.map_err(|error| self.naming_key(error))?)?;
        if must_index && (!self.client.has_slots() || reply.word == "OK") {
            if self.client.has_slots() {
                self.index_elsewhere();
            }
            self.has_done(Chore::Index);
        }
        Ok(reply)
    }

    fn write_push(&self, request: &mut Request, jobs: &[Encoded<'_>], mode: OnDuplicate, is_repeat: bool) {
        let offset = clock::offset_us().to_string();
        let mode: &[u8] = match (mode, is_repeat) {
            (OnDuplicate::Fail, true) => b"fail_again",
            (OnDuplicate::Keep, true) => b"keep_again",
            (mode, _) => word(mode),
        };
        let mut args: Vec<&[u8]> = Vec::with_capacity(2 + 5 * jobs.len());
        args.extend([offset.as_bytes(), mode]);
        let has_groups = jobs.iter().any(|one| one.group().is_some());
        for one in jobs {
            args.extend([one.id.as_bytes(), &one.record, one.due.as_bytes()]);
            if has_groups {
                args.extend([one.group().unwrap_or_default(), one.priority.as_bytes()]);
            }
        }
        let keys = self.keys.push();
        let has_moments = jobs.iter().any(|one| matches!(one.job.due, Due::AtUs(_)));
        let named = if has_groups { keys.len() } else { 3 + usize::from(has_moments) };
        self.call_script(request, &scripts::PUSH, keys.get(..named).unwrap_or(&keys), &args);
    }

    fn write_push_any(&self, request: &mut Request, jobs: &[Encoded<'_>], is_repeat: bool) {
        let capacity = self.capacity.map_or_else(String::new, |most| most.to_string());
        let mut args: Vec<&[u8]> = Vec::with_capacity(2 + 6 * jobs.len());
        args.extend([if is_repeat { b"1" } else { b"0" }, capacity.as_bytes()]);
        for one in jobs {
            let mode = word(one.job.on_duplicate);
            args.extend([one.id.as_bytes(), &one.record, one.due.as_bytes(), mode]);
            args.extend([one.priority.as_bytes(), one.unique.as_bytes()]);
        }
        if jobs.iter().any(|one| one.job.unique_ms.is_some()) {
            self.write_script_with(request, &scripts::PUSH_ANY, &self.keys.all_and_recent(), &args);
        } else {
            self.write_script(request, &scripts::PUSH_ANY, &args);
        }
    }

    fn write_index(&self, request: &mut Request) {
        let (index, parts) = (keys::index(self.keys.prefix()), self.keys.parts_up_to_here().to_string());
        request.command(&[b"ZADD", index.as_bytes(), b"GT", parts.as_bytes(), self.name.as_bytes()]);
    }

    /// Enters the queue into the index of names outside of a push.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn enlist(&self) -> Result<()> {
        let client = self.client.for_slot(keys::index_slot(self.keys.prefix()));
        client.run(|request, _, _| self.write_index(request)).map(|_| ())
    }

    /// In a cluster the index may lie on another node. If that one is slow or down, the next push of a minute later will enter the queue.
    fn index_elsewhere(&self) {
        let _ = within(INDEX_PATIENCE, || self.enlist());
    }

    pub(super) fn check_payload(&self, payload: &[u8]) -> Result<()> {
        if payload.len() > self.max_payload {
            return Err(Error::PayloadTooLarge { size: payload.len(), limit: self.max_payload });
        }
        Ok(())
    }
}
