//! The tries of one request: follows a cluster, loads scripts that Redis forgot, and sends a request again that got lost, until Redis answers or
//! the deadline is over.

use super::limits::{self, Size, Told};
use super::{Client, Repeat, Request, Wanted};
use crate::core::connection::{Connection, End, Fault, is_protocol_error};
use crate::core::dsn::Server;
use crate::core::durability::{self, Durability};
use crate::core::error::{Doing, Error, Result};
use crate::core::pool::Connections;
use crate::core::resolver::{self, Redirection};
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One request is sent on so often without a pause.
const MOST_REDIRECTIONS: u32 = 5;
/// Refusals of a server that is no longer a master, or that will not be for long: the connection is of no use.
const NOT_OURS_ANY_MORE: [&str; 3] = ["READONLY", "NOREPLICAS", "UNBLOCKED"];
/// Refusals that another server may not give, or this one after its restart.
const OF_ANOTHER_SERVER: [&str; 6] = ["LOADING", "MASTERDOWN", "CLUSTERDOWN", "READONLY", "NOREPLICAS", "UNBLOCKED"];
/// Refusals that end soon.
const OF_THIS_MOMENT: [&str; 2] = ["BUSY", "TRYAGAIN"];

/// The facts about earlier tries on which a request depends.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempt {
    /// The answer to an earlier try was lost: Redis may have executed it.
    pub is_repeat: bool,
    /// Redis does not know the script: send its text.
    with_source: bool,
}

/// One request on its way.
pub(super) struct Tries<'a> {
    client: &'a Client,
    connections: &'a mut Connections,
    repeat: Repeat,
    deadline: Instant,
    attempt: Attempt,
    /// Whether a server that cannot be reached is worth waiting for: a connection was lost on the way, or there are other servers, and one may
    /// be restarting or taking over. Otherwise the error goes to the caller at once.
    may_come_back: bool,
    /// Why an earlier try failed.
    cause: Option<Error>,
    /// Before the next try; it grows.
    pause: Duration,
    /// The node that is asked next, instead of that of the slot.
    detour: Option<Arc<Server>>,
    /// Since the last pause.
    redirections: u32,
    /// The limits of the server are known, and the request is within them.
    knows_limits: bool,
    /// How often the connection was lost with a request that may be too large for a server whose limits this user may not read.
    large_lost: u32,
}

/// The step after a try.
enum Next {
    Done(Value),
    TryAgain,
    TryAgainLater,
}

impl<'a> Tries<'a> {
    pub fn new(client: &'a Client, connections: &'a mut Connections, repeat: Repeat) -> Self {
        let may_come_back = client.may_move() || connections.iter().any(|connection| connection.is_usable());
        Self {
            client,
            connections,
            repeat,
            deadline: client.deadline(),
            attempt: Attempt::default(),
            may_come_back,
            cause: None,
            pause: Duration::from_millis(5),
            detour: None,
            redirections: 0,
            knows_limits: false,
            large_lost: 0,
        }
    }

    /// As [`Client::run_on`].
    pub fn run(mut self, build: &mut impl FnMut(&mut Request, Attempt, &mut Connection)) -> Result<Value> {
        loop {
            match self.once(build)? {
                Next::Done(reply) => return Ok(reply),
                Next::TryAgain => {}
                Next::TryAgainLater => {
                    std::thread::sleep(self.pause);
                    self.pause = (self.pause * 2).min(Duration::from_millis(200));
                    self.redirections = 0;
                }
            }
        }
    }

