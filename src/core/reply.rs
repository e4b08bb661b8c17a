//! The only file that reads a script's answer: a status word, then values.

use super::error::{Doing, Error, Result};
use super::job::{JobId, JobInfo, Receipt, Reserved, State};
use super::record::{Entry, History, Record};
use redis::Value;
use std::time::{Duration, Instant};

/// What a reserve leased.
#[derive(Debug, Default)]
pub struct Leased {
    pub jobs: Vec<Reserved>,
    /// Leases of records that cannot be read: to be set aside.
    pub damaged: Vec<Receipt>,
}

/// A reply taken apart into its status word and the values behind it.
pub struct Reply {
    pub word: String,
    values: std::vec::IntoIter<Value>,
}

impl Reply {
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn new(value: Value) -> Result<Self> {
        let Value::Array(values) = value else { return Err(unexpected()) };
        let mut values = values.into_iter();
        let word = values.next().and_then(text).ok_or_else(unexpected)?;
        Ok(Self { word, values })
    }

    /// The next value as text or status.
    ///
    /// # Errors
    /// [`Error::Server`] when it is missing.
    pub fn text(&mut self) -> Result<String> {
        self.values.next().and_then(text).ok_or_else(unexpected)
    }

    /// # Errors
    /// [`Error::Server`] when it is missing.
    pub fn bytes(&mut self) -> Result<Vec<u8>> {
        self.values.next().and_then(bytes).ok_or_else(unexpected)
    }

    /// # Errors
    /// [`Error::Server`] when it is missing or no integer.
    pub fn int(&mut self) -> Result<i64> {
        self.values.next().and_then(int).ok_or_else(unexpected)
    }

    /// An integer, or `None` for an empty string.
    ///
    /// # Errors
    /// [`Error::Server`] when it is neither.
    pub fn optional_int(&mut self) -> Result<Option<i64>> {
        match self.values.next() {
            Some(Value::BulkString(bytes)) if bytes.is_empty() => Ok(None),
            Some(value) => int(value).map(Some).ok_or_else(unexpected),
            None => Err(unexpected()),
        }
    }

    /// A nested list.
    ///
    /// # Errors
    /// [`Error::Server`] when it is missing.
    pub fn list(&mut self) -> Result<Vec<Value>> {
        match self.values.next() {
            Some(Value::Array(values)) => Ok(values),
            _ => Err(unexpected()),
        }
    }

    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.values.as_slice().is_empty()
    }

    /// The rest as byte strings.
    ///
    /// # Errors
    /// [`Error::Server`] when one is none.
    pub fn rest(self) -> Result<Vec<Vec<u8>>> {
        self.values.map(|value| bytes(value).ok_or_else(unexpected)).collect()
    }

    /// The jobs of a `JOBS` answer; its `now` and `lost` have been read.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn reserved(mut self, queue: &str, slot: &str, now_ms: i64, sent: Instant) -> Result<Leased> {
        let mut leased = Leased { jobs: Vec::with_capacity(self.values.len() / 3), damaged: Vec::new() };
        while !self.is_at_end() {
            let entry = Entry::decode(&self.bytes()?).ok_or_else(unexpected)?;
            let record = Record::decode(&self.bytes()?);
            let last_error = self.bytes()?;
            let Some(record) = record else {
                leased.damaged.push(Receipt { slot: slot.to_owned(), token: entry.token });
                continue;
            };
            let lease = Duration::from_millis(u64::try_from(entry.lease_until_ms - now_ms).unwrap_or(0));
            leased.jobs.push(Reserved {
                id: JobId::from_redis(entry.id),
                queue: queue.to_owned(),
                payload: record.payload,
                options: record.options,
                attempts: entry.attempts,
                created_at_ms: record.created_at_ms,
                due_at_ms: entry.due_at_ms,
                reserved_at_ms: now_ms,
                lease_until_ms: entry.lease_until_ms,
                lease_until: sent + lease,
                receipt: Receipt { slot: slot.to_owned(), token: entry.token },
                last_error: (!last_error.is_empty()).then_some(last_error),
            });
        }
        Ok(leased)
    }

    /// The next job of a `JOB` or `JOBS` answer of looking.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn info(&mut self, queue: &str, state: State) -> Result<JobInfo> {
        let id = JobId::from_redis(self.bytes()?);
        let bytes = self.bytes()?;
        let due_at_ms = self.int()?;
        let history = History::decode(&self.bytes()?);
        let attempts = self.optional_int()?.and_then(|count| u32::try_from(count).ok());
        let lease_until_ms = self.optional_int()?;
        // A damaged or newer record is shown as it is, so that somebody can look at it.
        let record =
            Record::decode(&bytes).unwrap_or(Record { created_at_ms: 0, options: Default::default(), payload: bytes });
        Ok(JobInfo {
            id,
            queue: queue.to_owned(),
            state,
            payload: record.payload,
            options: record.options,
            attempts: attempts.unwrap_or(history.attempts),
            created_at_ms: record.created_at_ms,
            due_at_ms,
            lease_until_ms,
            timeouts: history.timeouts,
            releases: history.releases,
            buries: history.buries,
            kicks: history.kicks,
            last_error: history.last_error,
        })
    }
}

/// The state a word means.
///
/// # Errors
/// [`Error::Server`] when it is none.
pub fn state(word: &str) -> Result<State> {
    State::ALL.into_iter().find(|state| state.word() == word).ok_or_else(unexpected)
}

/// An answer that no script of ours gives.
#[must_use]
pub fn unexpected() -> Error {
    Error::Server { doing: Doing::default(), code: "DQREPLY".into(), message: "unexpected answer of a script".into() }
}

/// A value as text.
#[must_use]
pub fn text(value: Value) -> Option<String> {
    match value {
        Value::Okay => Some("OK".into()),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text),
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A token as the scripts give it.
#[must_use]
pub fn token(value: Value) -> Option<u64> {
    bytes(value).map(|bytes| bytes.iter().fold(0, |token, byte| token << 8 | u64::from(*byte)))
}

/// A value as bytes.
#[must_use]
pub fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        value => text(value).map(String::into_bytes),
    }
}

/// A value as an integer.
#[must_use]
pub fn int(value: Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        value => text(value)?.parse().ok(),
    }
}
