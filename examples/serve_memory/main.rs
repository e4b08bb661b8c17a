//! The store of `memory://` behind a Unix socket or a port, with the options of redis-server that tests give: the suites that start servers of their
//! own run on it with `REDIS_SERVER=target/debug/examples/serve_memory`. In a debug build it has further commands, with which tests look behind the
//! scenes.
#![allow(clippy::indexing_slicing, clippy::print_stdout, clippy::unwrap_used)]

use delayqueue::core::memory::Stream;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::Duration;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--version") {
        println!("Redis server v=8.0.0 (memory://)");
        return;
    }
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    if let Some(dir) = option("--dir") {
        std::env::set_current_dir(dir).unwrap();
    }
    let most_bytes = option("--maxmemory").map(|bytes| bytes.parse().unwrap());
    let mut threads = Vec::new();
    if let Some(path) = option("--unixsocket") {
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path).unwrap();
        threads.push(thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(stream.as_raw_fd(), &stream, &stream, most_bytes));
            }
        }));
    }
    if let Some(port) = option("--port").and_then(|port| port.parse::<u16>().ok()).filter(|port| *port > 0) {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        threads.push(thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = stream.set_nodelay(true);
                thread::spawn(move || serve(stream.as_raw_fd(), &stream, &stream, most_bytes));
            }
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Carries bytes between a socket and a client of the store.
fn serve(fd: i32, mut from: impl Read, mut to: impl Write, most_bytes: Option<usize>) {
    let mut client = Stream::open("", most_bytes).unwrap();
    client.set_timeout(Duration::from_millis(1)).unwrap();
    let mut room = vec![0; 1 << 16];
    loop {
        let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut sockets = [poll(fd), poll(client.as_raw_fd())];
        // SAFETY: two pollfds.
        unsafe { libc::poll(sockets.as_mut_ptr(), 2, -1) };
        if sockets[0].revents != 0 {
            match from.read(&mut room) {
                Ok(0) | Err(_) => return,
                Ok(many) => client.write_all(&room[..many]).unwrap(),
            }
        } else if sockets[1].revents == 0 {
            continue;
        }
        while client.has_unread() {
            match client.read(&mut room) {
                Ok(many) if to.write_all(&room[..many]).is_ok() => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                _ => return,
            }
        }
    }
}
