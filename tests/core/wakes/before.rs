//! Queues in which nothing is to be done for a while, and what is known of that.

use crate::groups::{concurrency, group, of, ordered, rate};
use crate::support::*;
use delayqueue::core::job::{Due, JobOptions, NewJob, Reserved};
use delayqueue::core::keys::Keys;
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Fetch, Queue, ReserveOutcome};
use delayqueue::core::scripts::{self, Script};
use std::time::Duration;

/// Beyond the horizon of waiters: what is due then wakes nobody.
pub const LATER: Due = Due::InMs(3_600_000);
pub const HORIZON: Duration = Duration::from_secs(6);

pub fn nothing(_: &Queue) -> Vec<Reserved> {
    Vec::new()
}

pub fn one_held(queue: &Queue) -> Vec<Reserved> {
    queue.push(&job("held")).unwrap();
    reserve_many(queue, 1)
}

pub fn one_later(queue: &Queue) -> Vec<Reserved> {
    queue.push(&NewJob { due: LATER, ..job("later") }).unwrap();
    Vec::new()
}

pub fn one_buried(queue: &Queue) -> Vec<Reserved> {
    let held = one_held(queue);
    queue.bury(&held[0].held(), None).unwrap();
    Vec::new()
}

/// One job of a group is held, and the next one waits.
pub fn held_and_next(queue: &Queue) -> Vec<Reserved> {
    push_many(queue, &[of("g", "held"), of("g", "next")]);
    reserve_many(queue, 1)
}

pub fn full_group(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    held_and_next(queue)
}

pub fn full_queue(queue: &Queue) -> Vec<Reserved> {
    queue.limit_queue(Some(&concurrency(1))).unwrap();
    held_and_next(queue)
}

pub fn spent_group(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&rate(1, 3_600_000))).unwrap();
    held_and_next(queue)
}

pub fn spent_queue(queue: &Queue) -> Vec<Reserved> {
    queue.limit_queue(Some(&rate(1, 3_600_000))).unwrap();
    held_and_next(queue)
}

/// The first job of an ordered group came back, and the next one waits for it.
pub fn held_up(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&ordered())).unwrap();
    push_many(queue, &[of("g", "first"), of("g", "next")]);
    let first = reserve_many(queue, 1);
    queue.release(&first[0].held(), LATER, None, true).unwrap();
    Vec::new()
}

pub fn paused(queue: &Queue) -> Vec<Reserved> {
    queue.push(&job("a")).unwrap();
    queue.pause(None, None).unwrap();
    Vec::new()
}

pub fn paused_group(queue: &Queue) -> Vec<Reserved> {
    queue.push(&of("g", "a")).unwrap();
    queue.pause(None, Some(&group("g"))).unwrap();
    Vec::new()
}

pub fn raw(queue: &Queue) -> Raw {
    Raw::open(&queue.client().key().dsn)
}

/// Runs a script that leases jobs, for a consumer of its own.
pub fn run(queue: &Queue, script: &Script, args: &[&str]) {
    let keys = Keys::new("dq", queue.name(), 0);
    let (keys, offset) = (keys.all(), b"0".as_slice());
    let count = keys.len().to_string();
    let head = [b"EVAL".as_slice(), script.source.as_bytes(), count.as_bytes()];
    let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
    raw(queue).run_bytes(&[&head, &keys[..], &[offset], &args].concat());
}
/// The first job of an ordered group came back and is due soon; another one was taken by its id, and the group has left the line.
pub fn first_is_due_soon(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&ordered())).unwrap();
    push_many(queue, &[of("g", "first"), of("g", "next")]);
    let first = reserve_many(queue, 1);
    queue.release(&first[0].held(), Due::InMs(5_000), None, true).unwrap();
    let held = queue.reserve_job(&id("next")).unwrap().unwrap();
    next_moment(queue);
    vec![held]
}

pub fn two_full_groups(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    push_many(queue, &[of("g", "1"), of("h", "2"), of("g", "3"), of("h", "4")]);
    reserve_many(queue, 2)
}

pub fn two_lost(queue: &Queue) -> Vec<Reserved> {
    push_many(queue, &[job("1"), job("2")]);
    run(queue, &scripts::RESERVE, &["me@here:1", "7", "2", "", "1000000", "", "0", ""]);
    Vec::new()
}

pub fn short_later(queue: &Queue) -> Vec<Reserved> {
    let options = JobOptions { ttr_ms: 1_000, ..JobOptions::default() };
    queue.push(&NewJob { options, due: LATER, ..job("later") }).unwrap();
    Vec::new()
}

pub fn one_without_lease(queue: &Queue) -> Vec<Reserved> {
    let held = one_held(queue);
    raw(queue).run(&["HDEL", &key(queue, "leases"), "held"]);
    held
}

pub fn one_without_entry(queue: &Queue) -> Vec<Reserved> {
    queue.push(&of("g", "a")).unwrap();
    raw(queue).run(&["DEL", &key(queue, "groups")]);
    Vec::new()
}

/// When a waiter would look, as far as it can know; `None`: at no moment that would wake anybody.
pub fn next_moment(queue: &Queue) -> Option<Duration> {
    let mut connections = Connections::default();
    let found = loop {
        match queue.reserve_now(&mut connections, &mut Fetch::default(), None).unwrap() {
            ReserveOutcome::Jobs(_) => break Some(Duration::ZERO),
            ReserveOutcome::Nothing(next) => break next.wait,
            ReserveOutcome::Again => {}
        }
    };
    queue.client().give_back(connections);
    found.filter(|wait| *wait <= HORIZON)
}
