//! One queue: every operation is one script, or a bounded sequence of them.

mod ask;
mod ask_ahead;
mod each;
mod examine;
mod flight;
mod groups;
mod histogram;
mod idle_check;
mod inspect;
mod look;
mod manage;
mod next_due;
mod push;
mod push_once;
mod ready;
mod receipts;
mod register;
mod release;
mod reserve;
mod sealing;
mod settle;
mod sleep;
mod stats;
mod subscribe;
mod thread;
mod update;
mod wait;

pub use super::keys::{check_prefix, check_queue_name};
pub use ask::{ReserveOutcome, Source, Waited, Waiting};
pub use each::{Content, counts_due, firsts_of, groups_of, limits_of, stats_of, that_have};
pub use histogram::{Histogram, Quantiles, RunOutcome, bucket_of};
pub use look::which_have;
pub use manage::Taken;
pub use next_due::NextDue;
pub use push_once::{OnceJob, PushOnce};
pub use ready::check_ready;
pub use reserve::{Fetch, reserve_from, wait_for};
pub use settle::{Failed, Finished, Held, Settled, random_unit};
pub use sleep::{Flow, Interrupts, NoInterrupts, rest};
pub use stats::{Counters, Snapshot, Stats};
pub use thread::forget_calls;
pub use update::SealedContent;
pub use wait::{LONGEST_ALONE, is_alone};

use super::client::{Attempt, Client, Request};
use super::clock;
use super::dsn::Dsn;
use super::durability::Durability;
use super::error::{Error, Result};
use super::job::Due;
use super::keyring::Keyring;
use super::keys::Keys;
use super::pool::PoolKey;
use super::reply::{self, Reply};
use super::scripts::Script;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a queue is reached. Opens nothing.
#[derive(Clone)]
pub struct QueueConfig {
    pub name: String,
    pub prefix: String,
    pub dsn: Arc<Dsn>,
    pub max_payload: usize,
    /// Pushes beyond so many jobs in all states are refused.
    pub capacity: Option<u64>,
    /// With it the payloads of all jobs are sealed.
    pub keyring: Option<Arc<Keyring>>,
    pub connect_timeout: Duration,
    /// The total deadline of one operation.
    pub read_timeout: Duration,
    /// `None`: a change counts when the master has it in memory.
    pub durability: Option<Durability>,
    /// Keep the connection for the process; otherwise it ends with the last clone of the queue or `close()`.
    pub persistent: bool,
}

/// A named set of jobs. Cheap to clone; opens nothing until first used.
#[derive(Clone)]
pub struct Queue {
    name: Arc<str>,
    keys: Arc<Keys>,
    max_payload: usize,
    capacity: Option<u64>,
    keyring: Option<Arc<Keyring>>,
    client: Client,
    durability: Option<Durability>,
}

impl Queue {
    #[must_use]
    pub fn new(config: QueueConfig) -> Self {
        let keys = Keys::shared(&config.prefix, &config.name, 0);
        let dsn = config.dsn;
        let client = if config.persistent {
            Client::shared(PoolKey::shared(dsn, config.connect_timeout, config.read_timeout), keys.slot())
        } else {
            let (key, owner) = PoolKey::private(dsn, config.connect_timeout, config.read_timeout);
            Client::private(key, keys.slot(), owner)
        };
        Self {
            name: Arc::clone(keys.queue()),
            keys,
            max_payload: config.max_payload,
            capacity: config.capacity,
            keyring: config.keyring,
            client,
            durability: config.durability,
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The beginning of all keys.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.keys.prefix()
    }

    /// Where Redis is, without the password.
    #[must_use]
    pub fn redacted_dsn(&self) -> String {
        self.client.key().dsn.redacted()
    }

    /// Another queue over the same connections, with the same prefix, limits and keys for sealing.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Self {
        self.partition(name, 0)
    }

    /// A partition of another queue, over the same connections.
    #[must_use]
    pub fn partition(&self, name: &str, partition: u16) -> Self {
        let keys = Keys::shared(self.keys.prefix(), name, partition);
        let client = self.client.for_slot(keys.slot());
        Self { name: Arc::clone(keys.queue()), keys, client, ..self.clone() }
    }

    /// This queue as one of so many partitions: each holds its share of the jobs.
    #[must_use]
    pub fn with_share_of_capacity(&self, partitions: u16) -> Self {
        self.with_capacity(self.capacity.map(|most| most.div_ceil(u64::from(partitions).max(1))))
    }

    /// This queue, for pushes that leave it with no more jobs than these.
    #[must_use]
    pub fn with_capacity(&self, capacity: Option<u64>) -> Self {
        Self { capacity, ..self.clone() }
    }

