//! A change counts when a replica has it, or the disk.

use crate::new_jobs::{once, unique};
use crate::support::*;
use delayqueue::core::durability::Durability;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobId, NewJob, OnDuplicate};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Queue, QueueConfig};
use std::net::TcpListener;
use std::time::Duration;

/// Waits for so long, and so long again for the answer.
const PATIENCE: Duration = Duration::from_secs(1);

fn queue(server: &Server, durability: impl Into<Option<Durability>>) -> Queue {
    let read_timeout = 2 * PATIENCE;
    Queue::new(QueueConfig {
        durability: durability.into(),
        persistent: false,
        read_timeout,
        ..config(server.dsn(), "q")
    })
}

/// A master and its replica, which has all that the master has.
fn pair() -> (Server, Server) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let master = Server::start(&["--port", &port, "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"]);
    let replica = Server::start(&["--replicaof", "127.0.0.1", &port]);
    let mut raw = master.raw();
    until("the replica is there", || raw.text(&["INFO", "replication"]).contains("state=online"));
    (master, replica)
}

fn assert_in_doubt<T: std::fmt::Debug>(result: Result<T, Error>, words: &str) {
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::Connection { ambiguous: true, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(words) && text.contains("may be there") && text.contains("queue 'q'"), "{text}");
}

#[test]
fn a_change_that_a_replica_has_succeeds() {
    let (master, _replica) = pair();
    let queue = Queue::new(QueueConfig { durability: Some(Durability::Replica(1)), ..config(master.dsn(), "q") });
    queue.push(&job("a")).unwrap();
    queue.push_many(&[job("b"), job("c")], &mut Vec::new()).unwrap();
    assert_eq!(queue.push_once(&[once("r", job("once"))]).unwrap().added, 1);
    assert_eq!(queue.cancel(&[id("once")]).unwrap(), 1);
    assert!(queue.update(&id("b"), Changes::payload(b"2"), None, None).unwrap());
    assert!(queue.reschedule(&id("c"), Due::InMs(60_000), false).unwrap());
    assert_eq!(queue.cancel(&[id("c")]).unwrap(), 1);
    let held = reserve(&queue).unwrap();
    queue.ack(&held.held()).unwrap();
    assert_eq!(queue.count(None).unwrap(), 1);
}

#[test]
fn a_change_that_no_replica_has_is_in_doubt_and_says_so() {
    let (master, replica) = pair();
    let queue = queue(&master, Durability::Replica(1));
    queue.hasty().push(&job("held")).unwrap();
    let held = reserve(&queue).unwrap();
    replica.signal(libc::SIGSTOP);
    let words = "no replica has it yet";
    assert_in_doubt(queue.push(&job("a")), words);
    assert_in_doubt(queue.push_many(&[job("b"), job("c")], &mut Vec::new()), words);
    assert_in_doubt(queue.push(&unique("u", 60_000, OnDuplicate::Fail)), words);
    assert_in_doubt(queue.push_once(&[once("r", job("once"))]), words);
    assert_in_doubt(queue.push_once(&[once("r", job("once"))]), words); // it is known, and a replica must know it, too
    assert_in_doubt(queue.ack(&held.held()), words);
    assert_in_doubt(queue.update(&id("a"), Changes::payload(b"2"), None, None), words);
    assert_in_doubt(queue.reschedule(&id("b"), Due::InMs(60_000), false), words);
    assert_in_doubt(queue.cancel(&[id("c")]), words);
    // A reserve does not wait: a lost lease would not be missed.
    assert!(reserve(&queue).is_some());
    replica.signal(libc::SIGCONT);
    let keep = NewJob { on_duplicate: OnDuplicate::Keep, ..job("b") };
    until("the replica follows again", || queue.push(&keep).is_ok());
    assert_eq!(queue.count(None).unwrap(), 4, "in doubt, and done");
}

#[test]
fn a_change_that_needs_two_replicas_is_in_doubt_while_one_has_it() {
    let (master, _replica) = pair();
    assert_in_doubt(queue(&master, Durability::Replica(2)).push(&job("a")), "only 1 of 2 replicas have it yet");
    queue(&master, Durability::Replica(1)).push(&job("b")).unwrap();
}

/// A repeat writes nothing that could be waited for: Redis has to count what others wrote before.
#[test]
fn a_push_that_finds_its_job_there_waits_for_the_replica_too() {
    let (master, replica) = pair();
    replica.signal(libc::SIGSTOP);
    queue(&master, None).push(&job("a")).unwrap();
    let keep = NewJob { on_duplicate: OnDuplicate::Keep, ..job("a") };
    assert_in_doubt(queue(&master, Durability::Replica(1)).push(&keep), "no replica has it yet");
    replica.signal(libc::SIGCONT);
}

#[test]
fn durability_disk_needs_a_redis_that_can_and_says_so_before_anything_is_sent() {
    // Not every second: the wait for a busy disk could be longer than the client's.
    let server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let version: Vec<u32> = server
        .raw()
        .text(&["INFO", "server"])
        .lines()
        .find_map(|line| line.strip_prefix("redis_version:"))
        .unwrap()
        .split('.')
        .map(|part| part.parse().unwrap())
        .collect();
    let result: Result<JobId, Error> = queue(&server, Durability::Disk).push(&job("a"));
    if version.as_slice() < [7, 2].as_slice() {
        let error = result.unwrap_err();
        assert!(matches!(&error, Error::Server { .. }), "{error:?}");
        assert!(error.to_string().contains("durability 'disk' needs Redis 7.2 or newer"), "{error}");
        assert_eq!(queue(&server, None).count(None).unwrap(), 0);
    } else {
        result.unwrap();
        server.raw().run(&["CONFIG", "SET", "appendonly", "no"]);
        let error = queue(&server, Durability::Disk).push(&job("b")).unwrap_err();
        assert!(matches!(&error, Error::Connection { ambiguous: true, .. }), "{error:?}");
        assert!(error.to_string().contains("appendonly"), "{error}");
    }
}

/// It would wait for replicas that are not there, for each try, and the last one would run into the deadline.
#[test]
fn a_push_that_a_master_without_replicas_refuses_is_not_in_doubt() {
    let server = Server::start(&["--min-replicas-to-write", "1"]);
    let error = queue(&server, Durability::Replica(1)).push(&job("a")).unwrap_err();
    assert!(matches!(&error, Error::Server { code, .. } if code == "NOREPLICAS"), "{error:?}");
    server.raw().run(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    assert_eq!(queue(&server, None).count(None).unwrap(), 0);
}

#[test]
fn a_refusal_that_changes_nothing_is_said_although_no_replica_is_there() {
    let (master, replica) = pair();
    let queue = queue(&master, Durability::Replica(1));
    queue.push(&job("a")).unwrap();
    replica.signal(libc::SIGSTOP);
    queue.hasty().push(&job("b")).unwrap();
    let result = queue.push(&job("a"));
    assert!(matches!(&result, Err(Error::Duplicate { .. })), "{result:?}");
    assert!(!queue.reschedule(&id("nothing"), Due::InMs(60_000), false).unwrap());
    assert!(!queue.update(&id("nothing"), Changes::payload(b"2"), None, None).unwrap());
    replica.signal(libc::SIGCONT);
}
