//! Operations on jobs that nobody holds, and on the queue as a whole.

use super::{Queue, due_arg};
use crate::core::error::{Error, Result};
use crate::core::job::{Due, JobId, State};
use crate::core::record::Record;
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use std::collections::HashSet;
use std::time::Instant;

/// Most ids of one script call.
const IDS: usize = 200;

/// A job that the classic consumer has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub payload: Vec<u8>,
    /// The payload is the stored one: it is sealed, and this queue object has no keys.
    pub is_sealed: bool,
}

impl From<Record> for Taken {
    fn from(record: Record) -> Self {
        Self { payload: record.payload, is_sealed: record.options.seal.is_some() }
    }
}

impl Queue {
    /// Removes jobs in any state; returns how many there were.
    ///
    /// # Errors
    /// [`Error::Connection`] with `ambiguous` when an answer was lost and jobs are gone: how many of them there were is
    /// then unknown; or when a part of them was cancelled before it failed. Connection and server errors.
    pub fn cancel(&self, ids: &[JobId]) -> Result<u64> {
        let mut seen = HashSet::new();
        let unique: Vec<&JobId> = ids.iter().filter(|id| seen.insert(*id)).collect();
        let mut cancelled = 0;
        for chunk in unique.chunks(IDS) {
            cancelled += self.cancel_chunk(chunk).map_err(|error| {
                partly(cancelled, "cancelled", error).while_doing(|| match chunk {
                    [id] => format!("cancelling job '{id}' of queue '{}'", self.name),
                    _ => format!("cancelling {} jobs of queue '{}'", chunk.len(), self.name),
                })
            })?;
        }
        Ok(cancelled)
    }

    fn cancel_chunk(&self, ids: &[&JobId]) -> Result<u64> {
        let args: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
        let (mut reply, was_lost) = self.script_knowing(&scripts::CANCEL, |_| args.clone())?;
        let cancelled = count(reply.int()?);
        if was_lost && cancelled < ids.len() as u64 {
            return Err(unknown("the jobs are gone, how many there were is unknown"));
        }
        Ok(cancelled)
    }

