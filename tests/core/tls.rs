//! TLS: the server proves its name, and the client its own where the server asks.

use crate::machine::stalls_since;
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::queue::{NoInterrupts, Queue, QueueConfig};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Certificates made for this test, and the port of the server that uses them.
pub struct Files {
    dir: tempfile::TempDir,
    port: u16,
}

impl Files {
    /// Certificates alone.
    pub fn new() -> Self {
        Self { dir: certificates(), port: 0 }
    }

    pub fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_string_lossy().into_owned()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn dsn(&self, host: &str) -> Dsn {
        self.dsn_with(host, "ca.crt", None)
    }

    fn dsn_with(&self, host: &str, ca: &str, client: Option<&str>) -> Dsn {
        let mut text = format!("rediss://{host}:{}/0?ca={}", self.port, self.path(ca));
        if let Some(name) = client {
            text += &format!("&cert={}&key={}", self.path(&format!("{name}.crt")), self.path(&format!("{name}.key")));
        }
        Dsn::parse(&text).unwrap()
    }
}

fn openssl(dir: &std::path::Path, args: &str) {
    let status = Command::new("openssl").args(args.split_whitespace()).current_dir(dir).stderr(Stdio::null()).status();
    assert!(status.expect("openssl is installed").success(), "openssl {args}");
}

