//! The list of workers under a prefix, and the orders that an operator gives them. All of it is plain commands of clients; no script knows of it.
//!
//! A worker writes its entry again and again; the entry ends by itself soon after the last time. An entry is one line of JSON. An operator
//! appends orders, a line each, and the next writing of the worker gives them to it in the same command that overwrites them: none is lost
//! between two writers, none comes twice, and those of two operators come in their order. A new worker has a new id, so it never sees an
//! order to one before it.

mod entry;
mod tasks;

use super::client::{Client, Request};
use super::error::{Error, Result};
use super::keys;
use super::queue::Queue;
use super::{clock, reply};
pub use entry::{Activity, Entry, Headcount, Order, RunningJob, Worker};
use entry::{orders_in, read, text_of};
use redis::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
pub use tasks::{TaskCount, TaskCounts, task_name};

/// A worker writes its entry so often.
pub const WRITTEN_EVERY: Duration = Duration::from_secs(12);
/// A worker that was killed is out of the list after this time. It leaves room for two writings.
pub const LISTED_FOR: Duration = Duration::from_secs(28);
/// A worker enters itself into the index again after this time: a reader may have taken it off in the moment in which it came back.
pub const INDEXED_EVERY: Duration = Duration::from_secs(300);
/// A worker that has not entered itself for so long is no more. Longer than the clocks of two machines differ.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(86_400);
/// A worker waits no longer than this for its entry, and less where a lease is to be renewed: the thread that writes it keeps leases, too.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// Entries that are read in one round trip.
const PAGE: usize = 100;
/// Bytes of the longest entry that is read.
const LONGEST: &str = "65535";

/// Which workers are meant; `None`: all.
#[derive(Debug, Default)]
pub struct Filter<'a> {
    pub host: Option<&'a str>,
    pub pid: Option<i64>,
    pub queue: Option<&'a str>,
}

impl Filter<'_> {
    fn takes(&self, worker: &Worker) -> bool {
        self.host.is_none_or(|host| host == worker.host)
            && self.pid.is_none_or(|pid| pid == worker.pid)
            && self.queue.is_none_or(|queue| worker.queues.iter().any(|name| name == queue))
    }
}

/// The list of one prefix.
#[derive(Debug, Clone)]
pub struct Registry {
    client: Client,
    prefix: String,
}

impl Registry {
    /// The registry of a queue's prefix, over its connections.
    #[must_use]
    pub fn of(queue: &Queue) -> Self {
        let client = queue.client().for_slot(keys::workers_slot());
        Self { client, prefix: queue.prefix().to_owned() }
    }

    /// Writes a worker's entry; returns the orders that it has not heard yet. `None`: there was no entry, so the index may lack it, too.
    ///
    /// # Errors
    /// Connection and server errors. Orders of that moment may be lost when the answer was.
    pub fn write(&self, id: &str, entry: &Entry, must_index: bool) -> Result<Option<Vec<Order>>> {
        let (index, key) = (keys::workers(&self.prefix), keys::worker(&self.prefix, id));
        let (text, lives_ms) = (text_of(entry), LISTED_FOR.as_millis().to_string());
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let (now, forgotten) = (now_s.to_string(), now_s.saturating_sub(FORGOTTEN_AFTER.as_secs()).to_string());
        let build = |request: &mut Request| {
            if must_index {
                request.command(&[b"ZREMRANGEBYSCORE", index.as_bytes(), b"-inf", forgotten.as_bytes()]);
                request.command(&[b"ZADD", index.as_bytes(), now.as_bytes(), id.as_bytes()]);
            }
            request.command(&[b"SET", key.as_bytes(), text.as_bytes(), b"PX", lives_ms.as_bytes(), b"GET"]);
        };
        // Not repeated: the entry that is there then would be ours, and the one with the orders gone.
        let mut replies = ask(&self.client, false, build)?;
        let before = replies.next_back().and_then(reply::bytes);
        Ok(before.map(|before| orders_in(&before)))
    }

