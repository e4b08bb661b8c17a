//! Findings by the facts that servers tell.

use super::*;
use crate::core::clock::set_offset_ms;
use Level::{Error, Ok, Warn};

/// A server on which nothing endangers jobs.
const INFO: &str = "redis_version:7.0.15\r\nrole:master\r\nconnected_slaves:1\r\nused_memory:104857600\r\nmaxmemory:1073741824\r\n\
                    maxmemory_policy:noeviction\r\naof_enabled:1\r\naof_last_write_status:ok\r\nrdb_last_bgsave_status:ok\r\n\
                    connected_clients:10\r\nmaxclients:10000\r\n";
const SETTINGS: &str = "appendfsync:everysec no-appendfsync-on-rewrite:no min-replicas-to-write:1 min-replicas-max-lag:10 \
                        stop-writes-on-bgsave-error:yes proto-max-bulk-len:536870912 client-query-buffer-limit:1073741824 \
                        maxmemory-clients:0 maxmemory:1073741824";
const MAX_PAYLOAD: usize = 1 << 20;

/// The replies to CONFIG GET, one each.
fn replies(settings: &str) -> Vec<Value> {
    let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
    let reply = |(name, value)| Value::Map(vec![(text(name), text(value))]);
    settings.split_whitespace().map(|setting| reply(setting.split_once(':').unwrap())).collect()
}

/// The finding for INFO with these facts replaced; `name:` removes one.
fn found(check: &str, facts: &str, settings: &str, may_fail_over: bool) -> Check {
    let replaced = |line: &&str| !facts.split_whitespace().any(|fact| fact.split(':').next() == line.split(':').next());
    let told = facts.split_whitespace().filter(|fact| !fact.ends_with(':'));
    let info: Vec<&str> = INFO.lines().filter(replaced).chain(told).collect();
    let all = format!("{SETTINGS} {settings}"); // later ones count
    let checks = Facts::new(Some(&info.join("\r\n")), replies(&all).into_iter()).checks(may_fail_over, MAX_PAYLOAD);
    checks.into_iter().find(|found| found.check == check).unwrap()
}

fn assert_found(check: &str, facts: &str, settings: &str, level: Level, words: &[&str]) {
    let found = found(check, facts, settings, true);
    assert_eq!(found.level, level, "{facts} {settings}: {found:?}");
    for word in words {
        assert!(found.message.contains(word), "'{word}' is missing: {found:?}");
    }
}

#[test]
fn a_server_on_which_nothing_endangers_jobs_is_all_right() {
    let checks = Facts::new(Some(INFO), replies(SETTINGS).into_iter()).checks(true, MAX_PAYLOAD);
    assert!(checks.iter().all(|check| check.level == Ok), "{checks:?}");
    assert_eq!(checks.len(), 10);
}

#[test]
fn a_version_is_named_with_its_kind_and_whether_it_was_tested() {
    let was = |facts: &str, level, words: &[&str]| assert_found("version", facts, "", level, words);
    was("", Ok, &["Redis 7.0.15", "was tested with it"]);
    was("redis_version:8.0.2", Ok, &["Redis 8.0.2", "was tested with it"]);
    was("redis_version:7.2.4", Ok, &["Redis 7.2.4", "tested with 6.2, 7.0, 8.0"]);
    was("redis_version:7.01.1", Ok, &["tested with 6.2, 7.0, 8.0"]);
    was("redis_version:7.2.4 valkey_version:8.1.1", Ok, &["Valkey 8.1.1", "was tested with it"]);
    was("redis_version:7.2.4 valkey_version:9.0.0", Ok, &["Valkey 9.0.0", "tested with 8.1, 9.1"]);
    was("redis_version:6.3.4 mvcc_depth:0", Warn, &["KeyDB 6.3.4", "never tested with KeyDB"]);
    for (field, kind) in
        [("dragonfly_version", "Dragonfly"), ("garnet_version", "Garnet"), ("redict_version", "Redict")]
    {
        was(&format!("{field}:1.2.3"), Warn, &[&format!("{kind} 1.2.3"), "never tested"]);
    }
    was("redis_version:", Warn, &["server of unknown version", "never tested"]);
}

#[test]
fn a_policy_that_deletes_keys_is_an_error() {
    let was = |facts: &str, level, words: &[&str]| assert_found("eviction", facts, "", level, words);
    for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random"] {
        was(&format!("maxmemory_policy:{policy}"), Error, &[policy, "set it to noeviction"]);
    }
    was("maxmemory_policy:volatile-lru", Ok, &["volatile-lru", "never evicted"]);
    was("maxmemory_policy:", Warn, &["does not tell"]);
}

#[test]
fn little_memory_is_told_before_pushes_are_refused() {
    let was = |facts: &str, level, words: &[&str]| assert_found("memory", facts, "", level, words);
    was("maxmemory:0", Ok, &["100 MiB", "maxmemory is not set"]);
    was("maxmemory:125829120", Warn, &["100 MiB", "120 MiB", "raise it or add workers"]);
    was("maxmemory:104857600", Error, &["raise it"]);
}

