//! A blocking byte stream to Redis: TCP, unix socket or TLS, with timeouts on everything.

mod tcp;
mod tls;
mod unix;

use super::dsn::{Server, Target};
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
}

impl Transport {
    /// Connects, in time: name lookup, all addresses and TLS handshake included.
    ///
    /// # Errors
    /// The cause, with advice.
    pub fn connect(server: &Server, timeout: Duration) -> io::Result<Self> {
        let deadline = Deadline { at: Instant::now() + timeout, total: timeout };
        let transport = match (&server.target, &server.login.tls) {
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
        }
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
            Self::Tls(stream) => tls::read(stream, buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
            Self::Tls(stream) => stream.write(buffer),
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
