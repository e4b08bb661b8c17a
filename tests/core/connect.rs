//! Reaching Redis: in time though a server keeps silent, and with advice in the error.

use crate::fork::{fork, wait_for};
use crate::machine::{lasted, stalls_since};
use crate::names;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::dsn::{Dsn, Login};
use delayqueue::core::error::Error;
use delayqueue::core::queue::{Queue, QueueConfig};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(400);

fn dsn(text: &str) -> Dsn {
    Dsn::parse(text).unwrap()
}

/// A queue that waits for a connection only so long, and longer for everything else.
fn queue(dsn: Dsn) -> Queue {
    Queue::new(QueueConfig { persistent: false, connect_timeout: LIMIT, ..config(dsn, "q") })
}

/// The error of a push over a new connection, and how long it took.
/// The error of a push, and when it began.
fn failure(dsn: Dsn) -> (String, Instant) {
    let started = Instant::now();
    let error = queue(dsn).push(&job("a")).unwrap_err();
    assert!(!matches!(error, Error::Connection { ambiguous: true, .. }), "{error:?}");
    assert!(error.to_string().contains("pushing job 'a'") && !error.to_string().contains("hunter2"), "{error}");
    (error.to_string(), started)
}

/// The push fails when the time to connect is over, and its error has all these words.
fn assert_late(dsn: Dsn, words: &[&str]) {
    let (error, started) = failure(dsn);
    let took = started.elapsed();
    assert!((LIMIT..LIMIT + Duration::from_secs(2) + stalls_since(started)).contains(&took), "{took:?}: {error}");
    assert_has(&error, words);
    assert_has(&error, &["timed out", "connectTimeout"]);
}

fn assert_has(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "'{word}' is missing: {error}");
    }
}

/// A listener that never accepts, and whose backlog is full: the next one to connect has to wait.
struct Full {
    listener: Socket,
    _clients: Vec<Socket>,
}

impl Full {
    fn at(domain: Domain, address: &SockAddr) -> Self {
        let listener = Socket::new(domain, Type::STREAM, None).unwrap();
        listener.bind(address).unwrap();
        listener.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        loop {
            let client = Socket::new(domain, Type::STREAM, None).unwrap();
            client.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
            if client.connect(&address).is_err() {
                return Self { listener, _clients: clients };
            }
            clients.push(client);
        }
    }

    fn tcp() -> (Self, u16) {
        let full = Self::at(Domain::IPV4, &SocketAddr::from(([127, 0, 0, 1], 0)).into());
        let port = full.listener.local_addr().unwrap().as_socket().unwrap().port();
        (full, port)
    }
}

/// A server that sends these bytes one by one, slowly, to each client.
fn dripping(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            std::thread::spawn(move || drip(&mut client.unwrap(), bytes));
        }
    });
    port
}

