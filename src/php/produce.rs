//! `push()`, `pushMany()`, `producer()`.

use super::array;
use super::call::{Call, Fault, Outcome, guard};
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::{At, throw_error, throw_storing};
use super::new_job::{Fields, encode};
use super::place::Place;
use super::sys;
use crate::core::job::{Due, JobId, NewJob, OnDuplicate};
use ext_php_rs::ffi::zend_object_iterator;
use ext_php_rs::types::Zval;

/// A Traversable is sent in pieces of this size, as it is read.
const CHUNK: usize = 500;

pub fn push(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let job = Fields::of_call(call).job(&this.defaults)?;
    Ok(convert::bytes(this.queue.push(&job)?.as_bytes()))
}

pub fn push_many(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let Some(jobs) = call.arg(1) else { return Err(throw_error("pushMany() needs jobs")) };
    let mut ids = Vec::new();
    if let Some(table) = jobs.array() {
        let mut checked = Vec::with_capacity(table.len());
        for (index, (_, item)) in array::entries(table).enumerate() {
            checked.push(checked_item(this, item, index)?);
        }
        send(this, checked, &mut ids)?;
    } else {
        let mut items = Items::new(jobs).unwrap_or_else(|| Err(call.type_error(1, jobs)))?;
        let mut index = 0;
        loop {
            let mut checked = Vec::with_capacity(CHUNK);
            while checked.len() < CHUNK
                && let Some(item) = items.next()?
            {
                checked.push(checked_item(this, &item, index)?);
                index += 1;
            }
            let last = checked.len() < CHUNK;
            send(this, checked, &mut ids)?;
            if last {
                break;
            }
        }
    }
    Ok(convert::list(ids.iter().map(|id: &JobId| convert::bytes(id.as_bytes()))))
}

fn checked_item(this: &DelayQueue, item: &Zval, index: usize) -> Outcome<NewJob> {
    // A reference of our own keeps the array while jsonSerialize() methods run.
    let item = item.dereference().shallow_clone();
    Fields::of_item(&item, index)?.job(&this.defaults)
}

fn send(this: &DelayQueue, jobs: Vec<NewJob>, ids: &mut Vec<JobId>) -> Outcome<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    this.queue.push_many(jobs, ids).map_err(|error| throw_storing(error, ids))
}

/// A `Traversable`, one item after the other. After a fatal error in it nothing of it is touched any more.
struct Items {
    iterator: *mut zend_object_iterator,
    started: bool,
}

impl Items {
    /// `None`: not traversable.
    fn new(value: &Zval) -> Option<Outcome<Self>> {
        let object = value.object()?;
        let ce = object.get_class_entry();
        let get_iterator = ce.get_iterator?;
        let raw = std::ptr::from_ref(ce).cast_mut();
        let mut holder = value.shallow_clone();
        // SAFETY: the class says how to iterate its objects; the iterator keeps the object alive.
        let made = guard(|| unsafe { get_iterator(raw, &raw mut holder, 0) });
        Some(match made {
            Ok(iterator) if !iterator.is_null() => Ok(Self { iterator, started: false }),
            Ok(_) => Err(throw_error("The iterator could not be made")),
            Err(fault) => Err(fault),
        })
    }

    fn next(&mut self) -> Outcome<Option<Zval>> {
        let step = self.step();
        if matches!(step, Err(Fault::Bailout)) {
            self.iterator = std::ptr::null_mut();
        }
        step
    }

    fn step(&mut self) -> Outcome<Option<Zval>> {
        let iterator = self.iterator;
        let started = std::mem::replace(&mut self.started, true);
        // SAFETY: the iterator is live; optional functions are checked.
        unsafe {
            let functions = &*(*iterator).funcs;
            if started {
                (*iterator).index += 1;
                if let Some(forward) = functions.move_forward {
                    guard(|| forward(iterator))?;
                }
            } else {
                (*iterator).index = 0;
                if let Some(rewind) = functions.rewind {
                    guard(|| rewind(iterator))?;
                }
            }
            let Some(valid) = functions.valid else { return Ok(None) };
            if guard(|| valid(iterator))? != 0 {
                return Ok(None);
            }
            let Some(current) = functions.get_current_data else { return Ok(None) };
            let value = guard(|| current(iterator))?;
            Ok(value.as_ref().map(|value| value.dereference().shallow_clone()))
        }
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        if !self.iterator.is_null() {
            // SAFETY: made by `get_iterator`, destroyed once. Destructors of the user's may run in here.
            let _ = guard(|| unsafe { sys::zend_iterator_dtor(self.iterator) });
        }
    }
}

/// The classic producer: an absolute Unix time as the score, and the same id replaces.
pub fn producer(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let id = JobId::new(call.bytes(1)?).at(Place::Argument(1))?;
    let at_us = moment_us(call.number(2)?, f64::ceil, Place::Argument(2))?;
    let message = match call.arg(3) {
        Some(message) if message.is_array() => message,
        Some(other) => return Err(call.type_error(3, other)),
        None => return Err(throw_error("producer() needs a message")),
    };
    let payload = encode(message, Place::Argument(3), this.defaults.encoding)?;
    let job = NewJob {
        id: Some(id),
        payload,
        due: Due::AtUs(at_us),
        options: this.defaults.options.clone(),
        on_duplicate: OnDuplicate::Replace,
        unique_ms: None,
    };
    this.queue.push(&job)?;
    Ok(convert::bool(true))
}

/// Unix seconds as microseconds. `round` decides between two of them.
pub fn moment_us(seconds: f64, round: fn(f64) -> f64, place: Place<'_>) -> Outcome<i64> {
    const LAST_US: f64 = 253_402_300_799_999_999.0; // the end of the year 9999
    if !seconds.is_finite() {
        return Err(place.value_error("must be finite"));
    }
    let us = seconds * 1_000_000.0;
    // A float of today is exact to a quarter of a microsecond: forgive its error before rounding.
    let us = if (us - us.round()).abs() < 0.3 { us.round() } else { round(us) };
    if us.abs() > LAST_US {
        return Err(place.value_error("must lie before the year 10000"));
    }
    Ok(us as i64)
}
