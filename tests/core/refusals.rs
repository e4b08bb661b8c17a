//! Every refusal of Redis itself: the right error, and never a password in it.

use crate::machine::stalls_since;
use crate::new_jobs::once;
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::{JobId, NewJob};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{NoInterrupts, Queue, QueueConfig};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SECRET: &str = "hunter2%:@/";

fn code(result: &Result<JobId, Error>) -> &str {
    match result {
        Err(Error::Server { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

fn assert_silent_about_the_password(error: &Error) {
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

/// A queue of one's own connection that gives up soon.
fn hasty(dsn: Dsn) -> Queue {
    let limit = Duration::from_millis(800);
    Queue::new(QueueConfig { persistent: false, read_timeout: limit, connect_timeout: limit, ..config(dsn, "q") })
}

#[test]
fn a_redis_that_still_loads_is_waited_for_within_the_deadline() {
    let mut server = Server::start(&["--rdbcompression", "no", "--key-load-delay", "1000"]);
    server.queue("q").push(&job("before")).unwrap();
    let mut raw = server.raw();
    raw.run(&["DEBUG", "POPULATE", "2000", "filler", "40000"]); // a Redis that loads answers once in 2 MiB
    raw.run(&["SAVE"]);
    server.kill();
    server.launch();
    let queue = hasty(server.dsn());
    let mut found = queue.push(&job("a"));
    until("it answers", || {
        if matches!(found, Err(Error::Connection { .. })) {
            found = queue.push(&job("a"));
        }
        !matches!(found, Err(Error::Connection { .. }))
    });
    assert_eq!(code(&found), "LOADING");
    assert!(found.unwrap_err().is_retryable());
    server.queue("q").push(&job("b")).unwrap();
    assert_eq!(states(&server.queue("q")), [0, 2, 0, 0], "before and b, not a");
}

#[test]
fn a_replica_refuses_and_is_left() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (hasty(server.dsn()), server.raw());
    queue.push(&job("a")).unwrap();
    let held = server.queue("q").reserve_job(&id("a")).unwrap().unwrap().held();
    let digest = raw.text(&["DEBUG", "DIGEST"]);
    raw.run(&["REPLICAOF", "127.0.0.1", "1"]);
    let connections = |raw: &mut Raw| {
        let info = raw.text(&["INFO", "stats"]);
        let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap();
        line.trim().parse::<i64>().unwrap()
    };
    let before = connections(&mut raw);
    // On a busy machine the time may be over in the middle of a try.
    let is_refused = |expected: &str, call: &dyn Fn() -> Result<(), Error>| {
        until(expected, || {
            let started = Instant::now();
            let error = call().unwrap_err();
            assert!(
                started.elapsed() < Duration::from_millis(1_800) + stalls_since(started),
                "{:?}",
                started.elapsed()
            );
            let is_expected = matches!(&error, Error::Server { code, .. } if code == expected);
            assert!(!is_expected || error.is_retryable());
            is_expected
        });
    };
    is_refused("READONLY", &|| queue.push(&job("b")).map(drop));
    let text = queue.push(&job("b")).unwrap_err().to_string();
    let server_and_cure =
        format!("READONLY {} is a replica, which takes no changes; name its master", server.dsn().redacted());
    assert!(text.contains(&server_and_cure), "{text}");
    assert!(connections(&mut raw) > before, "it looks for another master over a new connection");
    is_refused("READONLY", &|| queue.ack(&held));
    is_refused("READONLY", &|| queue.push_once(&[once("r", job("b"))]).map(|_| ()));
    is_refused("READONLY", &|| queue.forget_receipts(&[b"r".to_vec()]).map(|_| ()));
    raw.run(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
    is_refused("MASTERDOWN", &|| queue.push(&job("b")).map(drop));
    raw.run(&["CONFIG", "SET", "replica-serve-stale-data", "yes"]);
    assert_eq!(raw.text(&["DEBUG", "DIGEST"]), digest);
    raw.run(&["REPLICAOF", "NO", "ONE"]);
    queue.push(&job("b")).unwrap();
    queue.ack(&held).unwrap();
}

#[test]
fn a_redis_that_cannot_write_to_disk_refuses_and_recovers() {
    let server = Server::start(&["--dbfilename", "not-a-file"]);
    let (queue, mut raw) = (hasty(server.dsn()), server.raw());
    queue.push(&job("a")).unwrap();
    std::fs::create_dir(server.dir.path().join("not-a-file")).unwrap();
    raw.run(&["CONFIG", "SET", "save", "3600 1"]);
    raw.run(&["BGSAVE"]);
    until("the snapshot failed", || raw.text(&["INFO", "persistence"]).contains("rdb_last_bgsave_status:err"));
    let found = queue.push(&job("b"));
    assert_eq!(code(&found), "MISCONF");
    assert!(found.unwrap_err().is_retryable());
    let found = queue.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts);
    assert!(matches!(&found, Err(Error::Server { code, .. }) if code == "MISCONF"), "{found:?}");
    assert!(
        queue
            .doctor(false)
            .unwrap()
            .iter()
            .any(|check| check.check == "disk" && check.message.contains("snapshot failed"))
    );
    raw.run(&["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"]);
    queue.push(&job("b")).unwrap();
    assert_eq!(states(&queue), [0, 2, 0, 0]);
}

#[test]
fn a_busy_redis_is_waited_for_within_the_deadline() {
    let server = Server::start(&["--lua-time-limit", "20"]);
    let queue = hasty(server.dsn());
    queue.push(&job("a")).unwrap();
    let dsn = server.dsn();
    let thread = std::thread::spawn(move || Raw::open(&dsn).run(&["EVAL", "while true do end", "0"]));
    let mut found = queue.push(&job("b"));
    until("it is busy", || {
        if !matches!(found, Err(Error::Server { .. })) {
            let _ = queue.cancel(&[id("b")]);
            found = queue.push(&job("b"));
        }
        matches!(found, Err(Error::Server { .. }))
    });
    assert_eq!(code(&found), "BUSY");
    assert!(found.unwrap_err().is_retryable());
    let mut raw = server.raw();
    raw.run(&["SCRIPT", "KILL"]);
    assert!(matches!(thread.join().unwrap(), redis::Value::ServerError(_)));
    let _ = queue.cancel(&[id("b")]);
    queue.push(&job("b")).unwrap();
    assert_eq!(states(&queue), [0, 2, 0, 0]);
}

#[test]
fn too_few_replicas_refuse_a_push_without_a_trace() {
    let server = Server::start(&["--min-replicas-to-write", "1"]);
    let (queue, mut raw) = (hasty(server.dsn()), server.raw());
    let found = queue.push(&job("a"));
    assert_eq!(code(&found), "NOREPLICAS");
    assert!(found.unwrap_err().is_retryable());
    raw.run(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    queue.push(&job("a")).unwrap();
}

#[test]
fn wrong_and_missing_passwords_are_named_and_never_shown() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    raw.run(&["CONFIG", "SET", "requirepass", SECRET]);
    let with = |user: Option<&str>, password: Option<&str>| {
        hasty(with_login(&server.dsn(), |login| {
            (login.user, login.password) = (user.map(Into::into), password.map(Into::into));
        }))
    };
    let started = Instant::now();
    for (user, password, word) in [
        (None, None, "NOAUTH"),
        (None, Some("hunter2 is wrong"), "WRONGPASS"),
        (Some("nobody"), Some(SECRET), "WRONGPASS"),
    ] {
        let error = with(user, password).push(&job("a")).unwrap_err();
        assert!(matches!(&error, Error::Authentication { message, .. } if message.contains(word)), "{error:?}");
        assert!(!error.is_retryable());
        assert_silent_about_the_password(&error);
    }
    assert!(started.elapsed() < Duration::from_millis(1_500) + stalls_since(started), "refused at once");
    with(None, Some(SECRET)).push(&job("a")).unwrap();
    // The user may be disabled while connected.
    raw.run(&["ACL", "SETUSER", "app", "on", &format!(">{SECRET}"), "~*", "&*", "+@all"]);
    let queue = with(Some("app"), Some(SECRET));
    queue.push(&job("b")).unwrap();
    raw.run(&["ACL", "SETUSER", "app", "off"]);
    raw.run(&["CLIENT", "KILL", "USER", "app"]);
    let error = queue.push(&job("c")).unwrap_err();
    assert!(matches!(&error, Error::Authentication { .. }), "{error:?}");
    assert_silent_about_the_password(&error);
}

#[test]
fn missing_rights_are_named() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    server.queue("q").push(&job("a")).unwrap();
    for rights in
        [&["~*", "&*", "+@all", "-evalsha"][..], &["~other:*", "&*", "+@all"], &["~*", "&*", "+@all", "-zadd"]]
    {
        let mut line = vec!["ACL", "SETUSER", "app", "reset", "on", ">secret"];
        line.extend(rights);
        raw.run(&line);
        let error = hasty(as_user(&server, "app")).push(&job("b")).unwrap_err();
        assert!(matches!(&error, Error::Server { code, .. } if code == "NOPERM"), "{rights:?}: {error:?}");
        assert!(!error.is_retryable());
    }
    raw.run(&["ACL", "SETUSER", "app", "reset", "on", ">secret", "~*", "resetchannels", "+@all"]);
    let queue = hasty(as_user(&server, "app"));
    queue.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap();
    let error = queue.reserve(&["q".into()], 1, Some(Duration::from_secs(5)), &mut NoInterrupts).unwrap_err();
    assert!(
        matches!(&error, Error::Server { code, message, .. } if code == "NOPERM" && message.contains("&dq:*")),
        "{error:?}"
    );
}

#[test]
fn a_database_that_does_not_exist_is_refused_on_connecting() {
    let server = Server::start(&["--databases", "4"]);
    let error = hasty(with_database(&server.dsn(), 4)).push(&job("a")).unwrap_err();
    assert!(matches!(&error, Error::Server { message, .. } if message.contains("out of range")), "{error:?}");
    assert!(!error.is_retryable());
    hasty(with_database(&server.dsn(), 3)).push(&job("a")).unwrap();
}

/// A server that has this one answer to all commands; counts them.
fn answering(answer: &'static str) -> (Dsn, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    std::thread::spawn(move || {
        for mut client in listener.incoming().map(Result::unwrap) {
            let mut buffer = [0; 4096];
            while client.read(&mut buffer).is_ok_and(|got| got > 0) {
                count.fetch_add(1, Ordering::SeqCst);
                client.write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    (Dsn::parse(&format!("redis://app:hunter2@127.0.0.1:{port}/0")).unwrap(), asked)
}

#[test]
fn a_server_that_is_too_old_gets_no_request() {
    for (answer, found) in [
        ("%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n6.0.16\r\n", "Redis 6.0.16"),
        ("-ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, \r\n", "unknown command"), // Redis 5
    ] {
        let (dsn, asked) = answering(answer);
        let error = hasty(dsn).push(&job("a")).unwrap_err();
        assert!(matches!(&error, Error::Server { code, .. } if code == "ERR"), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("too old") && text.contains("6.2") && text.contains(found), "{text}");
        assert!(!error.is_retryable());
        assert_silent_about_the_password(&error);
        // A server that does not know HELLO is asked for its version.
        assert_eq!(asked.load(Ordering::SeqCst), 1 + usize::from(found == "unknown command"), "{text}");
    }
    for enough in ["6.2.0", "7.0.15", "8.0.2", "10.0.0"] {
        let answer = format!("%1\r\n+version\r\n+{enough}\r\n").leak();
        let (dsn, asked) = answering(answer);
        let error = hasty(dsn).push(&job("a")).unwrap_err().to_string();
        assert!(!error.contains("too old") && asked.load(Ordering::SeqCst) > 1, "{enough}: {error}");
    }
}

#[test]
fn a_server_without_hello_is_named_with_its_version() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().map(Result::unwrap) {
            let mut buffer = [0; 4096];
            while let Ok(got @ 1..) = client.read(&mut buffer) {
                let asked = String::from_utf8_lossy(&buffer[..got]).into_owned();
                // As Redis 5 does, which takes only a password.
                let answer = match asked.contains("HELLO") {
                    true => "-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n",
                    false => "+OK\r\n$42\r\n# Server\r\nredis_version:5.0.14\r\nos:Linux\r\n\r\n",
                };
                client.write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    let error =
        hasty(Dsn::parse(&format!("redis://:hunter2@127.0.0.1:{port}/0")).unwrap()).push(&job("a")).unwrap_err();
    assert!(error.to_string().contains("Redis 5.0.14 is too old, 6.2 or newer is needed (at redis://"), "{error}");
    assert_silent_about_the_password(&error);
}

#[test]
fn a_payload_above_the_limit_is_refused_before_anything_is_sent() {
    let server = Server::start(&[]);
    let queue = Queue::new(QueueConfig { max_payload: 100, ..config(server.dsn(), "q") });
    queue.push(&NewJob { payload: vec![0; 100], ..job("a") }).unwrap();
    let mut raw = server.raw();
    let digest = raw.text(&["DEBUG", "DIGEST"]);
    let large = NewJob { payload: vec![0; 101], ..job("b") };
    assert_eq!(queue.push(&large), Err(Error::PayloadTooLarge { size: 101, limit: 100 }));
    assert_eq!(
        queue.push_many(&[job("c"), large], &mut Vec::new()),
        Err(Error::PayloadTooLarge { size: 101, limit: 100 })
    );
    assert_eq!(
        queue.update(&id("a"), Changes::payload(&[0; 101]), None, None),
        Err(Error::PayloadTooLarge { size: 101, limit: 100 })
    );
    assert_eq!(raw.text(&["DEBUG", "DIGEST"]), digest);
}
