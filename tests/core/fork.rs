//! A forked child never speaks over its parent's connection, and neither ever gets the other's answer.

use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::job::Reserved;
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs `child` in a forked process; its exit code is 0 when it did not panic.
pub fn fork(child: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child runs only `child` and leaves with _exit, so it never returns into the test harness.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let code = i32::from(catch_unwind(AssertUnwindSafe(child)).is_err());
        // SAFETY: leaves without running anything of the parent's.
        unsafe { libc::_exit(code) };
    }
    pid
}

pub fn wait_for(pid: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: a child of ours that no other code waits for.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert!(libc::WIFEXITED(status), "the child was killed: {status}");
    libc::WEXITSTATUS(status)
}

/// Pushes, looks, reserves and acknowledges under names of one's own; every answer must be one's own.
fn work(queue: &Queue, name: &str, rounds: usize) {
    for n in 0..rounds {
        let own = format!("{name}.{n}");
        assert_eq!(queue.push(&job(&own)).unwrap(), id(&own));
        let info = queue.peek(&id(&own)).unwrap().unwrap();
        assert_eq!(info.payload, format!("payload of {own}").into_bytes());
        let held = queue.reserve_job(&id(&own)).unwrap().unwrap();
        assert_eq!(held.id, id(&own));
        queue.ack(&held.held()).unwrap();
    }
}

fn connections(raw: &mut Raw) -> i64 {
    let info = raw.text(&["INFO", "stats"]);
    let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap();
    line.trim().parse().unwrap()
}

fn parent_and_children_work_side_by_side(server: &Server, dsn: &Dsn) {
    let queue = Queue::new(config(dsn.clone(), "q"));
    let mut raw = server.raw();
    work(&queue, "before", 5);
    queue.push(&job("of the parent")).unwrap();
    let held = reserve(&queue).unwrap();
    let before = connections(&mut raw);
    let children: Vec<_> = (0..3)
        .map(|n| {
            let (queue, held) = (queue.clone(), held.clone());
            fork(move || {
                work(&queue, &format!("child{n}"), 100);
                queue.touch(&held.held(), None).unwrap();
                drop(queue); // closes nothing of the parent's
            })
        })
        .collect();
    work(&queue, "parent", 100);
    for child in children {
        assert_eq!(wait_for(child), 0, "the child's assertions");
    }
    work(&queue, "after", 5);
    assert_eq!(connections(&mut raw) - before, 3, "one of its own for each child, the parent kept its own");
    queue.ack(&held.held()).unwrap();
    assert_eq!(states(&queue), [0, 0, 0, 0]);
    let stats = queue.stats().unwrap();
    assert_eq!((stats.pushed, stats.acked), (411, 411));
}

#[test]
fn a_child_opens_a_connection_of_its_own() {
    let server = Server::start(&[]);
    parent_and_children_work_side_by_side(&server, &server.dsn());
}

#[test]
fn a_child_leaves_the_tls_session_of_its_parent_alone() {
    let (server, files) = crate::tls::server(&[]);
    parent_and_children_work_side_by_side(&server, &files.dsn("127.0.0.1"));
}

#[test]
fn parent_and_child_are_two_consumers() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    push_many(&queue, &["a", "b", "c"].map(job));
    let first = reserve(&queue).unwrap();
    let other = queue.clone();
    let child = fork(move || assert!(reserve(&other).is_some()));
    assert_eq!(wait_for(child), 0);
    let last = reserve(&queue).unwrap();
    let consumer = |job: &Reserved| String::from_utf8_lossy(&job.receipt.lease).split(' ').nth(3).unwrap().to_owned();
    assert_eq!(consumer(&first), consumer(&last));
    let mut raw = server.raw();
    let redis::Value::BulkString(lease) = raw.run(&["HGET", &key(&queue, "leases"), "b"]) else { panic!("no lease") };
    assert!(!String::from_utf8_lossy(&lease).ends_with(&consumer(&first)));
    assert_eq!(states(&queue), [0, 0, 3, 0]);
    queue.ack(&first.held()).unwrap();
    queue.ack(&last.held()).unwrap();
    assert_eq!(states(&queue), [0, 0, 1, 0], "the child's is still its own");
}

#[test]
fn a_child_that_waits_is_woken_by_its_own_name() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    assert_eq!(queue.reserve(&["q".into()], 1, Some(Duration::from_millis(20)), &mut NoInterrupts), Ok(Vec::new()));
    let children = [(); 2].map(|()| {
        let queue = queue.clone();
        fork(move || {
            let jobs = queue.reserve(&["q".into()], 1, Some(Duration::from_secs(20)), &mut NoInterrupts).unwrap();
            assert_eq!(jobs.len(), 1);
            queue.ack(&jobs[0].held()).unwrap();
        })
    });
    let mut raw = server.raw();
    until("both wait", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 2);
    queue.push(&job("a")).unwrap();
    queue.push(&job("b")).unwrap();
    for child in children {
        assert_eq!(wait_for(child), 0);
    }
}
