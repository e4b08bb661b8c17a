//! Facts about the Redis behind a queue that endanger jobs, each with a cure.

use super::Queue;
use crate::core::error::{Error, Result};
use crate::core::{reply, scripts};
use redis::Value;
use std::collections::HashMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

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

impl Queue {
    /// Checks the server (version, eviction, memory, persistence, role, disk, clock, latency, connections). Needs the ACL right `+info`.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn examine_server(&self) -> Result<Vec<Check>> {
        let started = Instant::now();
        let before = SystemTime::now();
        let time = self.client.run(|request, _, _| request.command(&[b"TIME"])).map_err(doing)?;
        let latency_ms = started.elapsed().as_secs_f64() * 1000.0;
        let info = self.client.run(|request, _, _| request.command(&[b"INFO"])).map_err(doing)?;
        let text = reply::text(info).unwrap_or_default();
        let facts: HashMap<&str, &str> = text.lines().filter_map(|line| line.trim().split_once(':')).collect();
        Ok(vec![
            version(&facts),
            eviction(&facts),
            memory(&facts),
            persistence(&facts),
            role(&facts),
            last_writes(&facts),
            clock(&time, before, latency_ms),
            latency(latency_ms),
            connections(&facts),
        ])
    }

    /// Checks the queue. `repair`: jobs of it that lie in no state become ready again.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn examine(&self, repair: bool) -> Result<Vec<Check>> {
        let schema = self.examine_schema().map_err(doing)?;
        let jobs = if repair { self.repair().map_err(doing)? } else { self.examine_jobs()? };
        Ok(vec![schema, jobs])
    }

    /// A newer version of delayqueue marks its queues in `jobs`.
    fn examine_schema(&self) -> Result<Check> {
        let schema = self.client.run(|request, _, _| request.command(&[b"HGET", self.keys.jobs(), b""]));
        let schema = schema.map_err(|error| self.naming_key(error))?;
        Ok(match reply::text(schema) {
            None => finding("schema", Level::Ok, format!("queue '{}' has the schema of this version", self.name)),
            Some(newer) => finding(
                "schema",
                Level::Error,
                format!("queue '{}' has schema {newer} of a newer version; update delayqueue here", self.name),
            ),
        })
    }

    fn examine_jobs(&self) -> Result<Check> {
        let unplaced = self.stats()?.unplaced;
        Ok(match unplaced {
            0 => finding("jobs", Level::Ok, format!("every job of queue '{}' lies in one state", self.name)),
            1.. => finding(
                "jobs",
                Level::Error,
                format!(
                    "{unplaced} jobs of queue '{}' lie in no state and are never served: somebody has deleted a key; run \
                     delayqueue doctor --repair",
                    self.name
                ),
            ),
            ..0 => finding(
                "jobs",
                Level::Warn,
                format!(
                    "queue '{}' has {} entries without a job, which workers drop when they meet them; jobs were deleted by hand",
                    self.name, -unplaced
                ),
            ),
        })
    }

    fn repair(&self) -> Result<Check> {
        let (mut cursor, mut repaired) = ("0".to_owned(), 0);
        loop {
            let mut reply = self.script(&scripts::REPAIR, &[cursor.as_bytes()])?;
            cursor = reply.text()?;
            repaired += reply.int()?;
            if cursor == "0" {
                let message = match repaired {
                    0 => format!("every job of queue '{}' lies in one state", self.name),
                    _ => format!("{repaired} jobs of queue '{}' lay in no state and are ready again", self.name),
                };
                return Ok(finding("jobs", Level::Ok, message));
            }
        }
    }
}

fn doing(error: Error) -> Error {
    error.while_doing(|| "examining Redis".into())
}

fn finding(check: &'static str, level: Level, message: impl Into<String>) -> Check {
    Check { level, check, message: message.into() }
}

fn fact<'a>(facts: &HashMap<&str, &'a str>, name: &str) -> &'a str {
    facts.get(name).copied().unwrap_or("")
}

fn version(facts: &HashMap<&str, &str>) -> Check {
    let found = facts.get("valkey_version").or_else(|| facts.get("redis_version")).copied().unwrap_or("unknown");
    finding(
        "version",
        Level::Ok,
        format!("{} {found}", if facts.contains_key("valkey_version") { "Valkey" } else { "Redis" }),
    )
}

