//! A connection through a Unix socket.

use super::Deadline;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::os::unix::net::UnixStream;

pub(super) fn connect(path: &str, deadline: &Deadline) -> io::Result<UnixStream> {
    let (address, socket) = (SockAddr::unix(path)?, Socket::new(Domain::UNIX, Type::STREAM, None)?);
    while let Ok(left) = deadline.left() {
        // Linux lets a connect wait for a place in the backlog as long as a write may take.
        socket.set_write_timeout(Some(left))?;
        let Err(error) = socket.connect(&address) else { return Ok(socket.into()) };
        return Err(io::Error::other(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => continue,
            io::ErrorKind::NotFound => "no such socket: is Redis running, with this 'unixsocket'?",
            io::ErrorKind::PermissionDenied => "permission denied: see 'unixsocketperm' of Redis",
            io::ErrorKind::ConnectionRefused => "connection refused: is Redis running?",
            _ => return Err(error),
        }));
    }
    Err(deadline.missed("Redis accepts no connection, is it stopped or busy?"))
}
