//! `DelayQueue\JobCall`: one call of a method of a test's job, its arguments as the extension understands them.

use super::call::Outcome;
use super::classes::properties;
use super::convert;
use super::date;
use super::headers;
use super::json;
use super::new_job::Format;
use super::object::{Plain, make};
use crate::core::job::Due;
use ext_php_rs::types::Zval;

/// A call with what its method takes; the rest is empty.
#[derive(Default)]
pub struct Made<'a> {
    /// The method.
    pub name: &'static str,
    pub due: Option<Due>,
    pub priority: Option<u32>,
    pub is_uncounted: bool,
    /// The run counts as failed.
    pub failed: bool,
    pub reason: Option<&'a [u8]>,
    /// Of `touch()` the length, of `keepAlive()` the limit.
    pub length_ms: Option<u64>,
    pub lease_until_us: Option<i64>,
    pub content: Option<Content<'a>>,
}

/// The payload and headers that `update()` stores.
pub struct Content<'a> {
    pub body: &'a [u8],
    pub format: Format,
    pub headers: Option<&'a [(String, String)]>,
}

/// This process' view of the time in microseconds.
pub fn now_us() -> i64 {
    i64::try_from(date::now().as_micros()).unwrap_or(i64::MAX)
}

fn seconds_of_us(us: i64) -> Zval {
    convert::float(convert::unix_seconds_of_us(us))
}

impl Made<'_> {
    pub fn object(&self) -> Outcome<Zval> {
        let now_us = now_us();
        let due_us = self.due.map(|due| match due {
            Due::InMs(ms) => now_us.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000)),
            Due::AtUs(us) => us,
        });
        let payload = match &self.content {
            None => convert::null(),
            Some(content) => match content.format {
                Format::Raw => convert::bytes(content.body),
                Format::Json => json::decode(content.body)?.unwrap_or_else(|_| convert::null()),
            },
        };
        let properties = properties::JobCall {
            name: convert::bytes(self.name),
            delay: convert::nullable(due_us, |us| seconds_of_us(us.saturating_sub(now_us).max(0))),
            due_at: convert::nullable(due_us, seconds_of_us),
            priority: convert::nullable(self.priority, convert::int),
            count_attempt: convert::bool(!self.is_uncounted),
            failed: convert::bool(self.failed),
            reason: convert::nullable(self.reason, convert::bytes),
            ttr: convert::nullable(self.length_ms, |ms| convert::float(convert::seconds(ms))),
            lease_until: convert::nullable(self.lease_until_us, seconds_of_us),
            payload,
            body: convert::nullable(self.content.as_ref(), |content| convert::bytes(content.body)),
            headers: convert::nullable(self.content.as_ref().and_then(|content| content.headers), headers::array),
        };
        make(Plain, properties)
    }
}
