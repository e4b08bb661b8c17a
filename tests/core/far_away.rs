//! Many queues, or many partitions of one, over a slow link: what they are asked for together takes a few round trips, each with a time of its own.

use crate::relay::Relay;
use crate::support::*;
use crate::worker_loop::keeper;
use delayqueue::core::groups::Group;
use delayqueue::core::job::State;
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{NoInterrupts, Queue, check_ready, reserve_from};
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::sync::mpsc;
use std::time::Duration;

const QUEUES: usize = 300;
/// One round trip after the other, so many queues would take longer than one operation may.
const EACH_WAY: Duration = Duration::from_millis(4);
/// Round trips that are few, whatever a busy machine makes of pieces on their way.
const FEW: u32 = 60;

fn queues(relay: &Relay) -> Vec<Queue> {
    let first = relay.queue("q0");
    (0..QUEUES).map(|number| first.sibling(&format!("q{number}"))).collect()
}

/// In how many queues waiters are registered.
fn waiters(raw: &mut Raw) -> i64 {
    let count = "local n = 0 for _, key in ipairs(redis.call('KEYS', 'dq:*:waiters')) do n = n + redis.call('ZCARD', key) end return n";
    raw.int(&["EVAL", count, "0"])
}

fn kill_clients(raw: &mut Raw) {
    for kind in ["normal", "pubsub"] {
        raw.run(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"]);
    }
}

#[test]
fn a_loop_of_many_queues_starts_and_goes_on_after_its_connection_was_lost_in_a_few_round_trips() {
    let server = Server::start(&[]);
    let (relay, mut raw) = (Relay::before(&server, EACH_WAY), server.raw());
    let (all, (sender, jobs)) = (queues(&relay), mpsc::channel());
    let worker = std::thread::spawn(move || {
        check_ready(&all)?;
        let mut feed = Feed::new(all, 1, keeper());
        loop {
            if let Fetched::Job(delivery) = feed.next(None, &mut NoInterrupts)? {
                feed.done(&delivery.ticket);
                sender.send(delivery.job.id.to_string()).unwrap();
                if delivery.job.id.to_string() == "end" {
                    feed.flush()?;
                    return feed.return_rest();
                }
            }
        }
    });
    until("it waits", || waiters(&mut raw) == QUEUES as i64);
    let trips = relay.take_trips();
    assert!(trips < FEW, "{trips} round trips before the first wait");
    for (turn, queue) in ["q7", "q299"].into_iter().enumerate() {
        kill_clients(&mut raw);
        raw.run(&[
            "EVAL",
            "for _, key in ipairs(redis.call('KEYS', 'dq:*:waiters')) do redis.call('DEL', key) end",
            "0",
        ]);
        until("it waits again", || waiters(&mut raw) == QUEUES as i64);
        server.queue(queue).push(&job(&format!("{turn}"))).unwrap();
        assert_eq!(jobs.recv_timeout(Duration::from_secs(20)).unwrap(), format!("{turn}"));
    }
    server.queue("q150").push(&job("end")).unwrap();
    assert_eq!(jobs.recv_timeout(Duration::from_secs(20)).unwrap(), "end");
    worker.join().unwrap().unwrap();
    let trips = relay.take_trips();
    assert!(trips < 3 * FEW, "{trips} round trips for three jobs and two lost connections");
    assert_eq!(waiters(&mut raw), 0);
}

/// Each has a job that a look finds, and that is not to be had.
#[test]
fn a_reserve_of_many_paused_queues_waits_after_a_few_round_trips() {
    let server = Server::start(&[]);
    let (relay, mut raw) = (Relay::before(&server, EACH_WAY), server.raw());
    let all = queues(&relay);
    for queue in &all {
        let queue = server.queue(queue.name());
        queue.push(&job("a")).unwrap();
        queue.pause(None, None).unwrap();
    }
    assert_eq!(reserve_from(&all, 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap(), None);
    let trips = relay.take_trips();
    assert!(trips < FEW, "{trips} round trips to find nothing");
    let waiting = {
        let all = all.clone();
        std::thread::spawn(move || reserve_from(&all, 1, Some(Duration::from_secs(60)), &mut NoInterrupts))
    };
    until("it waits", || waiters(&mut raw) == QUEUES as i64);
    server.queue("q123").resume(None).unwrap();
    let (index, jobs) = waiting.join().unwrap().unwrap().unwrap();
    assert_eq!((index, jobs.len()), (123, 1));
    let trips = relay.take_trips();
    assert!(trips < 2 * FEW, "{trips} round trips to wait and to get a job");
}

#[test]
fn what_many_partitions_are_asked_takes_a_few_round_trips() {
    let server = Server::start(&[]);
    let relay = Relay::before(&server, EACH_WAY);
    let near = Partitions::new(&server.queue("q"), 256);
    for number in 0..20 {
        near.push(delayed(&format!("later-{number}"), 600_000)).unwrap();
        near.push(job(&format!("now-{number}"))).unwrap();
    }
    // A server that was restarted knows no script.
    server.raw().run(&["SCRIPT", "FLUSH"]);
    let far = Partitions::new(&relay.queue("q"), 256);
    let few = |what: &str| {
        let trips = relay.take_trips();
        assert!(trips < FEW, "{trips} round trips for {what}");
    };
    assert_eq!(far.stats().unwrap().ready, 20);
    few("stats");
    assert_eq!(far.count(Some(State::Delayed)).unwrap(), 20);
    few("count");
    assert!(far.peek_state(State::Ready).unwrap().is_some());
    few("peek");
    assert!(!far.is_paused(None).unwrap());
    few("is_paused");
    assert_eq!(far.limits().unwrap(), near.limits().unwrap());
    few("limits");
    assert_eq!(far.groups(100, b"").unwrap(), Vec::<Vec<u8>>::new());
    few("groups");
    assert_eq!(far.count_due(&[i64::MAX, 0]).unwrap(), [40, 0]);
    few("count_due");
    assert_eq!(far.list_from(State::Delayed, None, 0, 100).unwrap().len(), 20);
    few("list");
    assert_eq!(far.receipts(0, b"", 10).unwrap(), Vec::<Vec<u8>>::new());
    assert_eq!(far.taken_ids().unwrap(), []);
    few("receipts and taken ids");
    assert!(far.at_home(&id("nowhere"), |part| part.peek(&id("nowhere"))).unwrap().is_none());
    few("a look for a job that is not there");
    assert_eq!(far.take(None, 100).unwrap().len(), 20);
    few("take");
    assert!(!far.is_paused(Some(&Group::new(b"g").unwrap())).unwrap());
    few("the pause of a group");
}

/// Redis counts these by itself, every five minutes at most.
#[test]
fn a_lost_connection_costs_no_script_for_each_queue() {
    let server = Server::start(&[]);
    let (relay, mut raw) = (Relay::before(&server, Duration::ZERO), server.raw());
    let all = queues(&relay);
    let look = || assert_eq!(reserve_from(&all, 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap(), None);
    look();
    let before = raw.calls("evalsha");
    kill_clients(&mut raw);
    look();
    look();
    assert!(raw.calls("evalsha") - before <= 4, "{} scripts for two looks", raw.calls("evalsha") - before);
}
