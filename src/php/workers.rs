//! The list of workers, and the orders that operators give them.

use super::call::{Call, Outcome};
use super::convert;
use super::delay_queue::DelayQueue;
use super::enums;
use super::exceptions::{At, throw_error};
use super::place::Place;
use crate::core::queue::check_queue_name;
use crate::core::registry::{Filter, Registry, Worker};
use ext_php_rs::types::Zval;

pub fn workers(call: &Call) -> Outcome<Zval> {
    let workers = Registry::of(call.this::<DelayQueue>()?.queue.first()).workers()?;
    Ok(convert::list(workers.iter().map(entry)))
}

fn entry(worker: &Worker) -> Zval {
    let moment = |us| convert::float(convert::unix_seconds_of_us(us));
    let job = worker.job.as_ref().map(|job| {
        convert::map([
            ("queue", convert::bytes(&job.queue)),
            ("id", convert::bytes(&job.id)),
            ("since", moment(job.since_us)),
        ])
    });
    convert::map([
        ("host", convert::bytes(&worker.host)),
        ("pid", convert::int(worker.pid)),
        ("state", convert::bytes(worker.activity.word())),
        ("queues", convert::list(worker.queues.iter().map(convert::bytes))),
        ("job", job.unwrap_or_else(convert::null)),
        ("memory", convert::nullable(worker.memory, convert::int)),
        ("version", convert::bytes(&worker.version)),
        ("startedAt", moment(worker.started_at_us)),
        ("seenAt", moment(worker.seen_at_us)),
        ("orders", convert::list(worker.orders.iter().map(|order| convert::bytes(order.word())))),
    ])
}

pub fn tell_workers(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let Some(value) = call.arg(1) else { return Err(throw_error("tellWorkers() needs an order")) };
    let Some(order) = enums::worker_order(value) else { return Err(call.type_error(1, value)) };
    let host = call.nullable_bytes(2)?;
    let pid = call.nullable_int(3)?;
    let queue = match call.nullable_bytes(4)? {
        Some(bytes) => Some(check_queue_name(&bytes).at(Place::Argument(4))?),
        None => None,
    };
    if pid.is_some() && host.is_none() {
        return Err(Place::Argument(3).value_error("must be null when argument #2 ($host) is null"));
    }
    let host = host.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let filter = Filter { host: host.as_deref(), pid, queue: queue.as_deref() };
    Ok(convert::int(Registry::of(this.queue.first()).tell(order, &filter)?))
}
