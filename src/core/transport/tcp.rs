//! A TCP connection to one of the addresses of a host.

use super::{Deadline, is_late};
use crate::core::process::start_thread;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Tries the addresses in their order. Each gets its share of the time that is left: the first one must not use up that of the others.
pub(super) fn connect(host: &str, port: u16, deadline: &Deadline) -> io::Result<TcpStream> {
    let addresses = addresses(host, port, deadline)?;
    let mut failed = None;
    for (address, untried) in addresses.iter().zip((1..=addresses.len() as u32).rev()) {
        let Ok(left) = deadline.left() else { break };
        match TcpStream::connect_timeout(address, (left / untried).max(Duration::from_millis(1))) {
            Ok(stream) => return prepare(stream),
            Err(error) => failed = Some((address, error)),
        }
    }
    Err(match failed.filter(|(_, error)| !is_late(error)) {
        None => deadline.missed("is Redis there, or does a firewall drop packets?"),
        Some((address, error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            io::Error::other(format!("connection refused: is Redis running at {address}?"))
        }
        Some((address, error)) => io::Error::other(format!("{error} (at {address})")),
    })
}

fn prepare(stream: TcpStream) -> io::Result<TcpStream> {
    let socket = SockRef::from(&stream);
    socket.set_tcp_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10));
    socket.set_tcp_keepalive(&keepalive)?;
    Ok(stream)
}

/// Looks a name up, in time. The C library cannot be told how long to wait for a DNS server, so that a thread of its own asks; one
/// whose answer comes too late ends by itself. An IP address needs neither.
fn addresses(host: &str, port: u16, deadline: &Deadline) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let (sender, receiver) = sync_channel(1);
    let name = host.to_owned();
    let look_up = move || {
        let _ = sender.send((name.as_str(), port).to_socket_addrs().map(Vec::from_iter));
    };
    let wrong = |why: &str| io::Error::other(format!("cannot look up the host '{host}': {why}"));
    if !start_thread(look_up) {
        return Err(wrong("no thread can be started"));
    }
    match receiver.recv_timeout(deadline.left().unwrap_or_default()) {
        Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
        Ok(Err(error)) => Err(wrong(&format!("{error}, check the DSN"))),
        Err(RecvTimeoutError::Timeout) => {
            Err(deadline.missed(&format!("the host '{host}' was not found yet, does the DNS server answer?")))
        }
        _ => Err(wrong("it has no address")),
    }
}
