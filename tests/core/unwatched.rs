//! A batch that was to be added by a transaction, and Redis refuses a part of it: the script adds it, or says why not.

use crate::audit;
use crate::denied::user_without;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::transaction::{connected, push_while_redis_refuses, ways};
use crate::watched::{COUNT, interrupted, is_sound, late};
use delayqueue::core::error::Error;
use delayqueue::core::job::State;
use delayqueue::core::queue::Queue;
use std::time::Duration;

#[test]
fn a_look_that_breaks_is_repeated_and_has_changed_nothing() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (direct, mut raw) = (server.queue("q"), server.raw());
    for (number, command) in [b"TIME".as_slice(), b"WATCH", b"ZCARD", b"HMGET", b"MULTI"].into_iter().enumerate() {
        for (at, fault) in [Fault::DropBefore, Fault::DropReply, Fault::After(b"HTTP/1.1")].into_iter().enumerate() {
            let queue = proxy.queue("q", Duration::from_secs(5));
            queue.queues().unwrap();
            proxy.fail_at(command, fault);
            queue.push_many(&late(&format!("{number}.{at}."))).unwrap();
            assert_eq!(proxy.heal(), 1);
            assert_eq!(direct.count(None), Ok((COUNT * (3 * number + at + 1)) as u64));
        }
    }
    let queue = proxy.queue("q", Duration::from_millis(300));
    queue.queues().unwrap();
    proxy.fail_at(b"HMGET", Fault::Blackhole);
    let found = queue.push_many(&late("never"));
    assert!(matches!(found, Err(Error::Connection { ambiguous: false, .. })), "it had only asked: {found:?}");
    is_sound(&mut raw, &direct);
}

#[test]
fn a_refusal_of_the_look_leaves_it_to_the_script() {
    let server = Server::start(&[]);
    let (proxy, direct) = (Proxy::before(&server), server.queue("q"));
    for (number, command) in [b"TIME".as_slice(), b"WATCH", b"ZCARD", b"HMGET", b"MULTI"].into_iter().enumerate() {
        let queue = proxy.queue("q", Duration::from_secs(5));
        queue.queues().unwrap();
        proxy.fail_at(command, Fault::Instead(b"-ERR not today\r\n"));
        queue.push_many(&late(&format!("{number}."))).unwrap();
        assert_eq!(proxy.heal(), 1);
        assert_eq!(direct.count(None), Ok((COUNT * (number + 1)) as u64));
        queue.push(&delayed(&format!("after{number}"), 5000)).unwrap();
        assert_eq!(direct.cancel(&[id(&format!("after{number}"))]), Ok(1));
    }
    is_sound(&mut server.raw(), &direct);
}

#[test]
fn an_answer_that_does_not_tell_of_every_id_is_not_believed() {
    let server = Server::start(&[]);
    let (proxy, direct) = (Proxy::before(&server), server.queue("q"));
    direct.push(&delayed("a07", 5000)).unwrap();
    let queue = proxy.queue("q", Duration::from_secs(5));
    queue.queues().unwrap();
    proxy.fail_at(b"HMGET", Fault::Instead(b"*0\r\n"));
    let found = queue.push_many(&late("a"));
    assert!(matches!(&found, Err(Error::Duplicate { id, .. }) if id == "a07"), "{found:?}");
    assert_eq!((proxy.heal(), direct.count(None)), (1, Ok(1)));
}

#[test]
fn who_may_not_do_all_of_it_pushes_by_script_and_tries_it_once() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    for (number, denied) in ["-watch", "-hmget", "-multi", "-exec"].into_iter().enumerate() {
        raw.run(&["ACL", "LOG", "RESET"]);
        let queue = Queue::new(config(user_without(&server, &[]), &format!("q{number}")));
        queue.push(&job("old")).unwrap();
        raw.run(&["ACL", "SETUSER", "u", denied]);
        let may_push = denied != "-hmget"; // the script needs that too
        for round in 0..5 {
            let pushed = queue.push_many(&late(&format!("{round}.")));
            assert_eq!(pushed.is_ok(), may_push, "{denied}: {pushed:?}");
        }
        let redis::Value::Array(log) = raw.run(&["ACL", "LOG"]) else { panic!("no log") };
        let tried = log.iter().map(|entry| format!("{entry:?}")).filter(|entry| !entry.contains("\"lua\""));
        let tried: Vec<String> = tried.collect();
        // By the look; who may not begin a transaction is refused once more when asking what time it is.
        let is_seldom = |entry: &String| (1..3).any(|n| entry.contains(&format!("'\"count\"'), int({n})")));
        assert!(!may_push || tried.len() == 1 && tried.iter().all(is_seldom), "{denied}: {tried:?}");
        raw.run(&["ACL", "SETUSER", "u", "+@all"]);
        assert_eq!(queue.count(None), Ok(1 + if may_push { 5 * COUNT as u64 } else { 0 }), "{denied}");
        queue.push(&delayed("after", 5000)).unwrap();
        is_sound(&mut raw, &queue);
        queue.close();
    }
}