    fn once(&mut self, build: &mut impl FnMut(&mut Request, Attempt, &mut Connection)) -> Result<Next> {
        let is_asking = self.detour.is_some();
        let mut connection = match self.client.connection(self.connections, self.detour.take(), self.deadline) {
            Ok(connection) => connection,
            Err(fault) => return self.not_connected(fault),
        };
        self.may_come_back = true;
        let mut request = Request::new(connection.request(), self.attempt.with_source);
        if is_asking {
            request.command(&[b"ASKING"]);
        }
        build(&mut request, self.attempt, &mut connection);
        let awaited = request.write_wait(connection.version, self.left().mul_f64(0.75))?;
        // A master that refuses the change has nothing to confirm, and would have us wait for replicas that it has not.
        let unconfirmed = request.commands - if awaited.is_some() { 2 } else { 0 };
        let is_refused = |replies: &[Value]| match replies.last() {
            Some(Value::ServerError(error)) if replies.len() == unconfirmed => {
                is_not_ours(error.code(), error.details().unwrap_or_default())
            }
            _ => false,
        };
        let end = match request.wanted {
            Wanted::Each => End::BetweenReplies(self.deadline),
            Wanted::Last | Wanted::All => End::OfAll(self.deadline),
        };
        let replies = connection.exchange_until(&request.buffer, request.commands, request.bounds, end, &is_refused);
        let awaited = awaited.filter(|_| replies.as_ref().is_ok_and(|replies| replies.len() > unconfirmed));
        let size = Size { request: request.buffer.len(), longest: request.longest };
        connection.recycle(request.buffer);
        match replies {
            Ok(replies) if replies.last().is_some_and(is_protocol_error) => Err(self.unreadable(&replies, size)),
            Ok(replies) => self.answered(connection, replies, request.wanted, awaited),
            Err(Fault::Sent(why)) if connection.sent() < request.changes_at => self.lost(Fault::Unsent(why), size),
            Err(fault) => self.lost(fault, size),
        }
    }

    fn answered(
        &mut self,
        connection: Connection,
        mut replies: Vec<Value>,
        wanted: Wanted,
        awaited: Option<Durability>,
    ) -> Result<Next> {
        let confirmation = awaited.map(|durability| (durability, replies.pop()));
        if awaited.is_some() {
            replies.pop(); // whatever came of the field that nobody reads
        }
        if let Some((code, details)) = refusal(&replies, wanted) {
            return self.refused(connection, &code, &details);
        }
        self.connections.put(connection);
        if let Some((durability, confirmation)) = confirmation
            && replies.last().is_some_and(durability::is_change)
        {
            durability.confirmed(confirmation)?;
        }
        match wanted {
            Wanted::All | Wanted::Each => Ok(Next::Done(Value::Array(replies))),
            Wanted::Last => replies.pop().map(Next::Done).ok_or_else(|| to_error(Fault::Sent("no reply".into()), true)),
        }
    }

    fn not_connected(&mut self, fault: Fault) -> Result<Next> {
        let is_worth_waiting = matches!(fault, Fault::Unsent(_)) && self.may_come_back && self.left() > self.pause;
        if !is_worth_waiting {
            return Err(failed(fault, self.cause.take(), self.attempt.is_repeat));
        }
        self.cause.get_or_insert_with(|| to_error(fault, false));
        Ok(Next::TryAgainLater)
    }

    fn lost(&mut self, mut fault: Fault, size: Size) -> Result<Next> {
        resolver::doubt(&self.client.key.dsn);
        self.attempt.is_repeat |= matches!(fault, Fault::Sent(_));
        if size.may_be_too_large() && !self.knows_limits {
            match limits::of_server(self.client, self.left()) {
                Told::Limits(limits) => {
                    self.knows_limits = true;
                    if let Some(refused) = limits.refusal(size) {
                        return Err(refused); // such a request is never carried out
                    }
                }
                Told::Denied => self.large_lost += 1,
                Told::Nothing => {}
            }
            if let (2.., Fault::Sent(why) | Fault::Unsent(why)) = (self.large_lost, &mut fault)
                && size.is_above_least_limit()
            {
                why.push_str(&size.suspicion());
                return Err(failed(fault, None, self.attempt.is_repeat));
            }
        }
        if self.left() <= self.pause || (self.repeat == Repeat::No && self.attempt.is_repeat) {
            return Err(failed(fault, self.cause.take(), self.attempt.is_repeat));
        }
        Ok(Next::TryAgainLater)
    }

