//! Changing the payload, the headers and the time of a job.

use super::manage::unknown;
use super::{Held, Queue, due_arg};
use crate::core::error::{Error, Result};
use crate::core::headers::{self, Headers};
use crate::core::job::{Due, Fingerprint, JobId};
use crate::core::record::{self, Record};
use crate::core::reply;
use crate::core::scripts;
use crate::core::seal::{Seal, Unopened};
use std::borrow::Cow;

/// The client makes new content from what it read, and tries so often if another client changes that in between.
const TRIES: u32 = 10;

/// The outcome of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Updated {
    Yes,
    /// Not there, or another worker holds it, or it is not as the caller saw it.
    No,
}

/// The new content of a job; what is not given stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes<'a> {
    pub payload: Option<&'a [u8]>,
    /// By their names; without a value it is removed.
    pub headers: &'a [(String, Option<String>)],
}

impl<'a> Changes<'a> {
    /// Another payload.
    #[must_use]
    pub fn payload(payload: &'a [u8]) -> Self {
        Self { payload: Some(payload), headers: &[] }
    }

    /// Another payload, and other headers.
    #[must_use]
    pub fn new(payload: &'a [u8], headers: &'a [(String, Option<String>)]) -> Self {
        Self { payload: Some(payload), headers }
    }
}

/// The stored content of a sealed job, as [`Queue::peek`] shows it without keys.
#[derive(Debug, Clone, Copy)]
pub struct SealedContent<'a> {
    pub payload: &'a [u8],
    pub headers: &'a [(String, String)],
    pub seal: &'a Seal,
}

/// The new content of a job.
#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    Changed(Changes<'a>),
    /// Stored as it is.
    Sealed(SealedContent<'a>),
    /// The old one under the first key, if it has another one; plain ones as well, or not.
    Resealed {
        plain_too: bool,
    },
}

/// Where a job goes, and what it must be.
#[derive(Clone, Copy, Default)]
struct Terms<'a> {
    /// Empty: nobody may hold the job.
    lease: &'a [u8],
    due: Option<Due>,
    unchanged: Option<&'a Fingerprint>,
}

/// What to store.
struct Change<'a> {
    options: Vec<u8>,
    /// `None`: the stored one stays.
    payload: Option<Cow<'a, [u8]>>,
    /// Of the record that was read.
    digest: String,
}

impl Queue {
    /// Changes a job that nobody holds, and gives it another time, in one step; false if it is not there, or held, or not as `unchanged` says.
    ///
    /// # Errors
    /// [`Error::PayloadTooLarge`]; [`Error::Invalid`] for too many headers; [`Error::Seal`] for a sealed job that cannot be opened;
    /// [`Error::Connection`] with `ambiguous` when an answer was lost and the job is not unchanged since. Connection and server errors.
    pub fn update(
        &self,
        id: &JobId,
        changes: Changes<'_>,
        due: Option<Due>,
        unchanged: Option<&Fingerprint>,
    ) -> Result<bool> {
        self.check_payload(changes.payload.unwrap_or_default())?;
        self.update_free(id, Terms { lease: b"", due, unchanged }, Content::Changed(changes), "updating")
    }

    /// Changes a job in hand.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; else as [`Queue::update`].
    pub fn update_held(&self, held: &Held, changes: Changes<'_>) -> Result<()> {
        self.check_payload(changes.payload.unwrap_or_default())?;
        self.update_leased(held, Content::Changed(changes))
    }

    /// Gives a job in hand the content of a sealed one of the same id and queue, as it is: for moving jobs without their keys.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; connection and server errors.
    pub fn update_held_to_sealed(&self, held: &Held, content: SealedContent<'_>) -> Result<()> {
        self.update_leased(held, Content::Sealed(content))
    }

    /// Seals a job that nobody holds with the first key. False: it is sealed so already, not there, or held.
    ///
    /// # Errors
    /// [`Error::Seal`] when it cannot be opened, or is plain and `plain_too` is not set; connection and server errors.
    pub fn reseal(&self, id: &JobId, plain_too: bool) -> Result<bool> {
        self.update_free(id, Terms::default(), Content::Resealed { plain_too }, "sealing")
    }

    fn update_free(&self, id: &JobId, terms: Terms<'_>, content: Content<'_>, what: &str) -> Result<bool> {
        self.update_any(id, terms, content)
            .map(|updated| updated == Updated::Yes)
            .map_err(|error| error.while_doing(|| format!("{what} job '{id}' of queue '{}'", self.name)))
    }

    fn update_leased(&self, held: &Held, content: Content<'_>) -> Result<()> {
        let terms = Terms { lease: &held.receipt.lease, ..Terms::default() };
        match self.update_any(held.id(), terms, content).map_err(self.doing("updating", held))? {
            Updated::Yes => Ok(()),
            Updated::No => Err(self.lost(held)),
        }
    }

