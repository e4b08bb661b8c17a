//! Every operation on a job in every state: one table of its answer and the job's place afterwards.

use crate::audit;
use crate::new_jobs::{once, past, receipt_only};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Failed, Held, OnceJob, PushOnce, Queue, Settled};
use std::collections::BTreeMap;

/// The file says how to read it.
const TABLE: &str = include_str!("../states.txt");

/// How the job got its past: pushed only, or held and given back before.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Past {
    None,
    Released,
}

const FAR: u64 = 3_600_000;
const TTR: u64 = 60_000;

fn subject(priority: u32, last: bool) -> NewJob {
    let options =
        JobOptions { priority, max_attempts: if last { 1 } else { 10 }, ttr_ms: TTR, ..JobOptions::default() };
    NewJob { options, ..job("x") }
}

/// Brings job `x` into a state; returns the reservation of an earlier or the present holder.
fn arrange(queue: &Queue, state: &str, priority: u32, past: Past, last: bool) -> Held {
    let hold = || queue.reserve_job(&id("x")).unwrap().unwrap();
    queue.push(&subject(priority, last)).unwrap();
    if past == Past::Released {
        let held = hold().held();
        queue.release(&held, Due::InMs(0), None, true).unwrap();
    }
    let held = hold();
    match state {
        "absent" => queue.ack(&held.held()).unwrap(),
        "delayed" | "ready" => {
            if past == Past::Released {
                queue.release(&held.held(), Due::InMs(if state == "ready" { 0 } else { FAR }), None, true).unwrap();
            } else {
                // As if it had never been held: no history.
                queue.ack(&held.held()).unwrap();
                let due = Due::InMs(if state == "ready" { 0 } else { FAR });
                queue.push(&NewJob { due, ..subject(priority, last) }).unwrap();
            }
        }
        "ours" => {}
        "expired" | "spent" => travel(i64::try_from(TTR).unwrap() + 1),
        "theirs" if last => {
            // A last attempt that runs out is buried: it was kicked before the other one got it.
            queue.bury(&held.held(), None).unwrap();
            hold();
        }
        "theirs" => {
            travel(i64::try_from(TTR).unwrap() + 1);
            hold();
        }
        "buried" => queue.bury(&held.held(), Some(b"why")).unwrap(),
        _ => unreachable!(),
    }
    held.held()
}

fn lease(result: Result<(), Error>) -> String {
    match result {
        Ok(()) => "ok".into(),
        Err(Error::LeaseLost { .. }) => "lost".into(),
        Err(other) => other.to_string(),
    }
}

fn pushed(result: Result<delayqueue::core::job::JobId, Error>) -> String {
    match result {
        Ok(_) => "pushed".into(),
        Err(Error::Duplicate { .. }) => "duplicate".into(),
        Err(other) => other.to_string(),
    }
}

fn tried(stored: Option<delayqueue::core::job::JobId>) -> String {
    if stored.is_some() { "pushed" } else { "none" }.into()
}

/// How many were added, kept, known. A second call knows the receipt, and changes nothing.
fn once_told(queue: &Queue, job: OnceJob) -> String {
    let told = queue.push_once(std::slice::from_ref(&job)).unwrap();
    assert_eq!(queue.push_once(&[job]).unwrap(), PushOnce { known: 1, ..PushOnce::default() });
    queue.forget_receipts(&[b"r".to_vec()]).unwrap();
    format!("{}{}{}", told.added, told.kept, told.known)
}

fn yes(done: bool) -> String {
    if done { "yes" } else { "no" }.into()
}

fn failed(result: Result<Failed, Error>) -> String {
    match result {
        Ok(Failed::Buried) => "buried".into(),
        Ok(Failed::Retried { .. }) => "retry".into(),
        Err(error) => lease(Err(error)),
    }
}