    /// This queue, without a part in how long its connection lasts.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { client: self.client.detached(), ..self.clone() }
    }

    /// This queue, whose changes count when the master has them in memory.
    #[must_use]
    pub fn hasty(&self) -> Self {
        Self { durability: None, ..self.clone() }
    }

    /// The largest payload of a new job, in bytes.
    #[must_use]
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// How this queue reaches Redis.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the other is the same queue of the same Redis, user and database.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.keys == other.keys && self.client.key().dsn == other.client.key().dsn
    }

    /// Closes the connection. The next operation opens a new one.
    pub fn close(&self) {
        self.client.close();
    }

    /// Runs a script that gets all keys, with the clock offset as its first argument.
    fn script(&self, script: &Script, args: &[&[u8]]) -> Result<Reply> {
        self.script_knowing(script, |_| args.to_vec()).map(|(reply, _)| reply)
    }

    /// Runs a script whose arguments depend on the attempt; says whether the answer of a try before was lost.
    fn script_knowing<'a>(&self, script: &Script, args: impl Fn(Attempt) -> Vec<&'a [u8]>) -> Result<(Reply, bool)> {
        let mut was_lost = false;
        let value = self.client.run(|request, attempt, _| {
            was_lost = attempt.is_repeat;
            self.write_script(request, script, &args(attempt));
        });
        Ok((Reply::new(value.map_err(|error| self.naming_key(error))?)?, was_lost))
    }

    /// For a script that must not run twice.
    fn script_once(&self, script: &Script, args: &[&[u8]]) -> Result<Reply> {
        let value = self.client.run_once(|request, _, _| self.write_script(request, script, args));
        Reply::new(value.map_err(|error| self.naming_key(error))?)
    }

    /// Runs a script until it no longer answers `AGAIN`, for as long as one operation may take.
    fn script_again(&self, script: &Script, args: &[&[u8]]) -> Result<(Reply, bool)> {
        self.client.in_one_operation(|| {
            let (last_round, mut was_ever_lost) = (self.client.last_round(), false);
            loop {
                let answer = self.script_knowing(script, |_| args.to_vec());
                let (reply, was_lost) = answer.map_err(|error| match was_ever_lost && !error.is_ambiguous() {
                    true => Error::in_doubt("an answer was lost, and a later try failed", error),
                    false => error,
                })?;
                was_ever_lost |= was_lost;
                if reply.word != "AGAIN" {
                    return Ok((reply, was_ever_lost));
                }
                if Instant::now() >= last_round {
                    return Err(Error::unfinished(was_ever_lost));
                }
            }
        })
    }

    fn write_script(&self, request: &mut Request, script: &Script, args: &[&[u8]]) {
        match script.names_receipts() {
            true => self.write_script_with(request, script, &self.keys.every(), args),
            false => self.write_script_with(request, script, &self.keys.all(), args),
        }
    }

    fn write_script_with(&self, request: &mut Request, script: &Script, keys: &[&[u8]], args: &[&[u8]]) {
        let offset_us = clock::offset_us().to_string();
        let mut all: Vec<&[u8]> = Vec::with_capacity(args.len() + 1);
        all.push(offset_us.as_bytes());
        all.extend_from_slice(args);
        self.call_script(request, script, keys, &all);
    }

    /// Adds a call of the script, and has its change confirmed where the queue asks for that.
    fn call_script(&self, request: &mut Request, script: &Script, keys: &[&[u8]], args: &[&[u8]]) {
        request.script(script, keys, args);
        if let Some(durability) = self.durability.filter(|_| script.is_awaited()) {
            request.confirm(durability, self.keys.meta());
        }
    }

    /// Redis does not say which key is of a wrong type: asks for it, if that is the error. A newer version of delayqueue leaves a list
    /// where `waiting` was, so that each script of this one ends there.
    fn naming_key(&self, error: Error) -> Error {
        let Error::Server { doing, code, message } = error else { return error };
        let mut wrong = Vec::new();
        if code == "WRONGTYPE" {
            let types = self.client.run(|request, _, _| {
                request.all_replies();
                self.keys.every().iter().for_each(|key| request.command(&[b"TYPE", key]));
            });
            let types = types.and_then(reply::all).into_iter().flatten().filter_map(reply::text);
            for ((key, wanted), found) in self.keys.typed().zip(types) {
                if key == self.keys.waiting() && found == "list" {
                    let message = "the queue was written by a newer version of delayqueue".to_owned();
                    return Error::Server { doing, code: "DQSCHEMA".to_owned(), message };
                }
                if found != wanted && found != "none" {
                    wrong.push(format!("key '{}' holds a {found}, not a {wanted}", String::from_utf8_lossy(key)));
                }
            }
        }
        let message = if wrong.is_empty() { message } else { format!("{message} ({})", wrong.join(", ")) };
        Error::Server { doing, code, message }
    }
}

/// A due time as scripts take it: a delay in microseconds, or `@` and a moment.
fn due_arg(due: Due) -> String {
    match due {
        Due::InMs(delay_ms) => (delay_ms * 1000).to_string(),
        Due::AtUs(at_us) => format!("@{}", at_us.max(0)),
    }
}
