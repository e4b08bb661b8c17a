//! The look of a worker before its first job: it takes none, and says what is missing.

use crate::acl::{documented, set_user};
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::queue::{Queue, QueueConfig, check_ready};
use std::time::Duration;

/// The look of a process that knows nothing of the server yet.
fn look_as(dsn: Dsn) -> Result<(), Error> {
    let queue = Queue::new(QueueConfig { persistent: false, read_timeout: Duration::from_secs(3), ..config(dsn, "q") });
    check_ready(&[queue.sibling("other"), queue])
}

#[test]
fn the_documented_worker_is_ready_and_the_look_changes_nothing() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    set_user(&mut raw, &documented("dqworker"));
    look_as(as_user(&server, "dqworker")).unwrap();
    assert_eq!(raw.int(&["DBSIZE"]), 0);
    push_many(&queue, &[job("ready"), delayed("later", 60_000), prioritized("urgent", 1)]);
    look_as(as_user(&server, "dqworker")).unwrap();
    assert_eq!(states(&queue), [1, 2, 0, 0]);
    assert_eq!(serve_all(&queue), ["urgent", "ready"]);
}

#[test]
fn a_worker_without_any_one_right_is_not_ready_and_the_look_names_it() {
    let server = Server::start(&[]);
    let needed = "exists hget hmget hexists hlen hset hdel hincrby zadd zrem zrange zrangebyscore zrangebylex zlexcount \
        zscore zmscore zrank zcard zcount publish subscribe";
    for right in needed.split(' ') {
        let line: Vec<String> = documented("dqworker").into_iter().filter(|word| word[1..] != *right).collect();
        set_user(&mut server.raw(), &line);
        let error = look_as(as_user(&server, "dqworker")).unwrap_err();
        assert!(matches!(&error, Error::Server { code, .. } if code == "NOPERM"), "{right}: {error}");
        assert!(error.to_string().contains(&format!("'{right}'")), "{right}: {error}");
    }
}

#[test]
fn all_missing_commands_are_named_at_once() {
    let server = Server::start(&[]);
    let error = look_as(user_without(&server, &["-hset", "-zadd"])).unwrap_err().to_string();
    assert!(error.contains("'hset'") && error.contains("'zadd'"), "{error}");
}

#[test]
fn a_user_without_the_right_to_the_keys_is_told_which_keys() {
    let server = Server::start(&[]);
    let error = look_as(user_without(&server, &["resetkeys", "~dq:{other}:*"])).unwrap_err().to_string();
    assert!(error.contains("NOPERM") && error.contains("dq:{q}:*"), "{error}");
}

#[test]
fn a_worker_of_an_older_version_is_not_ready() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.push(&job("a")).unwrap();
    let waiting = key(&queue, "waiting");
    server.raw().run(&["DEL", &waiting]);
    server.raw().run(&["RPUSH", &waiting, "2"]);
    let error = look_as(server.dsn()).unwrap_err();
    assert!(matches!(&error, Error::Server { code, .. } if code == "DQSCHEMA"), "{error}");
}

#[test]
fn a_wrong_password_and_a_server_that_is_away_are_told() {
    let server = Server::start(&[]);
    let mut wrong = user_without(&server, &[]);
    wrong = with_login(&wrong, |login| login.password = Some("wrong".into()));
    assert!(matches!(look_as(wrong), Err(Error::Authentication { .. })));
    let mut gone = Server::start(&[]);
    gone.kill();
    assert!(look_as(gone.dsn()).unwrap_err().is_retryable());
}