fn certificates() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let make = |args: &str| openssl(dir.path(), args);
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for ca in ["ca", "stranger"] {
        make(&format!("req -x509 {curve} -keyout {ca}.key -out {ca}.crt -days 2 -subj /CN={ca}"));
    }
    for (name, ca, san, days) in [
        ("server", "ca", "IP:127.0.0.1,DNS:localhost", 2),
        ("elsewhere", "ca", "DNS:elsewhere.example", 2),
        ("client", "ca", "DNS:client.example", 2),
        ("impostor", "stranger", "DNS:client.example", 2),
    ] {
        std::fs::write(dir.path().join("ext"), format!("subjectAltName={san}\nbasicConstraints=CA:FALSE\n")).unwrap();
        make(&format!("req {curve} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
        make(&format!(
            "x509 -req -in {name}.csr -CA {ca}.crt -CAkey {ca}.key -CAcreateserial -out {name}.crt -days {days} -extfile ext"
        ));
    }
    // Valid from yesterday to yesterday.
    make("req -new -key server.key -out expired.csr -subj /CN=expired");
    std::fs::write(dir.path().join("ext"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n").unwrap();
    make("x509 -req -in expired.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out expired.crt -days -1 -extfile ext");
    std::fs::copy(dir.path().join("server.key"), dir.path().join("expired.key")).unwrap();
    dir
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn server_with(certificate: &str, options: &[&str]) -> (Server, Files) {
    let files = Files { dir: certificates(), port: free_port() };
    let (port, ca) = (files.port.to_string(), files.path("ca.crt"));
    let (cert, key) = (files.path(&format!("{certificate}.crt")), files.path(&format!("{certificate}.key")));
    let mut all = vec![
        "--tls-port",
        &port,
        "--tls-ca-cert-file",
        &ca,
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
        "--bind",
        "127.0.0.1",
    ];
    if !options.contains(&"--tls-auth-clients") {
        all.extend(["--tls-auth-clients", "no"]);
    }
    all.extend(options);
    (Server::start(&all), files)
}

pub fn server(options: &[&str]) -> (Server, Files) {
    server_with("server", options)
}

/// To connect and log in.
const PATIENCE: Duration = Duration::from_secs(5);

fn queue(dsn: Dsn) -> Queue {
    Queue::new(QueueConfig { persistent: false, connect_timeout: PATIENCE, ..config(dsn, "q") })
}

fn assert_refused(dsn: Dsn, why: &str) {
    let started = Instant::now();
    let error = queue(dsn).push(&job("a")).unwrap_err();
    assert!(matches!(&error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    assert!(error.to_string().to_lowercase().contains(why), "{error}");
    assert!(started.elapsed() < 2 * PATIENCE + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn a_server_that_the_ca_vouches_for_is_spoken_to() {
    let (server, files) = server(&[]);
    for host in ["127.0.0.1", "localhost"] {
        let queue = queue(files.dsn(host));
        queue.push(&job(host)).unwrap();
        let held = reserve(&queue).unwrap();
        assert_eq!(held.id, id(host));
        queue.ack(&held.held()).unwrap();
    }
    // Large payloads, and waiting with a wake-up, over TLS.
    let queue = queue(files.dsn("127.0.0.1"));
    let large = delayqueue::core::job::NewJob { payload: vec![0xa5; 1 << 20], ..job("large") };
    queue.push(&large).unwrap();
    assert_eq!(reserve(&queue).unwrap().payload, large.payload);
    let waiter = queue.clone();
    let thread = std::thread::spawn(move || {
        waiter.reserve(&["q".into()], 1, Some(Duration::from_secs(10)), &mut NoInterrupts).unwrap().len()
    });
    let mut raw = server.raw();
    until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
    let started = Instant::now();
    queue.push(&job("b")).unwrap();
    assert_eq!(thread.join().unwrap(), 1);
    assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn an_unknown_ca_a_wrong_name_an_expired_and_a_self_signed_certificate_are_refused() {
    let (_server, files) = server(&[]);
    assert_refused(files.dsn_with("127.0.0.1", "stranger.crt", None), "ca= in the dsn");
    let system_only = Dsn::parse(&format!("rediss://127.0.0.1:{}", files.port)).unwrap();
    assert_refused(system_only, "ca= in the dsn");
    for (certificate, cure) in [
        ("elsewhere", "use a host name"),
        ("expired", "needs a new certificate"),
        ("stranger", "ca= in the dsn"),
        ("ca", "is that of a ca: sign one for the server"),
    ] {
        let (_server, files) = server_with(certificate, &[]);
        assert_refused(files.dsn("127.0.0.1"), cure);
    }
    let missing = with_login(&files.dsn("127.0.0.1"), |login| {
        login.tls = Some(delayqueue::core::dsn::Tls { ca: Some("/nowhere/ca.pem".into()), ..Default::default() });
    });
    assert_refused(missing, "/nowhere/ca.pem");
}

#[test]
fn tls_is_never_given_up_for_a_plain_port_nor_the_other_way_round() {
    let port = free_port().to_string();
    let plain = Server::start(&["--port", &port, "--bind", "127.0.0.1"]);
    let (_server, files) = server(&[]);
    let dsn = Dsn::parse(&format!("rediss://127.0.0.1:{port}/0?ca={}", files.path("ca.crt"))).unwrap();
    assert_refused(dsn, "use redis://");
    assert_refused(Dsn::parse(&format!("redis://127.0.0.1:{}/0", files.port)).unwrap(), "use rediss://");
    queue(Dsn::parse(&format!("redis://127.0.0.1:{port}/0")).unwrap()).push(&job("a")).unwrap();
    assert_eq!(states(&plain.queue("q")), [0, 1, 0, 0]);
}

#[test]
fn a_server_that_asks_for_a_client_certificate_gets_it() {
    let (_server, files) = server(&["--tls-auth-clients", "yes"]);
    assert_refused(files.dsn("127.0.0.1"), "cert= and key=");
    let error = queue(files.dsn("127.0.0.1")).push(&job("a")).unwrap_err().to_string();
    assert_eq!(error.matches("client certificate").count(), 1, "the advice comes once: {error}");
    assert_refused(files.dsn_with("127.0.0.1", "ca.crt", Some("impostor")), "127.0.0.1");
    let known = queue(files.dsn_with("127.0.0.1", "ca.crt", Some("client")));
    known.push(&job("a")).unwrap();
    assert!(reserve(&known).is_some());
}

#[test]
fn a_handshake_that_is_never_answered_meets_the_connect_timeout() {
    let files = Files { dir: certificates(), port: 0 };
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = mute.local_addr().unwrap().port();
    let dsn = Dsn::parse(&format!("rediss://127.0.0.1:{port}/0?ca={}", files.path("ca.crt"))).unwrap();
    let queue = Queue::new(QueueConfig { connect_timeout: Duration::from_millis(300), ..config(dsn, "q") });
    let started = Instant::now();
    let error = queue.push(&job("a")).unwrap_err();
    assert!(matches!(&error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    assert!(error.to_string().contains("timed out"), "{error}");
    let limit = Duration::from_millis(1_500) + stalls_since(started);
    assert!((Duration::from_millis(290)..limit).contains(&started.elapsed()));
}
