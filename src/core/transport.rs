//! A blocking byte stream to Redis: TCP, unix socket or TLS, with timeouts on everything.

use super::dsn::{Dsn, Target, Tls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The stream of one connection. Dropping it only closes the descriptor: nothing is written, so a forked child may
/// drop what it inherited.
pub enum Transport {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Transport {
    /// Connects, TLS handshake included.
    ///
    /// # Errors
    /// The last address' error; `TimedOut` when `timeout` passed.
    pub fn connect(dsn: &Dsn, timeout: Duration) -> io::Result<Self> {
        match &dsn.target {
            Target::Unix { path } => {
                let stream = UnixStream::connect(path)?;
                set_timeouts(&SockRef::from(&stream), timeout)?;
                Ok(Self::Unix(stream))
            }
            Target::Tcp { host, port } => {
                let stream = connect_tcp(host, *port, timeout)?;
                match &dsn.tls {
                    None => Ok(Self::Tcp(stream)),
                    Some(tls) => {
                        let mut stream = StreamOwned::new(tls_client(tls, host)?, stream);
                        stream.conn.complete_io(&mut stream.sock).map_err(handshake_error)?;
                        Ok(Self::Tls(Box::new(stream)))
                    }
                }
            }
        }
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

    /// What is there to be read, without waiting for it; `None` when there is nothing, and for whatever [`Read`] had better tell.
    pub fn read_now(&mut self, room: &mut [u8]) -> Option<usize> {
        if matches!(self, Self::Tls(_)) {
            return None;
        }
        // SAFETY: the descriptor is open for as long as `self` lives, and no more is written than fits into the room.
        let got = unsafe { libc::recv(self.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), libc::MSG_DONTWAIT) };
        usize::try_from(got).ok().filter(|got| *got > 0)
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
            Self::Tls(stream) => stream.read(buffer),
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

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let until = Instant::now() + timeout;
    let mut last = None;
    for address in (host, port).to_socket_addrs()? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => {
                let socket = SockRef::from(&stream);
                socket.set_tcp_nodelay(true)?;
                socket.set_tcp_keepalive(
                    &TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10)),
                )?;
                set_timeouts(&socket, timeout)?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host name has no address")))
}

fn tls_client(tls: &Tls, host: &str) -> io::Result<ClientConnection> {
    let mut roots = RootCertStore::empty();
    match &tls.ca {
        Some(path) => {
            for cert in CertificateDer::pem_file_iter(path).map_err(|error| file_error(path, &error))? {
                roots.add(cert.map_err(|error| file_error(path, &error))?).map_err(tls_error)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(tls_error)?
        .with_root_certificates(roots);
    let config = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            let chain: Result<Vec<_>, _> =
                CertificateDer::pem_file_iter(cert).map_err(|error| file_error(cert, &error))?.collect();
            let chain = chain.map_err(|error| file_error(cert, &error))?;
            let private = PrivateKeyDer::from_pem_file(key).map_err(|error| file_error(key, &error))?;
            builder.with_client_auth_cert(chain, private).map_err(tls_error)?
        }
        _ => builder.with_no_client_auth(),
    };
    let name = ServerName::try_from(host.to_owned()).map_err(tls_error)?;
    ClientConnection::new(Arc::new(config), name).map_err(tls_error)
}

fn handshake_error(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => io::ErrorKind::TimedOut.into(),
        _ => tls_error(error),
    }
}

fn tls_error(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {error}"))
}

fn file_error(path: &str, error: &impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("TLS: cannot read '{path}': {error}"))
}
