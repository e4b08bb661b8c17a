//! Requests that are larger than a limit of the server, which closes the connection: one error at once that names the limit.

use crate::hostile::HELLO;
use crate::new_jobs::once;
use crate::support::*;
use crate::topology::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::NewJob;
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Queue, QueueConfig};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

const LARGE: usize = 3 << 20;

fn large(id_text: &str) -> NewJob {
    NewJob { payload: vec![b'x'; LARGE], ..job(id_text) }
}

/// With time enough for many repeats.
fn patient(dsn: Dsn) -> Queue {
    let read_timeout = Duration::from_secs(20);
    Queue::new(QueueConfig { max_payload: 64 << 20, read_timeout, persistent: false, ..config(dsn, "q") })
}

fn connections(raw: &mut Raw) -> i64 {
    let info = raw.text(&["INFO", "stats"]);
    let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap();
    line.trim().parse().unwrap()
}

type Change = (&'static str, fn(&Queue) -> Result<(), Error>);

const CHANGES: [Change; 4] = [
    ("push", |queue| queue.push(&large("new")).map(drop)),
    ("push_many", |queue| queue.push_many(&[job("small"), large("new")], &mut Vec::new())),
    ("push_once", |queue| queue.push_once(&[once("receipt", large("new"))]).map(drop)),
    ("update", |queue| queue.update(&id("there"), Changes::payload(&vec![b'x'; LARGE]), None, None).map(drop)),
];

#[test]
fn a_request_beyond_a_limit_of_the_server_fails_at_once_and_names_the_limit() {
    let node = lone_master();
    let mut raw = node.raw();
    let tcp = Dsn::parse(&format!("redis://127.0.0.1:{}", node.port)).unwrap();
    for dsn in [node.plain_dsn(), tcp] {
        let queue = patient(dsn);
        for (limit, bytes, without) in [
            ("proto-max-bulk-len", "1048576", "536870912"),
            ("client-query-buffer-limit", "1048576", "1073741824"),
            ("maxmemory-clients", "2000000", "0"),
        ] {
            raw.run(&["FLUSHALL"]);
            queue.push(&job("there")).unwrap();
            raw.run(&["CONFIG", "SET", limit, bytes]);
            for (name, change) in CHANGES {
                let opened = connections(&mut raw);
                let error = change(&queue).unwrap_err();
                let what = format!("{name} beyond {limit}: {error:?}");
                assert!(error.to_string().contains(limit) && error.to_string().contains(bytes), "{what}");
                assert!(!error.is_ambiguous() && !error.is_retryable(), "{what}");
                assert!(connections(&mut raw) - opened <= 2, "{what}");
            }
            raw.run(&["CONFIG", "SET", limit, without]);
            assert_eq!(states(&queue), [0, 1, 0, 0], "{limit}");
            assert_eq!(queue.peek(&id("there")).unwrap().unwrap().payload, b"payload of there", "{limit}");
            CHANGES.iter().for_each(|(_, change)| drop(change(&queue)));
            assert_eq!(queue.peek(&id("there")).unwrap().unwrap().payload.len(), LARGE, "{limit}: it works without");
        }
    }
}

#[test]
fn where_the_limits_may_not_be_read_a_large_request_is_sent_twice_and_the_error_names_them() {
    let (server, _, mut raw) = Server::with_queue(&[]);
    raw.run(&["ACL", "SETUSER", "default", "-config"]);
    let mut admin = server.raw();
    admin.run(&["ACL", "SETUSER", "admin", "on", ">secret", "+@all", "~*"]);
    admin.run(&["AUTH", "admin", "secret"]);
    admin.run(&["CONFIG", "SET", "client-query-buffer-limit", "1048576"]);
    let opened = connections(&mut admin);
    let error = patient(server.dsn()).push(&large("new")).unwrap_err();
    assert!(matches!(&error, Error::Connection { .. }), "{error:?}");
    assert!(error.to_string().contains("client-query-buffer-limit"), "{error:?}");
    assert!(connections(&mut admin) - opened <= 3, "{error:?}");
    admin.run(&["CONFIG", "SET", "client-query-buffer-limit", "1073741824"]);
    admin.run(&["CONFIG", "SET", "proto-max-bulk-len", "1048576"]);
    let error = patient(server.dsn()).push(&large("new")).unwrap_err();
    assert!(matches!(&error, Error::Server { .. }), "Redis says it: {error:?}");
    assert!(error.to_string().contains("proto-max-bulk-len"), "{error:?}");
}

#[test]
fn a_connection_that_is_lost_before_the_request_was_whole_leaves_no_doubt() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It takes the beginning of the request and goes.
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut some = vec![0; 1 << 16];
        let _ = socket.read(&mut some).unwrap();
        socket.write_all(HELLO).unwrap();
        let _ = socket.read(&mut some).unwrap();
    });
    let dsn = Dsn::parse(&format!("redis://127.0.0.1:{port}")).unwrap();
    let read_timeout = Duration::from_secs(1);
    let queue = Queue::new(QueueConfig { max_payload: 64 << 20, read_timeout, persistent: false, ..config(dsn, "q") });
    let error = queue.push(&NewJob { payload: vec![b'x'; 32 << 20], ..job("new") }).unwrap_err();
    server.join().unwrap();
    assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
}
