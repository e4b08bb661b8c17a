//! Runs scripts: finds a connection, loads scripts that Redis forgot, repeats requests that got lost, within one total deadline.

use super::connection::{Connection, Fault};
use super::error::{Doing, Error, Result};
use super::pool::{self, Owner, PoolKey};
pub use super::request::Request;
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a queue reaches Redis.
#[derive(Debug, Clone)]
pub struct Client {
    key: PoolKey,
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
    /// The connection this thread shares under the same DSN and timeouts.
    #[must_use]
    pub fn shared(key: PoolKey) -> Self {
        Self { key, _owner: None }
    }

    /// A connection that ends with this client.
    #[must_use]
    pub fn private(key: PoolKey, owner: Arc<Owner>) -> Self {
        Self { key, _owner: Some(owner) }
    }

    /// A client of the same connection that does not keep it open: it lasts as long as its owners do.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self::shared(self.key.clone())
    }

    /// Closes the connection if it is idle.
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

    /// A connection to hold for longer (waiting); [`Client::give_back`] returns it.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn take(&self) -> Result<Connection> {
        self.key.take(Instant::now() + self.key.connect_timeout).map_err(|fault| to_error(fault, false))
    }

    pub fn give_back(&self, connection: Connection) {
        self.key.give_back(connection);
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
        let mut connection = None;
        let result = self.run_on(&mut connection, repeat, &mut build);
        if let Some(connection) = connection {
            self.key.give_back(connection);
        }
        result
    }

    /// The same over a connection that the caller holds; a lost one is replaced.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub fn run_on(
        &self,
        connection: &mut Option<Connection>,
        repeat: Repeat,
        build: &mut impl FnMut(&mut Request, Attempt, &mut Connection),
    ) -> Result<Value> {
        let deadline = self.deadline();
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut attempt = Attempt::default();
        let mut had_connection = connection.as_ref().is_some_and(|open| open.is_usable());
        let mut pause = Duration::from_millis(5);
        loop {
            let ready = connection.take().filter(|open| open.is_usable());
            let mut open = match ready.map_or_else(|| self.key.take(deadline), Ok) {
                Ok(open) => open,
                // A connection was lost on the way: Redis may be restarting. There was none: the caller hears of it at once.
                Err(Fault::Unsent(_)) if had_connection && left() > pause => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(200));
                    continue;
                }
                Err(fault) => return Err(to_error(fault, attempt.is_repeat)),
            };
            had_connection = true;
            let mut request = Request::new(open.request(), attempt.with_source);
            build(&mut request, attempt, &mut open);
            let replies = open.exchange(&request.buffer, request.commands, deadline);
            open.recycle(request.buffer);
            match replies {
                Ok(replies) if request.all_replies => {
                    *connection = Some(open);
                    return Ok(Value::Array(replies));
                }
                Ok(mut replies) => match replies.pop() {
                    Some(Value::ServerError(error)) => {
                        let code = error.code();
                        if code == "NOSCRIPT" && !attempt.with_source {
                            attempt.with_source = true;
                            *connection = Some(open);
                            continue;
                        }
                        open.indexed.clear(); // the same may have been refused for a command that was sent along
                        let error = Error::from_redis(code, &self.key.dsn.redact(error.details().unwrap_or_default()));
                        if !matches!(&error, Error::Server { code, .. } if code == "READONLY" || code == "NOREPLICAS") {
                            *connection = Some(open);
                        }
                        if !passes_by_itself(&error) || left() <= pause {
                            return Err(if attempt.is_repeat { in_doubt(error) } else { error });
                        }
                    }
                    Some(value) => {
                        *connection = Some(open);
                        return Ok(value);
                    }
                    None => return Err(to_error(Fault::Sent("no reply".into()), true)),
                },
                Err(fault) => {
                    attempt.is_repeat |= matches!(fault, Fault::Sent(_));
                    if left() <= pause || (repeat == Repeat::No && attempt.is_repeat) {
                        return Err(to_error(fault, attempt.is_repeat));
                    }
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }
}

thread_local! {
    static CAP: std::cell::Cell<Option<Instant>> = const { std::cell::Cell::new(None) };
}

/// Runs `work`, all operations of which have to be done in time: for a process that is about to end.
pub fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let before = CAP.replace(Some(Instant::now() + time));
    let result = work();
    CAP.set(before);
    result
}

/// A deadline, or that of [`within`] if it is earlier.
fn capped(deadline: Instant) -> Instant {
    CAP.get().map_or(deadline, |cap| deadline.min(cap))
}

/// Whether Redis will soon stop refusing, so that the client tries again. The caller gets any other refusal at once.
fn passes_by_itself(error: &Error) -> bool {
    matches!(error, Error::Server { code, .. }
        if matches!(code.as_str(), "LOADING" | "BUSY" | "MASTERDOWN" | "TRYAGAIN" | "CLUSTERDOWN" | "READONLY"))
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
