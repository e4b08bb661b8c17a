//! Wake-ups: push messages that Redis sends a connection between its replies.

use super::{Fault, MOST_WAKES, Wire, is_pause};
use crate::core::resp::{self, Bounds};
use redis::{PushKind, Value};
use std::io;
use std::time::{Duration, Instant};

/// A script has told this connection's waiter to look at a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wake {
    /// Which queue it is.
    pub channel: Vec<u8>,
    /// After how long to look.
    pub wait: Duration,
}

impl Wire {
    pub(super) fn hear(&mut self, kind: &PushKind, data: &[Value]) {
        if let (PushKind::Message, [Value::BulkString(channel), Value::BulkString(text)]) = (kind, data) {
            let wait_us = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            if self.wakes.len() >= MOST_WAKES {
                // A waiter that hears of the channel of none looks at all of its queues.
                self.wakes.clear();
                self.wakes.push_back(Wake { channel: Vec::new(), wait: Duration::ZERO });
                return;
            }
            self.wakes.push_back(Wake { channel: channel.clone(), wait: Duration::from_micros(wait_us) });
        }
    }

    /// Subscribes to channels, each of them once. False: all were subscribed to before.
    ///
    /// # Errors
    /// As [`Self::exchange`]; [`Fault::Refused`] when Redis does not allow it.
    pub fn subscribe(&mut self, mut channels: Vec<String>) -> Result<bool, Fault> {
        channels.retain(|channel| !self.subscribed.contains(channel));
        if channels.is_empty() {
            return Ok(false);
        }
        // The confirmations are push messages and no replies: a PING behind them shows that they were accepted.
        let mut request = self.request();
        let words: Vec<&[u8]> =
            std::iter::once(b"SUBSCRIBE".as_slice()).chain(channels.iter().map(String::as_bytes)).collect();
        resp::write_command(&mut request, words.into_iter());
        resp::write_command(&mut request, [b"PING".as_slice()].into_iter());
        let replies = self.exchange(&request, 1, Bounds::SMALL, Instant::now() + self.read_timeout);
        self.recycle(request);
        if let Some(Value::ServerError(error)) = replies?.first() {
            self.broken = true; // the PING's reply is still on its way
            return Err(Fault::Refused(
                error.code().to_owned(),
                format!(
                    "{} (the user needs the channels of the prefix, such as &dq:*)",
                    error.details().unwrap_or_default()
                ),
            ));
        }
        self.subscribed.extend(channels);
        Ok(true)
    }

    /// Forgets wake-ups that came while this thread did not wait.
    pub fn clear_wakes(&mut self) {
        self.wakes.clear();
    }

    /// Whether a wake-up has been read and not been looked at.
    #[must_use]
    pub fn has_wake(&self) -> bool {
        !self.wakes.is_empty()
    }

    /// A wake-up that has arrived, reading what lies in the socket if `readable`. Never blocks for more than a moment.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn next_wake(&mut self, readable: bool) -> io::Result<Option<Wake>> {
        if let Some(wake) = self.wakes.pop_front() {
            return Ok(Some(wake));
        }
        if readable {
            self.broken = true;
            match self.fill() {
                Err(error) if is_pause(&error) => {}
                result => result?,
            }
            while !self.input.filled().is_empty() {
                let before = self.input.filled().len();
                if self.next_value(Bounds::MESSAGE, None)?.is_some() {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "protocol error: a reply without a request",
                    ));
                }
                if self.input.filled().len() == before {
                    break;
                }
            }
            self.broken = false;
        }
        Ok(self.wakes.pop_front())
    }
}
