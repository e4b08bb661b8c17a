//! A job as a PHP program describes it: the arguments of `push()`, or one array of `pushMany()`.

use super::args;
use super::backoff;
use super::call::Call;
use super::class::Case;
use super::classes::{self, cases};
use super::convert::{self, ArrayKey};
use super::exceptions::At;
use super::headers;
use super::origin::Origin;
use super::payload::Encoding;
use super::times;
use super::unwind::Outcome;
use crate::core::groups::Group;
use crate::core::job::{Due, Extras, JobId, JobOptions, NewJob, OnDuplicate};
use crate::core::nearest;
use crate::core::record;
use crate::core::traits::{OnExpiry, Traits};
use ext_php_rs::types::Zval;

/// The options of the constructor that concern jobs.
#[derive(Clone)]
pub struct Defaults {
    pub options: JobOptions,
    pub encoding: Encoding,
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
        let Some(table) = item.array() else { return Err(Origin::WholeItem(index).type_error("array", item)) };
        let mut values = [None; KEYS.len()];
        for (key, value) in convert::entries(table) {
            let known = match &key {
                ArrayKey::Text(text) => KEYS.iter().take(keys).position(|k| k.as_bytes() == *text),
                ArrayKey::Int(_) => None,
            };
            match known.and_then(|position| values.get_mut(position)) {
                Some(slot) => *slot = Some(value),
                None => {
                    let hint = nearest::hint(&key.to_string(), KEYS.get(..keys).unwrap_or(&KEYS));
                    return Err(Origin::WholeItem(index).value_error(&format!("has the unknown key \"{key}\"{hint}")));
                }
            }
        }
        Ok(Self { values, item: Some(index) })
    }

    pub fn get(&self, key: &'static str) -> (Option<&'a Zval>, Origin<'static>) {
        let position = KEYS.iter().position(|k| *k == key).unwrap_or(0);
        let origin = match self.item {
            None => Origin::Argument(u32::try_from(position + 1).unwrap_or(1)),
            Some(index) => Origin::Item(index, key),
        };
        (self.values.get(position).copied().flatten(), origin)
    }

    /// For parameters where null means "the queue's default".
    pub fn nullable<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Zval, Origin<'_>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let (value, origin) = self.get(key);
        value.filter(|v| !v.is_null()).map(|v| read(v, origin)).transpose()
    }

    /// Checks everything and encodes the payload.
    pub fn job(&self, defaults: &Defaults) -> Outcome<NewJob> {
        let payload = |value: &Zval, origin: Origin<'_>| defaults.encoding.encode(value, origin);
        self.job_with(defaults, OnDuplicate::Fail, payload)
    }

    /// A job with another default, and another way to read the payload.
    pub fn job_with(
        &self,
        defaults: &Defaults,
        on_duplicate: OnDuplicate,
        payload: impl FnOnce(&Zval, Origin<'_>) -> Outcome<Vec<u8>>,
    ) -> Outcome<NewJob> {
        let job = self.job_of(defaults, on_duplicate)?;
        let payload = match self.get("payload") {
            (Some(value), origin) => payload(value, origin)?,
            (None, origin) => return Err(origin.value_error("must be given")),
        };
        Ok(NewJob { payload, ..job })
    }

    /// Without its payload.
    fn job_of(&self, defaults: &Defaults, on_duplicate: OnDuplicate) -> Outcome<NewJob> {
        let due = match self.get("delay") {
            (Some(value), origin) => times::due(value, origin)?,
            (None, _) => Due::InMs(0),
        };
        let id = self.nullable("id", |value, origin| match args::bytes(value, origin)? {
            Some(bytes) => JobId::new(bytes).at(origin),
            None => Err(origin.wrong_type("?string", value)),
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
            ttr_ms: self.nullable("ttr", times::ttr)?.unwrap_or(defaults.options.ttr_ms),
            max_attempts: self.u32("maxAttempts", 0)?.unwrap_or(defaults.options.max_attempts),
            backoff: self.nullable("backoff", backoff::argument)?.unwrap_or_else(|| defaults.options.backoff.clone()),
            timeout_ms: self.nullable("timeout", times::millis)?.unwrap_or(defaults.options.timeout_ms),
            headers: match self.get("headers") {
                (Some(value), origin) => headers::read(value, origin)?,
                (None, _) => Vec::new(),
            },
            seal: None,
            extras,
        };
        let unique_ms = self.nullable("unique", times::longer_than_0)?;
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
        let expires = self.nullable("expires", times::limit)?;
        let retry_until = self.nullable("retryUntil", times::limit)?;
        if let Some(by) = expires {
            traits = traits.expires(by, then);
        }
        if let Some(until) = retry_until {
            if expires.is_some() {
                return Err(self.get("retryUntil").1.value_error("must not be given together with expires"));
            }
            traits = traits.retry_until(until);
        }
        if let Some(ms) = self.nullable("maxWait", times::longer_than_0)? {
            if !replaces {
                let must = "must not be given without an id and OnDuplicate::Replace";
                return Err(self.get("maxWait").1.value_error(must));
            }
            traits = traits.longest_wait(ms);
        }
        let group = self.nullable("group", |value, origin| match args::bytes(value, origin)? {
            Some(bytes) => Group::new(bytes).at(origin),
            None => Err(origin.wrong_type("?string", value)),
        })?;
        if let Some(group) = group {
            traits = traits.group(&group);
        }
        Ok(traits)
    }

    /// The case of an enum.
    fn case<C: Case>(&self, key: &'static str) -> Outcome<Option<C>> {
        match self.get(key) {
            (Some(value), origin) => match classes::case(value) {
                Some(case) => Ok(Some(case)),
                None => Err(origin.wrong_type(C::class().name, value)),
            },
            (None, _) => Ok(None),
        }
    }

    fn u32(&self, key: &'static str, min: u32) -> Outcome<Option<u32>> {
        self.nullable(key, |value, origin| match args::int(value, origin)? {
            Some(number) => args::u32_in(number, origin, min, u32::MAX),
            None => Err(origin.wrong_type("?int", value)),
        })
    }
}

/// `JobInfo::$extras`.
fn extras(value: &Zval, origin: Origin<'_>) -> Outcome<Extras> {
    let Some(bytes) = value.zend_str() else { return Err(origin.wrong_type("?string", value)) };
    record::decode_extras(bytes.as_bytes())
        .ok_or_else(|| origin.value_error("must be the extras of a JobInfo, which this version can keep"))
}
