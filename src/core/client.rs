//! The way to the keys of one slot: finds the server and a connection to it, and runs requests there. And the requests: commands and scripts, and which
//! of their replies are wanted.

mod limits;
mod tries;

use super::clock;
use super::connection::{Connection, Fault};
use super::dsn::{Server, Topology};
use super::durability::Durability;
use super::error::Result;
use super::pool::{self, Connections, Owner, PoolKey};
use super::resolver;
use super::resp::{self, Bounds};
use super::scripts::Script;
pub use limits::{LIMITS, Limits};
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tries::Tries;
pub use tries::{Attempt, to_error};

/// How the keys of one slot are reached.
#[derive(Debug, Clone)]
pub struct Client {
    key: PoolKey,
    /// Chooses the node, where the topology is a cluster.
    slot: u16,
    _owner: Option<Arc<Owner>>,
}

/// Whether a request may be sent again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    Yes,
    No,
}

impl Client {
    /// The connections this thread shares under the same DSN and timeouts.
    #[must_use]
    pub fn shared(key: PoolKey, slot: u16) -> Self {
        Self { key, slot, _owner: None }
    }

    /// Connections that end with this client.
    #[must_use]
    pub fn private(key: PoolKey, slot: u16, owner: Arc<Owner>) -> Self {
        Self { key, slot, _owner: Some(owner) }
    }

    /// This client for keys of another slot.
    #[must_use]
    pub fn for_slot(&self, slot: u16) -> Self {
        Self { slot, ..self.clone() }
    }

    /// A client of the same connections that does not keep them open: they last as long as their owners do.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { _owner: None, ..self.clone() }
    }

    /// Closes the connections that are idle.
    pub fn close(&self) {
        pool::forget(&self.key);
    }

    /// Which Redis this is, and how it is reached: the same for clients that share a connection.
    #[must_use]
    pub fn key(&self) -> &PoolKey {
        &self.key
    }

    /// The total deadline of one operation.
    #[must_use]
    pub fn read_timeout(&self) -> Duration {
        self.key.read_timeout
    }

    /// When an operation that begins now has to be done.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        clock::capped(Instant::now() + self.key.read_timeout)
    }

    /// When an operation of many rounds that begins now begins no further one: the last round needs time for its answer.
    #[must_use]
    pub fn last_round(&self) -> Instant {
        let now = Instant::now();
        now + self.deadline().saturating_duration_since(now).mul_f64(0.75)
    }

    /// Runs `work`, all requests of which have to be done within the time of one operation.
    pub fn in_one_operation<T>(&self, work: impl FnOnce() -> T) -> T {
        clock::within(self.key.read_timeout, work)
    }

    /// Whether another server may become the right one for this slot.
    #[must_use]
    pub fn may_move(&self) -> bool {
        !matches!(self.key.dsn.topology, Topology::Server(_))
    }

    /// Whether keys of another slot may lie on another server.
    #[must_use]
    pub fn has_slots(&self) -> bool {
        matches!(self.key.dsn.topology, Topology::Cluster { .. })
    }

    /// The server of this slot, as far as is known.
    ///
    /// # Errors
    /// [`Error::Connection`] when nobody knows.
    pub fn server(&self) -> Result<Arc<Server>> {
        let time = self.key.connect_timeout;
        resolver::find(&self.key.dsn, self.slot, time, clock::capped(Instant::now() + time))
            .map_err(|fault| to_error(fault, false))
    }

    /// All servers that have jobs, each with a client for it.
    ///
    /// # Errors
    /// [`Error::Connection`] when nobody knows them.
    pub fn nodes(&self) -> Result<Vec<(Arc<Server>, Self)>> {
        let time = self.key.connect_timeout;
        let found = resolver::nodes(&self.key.dsn, time, clock::capped(Instant::now() + time))
            .map_err(|fault| to_error(fault, false))?;
        Ok(found.into_iter().map(|(slot, server)| (server, self.for_slot(slot))).collect())
    }

    /// Takes the connection to the server of this slot out of those that a caller holds, or out of the pool, or opens one.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn connect(&self, connections: &mut Connections) -> Result<Connection> {
        let deadline = clock::capped(Instant::now() + self.key.connect_timeout);
        self.connection(connections, None, deadline).map_err(|fault| to_error(fault, false))
    }

    /// Connections that the caller no longer needs.
    pub fn give_back(&self, connections: Connections) {
        connections.into_iter().for_each(|connection| self.key.give_back(connection));
    }

    fn connection(
        &self,
        connections: &mut Connections,
        detour: Option<Arc<Server>>,
        deadline: Instant,
    ) -> std::result::Result<Connection, Fault> {
        let dsn = &self.key.dsn;
        let server = match detour {
            Some(server) => server,
            None => resolver::find(dsn, self.slot, self.key.connect_timeout, deadline)?,
        };
        let opened = match connections.take(&server) {
            Some(connection) => Ok(connection),
            None => self.key.take(&server, deadline),
        };
        match opened {
            Ok(connection) if connection.is_replica && matches!(dsn.topology, Topology::Sentinel { .. }) => {
                resolver::doubt(dsn);
                Err(Fault::Unsent(format!(
                    "{} is a replica, and the Sentinels name no other master yet",
                    server.redacted()
                )))
            }
            Err(fault) => {
                resolver::doubt(dsn);
                Err(fault)
            }
            opened => opened,
        }
    }

    /// Sends what `build` writes and returns the last reply. `build` is called once per try.
    ///
    /// # Errors
    /// [`Error::Connection`] when the deadline passed or Redis is not there, else what Redis answered.
    pub fn run(&self, build: impl FnMut(&mut Request, Attempt, &mut Connection)) -> Result<Value> {
        self.run_alone(Repeat::Yes, build)
    }

    /// As [`Client::run`], for a request that must not be executed twice: a lost answer is an ambiguous error at once.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn run_once(&self, build: impl FnMut(&mut Request, Attempt, &mut Connection)) -> Result<Value> {
        self.run_alone(Repeat::No, build)
    }

    fn run_alone(
        &self,
        repeat: Repeat,
        mut build: impl FnMut(&mut Request, Attempt, &mut Connection),
    ) -> Result<Value> {
        let mut connections = Connections::default();
        let result = self.run_on(&mut connections, repeat, &mut build);
        self.give_back(connections);
        result
    }

    /// As [`Client::run`], over connections that the caller holds; a lost one is replaced.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn run_on(
        &self,
        connections: &mut Connections,
        repeat: Repeat,
        build: &mut impl FnMut(&mut Request, Attempt, &mut Connection),
    ) -> Result<Value> {
        Tries::new(self, connections, repeat).run(build)
    }
}