fn drip(client: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    for byte in bytes {
        client.write_all(&[*byte]).ok()?;
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(())
}

#[test]
fn a_name_server_that_keeps_silent_costs_no_more_than_the_connect_timeout() {
    let silent = dsn(&format!("redis://{}:6379", names::SILENT));
    assert_late(silent, &[names::SILENT, "DNS"]);
}

#[test]
fn a_host_that_nobody_knows_is_named() {
    let (error, started) = failure(dsn("redis://:hunter2@nobody.invalid:6379"));
    assert_has(&error, &["'nobody.invalid'", "check the DSN"]);
    assert!(lasted(started) < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[test]
fn a_host_that_drops_packets_costs_no_more_than_the_connect_timeout() {
    let (_full, port) = Full::tcp();
    assert_late(dsn(&format!("redis://127.0.0.1:{port}")), &["is Redis there", "firewall"]);
}

#[test]
fn the_second_address_of_a_name_is_tried_when_the_first_does_not_answer() {
    let (full, port) = Full::tcp();
    let server = Server::start(&["--port", &port.to_string(), "--bind", "127.0.0.2"]);
    let dsn = dsn(&format!("redis://{}:{port}", names::TWO));
    let queue = || Queue::new(QueueConfig { connect_timeout: Duration::from_secs(2), ..config(dsn.clone(), "q") });
    queue().push(&job("first is silent")).unwrap();
    drop(full);
    queue().push(&job("first refuses")).unwrap();
    assert_eq!(states(&server.queue("q")), [0, 2, 0, 0]);
}

#[test]
fn a_unix_socket_with_a_full_backlog_costs_no_more_than_the_connect_timeout() {
    let dir = short_dir();
    let path = dir.path().join("redis.sock");
    let _full = Full::at(Domain::UNIX, &SockAddr::unix(&path).unwrap());
    assert_late(dsn(&format!("redis+unix://{}", path.display())), &["accepts no connection", "redis.sock"]);
}

#[test]
fn a_unix_socket_whose_backlog_drains_in_time_is_connected_to() {
    let server = Server::start(&["--tcp-backlog", "1"]);
    server.signal(libc::SIGSTOP);
    let address = SockAddr::unix(server.socket()).unwrap();
    let waiting: Vec<Socket> = (0..3)
        .map(|_| {
            let client = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            client.set_nonblocking(true).unwrap();
            let _ = client.connect(&address);
            client
        })
        .collect();
    let queue = server.queue("q");
    let push = std::thread::spawn(move || queue.push(&job("a")));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!push.is_finished());
    server.signal(libc::SIGCONT);
    push.join().unwrap().unwrap();
    drop(waiting);
}

#[test]
fn a_tls_handshake_that_drips_costs_no_more_than_the_connect_timeout() {
    let port = dripping(
        b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    );
    assert_late(dsn(&format!("rediss://127.0.0.1:{port}")), &["TLS handshake", "redis://"]);
}

#[test]
fn a_login_that_drips_costs_no_more_than_the_connect_timeout() {
    let port = dripping(b"%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n");
    assert_late(dsn(&format!("redis://127.0.0.1:{port}")), &["cannot log in", "does not answer"]);
}

#[test]
fn a_login_over_tls_that_drips_costs_no_more_than_the_connect_timeout() {
    let (_server, files) = crate::tls::server(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let redis_port = files.port();
    std::thread::spawn(move || {
        let mut client = listener.accept().unwrap().0;
        let mut redis = TcpStream::connect(("127.0.0.1", redis_port)).unwrap();
        let (mut from_client, mut to_redis) = (client.try_clone().unwrap(), redis.try_clone().unwrap());
        let has_shaken_hands = Arc::new(AtomicBool::new(false));
        let slow = has_shaken_hands.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The client speaks for the second time when the server has said all that belongs to the handshake.
            for round in 0.. {
                let Some(got) = from_client.read(&mut buffer).ok().filter(|got| *got > 0) else { return };
                slow.store(round > 0, Ordering::SeqCst);
                to_redis.write_all(&buffer[..got]).unwrap();
            }
        });
        let mut buffer = [0; 4096];
        while let Some(got) = redis.read(&mut buffer).ok().filter(|got| *got > 0) {
            if has_shaken_hands.load(Ordering::SeqCst) {
                let _ = drip(&mut client, &buffer[..got]);
            } else if client.write_all(&buffer[..got]).is_err() {
                return;
            }
        }
    });
    let slow =
        with_login(&dsn(&format!("redis://127.0.0.1:{port}")), |login| login.tls = files.dsn("127.0.0.1").login.tls);
    assert_late(slow, &["cannot log in", "does not answer"]);
}

#[test]
fn a_server_that_did_not_answer_is_not_waited_for_again_within_a_second() {
    let server = Server::start(&[]);
    server.signal(libc::SIGSTOP);
    let (error, started) = failure(server.dsn());
    let took = started.elapsed();
    assert!(took >= LIMIT && !error.contains("tried"), "{took:?}: {error}");
    let failed = Instant::now();
    let (error, started) = failure(with_database(&server.dsn(), 3));
    assert!(error.contains(" s ago)"), "{error}");
    assert!(lasted(started) < LIMIT / 2, "{:?}", started.elapsed());
    // A forked child knows nothing of it.
    let dsn = server.dsn();
    let child = fork(|| {
        let (error, started) = failure(dsn);
        let took = started.elapsed();
        assert!(took >= LIMIT && !error.contains("tried"), "{took:?}: {error}");
    });
    assert_eq!(wait_for(child), 0);
    // A client with a longer timeout waits.
    let patient = server.queue("q");
    let push = std::thread::spawn(move || patient.push(&job("patient")));
    server.signal(libc::SIGCONT);
    push.join().unwrap().unwrap();
    // After its answer all clients try the server again.
    queue(server.dsn()).push(&job("b")).unwrap();
    assert!(failed.elapsed() < Duration::from_secs(8) + stalls_since(failed));
}

#[test]
fn a_server_that_is_back_is_noticed_about_a_second_later() {
    let server = Server::start(&[]);
    server.signal(libc::SIGSTOP);
    failure(server.dsn());
    let failed = Instant::now();
    server.signal(libc::SIGCONT);
    let queue = queue(server.dsn());
    until("it is noticed", || queue.push(&job("a")).is_ok());
    assert!(failed.elapsed() < Duration::from_secs(3) + stalls_since(failed), "{:?}", failed.elapsed());
}

#[test]
fn a_server_that_refused_is_tried_again_at_once() {
    let mut server = Server::start(&[]);
    server.kill();
    std::fs::remove_file(server.socket()).unwrap();
    assert_has(&failure(server.dsn()).0, &["no such socket", "is Redis running"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let dsn = dsn(&format!("redis://app:hunter2@127.0.0.1:{port}"));
    for _ in 0..2 {
        let (error, started) = failure(dsn.clone());
        assert!(lasted(started) < Duration::from_secs(3), "{:?}", started.elapsed());
        assert_has(&error, &["connection refused", "is Redis running", &format!("redis://app:***@127.0.0.1:{port}/0")]);
        assert!(!error.contains("tried"), "{error}");
    }
}

#[test]
fn an_operation_goes_on_trying_a_server_that_kept_silent_before() {
    let (_server, proxy) = Proxy::with_server();
    let queue = queue(proxy.dsn());
    queue.push(&job("before")).unwrap();
    // The connection is lost, and the login over the next one is not answered.
    proxy.fail_twice(Fault::DropBefore, Fault::MuteLogin);
    let started = Instant::now();
    queue.push(&job("after")).unwrap();
    let (took, limit) = (started.elapsed(), LIMIT + Duration::from_millis(900) + stalls_since(started));
    assert_eq!(proxy.heal(), 2);
    assert!((LIMIT..limit).contains(&took), "{took:?}");
}

#[test]
fn a_socket_that_one_may_not_use_is_said_so() {
    let server = Server::start(&[]);
    std::fs::set_permissions(server.dir.path(), std::fs::Permissions::from_mode(0o000)).unwrap();
    let dsn = server.dsn();
    let child = fork(|| {
        // Root may do everything: become another user.
        // SAFETY: changes only this child.
        unsafe { libc::setuid(65_534) };
        assert_has(&failure(dsn).0, &["permission denied", "unixsocketperm"]);
    });
    assert_eq!(wait_for(child), 0);
    std::fs::set_permissions(server.dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_refused_login_names_server_user_and_cure() {
    let server = Server::start(&[]);
    server.raw().run(&["CONFIG", "SET", "requirepass", "letmein9"]);
    let base = server.dsn();
    let as_user = |user: Option<&str>, password: Option<&str>, database| {
        with_login(&base, |login| {
            *login = Login { user: user.map(Into::into), password: password.map(Into::into), database, tls: None };
        })
    };
    let mut raw = Raw::open(&as_user(None, Some("letmein9"), 0));
    raw.run(&["ACL", "SETUSER", "app", "on", ">hunter2", "~*", "&*", "+@all", "-select"]);
    for (dsn, words) in [
        (as_user(None, None, 0), ["NOAUTH the server asks for", "user 'default'", "redis://USER:PASSWORD@"]),
        (as_user(Some("app"), None, 0), ["WRONGPASS", "user 'app'", "the DSN has none"]),
        (as_user(Some("nobody"), None, 0), ["WRONGPASS", "user 'nobody'", "there is no such user"]),
        (as_user(Some("nobody"), Some("x"), 0), ["WRONGPASS", "user 'nobody'", "may be unknown to this server"]),
        (as_user(Some("app"), Some("hunter22"), 0), ["WRONGPASS", "user 'app'", "check user and password in the DSN"]),
        (as_user(None, Some("hunter2"), 0), ["WRONGPASS", "user 'default'", "check user and password in the DSN"]),
        (as_user(Some("app"), Some("hunter2"), 1), ["NOPERM", "user 'app'", "check user and password in the DSN"]),
        (as_user(None, Some("letmein9"), 99), ["out of range", "user 'default'", "check the database in the DSN"]),
    ] {
        let (error, _) = failure(dsn.clone());
        assert_has(&error, &words);
        assert_has(&error, &[&dsn.redacted()]);
    }
}

#[test]
fn a_user_without_a_password_is_who_logs_in() {
    let server = Server::start(&[]);
    server.raw().run(&["ACL", "SETUSER", "open", "on", "nopass", "~*", "&*", "+@all"]);
    let dsn = with_login(&server.dsn(), |login| login.user = Some("open".into()));
    let queue = queue(dsn);
    queue.push(&job("a")).unwrap();
    let clients = format!("{:?}", server.raw().run(&["CLIENT", "LIST"]));
    assert!(clients.contains("user=open"), "{clients}");
}

#[test]
fn a_server_that_has_enough_clients_says_so_whatever_the_database() {
    let server = Server::start(&[]);
    let mut only = server.raw();
    only.run(&["CONFIG", "SET", "maxclients", "1"]);
    let error = queue(with_database(&server.dsn(), 1)).push(&job("a")).unwrap_err();
    assert!(matches!(&error, Error::Connection { ambiguous: false, .. }) && error.is_retryable(), "{error:?}");
    assert_has(&error.to_string(), &["max number of clients", "'maxclients'"]);
    only.run(&["CONFIG", "SET", "maxclients", "1000"]);
    queue(server.dsn()).push(&job("b")).unwrap();
}
