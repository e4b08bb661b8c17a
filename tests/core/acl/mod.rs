//! The users of `docs/acl.md` have all the rights they need, and not one more.

mod extras;
mod groups;
mod hardened;
mod places;
mod producer;
mod reader;
mod scenario;

use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::queue::{Queue, QueueConfig};
use places::Place;
use scenario::Errors;
use std::time::Duration;

const DOCUMENT: &str = include_str!("../../../docs/acl.md");

/// The ACL line of a user, as the documentation shows it.
pub fn documented(user: &str) -> Vec<String> {
    let start = format!("ACL SETUSER {user} ");
    let line = DOCUMENT.lines().find(|line| line.starts_with(&start)).expect("docs/acl.md has the user");
    line.split_whitespace().map(|word| if word == ">SECRET" { ">secret".into() } else { word.into() }).collect()
}

/// The rights of the documentation's table for this purpose.
pub fn extra(purpose: &str) -> Vec<String> {
    let start = format!("| {purpose} |");
    let row = DOCUMENT.lines().find_map(|line| line.strip_prefix(&start)).expect("docs/acl.md has the purpose");
    let row = row.replace("\\|", "|");
    row.split(['`', ' ']).filter(|word| word.starts_with('+')).map(str::to_owned).collect()
}

pub fn set_user(raw: &mut Raw, line: &[String]) {
    let mut args: Vec<&str> = line.iter().map(String::as_str).collect();
    args.insert(3, "reset");
    let reply = raw.run(&args);
    assert!(matches!(reply, redis::Value::Okay), "{args:?}: {reply:?}");
}

/// On a thread that knows nothing of the servers yet: a client remembers their addresses.
fn anew<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// Runs every operation of a user with these rights; returns the errors of those that were refused.
fn refused(place: &mut Place, user: &str, line: &[String]) -> Vec<String> {
    anew(|| run(place, user, line))
}

fn run(place: &mut Place, user: &str, line: &[String]) -> Vec<String> {
    place.begin(line);
    let mut errors = Errors::default();
    let read_timeout = Duration::from_secs(3);
    let queue = Queue::new(QueueConfig { persistent: false, read_timeout, ..config(place.dsn(user), "q") });
    let admin = Queue::new(config(place.admin(), "q"));
    if user == "dqhardened" {
        delayqueue::core::install::install_scripts(admin.client()).unwrap();
    }
    clock::set_offset_ms(0);
    scenario::produce(&queue, &mut errors);
    scenario::spread(&queue, user != "dqworker", &mut errors);
    if user == "dqworker" {
        scenario::replace(&queue, &mut errors);
        if errors.0.is_empty() {
            scenario::repeat(&mut place.raw_of(user), &mut errors);
        }
        scenario::consume_plainly(&queue.sibling("plain"), &mut errors);
        groups::consume(&queue.sibling("grouped"), &mut errors);
        scenario::consume(&queue, &mut errors);
        scenario::enlist(&queue, &mut errors);
    }
    if errors.0.is_empty() {
        admin.purge(&[]).unwrap();
        let raw = place.raw();
        if user == "dqworker" {
            scenario::wait(&queue, "dq:{q}:waiters", raw, &mut errors);
        } else {
            scenario::wake(&queue, &admin, raw, &mut errors);
        }
    }
    if errors.0.is_empty() {
        place.push_while_the_slot_moves(&queue, &admin, &mut errors);
    }
    let mut refused: Vec<String> = errors.0.iter().map(ToString::to_string).collect();
    refused.extend(place.log());
    refused
}

fn is_complete_and_minimal(mut place: Place, user: &str) {
    let line = place.line(user);
    let all = refused(&mut place, user, &line);
    assert!(all.is_empty(), "{user} lacks a right: {all:#?}");
    for right in line.iter().filter(|word| word.starts_with('+') || word.starts_with('&')) {
        let fewer: Vec<String> = line.iter().filter(|word| *word != right).cloned().collect();
        assert!(!refused(&mut place, user, &fewer).is_empty(), "{user} does not need {right}");
    }
}

#[test]
fn the_documented_worker_has_exactly_the_rights_it_needs() {
    is_complete_and_minimal(Place::one_server(), "dqworker");
}

#[test]
fn the_documented_producer_has_exactly_the_rights_it_needs() {
    is_complete_and_minimal(Place::one_server(), "dqproducer");
}

#[test]
fn the_hardened_producer_has_exactly_the_rights_it_needs() {
    is_complete_and_minimal(Place::one_server(), "dqhardened");
}

#[test]
fn behind_sentinels_all_three_have_exactly_the_rights_they_need() {
    for user in ["dqworker", "dqproducer", "dqhardened"] {
        is_complete_and_minimal(Place::behind_sentinels(), user);
    }
}

#[test]
fn in_a_cluster_all_three_have_exactly_the_rights_they_need() {
    for user in ["dqworker", "dqproducer", "dqhardened"] {
        is_complete_and_minimal(Place::cluster(), user);
    }
}
