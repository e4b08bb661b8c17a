//! The only file that reads answers: a script's is a status word, then values; a plain command's is a value.

use super::error::{Doing, Error, Result};
use super::job::{Fingerprint, JobId, JobInfo, LeaseReceipt, Reserved, State, WaitReason, Waiting};
use super::record::{self, History, Record};
use super::resp;
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The jobs that a reserve leased.
#[derive(Debug, Default)]
pub struct Leased {
    pub jobs: Vec<Reserved>,
    /// Leases of records that cannot be read: to be set aside.
    pub damaged: Vec<LeaseReceipt>,
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

    /// So many numbers of things; less than none is none.
    ///
    /// # Errors
    /// [`Error::Server`] when one is missing or no integer.
    pub fn counts<const N: usize>(&mut self) -> Result<[u64; N]> {
        let mut counts = [0; N];
        for count in &mut counts {
            *count = u64::try_from(self.int()?).unwrap_or(0);
        }
        Ok(counts)
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

    /// A text of positions, counted from 1 by scripts and from 0 here.
    ///
    /// # Errors
    /// [`Error::Server`] when it is missing.
    pub fn positions(&mut self) -> Result<Vec<usize>> {
        let position = |word: &str| word.parse::<usize>().ok()?.checked_sub(1);
        Ok(self.text()?.split_ascii_whitespace().filter_map(position).collect())
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

    /// The jobs of a `JOBS` answer, from the time at which they were leased on. The request was sent at `sent`.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn leased(mut self, queue: &Arc<str>, sent: Instant) -> Result<Leased> {
        let reserved_at_us = self.int()?;
        let mut leased = Leased::default();
        while !self.is_at_end() {
            let id = JobId::from_redis(&self.bytes()?);
            let receipt = LeaseReceipt { id: id.clone(), lease: self.bytes()?.into() };
            let (record, history) = (Record::decode(self.bytes()?), self.bytes()?);
            let Some(record) = record else {
                leased.damaged.push(receipt);
                continue;
            };
            let past = History::decode(&history);
            let attempts = past.attempts.saturating_add(1);
            leased.jobs.push(Reserved {
                id,
                queue: Arc::clone(queue),
                payload: record.payload,
                attempts,
                created_at_ms: record.created_at_ms,
                due_at_us: receipt.due_at_us(),
                reserved_at_us,
                lease_until: sent + Duration::from_millis(record.options.ttr_ms),
                options: record.options,
                receipt,
                timeouts: past.timeouts,
                last_error: past.last_error,
            });
        }
        Ok(leased)
    }

    /// The next job of a `JOB` or `JOBS` answer of looking.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn info(&mut self, queue: &str, state: State) -> Result<JobInfo> {
        let id = JobId::from_redis(&self.bytes()?);
        let bytes = self.bytes()?;
        let past = self.bytes()?;
        let history = History::decode(&past);
        let due_at_us = self.int()?;
        let lease_until_us = self.optional_int()?;
        let fingerprint = Some(Fingerprint { digest: record::digest(&bytes), due_at_us });
        // A damaged or newer record is shown as it is, so that an operator can look at it.
        let record = Record::decode(bytes.clone()).unwrap_or_else(|| Record {
            created_at_ms: 0,
            options: Default::default(),
            payload: bytes,
        });
        Ok(JobInfo {
            id,
            queue: queue.to_owned(),
            state,
            payload: record.payload,
            options: record.options,
            attempts: history.attempts.saturating_add(u32::from(state == State::Reserved)),
            created_at_ms: record.created_at_ms,
            due_at_us,
            lease_until_us,
            timeouts: history.timeouts,
            releases: history.releases,
            buries: history.buries,
            kicks: history.kicks,
            first_due_at_us: (!past.is_empty()).then_some(history.first_due_us),
            last_error: history.last_error,
            seal_error: None,
            partition: 0,
            fingerprint,
            waiting: None,
        })
    }

    /// Why a job waits, behind the answer of a look at it; `None`: it does not.
    ///
    /// # Errors
    /// [`Error::Server`] when the answer is none of ours.
    pub fn waiting(&mut self) -> Result<Option<Waiting>> {
        if self.is_at_end() {
            return Ok(None);
        }
        let word = self.text()?;
        let reason = WaitReason::ALL.into_iter().find(|reason| reason.word() == word).ok_or_else(unexpected)?;
        let (until_us, ahead, first) = (self.optional_int()?, self.optional_int()?, self.bytes()?);
        let held_up_by = (!first.is_empty()).then(|| JobId::from_redis(&first));
        Ok(Some(Waiting { reason, until_us, ahead: ahead.map(|ahead| u64::try_from(ahead).unwrap_or(0)), held_up_by }))
    }
}

/// The replies to all commands of a request, one by one.
///
/// # Errors
/// [`Error::Server`] when there are none.
pub fn all(value: Value) -> Result<std::vec::IntoIter<Value>> {
    if let Value::Array(values) = value { Ok(values.into_iter()) } else { Err(unexpected()) }
}

/// The members and their scores in the reply to `ZRANGE … WITHSCORES`; `None`: it is another reply.
#[must_use]
pub fn scores(reply: &Value) -> Option<Vec<(&[u8], i64)>> {
    fn pair(member: &Value) -> Option<(&[u8], i64)> {
        let Value::Array(member) = member else { return None };
        let [Value::BulkString(name), Value::Double(score)] = member.as_slice() else { return None };
        #[expect(clippy::cast_possible_truncation, reason = "out of range it becomes the first or the last moment")]
        (!score.is_nan()).then_some((name.as_slice(), *score as i64))
    }
    if let Value::Array(members) = reply { members.iter().map(pair).collect() } else { None }
}

/// The score of the first member, if there is one, in the reply to `ZRANGE … WITHSCORES`; `None`: it is another reply.
#[must_use]
pub fn first_score(reply: &Value) -> Option<Option<i64>> {
    Some(scores(reply)?.first().map(|(_, score)| *score))
}

/// A field of a hash, and its value.
type Field = (Vec<u8>, Vec<u8>);

/// Fields with their values in the reply to `HGETALL`; `None`: it is another reply.
#[must_use]
pub fn fields(reply: Value) -> Option<Vec<Field>> {
    match reply {
        Value::Map(pairs) => pairs.into_iter().map(|(field, value)| bytes(field).zip(bytes(value))).collect(),
        Value::Array(values) => {
            let mut values = values.into_iter().map(bytes);
            std::iter::from_fn(|| Some(values.next()?.zip(values.next()?))).collect()
        }
        _ => None,
    }
}

/// The next cursor, and fields with their values, in the reply to `HSCAN`; `None`: it is another reply.
#[must_use]
pub fn scanned(reply: Value) -> Option<(Vec<u8>, Vec<Field>)> {
    let Value::Array(parts) = reply else { return None };
    let [cursor, Value::Array(fields)] = <[Value; 2]>::try_from(parts).ok()? else { return None };
    let mut fields = fields.into_iter().map(bytes);
    let pairs = std::iter::from_fn(|| Some(fields.next()?.zip(fields.next()?)));
    Some((bytes(cursor)?, pairs.collect::<Option<_>>()?))
}

/// Redis' time in the reply to `TIME`, in microseconds since 1970.
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
