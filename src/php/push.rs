//! `push()`, `tryPush()`, `pushMany()`, `producer()`, `prepare()`, and how they read a job: of their arguments, or of an array.

use super::call::Call;
use super::classes::{self, cases, parameters, properties};
use super::convert::{self, ArrayKey};
use super::delay_queue::DelayQueue;
use super::exceptions::throw_storing;
use super::object::{Plain, make};
use super::options::Defaults;
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, backoff, headers, items, times};
use crate::core::job::{Due, Extras, JobId, JobOptions, NewJob, OnDuplicate};
use crate::core::traits::{OnExpiry, Traits};
use crate::core::{nearest, record};
use ext_php_rs::types::Zval;

pub fn push(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let job = Fields::of_call(call).job(&this.defaults)?;
    Ok(convert::bytes(this.queue.push(job)?.as_bytes()))
}

/// As `push()`; null where the job was not stored for its id.
pub fn try_push(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let job = Fields::of_call(call).job(&this.defaults)?;
    Ok(convert::nullable(this.queue.try_push(job)?, |id| convert::bytes(id.as_bytes())))
}

pub fn push_many(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let mut ids = Vec::new();
    let check = |item: &Zval, index| Fields::of_item(item, index)?.job(&this.defaults);
    items::each_chunk(call, check, |jobs| {
        let before = ids.len();
        let pushed = this.queue.push_many(jobs, &mut ids);
        pushed.map_err(|error| throw_storing(error.with_items_at(|position| before + position), &ids))
    })?;
    Ok(convert::list(ids.iter().map(|id: &JobId| convert::bytes(id.as_bytes()))))
}

/// The classic producer: an absolute Unix time as the score, and the same id replaces.
pub fn producer(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let at_us = call.required(2, |value, origin| times::unix_us(args::number(value, origin)?, f64::ceil, origin))?;
    let payload = call.required(3, |value, origin| match value.is_array() {
        true => this.defaults.encoding.encode(value, origin),
        false => Err(origin.wrong_type("array", value)),
    })?;
    let job = NewJob {
        id: Some(id),
        payload,
        due: Due::AtUs(at_us),
        options: this.defaults.options.clone(),
        on_duplicate: OnDuplicate::Replace,
        unique_ms: None,
    };
    this.queue.push(job)?;
    Ok(convert::bool(true))
}

/// The job that a push would store, for programs that store it elsewhere first. Asks no Redis.
pub fn prepare(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let job = Fields::of_call(call).job(&this.defaults)?;
    let (delay, due_at) = match job.due {
        Due::InMs(ms) => (convert::float(convert::seconds(ms)), convert::null()),
        Due::AtUs(us) => (convert::null(), convert::float(convert::unix_seconds_of_us(us))),
    };
    let on_duplicate = match job.on_duplicate {
        OnDuplicate::Fail => cases::OnDuplicate::Fail,
        OnDuplicate::Keep => cases::OnDuplicate::Keep,
        OnDuplicate::Replace => cases::OnDuplicate::Replace,
    };
    let options = job.options;
    let properties = properties::PreparedJob {
        id: convert::bytes(job.id.unwrap_or_else(JobId::generate).as_bytes()),
        body: convert::bytes(&job.payload),
        headers: convert::texts(&options.headers),
        delay,
        due_at,
        priority: convert::int(options.priority),
        ttr: convert::float(convert::seconds(options.ttr_ms)),
        max_attempts: convert::int(options.max_attempts),
        backoff: backoff::object(options.backoff.clone().unwrap_or_default())?,
        timeout: convert::float(convert::seconds(options.timeout_ms)),
        on_duplicate: classes::case_object(on_duplicate),
        unique: convert::nullable(job.unique_ms, |ms| convert::float(convert::seconds(ms))),
        group: convert::nullable(options.group(), convert::bytes),
        extras: convert::nullable(record::encode_extras(&options.extras), convert::bytes),
        partitions: convert::int(this.queue.count_of_parts()),
        is_sealed: convert::bool(this.queue.first().has_keys()),
    };
    make(Plain, properties)
}

/// The further keys of an item of `pushMany()`, then those of `pushOnce()`.
const FURTHER_KEYS: [&str; 6] = ["extras", "receipt", "createdAt", "past", "state", "seal"];
const OF_PUSH: usize = parameters::PUSH.len();
const OF_PUSH_MANY: usize = OF_PUSH + 1;
const OF_PUSH_ONCE: usize = OF_PUSH + FURTHER_KEYS.len();

/// The parameters of `push()` in their order, then [`FURTHER_KEYS`].
fn keys() -> impl Iterator<Item = &'static str> {
    parameters::PUSH.into_iter().chain(FURTHER_KEYS)
}

/// The values given, by their position in [`keys`].
pub struct Fields<'a> {
    values: [Option<&'a Zval>; OF_PUSH_ONCE],
    item: Option<usize>,
}

impl<'a> Fields<'a> {
    pub fn of_call(call: &'a Call) -> Self {
        let mut values = [None; OF_PUSH_ONCE];
        for (number, value) in (1..).zip(values.iter_mut().take(OF_PUSH)) {
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
        Self::of_item_with(item, index, OF_PUSH_ONCE)
    }

    fn of_item_with(item: &'a Zval, index: usize, count: usize) -> Outcome<Self> {
        let Some(table) = item.array() else { return Err(Origin::WholeItem(index).type_error("array", item)) };
        let mut values = [None; OF_PUSH_ONCE];
        for (key, value) in convert::entries(table) {
            let known = match &key {
                ArrayKey::Text(text) => keys().take(count).position(|known| known.as_bytes() == *text),
                ArrayKey::Int(_) => None,
            };
            match known.and_then(|position| values.get_mut(position)) {
                Some(slot) => *slot = Some(value),
                None => {
                    let hint = nearest::hint(&key.to_string(), &keys().take(count).collect::<Vec<_>>());
                    return Err(Origin::WholeItem(index).value_error(&format!("has the unknown key \"{key}\"{hint}")));
                }
            }
        }
        Ok(Self { values, item: Some(index) })
    }

    pub fn get(&self, key: &'static str) -> (Option<&'a Zval>, Origin<'static>) {
        let position = keys().position(|known| known == key).unwrap_or(0);
        let origin = match self.item {
            None => Origin::Argument(u32::try_from(position + 1).unwrap_or(1)),
            Some(index) => Origin::Item(index, key),
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
            (value, Origin::Item(index, key)) => (value, Origin::NullableItem(index, key)),
            of_call => of_call,
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
            (Some(value), origin) => payload(value, origin)?,
            (None, origin) => return Err(origin.value_error("must be given")),
        };
        Ok(NewJob { payload, ..job })
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

/// `JobInfo::$extras`.
fn extras(value: &Zval, origin: Origin<'_>) -> Outcome<Extras> {
    let Some(bytes) = value.zend_str() else { return Err(origin.wrong_type("string", value)) };
    record::decode_extras(bytes.as_bytes())
        .ok_or_else(|| origin.value_error("must be the extras of a JobInfo, which this version can keep"))
}
