//! A request that is sent while there is something else to do before its replies are read, and what is sent behind it meanwhile.

use super::{END, Fault, Wire};
use redis::Value;
use std::time::Instant;

/// What was sent, and has not been answered.
#[derive(Debug)]
pub(super) struct Begun {
    /// How many replies it gets.
    expected: usize,
    /// All of a command but its [`END`] was sent behind it.
    is_open: bool,
}

impl Wire {
    /// Sends a request and leaves its `expected` replies to [`Wire::end`]. Until then the connection is not usable.
    pub fn begin(&mut self, request: &[u8], expected: usize, until: Instant) {
        self.begun = Some(self.start(request, until).map(|()| Begun { expected, is_open: false }));
    }

    /// When the request was sent whose replies have not been read, or when that was tried.
    #[must_use]
    pub fn begun(&self) -> Option<Instant> {
        self.begun.as_ref().filter(|_| self.owner.is_current()).map(|_| self.sent_at)
    }

    /// Sends all of a command but its last two bytes, behind what was begun, if all of that was sent: Redis reads it meanwhile, and does
    /// nothing with it before it has the rest, which the next request begins with.
    pub fn send_open(&mut self, command: &[u8], until: Instant) {
        // Should it fail, nobody knows how much of it has gone: whatever came next would be taken for the rest.
        self.begun = self.begun.take().map(|begun| {
            let begun = begun?;
            self.send(command.strip_suffix(END).unwrap_or(command), until)?;
            Ok(Begun { is_open: true, ..begun })
        });
    }

    /// Reads the replies to what was begun.
    ///
    /// # Errors
    /// As [`Wire::exchange`].
    pub fn end(&mut self, until: Instant) -> Result<Vec<Value>, Fault> {
        let begun = self.begun.take().unwrap_or_else(|| Err(Fault::Unsent("nothing was sent".into())))?;
        self.limit(Instant::now(), until).map_err(Fault::Sent)?;
        let replies = self.finish(begun.expected, until)?;
        self.is_open = begun.is_open;
        Ok(replies)
    }
}
