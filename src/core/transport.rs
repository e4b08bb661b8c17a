//! A blocking byte stream to Redis: TCP, unix socket, TLS, or a store in this process, with timeouts on everything; and the bytes that came, on their way to the parser.

mod tcp;
mod tls;
mod unix;

use super::dsn::{Server, Target};
use super::memory;
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use tls::TlsStream;

/// The stream of one connection. Dropping it only closes the descriptor: nothing is written, so a forked child may
/// drop the one that it inherited.
pub enum Transport {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream>),
    Memory(memory::Stream),
}

impl Transport {
    /// Connects, in time: name lookup, all addresses and TLS handshake included.
    ///
    /// # Errors
    /// The cause, with advice.
    pub fn connect(server: &Server, timeout: Duration) -> io::Result<Self> {
        let deadline = Deadline { at: Instant::now() + timeout, total: timeout };
        let transport = match (&server.target, &server.login.tls) {
            (Target::Memory { name, most_bytes }, _) => Self::Memory(memory::Stream::open(name, *most_bytes)?),
            (Target::Unix { path }, _) => Self::Unix(unix::connect(path, &deadline)?),
            (Target::Tcp { host, port }, tls) => {
                let stream = tcp::connect(host, *port, &deadline)?;
                match tls {
                    None => Self::Tcp(stream),
                    Some(tls) => Self::Tls(Box::new(tls::handshake(tls, host, stream, &deadline)?)),
                }
            }
        };
        transport.set_timeouts(timeout)?;
        Ok(transport)
    }

    /// One read or write blocks no longer than this; it also lets signals interrupt it.
    ///
    /// # Errors
    /// When the socket refuses the option.
    pub fn set_timeouts(&self, timeout: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => set_timeouts(&SockRef::from(stream), timeout),
            Self::Unix(stream) => set_timeouts(&SockRef::from(stream), timeout),
            Self::Tls(stream) => set_timeouts(&SockRef::from(&stream.sock), timeout),
            Self::Memory(stream) => stream.set_timeout(timeout.max(Duration::from_millis(1))),
        }
    }

    /// True when the peer has closed, or bytes other than a push message lie unread. Costs one system call, no round trip.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: the descriptor is open for as long as `self` lives, and the buffer is one byte we own.
        let got =
            unsafe { libc::recv(self.as_raw_fd(), (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        let is_tls = matches!(self, Self::Tls(_));
        got == 0
            || (got > 0 && !is_tls && byte != b'>')
            || (got < 0
                && !matches!(io::Error::last_os_error().kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted))
    }
}

impl AsRawFd for Transport {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Tcp(stream) => stream.as_raw_fd(),
            Self::Unix(stream) => stream.as_raw_fd(),
            Self::Tls(stream) => stream.sock.as_raw_fd(),
            Self::Memory(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
            Self::Tls(stream) => tls::read(stream, buffer),
            Self::Memory(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
            Self::Tls(stream) => stream.write(buffer),
            Self::Memory(stream) => stream.write(buffer),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tls(stream) => stream.flush(),
            _ => Ok(()),
        }
    }
}

fn set_timeouts(socket: &SockRef<'_>, timeout: Duration) -> io::Result<()> {
    let timeout = timeout.max(Duration::from_millis(1));
    socket.set_read_timeout(Some(timeout))?;
    socket.set_write_timeout(Some(timeout))
}

/// When a connection has to be there.
struct Deadline {
    at: Instant,
    total: Duration,
}

impl Deadline {
    /// The time that is left; `TimedOut` when none is.
    fn left(&self) -> io::Result<Duration> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }

    /// The error of a stage that took too long.
    fn missed(&self, advice: &str) -> io::Error {
        let total = (self.total.as_secs_f64() * 1000.0).round() / 1000.0;
        io::Error::other(format!("timed out after {total} s (see connectTimeout): {advice}"))
    }
}

/// Whether a socket or a [`Deadline`] has run out of time.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// A window of received bytes in a buffer that is used again and again.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

/// Room for one read. Clearing more than a page of the machine would be much of what a new connection costs.
const LEAST_ROOM: usize = 4 * 1024;
const MOST_ROOM: usize = 1 << 20;

impl Input {
    /// The bytes received and not consumed.
    #[must_use]
    pub fn filled(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Room for the next read: as much again as is there, so that a large reply takes few.
    pub fn room(&mut self) -> &mut [u8] {
        let wanted = (self.to - self.from).clamp(LEAST_ROOM, MOST_ROOM);
        if self.bytes.len() - self.to < wanted {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            if self.bytes.is_empty() {
                self.bytes = vec![0; wanted]; // the system gives it cleared
            } else if self.bytes.len() - self.to < wanted {
                self.bytes.resize(self.to + wanted, 0);
            }
        }
        self.bytes.get_mut(self.to..).unwrap_or_default()
    }

    /// A read put this many bytes into the room.
    pub fn received(&mut self, count: usize) {
        self.to = (self.to + count).min(self.bytes.len());
    }

    /// The caller has used the first `count` bytes. Frees the room that a large reply took.
    pub fn consume(&mut self, count: usize) {
        self.from = (self.from + count).min(self.to);
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
            if self.bytes.len() > MOST_ROOM {
                self.bytes = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_goes_out_in_order() {
        let mut input = Input::default();
        let sent: Vec<u8> = (0..3_000_000_usize).map(|n| (n * 7 % 251) as u8).collect();
        let (mut offered, mut got) = (0, Vec::new());
        while got.len() < sent.len() {
            let room = input.room();
            let count = room.len().min(sent.len() - offered).min(70_001);
            room[..count].copy_from_slice(&sent[offered..offered + count]);
            offered += count;
            input.received(count);
            let taken = input.filled().len().min(got.len() % 50_000 + 1);
            got.extend_from_slice(&input.filled()[..taken]);
            input.consume(taken);
        }
        assert!(got == sent);
        assert!(input.filled().is_empty());
    }
}
