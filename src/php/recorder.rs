//! Where the calls of a test's job go instead of to Redis, as `DelayQueue\JobCall` objects with the arguments as the extension understands them.

use super::callbacks::{Ending, attempt};
use super::classes::properties;
use super::object::{Plain, make};
use super::payload::Format;
use super::unwind::{Outcome, Unwind, throw_again};
use super::{convert, times};
use crate::core::job::Due;
use ext_php_rs::types::Zval;
use std::cell::RefCell;

/// Keeps the calls of one job, and tells a listener of each.
pub struct Recorder {
    /// The listener, or null, and behind it the calls. Never borrowed while PHP code runs.
    values: RefCell<Vec<Zval>>,
}

impl Recorder {
    /// Without a listener null.
    pub fn new(listener: Zval) -> Self {
        Self { values: RefCell::new(vec![listener]) }
    }

    /// The exception of a listener refuses the call: it has not been made then.
    pub fn note(&self, call: &RecordedCall<'_>) -> Outcome<()> {
        let object = call.object()?;
        let listener = self.values.borrow().first().filter(|value| !value.is_null()).map(Zval::shallow_clone);
        if let Some(listener) = listener {
            match attempt(&listener, [object.shallow_clone()]) {
                Ending::Returned => {}
                Ending::Threw(exception) => return Err(throw_again(exception)),
                Ending::Exited => return Err(Unwind::Thrown),
                Ending::Fatal => return Err(Unwind::Bailout),
            }
        }
        self.values.borrow_mut().push(object);
        Ok(())
    }

    /// In their order.
    pub fn calls(&self) -> Vec<Zval> {
        self.values.borrow().iter().skip(1).map(Zval::shallow_clone).collect()
    }

    /// For the engine's collector of cycles.
    pub fn held_values(&self) -> (*mut Zval, usize) {
        self.values.try_borrow_mut().map_or((std::ptr::null_mut(), 0), |mut all| (all.as_mut_ptr(), all.len()))
    }
}

/// A call with what its method takes; the rest is empty.
#[derive(Default)]
pub struct RecordedCall<'a> {
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
    pub content: Option<RecordedContent<'a>>,
}

/// The payload and headers that `update()` stores.
pub struct RecordedContent<'a> {
    /// `None` keeps it.
    pub body: Option<&'a [u8]>,
    pub format: Format,
    /// Those that change.
    pub headers: &'a [(String, Option<String>)],
}

fn seconds_of_us(us: i64) -> Zval {
    convert::float(convert::unix_seconds_of_us(us))
}

impl RecordedCall<'_> {
    pub fn object(&self) -> Outcome<Zval> {
        let now_us = times::now_us();
        let due_us = self.due.map(|due| match due {
            Due::InMs(ms) => now_us.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000)),
            Due::AtUs(us) => us,
        });
        let content = self.content.as_ref();
        let body = content.and_then(|content| content.body);
        let payload = match (content, body) {
            (Some(content), Some(body)) => content.format.decode_or_null(body)?,
            _ => convert::null(),
        };
        let headers = |content: &RecordedContent<'_>| {
            let value = |text: &Option<String>| convert::nullable(text.as_ref(), convert::bytes);
            convert::map(content.headers.iter().map(|(name, text)| (name, value(text))))
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
            body: convert::nullable(body, convert::bytes),
            headers: convert::nullable(content.filter(|content| !content.headers.is_empty()), headers),
        };
        make(Plain, properties)
    }
}
