//! Asks several servers the same at once. The first good answer counts: one that is down or silent costs no time.

use crate::core::connection::{Connection, Fault};
use crate::core::dsn::Server;
use crate::core::resp;
use crate::core::thread;
use redis::Value;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// One question over an open connection; the reason where there is no good answer.
pub(super) fn ask<T>(
    connection: &mut Connection,
    command: &[&[u8]],
    read: impl Fn(&Value) -> Result<T, String>,
    deadline: Instant,
) -> Result<T, String> {
    let mut request = Vec::new();
    resp::write_command(&mut request, command.iter().copied());
    let reply = connection.exchange(&request, 1, deadline).map_err(words)?.pop();
    match reply {
        Some(Value::ServerError(error)) => Err(format!("{} {}", error.code(), error.details().unwrap_or_default())),
        Some(value) => read(&value),
        None => Err("no reply".into()),
    }
}

/// The first good answer, and the connection over which it came.
///
/// # Errors
/// The reasons of all servers, in one text.
pub(super) fn first_answer<T: Send + 'static>(
    servers: &[Arc<Server>],
    command: &'static [&'static [u8]],
    argument: Option<&str>,
    read: fn(&Value, &Server) -> Result<T, String>,
    time: Duration,
) -> Result<(T, Connection), String> {
    let deadline = Instant::now() + time;
    let (sender, receiver) = channel();
    let mut failed = Vec::new();
    for server in servers {
        let (sender, of_thread, argument) = (sender.clone(), Arc::clone(server), argument.map(str::to_owned));
        let started = thread::start(move || {
            let server = of_thread;
            let answer = Connection::open(&server, time, time).map_err(words).and_then(|mut connection| {
                let command: Vec<&[u8]> =
                    command.iter().copied().chain(argument.as_deref().map(str::as_bytes)).collect();
                let answer = ask(&mut connection, &command, |value| read(value, &server), deadline)?;
                Ok((answer, connection))
            });
            let _ = sender.send((server, answer));
        });
        if !started {
            failed.push(format!("{}: no thread can be started", server.target));
        }
    }
    drop(sender);
    while let Ok((server, answer)) = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        match answer {
            Ok(answer) => return Ok(answer),
            Err(why) => failed.push(format!("{}: {}", server.target, server.redact(&why))),
        }
    }
    if failed.len() < servers.len() {
        failed.push(format!("no answer of the others within {} ms", time.as_millis()));
    }
    Err(failed.join("; "))
}

fn words(fault: Fault) -> String {
    match fault {
        Fault::Unsent(why) | Fault::Sent(why) => why,
        Fault::Refused(code, why) => format!("{code} {why}"),
    }
}
