//! Seals jobs, and opens them: payload and headers, encrypted or only signed, bound to the key, the queue and the id (see `docs/sealing.md`).
//!
//! | algorithm | payload in the record | headers | `tag` of the seal |
//! |---|---|---|---|
//! | `xchacha20-poly1305` | nonce 24 · ciphertext of headers and payload | in the ciphertext | Poly1305, 16 bytes |
//! | `hmac-sha256` | as it is | as they are | HMAC, 32 bytes |
//!
//! The associated data is [`CONTEXT`], then prefix, queue, id, algorithm and key id, each with its length before it (4 bytes, big-endian). The
//! headers stand before the payload: how many 4 · (length 4 · name · length 4 · value) …. HMAC goes over the associated data, headers, payload.

use super::error::{Error, Result};
use super::job::{JobId, JobOptions};
use super::seal::{Seal, Unopened, is_key_id};
use base64::prelude::{BASE64_STANDARD, Engine};
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305, XNonce};
use ring::hmac;
use zeroize::Zeroizing;

/// Tells these messages from any others under the same key.
const CONTEXT: &[u8] = b"delayqueue seal 1";
const ENCRYPTED: &str = "xchacha20-poly1305";
const SIGNED: &str = "hmac-sha256";
const NONCE: usize = 24;
/// Bytes of a key.
pub const KEY: usize = 32;

/// The place of a job, to which its seal is bound.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    pub prefix: &'a str,
    pub queue: &'a str,
    pub id: &'a JobId,
}

impl Address<'_> {
    fn associated_data(&self, algorithm: &str, key: &str) -> Vec<u8> {
        let mut out = CONTEXT.to_vec();
        for part in
            [self.prefix.as_bytes(), self.queue.as_bytes(), self.id.as_bytes(), algorithm.as_bytes(), key.as_bytes()]
        {
            put(&mut out, part);
        }
        out
    }

    /// The reason with which such a job is buried.
    #[must_use]
    pub fn reason(&self, why: &Unopened) -> String {
        format!("job '{}' of queue '{}' cannot be opened: {why}", self.id, self.queue)
    }
}

#[derive(Clone)]
struct SealingKey {
    id: String,
    secret: Zeroizing<[u8; KEY]>,
}

/// The keys of a queue: the first one seals, all of them open. Never printed, and wiped from memory when it goes.
#[derive(Clone)]
pub struct Keyring {
    first: SealingKey,
    others: Vec<SealingKey>,
    /// Payloads stay readable.
    only_signs: bool,
}

impl Keyring {
    /// Keys by their ids. A key is 32 bytes, or `base64:` and these in base64.
    ///
    /// # Errors
    /// [`Error::Invalid`], to follow an argument name; without the bytes of a key.
    pub fn new<'a>(keys: impl IntoIterator<Item = (&'a [u8], &'a [u8])>, only_signs: bool) -> Result<Self> {
        let mut all: Vec<SealingKey> = Vec::new();
        for (id, bytes) in keys {
            // Not with the words that were given: somebody may have taken the key for its id.
            let Some(id) = std::str::from_utf8(id).ok().filter(|id| is_key_id(id.as_bytes())) else {
                return Err(Error::Invalid("must have key ids of 1 to 64 bytes of [A-Za-z0-9_.-]".into()));
            };
            let Some(secret) = secret(bytes) else {
                let must = format!(
                    "must have keys of {KEY} bytes, or \"base64:\" and these in base64, that of \"{id}\" is not"
                );
                return Err(Error::Invalid(must));
            };
            if all.iter().any(|known| known.id == id) {
                return Err(Error::Invalid(format!("must have different key ids, \"{id}\" is there twice")));
            }
            all.push(SealingKey { id: id.to_owned(), secret });
        }
        let mut all = all.into_iter();
        let first = all.next().ok_or_else(|| Error::Invalid("must not be empty".into()))?;
        Ok(Self { first, others: all.collect(), only_signs })
    }

    /// These keys, which seal in this way.
    #[must_use]
    pub fn that_only_signs(&self, only_signs: bool) -> Self {
        Self { only_signs, ..self.clone() }
    }

    /// Whether payloads stay readable.
    #[must_use]
    pub fn only_signs(&self) -> bool {
        self.only_signs
    }

    fn algorithm(&self) -> &'static str {
        if self.only_signs { SIGNED } else { ENCRYPTED }
    }

    /// Whether a job would be sealed with this key in this way today.
    #[must_use]
    pub fn is_current(&self, seal: &Seal) -> bool {
        seal.key == self.first.id && seal.algorithm == self.algorithm()
    }

    /// Options and payload of a job as they are to be stored. Each call makes another nonce.
    ///
    /// # Errors
    /// [`Error::Seal`] when the system has no random bytes.
    pub fn seal(&self, at: Address<'_>, options: &JobOptions, payload: &[u8]) -> Result<(JobOptions, Vec<u8>)> {
        let SealingKey { id, secret } = &self.first;
        let data = at.associated_data(self.algorithm(), id);
        let mut sealed = JobOptions { seal: None, ..options.clone() };
        let (stored, tag) = if self.only_signs {
            (
                payload.to_vec(),
                hmac::sign(&mac_key(secret), &signed_bytes(data, &options.headers, payload)).as_ref().to_vec(),
            )
        } else {
            sealed.headers.clear();
            let mut stored = vec![0; NONCE];
            put_headers(&mut stored, &options.headers);
            stored.extend_from_slice(payload);
            let tag = encrypt(secret, &data, &mut stored);
            let failed = || Error::Seal {
                queue: at.queue.to_owned(),
                id: at.id.to_string(),
                why: "cannot be sealed: the system gives no random bytes".into(),
            };
            (stored, tag.ok_or_else(failed)?)
        };
        sealed.seal =
            Some(Seal { algorithm: self.algorithm().into(), key: id.clone(), tag: BASE64_STANDARD.encode(tag) });
        Ok((sealed, stored))
    }

    fn find(&self, id: &str) -> Option<&SealingKey> {
        std::iter::once(&self.first).chain(&self.others).find(|key| key.id == id)
    }

    fn open(&self, at: Address<'_>, seal: &Seal, options: &mut JobOptions, payload: &mut Vec<u8>) -> Option<()> {
        let key = self.find(&seal.key)?;
        let data = at.associated_data(&seal.algorithm, &seal.key);
        let tag = BASE64_STANDARD.decode(&seal.tag).ok()?;
        if seal.algorithm == SIGNED {
            return hmac::verify(&mac_key(&key.secret), &signed_bytes(data, &options.headers, payload), &tag).ok();
        }
        let opened = decrypt(&key.secret, &data, payload, &tag)?;
        let (headers, plain) = split_headers(&opened)?;
        (options.headers, *payload) = (headers, plain.to_vec());
        Some(())
    }
}