#[test]
fn what_is_watched_still_does_not_keep_a_push_from_being_made() {
    let server = Server::start(&[]);
    let (mut raw, direct) = (server.raw(), server.queue("q"));
    let queue = Queue::new(config(user_without(&server, &[]), "q"));
    queue.push(&delayed("first", 5000)).unwrap();
    queue.push(&delayed("second", 5000)).unwrap();
    raw.run(&["ACL", "SETUSER", "u", "-multi"]);
    queue.push_many(&late("a")).unwrap(); // WATCH, and no MULTI that would end it
    raw.run(&["ACL", "SETUSER", "u", "+multi"]);
    direct.push(&job("other")).unwrap();
    let before = ways(&mut raw);
    queue.push(&delayed("third", 5000)).unwrap();
    assert!(ways(&mut raw)[1] > before[1], "it was tried in a transaction");
    assert_eq!(queue.count(None), Ok(4 + COUNT as u64));
    is_sound(&mut raw, &queue);
}

#[test]
fn an_index_entry_that_was_refused_is_written_with_the_script() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let queue = proxy.queue("q", Duration::from_secs(5));
    assert_eq!(queue.queues(), Ok(Vec::new()));
    proxy.fail_at(b"ZADD", Fault::Instead(b"-LOADING Redis is loading the dataset in memory\r\n"));
    queue.push_many(&late("a")).unwrap();
    assert_eq!((proxy.heal(), queue.queues()), (1, Ok(vec!["q".to_owned()])));
}

#[test]
fn a_right_that_is_lost_after_the_look_leaves_it_to_the_script() {
    let server = Server::start(&[]);
    let (mut raw, direct) = (server.raw(), server.queue("q"));
    for right in ["exec", "hset"] {
        let (pushed, ways) = interrupted(&server, &late(right), |_| {
            raw.run(&["ACL", "SETUSER", "default", &format!("-{right}")]);
        });
        raw.run(&["ACL", "SETUSER", "default", &format!("+{right}")]);
        if right == "exec" {
            assert!(pushed.unwrap().len() == COUNT && ways[0] >= 1);
            is_sound(&mut raw, &direct);
        } else {
            assert!(matches!(&pushed, Err(Error::Server { code, .. }) if code == "NOPERM"), "{pushed:?}"); // of the script
        }
        assert_eq!(direct.list(State::Delayed, 0, 100).unwrap().len(), COUNT, "{right}");
    }
}

#[test]
fn a_foreign_key_is_reported_and_nothing_is_left_of_the_try() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    for name in ["waiting", "jobs", "waiters"] {
        raw.run(&["SET", &audit::key(&queue, name), "foreign"]);
        let _ = queue.push(&job("a")); // it is in the index of queues
        queue.cancel(&[id("a")]).ok();
        let before = raw.text(&["DEBUG", "DIGEST"]);
        let found = queue.push_many(&late("a"));
        if name == "waiters" {
            found.unwrap(); // nobody can be woken, which is no reason to refuse
        } else {
            assert!(matches!(&found, Err(Error::Server { code, .. }) if code == "WRONGTYPE"), "{found:?}");
            assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before, "foreign {name}");
        }
        raw.run(&["DEL", &audit::key(&queue, name)]);
    }
    assert_eq!(queue.count(None), Ok(COUNT as u64));
    queue.push_many(&late("b")).unwrap();
}

#[test]
fn what_cannot_be_undone_is_reported_as_possibly_done() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = Queue::new(config(user_without(&server, &["-hdel"]), "q"));
    queue.push(&job("old")).unwrap();
    raw.run(&["SET", &audit::key(&queue, "waiting"), "foreign"]);
    let found = queue.push_many(&late("a"));
    assert!(matches!(&found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    let text = found.unwrap_err().to_string();
    assert!(text.starts_with("pushing 40 jobs to queue 'q': the jobs were stored"), "{text}");
}

#[test]
fn a_refusal_says_why_and_the_connection_goes_on() {
    push_while_redis_refuses(COUNT as u64, |queue| queue.push_many(&late("a")).map(|_| ()));
}
