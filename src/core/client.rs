//! Runs scripts: finds a connection, follows a cluster, loads scripts that Redis forgot, repeats requests that got lost, within one total deadline.

use super::connection::{Connection, Fault};
use super::connections::Connections;
use super::dsn::{Server, Topology};
use super::durability::{self, Durability};
use super::error::{Doing, Error, Result};
use super::pool::{self, Owner, PoolKey};
pub use super::request::Request;
use super::resolver::{self, Redirection};
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How the keys of one slot are reached.
#[derive(Debug, Clone)]
pub struct Client {
    key: PoolKey,
    /// Chooses the node, where the topology is a cluster.
    slot: u16,
    durability: Durability,
    _owner: Option<Arc<Owner>>,
}

/// The facts about earlier tries on which a request depends.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempt {
    /// The answer to an earlier try was lost: Redis may have executed it.
    pub is_repeat: bool,
    /// Redis does not know the script: send its text.
    with_source: bool,
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
        Self { key, slot, durability: Durability::default(), _owner: None }
    }

    /// Connections that end with this client.
    #[must_use]
    pub fn private(key: PoolKey, slot: u16, owner: Arc<Owner>) -> Self {
        Self { key, slot, durability: Durability::default(), _owner: Some(owner) }
    }

    /// The same for keys of another slot.
    #[must_use]
    pub fn for_slot(&self, slot: u16) -> Self {
        Self { slot, ..self.clone() }
    }

    /// The same, whose changes have to be so safe.
    #[must_use]
    pub fn with_durability(&self, durability: Durability) -> Self {
        Self { durability, ..self.clone() }
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
        capped(Instant::now() + self.key.read_timeout)
    }

    /// Whether another server may become the right one for this slot.
    #[must_use]
    pub fn may_move(&self) -> bool {
        resolver::may_move(&self.key.dsn)
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
        resolver::find(&self.key.dsn, self.slot, time, capped(Instant::now() + time))
            .map_err(|fault| to_error(fault, false))
    }

    /// All servers that have jobs, each with a client for it.
    ///
    /// # Errors
    /// [`Error::Connection`] when nobody knows them.
    pub fn nodes(&self) -> Result<Vec<(Arc<Server>, Self)>> {
        let time = self.key.connect_timeout;
        let found =
            resolver::nodes(&self.key.dsn, time, Instant::now() + time).map_err(|fault| to_error(fault, false))?;
        Ok(found.into_iter().map(|(slot, server)| (server, self.for_slot(slot))).collect())
    }

    /// Takes the connection to the server of this slot out of those that a caller holds, or out of the pool, or opens one.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn connect(&self, connections: &mut Connections) -> Result<Connection> {
        let deadline = Instant::now() + self.key.connect_timeout;
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

    /// The same for a request that must not be executed twice: a lost answer is an ambiguous error at once.
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

    /// The same over connections that the caller holds; a lost one is replaced.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn run_on(
        &self,
        connections: &mut Connections,
        repeat: Repeat,
        build: &mut impl FnMut(&mut Request, Attempt, &mut Connection),
    ) -> Result<Value> {
        let deadline = self.deadline();
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut attempt = Attempt::default();
        let mut may_come_back = self.may_move() || connections.iter().any(|connection| connection.is_usable());
        let mut pause = Duration::from_millis(5);
        let (mut detour, mut redirections, mut cause) = (None, 0, None);
        loop {
            let is_asking = detour.is_some();
            let mut connection = match self.connection(connections, detour.take(), deadline) {
                Ok(connection) => connection,
                // A connection was lost on the way, or there are other servers: one may be restarting or taking over. Otherwise the
                // caller hears of it at once.
                Err(fault @ Fault::Unsent(_)) if may_come_back && left() > pause => {
                    cause.get_or_insert_with(|| to_error(fault, false));
                    rest(&mut pause);
                    continue;
                }
                Err(fault) => return Err(failed(fault, cause, attempt.is_repeat)),
            };
            may_come_back = true;
            let mut request = Request::new(connection.request(), attempt.with_source);
            if is_asking {
                request.command(&[b"ASKING"]);
            }
            build(&mut request, attempt, &mut connection);
            let waits = self.durability.write_wait(&mut request, connection.version, left().mul_f64(0.75));
            let replies = match &waits {
                Ok(_) => connection.exchange(&request.buffer, request.commands, deadline),
                Err(_) => Ok(Vec::new()),
            };
            connection.recycle(request.buffer);
            match replies {
                Ok(mut replies) => {
                    let confirmation = if waits? { Some(replies.pop()) } else { None };
                    if confirmation.is_some() {
                        replies.pop(); // whatever came of the field that nobody reads
                    }
                    let Some((code, details)) = refusal(&replies, request.all_replies) else {
                        connections.put(connection);
                        if let Some(confirmation) = confirmation
                            && replies.last().is_some_and(durability::is_change)
                        {
                            self.durability.confirmed(confirmation)?;
                        }
                        return match request.all_replies {
                            true => Ok(Value::Array(replies)),
                            false => replies.pop().ok_or_else(|| to_error(Fault::Sent("no reply".into()), true)),
                        };
                    };
                    let server = Arc::clone(&connection.server);
                    connection.indexed.clear(); // the same may have been refused for a command that was sent along
                    if !NOT_OURS_ANY_MORE.contains(&code.as_str()) {
                        connections.put(connection);
                    }
                    if code == "NOSCRIPT" && !attempt.with_source {
                        attempt.with_source = true;
                        continue;
                    }
                    let mut details = server.redact(&details);
                    if let Some(redirection) = Redirection::read(&code, &details, &server) {
                        if self.has_slots() {
                            detour = self.follow(redirection);
                            redirections += 1;
                            if redirections <= MOST_REDIRECTIONS {
                                continue;
                            }
                        } else {
                            details.push_str(": this is a node of a cluster; use redis+cluster:// in the DSN");
                        }
                    }
                    let error = match code.as_str() {
                        "NOPERM" if attempt.with_source && details.contains("'eval'") => Error::scripts_missing(),
                        _ => Error::from_redis(&code, &details),
                    };
                    if !self.passes_by_itself(&error) || left() <= pause {
                        return Err(if attempt.is_repeat { in_doubt(error) } else { error });
                    }
                    cause = Some(error);
                }
                Err(fault) => {
                    resolver::doubt(&self.key.dsn);
                    attempt.is_repeat |= matches!(fault, Fault::Sent(_));
                    if left() <= pause || (repeat == Repeat::No && attempt.is_repeat) {
                        return Err(failed(fault, cause, attempt.is_repeat));
                    }
                }
            }
            rest(&mut pause);
            redirections = 0;
        }
    }

    /// Where the same request goes next, if that is not the server of the slot.
    fn follow(&self, redirection: Redirection) -> Option<Arc<Server>> {
        let dsn = &self.key.dsn;
        match redirection {
            Redirection::Ask(target) => Some(dsn.server(target)),
            Redirection::Moved(slot, target) => {
                resolver::moved(dsn, slot, dsn.server(target));
                None
            }
        }
    }

    /// Whether the refusal is one that ends soon, so that the client tries again. The caller gets any other at once.
    fn passes_by_itself(&self, error: &Error) -> bool {
        const OF_ANOTHER_SERVER: [&str; 6] =
            ["LOADING", "MASTERDOWN", "CLUSTERDOWN", "READONLY", "NOREPLICAS", "UNBLOCKED"];
        const OF_THIS_MOMENT: [&str; 2] = ["BUSY", "TRYAGAIN"];
        let Error::Server { code, .. } = error else { return false };
        let may_be_elsewhere = OF_ANOTHER_SERVER.contains(&code.as_str());
        if may_be_elsewhere {
            resolver::doubt(&self.key.dsn);
        }
        let is_redirected = self.has_slots() && ["MOVED", "ASK"].contains(&code.as_str());
        may_be_elsewhere || is_redirected || OF_THIS_MOMENT.contains(&code.as_str())
    }
}

