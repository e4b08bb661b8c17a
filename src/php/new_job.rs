//! A job as a PHP program describes it: the arguments of `push()`, or one array of `pushMany()`.

use super::args;
use super::array::{self, Key};
use super::backoff;
use super::call::{Call, Outcome};
use super::class::Case;
use super::classes::cases;
use super::duration_arg;
use super::enums;
use super::exceptions::{At, throw_payload};
use super::headers;
use super::json;
use super::place::Place;
use crate::core::error::Error;
use crate::core::groups::Group;
use crate::core::job::{Due, Extras, JobId, JobOptions, NewJob, OnDuplicate};
use crate::core::nearest;
use crate::core::record;
use crate::core::traits::{OnExpiry, Traits};
use ext_php_rs::types::Zval;

/// How payloads are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Raw,
}

/// The options of the constructor that concern jobs.
#[derive(Clone)]
pub struct Defaults {
    pub options: JobOptions,
    pub encoding: Encoding,
}

/// How payloads become bytes, and how many these may be.
#[derive(Debug, Clone, Copy)]
pub struct Encoding {
    pub format: Format,
    pub max_payload: usize,
}

/// The parameters of `push()` in their order, then the further keys of an item of `pushMany()`, then those of `pushOnce()`.
const KEYS: [&str; 22] = [
    "payload",
    "delay",
    "id",
    "priority",
    "ttr",
    "maxAttempts",
    "backoff",
    "timeout",
    "onDuplicate",
    "headers",
    "unique",
    "maxWait",
    "expires",
    "onExpiry",
    "retryUntil",
    "group",
    "extras",
    "receipt",
    "createdAt",
    "past",
    "state",
    "seal",
];
const OF_PUSH_MANY: usize = 17;

/// The values given, by their position in [`KEYS`].
pub struct Fields<'a> {
    values: [Option<&'a Zval>; KEYS.len()],
    item: Option<usize>,
}

impl<'a> Fields<'a> {
    pub fn of_call(call: &'a Call) -> Self {
        let mut values = [None; KEYS.len()];
        for (number, value) in (1..).zip(values.iter_mut().take(OF_PUSH_MANY)) {
            *value = call.arg(number);
        }
        Self { values, item: None }
    }

    /// The caller holds a reference to the array for as long as the fields live.
    pub fn of_item(item: &'a Zval, index: usize) -> Outcome<Self> {
        Self::of_item_with(item, index, OF_PUSH_MANY)
    }

    /// The keys of an item of `pushOnce()`.
    pub fn of_item_once(item: &'a Zval, index: usize) -> Outcome<Self> {
        Self::of_item_with(item, index, KEYS.len())
    }

    fn of_item_with(item: &'a Zval, index: usize, keys: usize) -> Outcome<Self> {
        let Some(table) = item.array() else { return Err(Place::WholeItem(index).type_error("array", item)) };
        let mut values = [None; KEYS.len()];
        for (key, value) in array::entries(table) {
            let known = match &key {
                Key::Text(text) => KEYS.iter().take(keys).position(|k| k.as_bytes() == *text),
                Key::Int(_) => None,
            };
            match known.and_then(|position| values.get_mut(position)) {
                Some(slot) => *slot = Some(value),
                None => {
                    let hint = nearest::hint(&key.to_string(), KEYS.get(..keys).unwrap_or(&KEYS));
                    return Err(Place::WholeItem(index).value_error(&format!("has the unknown key \"{key}\"{hint}")));
                }
            }
        }
        Ok(Self { values, item: Some(index) })
    }

    pub fn get(&self, key: &'static str) -> (Option<&'a Zval>, Place<'static>) {
        let position = KEYS.iter().position(|k| *k == key).unwrap_or(0);
        let place = match self.item {
            None => Place::Argument(u32::try_from(position + 1).unwrap_or(1)),
            Some(index) => Place::Item(index, key),
        };
        (self.values.get(position).copied().flatten(), place)
    }

