//! One connection: strictly request, then its replies. Any error in between makes it unusable, so that the client never takes one
//! reply for another.

mod log_in;
mod wakes;

use super::clock;
use super::dsn::Server;
use super::process::Generation;
use super::resp::{self, Bounds};
use super::transport::{Input, Transport};
use redis::Value;
use std::collections::{HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
pub use wakes::Wake;

/// So many wake-ups are kept that nobody has looked at.
const MOST_WAKES: usize = 64;

/// Why a request failed below the level of Redis' own errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing left this process: Redis cannot have seen the request.
    Unsent(String),
    /// Some of the request was sent: Redis may have executed it.
    Sent(String),
    /// Redis refused us on connecting: its error's first word, and the rest.
    Refused(String, String),
}

/// By when the replies to a request have to be there.
#[derive(Debug, Clone, Copy)]
pub enum End {
    /// All of them.
    OfAll(Instant),
    /// The first. Each has the time of an operation from the one before it on.
    BetweenReplies(Instant),
}

/// An open, authenticated connection speaking RESP3. It goes from hand to hand with each request, so it is only a pointer.
pub struct Connection(Box<Wire>);

/// The parts of a connection.
pub struct Wire {
    pub server: Arc<Server>,
    /// Whether the server said so when the connection was opened.
    pub is_replica: bool,
    /// Of Redis, or the version of Redis with which Valkey is compatible.
    pub version: (u32, u32),
    pub opened_at: Instant,
    transport: Transport,
    input: Input,
    output: Vec<u8>,
    owner: Generation,
    broken: bool,
    /// When the last request was sent.
    sent_at: Instant,
    /// How many bytes of the last request were sent.
    sent: usize,
    read_timeout: Duration,
    /// How long one read or write of the socket may take at present.
    socket_timeout: Duration,
    /// Wake-ups for the waiter.
    wakes: VecDeque<Wake>,
    subscribed: HashSet<String>,
    /// Name under which this connection waits; empty until it does.
    pub waiter: String,
}

impl Deref for Connection {
    type Target = Wire;
    fn deref(&self) -> &Wire {
        &self.0
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Wire {
        &mut self.0
    }
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`Fault::Unsent`] when Redis cannot be reached, [`Fault::Refused`] when it does not want us.
    pub fn open(server: &Arc<Server>, connect_timeout: Duration, read_timeout: Duration) -> Result<Self, Fault> {
        let reach =
            |error: io::Error| Fault::Unsent(format!("cannot connect to {}: {}", server.redacted(), describe(&error)));
        let mut deadline = Instant::now() + connect_timeout;
        let transport = Transport::connect(server, connect_timeout).map_err(reach)?;
        if let Transport::Memory(_) = transport {
            deadline = Instant::now() + connect_timeout; // the first connection makes the store, which nobody else does for it
        }
        let mut wire = Wire {
            server: Arc::clone(server),
            is_replica: false,
            version: (0, 0),
            opened_at: Instant::now(),
            transport,
            input: Input::default(),
            output: Vec::with_capacity(1024),
            owner: Generation::current(),
            broken: false,
            sent_at: Instant::now(),
            sent: 0,
            read_timeout,
            socket_timeout: connect_timeout,
            wakes: VecDeque::new(),
            subscribed: HashSet::new(),
            waiter: String::new(),
        };
        wire.log_in(server, deadline)?;
        wire.set_socket_timeout(read_timeout).map_err(reach)?;
        Ok(Self(Box::new(wire)))
    }
}

