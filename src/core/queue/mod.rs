//! One queue: every operation is one script, or a bounded sequence of them.

mod batch;
mod doctor;
mod fresh;
mod glance;
mod inspect;
mod manage;
mod place;
mod push;
mod push_many;
mod reserve;
mod settle;
mod sleep;
mod transaction;
mod unseen;
mod wait;
mod watched;

pub use super::keys::{check_prefix, check_queue_name};
pub use doctor::{Check, Level};
pub use glance::Outlook;
pub use inspect::{Lateness, Stats};
pub use reserve::{Look, Trip, Waiting, new_slot};
pub use settle::{Failed, Held, random_unit};
pub use sleep::{Flow, Interrupts, NoInterrupts, rest};
pub use unseen::Unseen;
pub use wait::{Waited, wait_for};

use super::clock;
use super::connection::Connection;
use super::dsn::Dsn;
use super::error::Result;
use super::keys::Keys;
use super::link::{Attempt, Link, Request};
use super::pool::PoolKey;
use super::reply::Reply;
use super::scripts::Script;
use std::sync::Arc;
use std::time::Duration;

/// How a queue is reached. Opens nothing.
#[derive(Clone)]
pub struct QueueConfig {
    pub name: String,
    pub prefix: String,
    pub dsn: Arc<Dsn>,
    pub max_payload: usize,
    /// Store payloads packed where that makes them shorter (see [`super::packing`]).
    pub compress: bool,
    /// Wait for the answers to reserving and acknowledging, and to what is asked before a batch is added, awake for a moment (see
    /// [`super::connection`]), and so for the last moment before a job falls due.
    pub spin: bool,
    /// Add batches without a script where Redis is near, though their ids may be taken: two round trips (`watched.rs`).
    pub ask_first: bool,
    pub connect_timeout: Duration,
    /// The total deadline of one operation.
    pub read_timeout: Duration,
    /// Keep the connection for the process; otherwise it ends with the last clone of the queue or `close()`.
    pub persistent: bool,
}

/// A named set of jobs. Cheap to clone; opens nothing until first used.
#[derive(Clone)]
pub struct Queue {
    name: Arc<str>,
    keys: Arc<Keys>,
    max_payload: usize,
    compress: bool,
    spin: bool,
    ask_first: bool,
    link: Link,
}

impl Queue {
    #[must_use]
    pub fn new(config: QueueConfig) -> Self {
        let dsn = config.dsn;
        let link = if config.persistent {
            Link::shared(PoolKey::shared(dsn, config.connect_timeout, config.read_timeout))
        } else {
            let (key, owner) = PoolKey::private(dsn, config.connect_timeout, config.read_timeout);
            Link::private(key, owner)
        };
        let keys = Keys::shared(&config.prefix, &config.name);
        let QueueConfig { max_payload, compress, spin, ask_first, .. } = config;
        Self { name: Arc::clone(keys.queue()), keys, max_payload, compress, spin, ask_first, link }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Another queue over the same connection, prefix and limits.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Self {
        let keys = Keys::shared(self.keys.prefix(), name);
        Self { name: Arc::clone(keys.queue()), keys, ..self.clone() }
    }

    /// The same queue, without a part in how long its connection lasts.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { link: self.link.detached(), ..self.clone() }
    }

    /// How this queue reaches Redis.
    #[must_use]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Closes the connection. The next operation opens a new one.
    pub fn close(&self) {
        self.link.close();
    }

    /// Runs a script that gets all ten keys, with the clock offset as its first argument.
    fn script(&self, script: &Script, args: &[&[u8]]) -> Result<Reply> {
        self.script_knowing(script, |_| args.to_vec()).map(|(reply, _)| reply)
    }

    /// The same where arguments depend on the attempt; says whether the answer of a try before was lost.
    fn script_knowing<'a>(&self, script: &Script, args: impl Fn(Attempt) -> Vec<&'a [u8]>) -> Result<(Reply, bool)> {
        let mut was_lost = false;
        let value = self.link.run(|request, attempt, _| {
            was_lost = attempt.since_lost.is_some();
            self.write_script(request, script, &args(attempt));
        })?;
        Ok((Reply::new(value)?, was_lost))
    }

    /// For what must not run twice.
    fn script_once(&self, script: &Script, args: &[&[u8]]) -> Result<Reply> {
        Reply::new(self.link.run_once(|request, _, _: &mut Connection| self.write_script(request, script, args))?)
    }

    fn write_script(&self, request: &mut Request, script: &Script, args: &[&[u8]]) {
        let offset = clock::offset_ms().to_string();
        let mut all: Vec<&[u8]> = Vec::with_capacity(args.len() + 1);
        all.push(offset.as_bytes());
        all.extend_from_slice(args);
        request.script(script, &self.keys.all(), &all);
    }
}
