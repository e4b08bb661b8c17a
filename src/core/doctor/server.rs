//! Facts about one server.

use super::{Check, Level, finding, unknown};
use crate::core::client::Limits;
use crate::core::clock::offset_ms;
use crate::core::reply;
use redis::Value;
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(test)]
mod tests;

/// The servers on which `./build.sh test` and `./build.sh matrix` run all tests of the core and of the PHP surface.
pub const TESTED_SERVERS: [(&str, &[&str]); 2] = [("Redis", &["6.2", "7.0", "8.0"]), ("Valkey", &["8.1", "9.1"])];

/// Checks that need INFO.
const FROM_INFO: [&str; 8] =
    ["version", "eviction", "memory", "persistence", "role", "replication", "disk", "connections"];

/// The facts that a server tells of itself.
pub(super) struct Facts<'a> {
    /// `None`: the user may not ask.
    info: Option<HashMap<&'a str, &'a str>>,
    /// `None`: the user may not ask for settings.
    settings: Option<HashMap<String, String>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(info: Option<&'a str>, settings: impl Iterator<Item = Value>) -> Self {
        let info = info.map(|info| info.lines().filter_map(|line| line.trim().split_once(':')).collect());
        Self { info, settings: read_settings(settings) }
    }

    fn text(&self, name: &str) -> &'a str {
        self.info.as_ref().and_then(|info| info.get(name)).copied().unwrap_or("")
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    fn setting(&self, name: &str) -> Option<&str> {
        self.settings.as_ref()?.get(name).map(String::as_str)
    }

    pub(super) fn checks(&self, may_fail_over: bool, max_payload: usize) -> Vec<Check> {
        if self.info.is_none() {
            let mut checks: Vec<Check> = FROM_INFO.into_iter().map(|check| unknown(check, "+info")).collect();
            checks.extend([self.settings(), self.payload(max_payload)]);
            return checks;
        }
        vec![
            self.version(),
            self.eviction(),
            self.memory(),
            self.persistence(),
            self.role(),
            self.replication(may_fail_over),
            self.settings(),
            self.last_writes(),
            self.connections(),
            self.payload(max_payload),
        ]
    }

    fn version(&self) -> Check {
        let kinds = [
            ("valkey_version", "Valkey"),
            ("dragonfly_version", "Dragonfly"),
            ("garnet_version", "Garnet"),
            ("redict_version", "Redict"),
            ("redis_version", if self.text("mvcc_depth").is_empty() { "Redis" } else { "KeyDB" }),
        ];
        let found =
            kinds.iter().map(|(field, kind)| (*kind, self.text(field))).find(|(_, version)| !version.is_empty());
        let (kind, version) = found.unwrap_or(("server", "of unknown version"));
        let Some((_, tested)) = TESTED_SERVERS.iter().find(|(known, _)| *known == kind) else {
            return finding(
                "version",
                Level::Warn,
                format!("{kind} {version}: delayqueue was never tested with {kind}"),
            );
        };
        let is_tested =
            tested.iter().any(|tested| version.strip_prefix(tested).is_some_and(|rest| rest.starts_with('.')));
        let said = match is_tested {
            true => "delayqueue was tested with it".to_owned(),
            false => format!("delayqueue was tested with {}", tested.join(", ")),
        };
        finding("version", Level::Ok, format!("{kind} {version}; {said}"))
    }

    fn eviction(&self) -> Check {
        match self.text("maxmemory_policy") {
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
            "" => finding(
                "eviction",
                Level::Warn,
                "the server does not tell its maxmemory-policy: see that a full one refuses writes and deletes nothing",
            ),
            policy => finding(
                "eviction",
                Level::Error,
                format!("maxmemory-policy is {policy}: a full Redis deletes whole queues; set it to noeviction"),
            ),
        }
    }

    fn memory(&self) -> Check {
        let (used, most) = (self.number("used_memory"), self.number("maxmemory"));
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
        let cure =
            if level == Level::Ok { "" } else { ": pushes are refused when it is reached; raise it or add workers" };
        finding("memory", level, format!("{} MiB of maxmemory {} MiB are used{cure}", mib(used), mib(most)))
    }

    fn persistence(&self) -> Check {
        if self.text("aof_enabled") != "1" {
            return finding(
                "persistence",
                Level::Warn,
                "AOF is off: a crash of Redis loses every job pushed since the last snapshot; set appendonly yes",
            );
        }
        if self.setting("no-appendfsync-on-rewrite") == Some("yes") {
            return finding(
                "persistence",
                Level::Warn,
                "AOF is on, but no-appendfsync-on-rewrite is yes: a power cut during a rewrite loses half a minute; set it to no",
            );
        }
        match self.setting("appendfsync") {
            Some("always") => {
                finding("persistence", Level::Ok, "AOF is on with appendfsync always: a crash loses nothing")
            }
            Some("no") => finding(
                "persistence",
                Level::Warn,
                "AOF is on, but appendfsync is no: a power cut loses half a minute; set it to everysec or always",
            ),
            None => finding("persistence", Level::Ok, "AOF is on; appendfsync is unknown"),
            Some(_) => finding(
                "persistence",
                Level::Ok,
                "AOF is on: a crash of Redis or a power cut loses about a second at most; appendfsync always loses nothing",
            ),
        }
    }

    fn role(&self) -> Check {
        match self.text("role") {
            "master" => finding("role", Level::Ok, format!("master with {} replica(s)", self.text("connected_slaves"))),
            "" => finding("role", Level::Warn, "the server does not tell whether it is a master"),
            other => finding(
                "role",
                Level::Error,
                format!("this is a {other}: it cannot be written to; connect to the master"),
            ),
        }
    }

    /// A master that fails takes along what no replica has.
    fn replication(&self, may_fail_over: bool) -> Check {
        let replicas = self.number("connected_slaves");
        let lag = self.setting("min-replicas-max-lag").unwrap_or("10");
        match self.setting("min-replicas-to-write").and_then(|many| many.parse::<u64>().ok()) {
            _ if replicas == 0 && may_fail_over => {
                finding("replication", Level::Warn, "no replica is connected: no other server can take over; add one")
            }
            _ if replicas == 0 => finding("replication", Level::Ok, "no replicas, and none that could take over"),
            Some(0) => finding(
                "replication",
                Level::Warn,
                "min-replicas-to-write is 0: a master that is cut off, or is replaced, takes writes that are lost; set it to 1 with \
                 min-replicas-max-lag 10, and for jobs that must not be lost use the option durability 'replica'",
            ),
            Some(many) if lag == "0" => finding(
                "replication",
                Level::Warn,
                format!("min-replicas-max-lag is 0, which turns min-replicas-to-write {many} off; set it to 10"),
            ),
            Some(many) => finding(
                "replication",
                Level::Ok,
                format!(
                    "a write needs {many} replica(s) that were there {lag} s ago; durability 'replica' waits for one"
                ),
            ),
            None => {
                finding("replication", Level::Ok, format!("{replicas} replica(s); min-replicas-to-write is unknown"))
            }
        }
    }

    fn settings(&self) -> Check {
        match &self.settings {
            None => finding(
                "settings",
                Level::Warn,
                "unknown: this user has no right to look at appendfsync, min-replicas-to-write and others; give it +config|get, or look yourself",
            ),
            Some(_) if self.setting("stop-writes-on-bgsave-error") == Some("no") => finding(
                "settings",
                Level::Warn,
                "stop-writes-on-bgsave-error is no: Redis takes jobs although it cannot save them; set it to yes",
            ),
            Some(_) => finding("settings", Level::Ok, "the settings that endanger jobs were read"),
        }
    }

    fn last_writes(&self) -> Check {
        for (name, cure) in [
            ("aof_last_write_status", "the AOF cannot be written; check the disk"),
            ("rdb_last_bgsave_status", "the last snapshot failed; check the disk and the memory for fork"),
        ] {
            let status = self.text(name);
            if !status.is_empty() && status != "ok" {
                return finding("disk", Level::Error, format!("{name} is {status}: {cure}"));
            }
        }
        finding("disk", Level::Ok, "the last write to disk went well")
    }

    /// A job takes some more bytes than its payload.
    fn payload(&self, max_payload: usize) -> Check {
        if self.settings.is_none() {
            return unknown("payload", "+config|get");
        }
        match Limits::read(|name| self.setting(name)).passed_by(max_payload.saturating_add(1)) {
            Some((name, limit)) => finding(
                "payload",
                Level::Warn,
                format!(
                    "maxPayload is {max_payload} bytes, but {name} is {limit}: the server closes the connection of a larger job; raise \
                     {name}, or lower maxPayload"
                ),
            ),
            None => {
                finding("payload", Level::Ok, format!("the server takes jobs up to maxPayload, {max_payload} bytes"))
            }
        }
    }

    fn connections(&self) -> Check {
        let (used, most) = (self.number("connected_clients"), self.number("maxclients"));
        if most > 0 && used * 10 > most * 8 {
            let message = format!("{used} of {most} connections are used; raise maxclients");
            return finding("connections", Level::Warn, message);
        }
        finding("connections", Level::Ok, format!("{used} of {most} connections are used"))
    }
}

