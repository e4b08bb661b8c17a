//! Limits of a server for the size of a request. Redis closes the connection of one that is too large, and mostly says nothing.

use super::Client;
use crate::core::clock;
use crate::core::error::{Doing, Error};
use crate::core::reply;
use redis::Value;
use std::collections::HashMap;
use std::time::Duration;

/// The settings that limit a request. `maxmemory-clients` may be a share of `maxmemory`.
pub const LIMITS: [&str; 4] = ["proto-max-bulk-len", "client-query-buffer-limit", "maxmemory-clients", "maxmemory"];
/// A smaller request than this is lost for another reason.
const LEAST_SUSPECT: usize = 64 << 10;
/// The least `proto-max-bulk-len` and `client-query-buffer-limit` that Redis accepts.
const LEAST_LIMIT: usize = 1 << 20;
/// The time for a look at the settings, within that of the operation.
const LOOK: Duration = Duration::from_millis(500);

/// The size of a request, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub request: usize,
    /// Its longest argument.
    pub longest: usize,
}

impl Size {
    pub fn may_be_too_large(self) -> bool {
        self.request >= LEAST_SUSPECT
    }

    pub fn is_above_least_limit(self) -> bool {
        self.longest >= LEAST_LIMIT
    }

    /// For a server that does not tell its settings, and has closed the connection again.
    pub fn suspicion(self) -> String {
        let bytes = self.longest;
        format!(
            ", twice, with a value of {bytes} bytes: it may be larger than the server's proto-max-bulk-len, client-query-buffer-limit or \
             maxmemory-clients, which this user may not read"
        )
    }
}

/// The settings of a server that limit a request, as CONFIG GET tells them.
#[derive(Debug)]
pub struct Limits(HashMap<&'static str, u64>);

impl Limits {
    /// `setting` gives the text of one of [`LIMITS`].
    pub fn read<'a>(setting: impl Fn(&str) -> Option<&'a str>) -> Self {
        let maxmemory = setting("maxmemory").and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let bytes = |text: &str| match text.strip_suffix('%') {
            Some(percent) => Some(percent.parse::<u64>().ok()?.saturating_mul(maxmemory) / 100),
            None => text.parse().ok(),
        };
        let limits = LIMITS.iter().take(3).filter_map(|name| Some((*name, bytes(setting(name)?)?)));
        Self(limits.filter(|(_, bytes)| *bytes > 0).collect())
    }

    /// The lowest limit that a request with a value of so many bytes passes, and its name.
    #[must_use]
    pub fn passed_by(&self, bytes: usize) -> Option<(&'static str, u64)> {
        let passed = self.0.iter().filter(|(_, limit)| bytes as u64 > **limit);
        passed.min_by_key(|(name, limit)| (**limit, **name)).map(|(name, limit)| (*name, *limit))
    }

    /// The error of a request that the server never carries out.
    pub(super) fn refusal(&self, size: Size) -> Option<Error> {
        // The buffers of a connection may be twice as large as what they hold.
        let memory = self.0.get("maxmemory-clients").filter(|limit| size.request as u64 > **limit / 2);
        let (bytes, (name, limit)) = match (self.passed_by(size.longest), memory) {
            (Some(passed), _) => (size.longest, passed),
            (None, Some(limit)) => (size.request, ("maxmemory-clients", *limit)),
            (None, None) => return None,
        };
        let what = if bytes == size.longest { "value" } else { "request" };
        let message = format!(
            "the server takes no {what} of {bytes} bytes, because its {name} is {limit}: raise that, or send less at once (see maxPayload)"
        );
        Some(Error::Server { doing: Doing::default(), code: "ERR".into(), message })
    }
}

/// The answer to the question for the limits.
pub(super) enum Told {
    Limits(Limits),
    /// The user may not ask.
    Denied,
    /// The server was not reached in time.
    Nothing,
}

pub(super) fn of_server(client: &Client, time: Duration) -> Told {
    let replies = clock::within(time.min(LOOK), || {
        client.run(|request, _, _| {
            request.all_replies();
            LIMITS.iter().for_each(|name| request.command(&[b"CONFIG", b"GET", name.as_bytes()]));
        })
    });
    let Ok(replies) = replies.and_then(reply::all) else { return Told::Nothing };
    let mut settings = HashMap::new();
    for reply in replies {
        let Value::Map(pairs) = reply else { return Told::Denied };
        settings.extend(pairs.into_iter().filter_map(|(name, value)| Some((reply::text(name)?, reply::text(value)?))));
    }
    Told::Limits(Limits::read(|name| settings.get(name).map(String::as_str)))
}