/// One request is sent on so often without a pause.
const MOST_REDIRECTIONS: u32 = 5;
/// Refusals of a server that is no longer a master, or that will not be for long: the connection is of no use.
const NOT_OURS_ANY_MORE: [&str; 3] = ["READONLY", "NOREPLICAS", "UNBLOCKED"];

fn rest(pause: &mut Duration) {
    std::thread::sleep(*pause);
    *pause = (*pause * 2).min(Duration::from_millis(200));
}

/// First word and rest of the error with which Redis refused the request. A caller that wants all replies looks at their errors itself, but for
/// those of a node that serves the keys no more.
fn refusal(replies: &[Value], all_replies: bool) -> Option<(String, String)> {
    let error = |reply: &Value| match reply {
        Value::ServerError(error) => Some((error.code().to_owned(), error.details().unwrap_or_default().to_owned())),
        _ => None,
    };
    if all_replies {
        replies.iter().filter_map(error).find(|(code, _)| code == "MOVED")
    } else {
        replies.last().and_then(error)
    }
}

thread_local! {
    static CAP: std::cell::Cell<Option<Instant>> = const { std::cell::Cell::new(None) };
}

/// Runs `work`, all operations of which have to be done in time: for a process that is about to end.
pub fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let before = CAP.replace(Some(capped(Instant::now() + time)));
    let result = work();
    CAP.set(before);
    result
}

/// A deadline, or that of [`within`] if it is earlier.
fn capped(deadline: Instant) -> Instant {
    CAP.get().map_or(deadline, |cap| deadline.min(cap))
}

/// The error of a request that was tried again and again. A last try that the deadline cut off says less than the one that met the cause.
fn failed(fault: Fault, cause: Option<Error>, is_repeat: bool) -> Error {
    match (fault, cause) {
        (Fault::Unsent(_), Some(Error::Connection { doing, message, .. })) => {
            Error::Connection { doing, message, ambiguous: is_repeat }
        }
        (Fault::Unsent(_), Some(refused)) if is_repeat => in_doubt(refused),
        (Fault::Unsent(_), Some(refused)) => refused,
        (fault, _) => to_error(fault, is_repeat),
    }
}

/// A refusal says nothing about the try before it whose answer was lost.
fn in_doubt(error: Error) -> Error {
    Error::in_doubt("the answer was lost, and the next try was refused", error)
}

/// The error that a fault is to the caller; `ambiguous` when a try before may have been executed.
#[must_use]
pub fn to_error(fault: Fault, ambiguous: bool) -> Error {
    match fault {
        Fault::Unsent(message) => Error::Connection { doing: Doing::default(), message, ambiguous },
        Fault::Sent(message) => Error::Connection { doing: Doing::default(), message, ambiguous: true },
        Fault::Refused(code, message) if ambiguous => in_doubt(Error::from_redis(&code, &message)),
        Fault::Refused(code, message) => Error::from_redis(&code, &message),
    }
}