/// Puts the readable headers and payload into the place of the sealed ones, if they are what was sealed; a job that is not opened stays as
/// it is.
///
/// # Errors
/// The reason. Without keys only a plain job opens, with keys only one that was sealed with one of them.
pub fn open(
    keys: Option<&Keyring>,
    at: Address<'_>,
    options: &mut JobOptions,
    payload: &mut Vec<u8>,
) -> std::result::Result<(), Unopened> {
    let (keys, seal) = match (keys, &options.seal) {
        (None, None) => return Ok(()),
        (Some(_), None) => return Err(Unopened::Plain),
        (None, Some(seal)) => return Err(seal.needs_keys()),
        (Some(keys), Some(seal)) => (keys, seal.clone()),
    };
    if keys.find(&seal.key).is_none() {
        return Err(Unopened::UnknownKey(seal.named_key()));
    }
    if ![ENCRYPTED, SIGNED].contains(&&*seal.algorithm) {
        return Err(Unopened::UnknownAlgorithm(seal.named_key()));
    }
    keys.open(at, &seal, options, payload).ok_or_else(|| Unopened::Forged(seal.named_key()))
}

fn secret(bytes: &[u8]) -> Option<Zeroizing<[u8; KEY]>> {
    if let Ok(raw) = <[u8; KEY]>::try_from(bytes) {
        return Some(Zeroizing::new(raw));
    }
    let decoded = Zeroizing::new(BASE64_STANDARD.decode(bytes.strip_prefix(b"base64:")?).ok()?);
    <[u8; KEY]>::try_from(decoded.as_slice()).ok().map(Zeroizing::new)
}

fn mac_key(secret: &[u8; KEY]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret)
}

fn signed_bytes(mut data: Vec<u8>, headers: &[(String, String)], payload: &[u8]) -> Vec<u8> {
    put_headers(&mut data, headers);
    data.extend_from_slice(payload);
    data
}

/// Fills the nonce at the beginning, encrypts what follows, and returns the tag.
fn encrypt(secret: &[u8; KEY], data: &[u8], stored: &mut [u8]) -> Option<Vec<u8>> {
    let (nonce, text) = stored.split_at_mut_checked(NONCE)?;
    getrandom::fill(nonce).ok()?;
    let nonce = XNonce::try_from(&*nonce).ok()?;
    let tag = XChaCha20Poly1305::new(secret.into()).encrypt_inout_detached(&nonce, data, text.into()).ok()?;
    Some(tag.to_vec())
}

fn decrypt(secret: &[u8; KEY], data: &[u8], stored: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    let (nonce, text) = stored.split_at_checked(NONCE)?;
    let mut text = text.to_vec();
    let (nonce, tag) = (XNonce::try_from(nonce).ok()?, tag.try_into().ok()?);
    let cipher = XChaCha20Poly1305::new(secret.into());
    cipher.decrypt_inout_detached(&nonce, data, text.as_mut_slice().into(), &tag).ok()?;
    Some(text)
}

fn put(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&length(part.len()));
    out.extend_from_slice(part);
}

fn put_headers(out: &mut Vec<u8>, headers: &[(String, String)]) {
    out.extend_from_slice(&length(headers.len()));
    for (name, value) in headers {
        put(out, name.as_bytes());
        put(out, value.as_bytes());
    }
}

/// Ids, names and headers are far shorter than 4 GiB.
fn length(of: usize) -> [u8; 4] {
    u32::try_from(of).unwrap_or(u32::MAX).to_be_bytes()
}

type Headers = Vec<(String, String)>;

fn split_headers(opened: &[u8]) -> Option<(Headers, &[u8])> {
    let (count, mut rest) = number(opened)?;
    let mut take = || -> Option<String> {
        let (length, after) = number(rest)?;
        let (text, after) = after.split_at_checked(length)?;
        rest = after;
        String::from_utf8(text.to_vec()).ok()
    };
    let headers = (0..count).map(|_| Some((take()?, take()?))).collect::<Option<_>>()?;
    Some((headers, rest))
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_be_bytes(*number)).ok()?, rest))
}
