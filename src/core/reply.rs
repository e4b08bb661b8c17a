//! The only file that reads answers: a script's is a status word, then values; a transaction's a value for each command.

use super::error::{Doing, Error, Result};
use super::job::{JobId, JobInfo, Receipt, Reserved, State};
use super::record::{History, Record};
use super::resp;
use super::slot::Slot;
use redis::Value;
use std::sync::Arc;
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
        let values = if let Value::Array(values) = value { values } else { vec![value] };
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

    /// A nested list of tokens.
    ///
    /// # Errors
    /// [`Error::Server`] when it is missing.
    pub fn tokens(&mut self) -> Result<Vec<u64>> {
        Ok(self.list()?.into_iter().filter_map(token).collect())
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

    /// The jobs of a `JOBS` answer, and the tokens that were to be acknowledged and are not ours any more.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn reserved(mut self, queue: &Arc<str>, slot: &Arc<str>, sent: Instant) -> Result<(Leased, Vec<u64>)> {
        let leases = self.bytes()?;
        let leases = Slot::decode(&leases).ok_or_else(unexpected)?;
        let records: Vec<Value> = self.values.by_ref().take(leases.len()).collect();
        let mut histories = if self.is_at_end() { Vec::new() } else { self.list()? }.into_iter();
        let lost = if self.is_at_end() { Vec::new() } else { self.tokens()? };
        let now_ms = if self.is_at_end() { None } else { Some(self.int()?) };
        if leases.len() != records.len() {
            return Err(unexpected());
        }
        let mut leased = Leased { jobs: Vec::with_capacity(records.len()), damaged: Vec::new() };
        for (lease, record) in leases.iter().zip(records) {
            let past = histories.next().and_then(bytes).filter(|past| !past.is_empty());
            let past = past.as_deref().map(History::decode);
            let Some(record) = bytes(record) else { continue }; // cancelled since an earlier try leased it
            let receipt = Receipt { slot: Arc::clone(slot), token: lease.token };
            let Some(record) = Record::from_bytes(record) else {
                leased.damaged.push(receipt);
                continue;
            };
            let ttr_ms = i64::try_from(record.options.ttr_ms).unwrap_or(i64::MAX);
            let reserved_at_ms = now_ms.unwrap_or(lease.deadline_ms.saturating_sub(ttr_ms));
            let left = Duration::from_millis(u64::try_from(lease.deadline_ms - reserved_at_ms).unwrap_or(0));
            leased.jobs.push(Reserved {
                id: JobId::from_redis(lease.id),
                queue: Arc::clone(queue),
                payload: record.payload,
                options: record.options,
                attempts: past.as_ref().map_or(1, |past| past.attempts.saturating_add(1)),
                created_at_ms: record.created_at_ms,
                due_at_ms: past.as_ref().map_or(record.due_at_ms, |past| past.due_at_ms),
                reserved_at_ms,
                lease_until_ms: lease.deadline_ms,
                lease_until: sent + left,
                receipt,
                last_error: past.and_then(|past| past.last_error),
            });
        }
        Ok((leased, lost))
    }

    /// The next job of a `JOB` or `JOBS` answer of looking.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn info(&mut self, queue: &str, state: State) -> Result<JobInfo> {
        let id = JobId::from_redis(&self.bytes()?);
        let bytes = self.bytes()?;
        let due_at_ms = self.int()?;
        let history = History::decode(&self.bytes()?);
        let attempts = self.optional_int()?.and_then(|count| u32::try_from(count).ok());
        let lease_until_ms = self.optional_int()?;
        // A damaged or newer record is shown as it is, so that somebody can look at it.
        let record = Record::decode(&bytes).unwrap_or(Record {
            created_at_ms: 0,
            due_at_ms,
            options: Default::default(),
            payload: bytes,
        });
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

/// The answer to a plain `HMGET` of so many fields.
///
/// # Errors
/// The server's, when it refused; [`Error::Server`] when the answer is another one.
pub fn records(value: Option<Value>, count: usize) -> Result<Vec<Option<Vec<u8>>>> {
    match value {
        Some(Value::Array(values)) if values.len() == count => Ok(values
            .into_iter()
            .map(|value| if let Value::BulkString(record) = value { Some(record) } else { None })
            .collect()),
        Some(Value::ServerError(error)) => Err(Error::from_redis(error.code(), error.details().unwrap_or_default())),
        _ => Err(unexpected()),
    }
}

/// What the commands of a transaction answered.
///
/// # Errors
/// [`Error::Server`] when the answer is none of ours.
pub fn transaction(value: Value) -> Result<Vec<Value>> {
    if let Value::Array(values) = value { Ok(values) } else { Err(unexpected()) }
}

