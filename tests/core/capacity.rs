//! How many jobs a producer leaves in a queue.

use crate::new_jobs::{once, replacing, unique};
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, OnDuplicate};
use delayqueue::core::partitions::Partitions;
use std::time::Duration;

fn keeping(name: &str) -> NewJob {
    NewJob { on_duplicate: OnDuplicate::Keep, ..job(name) }
}

fn assert_full<T: std::fmt::Debug>(result: Result<T, Error>, words: &[&str]) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::QueueFull { .. }), "{error:?}");
    for word in ["DQCAPACITY"].iter().chain(words) {
        let said = format!("{error:?} {error}");
        assert!(said.contains(word), "'{word}' is missing: {said}");
    }
}

#[test]
fn a_push_that_would_pass_it_changes_nothing_and_the_last_place_can_be_had() {
    let queue = fresh().with_capacity(Some(3));
    queue.push(&job("held")).unwrap();
    let held = reserve(&queue).unwrap();
    queue.push(&job("buried")).unwrap();
    queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
    queue.push(&delayed("late", 60_000)).unwrap();
    for refused in [job("a"), delayed("a", 1), prioritized("a", 5), keeping("a"), replacing(job("a"))] {
        assert_full(queue.push(&refused), &["3 jobs", "capacity of 3"]);
        assert_full(queue.try_push(refused.clone()), &[]);
    }
    assert_full(queue.push(&unique("a", 1_000, OnDuplicate::Fail)), &[]);
    assert_eq!((queue.count(None).unwrap(), queue.taken_ids().unwrap().len()), (3, 0), "all states count");
    queue.ack(&held.held()).unwrap();
    queue.push(&job("a")).unwrap();
    assert_full(queue.push(&job("b")), &[]);
    queue.with_capacity(None).push(&job("b")).unwrap();
}

#[test]
fn a_chunk_is_refused_as_a_whole_and_the_one_before_it_stays() {
    let queue = fresh().with_capacity(Some(700));
    let jobs: Vec<NewJob> = (0..1_000).map(|n| job(&format!("j{n:04}"))).collect();
    let mut stored = Vec::new();
    assert_full(queue.push_many(&jobs, &mut stored), &["500 of which are stored"]);
    assert_eq!((queue.count(None).unwrap(), stored.len()), (500, 500));
    push_many(&queue, &jobs[500..700]);
    assert_full(queue.push_many(&jobs[700..701], &mut stored), &[]);
}

#[test]
fn a_job_that_is_kept_or_replaced_counts_nothing() {
    let queue = fresh().with_capacity(Some(2));
    push_many(&queue, &[job("a"), job("b")]);
    push_many(&queue, &[keeping("a"), replacing(prioritized("b", 5)), replacing(job("a"))]);
    assert_full(queue.push_many(&[keeping("a"), job("c")], &mut Vec::new()), &[]);
    let full = queue.with_capacity(Some(1));
    full.push(&replacing(job("a"))).unwrap();
    full.push(&keeping("a")).unwrap();
    assert!(matches!(full.push(&job("a")), Err(Error::Duplicate { .. })), "the id is said first");
    queue.cancel(&[id("b")]).unwrap();
    push_many(&queue, &[job("c"), replacing(job("c")), keeping("c")]);
    assert_eq!(queue.count(None).unwrap(), 2, "one id is one job");
}

#[test]
fn nothing_else_is_held_up_by_it() {
    let queue = fresh().with_capacity(Some(1));
    queue.push(&job("a")).unwrap();
    queue.with_capacity(None).push(&job("b")).unwrap();
    let held = reserve_many(&queue, 2);
    queue.release(&held[0].held(), Due::InMs(0), None, true).unwrap();
    queue.bury(&held[1].held(), None).unwrap();
    assert_eq!(queue.kick(10, true).unwrap(), 1);
    assert_eq!(queue.push_once(&[once("r", job("c"))]).unwrap().added, 1);
    assert_eq!(queue.count(None).unwrap(), 3);
}

#[test]
fn each_partition_has_its_share() {
    let server = Server::start(&[]);
    let parts = Partitions::new(&server.queue("q").with_capacity(Some(10)), 4);
    let mut full = 0;
    for n in 0..200 {
        match parts.push(job(&format!("j{n}"))) {
            Ok(_) => {}
            Err(error) => {
                assert_full::<()>(Err(error), &["capacity of 3"]);
                full += 1;
            }
        }
    }
    assert_eq!(
        (parts.each(None, |part| part.count(None)).map(|counts| counts.iter().sum::<u64>()).unwrap(), full),
        (12, 188),
        "a fourth, rounded up"
    );
}

#[test]
fn a_repeat_of_a_push_that_has_filled_the_queue_is_stored() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(10)).with_capacity(Some(2)));
    queue.count(None).unwrap();
    for fault in [Fault::DropReply, Fault::DropBefore] {
        proxy.fail(fault, 1);
        push_many(&queue, &[job("a"), job("b")]);
        assert_eq!((proxy.heal(), direct.count(None).unwrap()), (1, 2), "{fault:?}");
        direct.purge(&[]).unwrap();
    }
}

#[test]
fn a_repeat_that_finds_the_queue_full_of_others_is_in_doubt() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(10)).with_capacity(Some(1)));
    queue.count(None).unwrap();
    proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_secs(1)));
    let error = std::thread::scope(|scope| {
        let pushed = scope.spawn(|| queue.push(&job("a")).unwrap_err());
        until("the first try is executed", || direct.count(None).unwrap() == 1);
        assert_eq!(serve_all(&direct), ["a"]);
        direct.push(&job("b")).unwrap();
        pushed.join().unwrap()
    });
    assert_eq!(proxy.heal(), 2);
    assert!(matches!(error, Error::Connection { ambiguous: true, .. }), "{error:?}");
    assert!(error.to_string().contains("capacity of 1"), "{error}");
}
