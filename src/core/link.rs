//! Runs scripts: finds a connection, loads what Redis forgot, repeats what got lost, within one total deadline.

use super::connection::{Connection, Fault};
use super::error::{Doing, Error, Result};
use super::pool::{self, Owner, PoolKey};
use super::reply;
pub use super::request::Request;
use super::request::Transaction;
use super::resp;
use super::server_clock::Moment;
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a queue reaches Redis.
#[derive(Debug, Clone)]
pub struct Link {
    key: PoolKey,
    _owner: Option<Arc<Owner>>,
}

/// What a request must know about the tries before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempt {
    /// Since the first try was sent, when its answer was lost: Redis may have executed it.
    pub since_lost: Option<Duration>,
    /// When it was sent, if [`Link::begin`] did that.
    pub begun: Option<Instant>,
    /// Redis does not know the script: send its text.
    whole: bool,
}

/// Whether a request may be sent again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    Yes,
    No,
}

impl Link {
    /// The connection this thread shares under the same DSN and timeouts.
    #[must_use]
    pub fn shared(key: PoolKey) -> Self {
        Self { key, _owner: None }
    }

    /// A connection that ends with this link.
    #[must_use]
    pub fn private(key: PoolKey, owner: Arc<Owner>) -> Self {
        Self { key, _owner: Some(owner) }
    }

