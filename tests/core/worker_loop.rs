//! A worker's loop behind a proxy.

use crate::proxy::{Cut, Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Result;
use delayqueue::core::job::{JobOptions, NewJob};
use delayqueue::core::queue::{NoInterrupts, Queue};
use delayqueue::core::worker::alarm::{Alarm, Cause};
use delayqueue::core::worker::feed::{Feed, Fetched};
use delayqueue::core::worker::keeper::Keeper;
use delayqueue::core::worker::lease::Delivery;
use std::time::Duration;

/// Jobs of one round trip.
pub const N: usize = 4;

struct NoAlarm;

impl Alarm for NoAlarm {
    fn ring(&self, _: Cause, _: u32) {}
    fn give_up(&self, message: &str) -> ! {
        panic!("{message}")
    }
}

pub fn keeper() -> Keeper {
    Keeper::new(Box::new(NoAlarm), true)
}

/// A loop over one queue. `renews`: leases are kept alive.
pub fn feed(queue: &Queue, prefetch: usize, renews: bool) -> Feed {
    Feed::new(vec![queue.clone()], prefetch, Keeper::new(Box::new(NoAlarm), renews))
}

pub fn try_next(feed: &mut Feed) -> Result<Option<Delivery>> {
    Ok(match feed.next(Some(Duration::ZERO), &mut NoInterrupts)? {
        Fetched::Job(delivery) => Some(*delivery),
        _ => None,
    })
}

pub fn next(feed: &mut Feed) -> Delivery {
    try_next(feed).unwrap().expect("a job")
}

/// A job that is done at once.
pub fn handle(feed: &mut Feed) -> Delivery {
    let delivery = next(feed);
    feed.done(&delivery.ticket);
    delivery
}

/// A worker on a queue of its own, behind a proxy; `queue` goes around it.
pub struct Worker {
    _server: Server,
    pub proxy: Proxy,
    pub queue: Queue,
    pub feed: Feed,
    /// In the order of delivery.
    pub ids: Vec<String>,
}

impl Worker {
    pub fn new(read_timeout: Duration, ttr_ms: u64, jobs: usize) -> Self {
        let (server, proxy) = Proxy::with_server();
        let queue = server.queue("q");
        push(&queue, ttr_ms, jobs);
        let feed = feed(&proxy.queue("q", read_timeout), N, true);
        Self { _server: server, proxy, queue, feed, ids: Vec::new() }
    }

    pub fn try_next(&mut self) -> Result<Option<Delivery>> {
        let delivery = try_next(&mut self.feed)?;
        self.ids.extend(delivery.iter().map(|delivery| delivery.job.id.to_string()));
        Ok(delivery)
    }

    pub fn next(&mut self) -> Delivery {
        self.try_next().unwrap().expect("a job")
    }

    /// Handles so many jobs.
    pub fn handle(&mut self, jobs: usize) {
        for _ in 0..jobs {
            let delivery = self.next();
            self.feed.done(&delivery.ticket);
        }
    }

    pub fn acked(&self) -> u64 {
        self.queue.stats().unwrap().acked
    }
}

pub fn name(n: usize) -> String {
    format!("j{n:04}")
}

pub fn push(queue: &Queue, ttr_ms: u64, count: usize) {
    let options = JobOptions { ttr_ms, ..JobOptions::default() };
    let jobs: Vec<NewJob> = (0..count).map(|n| NewJob { options: options.clone(), ..job(&name(n)) }).collect();
    push_many(queue, &jobs);
}

/// After these the client repeats the round trip and reports no error.
pub const REPEATED: [Fault; 5] = [
    Fault::DropBefore,
    Fault::DropReply,
    Fault::CutRequest(Cut::Half),
    Fault::CutReply(Cut::Half),
    Fault::CutReply(Cut::Last),
];
