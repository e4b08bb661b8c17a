//! Facts about the servers behind a queue that endanger jobs, each with a cure.

mod server;

use super::client::{Client, LIMITS};
use super::connection::Fault;
use super::dsn::Topology;
use super::error::{Error, Result};
use super::install::count_installed;
use super::{reply, resolver};
use server::Facts;
pub use server::TESTED_SERVERS;
use std::time::{Instant, SystemTime};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Ok,
    Warn,
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub level: Level,
    pub check: &'static str,
    pub message: String,
}

/// Settings of a server that can lose jobs, or refuse them. Each takes a command of its own: Redis 6.2 tells one setting a command.
const SETTINGS: [&str; 9] = [
    LIMITS[0],
    LIMITS[1],
    LIMITS[2],
    LIMITS[3],
    "appendfsync",
    "no-appendfsync-on-rewrite",
    "min-replicas-to-write",
    "min-replicas-max-lag",
    "stop-writes-on-bgsave-error",
];

/// Checks each server that has jobs (version, eviction, memory, persistence, replicas, role, disk, clock, latency, connections, payload, scripts), and the
/// Sentinels. A check that the user has no right to is unknown: all of them take `+info`, `+config|get` and `+script|exists`.
///
/// # Errors
/// Connection and server errors.
pub fn examine_servers(client: &Client, max_payload: usize) -> Result<Vec<Check>> {
    let nodes = client.nodes()?;
    let is_one = nodes.len() == 1;
    let mut checks = Vec::new();
    for (server, client) in nodes {
        for check in examine(&client, max_payload)? {
            let message = if is_one { check.message } else { format!("{}: {}", server.target, check.message) };
            checks.push(Check { message, ..check });
        }
    }
    if let Topology::Sentinel { service, .. } = &client.key().dsn.topology {
        checks.push(sentinels(client, service));
    }
    Ok(checks)
}

fn examine(client: &Client, max_payload: usize) -> Result<Vec<Check>> {
    let (started, before) = (Instant::now(), SystemTime::now());
    let time = unless_denied(client.run(|request, _, _| request.command(&[b"TIME"]))).map_err(doing)?;
    let latency_ms = started.elapsed().as_secs_f64() * 1000.0;
    let info = unless_denied(client.run(|request, _, _| request.command(&[b"INFO"]))).map_err(doing)?;
    let settings = client.run(|request, _, _| {
        request.all_replies();
        SETTINGS.iter().for_each(|setting| request.command(&[b"CONFIG", b"GET", setting.as_bytes()]));
    });
    let settings = settings.and_then(reply::all).map_err(doing)?;
    let info = info.map(|info| reply::text(info).unwrap_or_default());
    let mut checks = Facts::new(info.as_deref(), settings).checks(client.may_move(), max_payload);
    let clock = time.map_or_else(|| unknown("clock", "+time"), |time| server::clock(&time, before, latency_ms));
    checks.extend([clock, server::latency(latency_ms), scripts(client)?]);
    Ok(checks)
}

/// `None`: the user has no right to that.
pub(super) fn unless_denied<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Error::Server { code, .. }) if code == "NOPERM" => Ok(None),
        result => result.map(Some),
    }
}

/// A check whose command the user may not send.
pub(super) fn unknown(check: &'static str, rights: &str) -> Check {
    finding(
        check,
        Level::Warn,
        format!("unknown: this user has no right to look; give it {rights}, or ask as one that has it"),
    )
}

/// Only users that may not send scripts need them there.
fn scripts(client: &Client) -> Result<Check> {
    let message = match count_installed(client) {
        Ok((there, all)) if there == all => format!("all {all} scripts are installed"),
        Ok((there, all)) => format!(
            "{there} of {all} scripts are there; clients send the others when they need them, but for users without +eval, who need \
             delayqueue install-scripts"
        ),
        Err(Error::Server { .. }) => {
            "unknown: this user has no right to look whether they are there, which only users without +eval need; give it \
                                      +script|exists to know"
                .to_owned()
        }
        Err(error) => return Err(doing(error)),
    };
    Ok(finding("scripts", Level::Ok, message))
}

fn sentinels(client: &Client, service: &str) -> Check {
    match resolver::count_sentinels(&client.key().dsn, client.key().connect_timeout) {
        Ok((known, quorum)) if known >= 3 && quorum > 1 => finding(
            "sentinel",
            Level::Ok,
            format!("{known} Sentinels watch '{service}', {quorum} of them agree that it is down"),
        ),
        Ok((known, quorum)) => finding(
            "sentinel",
            Level::Warn,
            format!(
                "{known} Sentinel(s) watch '{service}' with a quorum of {quorum}: the failure of one host may keep them from a failover, \
                 or make them take it too soon; run three of them on three hosts with a quorum of 2"
            ),
        ),
        Err(Fault::Unsent(why) | Fault::Sent(why) | Fault::Refused(_, why)) => {
            finding("sentinel", Level::Warn, format!("the Sentinels do not tell of themselves: {why}"))
        }
    }
}

pub(super) fn doing(error: Error) -> Error {
    error.while_doing(|| "examining Redis".into())
}

pub(super) fn finding(check: &'static str, level: Level, message: impl Into<String>) -> Check {
    Check { level, check, message: message.into() }
}
