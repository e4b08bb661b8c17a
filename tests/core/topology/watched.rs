//! A master, its replica and Sentinels.

use super::{Node, queue_of, soon, wait_for_replica, words};
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::queue::Queue;
use delayqueue::core::reply;
use redis::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The passwords of servers and of Sentinels. No error may show them.
const PASSWORD: &str = "hunter2";
pub const SENTINEL_PASSWORD: &str = "hunter3";
pub const SERVICE: &str = "orders";

/// A master, its replica, and three Sentinels that watch over them.
pub struct Watched {
    pub servers: Vec<Node>,
    pub sentinels: Vec<Node>,
}

impl Watched {
    /// The Sentinels take a master for down after this long.
    pub fn start(down_after_ms: u32) -> Self {
        Self::start_with(down_after_ms, 3)
    }

    pub fn start_with(down_after_ms: u32, sentinels: usize) -> Self {
        let master = Node::server(Some(PASSWORD), &[]);
        let replica = Node::server(Some(PASSWORD), &words(&format!("--replicaof 127.0.0.1 {}", master.port)));
        let lines = format!(
            "port PORT\nrequirepass {SENTINEL_PASSWORD}\nsentinel sentinel-pass {SENTINEL_PASSWORD}\n\
             sentinel monitor {SERVICE} 127.0.0.1 {} {}\nsentinel auth-pass {SERVICE} {PASSWORD}\n\
             sentinel down-after-milliseconds {SERVICE} {down_after_ms}\nsentinel failover-timeout {SERVICE} 3000\n",
            master.port,
            sentinels / 2 + 1,
        );
        let sentinels: Vec<Node> = (0..sentinels).map(|_| Node::sentinel(&lines)).collect();
        let watched = Self { servers: vec![master, replica], sentinels };
        watched.wait_until_settled();
        watched
    }

    /// Until the Sentinels know each other and the replica. They tell each other every two seconds; meanwhile more often.
    fn wait_until_settled(&self) {
        wait_for_replica(&self.servers[0], "probe");
        self.sentinels.iter().for_each(Node::wait_until_up);
        let mut raws: Vec<Raw> = self.sentinels.iter().map(Node::raw).collect();
        for raw in &mut raws {
            raw.run(&["SENTINEL", "DEBUG", "PUBLISH-PERIOD", "100", "INFO-PERIOD", "100"]);
        }
        let others = raws.len() - 1;
        for raw in &mut raws {
            soon("a Sentinel knows all", || {
                let known = raw.run(&["SENTINEL", "MASTER", SERVICE]);
                field(&known, "num-slaves") == "1"
                    && field(&known, "num-other-sentinels") == others.to_string()
                    && field(&known, "flags") == "master"
            });
        }
        for raw in &mut raws {
            raw.run(&["SENTINEL", "DEBUG", "PUBLISH-PERIOD", "2000", "INFO-PERIOD", "10000"]);
        }
    }

    /// `login` for the servers; `tail`: service, database and options.
    pub fn dsn(&self, login: &str, tail: &str) -> Dsn {
        let hosts: Vec<String> = self.sentinels.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        Dsn::parse(&format!("redis+sentinel://{login}{}/{tail}", hosts.join(","))).unwrap()
    }

    pub fn queue(&self, name: &str, read_timeout: Duration) -> Queue {
        let tail = format!("{SERVICE}/0?sentinel_password={SENTINEL_PASSWORD}");
        queue_of(self.dsn(&format!(":{PASSWORD}@"), &tail), name, read_timeout)
    }

    /// The port of the master, by the first Sentinel that names this one or none.
    pub fn named(&self) -> Vec<u16> {
        let mut ports = Vec::new();
        for sentinel in &self.sentinels {
            if let Some(mut raw) = sentinel.try_raw()
                && let Value::Array(address) = raw.run(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE])
            {
                ports.push(u16::try_from(reply::int(address[1].clone()).unwrap()).unwrap());
            }
        }
        ports
    }

    /// Waits until all Sentinels name the second server; returns when the first of them did.
    pub fn wait_for_switch(&self) -> Instant {
        let mut first = None;
        soon("the Sentinels name the other server", || {
            let named = self.named();
            if named.contains(&self.servers[1].port) {
                first.get_or_insert_with(Instant::now);
            }
            named.len() == self.sentinels.len() && named.iter().all(|port| *port == self.servers[1].port)
        });
        first.unwrap()
    }
}

fn field(pairs: &Value, wanted: &str) -> String {
    let text = |value: &Value| reply::text(value.clone()).unwrap_or_default();
    match pairs {
        Value::Map(pairs) => pairs.iter().find(|(name, _)| text(name) == wanted).map(|(_, value)| text(value)),
        Value::Array(all) => all.chunks(2).find(|pair| text(&pair[0]) == wanted).map(|pair| text(&pair[1])),
        _ => None,
    }
    .unwrap_or_default()
}

/// Answers as a Sentinel would that knows one service, and is told by the test which server is its master.
pub struct Oracle {
    pub port: u16,
    named: Arc<AtomicU16>,
    asked: Arc<AtomicU32>,
}

impl Oracle {
    pub fn naming(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let oracle = Self {
            port: listener.local_addr().unwrap().port(),
            named: Arc::new(AtomicU16::new(port)),
            asked: Arc::default(),
        };
        let (named, asked) = (Arc::clone(&oracle.named), Arc::clone(&oracle.asked));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (named, asked) = (Arc::clone(&named), Arc::clone(&asked));
                std::thread::spawn(move || answer(client.unwrap(), &named, &asked));
            }
        });
        oracle
    }

    pub fn name(&self, port: u16) {
        self.named.store(port, Ordering::SeqCst);
    }

    /// How often it was asked for the master.
    pub fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn dsn(&self) -> Dsn {
        Dsn::parse(&format!("redis+sentinel://127.0.0.1:{}/{SERVICE}", self.port)).unwrap()
    }
}

fn answer(mut client: TcpStream, named: &AtomicU16, asked: &AtomicU32) {
    let mut request = [0; 1024];
    while let Ok(got) = client.read(&mut request) {
        let reply = match String::from_utf8_lossy(&request[..got]) {
            text if text.is_empty() => return,
            text if text.contains("HELLO") => "%2\r\n+version\r\n+7.0.0\r\n+role\r\n+sentinel\r\n".to_owned(),
            _ => {
                asked.fetch_add(1, Ordering::SeqCst);
                format!("*2\r\n+127.0.0.1\r\n+{}\r\n", named.load(Ordering::SeqCst))
            }
        };
        if client.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}
