//! How a job is read: of the arguments of `push()`, of a `NewJob`, or of an array with the same keys.

use super::call::Call;
use super::classes::{self, cases, parameters, properties};
use super::convert::{self, ArrayKey};
use super::object::{Properties, property};
use super::options::Defaults;
use super::origin::Origin;
use super::unwind::{Outcome, throw_error};
use super::{args, backoff, headers, sys, times};
use crate::core::job::{Due, Extras, JobOptions, NewJob, OnDuplicate};
use crate::core::traits::{OnExpiry, Traits};
use crate::core::{nearest, record};
use ext_php_rs::types::{ZendHashTable, ZendObject, Zval};

/// The further keys of an item of `pushMany()`, then those of `pushOnce()`.
const FURTHER_KEYS: [&str; 6] = ["extras", "receipt", "createdAt", "past", "state", "seal"];
const OF_PUSH: usize = parameters::PUSH.len();
const OF_PUSH_MANY: usize = OF_PUSH + 1;
const OF_PUSH_ONCE: usize = OF_PUSH + FURTHER_KEYS.len();

/// The parameters of `push()` in their order, then [`FURTHER_KEYS`].
fn keys() -> impl Iterator<Item = &'static str> {
    parameters::PUSH.into_iter().chain(FURTHER_KEYS)
}

/// Where the values stand, for errors.
#[derive(Clone, Copy)]
enum Source {
    /// In the parameters of `push()`.
    Arguments,
    /// In the first argument: a job, or an item of a list of jobs.
    First(Option<usize>),
    /// In arguments of any names.
    Names,
}

/// The values given, by their position in [`keys`]. Whoever reads them holds a reference to what has them.
pub struct Fields<'a> {
    values: [Option<&'a Zval>; OF_PUSH_ONCE],
    source: Source,
}

impl<'a> Fields<'a> {
    /// The parameters of `push()`, which are those of a `NewJob`.
    pub fn of_parameters(call: &'a Call) -> Self {
        let mut values = [None; OF_PUSH_ONCE];
        for (number, value) in (1..).zip(values.iter_mut().take(OF_PUSH)) {
            *value = call.arg(number);
        }
        Self { values, source: Source::Arguments }
    }

    /// The parameters of `push()`. A `NewJob` in place of the payload is the job, and stands alone.
    pub fn of_push(call: &'a Call) -> Outcome<Self> {
        let fields = Self::of_parameters(call);
        let Some(job) = fields.values.first().copied().flatten().and_then(object_of) else { return Ok(fields) };
        if fields.values.iter().flatten().count() > 1 {
            let must = format!("must be alone when it is a {}, whose with() changes it", classes::NEW_JOB.name);
            return Err(Origin::Argument(1).value_error(&must));
        }
        Self::of_object(job, None)
    }

    /// The job in the first argument: a `NewJob`, or an array with the same keys.
    pub fn of_first(call: &'a Call) -> Outcome<Self> {
        call.required(1, |job, _| Self::of_job(job, None, OF_PUSH_MANY))
    }

    /// The same as an item of a list.
    pub fn of_item(item: &'a Zval, index: usize) -> Outcome<Self> {
        Self::of_job(item, Some(index), OF_PUSH_MANY)
    }

    /// The keys of an item of `pushOnce()`.
    pub fn of_item_once(item: &'a Zval, index: usize) -> Outcome<Self> {
        match item.array() {
            Some(_) => Self::of_job(item, Some(index), OF_PUSH_ONCE),
            None => Err(Origin::First(Some(index)).type_error("array", item)),
        }
    }

    fn of_job(job: &'a Zval, index: Option<usize>, count: usize) -> Outcome<Self> {
        if let Some(object) = object_of(job) {
            return Self::of_object(object, index);
        }
        let mut fields = Self { values: [None; OF_PUSH_ONCE], source: Source::First(index) };
        let Some(table) = job.array() else {
            let expected = format!("{}|array", classes::NEW_JOB.name);
            return Err(Origin::First(index).type_error(&expected, job));
        };
        fields.replace(table, count)?;
        Ok(fields)
    }

    /// The properties of a `NewJob`.
    pub fn of_object(job: &'a ZendObject, index: Option<usize>) -> Outcome<Self> {
        let mut values = [None; OF_PUSH_ONCE];
        for (name, value) in properties::NewJob::NAMES.iter().zip(values.iter_mut()) {
            *value = property::<properties::NewJob>(job, name);
            if value.is_none_or(sys::is_undefined) {
                return Err(throw_error(&format!("The {} object was not constructed", classes::NEW_JOB.name)));
            }
        }
        Ok(Self { values, source: Source::First(index) })
    }

    /// With the arguments given by name in place of the values that are there.
    pub fn changed(mut self, arguments: &'a ZendHashTable) -> Outcome<Self> {
        self.source = Source::Names;
        self.replace(arguments, OF_PUSH)?;
        Ok(self)
    }

