//! The list of workers, and the orders that operators give them.

use super::call::Call;
use super::classes::{self, cases};
use super::convert;
use super::delay_queue::DelayQueue;
use super::exceptions::At;
use super::origin::Origin;
use super::unwind::{Outcome, throw_error};
use crate::core::queue::check_queue_name;
use crate::core::registry::{Filter, Order, Registry, Worker};
use ext_php_rs::types::Zval;

pub fn workers(call: &Call) -> Outcome<Zval> {
    let meant = Meant::by(call, 1)?;
    let workers = Registry::of(call.this::<DelayQueue>()?.queue.first()).workers(&meant.filter())?;
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
    let Some(value) = call.arg(1) else { return Err(throw_error("tellWorkers() needs an order")) };
    let order = match classes::case(value) {
        Some(cases::WorkerOrder::Stop) => Order::Stop,
        Some(cases::WorkerOrder::Restart) => Order::Restart,
        Some(cases::WorkerOrder::Pause) => Order::Pause,
        Some(cases::WorkerOrder::Resume) => Order::Resume,
        None => return Err(call.type_error(1, value)),
    };
    let meant = Meant::by(call, 2)?;
    Ok(convert::int(Registry::of(call.this::<DelayQueue>()?.queue.first()).tell(order, &meant.filter())?))
}

/// The workers that the last three arguments choose.
struct Meant {
    host: Option<String>,
    pid: Option<i64>,
    queue: Option<String>,
}

impl Meant {
    fn by(call: &Call, first: u32) -> Outcome<Self> {
        let host = call.nullable_bytes(first)?;
        let pid = call.nullable_int(first + 1)?;
        let queue = match call.nullable_bytes(first + 2)? {
            Some(bytes) => Some(check_queue_name(&bytes).at(Origin::Argument(first + 2))?),
            None => None,
        };
        if pid.is_some() && host.is_none() {
            let must = format!("must be null when argument #{first} ($host) is null");
            return Err(Origin::Argument(first + 1).value_error(&must));
        }
        Ok(Self { host: host.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()), pid, queue })
    }

    fn filter(&self) -> Filter<'_> {
        Filter { host: self.host.as_deref(), pid: self.pid, queue: self.queue.as_deref() }
    }
}
