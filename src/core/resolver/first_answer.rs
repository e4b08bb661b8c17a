//! Asks several servers the same at once. The first good answer counts: one that is down or silent costs no time.

use crate::core::connection::{Connection, Fault};
use crate::core::dsn::Server;
use crate::core::process::start_thread;
use crate::core::resp::{self, Bounds};
use redis::Value;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// One question over an open connection.
pub(super) fn ask<T>(
    connection: &mut Connection,
    command: &[&[u8]],
    read: impl Fn(&Value) -> Result<T, String>,
    deadline: Instant,
) -> Result<T, Fault> {
    let mut request = Vec::new();
    resp::write_command(&mut request, command.iter().copied());
    match connection.exchange(&request, 1, Bounds::SLOTS, deadline)?.pop() {
        Some(Value::ServerError(error)) => {
            Err(Fault::Refused(error.code().to_owned(), error.details().unwrap_or_default().trim().to_owned()))
        }
        Some(value) => read(&value).map_err(Fault::Unsent),
        None => Err(Fault::Unsent("no reply".into())),
    }
}

/// The first good answer, and the connection over which it came.
///
/// # Errors
/// The reasons of all servers, in one text: [`Fault::Refused`] when each of them refuses, and another try would change nothing, else
/// [`Fault::Unsent`].
pub(super) fn first_answer<T: Send + 'static>(
    servers: &[Arc<Server>],
    command: &'static [&'static [u8]],
    argument: Option<&str>,
    read: fn(&Value, &Server) -> Result<T, String>,
    time: Duration,
) -> Result<(T, Connection), Fault> {
    let deadline = Instant::now() + time;
    // Each of them gives up a little earlier than all, so that its reason is heard.
    let time_of_each = time * 9 / 10;
    let deadline_of_each = Instant::now() + time_of_each;
    let (sender, receiver) = channel();
    let (mut failed, mut refusals) = (Vec::new(), Vec::new());
    for server in servers {
        let (sender, of_thread, argument) = (sender.clone(), Arc::clone(server), argument.map(str::to_owned));
        let started = start_thread(move || {
            let server = of_thread;
            let answer = Connection::open(&server, time_of_each, time_of_each).and_then(|mut connection| {
                let command: Vec<&[u8]> =
                    command.iter().copied().chain(argument.as_deref().map(str::as_bytes)).collect();
                let answer = ask(&mut connection, &command, |value| read(value, &server), deadline_of_each)?;
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
        let why = match answer {
            Ok(answer) => return Ok(answer),
            Err(Fault::Unsent(why) | Fault::Sent(why)) => why,
            Err(Fault::Refused(code, why)) => {
                let text = format!("{code} {why}");
                refusals.extend(LASTING.contains(&code.as_str()).then_some(code));
                text
            }
        };
        failed.push(format!("{}: {}", server.target, server.redact(&why)));
    }
    if failed.len() < servers.len() {
        failed.push(format!("no answer of the others within {} ms", time.as_millis()));
    }
    let why = failed.join("; ");
    match refusals.pop() {
        Some(code) if refusals.len() + 1 == servers.len() => Err(Fault::Refused(code, why)),
        _ => Err(Fault::Unsent(why)),
    }
}

/// Refusals that do not pass by themselves: a wrong login, a missing right, an unknown command.
const LASTING: [&str; 4] = ["NOAUTH", "WRONGPASS", "NOPERM", "ERR"];

/// This fault with more to say about it.
pub(super) fn explained(fault: Fault, explain: impl FnOnce(&str) -> String) -> Fault {
    match fault {
        Fault::Unsent(why) => Fault::Unsent(explain(&why)),
        Fault::Sent(why) => Fault::Sent(explain(&why)),
        Fault::Refused(code, why) => Fault::Refused(code, explain(&why)),
    }
}