#[test]
fn what_a_crash_or_a_power_cut_loses_is_told() {
    let was =
        |facts: &str, settings: &str, level, words: &[&str]| assert_found("persistence", facts, settings, level, words);
    was("aof_enabled:0", "", Warn, &["AOF is off", "set appendonly yes"]);
    was("", "appendfsync:always", Ok, &["loses nothing"]);
    was("", "appendfsync:everysec", Ok, &["about a second", "appendfsync always"]);
    was("", "appendfsync:no", Warn, &["appendfsync is no", "set it to everysec or always"]);
    for fsync in ["appendfsync:always", "appendfsync:everysec"] {
        was("", &format!("{fsync} no-appendfsync-on-rewrite:yes"), Warn, &["during a rewrite", "set it to no"]);
    }
}

#[test]
fn a_server_that_is_no_master_is_an_error() {
    assert_found("role", "", "", Ok, &["master with 1 replica(s)"]);
    assert_found("role", "role:slave", "", Error, &["this is a slave", "connect to the master"]);
    assert_found("role", "role:", "", Warn, &["does not tell"]);
}

#[test]
fn a_failover_that_would_lose_jobs_is_told() {
    let was =
        |facts: &str, settings: &str, level, words: &[&str]| assert_found("replication", facts, settings, level, words);
    was("", "", Ok, &["needs 1 replica(s)", "10 s ago"]);
    was("", "min-replicas-to-write:0", Warn, &["min-replicas-to-write is 0", "set it to 1", "durability 'replica'"]);
    was("", "min-replicas-max-lag:0", Warn, &["min-replicas-max-lag is 0", "set it to 10"]);
    was("connected_slaves:0", "", Warn, &["no replica is connected", "add one"]);
    let alone = found("replication", "connected_slaves:0", "min-replicas-to-write:0", false);
    assert_eq!(alone.level, Ok, "nothing can take over: {alone:?}");
    let with_replica = found("replication", "", "min-replicas-to-write:0", false);
    assert_eq!(with_replica.level, Warn, "somebody may by hand: {with_replica:?}");
}

#[test]
fn a_server_that_takes_jobs_without_saving_them_is_told() {
    assert_found("settings", "", "stop-writes-on-bgsave-error:no", Warn, &["cannot save", "set it to yes"]);
    assert_found("settings", "", "", Ok, &["were read"]);
    assert_found("disk", "aof_last_write_status:err", "", Error, &["aof_last_write_status is err", "check the disk"]);
    assert_found("disk", "rdb_last_bgsave_status:err", "", Error, &["last snapshot failed", "memory for fork"]);
    assert_found("disk", "rdb_last_bgsave_status: aof_last_write_status:", "", Ok, &["went well"]);
}

#[test]
fn settings_that_the_user_may_not_see_are_unknown_and_not_guessed() {
    let refused = vec![Value::Nil; 5];
    let checks = Facts::new(Some(INFO), refused.into_iter()).checks(true, MAX_PAYLOAD);
    let of = |name: &str| checks.iter().find(|found| found.check == name).unwrap();
    assert_eq!(of("settings").level, Warn);
    assert!(of("settings").message.contains("+config|get"), "{checks:?}");
    for check in ["persistence", "replication", "payload"] {
        assert!(of(check).message.contains("unknown"), "{checks:?}");
    }
}

#[test]
fn a_server_that_takes_no_request_as_large_as_the_largest_payload_is_found() {
    assert_found("payload", "", "", Ok, &["1048576 bytes"]);
    assert_found("payload", "", "proto-max-bulk-len:1048577", Ok, &[]);
    for limit in ["proto-max-bulk-len", "client-query-buffer-limit", "maxmemory-clients"] {
        assert_found("payload", "", &format!("{limit}:1048576"), Warn, &[limit, "1048576", "lower maxPayload"]);
    }
    assert_found("payload", "", "maxmemory-clients:1% maxmemory:10485760", Warn, &["maxmemory-clients is 104857"]);
}

#[test]
fn connections_clock_and_latency_have_their_limits() {
    assert_found("connections", "connected_clients:8001", "", Warn, &["8001 of 10000", "raise maxclients"]);
    assert_found("connections", "connected_clients:8000", "", Ok, &["8000 of 10000"]);
    assert_found("connections", "maxclients:", "", Ok, &[]);
    let here = UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000);
    let redis =
        |seconds: i64| Value::Array([seconds, 0].map(|part| Value::BulkString(part.to_string().into_bytes())).to_vec());
    for (seconds, level) in [(1_800_000_000, Ok), (1_800_000_001, Ok), (1_800_000_002, Error), (1_799_999_998, Error)] {
        let clock = clock(&redis(seconds), here, 0.0);
        assert_eq!((clock.level, clock.message.contains("NTP")), (level, level == Error), "{clock:?}");
        assert!(!clock.message.contains("-0 ms"), "{clock:?}");
    }
    assert_eq!(clock(&redis(1_800_000_003), here, 3000.0).level, Ok, "a slow answer may account for it");
    set_offset_ms(1);
    assert_eq!(clock(&redis(1_800_000_002), here, 0.0).level, Warn, "a test has moved the time");
    set_offset_ms(0);
    assert_eq!((latency(9.9).level, latency(10.1).level), (Ok, Warn));
}