    /// Takes the values of a table by the first `count` of [`keys`].
    fn replace(&mut self, table: &'a ZendHashTable, count: usize) -> Outcome<()> {
        for (key, value) in convert::entries(table) {
            let known = match &key {
                ArrayKey::Text(text) => keys().take(count).position(|known| known.as_bytes() == *text),
                ArrayKey::Int(_) => None,
            };
            match known.and_then(|position| self.values.get_mut(position)) {
                Some(slot) => *slot = Some(value),
                None => {
                    let hint = nearest::hint(&key.to_string(), &keys().take(count).collect::<Vec<_>>());
                    let index = match self.source {
                        Source::First(index) => index,
                        _ => return Err(throw_error(&format!("Unknown named parameter ${key}{hint}"))),
                    };
                    return Err(Origin::First(index).unknown("key", &key, &hint));
                }
            }
        }
        Ok(())
    }

    pub fn get(&self, key: &'static str) -> (Option<&'a Zval>, Origin<'static>) {
        let position = keys().position(|known| known == key).unwrap_or(0);
        let origin = match self.source {
            Source::Arguments => Origin::Argument(u32::try_from(position + 1).unwrap_or(1)),
            Source::First(index) => Origin::Key(index, key),
            Source::Names => Origin::Name(key),
        };
        (self.values.get(position).copied().flatten(), origin)
    }

    /// `None` where it was left out.
    pub fn given<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&'a Zval, Origin<'static>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let (value, origin) = self.get(key);
        value.map(|value| read(value, origin)).transpose()
    }

    /// For parameters where null means "the queue's default".
    pub fn nullable<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&'a Zval, Origin<'static>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let (value, origin) = match self.get(key) {
            (value, Origin::Key(index, key)) => (value, Origin::NullableKey(index, key)),
            argument => argument,
        };
        value.filter(|value| !value.is_null()).map(|value| read(value, origin)).transpose()
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
            (Some(value), origin) => {
                not_a_job(value, origin)?;
                payload(value, origin)?
            }
            (None, origin) => return Err(origin.value_error("must be given")),
        };
        Ok(NewJob { payload, ..job })
    }

    /// Checks everything but the payload, which a queue encodes.
    pub fn check(&self) -> Outcome<()> {
        self.job_of(&Defaults::default(), OnDuplicate::Fail)?;
        match self.get("payload") {
            (Some(value), origin) => not_a_job(value, origin),
            (None, origin) => Err(origin.value_error("must be given")),
        }
    }

    /// Without its payload.
    fn job_of(&self, defaults: &Defaults, on_duplicate: OnDuplicate) -> Outcome<NewJob> {
        let due = self.given("delay", times::due)?.unwrap_or(Due::InMs(0));
        let id = self.nullable("id", args::id)?;
        let on_duplicate = match self.given("onDuplicate", args::case)? {
            Some(cases::OnDuplicate::Fail) => OnDuplicate::Fail,
            Some(cases::OnDuplicate::Keep) => OnDuplicate::Keep,
            Some(cases::OnDuplicate::Replace) => OnDuplicate::Replace,
            None => on_duplicate,
        };
        let mut extras = self.nullable("extras", extras)?.unwrap_or_default();
        extras.traits = self.traits(id.is_some() && on_duplicate == OnDuplicate::Replace)?.before(&extras.traits);
        let options = JobOptions {
            priority: self.nullable("priority", args::priority)?.unwrap_or(defaults.options.priority),
            ttr_ms: self.nullable("ttr", times::ttr)?.unwrap_or(defaults.options.ttr_ms),
            max_attempts: self.nullable("maxAttempts", args::max_attempts)?.unwrap_or(defaults.options.max_attempts),
            backoff: self.nullable("backoff", backoff::argument)?.or_else(|| defaults.options.backoff.clone()),
            timeout_ms: self.nullable("timeout", times::millis)?.unwrap_or(defaults.options.timeout_ms),
            headers: self.given("headers", headers::read)?.unwrap_or_default(),
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
        for (key, value) in keys().zip(&self.values) {
            if value.is_some() && !["id", "unique", "receipt"].contains(&key) {
                return Err(self.get("payload").1.value_error(&format!("must be given with {key}")));
            }
        }
        self.job_of(defaults, OnDuplicate::Keep)
    }

    /// `replaces`: the job replaces another one of its id.
    fn traits(&self, replaces: bool) -> Outcome<Traits> {
        let mut traits = Traits::default();
        let then = match self.given("onExpiry", args::case)? {
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
        if let Some(group) = self.nullable("group", args::group)? {
            traits = traits.group(&group);
        }
        Ok(traits)
    }
}

/// The `NewJob` that a value is.
fn object_of(value: &Zval) -> Option<&ZendObject> {
    value.object().filter(|object| classes::NEW_JOB.owns(object))
}

/// A job in a job is a mistake.
fn not_a_job(payload: &Zval, origin: Origin<'_>) -> Outcome<()> {
    match object_of(payload) {
        Some(_) => Err(origin.value_error(&format!("must not be a {}", classes::NEW_JOB.name))),
        None => Ok(()),
    }
}

/// `JobInfo::$extras`.
fn extras(value: &Zval, origin: Origin<'_>) -> Outcome<Extras> {
    let Some(bytes) = value.zend_str() else { return Err(origin.wrong_type("string", value)) };
    record::decode_extras(bytes.as_bytes())
        .ok_or_else(|| origin.value_error("must be the extras of a JobInfo, which this version can keep"))
}
