//! A worker's loop behind a proxy, and what the tests of fetching ahead know of it.

use crate::proxy::{Cut, Fault, Proxy};
use crate::support::*;
use delayqueue::core::job::{JobOptions, NewJob, State};
use delayqueue::core::queue::{NoInterrupts, Queue};
use delayqueue::core::worker::feed::{Delivery, Feed, Fetched};
use delayqueue::core::worker::keeper::{Alarm, Keeper};
use std::time::{Duration, Instant};

/// Jobs of one trip.
pub const N: usize = 4;

struct NoAlarm;

impl Alarm for NoAlarm {
    fn ring(&self, _: u32) {}
    fn give_up(&self, message: &str) -> ! {
        panic!("{message}")
    }
}

/// A worker on a queue of its own, behind a proxy; `queue` goes around it.
pub struct Worker {
    pub server: Server,
    pub proxy: Proxy,
    pub queue: Queue,
    pub feed: Feed,
    /// In the order of delivery.
    pub ids: Vec<String>,
}

impl Worker {
    pub fn new(read_timeout: Duration, ttr_ms: u64, jobs: usize) -> Self {
        Self::fetching(N, read_timeout, ttr_ms, jobs)
    }

    pub fn fetching(prefetch: usize, read_timeout: Duration, ttr_ms: u64, jobs: usize) -> Self {
        let server = Server::start(&[]);
        let proxy = Proxy::before(&server);
        let queue = server.queue("q");
        push(&queue, ttr_ms, jobs);
        let keeper = Keeper::new(Box::new(NoAlarm), true);
        let feed = Feed::new(vec![proxy.queue("q", read_timeout)], prefetch, Some(keeper)).fetching_ahead();
        Self { server, proxy, queue, feed, ids: Vec::new() }
    }

    pub fn try_next(&mut self) -> delayqueue::core::error::Result<Option<Delivery>> {
        Ok(match self.feed.next(Some(Duration::ZERO), &mut NoInterrupts)? {
            Fetched::Job(delivery) => {
                self.ids.push(delivery.job.id.to_string());
                Some(*delivery)
            }
            _ => None,
        })
    }

    pub fn next(&mut self) -> Delivery {
        self.try_next().unwrap().expect("a job")
    }

    /// Handles so many jobs.
    pub fn handle(&mut self, jobs: usize) {
        for _ in 0..jobs {
            let delivery = self.next();
            self.feed.done(&delivery.ticket).unwrap();
        }
    }

    pub fn reserved(&self) -> u64 {
        self.queue.count(Some(State::Reserved)).unwrap()
    }

    /// Until the first job of a batch is in hand, and the batch behind it is fetched. A batch that a busy machine handles slowly
    /// has none behind it.
    pub fn get_ahead(&mut self) -> Delivery {
        for _ in 0..10 {
            self.handle(N);
            let first = self.next();
            let end = Instant::now() + Duration::from_secs(1);
            while Instant::now() < end {
                if self.reserved() == 2 * N as u64 {
                    return first;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            self.feed.done(&first.ticket).unwrap();
            self.handle(N - 1);
        }
        panic!("never got ahead");
    }

    /// The same, and then the reply to the trip that the first job of the batch behind sends is broken. Returns that job.
    pub fn get_ahead_and_break(&mut self, fault: Fault, times: u32) -> Delivery {
        for _ in 0..20 {
            let first = self.get_ahead();
            self.feed.done(&first.ticket).unwrap();
            self.handle(N - 1);
            self.proxy.fail(fault, times);
            let next = self.next();
            let end = Instant::now() + Duration::from_secs(1);
            while Instant::now() < end {
                if self.proxy.met() > 0 {
                    return next;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            self.proxy.heal();
            self.feed.done(&next.ticket).unwrap();
            self.handle(N - 1);
        }
        panic!("never sent a trip ahead");
    }

    /// How many leases there have ever been, once no trip is under way.
    pub fn leases(&mut self) -> u64 {
        self.feed.return_rest().unwrap();
        reserve(&self.queue).unwrap().receipt.token - 1
    }

    pub fn assert_in_order(&self) {
        let expected: Vec<String> = (0..self.ids.len()).map(name).collect();
        assert_eq!(self.ids, expected);
    }
}

pub fn name(n: usize) -> String {
    format!("j{n:04}")
}

pub fn push(queue: &Queue, ttr_ms: u64, count: usize) {
    let options = JobOptions { ttr_ms, ..JobOptions::default() };
    let jobs: Vec<NewJob> = (0..count).map(|n| NewJob { options: options.clone(), ..job(&name(n)) }).collect();
    queue.push_many(&jobs).unwrap();
}

pub const LONG: Duration = Duration::from_secs(30);

/// After these the trip is made again, and nobody hears of it.
pub const REPEATED: [Fault; 5] = [
    Fault::DropBefore,
    Fault::DropReply,
    Fault::CutRequest(Cut::Half),
    Fault::CutReply(Cut::Half),
    Fault::CutReply(Cut::Last),
];
