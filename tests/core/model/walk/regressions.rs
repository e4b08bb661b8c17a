//! Walks that found mistakes, a few steps each.

use super::super::reference::Push;
use super::Walk;
use crate::support::*;
use delayqueue::core::job::{Due, JobOptions, OnDuplicate};

/// Takes these steps and compares the queue with the model.
fn walk(steps: impl FnOnce(&mut Walk)) {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let mut walk = Walk::new(0, true, &server, &clock);
    steps(&mut walk);
    walk.compare_keys();
    walk.compare_answers();
}

fn push(id: &str, priority: u32, on_duplicate: OnDuplicate) -> Push {
    let options = JobOptions { priority, ttr_ms: 100, ..JobOptions::default() };
    let payload = format!("{id} {priority} {on_duplicate:?}").into_bytes();
    Push { id: id.into(), payload, options, due: Due::InMs(0), on_duplicate, unique_ms: None, max_wait_ms: None }
}

#[test]
fn a_job_that_is_settled_twice_in_one_call_counts_once() {
    walk(|walk| {
        walk.push(&[push("a", 1024, OnDuplicate::Fail)], false);
        walk.reserve(1, false);
        let held = walk.held[0].clone();
        walk.ack(&[held.clone(), held], false);
    });
}

#[test]
fn the_only_job_of_another_priority_is_first_when_its_lease_has_ended() {
    walk(|walk| {
        walk.push(&[push("a", 5, OnDuplicate::Fail), push("b", 1024, OnDuplicate::Fail)], false);
        walk.reserve(1, false);
        walk.set_clock(walk.model.now + 100_000);
        walk.reserve(1, false);
    });
}

#[test]
fn a_lost_batch_knows_a_job_that_it_replaced_itself() {
    for (first, old) in [(OnDuplicate::Fail, false), (OnDuplicate::Replace, false), (OnDuplicate::Replace, true)] {
        walk(|walk| {
            if old {
                walk.push(&[push("a", 7, OnDuplicate::Fail)], false);
            }
            let batch = [push("a", 5, first), push("b", 5, OnDuplicate::Fail), push("a", 6, OnDuplicate::Replace)];
            walk.push(&batch, true);
        });
    }
}

#[test]
fn a_lost_replacement_counts_once() {
    walk(|walk| {
        walk.push(&[push("a", 1024, OnDuplicate::Fail)], false);
        walk.push(&[push("a", 1024, OnDuplicate::Replace)], true);
    });
}

#[test]
fn a_job_of_another_priority_that_is_not_due_any_more_is_kicked() {
    walk(|walk| {
        walk.push(&[push("a", 5, OnDuplicate::Fail), push("b", 6, OnDuplicate::Fail)], false);
        walk.compare_answers();
        walk.set_clock(walk.model.now - 10_000);
        walk.kick_job("a", false, false);
    });
}
