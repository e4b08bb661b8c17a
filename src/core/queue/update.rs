//! Replacing the payload and the headers of a job.

use super::{Held, Queue};
use crate::core::error::{Error, Result};
use crate::core::job::JobId;
use crate::core::record::{self, Record};
use crate::core::reply;
use crate::core::scripts;

/// The client makes new options from those that it read, and tries so often if another client changes them in between.
const TRIES: u32 = 10;

/// The outcome of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Updated {
    Yes,
    /// Not there, or another worker holds it.
    No,
}

impl Queue {
    /// Replaces the payload and, unless `None`, the headers of a job that nobody holds; false if it is not there, or held.
    ///
    /// # Errors
    /// [`Error::PayloadTooLarge`]; connection and server errors.
    pub fn update(&self, id: &JobId, payload: &[u8], headers: Option<&[(String, String)]>) -> Result<bool> {
        self.update_any(id, b"", payload, headers)
            .map(|updated| updated == Updated::Yes)
            .map_err(|error| error.while_doing(|| format!("updating job '{id}' of queue '{}'", self.name)))
    }

    /// The same for a job in hand.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is no longer ours; [`Error::PayloadTooLarge`]; connection and server errors.
    pub fn update_held(&self, held: &Held, payload: &[u8], headers: Option<&[(String, String)]>) -> Result<()> {
        match self.update_any(held.id(), &held.receipt.lease, payload, headers).map_err(self.doing("updating", held))? {
            Updated::Yes => Ok(()),
            Updated::No => Err(self.lost(held)),
        }
    }

    fn update_any(
        &self,
        id: &JobId,
        lease: &[u8],
        payload: &[u8],
        headers: Option<&[(String, String)]>,
    ) -> Result<Updated> {
        self.check_payload(payload)?;
        for _ in 0..TRIES {
            let options = match headers {
                None => None,
                Some(headers) => match self.with_headers(id, headers)? {
                    Some(options) => Some(options),
                    None => return Ok(Updated::No),
                },
            };
            let mut args = vec![id.as_bytes(), lease, payload];
            if let Some((new, old)) = &options {
                args.extend([new.as_slice(), old]);
            }
            let (reply, _) = self.script_again(&scripts::UPDATE, &args)?;
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

    /// The options of a job with other headers, and as they are stored now; `None` when there is no such job.
    fn with_headers(&self, id: &JobId, headers: &[(String, String)]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let value = self.client.run(|request, _, _| request.command(&[b"HGET", self.keys.jobs(), id.as_bytes()]));
        let value = value.map_err(|error| self.naming_key(error))?;
        let Some(bytes) = reply::bytes(value) else { return Ok(None) };
        let Some(old) = record::stored_options(&bytes).map(<[u8]>::to_vec) else { return Ok(None) };
        let Some(mut found) = Record::decode(bytes) else { return Ok(None) };
        found.options.headers = headers.to_vec();
        Ok(Some((record::encode_options(&found.options), old)))
    }
}
