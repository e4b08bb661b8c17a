//! forget(): a queue that is empty and unused goes, with its name in the index; one in use stays as it is.

use crate::support::*;
use crate::topology::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::State;
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::NoInterrupts;
use std::time::Duration;

/// Names of keys, less the scripts' own.
fn keys(raw: &mut Raw) -> Vec<String> {
    let redis::Value::Array(names) = raw.run(&["KEYS", "*"]) else { panic!("a list of keys") };
    names.into_iter().filter_map(delayqueue::core::reply::text).collect()
}

#[test]
fn of_a_forgotten_queue_no_key_is_left_and_its_numbers_begin_anew() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (Partitions::new(&server.queue("q"), 1), server.raw());
    assert!(queue.forget().unwrap(), "a queue that never was is forgotten already");
    queue.push(prioritized("a", 1)).unwrap();
    queue.push(job("b")).unwrap();
    let (part, held) = queue
        .at_home(&id("a"), |part| Ok(part.reserve_job(&id("a"))?.map(|job| (part.clone(), job))))
        .unwrap()
        .unwrap();
    part.bury(&held.held(), None).unwrap();
    assert!(!queue.forget().unwrap(), "it has jobs");
    assert_eq!(
        (
            queue.each(None, |part| part.count(None)).map(|counts| counts.iter().sum::<u64>()).unwrap(),
            queue.first().queues().unwrap()
        ),
        (2, vec!["q".to_owned()])
    );
    assert_eq!(queue.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap(), 2);
    raw.run(&["ZADD", "dq:{q}:waiters", "1", "dead1", "9e15", "dead2"]);
    assert!(queue.forget().unwrap());
    assert_eq!(keys(&mut raw), Vec::<String>::new());
    queue.push(job("a")).unwrap();
    assert_eq!(queue.stats().unwrap().pushed, 1);
    assert_eq!(reserve(queue.first()).unwrap().receipt.token(), 1);
}

#[test]
fn jobs_that_lie_in_no_state_keep_their_queue_and_so_does_a_newer_schema() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    queue.push(&job("a")).unwrap();
    raw.run(&["DEL", "dq:{q}:waiting"]);
    assert!(!queue.forget().unwrap());
    queue.doctor(true).unwrap();
    assert_eq!(queue.purge(&[]).unwrap(), 1);
    raw.run(&["RPUSH", "dq:{q}:waiting", "2"]);
    assert!(matches!(queue.forget(), Err(Error::Server { code, .. }) if code == "DQSCHEMA"));
    assert_eq!(raw.int(&["LLEN", "dq:{q}:waiting"]), 1);
}

#[test]
fn more_dead_waiters_than_one_script_may_look_at_do_not_keep_a_queue() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    for number in 0..250 {
        raw.run(&["ZADD", "dq:{q}:waiters", "9e15", &format!("dead{number}")]);
    }
    assert!(queue.forget().unwrap());
    assert_eq!(keys(&mut raw), Vec::<String>::new());
}

#[test]
fn a_paused_queue_and_one_that_a_consumer_waits_for_stay() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (Partitions::new(&server.queue("q"), 1), server.raw());
    queue.push(job("a")).unwrap();
    queue.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap();
    queue.sum(None, "partitions paused", |part| part.pause(None, None).map(|()| 1)).unwrap();
    assert!(!queue.forget().unwrap());
    assert!(queue.is_paused(None).unwrap());
    queue.sum(None, "partitions resumed", |part| part.resume(None).map(|()| 1)).unwrap();
    std::thread::scope(|scope| {
        let waiting = queue.clone();
        let waiter =
            scope.spawn(move || waiting.reserve(&["q".into()], 1, Some(Duration::from_secs(60)), &mut NoInterrupts));
        until("a consumer waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        assert!(!queue.forget().unwrap());
        assert_eq!(queue.first().queues().unwrap(), ["q"]);
        assert_eq!(raw.int(&["ZCARD", "dq:{q}:waiters"]), 1);
        queue.push(job("b")).unwrap();
        assert!(waiter.join().unwrap().unwrap().is_some(), "it still hears of a push");
    });
}

#[test]
fn a_queue_is_forgotten_with_all_partitions_and_none_while_one_has_a_job() {
    let cluster = Cluster::start(3, false, 60_000);
    let queue = Partitions::new(&cluster.queue("q"), 4);
    let jobs = (0..40).map(|number| job(&format!("order-{number}"))).collect();
    queue.push_many(jobs, &mut Vec::new()).unwrap();
    let few = Partitions::new(&cluster.queue("q"), 1);
    few.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap();
    assert!(!few.forget().unwrap(), "a client of one partition looks at those that the index knows");
    assert_eq!(
        queue.each(None, |part| part.count(Some(State::Ready))).map(|counts| counts.iter().sum::<u64>()).unwrap() > 0,
        queue.first().queues().unwrap() == ["q"]
    );
    queue.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap();
    assert!(few.forget().unwrap());
    assert!(queue.first().queues().unwrap().is_empty());
    for node in &cluster.nodes {
        assert_eq!(keys(&mut node.raw()), Vec::<String>::new());
    }
}

#[test]
fn a_forgotten_queue_is_known_again_with_the_first_push_of_another_process() {
    let server = Server::start(&[]);
    let queue = Partitions::new(&server.queue("q"), 1);
    queue.push(job("a")).unwrap();
    queue.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap();
    assert!(queue.forget().unwrap());
    queue.close(); // as a process that ends: what it knows of the index goes with its connection
    queue.push(job("a")).unwrap();
    assert_eq!(queue.first().queues().unwrap(), ["q"]);
}