/// Whether these scripts did what they had to.
///
/// # Errors
/// The server's, when it refused one; [`Error::Server`] when one says anything else.
pub fn all_ok(values: Vec<Value>) -> Result<()> {
    values.into_iter().try_for_each(|value| match value {
        Value::ServerError(error) => Err(Error::from_redis(error.code(), error.details().unwrap_or_default())),
        value => {
            if Reply::new(value)?.word == "OK" {
                Ok(())
            } else {
                Err(unexpected())
            }
        }
    })
}

/// What is known of a queue before jobs are added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Redis' time, in microseconds since 1970.
    pub time_us: i64,
    /// Whether any of the ids is taken.
    pub is_taken: bool,
    /// Whether consumers wait.
    pub has_waiters: bool,
}

/// The answers to `TIME`, `WATCH`, `ZCARD`, `HMGET` of so many fields, and `MULTI`; `None` when one of them is a refusal, or one of others
/// before them.
#[must_use]
pub fn seen(answers: &[Value], fields: usize) -> Option<Seen> {
    match answers {
        [others @ .., time, Value::Okay, Value::Int(waiters), Value::Array(records), Value::Okay]
            if records.len() == fields && !others.iter().any(is_refusal) =>
        {
            Some(Seen {
                time_us: time_us(time)?,
                is_taken: records.iter().any(|record| *record != Value::Nil),
                has_waiters: *waiters > 0,
            })
        }
        _ => None,
    }
}

/// The answers to several plain commands, one by one.
pub struct Answers(std::vec::IntoIter<Value>);

impl Answers {
    /// # Errors
    /// [`Error::Server`] when there are none.
    pub fn new(value: Value) -> Result<Self> {
        transaction(value).map(|values| Self(values.into_iter()))
    }

    /// Why the next command was refused, if it was.
    pub fn refusal(&mut self) -> Option<String> {
        match self.0.next() {
            Some(Value::ServerError(error)) => Some(error.code().to_owned()),
            Some(_) => None,
            None => Some(String::new()),
        }
    }

    /// Redis' time, in microseconds since 1970, from the answer to `TIME`; `None` when it is another one.
    pub fn time_us(&mut self) -> Option<i64> {
        self.0.next().as_ref().and_then(time_us)
    }

    /// The lowest score, a time in milliseconds, in the answers to as many `ZRANGE`s of a first member with its score (`None`: there is no
    /// member); `None` when they are others.
    pub fn earliest(&mut self, keys: usize) -> Option<Option<i64>> {
        let answers: Vec<Value> = self.0.by_ref().take(keys).collect();
        let scores: Option<Vec<Option<i64>>> = answers.iter().map(first_score).collect();
        scores.map(|scores| scores.into_iter().flatten().min())
    }

    /// When a pause ends, in milliseconds, from the answer to an `HGET` of it (`None`: nobody knows); `None` when it is another one.
    pub fn end_of_pause(&mut self) -> Option<Option<i64>> {
        match self.0.next()? {
            Value::Nil => Some(Some(i64::MIN)), // it has ended
            Value::BulkString(ends) if ends == b"forever" => Some(None),
            Value::BulkString(ends) => std::str::from_utf8(&ends).ok()?.parse().ok().map(Some),
            _ => None,
        }
    }
}

/// The score of the first member, a time in milliseconds, if there is one.
fn first_score(answer: &Value) -> Option<Option<i64>> {
    let Value::Array(members) = answer else { return None };
    let Some(first) = members.first() else { return Some(None) };
    let Value::Array(member) = first else { return None };
    let Some(Value::Double(score)) = member.get(1) else { return None };
    #[expect(clippy::cast_possible_truncation, reason = "out of range it becomes the first or the last moment")]
    (!score.is_nan()).then_some(Some(*score as i64))
}

/// Whether the last of the answers says that a transaction has begun.
#[must_use]
pub fn is_in_transaction(answers: &[Value]) -> bool {
    answers.last() == Some(&Value::Okay)
}

fn is_refusal(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(_))
}

/// Whether one of the answers says that this user may not.
#[must_use]
pub fn is_denied(answers: &[Value]) -> bool {
    answers.iter().any(|answer| matches!(answer, Value::ServerError(error) if error.code() == "NOPERM"))
}

/// Redis' time in the answer to `TIME`, in microseconds since 1970.
#[must_use]
pub fn time_us(time: &Value) -> Option<i64> {
    let Value::Array(time) = time else { return None };
    let [Value::BulkString(seconds), Value::BulkString(micros)] = time.as_slice() else { return None };
    let (seconds, micros) = (resp::small_int(seconds)?, resp::small_int(micros)?);
    (seconds < 1 << 40 && micros < 1_000_000).then_some(seconds * 1_000_000 + micros)
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
fn token(value: Value) -> Option<u64> {
    int(value).and_then(|token| u64::try_from(token).ok())
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
