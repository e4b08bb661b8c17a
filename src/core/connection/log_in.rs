//! How a connection begins: the client logs in, selects the database, and checks that this Redis is new enough.

use super::{End, Fault, Wire};
use crate::core::dsn::{Server, Target};
use crate::core::resp::{self, Bounds};
use redis::Value;
use std::time::Instant;

impl Wire {
    pub(super) fn log_in(&mut self, server: &Server, deadline: Instant) -> Result<(), Fault> {
        let name = format!("delayqueue:{}", std::process::id());
        let database = server.login.database.to_string();
        let mut hello: Vec<&[u8]> = vec![b"HELLO", b"3"];
        if server.login.user.is_some() || server.login.password.is_some() {
            // There are users without a password (nopass), which take any.
            let password = server.login.password.as_deref().unwrap_or_default();
            hello.extend([b"AUTH".as_slice(), user(server).as_bytes(), password.as_bytes()]);
        }
        hello.extend([b"SETNAME".as_slice(), name.as_bytes()]);
        let select: &[&[u8]] = &[b"SELECT", database.as_bytes()];
        // One after the other: a server that closes behind its first answer must not take it along.
        for command in [Some(hello.as_slice()), (server.login.database != 0).then_some(select)].into_iter().flatten() {
            let mut request = Vec::new();
            resp::write_command(&mut request, command.iter().copied());
            let replies = self.exchange(&request, 1, Bounds::SMALL, deadline).or_else(|fault| match fault {
                // A server that has enough clients says so and closes without reading.
                Fault::Unsent(_) if Instant::now() < deadline => {
                    self.receive(1, Bounds::SMALL, End::OfAll(deadline), &|_| false).map_err(|_| fault)
                }
                fault => Err(fault),
            });
            let replies = replies.map_err(|fault| {
                let (Fault::Sent(why) | Fault::Unsent(why) | Fault::Refused(_, why)) = fault;
                Fault::Unsent(format!(
                    "cannot log in to {}: {why}{}",
                    server.redacted(),
                    advice(server, &why, deadline)
                ))
            })?;
            match replies.first() {
                Some(Value::Map(fields)) => {
                    self.version = version(server, fields)?;
                    self.is_replica = field(fields, "role").is_some_and(|role| role == "replica");
                }
                Some(Value::ServerError(error)) => {
                    let detail = error.details().unwrap_or_default();
                    if !knows_hello(error.code(), detail) {
                        return Err(too_old(server, self.told_version(server, deadline), detail));
                    }
                    return Err(refusal(server, error.code(), detail));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The version of a server that does not know HELLO, if it tells.
    fn told_version(&mut self, server: &Server, deadline: Instant) -> Option<String> {
        let mut request = Vec::new();
        let password = server.login.password.as_deref();
        if let Some(password) = password {
            resp::write_command(&mut request, [b"AUTH".as_slice(), password.as_bytes()].into_iter());
        }
        resp::write_command(&mut request, [b"INFO".as_slice(), b"server"].into_iter());
        let count = 1 + usize::from(password.is_some());
        let replies = self.exchange(&request, count, Bounds::SMALL, deadline).ok()?;
        let Some(Value::BulkString(info)) = replies.last() else { return None };
        let info = String::from_utf8_lossy(info);
        info.lines().find_map(|line| line.strip_prefix("redis_version:")).map(|version| version.trim().to_owned())
    }
}

/// Redis before 6.0 knows no HELLO.
fn knows_hello(code: &str, detail: &str) -> bool {
    !matches!(code, "NOPROTO" | "ERR") || !(detail.contains("unknown command") || detail.contains("HELLO"))
}

fn too_old(server: &Server, version: Option<String>, detail: &str) -> Fault {
    let why = match version {
        Some(version) => format!("Redis {version} is too old, 6.2 or newer is needed"),
        None => format!("this server is too old, Redis 6.2 or newer is needed ({})", server.redact(detail)),
    };
    Fault::Refused("ERR".into(), format!("{why} (at {})", server.redacted()))
}

/// Whom we log in as.
fn user(server: &Server) -> &str {
    server.login.user.as_deref().unwrap_or("default")
}

/// Advice for the case that no answer came, or none that Redis gives.
fn advice(server: &Server, why: &str, deadline: Instant) -> &'static str {
    if Instant::now() >= deadline {
        return " (see connectTimeout): the server accepts connections and does not answer, is it stopped or busy?";
    }
    match (&server.target, &server.login.tls) {
        (Target::Unix { .. } | Target::Memory { .. }, _) => "",
        _ if why.contains("in the DSN") => "", // it has been given
        (_, None) => ": is this Redis? If the server expects TLS, use rediss:// in the DSN",
        (_, Some(_)) => ": if the server asks for a client certificate, see cert= and key= in the DSN",
    }
}

/// The error when Redis does not want us: the reason, our user, and advice.
fn refusal(server: &Server, code: &str, detail: &str) -> Fault {
    let says = |words: &str| detail.contains(words);
    let advice = match code {
        // Redis explains HELLO here, which nobody has written.
        "NOAUTH" => {
            let why =
                "the server asks for a password, and the DSN has none: redis://:PASSWORD@… or redis://USER:PASSWORD@…";
            return Fault::Refused(
                code.to_owned(),
                format!("{why} (user '{}' at {})", user(server), server.redacted()),
            );
        }
        "WRONGPASS" if server.login.password.is_none() => {
            "there is no such user, or it has a password and the DSN has none: redis://USER:PASSWORD@…"
        }
        "WRONGPASS" if server.login.user.is_some() => {
            "check user and password in the DSN; the user may be unknown to this server, or off"
        }
        _ if code == "WRONGPASS" || says("without any password configured") => "check user and password in the DSN",
        "NOPERM" => "check user and password in the DSN, and the rights of the user",
        _ if says("DB index") => "check the database in the DSN",
        _ if says("max number of clients") => "raise 'maxclients' of Redis, or see who keeps so many connections",
        _ => "logging in failed",
    };
    let detail = server.redact(detail);
    Fault::Refused(code.to_owned(), format!("{detail} (user '{}' at {}: {advice})", user(server), server.redacted()))
}

/// A text that HELLO tells.
fn field(fields: &[(Value, Value)], wanted: &str) -> Option<String> {
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        _ => String::new(),
    };
    fields.iter().find(|(name, _)| text(name) == wanted).map(|(_, value)| text(value))
}

/// Scripts need commands of 6.2.
fn version(server: &Server, fields: &[(Value, Value)]) -> Result<(u32, u32), Fault> {
    let Some(found) = field(fields, "version") else { return Ok((0, 0)) };
    let mut parts = found.split('.').map(|part| part.parse().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if version < (6, 2) {
        return Err(too_old(server, Some(found), ""));
    }
    Ok(version)
}
