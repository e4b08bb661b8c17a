//! Sentinels know which server is the master of a service.

use super::first_answer::{ask, explained, first_answer};
use super::{MASTER_IS_KNOWN_FOR, target};
use crate::core::connection::{Connection, Fault};
use crate::core::dsn::{Dsn, Server, Target};
use crate::core::reply;
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

const QUESTION: &[&[u8]] = &[b"SENTINEL", b"GET-MASTER-ADDR-BY-NAME"];
/// A Sentinel that told before and is silent now holds a request up for no longer than this; then all of them are asked.
const PATIENCE: Duration = Duration::from_millis(200);

/// The answer of the Sentinels, and when it came.
#[derive(Default)]
pub(super) struct Master {
    known: Option<(Arc<Server>, Instant)>,
    is_doubted: bool,
    /// To the Sentinel that answered last.
    connection: Option<Connection>,
}

impl Master {
    pub(super) fn doubt(&mut self) {
        self.is_doubted = true;
    }

    /// Asks again when the answer is old or doubted. While no Sentinel answers, an answer that nobody doubts still holds.
    pub(super) fn find(
        &mut self,
        dsn: &Dsn,
        sentinels: &[Arc<Server>],
        service: &str,
        time: Duration,
    ) -> Result<Arc<Server>, Fault> {
        if let Some((server, asked)) = &self.known
            && !self.is_doubted
            && asked.elapsed() < MASTER_IS_KNOWN_FOR
        {
            return Ok(Arc::clone(server));
        }
        let undoubted = self.known.clone().filter(|_| !self.is_doubted);
        let time = if undoubted.is_some() { time.min(PATIENCE) } else { time };
        let asked = match self.ask_again(service, time) {
            Some(found) => Ok(found),
            None => self.ask_all(dsn, sentinels, service, time),
        };
        let found = match (asked, undoubted) {
            (Ok(found), _) => found,
            (Err(_), Some((server, _))) => server.target.clone(),
            (Err(fault), None) => return Err(fault),
        };
        self.is_doubted = false;
        let server = match self.known.take() {
            Some((server, _)) if server.target == found => server,
            _ => dsn.server(found),
        };
        self.known = Some((Arc::clone(&server), Instant::now()));
        Ok(server)
    }

    fn ask_again(&mut self, service: &str, time: Duration) -> Option<Target> {
        // A Sentinel that nobody doubts is enough; after a failover another Sentinel may know it first.
        let mut connection = self.connection.take().filter(|connection| !self.is_doubted && connection.is_usable())?;
        let command: Vec<&[u8]> = QUESTION.iter().copied().chain([service.as_bytes()]).collect();
        let found = ask(&mut connection, &command, read, Instant::now() + time.min(PATIENCE)).ok()?;
        self.connection = Some(connection);
        Some(found)
    }

    fn ask_all(
        &mut self,
        dsn: &Dsn,
        sentinels: &[Arc<Server>],
        service: &str,
        time: Duration,
    ) -> Result<Target, Fault> {
        let explain = |why: &str| {
            let cure = if why.contains("unknown command") {
                ": this is no Sentinel; Sentinels listen on port 26379, if it was not changed"
            } else if ["NOAUTH", "WRONGPASS", "NOPERM"].iter().any(|code| why.contains(code)) {
                ": the login for Sentinels is sentinel_user and sentinel_password in the DSN"
            } else {
                ""
            };
            format!("no Sentinel of {} names the master of '{service}' ({why}){cure}", dsn.redacted())
        };
        let (found, connection) = first_answer(sentinels, QUESTION, Some(service), |value, _| read(value), time)
            .map_err(|fault| explained(fault, explain))?;
        self.connection = Some(connection);
        Ok(found)
    }
}

/// How many Sentinels watch the service, and their quorum.
pub(super) fn count(sentinels: &[Arc<Server>], service: &str, time: Duration) -> Result<(u64, u64), Fault> {
    let read = |value: &Value, _: &Server| {
        let Value::Map(fields) = value else { return Err("this is no answer of a Sentinel".to_owned()) };
        let number = |wanted: &str| {
            let mut of_name =
                fields.iter().filter(|(name, _)| reply::text(name.clone()).is_some_and(|name| name == wanted));
            of_name.find_map(|(_, value)| reply::text(value.clone())?.parse::<u64>().ok())
        };
        match (number("num-other-sentinels"), number("quorum")) {
            (Some(others), Some(quorum)) => Ok((others + 1, quorum)),
            _ => Err("it tells no quorum".to_owned()),
        }
    };
    first_answer(sentinels, &[b"SENTINEL", b"MASTER"], Some(service), read, time).map(|(counts, _)| counts)
}

fn read(value: &Value) -> Result<Target, String> {
    let unknown = || "it knows no service of that name, see its 'sentinel monitor'".to_owned();
    let Value::Array(parts) = value else { return Err(unknown()) };
    let mut texts = parts.iter().cloned().filter_map(reply::text);
    match (texts.next(), texts.next().and_then(|port| port.parse().ok())) {
        (Some(host), Some(port)) => Ok(target(&host, port)),
        _ => Err(unknown()),
    }
}