    /// Redis could not read the request.
    fn unreadable(&self, replies: &[Value], size: Size) -> Error {
        if size.may_be_too_large()
            && let Told::Limits(limits) = limits::of_server(self.client, self.left())
            && let Some(refused) = limits.refusal(size)
        {
            return refused;
        }
        let (code, details) = refusal(replies, Wanted::Last).unwrap_or_default();
        Error::from_redis(&code, &details)
    }

    fn refused(&mut self, connection: Connection, code: &str, details: &str) -> Result<Next> {
        let server = Arc::clone(&connection.server);
        if !is_not_ours(code, details) {
            self.connections.put(connection);
        }
        if code == "NOSCRIPT" && !self.attempt.with_source {
            self.attempt.with_source = true;
            return Ok(Next::TryAgain);
        }
        let mut details = server.redact(details);
        if let Some(redirection) = Redirection::read(code, &details, &server) {
            if self.client.has_slots() {
                self.follow(redirection);
                self.redirections += 1;
                if self.redirections <= MOST_REDIRECTIONS {
                    return Ok(Next::TryAgain);
                }
            } else {
                details.push_str(": this is a node of a cluster; use redis+cluster:// in the DSN");
            }
        }
        let error = match code {
            "NOPERM" if self.attempt.with_source && details.contains("'eval'") => Error::scripts_missing(),
            _ => self.advised(Error::from_redis(code, &details), &server),
        };
        if !self.passes_by_itself(&error) || self.left() <= self.pause {
            return Err(if self.attempt.is_repeat { in_doubt(error) } else { error });
        }
        self.cause = Some(error);
        Ok(Next::TryAgainLater)
    }

    /// A replica says neither which server it is nor how to come to its master.
    fn advised(&self, mut error: Error, server: &Server) -> Error {
        if let Error::Server { code, message, .. } = &mut error
            && code == "READONLY"
        {
            let cure = match self.client.may_move() {
                true => "and no other server is known as the master: has the failover ended?",
                false => "name its master in the DSN, or the Sentinels: redis+sentinel://",
            };
            *message = format!("{} is a replica, which takes no changes; {cure}", server.redacted());
        }
        error
    }

    fn follow(&mut self, redirection: Redirection) {
        let dsn = &self.client.key.dsn;
        match redirection {
            Redirection::Ask(target) => self.detour = Some(dsn.server(target)),
            Redirection::Moved(slot, target) => resolver::moved(dsn, slot, dsn.server(target)),
        }
    }

    /// Whether the refusal is one that ends soon, so that the client tries again. The caller gets any other at once.
    fn passes_by_itself(&self, error: &Error) -> bool {
        let Error::Server { code, .. } = error else { return false };
        let code = code.as_str();
        let may_be_elsewhere = OF_ANOTHER_SERVER.contains(&code);
        if may_be_elsewhere {
            resolver::doubt(&self.client.key.dsn);
        }
        let is_redirected = self.client.has_slots() && ["MOVED", "ASK"].contains(&code);
        may_be_elsewhere || is_redirected || OF_THIS_MOMENT.contains(&code)
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Whether this server takes no changes, or none for now. Redis 6.2 gives the code of a script's refusal inside the text.
fn is_not_ours(code: &str, details: &str) -> bool {
    let refused = Error::from_redis(code, details);
    matches!(refused, Error::Server { code, .. } if NOT_OURS_ANY_MORE.contains(&code.as_str()))
}

/// First word and rest of the error with which Redis refused the request. A caller that wants all replies looks at their errors itself, but for
/// those of a node that serves the keys no more.
fn refusal(replies: &[Value], wanted: Wanted) -> Option<(String, String)> {
    let error = |reply: &Value| match reply {
        Value::ServerError(error) => Some((error.code().to_owned(), error.details().unwrap_or_default().to_owned())),
        _ => None,
    };
    match wanted {
        Wanted::Last => replies.last().and_then(error),
        Wanted::All => replies.iter().filter_map(error).find(|(code, _)| code == "MOVED"),
        Wanted::Each => None,
    }
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