    /// For parameters where null means "the queue's default".
    pub fn nullable<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Zval, Place<'_>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let (value, place) = self.get(key);
        value.filter(|v| !v.is_null()).map(|v| read(v, place)).transpose()
    }

    /// Checks everything and encodes the payload.
    pub fn job(&self, defaults: &Defaults) -> Outcome<NewJob> {
        let payload = |value: &Zval, place: Place<'_>| encode(value, place, defaults.encoding);
        self.job_with(defaults, OnDuplicate::Fail, payload)
    }

    /// A job with another default, and another way to read the payload.
    pub fn job_with(
        &self,
        defaults: &Defaults,
        on_duplicate: OnDuplicate,
        payload: impl FnOnce(&Zval, Place<'_>) -> Outcome<Vec<u8>>,
    ) -> Outcome<NewJob> {
        let job = self.job_of(defaults, on_duplicate)?;
        let payload = match self.get("payload") {
            (Some(value), place) => payload(value, place)?,
            (None, place) => return Err(place.value_error("must be given")),
        };
        Ok(NewJob { payload, ..job })
    }

    /// Without its payload.
    fn job_of(&self, defaults: &Defaults, on_duplicate: OnDuplicate) -> Outcome<NewJob> {
        let due = match self.get("delay") {
            (Some(value), place) => duration_arg::due(value, place)?,
            (None, _) => Due::InMs(0),
        };
        let id = self.nullable("id", |value, place| match args::bytes(value, place)? {
            Some(bytes) => JobId::new(bytes).at(place),
            None => Err(place.wrong_type("?string", value)),
        })?;
        let on_duplicate = match self.case("onDuplicate")? {
            Some(cases::OnDuplicate::Fail) => OnDuplicate::Fail,
            Some(cases::OnDuplicate::Keep) => OnDuplicate::Keep,
            Some(cases::OnDuplicate::Replace) => OnDuplicate::Replace,
            None => on_duplicate,
        };
        let mut extras = self.nullable("extras", extras)?.unwrap_or_default();
        extras.traits = self.traits(id.is_some() && on_duplicate == OnDuplicate::Replace)?.before(&extras.traits);
        let options = JobOptions {
            priority: self.u32("priority", 0)?.unwrap_or(defaults.options.priority),
            ttr_ms: self.nullable("ttr", duration_arg::ttr)?.unwrap_or(defaults.options.ttr_ms),
            max_attempts: self.u32("maxAttempts", 0)?.unwrap_or(defaults.options.max_attempts),
            backoff: self.nullable("backoff", backoff::argument)?.unwrap_or_else(|| defaults.options.backoff.clone()),
            timeout_ms: self.nullable("timeout", duration_arg::millis)?.unwrap_or(defaults.options.timeout_ms),
            headers: match self.get("headers") {
                (Some(value), place) => headers::read(value, place)?,
                (None, _) => Vec::new(),
            },
            seal: None,
            extras,
        };
        let unique_ms = self.nullable("unique", duration_arg::longer_than_0)?;
        if unique_ms.is_some() && id.is_none() {
            return Err(self.get("unique").1.value_error("must not be given without an id"));
        }
        Ok(NewJob { id, payload: Vec::new(), due, options, on_duplicate, unique_ms })
    }

    /// A job that is none: only its id and `unique` count.
    pub fn without_payload(&self, defaults: &Defaults) -> Outcome<NewJob> {
        for (key, value) in KEYS.iter().zip(&self.values) {
            if value.is_some() && !["id", "unique", "receipt"].contains(key) {
                return Err(self.get("payload").1.value_error(&format!("must be given with {key}")));
            }
        }
        self.job_of(defaults, OnDuplicate::Keep)
    }

    /// `replaces`: the job replaces another one of its id.
    fn traits(&self, replaces: bool) -> Outcome<Traits> {
        let mut traits = Traits::default();
        let then = match self.case("onExpiry")? {
            Some(cases::OnExpiry::Drop) => OnExpiry::Drop,
            Some(cases::OnExpiry::Bury) | None => OnExpiry::Bury,
        };
        let expires = self.nullable("expires", duration_arg::limit)?;
        let retry_until = self.nullable("retryUntil", duration_arg::limit)?;
        if let Some(by) = expires {
            traits = traits.expires(by, then);
        }
        if let Some(until) = retry_until {
            if expires.is_some() {
                return Err(self.get("retryUntil").1.value_error("must not be given together with expires"));
            }
            traits = traits.retry_until(until);
        }
        if let Some(ms) = self.nullable("maxWait", duration_arg::longer_than_0)? {
            if !replaces {
                let must = "must not be given without an id and OnDuplicate::Replace";
                return Err(self.get("maxWait").1.value_error(must));
            }
            traits = traits.longest_wait(ms);
        }
        let group = self.nullable("group", |value, place| match args::bytes(value, place)? {
            Some(bytes) => Group::new(bytes).at(place),
            None => Err(place.wrong_type("?string", value)),
        })?;
        if let Some(group) = group {
            traits = traits.group(&group);
        }
        Ok(traits)
    }

    /// The case of an enum.
    fn case<C: Case>(&self, key: &'static str) -> Outcome<Option<C>> {
        match self.get(key) {
            (Some(value), place) => match enums::case(value) {
                Some(case) => Ok(Some(case)),
                None => Err(place.wrong_type(C::class().name, value)),
            },
            (None, _) => Ok(None),
        }
    }

    fn u32(&self, key: &'static str, min: u32) -> Outcome<Option<u32>> {
        self.nullable(key, |value, place| match args::int(value, place)? {
            Some(number) => args::u32_in(number, place, min, u32::MAX),
            None => Err(place.wrong_type("?int", value)),
        })
    }
}

/// `JobInfo::$extras`.
fn extras(value: &Zval, place: Place<'_>) -> Outcome<Extras> {
    let Some(bytes) = value.zend_str() else { return Err(place.wrong_type("?string", value)) };
    record::decode_extras(bytes.as_bytes())
        .ok_or_else(|| place.value_error("must be the extras of a JobInfo, which this version can keep"))
}

/// The bytes to store for a payload, within `maxPayload`.
pub fn encode(value: &Zval, place: Place<'_>, encoding: Encoding) -> Outcome<Vec<u8>> {
    let bytes = match encoding.format {
        Format::Json => json::encode(value, place)?,
        Format::Raw => match value.zend_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => return Err(place.type_error("string", value)),
        },
    };
    if bytes.len() > encoding.max_payload {
        let error = Error::PayloadTooLarge { size: bytes.len(), limit: encoding.max_payload };
        return Err(throw_payload(&format!("{}{error}", place.context()), 0));
    }
    Ok(bytes)
}