fn eviction(facts: &HashMap<&str, &str>) -> Check {
    match fact(facts, "maxmemory_policy") {
        "noeviction" => finding(
            "eviction",
            Level::Ok,
            "maxmemory-policy is noeviction: a full Redis refuses pushes and loses nothing",
        ),
        policy if policy.starts_with("volatile") => finding(
            "eviction",
            Level::Ok,
            format!("maxmemory-policy is {policy}: queue keys have no TTL and are never evicted"),
        ),
        policy => finding(
            "eviction",
            Level::Error,
            format!("maxmemory-policy is {policy}: a full Redis deletes whole queues; set it to noeviction"),
        ),
    }
}

fn memory(facts: &HashMap<&str, &str>) -> Check {
    let number = |name: &str| fact(facts, name).parse::<u64>().unwrap_or(0);
    let (used, most) = (number("used_memory"), number("maxmemory"));
    let mib = |bytes: u64| bytes >> 20;
    if most == 0 {
        return finding("memory", Level::Ok, format!("{} MiB are used; maxmemory is not set", mib(used)));
    }
    let level = if used >= most {
        Level::Error
    } else if used / 8 >= most / 10 {
        Level::Warn
    } else {
        Level::Ok
    };
    let cure = if level == Level::Ok { "" } else { ": pushes are refused when it is reached; raise it or add workers" };
    finding("memory", level, format!("{} MiB of maxmemory {} MiB are used{cure}", mib(used), mib(most)))
}

fn persistence(facts: &HashMap<&str, &str>) -> Check {
    if fact(facts, "aof_enabled") == "1" {
        return finding(
            "persistence",
            Level::Ok,
            "AOF is on: a crash of Redis loses nothing, a power cut about a second at most",
        );
    }
    finding(
        "persistence",
        Level::Warn,
        "AOF is off: a crash of Redis loses every job pushed since the last snapshot; set appendonly yes",
    )
}

fn role(facts: &HashMap<&str, &str>) -> Check {
    match fact(facts, "role") {
        "master" => finding("role", Level::Ok, format!("master with {} replica(s)", fact(facts, "connected_slaves"))),
        other => {
            finding("role", Level::Error, format!("this is a {other}: it cannot be written to; connect to the master"))
        }
    }
}

fn last_writes(facts: &HashMap<&str, &str>) -> Check {
    for (name, cure) in [
        ("aof_last_write_status", "the AOF cannot be written; check the disk"),
        ("rdb_last_bgsave_status", "the last snapshot failed; check the disk and the memory for fork"),
    ] {
        let status = fact(facts, name);
        if !status.is_empty() && status != "ok" {
            return finding("disk", Level::Error, format!("{name} is {status}: {cure}"));
        }
    }
    finding("disk", Level::Ok, "the last write to disk went well")
}

fn clock(time: &Value, before: SystemTime, latency_ms: f64) -> Check {
    let server_ms = reply::time_us(time).map_or(0.0, |us| us as f64 / 1000.0);
    let here_ms =
        before.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0) + latency_ms / 2.0;
    let skew_ms = server_ms - here_ms;
    let (level, cure) = if skew_ms.abs() < 1000.0 { (Level::Ok, "") } else { (Level::Warn, "; run NTP on both hosts") };
    finding("clock", level, format!("Redis' clock is {skew_ms:+.0} ms from this host's; only Redis' counts{cure}"))
}

fn latency(latency_ms: f64) -> Check {
    let (level, cure) =
        if latency_ms < 10.0 { (Level::Ok, "") } else { (Level::Warn, "; move worker and Redis closer") };
    finding("latency", level, format!("a round trip took {latency_ms:.2} ms{cure}"))
}

fn connections(facts: &HashMap<&str, &str>) -> Check {
    let number = |name: &str| fact(facts, name).parse::<u64>().unwrap_or(0);
    let (used, most) = (number("connected_clients"), number("maxclients"));
    if most > 0 && used * 10 > most * 8 {
        return finding("connections", Level::Warn, format!("{used} of {most} connections are used; raise maxclients"));
    }
    finding("connections", Level::Ok, format!("{used} of {most} connections are used"))
}
