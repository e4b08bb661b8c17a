//! Replacing the payload and the headers of a job.

use super::{Held, Queue};
use crate::core::error::{Error, Result};
use crate::core::job::JobId;
use crate::core::record::{self, Record};
use crate::core::reply;
use crate::core::scripts;
use crate::core::seal::{Seal, Unopened};
use std::borrow::Cow;

/// The client makes new options from those that it read, and tries so often if another client changes them in between.
const TRIES: u32 = 10;

/// The outcome of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Updated {
    Yes,
    /// Not there, or another worker holds it.
    No,
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
    Plain {
        payload: &'a [u8],
        headers: Option<&'a [(String, String)]>,
    },
    /// Stored as it is.
    Sealed(SealedContent<'a>),
    /// The old one under the first key, if it has another one; plain ones as well, or not.
    Resealed {
        plain_too: bool,
    },
}

/// The options and the payload to store, and the options as they are stored now.
struct Change<'a> {
    options: Vec<u8>,
    payload: Cow<'a, [u8]>,
    old_options: Vec<u8>,
}

impl Queue {
    /// Replaces the payload and, unless `None`, the headers of a job that nobody holds; false if it is not there, or held.
    ///
    /// # Errors
    /// [`Error::PayloadTooLarge`]; [`Error::Seal`] for a sealed job without keys, or one whose headers are kept and cannot be opened;
    /// connection and server errors.
    pub fn update(&self, id: &JobId, payload: &[u8], headers: Option<&[(String, String)]>) -> Result<bool> {
        self.check_payload(payload)?;
        self.update_free(id, Content::Plain { payload, headers }, "updating")
    }

    /// Updates a job in hand.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; [`Error::PayloadTooLarge`]; [`Error::Seal`]; connection and server errors.
    pub fn update_held(&self, held: &Held, payload: &[u8], headers: Option<&[(String, String)]>) -> Result<()> {
        self.check_payload(payload)?;
        self.update_leased(held, Content::Plain { payload, headers })
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
        self.update_free(id, Content::Resealed { plain_too }, "sealing")
    }

    fn update_free(&self, id: &JobId, content: Content<'_>, what: &str) -> Result<bool> {
        self.update_any(id, b"", content)
            .map(|updated| updated == Updated::Yes)
            .map_err(|error| error.while_doing(|| format!("{what} job '{id}' of queue '{}'", self.name)))
    }

    fn update_leased(&self, held: &Held, content: Content<'_>) -> Result<()> {
        match self.update_any(held.id(), &held.receipt.lease, content).map_err(self.doing("updating", held))? {
            Updated::Yes => Ok(()),
            Updated::No => Err(self.lost(held)),
        }
    }

    fn update_any(&self, id: &JobId, lease: &[u8], content: Content<'_>) -> Result<Updated> {
        self.client.in_one_operation(|| self.update_in_time(id, lease, content))
    }

    fn update_in_time(&self, id: &JobId, lease: &[u8], content: Content<'_>) -> Result<Updated> {
        for _ in 0..TRIES {
            let Some(change) = self.change(id, content)? else { return Ok(Updated::No) };
            let Change { options, payload, old_options } = &change;
            let (reply, _) =
                self.script_again(&scripts::UPDATE, &[id.as_bytes(), lease, payload, options, old_options])?;
            match reply.word.as_str() {
                "OK" => return Ok(Updated::Yes),
                "MISSING" | "LOST" => return Ok(Updated::No),
                "CHANGED" => {}
                _ => return Err(reply::unexpected()),
            }
        }
        Err(Error::Server {
            doing: Default::default(),
            code: "DQBUSY".into(),
            message: "somebody else changes the options of the job again and again".into(),
        })
    }

    /// The job with its new content, made from the one that is stored now; `None` when there is no such job, or nothing to change. Each
    /// sealing makes another tag in the options, so that the script notices a change in between.
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
        let Some(old_options) = record::stored_options(&bytes).map(<[u8]>::to_vec) else { return Ok(None) };
        let Some(Record { mut options, payload: mut old_payload, .. }) = Record::decode(bytes) else { return Ok(None) };
        let refused = |why: &Unopened| self.unopened(id, why);
        let (options, payload) = match content {
            Content::Sealed(SealedContent { payload, headers, seal }) => {
                (options.headers, options.seal) = (headers.to_vec(), Some(seal.clone()));
                (record::encode_options(&options), Cow::Borrowed(payload))
            }
            Content::Plain { payload, headers } => {
                match (headers, &options.seal) {
                    (None, _) => self.open(id, &mut options, &mut old_payload).map_err(|why| refused(&why))?,
                    // Nobody with the keys would take it any more.
                    (Some(_), Some(seal)) if self.keyring.is_none() => return Err(refused(&seal.needs_keys())),
                    (Some(headers), _) => options.headers = headers.to_vec(),
                }
                let (options, payload) = self.sealed(id, &options, payload)?;
                (record::encode_options(&options), payload)
            }
            Content::Resealed { plain_too } => {
                match (&self.keyring, &options.seal) {
                    (None, _) => return Ok(None),
                    (Some(keyring), Some(seal)) if keyring.is_current(seal) => return Ok(None),
                    (Some(_), None) if plain_too => {}
                    _ => self.open(id, &mut options, &mut old_payload).map_err(|why| refused(&why))?,
                }
                let (options, payload) = self.sealed(id, &options, &old_payload)?;
                (record::encode_options(&options), Cow::Owned(payload.into_owned()))
            }
        };
        Ok(Some(Change { options, payload, old_options }))
    }
}
