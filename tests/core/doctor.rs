//! doctor() on real servers: each is examined, and a finding names the server where there are several.

use crate::support::*;
use crate::topology::*;
use delayqueue::core::doctor::{Check, Level};
use delayqueue::core::queue::Queue;
use std::time::Duration;

fn find(queue: &Queue, what: &str) -> Check {
    let checks = queue.doctor(false).unwrap();
    checks.iter().find(|check| check.check == what).unwrap_or_else(|| panic!("{what}: {checks:?}")).clone()
}

#[test]
fn settings_that_lose_jobs_are_found_on_a_server_and_gone_when_they_are_cured() {
    let (_server, queue, mut raw) = Server::with_queue(&["--appendonly", "yes"]);
    for (setting, bad, good, what) in [
        ("appendfsync", "no", "everysec", "persistence"),
        ("appendfsync", "no", "always", "persistence"),
        ("no-appendfsync-on-rewrite", "yes", "no", "persistence"),
        ("appendonly", "no", "yes", "persistence"),
        ("stop-writes-on-bgsave-error", "no", "yes", "settings"),
        ("maxmemory-policy", "allkeys-lru", "noeviction", "eviction"),
    ] {
        order(&mut raw, &["CONFIG", "SET", setting, bad]);
        let found = find(&queue, what);
        assert!(found.level != Level::Ok, "{found:?}");
        let cure = if setting == "appendonly" { "set appendonly yes" } else { setting };
        assert!(found.message.contains(cure), "{found:?}");
        order(&mut raw, &["CONFIG", "SET", setting, good]);
        until("the cure is seen", || find(&queue, what).level == Level::Ok);
    }
}

#[test]
fn a_master_that_waits_for_no_replica_is_found() {
    let master = lone_master();
    let queue = queue_of(master.plain_dsn(), "q", Duration::from_secs(5));
    assert!(find(&queue, "replication").message.contains("no replicas"));
    let _replica = replica_of(&master);
    let found = find(&queue, "replication");
    assert!(found.level == Level::Warn && found.message.contains("set it to 1"), "{found:?}");
    order(&mut master.raw(), &["CONFIG", "SET", "min-replicas-to-write", "1"]);
    assert_eq!(find(&queue, "replication").level, Level::Ok);
    order(&mut master.raw(), &["CONFIG", "SET", "min-replicas-max-lag", "0"]);
    assert!(find(&queue, "replication").message.contains("min-replicas-max-lag is 0"));
}

#[test]
fn a_replica_is_found_to_take_no_jobs() {
    let master = lone_master();
    let replica = replica_of(&master);
    let found = find(&queue_of(replica.plain_dsn(), "q", Duration::from_secs(5)), "role");
    assert!(found.level == Level::Error && found.message.contains("connect to the master"), "{found:?}");
}

#[test]
fn one_sentinel_is_too_few_and_three_are_enough() {
    for (many, level) in [(1, Level::Warn), (3, Level::Ok)] {
        let watched = Watched::start_with(60_000, many);
        let found = find(&watched.queue("q", Duration::from_secs(5)), "sentinel");
        assert_eq!(found.level, level, "{found:?}");
        assert!(found.message.starts_with(&many.to_string()) && found.message.contains(SERVICE), "{found:?}");
        assert_eq!(found.message.contains("three of them"), many == 1, "{found:?}");
        let role = find(&watched.queue("q", Duration::from_secs(5)), "role");
        assert_eq!(role.message, "master with 1 replica(s)", "the master is examined");
        assert_eq!(find(&watched.queue("q", Duration::from_secs(5)), "replication").level, Level::Warn);
    }
}

#[test]
fn each_node_of_a_cluster_is_examined_and_named() {
    let cluster = Cluster::start(3, false, 60_000);
    order(&mut cluster.nodes[1].raw(), &["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    order(&mut cluster.nodes[2].raw(), &["CONFIG", "SET", "appendonly", "yes"]);
    let checks = cluster.queue("q").doctor(false).unwrap();
    let of = |what: &str, node: usize| {
        let name = format!("127.0.0.1:{}: ", cluster.nodes[node].port);
        let found: Vec<&Check> =
            checks.iter().filter(|check| check.check == what && check.message.starts_with(&name)).collect();
        assert_eq!(found.len(), 1, "{what} of {name}: {checks:?}");
        found[0].level
    };
    for node in 0..3 {
        assert_eq!(of("version", node), Level::Ok);
        assert_eq!(of("eviction", node), if node == 1 { Level::Error } else { Level::Ok });
        assert_eq!(of("persistence", node), if node == 2 { Level::Ok } else { Level::Warn });
        assert_eq!(of("replication", node), Level::Warn, "nothing could take over");
    }
    assert!(checks.iter().all(|check| check.check != "sentinel"));
}
