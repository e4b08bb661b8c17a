//! Producing one job: push. Many: [`super::push_many`].

use super::Queue;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::job::{Due, JobId, NewJob, OnDuplicate};
use crate::core::link::{Attempt, Request};
use crate::core::packing::{self, Packed};
use crate::core::record;
use crate::core::{clock, keys, scripts};
use std::borrow::Cow;

/// One job as Redis gets it.
pub(super) struct Encoded<'a> {
    pub(super) id: JobId,
    options: Vec<u8>,
    payload: Packed<'a>,
    pub(super) flags: &'static [u8],
    pub(super) job: &'a NewJob,
}

impl<'a> Encoded<'a> {
    /// `generate` gives the id of a job without one.
    pub(super) fn new(job: &'a NewJob, generate: impl FnOnce() -> JobId, compress: bool) -> Self {
        let (options, flags) = record::encode_options(&job.options);
        let payload = packing::pack(&job.payload, compress);
        Self { id: job.id.clone().unwrap_or_else(generate), options, payload, flags, job }
    }

    /// What follows the due time in the record. In parts, since a record is made of them in one go.
    pub(super) fn body_parts(&self) -> [&[u8]; 3] {
        let [mark, payload] = self.payload.parts();
        [&self.options, mark, payload]
    }

    /// The same in one, for scripts that make the record.
    pub(super) fn body(&self) -> Cow<'_, [u8]> {
        match self.body_parts() {
            [[], [], payload] => Cow::Borrowed(payload),
            parts => Cow::Owned(parts.concat()),
        }
    }

    pub(super) fn body_len(&self) -> usize {
        self.body_parts().iter().map(|part| part.len()).sum()
    }
}

/// What became of one job.
pub(super) enum Pushed {
    New,
    /// The id is taken; nothing changed.
    Duplicate,
}

/// A due time as the scripts take it: a delay or an absolute time, the other one empty.
pub(super) fn due_args(due: Due) -> (String, String) {
    match due {
        Due::InMs(delay) => (delay.to_string(), String::new()),
        Due::AtMs(at) => (String::new(), at.max(0).to_string()),
    }
}

impl Queue {
    /// Adds one job and returns its id. A retry after a lost answer is the same job.
    ///
    /// # Errors
    /// [`Error::Duplicate`], [`Error::PayloadTooLarge`], [`Error::QueueFull`], connection and server errors.
    pub fn push(&self, job: &NewJob) -> Result<JobId> {
        self.check_size(job)?;
        let encoded = Encoded::new(job, JobId::generate, self.compress);
        let doing =
            |error: Error| error.while_doing(|| format!("pushing job '{}' to queue '{}'", encoded.id, self.name));
        if record::is_ranked(&job.options) || job.on_duplicate == OnDuplicate::Replace {
            self.push_each(std::slice::from_ref(&encoded)).map_err(doing)?;
            return Ok(encoded.id);
        }
        match self.push_one(&encoded).map_err(doing)? {
            Pushed::New => Ok(encoded.id),
            Pushed::Duplicate if job.on_duplicate == OnDuplicate::Keep => Ok(encoded.id),
            Pushed::Duplicate => Err(self.duplicate(encoded.id.as_bytes())),
        }
    }

    /// Writes `lua/push.lua` with what it needs to know; `placed` is what the record begins with under
    /// which a transaction may have stored the job.
    pub(super) fn write_push(&self, request: &mut Request, job: &Encoded<'_>, attempt: Attempt, placed: Option<&[u8]>) {
        let offset = clock::offset_ms();
        let offset_text = if offset == 0 { String::new() } else { offset.to_string() };
        let (delay, at) = due_args(job.job.due);
        let window = retry_window(attempt);
        let body = job.body();
        let all: [&[u8]; 8] = [
            job.id.as_bytes(),
            &body,
            delay.as_bytes(),
            job.flags,
            if offset == 0 { b"0" } else { offset_text.as_bytes() },
            at.as_bytes(),
            window.as_bytes(),
            placed.unwrap_or_default(),
        ];
        // What says nothing at the end need not be sent.
        let says =
            [true, true, true, job.flags != b"0", offset != 0, !at.is_empty(), !window.is_empty(), placed.is_some()];
        let used = says.iter().rposition(|says| *says).map_or(0, |last| last + 1);
        request.script(&scripts::PUSH, &self.keys.push(), all.get(..used).unwrap_or(&all));
    }

    /// Enters the queue into the index of names, once per connection.
    pub(super) fn write_index(&self, request: &mut Request, connection: &mut Connection) {
        if !connection.indexed.contains(self.name.as_ref()) {
            connection.indexed.insert(self.name.to_string());
            request.command(&[b"ZADD", keys::index(self.keys.prefix()).as_bytes(), b"NX", b"0", self.name.as_bytes()]);
        }
    }

    pub(super) fn duplicate(&self, id: &[u8]) -> Error {
        Error::Duplicate { queue: self.name.to_string(), id: String::from_utf8_lossy(id).into_owned() }
    }

    pub(super) fn check_size(&self, job: &NewJob) -> Result<()> {
        self.check_payload(&job.payload)
    }

    pub(super) fn check_payload(&self, payload: &[u8]) -> Result<()> {
        if payload.len() > self.max_payload {
            return Err(Error::PayloadTooLarge { size: payload.len(), limit: self.max_payload });
        }
        Ok(())
    }
}

/// By how much later than its first try a retry may be executed than it was sent.
const MARGIN_US: u128 = 100_000;

/// Microseconds since the lost try was sent, with a margin for a slow answer; empty on a first try.
pub(super) fn retry_window(attempt: Attempt) -> String {
    attempt.since_lost.map_or_else(String::new, |since| (since.as_micros() + MARGIN_US).to_string())
}