    /// The same for somebody who keeps a connection of his own: it is none of those that hold the owner's open.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self::shared(self.key.clone())
    }

    /// Closes the connection if it is idle.
    pub fn close(&self) {
        pool::forget(&self.key);
    }

    /// The total deadline of one operation.
    #[must_use]
    pub fn read_timeout(&self) -> Duration {
        self.key.read_timeout
    }

    /// A connection for a longer stay (waiting); [`Link::give_back`] returns it.
    ///
    /// # Errors
    /// As [`Link::run`].
    pub fn take(&self) -> Result<Connection> {
        self.take_until(Instant::now() + self.key.connect_timeout)
    }

    /// The same for the first of several requests of an operation, which has to be done by then.
    ///
    /// # Errors
    /// As [`Link::run`].
    pub fn take_until(&self, until: Instant) -> Result<Connection> {
        self.key.take(until).map_err(|fault| to_error(fault, false))
    }

    pub fn give_back(&self, connection: Connection) {
        self.key.give_back(connection);
    }

    /// Sends what `build` writes by then, and does not wait: [`Link::run_until`] with the same `build` and this connection does.
    pub fn begin(
        &self,
        until: Instant,
        connection: &mut Connection,
        build: impl FnOnce(&mut Request, Attempt, &mut Connection),
    ) {
        let mut request = Request::new(connection, false);
        build(&mut request, Attempt::default(), connection);
        connection.begin(&request.buffer, request.commands, until);
        connection.recycle(request.buffer);
    }

    /// Sends what `build` writes and returns the last reply. `build` is called once per try.
    ///
    /// # Errors
    /// [`Error::Connection`] when the deadline passed or Redis is not there, else what Redis answered.
    pub fn run(&self, mut build: impl FnMut(&mut Request, Attempt, &mut Connection)) -> Result<Value> {
        let mut held = None;
        let result = self.run_on(&mut held, Repeat::Yes, &mut build);
        if let Some(connection) = held {
            self.key.give_back(connection);
        }
        result
    }

    /// The same for what must not be executed twice: a lost answer is an ambiguous error at once.
    ///
    /// # Errors
    /// As [`Link::run`].
    pub fn run_once(&self, mut build: impl FnMut(&mut Request, Attempt, &mut Connection)) -> Result<Value> {
        let mut held = None;
        let result = self.run_on(&mut held, Repeat::No, &mut build);
        if let Some(connection) = held {
            self.key.give_back(connection);
        }
        result
    }

    /// The same over a connection that the caller holds; a lost one is replaced.
    ///
    /// # Errors
    /// As [`Link::run`].
    pub fn run_on(
        &self,
        held: &mut Option<Connection>,
        repeat: Repeat,
        build: &mut impl FnMut(&mut Request, Attempt, &mut Connection),
    ) -> Result<Value> {
        self.run_until(self.deadline(), held, repeat, build)
    }

    /// When an operation that begins now has to be done.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        capped(Instant::now() + self.key.read_timeout)
    }

    /// The same for one of several requests of an operation.
    ///
    /// # Errors
    /// As [`Link::run`].
    pub fn run_until(
        &self,
        until: Instant,
        held: &mut Option<Connection>,
        repeat: Repeat,
        build: &mut impl FnMut(&mut Request, Attempt, &mut Connection),
    ) -> Result<Value> {
        let left = || until.saturating_duration_since(Instant::now());
        let mut attempt = Attempt::default();
        let mut first_sent: Option<Instant> = None;
        let mut begun = held.as_ref().and_then(|connection| connection.begun());
        let mut had_connection = begun.is_some() || held.as_ref().is_some_and(|connection| connection.is_usable());
        let mut pause = Duration::from_millis(5);
        loop {
            let ready = held.take().filter(|connection| begun.is_some() || connection.is_usable());
            let mut connection = match ready.map_or_else(|| self.key.take(until), Ok) {
                Ok(connection) => connection,
                // Lost on the way: Redis may be restarting. Never had: say so at once.
                Err(fault @ Fault::Unsent(_)) if had_connection && left() > pause => {
                    drop(fault);
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(200));
                    continue;
                }
                Err(fault) => return Err(to_error(fault, first_sent.is_some())),
            };
            had_connection = true;
            attempt.since_lost = first_sent.map(|sent| sent.elapsed());
            attempt.begun = begun.take();
            let mut request = Request::new(&mut connection, attempt.whole);
            build(&mut request, attempt, &mut connection);
            connection.spin(request.spins);
            let mut replies = match attempt.begun {
                Some(_) => connection.end(until),
                None => connection.exchange(&request.buffer, request.commands, until),
            };
            connection.recycle(request.buffer);
            connection.aside = match (&mut replies, request.aside) {
                (Ok(replies), Some(at)) => replies.get_mut(at).map(|reply| std::mem::replace(reply, Value::Nil)),
                _ => None,
            };
            if let (Ok(replies), Some(Transaction { begins, ends, asked })) = (&mut replies, request.transaction) {
                let refused =
                    |reply: Option<&Value>| matches!(reply, Some(Value::ServerError(error)) if is_denied(error));
                if refused(replies.get(begins)) {
                    connection.clock.deny();
                    // Whatever its end was answered: there was none, and what was to be in it has been executed.
                    if let (Some(end), Ok(none)) = (replies.get_mut(ends), resp::parse(NO_TRANSACTION)) {
                        *end = none;
                    }
                } else if refused(replies.get(ends)) || refused(connection.aside.as_ref()) {
                    connection.clock.deny();
                } else if let Some(server_us) = connection.aside.as_ref().and_then(reply::time_us) {
                    connection.clock.hear(asked, Moment::now(), server_us);
                }
            }
            if let (Ok(replies), true) = (&mut replies, request.keeps_all) {
                *held = Some(connection);
                return Ok(Value::Array(std::mem::take(replies)));
            }
            match replies.map(last) {
                Ok(value) => match value {
                    Some(Value::ServerError(error)) => {
                        let code = error.code();
                        if code == "NOSCRIPT" && !attempt.whole {
                            attempt.whole = true;
                            *held = Some(connection);
                            continue;
                        }
                        connection.indexed.clear(); // what was sent along may have been refused too
                        let error = Error::from_redis(code, &self.key.dsn.redact(error.details().unwrap_or_default()));
                        if !matches!(&error, Error::Server { code, .. } if code == "READONLY" || code == "NOREPLICAS") {
                            *held = Some(connection);
                        }
                        if !passes_by_itself(&error) || left() <= pause {
                            return Err(if first_sent.is_some() { in_doubt(error) } else { error });
                        }
                    }
                    Some(value) => {
                        *held = Some(connection);
                        return Ok(value);
                    }
                    None => return Err(to_error(Fault::Sent("no reply".into()), true)),
                },
                Err(fault) => {
                    if matches!(fault, Fault::Sent(_)) && first_sent.is_none() {
                        first_sent = Some(connection.sent_at());
                    }
                    if left() <= pause || (repeat == Repeat::No && first_sent.is_some()) {
                        return Err(to_error(fault, first_sent.is_some()));
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
pub(super) fn capped(until: Instant) -> Instant {
    CAP.get().map_or(until, |cap| until.min(cap))
}

/// The answer to the end of a transaction that Redis refused to begin; [`is_no_transaction`] knows it.
const NO_TRANSACTION: &[u8] = b"-DQMULTI the commands were executed one by one, if at all\r\n";

/// Whether Redis refused to begin the transaction: its commands were executed one by one, if at all.
#[must_use]
pub fn is_no_transaction(error: &Error) -> bool {
    matches!(error, Error::Server { code, .. } if code == "DQMULTI")
}

/// Whether the answer to a part of a transaction says that there will never be one.
fn is_denied(error: &redis::ServerError) -> bool {
    let has_cause = || error.details().is_some_and(|details| details.contains("because of: NOPERM"));
    matches!(error.code(), "ERR" | "NOPERM") || error.code() == "EXECABORT" && has_cause()
}

/// The reply to the last command. A transaction that was given up says why in the reply to the command that was refused, or
/// behind these words.
fn last(mut replies: Vec<Value>) -> Option<Value> {
    let is_refused = |value: &Value| matches!(value, Value::ServerError(_));
    match replies.pop()? {
        Value::ServerError(error) if error.code() == "EXECABORT" => {
            let details = error.details().unwrap_or_default();
            let cause = details
                .split_once("because of: ")
                .and_then(|(_, why)| resp::parse(format!("-{why}\r\n").as_bytes()).ok());
            cause.or_else(|| replies.into_iter().rfind(is_refused)).or(Some(Value::ServerError(error)))
        }
        value => Some(value),
    }
}

/// Answers that go away within moments; the others go to the caller at once.
fn passes_by_itself(error: &Error) -> bool {
    matches!(error, Error::Server { code, .. }
        if matches!(code.as_str(), "LOADING" | "BUSY" | "MASTERDOWN" | "TRYAGAIN" | "CLUSTERDOWN" | "READONLY"))
}

/// A refusal says nothing about the try before it whose answer was lost.
fn in_doubt(error: Error) -> Error {
    Error::in_doubt("the answer was lost, and the next try was refused", error)
}

/// What a fault means to the caller; `ambiguous` when a try before may have been executed.
#[must_use]
pub fn to_error(fault: Fault, ambiguous: bool) -> Error {
    match fault {
        Fault::Unsent(message) => Error::Connection { doing: Doing::default(), message, ambiguous },
        Fault::Sent(message) => Error::Connection { doing: Doing::default(), message, ambiguous: true },
        Fault::Refused(code, message) if ambiguous => in_doubt(Error::from_redis(&code, &message)),
        Fault::Refused(code, message) => Error::from_redis(&code, &message),
    }
}
