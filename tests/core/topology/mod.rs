//! Several Redis processes that belong together: a master with replicas and Sentinels, or a cluster. All on loopback.

mod nodes;
mod secure;
mod watched;

pub use nodes::Cluster;
pub use secure::{cluster_over_tls, sentinel_over_tls};
pub use watched::{Oracle, SENTINEL_PASSWORD, SERVICE, Watched};

use crate::machine::lasted;
use crate::process;
use crate::support::*;
use delayqueue::core::connection::Connection;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::queue::Queue;
use redis::Value;
use std::net::TcpListener;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// A port that is free, and so is the one 10000 above it, which a cluster node takes too. Both lie below those of outgoing connections. The tests in
/// tests/faults, which run at the same time, take theirs from 16000 on.
fn free_port() -> u16 {
    const FIRST: u32 = 11_000;
    const MANY: u32 = 5_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let next = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(FIRST + (std::process::id() * 97 + next) % MANY).unwrap();
        if is_free(port) && is_free(port + 10_000) {
            return port;
        }
    }
}

/// Waits for a condition that takes several processes: with more patience than [`until`].
pub fn soon(what: &str, mut condition: impl FnMut() -> bool) {
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    while !condition() {
        assert!(lasted(started) < Duration::from_secs(60), "did not happen in time: {what}");
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    }
}

/// One redis-server, as master, replica, Sentinel or node; killed by pid when dropped, or with this process.
pub struct Node {
    child: Child,
    dir: tempfile::TempDir,
    pub port: u16,
    password: Option<&'static str>,
}

impl Node {
    fn start(password: Option<&'static str>, options: impl FnOnce(u16) -> Vec<String>) -> Self {
        let (dir, port) = (short_dir(), free_port());
        let mut command = Command::new(binary());
        command.args(options(port)).current_dir(dir.path());
        Self { child: process::start(command), dir, port, password }
    }

    /// A server that holds data.
    fn server(password: Option<&'static str>, more: &[String]) -> Self {
        let node = Self::start(password, |port| {
            let mut options = words("--bind 127.0.0.1 --repl-diskless-sync-delay 0 --repl-timeout 5");
            if let Some(password) = password {
                options.extend(words(&format!("--requirepass {password} --masterauth {password}")));
            }
            if !more.iter().any(|option| option == "--tls-port") {
                options.extend(words(&format!("--port {port}")));
            }
            options.extend(["--save".into(), String::new(), "--unixsocket".into(), "redis.sock".into()]);
            options.extend(more.iter().map(|option| option.replace("PORT", &port.to_string())));
            options
        });
        node.wait_until_up();
        node
    }

    /// A Sentinel with these lines in its file.
    fn sentinel(lines: &str) -> Self {
        let dir = short_dir();
        let port = free_port();
        let text = format!("bind 127.0.0.1\n{}", lines.replace("PORT", &port.to_string()));
        std::fs::write(dir.path().join("sentinel.conf"), text).unwrap();
        let mut command = Command::new(binary());
        command.args(["sentinel.conf", "--sentinel"]).current_dir(dir.path());
        Self { child: process::start(command), dir, port, password: Some(SENTINEL_PASSWORD) }
    }

    /// This server alone, whatever it belongs to.
    pub fn plain_dsn(&self) -> Dsn {
        let login = self.password.map(|password| format!(":{password}@")).unwrap_or_default();
        // Sentinels have no socket; servers are reached by it also if they speak only TLS.
        let socket = self.socket();
        let text = if std::path::Path::new(&socket).exists() {
            format!("redis+unix://{login}{socket}")
        } else {
            format!("redis://{login}127.0.0.1:{}", self.port)
        };
        Dsn::parse(&text).unwrap()
    }

    fn try_raw(&self) -> Option<Raw> {
        let timeout = Duration::from_millis(500);
        Connection::open(&server_of(&self.plain_dsn()), timeout, timeout).is_ok().then(|| self.raw())
    }

    fn wait_until_up(&self) {
        soon("the server answers", || self.try_raw().is_some());
    }

    pub fn raw(&self) -> Raw {
        Raw::open(&self.plain_dsn())
    }

    pub fn socket(&self) -> String {
        self.dir.path().join("redis.sock").to_string_lossy().into_owned()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a signal to a child of ours that was not waited for yet.
        assert_eq!(unsafe { libc::kill(i32::try_from(self.child.id()).unwrap(), signal) }, 0);
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// A fact that INFO tells.
pub fn fact(raw: &mut Raw, name: &str) -> String {
    let info = raw.text(&["INFO"]);
    let line = info.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.unwrap_or_default().trim().to_owned()
}

pub fn queue_of(dsn: Dsn, name: &str, read_timeout: Duration) -> Queue {
    let connect_timeout = Duration::from_secs(5);
    Queue::new(delayqueue::core::queue::QueueConfig { read_timeout, connect_timeout, ..config(dsn, name) })
}

/// A master of its own that no Sentinel watches.
pub fn lone_master() -> Node {
    Node::server(None, &[])
}

pub fn replica_of(master: &Node) -> Node {
    let replica = Node::server(None, &words(&format!("--replicaof 127.0.0.1 {}", master.port)));
    wait_for_replica(master, "probe");
    replica
}

/// Until the replica takes writes: it may be in sync for a second before its master sends it any.
fn wait_for_replica(master: &Node, key: &str) {
    let mut raw = master.raw();
    order(&mut raw, &["SET", key, "1"]);
    soon("the replica has the write", || raw.int(&["WAIT", "1", "1000"]) == 1);
    order(&mut raw, &["DEL", key]);
}

/// Makes a node of a cluster the one for these slots. Redis 6.2 does not know ADDSLOTSRANGE.
fn give_slots(raw: &mut Raw, first: usize, last: usize) {
    let slots: Vec<String> = (first..=last).map(|slot| slot.to_string()).collect();
    let command: Vec<&str> = ["CLUSTER", "ADDSLOTS"].into_iter().chain(slots.iter().map(String::as_str)).collect();
    order(raw, &command);
}

/// A command that must succeed.
pub fn order(raw: &mut Raw, args: &[&str]) {
    let reply = raw.run(args);
    assert!(!matches!(reply, Value::ServerError(_)), "{args:?}: {reply:?}");
}