/// The replies to CONFIG GET. A refusal of one is a refusal of all.
fn read_settings(replies: impl Iterator<Item = Value>) -> Option<HashMap<String, String>> {
    let mut settings = HashMap::new();
    for reply in replies {
        let Value::Map(pairs) = reply else { return None };
        settings.extend(pairs.into_iter().filter_map(|(name, value)| Some((reply::text(name)?, reply::text(value)?))));
    }
    Some(settings)
}

/// The answer may have taken all of the round trip, or none of it: that much of a difference proves nothing. Tests that have moved the time are told,
/// and do not fail for it.
pub(super) fn clock(time: &Value, before: SystemTime, latency_ms: f64) -> Check {
    let server_ms = reply::time_us(time).map_or(0.0, |us| us as f64 / 1000.0);
    let here_ms =
        before.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0) + latency_ms / 2.0;
    let skew_ms = (server_ms - here_ms).round() + 0.0; // no -0
    let (level, cure) = match skew_ms.abs() - latency_ms / 2.0 {
        certain_ms if certain_ms <= 1000.0 => (Level::Ok, ""),
        _ if offset_ms() != 0 => (Level::Warn, "; run NTP on both hosts"),
        _ => (Level::Error, "; run NTP on both hosts"),
    };
    finding("clock", level, format!("Redis' clock is {skew_ms:+.0} ms from this host's; only Redis' counts{cure}"))
}

pub(super) fn latency(latency_ms: f64) -> Check {
    let (level, cure) =
        if latency_ms < 10.0 { (Level::Ok, "") } else { (Level::Warn, "; move worker and Redis closer") };
    finding("latency", level, format!("a round trip took {latency_ms:.2} ms{cure}"))
}