    fn about<'a>(&'a self, what: &'a str, id: &'a JobId) -> impl Fn(Error) -> Error + 'a {
        move |error| error.while_doing(|| format!("{what} job '{id}' of queue '{}'", self.name))
    }

    pub(super) fn on_queue<'a>(&'a self, what: &'a str) -> impl Fn(Error) -> Error + 'a {
        move |error| error.while_doing(|| format!("{what} queue '{}'", self.name))
    }

    /// Moves a delayed, ready or buried job to a new time; false if it is not there, or held. `held`: one that a worker holds comes back by
    /// then, if it is given back without a failure; false if it is not there.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn reschedule(&self, id: &JobId, due: Due, held: bool) -> Result<bool> {
        let args = [id.as_bytes(), &due_arg(due).into_bytes(), flag(held)];
        found(self.script_again(&scripts::RESCHEDULE, &args)).map_err(self.about("rescheduling", id))
    }

    /// A buried or delayed job becomes ready now; false if it is neither.
    ///
    /// # Errors
    /// [`Error::Connection`] with `ambiguous` when an answer was lost and the job is not there any more: it may have been kicked and
    /// served. Connection and server errors.
    pub fn kick_job(&self, id: &JobId, reset_attempts: bool) -> Result<bool> {
        let args = [id.as_bytes(), flag(reset_attempts)];
        let (reply, was_lost) = self.script_again(&scripts::KICK_JOB, &args).map_err(self.about("kicking", id))?;
        if reply.word == "OK" || !was_lost {
            return Ok(reply.word == "OK");
        }
        let looked = self
            .peek(id)
            .map_err(|error| Error::in_doubt("the answer was lost, and the job may have been kicked", error));
        match looked.map_err(self.about("kicking", id))?.map(|info| info.state) {
            Some(State::Ready | State::Reserved) => Ok(true),
            _ => Err(self.about("kicking", id)(unknown("the job may have been kicked, and served meanwhile"))),
        }
    }

    /// Up to `max` buried jobs become ready, oldest first; returns how many.
    ///
    /// # Errors
    /// [`Error::Connection`] with `ambiguous` when an answer was lost: a repetition would kick others; or when some were kicked before it
    /// failed.
    pub fn kick(&self, max: u64, reset_attempts: bool) -> Result<u64> {
        let failed = |kicked| move |error| self.on_queue("kicking jobs of")(partly(kicked, "kicked", error));
        let (mut kicked, mut passed_over, mut last_round) = (0, 0_u64, self.client.last_round());
        while kicked < max {
            let want = (max - kicked).min(IDS as u64);
            let (many, skip) = (want.to_string(), passed_over.to_string());
            let reply = self.script_once(&scripts::KICK, &[many.as_bytes(), flag(reset_attempts), skip.as_bytes()]);
            let mut reply = reply.map_err(failed(kicked))?;
            match reply.word.as_str() {
                "AGAIN" if Instant::now() >= last_round => return Err(failed(kicked)(Error::unfinished(false))),
                "AGAIN" => continue,
                _ => last_round = self.client.last_round(),
            }
            let [done, looked, left] = reply.counts().map_err(failed(kicked))?;
            kicked += done;
            passed_over += left;
            if looked < want {
                break;
            }
        }
        Ok(kicked)
    }

    /// The classic consumer: up to `limit` jobs due by then (`None`: now), oldest first, deleted as they are taken.
    ///
    /// A job whose record cannot be read is buried. With keys for sealing it takes the jobs one by one, so that those that cannot be opened
    /// are buried, too.
    ///
    /// # Errors
    /// [`Error::Connection`] with `ambiguous` when an answer was lost, and the jobs in it. None behind jobs that were taken: they are deleted,
    /// and must reach the caller.
    pub fn take(&self, max_due_at_us: Option<i64>, limit: usize) -> Result<Vec<Taken>> {
        let mut taken = Vec::new();
        let result = match self.keyring {
            Some(_) => self.take_opened(max_due_at_us, limit, &mut taken),
            None => self.take_stored(max_due_at_us, limit, &mut taken),
        };
        match result {
            Err(error) if taken.is_empty() => Err(self.on_queue("taking from")(error)),
            _ => Ok(taken),
        }
    }

    fn take_stored(&self, latest_us: Option<i64>, limit: usize, taken: &mut Vec<Taken>) -> Result<()> {
        let latest = latest_us.map(|at_us| due_arg(Due::AtUs(at_us))).unwrap_or_default();
        let mut last_round = self.client.last_round();
        while taken.len() < limit {
            let want = (limit - taken.len()).min(500);
            let (most, bytes) = (want.to_string(), self.most_bytes().to_string());
            let mut reply =
                self.script_once(&scripts::TAKE, &[latest.as_bytes(), most.as_bytes(), bytes.as_bytes()])?;
            match reply.word.as_str() {
                "AGAIN" if Instant::now() >= last_round => return Err(Error::unfinished(false)),
                "AGAIN" => continue,
                "OK" => last_round = self.client.last_round(),
                _ => return Err(reply::unexpected()),
            }
            let may_be_more = reply.int()? == 1;
            taken.extend(reply.rest()?.into_iter().filter_map(Record::decode).map(Taken::from));
            if !may_be_more {
                break;
            }
        }
        Ok(())
    }

    /// Deletes all jobs of the given states (none named: all), in bounded steps, each of which may take the time of one operation; returns how
    /// many.
    ///
    /// # Errors
    /// [`Error::Connection`] with `ambiguous` when an answer was lost: the jobs are gone, how many there were is unknown; or when some were
    /// deleted before it failed. Connection and server errors.
    pub fn purge(&self, states: &[State]) -> Result<u64> {
        let states = if states.is_empty() { &State::ALL } else { states };
        let (mut removed, mut was_ever_lost) = (0, false);
        for state in states {
            loop {
                let answer = self.script_again(&scripts::PURGE, &[state.word().as_bytes()]);
                let answer = answer.and_then(|(mut reply, was_lost)| Ok((reply.counts()?, was_lost)));
                let ([more, left], was_lost) = answer
                    .map_err(|error| match was_ever_lost {
                        true => Error::in_doubt("an answer was lost, and jobs are deleted", error),
                        false => partly(removed, "deleted", error),
                    })
                    .map_err(self.on_queue("purging"))?;
                was_ever_lost |= was_lost;
                removed += more;
                if left == 0 {
                    break;
                }
            }
        }
        if was_ever_lost {
            return Err(self.on_queue("purging")(unknown("the jobs are gone, how many there were is unknown")));
        }
        Ok(removed)
    }

    /// Deletes the counters of a queue that is empty and unused, which are all that is left of it; false, and nothing changed, if it has jobs,
    /// is paused, or a consumer waits for it. The index of queues keeps its name: see [`Queue::unlist`].
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn forget(&self) -> Result<bool> {
        let answer = self.script_again(&scripts::FORGET, &[]).and_then(|(reply, _)| match reply.word.as_str() {
            "OK" => Ok(true),
            "USED" => Ok(false),
            _ => Err(reply::unexpected()),
        });
        answer.map_err(self.on_queue("forgetting"))
    }
}

fn found(reply: Result<(Reply, bool)>) -> Result<bool> {
    match reply?.0.word.as_str() {
        "OK" => Ok(true),
        "MISSING" => Ok(false),
        _ => Err(reply::unexpected()),
    }
}

/// The error of an operation that has changed so many jobs before.
pub(super) fn partly(jobs: u64, done: &str, error: Error) -> Error {
    if jobs == 0 { error } else { Error::in_doubt(&format!("jobs {done}: {jobs}, then"), error) }
}

/// A repeat cannot tell what the try before has done.
pub(super) fn unknown(what: &str) -> Error {
    Error::Connection { doing: Default::default(), message: format!("the answer was lost; {what}"), ambiguous: true }
}

pub(super) fn flag(set: bool) -> &'static [u8] {
    if set { b"1" } else { b"0" }
}

pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
