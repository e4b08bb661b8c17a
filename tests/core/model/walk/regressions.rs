//! Walks that found mistakes, a few steps each.

use super::super::reference::Push;
use super::Walk;
use crate::support::*;
use delayqueue::core::groups::{Group, GroupLimits};
use delayqueue::core::job::{Due, JobOptions, OnDuplicate};
use delayqueue::core::traits::{Limit, OnExpiry, Traits};

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

fn group() -> Group {
    Group::new("tenant").unwrap()
}

fn in_group(id: &str) -> Push {
    let mut push = push(id, 1024, OnDuplicate::Fail);
    push.options.extras.traits = Traits::default().group(&group()).before(&[]);
    push
}

/// The job that was reserved last comes back.
fn release(walk: &mut Walk, due: Due) {
    let held = walk.held.last().unwrap().clone();
    walk.queue.release(&held, due, None, true).unwrap();
    assert!(walk.model.release(held.receipt.token(), due, None, true, None));
}

#[test]
fn a_group_that_is_ordered_no_longer_waits_for_no_job_that_came_back() {
    walk(|walk| {
        let limits = GroupLimits { concurrency: Some(1), ..GroupLimits::default() };
        walk.limit_groups(Some(&group()), Some(GroupLimits { ordered: true, ..limits }), false);
        walk.push(&["a", "b", "c"].map(in_group), false);
        walk.set_clock(walk.model.now + 1_000);
        walk.reserve(1, false);
        release(walk, Due::InMs(2_000));
        walk.limit_groups(Some(&group()), Some(limits), false);
        walk.reserve(1, false);
        let held = walk.held.last().unwrap().clone();
        walk.ack(&[held], false);
    });
}

#[test]
fn behind_an_urgent_job_that_is_too_late_the_order_stays() {
    walk(|walk| {
        let mut late = push("late", 5, OnDuplicate::Fail);
        let expires = Traits::default().expires(Limit::AtUs(walk.model.now - 1), OnExpiry::Bury);
        late.options.extras.traits = expires.before(&[]);
        let plain = push("plain", 1024, OnDuplicate::Fail);
        walk.push(&[late, push("urgent", 5, OnDuplicate::Fail), in_group("a"), plain], false);
        walk.set_clock(walk.model.now + 1_000);
        (0..3).for_each(|_| walk.reserve(1, false));
    });
}

#[test]
fn a_job_that_came_back_begins_its_debounce_anew_though_its_batch_names_it_twice() {
    walk(|walk| {
        let debounced = |payload: &str| Push {
            payload: payload.into(),
            max_wait_ms: Some(900),
            ..push("a", 1024, OnDuplicate::Replace)
        };
        walk.push(&[debounced("one")], false);
        walk.reserve(1, false);
        release(walk, Due::InMs(10));
        walk.set_clock(walk.model.now + 1_000);
        walk.push(&[debounced("two"), push("a", 1024, OnDuplicate::Keep)], false);
    });
}

#[test]
fn a_turn_ends_with_the_limits_that_gave_it() {
    for cancels in [false, true] {
        walk(|walk| {
            let limits = GroupLimits { weight: 3, ..GroupLimits::default() };
            walk.limit_groups(None, Some(limits), false);
            walk.push(&["a", "b"].map(in_group), false);
            walk.reserve(1, false);
            let held = walk.held.last().unwrap().clone();
            walk.ack(&[held], false);
            match cancels {
                true => walk.cancel(vec!["b".into()], false),
                false => walk.push(&[push("b", 1024, OnDuplicate::Replace)], false), // into no group
            }
            walk.limit_groups(None, None, false);
            (0..2).for_each(|_| walk.reserve(1, false));
        });
    }
}

#[test]
fn a_closed_group_without_jobs_leaves_the_line() {
    walk(|walk| {
        walk.push(&[in_group("a")], false);
        walk.rate_limit(60_000, Some(&group()), false);
        walk.cancel(vec!["a".into()], false);
        walk.reserve(1, false);
    });
}

#[test]
fn a_group_of_some_weight_has_so_many_jobs_before_the_next_one() {
    for batch in [1, 5] {
        walk(|walk| {
            let limits = GroupLimits { weight: 3, ..GroupLimits::default() };
            walk.limit_groups(Some(&group()), Some(limits), false);
            walk.push(&["a", "b", "c", "d"].map(in_group), false);
            walk.set_clock(walk.model.now + 1_000);
            let mut last = in_group("z");
            last.options.extras.traits = Traits::default().group(&Group::new("other").unwrap()).before(&[]);
            walk.push(&[last], false);
            (0..5 / batch).for_each(|_| walk.reserve(batch, false));
            let ids: Vec<String> = walk.held.iter().map(|held| held.id().to_string()).collect();
            assert_eq!(ids, ["a", "b", "c", "z", "d"]);
        });
    }
}

#[test]
fn a_job_that_came_back_to_an_ordered_group_stays_the_first_when_it_is_kicked() {
    walk(|walk| {
        let limits = GroupLimits { concurrency: Some(1), ordered: true, ..GroupLimits::default() };
        walk.limit_groups(Some(&group()), Some(limits), false);
        walk.push(&["a", "b"].map(in_group), false);
        walk.reserve(1, false);
        release(walk, Due::InMs(2_000));
        walk.set_clock(walk.model.now + 1_000);
        walk.reserve(1, false);
        walk.kick_job("a", false, false);
        walk.reserve(1, false);
        assert_eq!(walk.held.last().unwrap().id().to_string(), "a");
    });
}

#[test]
fn a_job_that_came_back_to_an_ordered_group_is_cancelled_with_it() {
    walk(|walk| {
        let limits = GroupLimits { concurrency: Some(1), ordered: true, ..GroupLimits::default() };
        walk.limit_groups(Some(&group()), Some(limits), false);
        walk.push(&["a", "b"].map(in_group), false);
        walk.reserve(1, false);
        release(walk, Due::InMs(2_000));
        walk.cancel_group(&group(), false, false);
        assert_eq!(walk.model.jobs, []);
    });
}