    /// Takes a worker off the list.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn remove(&self, id: &str) -> Result<()> {
        let (index, key) = (keys::workers(&self.prefix), keys::worker(&self.prefix, id));
        ask(&self.client, true, |request| {
            request.command(&[b"DEL", key.as_bytes()]);
            request.command(&[b"ZREM", index.as_bytes(), id.as_bytes()]);
        })
        .map(drop)
    }

    /// The workers that are meant, by host and process. Takes those off the index that are no more.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn workers(&self, filter: &Filter<'_>) -> Result<Vec<Worker>> {
        let doing = |error: Error| error.while_doing(|| "looking at the list of workers".into());
        let mut workers = Vec::new();
        for ids in self.ids().map_err(doing)?.chunks(PAGE) {
            let mut replies = ask(&self.client, true, |request| {
                request.command(&[b"TIME"]);
                for key in ids.iter().map(|id| keys::worker(&self.prefix, id)) {
                    request.command(&[b"GETRANGE", key.as_bytes(), b"0", LONGEST.as_bytes()]);
                    request.command(&[b"PTTL", key.as_bytes()]);
                }
            })
            .map_err(doing)?;
            let now_us =
                replies.next().as_ref().and_then(reply::time_us).ok_or_else(reply::unexpected).map_err(doing)?;
            let mut gone = Vec::new();
            for id in ids {
                let (value, ttl_ms) = (replies.next().and_then(reply::bytes), replies.next().and_then(reply::int));
                let Some((value, ttl_ms)) = value.filter(|value| !value.is_empty()).zip(ttl_ms) else {
                    gone.push(id.as_bytes());
                    continue;
                };
                // The entry of a newer version may say more than is known here.
                workers.extend(read(id, &value, ttl_ms, now_us + clock::offset_us()));
            }
            self.forget(&gone);
        }
        workers.retain(|worker| filter.takes(worker));
        workers.sort_by(|one, other| (&one.host, one.pid, &one.id).cmp(&(&other.host, other.pid, &other.id)));
        Ok(workers)
    }

    /// How many workers serve a queue.
    ///
    /// # Errors
    /// As [`Registry::workers`].
    pub fn headcount(&self, queue: &str) -> Result<Headcount> {
        let mut count = Headcount::default();
        for worker in self.workers(&Filter { queue: Some(queue), ..Filter::default() })? {
            *count.of(worker.activity) += 1;
        }
        Ok(count)
    }

    /// Gives an order to all workers that are meant; returns how many there are.
    ///
    /// # Errors
    /// Connection and server errors; some may have been told then.
    pub fn tell(&self, order: Order, filter: &Filter<'_>) -> Result<u64> {
        let line = format!("\n{}", order.word());
        let mut told = 0;
        for some in self.workers(filter)?.chunks(PAGE) {
            let keys: Vec<String> = some.iter().map(|worker| keys::worker(&self.prefix, &worker.id)).collect();
            let append = |request: &mut Request| {
                keys.iter().for_each(|key| request.command(&[b"APPEND", key.as_bytes(), line.as_bytes()]));
            };
            let lengths = ask(&self.client, true, append)
                .map_err(|error| error.while_doing(|| format!("telling workers to {}", order.word())))?;
            let is_new = |length| reply::int(length) == Some(line.len() as i64);
            for (key, is_new) in keys.iter().zip(lengths.map(is_new)) {
                told += u64::from(!is_new);
                if is_new {
                    // The worker ended meanwhile: nobody will read this, and nothing would end it.
                    let _ = ask(&self.client, true, |request| request.command(&[b"DEL", key.as_bytes()]));
                }
            }
        }
        Ok(told)
    }

    fn ids(&self) -> Result<Vec<String>> {
        const PAGE: usize = 1000;
        let (index, mut ids, mut first) = (keys::workers(&self.prefix), Vec::new(), 0);
        loop {
            let (from, to) = (first.to_string(), (first + PAGE - 1).to_string());
            let page = self.client.run(|request, _, _| {
                request.command(&[b"ZRANGE", index.as_bytes(), from.as_bytes(), to.as_bytes()]);
            })?;
            let page: Vec<Value> = reply::all(page)?.collect();
            let is_last = page.len() < PAGE;
            first += page.len();
            // Others are none of ours.
            ids.extend(page.into_iter().filter_map(reply::text).filter(|id| id.len() <= 64));
            if is_last {
                return Ok(ids);
            }
        }
    }

    /// Best effort: it may be a user who may only look.
    fn forget(&self, ids: &[&[u8]]) {
        if !ids.is_empty() {
            let index = keys::workers(&self.prefix);
            let command: Vec<&[u8]> =
                [b"ZREM".as_slice(), index.as_bytes()].into_iter().chain(ids.iter().copied()).collect();
            let _ = self.client.run(|request, _, _| request.command(&command));
        }
    }
}

/// The replies to several commands, none of which was refused.
fn ask(client: &Client, repeats: bool, build: impl Fn(&mut Request)) -> Result<std::vec::IntoIter<Value>> {
    let write = |request: &mut Request, _, _: &mut _| {
        request.all_replies();
        build(request);
    };
    let replies = if repeats { client.run(write)? } else { client.run_once(write)? };
    let replies = reply::all(replies)?;
    for reply in replies.as_slice() {
        if let Value::ServerError(error) = reply {
            return Err(Error::from_redis(error.code(), error.details().unwrap_or_default()));
        }
    }
    Ok(replies)
}
