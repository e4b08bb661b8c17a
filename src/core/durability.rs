//! How safe a change has to be before its operation succeeds: Redis answers a write when it is in the memory of one server.

use super::error::{Doing, Error, Result};
use super::reply;
use redis::Value;
use std::time::Duration;

/// More than the memory of the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// In the memory of so many replicas as well.
    Replica(u32),
    /// In the append-only file of the master.
    Disk,
}

/// Whether a script has changed anything, by its answer. A refusal, such as that of a taken id, needs no replica to be true.
#[must_use]
pub fn is_change(answer: &Value) -> bool {
    let word = match answer {
        Value::Array(values) => values.first(),
        word => Some(word),
    };
    match word {
        Some(Value::BulkString(word)) => word == b"OK",
        word => matches!(word, Some(Value::Okay)),
    }
}

impl Durability {
    /// The command that waits until a change is so safe, for as long as `time`. Its reply goes to [`Self::confirmed`].
    ///
    /// # Errors
    /// [`Error::Server`] when a server of this version cannot.
    pub fn wait_command(self, version: (u32, u32), time: Duration) -> Result<Vec<String>> {
        let ms = time.as_millis().max(1).to_string();
        match self {
            Self::Disk if version < (7, 2) => {
                let message =
                    format!("durability 'disk' needs Redis 7.2 or newer, this is {}.{}", version.0, version.1);
                Err(Error::Server { doing: Doing::default(), code: "ERR".into(), message })
            }
            Self::Disk => Ok(vec!["WAITAOF".into(), "1".into(), "0".into(), ms]),
            Self::Replica(needed) => Ok(vec!["WAIT".into(), needed.to_string(), ms]),
        }
    }

    /// How many have to say that they have the change.
    fn needed(self) -> u32 {
        match self {
            Self::Replica(needed) => needed,
            Self::Disk => 1,
        }
    }

    /// Reads the reply: how many have it.
    ///
    /// # Errors
    /// [`Error::Connection`] with `ambiguous`: the change is made, and may be lost.
    pub fn confirmed(self, confirmation: Option<Value>) -> Result<()> {
        let many = match confirmation {
            Some(Value::Array(counts)) => counts.into_iter().next().and_then(reply::int),
            Some(Value::ServerError(error)) => {
                let refused = Error::from_redis(error.code(), error.details().unwrap_or_default());
                return Err(Error::in_doubt(
                    "Redis has done it, so that the job may be there, but cannot say how safely",
                    refused,
                ));
            }
            other => other.and_then(reply::int),
        };
        let many = many.unwrap_or_default();
        if many >= i64::from(self.needed()) {
            return Ok(());
        }
        let whose = match self {
            Self::Replica(needed) if needed > 1 => format!("only {many} of {needed} replicas have it yet"),
            Self::Replica(_) => "no replica has it yet".to_owned(),
            Self::Disk => "it is not on disk yet".to_owned(),
        };
        Err(Error::Connection {
            doing: Doing::default(),
            message: format!(
                "Redis has done it, so that the job may be there, but {whose}: it is lost if this server fails now"
            ),
            ambiguous: true,
        })
    }
}
