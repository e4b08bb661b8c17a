//! The list of workers, and the orders that operators give them.

use super::call::Call;
use super::classes::cases;
use super::delay_queue::DelayQueue;
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, convert};
use crate::core::registry::{Filter, Order, Registry, Worker};
use ext_php_rs::types::Zval;

pub fn workers(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let meant = Meant::by(call, 1)?;
    let workers = Registry::of(this.queue.first()).workers(&meant.filter())?;
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
        ("kind", convert::bytes(&worker.kind)),
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

pub fn tasks(this: &DelayQueue) -> Outcome<Zval> {
    let tasks = Registry::of(this.queue.first()).tasks()?;
    Ok(convert::map(tasks.iter().map(|(name, count)| {
        let count = convert::map([
            ("runs", convert::int(count.runs)),
            ("failures", convert::int(count.failures)),
            ("seconds", convert::float(count.ran_us as f64 / 1e6)),
        ]);
        (name, count)
    })))
}

pub fn tell_workers(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let order = match call.required(1, args::case)? {
        cases::WorkerOrder::Stop => Order::Stop,
        cases::WorkerOrder::Restart => Order::Restart,
        cases::WorkerOrder::Pause => Order::Pause,
        cases::WorkerOrder::Resume => Order::Resume,
    };
    let meant = Meant::by(call, 2)?;
    Ok(convert::int(Registry::of(this.queue.first()).tell(order, &meant.filter())?))
}

/// The workers that the last three arguments choose.
struct Meant {
    host: Option<String>,
    pid: Option<i64>,
    queue: Option<String>,
}

impl Meant {
    fn by(call: &Call, first: u32) -> Outcome<Self> {
        let host = call.nullable(first, args::bytes)?;
        let pid = call.nullable(first + 1, args::int)?;
        let queue = call.nullable(first + 2, args::queue_name)?;
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