    fn update_any(&self, id: &JobId, terms: Terms<'_>, content: Content<'_>) -> Result<Updated> {
        self.client.in_one_operation(|| self.update_in_time(id, terms, content))
    }

    fn update_in_time(&self, id: &JobId, terms: Terms<'_>, content: Content<'_>) -> Result<Updated> {
        let due = terms.due.map(due_arg).unwrap_or_default();
        let old_due = terms.unchanged.map(|seen| seen.due_at_us.to_string()).unwrap_or_default();
        for _ in 0..TRIES {
            let Some(change) = self.change(id, content)? else { return Ok(Updated::No) };
            // The holder of a lease is the only one who writes.
            let digest = match terms.unchanged {
                None if terms.lease.is_empty() => change.digest.as_str(),
                None => "",
                Some(seen) if seen.digest == change.digest => seen.digest.as_str(),
                Some(_) => return Ok(Updated::No),
            };
            let head = [id.as_bytes(), terms.lease, digest.as_bytes(), old_due.as_bytes(), due.as_bytes()];
            let rest = [Some(change.options.as_slice()), change.payload.as_deref()];
            let args: Vec<&[u8]> = head.into_iter().chain(rest.into_iter().flatten()).collect();
            let (reply, was_lost) = self.script_again(&scripts::UPDATE, &args)?;
            match reply.word.as_str() {
                "OK" => return Ok(Updated::Yes),
                "MISSING" | "LOST" => return Ok(Updated::No),
                "CHANGED" if terms.unchanged.is_none() => {}
                "CHANGED" if was_lost => return Err(unknown("the job may have been updated")),
                "CHANGED" => return Ok(Updated::No),
                _ => return Err(reply::unexpected()),
            }
        }
        Err(Error::Server {
            doing: Default::default(),
            code: "DQBUSY".into(),
            message: "somebody else changes the job again and again".into(),
        })
    }

    /// The job with its new content, made from the one that is stored now; `None` when there is no such job, or nothing to change.
    fn change<'a>(&self, id: &JobId, content: Content<'a>) -> Result<Option<Change<'a>>> {
        let value = self.client.run(|request, _, _| {
            request.reads_records();
            request.command(&[b"HGET", self.keys.jobs(), id.as_bytes()]);
        });
        let value = value.map_err(|error| self.naming_key(error))?;
        let Some(bytes) = reply::bytes(value) else {
            // A newer version keeps its jobs elsewhere: then this is an error, and no word about the job.
            let known = self.client.run(|request, _, _| request.command(&[b"ZCARD", self.keys.waiting()]));
            return known.map(|_| None).map_err(|error| self.naming_key(error));
        };
        let digest = record::digest(&bytes);
        let Some(Record { mut options, payload: mut old_payload, .. }) = Record::decode(bytes) else { return Ok(None) };
        let refused = |why: &Unopened| self.unopened(id, why);
        let (options, payload) = match content {
            Content::Sealed(SealedContent { payload, headers, seal }) => {
                (options.headers, options.seal) = (headers.to_vec(), Some(seal.clone()));
                (record::encode_options(&options), Some(Cow::Borrowed(payload)))
            }
            Content::Changed(Changes { payload, headers }) => {
                self.open(id, &mut options, &mut old_payload).map_err(|why| refused(&why))?;
                options.headers = merged(options.headers, headers)?;
                match (&self.keyring, payload) {
                    (None, payload) => (record::encode_options(&options), payload.map(Cow::Borrowed)),
                    (Some(_), payload) => {
                        let (options, sealed) = self.sealed(id, &options, payload.unwrap_or(&old_payload))?;
                        (record::encode_options(&options), Some(Cow::Owned(sealed.into_owned())))
                    }
                }
            }
            Content::Resealed { plain_too } => {
                match (&self.keyring, &options.seal) {
                    (None, _) => return Ok(None),
                    (Some(keyring), Some(seal)) if keyring.is_current(seal) => return Ok(None),
                    (Some(_), None) if plain_too => {}
                    _ => self.open(id, &mut options, &mut old_payload).map_err(|why| refused(&why))?,
                }
                let (options, payload) = self.sealed(id, &options, &old_payload)?;
                (record::encode_options(&options), Some(Cow::Owned(payload.into_owned())))
            }
        };
        Ok(Some(Change { options, payload, digest }))
    }
}

/// The headers with their changes.
fn merged(mut all: Headers, changes: &[(String, Option<String>)]) -> Result<Headers> {
    for (name, value) in changes {
        let Some(value) = value else {
            all.retain(|(known, _)| known != name);
            continue;
        };
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => all.push((name.clone(), value.clone())),
        }
    }
    headers::check(&all).map(|()| all)
}