/// The replies that the caller gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Last,
    All,
    /// All, of commands that have nothing to do with each other.
    Each,
}

/// A request under construction. Its reply is the one to the last command.
pub struct Request {
    buffer: Vec<u8>,
    commands: usize,
    wanted: Wanted,
    /// Of each reply.
    bounds: Bounds,
    /// How safe the change has to be before the request succeeds, and a key that may be written to be sure.
    confirmation: Option<(Durability, Vec<u8>)>,
    with_source: bool,
    /// Redis cannot have changed anything before it has received so many bytes: to the end of the first script, or of the first command.
    changes_at: usize,
    has_script: bool,
    /// Bytes of its longest argument.
    longest: usize,
}

impl Request {
    /// `with_source`: Redis does not know the script; its text is sent.
    fn new(buffer: Vec<u8>, with_source: bool) -> Self {
        let (commands, wanted, confirmation) = (0, Wanted::Last, None);
        let (bounds, changes_at, has_script, longest) = (Bounds::SMALL, 0, false, 0);
        Self { buffer, commands, wanted, bounds, confirmation, with_source, changes_at, has_script, longest }
    }

    /// Adds a plain command.
    pub fn command(&mut self, args: &[&[u8]]) {
        resp::write_command(&mut self.buffer, args.iter().copied());
        self.longest = args.iter().map(|arg| arg.len()).max().unwrap_or(0).max(self.longest);
        if self.commands == 0 {
            self.changes_at = self.buffer.len();
        }
        self.commands += 1;
    }

    /// Has the change of the script that comes last confirmed. `meta` is the key with the counters of its queue.
    pub fn confirm(&mut self, durability: Durability, meta: &[u8]) {
        self.confirmation = Some((durability, meta.to_vec()));
    }

    /// Has Redis wait behind the script, for as long as `time`, until its change is as safe as it has to be. Two replies follow that of the script
    /// then: see [`Durability::confirmed`] for the last one.
    ///
    /// Newer servers wait for what this connection has written, and a repeated push, for one, finds its job and writes nothing. So a field that
    /// nobody reads is written: Redis replicates its commands in their order.
    ///
    /// # Errors
    /// As [`Durability::wait_command`]; nothing must be sent then.
    fn write_wait(&mut self, version: (u32, u32), time: Duration) -> Result<Option<Durability>> {
        let Some((durability, meta)) = self.confirmation.take() else { return Ok(None) };
        let wait = durability.wait_command(version, time)?;
        self.command(&[b"HSET", &meta, b"durable", b"1"]);
        self.command(&wait.iter().map(String::as_bytes).collect::<Vec<_>>());
        Ok(Some(durability))
    }

    /// How many commands it has.
    #[must_use]
    pub fn commands(&self) -> usize {
        self.commands
    }

    /// Has the replies to all commands given back, in a [`redis::Value::Array`], errors among them.
    pub fn all_replies(&mut self) {
        self.wanted = Wanted::All;
    }

    /// As [`Request::all_replies`], for commands that have nothing to do with each other, such as those of several queues: that the node of one
    /// serves its keys no more is the caller's business, and each reply has the time of an operation.
    pub fn each_reply(&mut self) {
        self.wanted = Wanted::Each;
    }

    /// The reply may be a record of a job.
    pub fn reads_records(&mut self) {
        self.bounds = Bounds::RECORDS;
    }

    /// Adds the script; it must be the last command of the request.
    pub fn script(&mut self, script: &Script, keys: &[&[u8]], args: &[&[u8]]) {
        if script.answers_with_records() {
            self.reads_records();
        }
        let mut digits = itoa::Buffer::new();
        let count = digits.format(keys.len()).as_bytes();
        let head: [&[u8]; 3] = if self.with_source {
            [b"EVAL", script.source.as_bytes(), count]
        } else {
            [b"EVALSHA", script.sha.as_bytes(), count]
        };
        let all: Vec<&[u8]> = head.iter().chain(keys).chain(args).copied().collect();
        self.command(&all);
        if !std::mem::replace(&mut self.has_script, true) {
            self.changes_at = self.buffer.len(); // only ASKING and the index of queues come before
        }
    }
}