impl Wire {
    /// Whether this process may use it for another request, as far as is known without a look at the socket.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.broken && self.owner.is_current()
    }

    /// Whether this process may use it for another request.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.is_whole() && (self.sent_at.elapsed() < Duration::from_secs(1) || !self.transport.is_stale())
    }

    /// A fresh output buffer to write commands into with [`resp::write_command`].
    pub fn request(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.output);
        buffer.clear();
        buffer
    }

    /// Sends a request and reads its `expected` replies, each within these bounds. On any error the connection is broken.
    ///
    /// # Errors
    /// [`Fault::Unsent`] or [`Fault::Sent`].
    pub fn exchange(
        &mut self,
        request: &[u8],
        expected: usize,
        bounds: Bounds,
        deadline: Instant,
    ) -> Result<Vec<Value>, Fault> {
        self.exchange_until(request, expected, bounds, End::OfAll(deadline), &|_| false)
    }

    /// Sends a request and reads its `expected` replies, or only as many as are `enough`: the connection is broken then, too.
    ///
    /// # Errors
    /// [`Fault::Unsent`] or [`Fault::Sent`].
    pub fn exchange_until(
        &mut self,
        request: &[u8],
        expected: usize,
        bounds: Bounds,
        end: End,
        enough: &dyn Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>, Fault> {
        let (End::OfAll(deadline) | End::BetweenReplies(deadline)) = end;
        // Broken until proven otherwise: every early return, and a panic, leaves the connection so.
        if std::mem::replace(&mut self.broken, true) {
            return Err(Fault::Unsent("the connection is closed".into()));
        }
        self.sent_at = Instant::now();
        self.limit(self.sent_at, deadline).map_err(Fault::Unsent)?;
        if let Err(error) = self.send(request, deadline) {
            return self.parting_words(&error, bounds).ok_or_else(|| match self.sent {
                0 => Fault::Unsent(describe(&error)),
                _ => Fault::Sent(describe(&error)),
            });
        }
        self.receive(expected, bounds, end, enough)
    }

    /// Number of bytes of the last request that were sent.
    #[must_use]
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// The replies to a request that Redis did not read to its end: the last one says why it closed the connection.
    fn parting_words(&mut self, error: &io::Error, bounds: Bounds) -> Option<Vec<Value>> {
        if self.sent == 0 || !matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
            return None;
        }
        let deadline = Instant::now() + Duration::from_millis(100); // all that comes has come already
        let mut replies = Vec::new();
        while let Ok(value) = self.next_value(bounds, Some(deadline)) {
            replies.extend(value);
            if replies.last().is_some_and(is_protocol_error) {
                return Some(replies);
            }
        }
        None
    }

    /// Reads the replies to what was sent.
    fn receive(
        &mut self,
        expected: usize,
        bounds: Bounds,
        end: End,
        enough: &dyn Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>, Fault> {
        let (End::OfAll(mut deadline) | End::BetweenReplies(mut deadline)) = end;
        let lost = |error: io::Error| Fault::Sent(describe(&error));
        let mut replies = Vec::with_capacity(expected);
        while replies.len() < expected {
            match self.next_value(bounds, Some(deadline)).map_err(lost)? {
                Some(value) => {
                    replies.push(value);
                    if let End::BetweenReplies(_) = end {
                        deadline = clock::capped(Instant::now() + self.read_timeout);
                    }
                    let is_last = replies.last().is_some_and(is_protocol_error);
                    if is_last || (replies.len() < expected && enough(&replies)) {
                        return Ok(replies);
                    }
                }
                // A server may send messages without an end.
                None => self.keep_within(deadline).map_err(lost)?,
            }
        }
        self.broken = self.has_uninvited_input();
        Ok(replies)
    }

    /// Sets how long the next read or write may take.
    fn limit(&mut self, now: Instant, deadline: Instant) -> Result<(), String> {
        let left = deadline.saturating_duration_since(now).min(self.read_timeout);
        if left.is_zero() {
            return Err("timed out".into());
        }
        // Setting it costs a system call: only when it is off by more than a tenth.
        if left < self.socket_timeout * 9 / 10 || self.socket_timeout < left * 9 / 10 {
            self.set_socket_timeout(left).map_err(|error| describe(&error))?;
        }
        Ok(())
    }

    /// Whether more than wake-ups came with the replies: the next request would take it for its own reply.
    fn has_uninvited_input(&mut self) -> bool {
        while self.input.filled().first() == Some(&b'>') {
            let before = self.input.filled().len();
            match self.next_value(Bounds::MESSAGE, None) {
                Ok(None) if self.input.filled().len() < before => {}
                Ok(None) => return false, // the rest of it is on its way
                _ => return true,
            }
        }
        !self.input.filled().is_empty()
    }

    /// Gives a request buffer back for reuse.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= 1 << 20 {
            self.output = buffer;
        }
    }

    fn set_socket_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.transport.set_timeouts(timeout)?;
        self.socket_timeout = timeout;
        Ok(())
    }

    /// Lets no single read or write last (much) longer than the deadline allows.
    fn keep_within(&mut self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if left.mul_f64(1.1) < self.socket_timeout { self.set_socket_timeout(left) } else { Ok(()) }
    }

    fn send(&mut self, request: &[u8], deadline: Instant) -> io::Result<()> {
        self.sent = 0;
        let mut again = false;
        while let Some(rest) = request.get(self.sent..).filter(|rest| !rest.is_empty()) {
            if std::mem::replace(&mut again, true) {
                self.keep_within(deadline)?;
            }
            match self.transport.write(rest) {
                Ok(0) => return Err(io::Error::other("the connection was closed")),
                Ok(written) => self.sent += written,
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.transport.flush()
    }

    /// The next reply; `None` when it was a push message (kept if it is a wake-up) or, without a deadline, when nothing
    /// complete is buffered.
    fn next_value(&mut self, bounds: Bounds, deadline: Option<Instant>) -> io::Result<Option<Value>> {
        let not_redis = || {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "protocol error: this is not a reply of Redis, or one that is too large",
            )
        };
        let mut again = false;
        loop {
            if let Some(length) = resp::frame_length(self.input.filled(), bounds).map_err(|_| not_redis())? {
                let frame = self.input.filled().get(..length).unwrap_or_default();
                let value = resp::parse(frame).map_err(|_| not_redis())?;
                self.input.consume(length);
                return Ok(match value {
                    Value::Push { kind, data } => {
                        self.hear(&kind, &data);
                        None
                    }
                    value => Some(value),
                });
            }
            let Some(deadline) = deadline else { return Ok(None) };
            if std::mem::replace(&mut again, true) {
                self.keep_within(deadline)?; // the first read is bounded by the socket's timeout, see `exchange`
            }
            match self.fill() {
                Err(error) if is_pause(&error) => {}
                result => result?,
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        match self.transport.read(self.input.room())? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            got => {
                self.input.received(got);
                Ok(())
            }
        }
    }
}

impl AsRawFd for Wire {
    fn as_raw_fd(&self) -> RawFd {
        self.transport.as_raw_fd()
    }
}

/// Neither end nor error: a signal, or the socket's own timeout, which is shorter than the operation's.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

/// Whether Redis could not read a request: it has closed the connection behind this reply.
#[must_use]
pub fn is_protocol_error(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.details().is_some_and(|why| why.starts_with("Protocol error")))
}

fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the connection was closed by Redis".into(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "timed out".into(),
        io::ErrorKind::ConnectionRefused => "connection refused".into(),
        _ => error.to_string(),
    }
}

/// 16 hex digits from the system's random source.
#[must_use]
pub fn random_name() -> String {
    let mut bytes = [0u8; 8];
    if getrandom::fill(&mut bytes).is_err() {
        // No random source: the clock and the process still make it unlikely to meet another.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        bytes = (now ^ (u64::from(std::process::id()) << 40)).to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
