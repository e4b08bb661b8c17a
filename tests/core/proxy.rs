//! A TCP proxy before Redis that breaks the request of the next script, or the reply to it, at a chosen byte. Or that of another command.

use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::queue::{Queue, QueueConfig};
use delayqueue::core::resp::{Bounds, frame_length};
use delayqueue::core::scripts;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where a message is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cut {
    First,
    Half,
    Last,
}

/// The fault that one call meets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// The connection ends before Redis sees anything.
    DropBefore,
    /// Redis sees a part of the request, then the end.
    CutRequest(Cut),
    /// Redis executes it, the connection ends before the reply.
    DropReply,
    /// A part of the reply arrives, then the end.
    CutReply(Cut),
    /// Redis executes it; nothing ever comes back.
    Hold,
    /// Nothing reaches Redis, nothing ever comes back.
    Blackhole,
    /// The request takes so long.
    Delay(Duration),
    /// The reply arrives byte by byte.
    Slow(Duration),
    /// Something else arrives instead of the reply; Redis saw nothing.
    Instead(&'static [u8]),
    /// Something else arrives instead of the reply, after Redis executed it.
    After(&'static [u8]),
    /// The reply, and bytes behind it that belong to none.
    Append(&'static [u8]),
    /// Logging in is never answered.
    MuteLogin,
}

impl Fault {
    /// Whether Redis executes the call nevertheless.
    pub fn executes(self) -> bool {
        matches!(
            self,
            Self::DropReply
                | Self::CutReply(_)
                | Self::Hold
                | Self::Delay(_)
                | Self::Slow(_)
                | Self::After(_)
                | Self::Append(_)
        )
    }
}

#[derive(Default)]
struct Plan {
    fault: Option<Fault>,
    /// The command that meets it; `None`: a script.
    command: Option<&'static [u8]>,
    times: u32,
    met: u32,
    /// The fault that the call after these meets.
    then: Option<Fault>,
}

pub struct Proxy {
    port: u16,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    /// Loads all scripts, so that a call is exactly one request.
    pub fn before(server: &Server) -> Self {
        Self::before_socket(server.socket(), &mut server.raw())
    }

    /// A server of the test's own, and a proxy before it.
    pub fn with_server() -> (Server, Self) {
        let server = Server::start(&[]);
        let proxy = Self::before(&server);
        (server, proxy)
    }

    /// As [`Proxy::before`], for a server that listens on that socket.
    pub fn before_socket(socket: String, raw: &mut Raw) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), socket, raw)
    }

    /// As [`Proxy::before_socket`], at an address that somebody has to know before the server starts.
    pub fn on(listener: TcpListener, socket: String, raw: &mut Raw) -> Self {
        for (script, _) in scripts::all() {
            raw.run(&["SCRIPT", "LOAD", &script.source]);
        }
        let proxy = Self { port: listener.local_addr().unwrap().port(), plan: Arc::default() };
        let plan = proxy.plan.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (plan, socket) = (plan.clone(), socket.clone());
                std::thread::spawn(move || serve(client.unwrap(), &socket, &plan));
            }
        });
        proxy
    }

    /// A queue behind the proxy, over a connection of its own.
    pub fn queue(&self, name: &str, read_timeout: Duration) -> Queue {
        Queue::new(QueueConfig { persistent: false, read_timeout, ..config(self.dsn(), name) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn dsn(&self) -> Dsn {
        Dsn::parse(&format!("redis://127.0.0.1:{}", self.port)).unwrap()
    }

    /// Breaks the next `times` calls.
    pub fn fail(&self, fault: Fault, times: u32) {
        *self.plan.lock().unwrap() = Plan { fault: Some(fault), times, ..Plan::default() };
    }

    /// Breaks the next call, and the one after it.
    pub fn fail_twice(&self, fault: Fault, then: Fault) {
        *self.plan.lock().unwrap() = Plan { fault: Some(fault), times: 1, then: Some(then), ..Plan::default() };
    }

    /// Breaks the next command of this name.
    pub fn fail_at(&self, command: &'static [u8], fault: Fault) {
        *self.plan.lock().unwrap() = Plan { fault: Some(fault), command: Some(command), times: 1, ..Plan::default() };
    }

    /// Lets everything through again; returns how many calls met the fault.
    pub fn heal(&self) -> u32 {
        std::mem::take(&mut *self.plan.lock().unwrap()).met
    }
}

/// The next complete message of a stream; `None` when it ended.
pub fn message(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Ok(Some(length)) = frame_length(buffer, Bounds::RECORDS) {
            return Some(buffer.drain(..length).collect());
        }
        let mut chunk = [0; 65_536];
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(got) => buffer.extend_from_slice(&chunk[..got]),
        }
    }
}