fn perform(queue: &Queue, operation: &str, held: &Held, priority: u32) -> String {
    let x = id("x");
    let again = |on_duplicate| NewJob { on_duplicate, ..subject(priority, false) };
    let got = |job: Option<delayqueue::core::job::Reserved>| if job.is_some() { "got" } else { "none" }.to_owned();
    match operation {
        "ack" => lease(queue.ack(held)),
        "ack many" => match queue.ack_many(&[held.finished()]).unwrap()[..] {
            [Settled::Ours] => "ok".into(),
            _ => "lost".into(),
        },
        "release" => lease(queue.release(held, Due::InMs(0), None, true)),
        "release later" => lease(queue.release(held, Due::InMs(FAR), None, true)),
        "release urgent" => lease(queue.release(held, Due::InMs(0), Some(3), true)),
        "release plain" => lease(queue.release(held, Due::InMs(0), Some(1024), true)),
        "give back" => match queue.give_back(&[&held.receipt]).unwrap()[..] {
            [Settled::Ours] => "ok".into(),
            _ => "lost".into(),
        },
        "release uncounted" => lease(queue.release(held, Due::InMs(0), None, false)),
        "renew" => match queue.renew(&[(&held.receipt, TTR)]).unwrap()[..] {
            [Some(_)] => "ok".into(),
            _ => "lost".into(),
        },
        "update held" => lease(queue.update_held(held, Changes::payload(b"new"))),
        "fail" | "fail last" => failed(queue.fail(held, Some(b"boom"))),
        "bury" => lease(queue.bury(held, Some(b"boom"))),
        "touch" => lease(queue.touch(held, None).map(|_| ())),
        "cancel" => queue.cancel(&[x]).unwrap().to_string(),
        "reschedule now" => yes(queue.reschedule(&x, Due::InMs(0), false).unwrap()),
        "reschedule later" => yes(queue.reschedule(&x, Due::InMs(FAR), false).unwrap()),
        "update" => yes(queue.update(&x, Changes::payload(b"new"), None, None).unwrap()),
        "kick job" => yes(queue.kick_job(&x, false).unwrap()),
        "kick" => queue.kick(10, false).unwrap().to_string(),
        "peek" => queue.peek(&x).unwrap().map_or("none", |info| info.state.word()).into(),
        "reserve job" => got(queue.reserve_job(&x).unwrap()),
        "reserve" => got(reserve(queue)),
        "push fail" => pushed(queue.push(&again(OnDuplicate::Fail))),
        "push keep" => pushed(queue.push(&again(OnDuplicate::Keep))),
        "push replace" => pushed(queue.push(&again(OnDuplicate::Replace))),
        "replace later" => pushed(queue.push(&NewJob { due: Due::InMs(FAR), ..again(OnDuplicate::Replace) })),
        "replace urgent" => {
            let other = if priority == 1024 { 3 } else { 1024 };
            pushed(queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..subject(other, false) }))
        }
        "try push" => tried(queue.try_push(again(OnDuplicate::Keep)).unwrap()),
        "try replace" => tried(queue.try_push(again(OnDuplicate::Replace)).unwrap()),
        "once keep" => once_told(queue, once("r", again(OnDuplicate::Keep))),
        "once replace" => once_told(queue, once("r", again(OnDuplicate::Replace))),
        "once buried" => {
            once_told(queue, OnceJob { is_buried: true, past: Some(past()), ..once("r", again(OnDuplicate::Replace)) })
        }
        "once alone" => once_told(queue, receipt_only("r", job("x"))),
        "take" => queue.take(None, 10).unwrap().len().to_string(),
        "take ahead" => queue.take(Some(9_000_000_000_000_000), 10).unwrap().len().to_string(),
        "purge" => queue.purge(&[]).unwrap().to_string(),
        "purge delayed" => queue.purge(&[State::Delayed]).unwrap().to_string(),
        "purge ready" => queue.purge(&[State::Ready]).unwrap().to_string(),
        "purge reserved" => queue.purge(&[State::Reserved]).unwrap().to_string(),
        "purge buried" => queue.purge(&[State::Buried]).unwrap().to_string(),
        "forget" => yes(queue.forget().unwrap()),
        "list" => State::ALL.map(|state| queue.list(state, 0, 10).unwrap().len().to_string()).concat(),
        "stats" => states(queue).map(|count| count.to_string()).concat(),
        "pause and resume" => {
            queue.pause(None, None).unwrap();
            queue.resume(None).unwrap();
            "ok".into()
        }
        _ => unreachable!("{operation}"),
    }
}

/// The state the keys show, without any script having looked.
fn shown(
    raw: &mut Raw,
    queue: &Queue,
    places: &BTreeMap<String, &'static str>,
    held: &Held,
    state_before: &str,
) -> String {
    assert!(places.len() <= 1, "{places:?}");
    let now_us = raw_now_us(raw);
    match places.get("x").copied() {
        None => "-",
        Some("buried") => "B",
        Some(place @ ("waiting" | "prioritized")) => {
            if audit::zset(raw, &key(queue, place))[0].1 > now_us {
                "D"
            } else {
                "R"
            }
        }
        _ => {
            let lease = audit::hash(raw, &key(queue, "leases")).remove(b"x".as_slice()).unwrap();
            let until_us = audit::zset(raw, &key(queue, "reserved"))[0].1;
            match (*lease == *held.receipt.lease, state_before) {
                (true, _) if until_us <= now_us => "l",
                (true, _) => "L",
                (false, "theirs") => "T",
                _ => "N",
            }
        }
    }
    .into()
}

fn raw_now_us(raw: &mut Raw) -> i64 {
    delayqueue::core::reply::time_us(&raw.run(&["TIME"])).unwrap() + clock::offset_ms() * 1000
}

#[test]
fn every_operation_does_to_every_state_what_the_table_says() {
    let mut raw = shared().raw();
    let mut lines = TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let mut wrong = Vec::new();
    for line in lines {
        for (state, expected) in head[1..].iter().zip(&line[1..]) {
            for priority in [1024, 5] {
                for past in [Past::None, Past::Released] {
                    let last = line[0] == "fail last" || *state == "spent";
                    clock::set_offset_ms(0);
                    let queue = fresh();
                    let held = arrange(&queue, state, priority, past, last);
                    let answer = perform(&queue, line[0].trim_end_matches('*'), &held, priority);
                    let (places, faults) = audit::examine(&mut raw, &queue);
                    let now =
                        if faults.is_empty() { shown(&mut raw, &queue, &places, &held, state) } else { "?".into() };
                    let found = format!("{answer} {now}");
                    if found.split_whitespace().ne(expected.split_whitespace()) {
                        wrong.push(format!(
                            "{} × {state}, priority {priority}, past {past:?}: {found}, not {expected} {places:?} {faults:?}",
                            line[0]
                        ));
                    }
                    let left: u64 = states(&queue).iter().sum();
                    assert_eq!(left, u64::from(!expected.ends_with('-')), "{} × {state}: the counts agree", line[0]);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of the cases:\n{}", wrong.len(), wrong.join("\n"));
}
