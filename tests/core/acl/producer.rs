//! A producer can push, and that is all.

use super::{documented, set_user};
use crate::audit::Snapshot;
use crate::new_jobs::{once, replacing};
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{NoInterrupts, OnceJob, Queue, QueueConfig};
use std::time::Duration;

#[test]
fn the_documented_producer_can_neither_take_nor_change_a_job() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    set_user(&mut raw, &documented("dqproducer"));
    let queue = server.queue("q");
    push_many(&queue, &[job("a"), job("buried")]);
    let held = reserve(&queue).unwrap();
    queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
    let before = Snapshot::of(&mut raw, &queue);
    let producer = Queue::new(config(as_user(&server, "dqproducer"), "q"));
    let denied = |result: Result<(), Error>| matches!(result, Err(Error::Server { code, .. }) if code == "NOPERM");
    assert!(denied(producer.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).map(|_| ())));
    assert!(denied(producer.ack(&held.held())));
    assert!(denied(producer.bury(&held.held(), None)));
    assert!(denied(producer.release(&held.held(), Due::InMs(0), None, true)));
    assert!(denied(producer.touch(&held.held(), None).map(|_| ())));
    assert!(denied(producer.update(&id("a"), Changes::payload(b""), None, None).map(|_| ())));
    assert!(denied(producer.reserve_job(&id("a")).map(|_| ())));
    assert!(denied(producer.reschedule(&id("a"), Due::InMs(0), false).map(|_| ())));
    assert!(denied(producer.kick_job(&id("a"), false).map(|_| ())));
    assert!(denied(producer.peek(&id("a")).map(|_| ())));
    assert!(denied(producer.list(State::Ready, 0, 1).map(|_| ())));
    assert!(denied(producer.count_due(&[1]).map(|_| ())));
    assert!(producer.now_us().unwrap() > 0, "the documented list has TIME");
    assert_eq!((producer.receipts(0, b"", 1).unwrap().len(), producer.taken_ids().unwrap().len()), (0, 0));
    let again = OnceJob { is_buried: true, ..once("r", replacing(job("a"))) };
    assert!(denied(producer.push_once(&[again]).map(|_| ())));
    assert!(denied(producer.cancel(&[id("a")]).map(|_| ())));
    assert!(denied(producer.purge(&[]).map(|_| ())));
    assert!(denied(producer.forget().map(|_| ())));
    assert!(denied(producer.stats().map(|_| ())));
    assert!(denied(producer.take(None, 1).map(|_| ())));
    assert!(denied(producer.kick(1, false).map(|_| ())));
    assert!(denied(producer.resume(None)));
    assert_eq!(Snapshot::of(&mut raw, &queue), before);
    let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..job("b") };
    producer.push(&replacing).unwrap();
    assert!(denied(producer.push(&replacing).map(|_| ())));
    assert_eq!(states(&queue), [0, 1, 1, 1]);
    raw.run(&["ACL", "SETUSER", "dqproducer", "+hdel", "+hincrby"]);
    producer.push(&replacing).unwrap();
    assert_eq!(states(&queue), [0, 1, 1, 1]);
}

#[test]
fn the_documented_producers_cannot_read_a_job_by_any_command() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = server.queue("q");
    push_many(&queue, &[job("a"), prioritized("b", 1)]);
    for user in ["dqproducer", "dqhardened"] {
        set_user(&mut raw, &documented(user));
        let mut producer = Raw::open(&as_user(&server, user));
        for reading in [
            "HGET KEY a",
            "HMGET KEY a",
            "HGETALL KEY",
            "HVALS KEY",
            "HSCAN KEY 0",
            "HRANDFIELD KEY 1 WITHVALUES",
            "DUMP KEY",
            "SORT KEY",
            "COPY KEY dq:copy",
            "RENAME KEY dq:copy",
            "MIGRATE 127.0.0.1 1 KEY 0 1",
            "HDEL KEY a",
            "DEL KEY",
            "MONITOR",
            "DEBUG SLEEP 0",
            "ACL LIST",
        ] {
            let words: Vec<String> = reading.split(' ').map(|word| word.replace("KEY", "dq:{q}:jobs")).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let reply = format!("{:?}", producer.run(&words));
            assert!(reply.to_uppercase().contains("NOPERM"), "{user}, {reading}: {reply}");
        }
        let script = producer.run(&["EVAL", "return redis.call('HGET', KEYS[1], 'a')", "1", "dq:{q}:jobs"]);
        assert!(matches!(script, redis::Value::ServerError(_)), "{user}: {script:?}");
    }
    assert_eq!(states(&queue), [0, 2, 0, 0]);
}

/// A repeat that finds its id taken would have to read the job.
#[test]
fn a_producer_that_may_not_read_jobs_is_left_in_doubt_by_a_lost_answer() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let proxy = Proxy::before(&server);
    let jobs = [vec![job("a")], vec![job("b"), job("c")], vec![prioritized("d", 1)]];
    for (rights, is_known) in [("-hget", false), ("+hget", true)] {
        set_user(&mut raw, &documented("dqproducer"));
        raw.run(&["ACL", "SETUSER", "dqproducer", rights]);
        for jobs in &jobs {
            raw.run(&["FLUSHALL"]);
            let dsn = with_login(&proxy.dsn(), |login| {
                (login.user, login.password) = (Some("dqproducer".into()), Some("secret".into()));
            });
            let producer = Queue::new(QueueConfig { persistent: false, ..config(dsn, "q") });
            proxy.fail(Fault::DropReply, 1);
            let result = producer.push_many(jobs, &mut Vec::new());
            if is_known {
                result.unwrap();
            } else {
                let error = result.unwrap_err();
                assert!(matches!(&error, Error::Connection { ambiguous: true, .. }), "{error:?}");
                assert!(error.to_string().contains("NOPERM"), "{error}");
            }
            assert_eq!(server.queue("q").count(None).unwrap(), jobs.len() as u64, "they are there, once");
        }
    }
    // Where others' jobs have the ids, nobody reads them, and nobody has to.
    set_user(&mut raw, &documented("dqproducer"));
    let keeping = NewJob { on_duplicate: OnDuplicate::Keep, ..job("d") };
    let producer = Queue::new(config(as_user(&server, "dqproducer"), "q"));
    producer.push_many(&[keeping.clone(), NewJob { id: Some(id("e")), ..keeping }], &mut Vec::new()).unwrap();
}