fn part(message: &[u8], cut: Cut) -> &[u8] {
    &message[..match cut {
        Cut::First => 1,
        Cut::Half => message.len() / 2,
        Cut::Last => message.len() - 1,
    }]
}

fn serve(mut client: TcpStream, socket: &str, plan: &Mutex<Plan>) {
    let Ok(mut redis) = UnixStream::connect(socket) else { return };
    client.set_nodelay(true).unwrap();
    let (mut from_client, mut from_redis) = (Vec::new(), Vec::new());
    let _ = pass(&mut client, &mut redis, &mut from_client, &mut from_redis, plan);
    let _ = client.shutdown(Shutdown::Both);
}

/// Passes messages on until a fault ends the connection.
fn pass(
    client: &mut TcpStream,
    redis: &mut UnixStream,
    from_client: &mut Vec<u8>,
    from_redis: &mut Vec<u8>,
    plan: &Mutex<Plan>,
) -> Option<()> {
    loop {
        let request = message(client, from_client)?;
        let head = &request[..request.len().min(20)];
        let is = |name: &[u8]| head.windows(name.len()).any(|word| word == name);
        let fault = {
            let mut plan = plan.lock().unwrap();
            let wanted = match plan.command {
                _ if plan.fault == Some(Fault::MuteLogin) => is(b"HELLO"),
                Some(command) => is(command),
                None => is(b"EVAL"),
            };
            let applies = wanted && plan.fault.is_some() && plan.met < plan.times;
            plan.met += u32::from(applies);
            let fault = plan.fault.filter(|_| applies);
            if applies && let Some(then) = plan.then.take() {
                (plan.fault, plan.times) = (Some(then), 2);
            }
            fault
        };
        // Each channel is confirmed by itself.
        let channels = request.split(|byte| *byte == b'\r').next().and_then(|count| count.strip_prefix(b"*"));
        let channels = channels.and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok()).unwrap_or(0);
        let answers = if is(b"SUBSCRIBE") { channels.saturating_sub(1) } else { 1 };
        let forward = |redis: &mut UnixStream, from_redis: &mut Vec<u8>| {
            redis.write_all(&request).ok()?;
            let messages: Option<Vec<Vec<u8>>> = (0..answers).map(|_| message(redis, from_redis)).collect();
            Some(messages?.concat())
        };
        // Waits for the client to give up.
        let hang = |client: &mut TcpStream| while client.read(&mut [0; 1024]).is_ok_and(|got| got > 0) {};
        match fault {
            None => client.write_all(&forward(redis, from_redis)?).ok()?,
            Some(Fault::DropBefore) => return None,
            Some(Fault::CutRequest(cut)) => {
                redis.write_all(part(&request, cut)).ok()?;
                return None;
            }
            Some(Fault::DropReply) => {
                forward(redis, from_redis)?;
                return None;
            }
            Some(Fault::CutReply(cut)) => {
                let reply = forward(redis, from_redis)?;
                client.write_all(part(&reply, cut)).ok()?;
                return None;
            }
            Some(Fault::Hold) => {
                forward(redis, from_redis)?;
                hang(client);
                return None;
            }
            Some(Fault::Blackhole | Fault::MuteLogin) => {
                hang(client);
                return None;
            }
            Some(Fault::Delay(pause)) => {
                std::thread::sleep(pause);
                client.write_all(&forward(redis, from_redis)?).ok()?;
            }
            Some(Fault::Slow(pause)) => {
                for byte in forward(redis, from_redis)? {
                    client.write_all(&[byte]).ok()?;
                    std::thread::sleep(pause);
                }
            }
            Some(Fault::Instead(bytes)) => client.write_all(bytes).ok()?,
            Some(Fault::After(bytes)) => {
                forward(redis, from_redis)?;
                client.write_all(bytes).ok()?;
            }
            Some(Fault::Append(bytes)) => {
                let mut reply = forward(redis, from_redis)?;
                reply.extend_from_slice(bytes);
                client.write_all(&reply).ok()?;
            }
        }
    }
}
