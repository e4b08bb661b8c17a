//! Flags and traits that newer versions may store with a job. This version keeps those that it may ignore through every script, and buries
//! the jobs of those that it must understand.

use crate::audit;
use crate::groups::of_priority;
use crate::scene::{Scene, Setting, takes};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Queue;
use delayqueue::core::reply;
use delayqueue::core::scripts;
use std::collections::{BTreeMap, BTreeSet};

const HAS_TRAITS: u8 = 4;
/// Kinds in lower case: "w" with eight bytes, and an empty one.
const MAY_BE_IGNORED: &[u8] = b"w\x08\0\0\0\0\0\0\0\x01x\0";

/// Gives a record more flags, and traits in front of those that it has and behind them.
fn with(record: &[u8], flags: u8, traits: Option<[&[u8]; 2]>) -> Vec<u8> {
    let mut out = record.to_vec();
    out[0] |= flags;
    if let Some([front, behind]) = traits {
        let (at, own) = (options_end(record), traits_of(record));
        let end = own.map_or(at, |own| at + 2 + own.len());
        let all = [front, own.unwrap_or_default(), behind].concat();
        out[0] |= HAS_TRAITS;
        out.splice(at..end, [&u16::try_from(all.len()).unwrap().to_be_bytes(), all.as_slice()].concat());
    }
    out
}

/// Where the options of a record end.
fn options_end(record: &[u8]) -> usize {
    if record[0] & 1 == 1 { 9 + usize::from(u16::from_be_bytes([record[7], record[8]])) } else { 7 }
}

fn traits_of(record: &[u8]) -> Option<&[u8]> {
    let at = options_end(record);
    let length = || usize::from(u16::from_be_bytes([record[at], record[at + 1]]));
    (record[0] & HAS_TRAITS > 0).then(|| &record[at + 2..at + 2 + length()])
}

/// Where the jobs of the scene are, and what is wrong with the keys.
fn places(raw: &mut Raw, scene: &Scene, queue: &Queue) -> (BTreeMap<String, &'static str>, Vec<String>) {
    let (mut places, faults) = audit::examine(raw, queue);
    places.retain(|id, _| scene.ids.contains(id));
    (places, faults)
}

fn records(raw: &mut Raw, queue: &Queue) -> BTreeMap<Vec<u8>, Vec<u8>> {
    audit::hash(raw, &key(queue, "jobs"))
}

fn store(raw: &mut Raw, queue: &Queue, id: &[u8], record: &[u8]) {
    raw.run_bytes(&[b"HSET", key(queue, "jobs").as_bytes(), id, record]);
}

#[test]
fn every_operation_keeps_flags_and_traits_that_it_may_ignore() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let long = [b"z\xff".as_slice(), &[7; 255]].concat();
    let mut called: BTreeSet<&str> = BTreeSet::new();
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        raw.run(&["SCRIPT", "FLUSH"]);
        let kinds = [Some([MAY_BE_IGNORED; 2]), Some([b"", b""]), Some([&long, b""]), None];
        for (kind, traits) in kinds.into_iter().enumerate() {
            if !takes(kind + setting as usize) {
                continue;
            }
            for (name, operation) in setting.operations() {
                scene.restore(&mut raw);
                let before = records(&mut raw, &queue);
                operation(&scene, &queue).unwrap();
                let expected = places(&mut raw, &scene, &queue);
                scene.restore(&mut raw);
                for (id, record) in &before {
                    store(&mut raw, &queue, id, &with(record, 8 + 16 + 32, traits));
                }
                operation(&scene, &queue).unwrap();
                assert_eq!(places(&mut raw, &scene, &queue), expected, "{setting:?}: {name}, {traits:?}");
                for (id, record) in records(&mut raw, &queue) {
                    // A job that was replaced is another one.
                    if let Some(old) = before.get(&id).filter(|old| old[1..7] == record[1..7]) {
                        let name_of_job = String::from_utf8_lossy(&id);
                        let stored = with(old, 8 + 16 + 32, traits);
                        assert_eq!(record[0] & 0xf8, 8 + 16 + 32, "{name}: the flags of '{name_of_job}'");
                        assert_eq!(traits_of(&record), traits_of(&stored), "{name}: the traits of '{name_of_job}'");
                    }
                }
            }
        }
        let mut is_known =
            |sha: &str| raw.run(&["SCRIPT", "EXISTS", sha]) == redis::Value::Array(vec![redis::Value::Int(1)]);
        called.extend(scripts::all().iter().filter(|(script, _)| is_known(&script.sha)).map(|(script, _)| script.name));
    }
    // A waiter that leaves changes no job.
    let all = scripts::all().into_iter().map(|(script, _)| script.name).filter(|name| *name != "leave");
    assert_eq!(called, all.collect(), "the operations call every script");
}

/// Puts a job of this record in each state from which it would be delivered, then calls what would deliver it.
#[test]
fn a_job_with_something_that_must_be_understood_is_buried_by_every_script_that_would_deliver_it() {
    type Deliver = fn(&Queue) -> Result<usize, Error>;
    let deliveries: [(&str, Deliver); 4] = [
        ("reserve", |queue| Ok(reserve_many(queue, 10).len())),
        ("reserve one", |queue| Ok(reserve_many(queue, 1).len())),
        ("reserve job", |queue| Ok(usize::from(queue.reserve_job(&id("new"))?.is_some()))),
        ("take", |queue| Ok(queue.take(None, 10)?.len())),
    ];
    let newer: [(u8, Option<&[u8]>, &str); 7] = [
        (64, None, "unknown record format"),
        (128, None, "unknown record format"),
        (0, Some(b"Q\0"), "unknown record format"),
        (0, Some(b"x\0Q\x01A"), "unknown record format"),
        (0, Some(b"\xc0\0"), "unknown record format"),
        (0, Some(b"x\x02y"), "corrupt record"),
        (0, Some(b"x"), "corrupt record"),
    ];
    let mut raw = shared().raw();
    for new in [job("new"), prioritized("new", 5), of_priority("g", "new", 5)] {
        for (flags, traits, reason) in newer {
            for (name, deliver) in deliveries {
                let queue = fresh();
                queue.push(&new).unwrap();
                let behind = traits.map(|traits| [b"".as_slice(), traits]);
                let record = with(&records(&mut raw, &queue)[b"new".as_slice()], flags, behind);
                store(&mut raw, &queue, b"new", &record);
                assert_eq!(deliver(&queue), Ok(0), "{name}, {flags} {traits:?}");
                let info = queue.peek(&id("new")).unwrap().unwrap();
                let error = String::from_utf8(info.last_error.unwrap()).unwrap();
                assert_eq!((info.state, error.as_str()), (State::Buried, reason), "{name}, {flags} {traits:?}");
                assert_eq!(records(&mut raw, &queue)[b"new".as_slice()], record, "{name}: it is kept as it is");
                let stats = queue.stats().unwrap();
                assert_eq!((stats.buried, stats.pushed), (1, 1), "{name}: it is counted");
                let counted = raw.text(&["HGET", &key(&queue, "meta"), "buried"]);
                assert_eq!(counted, "1", "{name}");
                let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..new.clone() };
                queue.push(&replacing).unwrap();
                assert_eq!(reserve_many(&queue, 1).len(), 1, "{name}");
            }
        }
    }
}

#[test]
fn marks_of_a_lease_that_this_version_does_not_know_are_kept_and_given_back() {
    let mut raw = shared().raw();
    type Settle = fn(&Queue, &delayqueue::core::queue::Held);
    let settles: [Settle; 6] = [
        |queue, held| queue.ack(held).unwrap(),
        |queue, held| queue.release(held, Due::InMs(0), None, true).unwrap(),
        |queue, held| assert!(queue.fail(held, None).is_ok()),
        |queue, held| queue.bury(held, None).unwrap(),
        |queue, held| drop(queue.give_back(&[&held.receipt]).unwrap()),
        |queue, held| assert_eq!(queue.cancel(&[held.id().clone()]).unwrap(), 1),
    ];
    for settle in settles {
        for rest in ["", " group with a space"] {
            let queue = fresh();
            queue.push(&job("a")).unwrap();
            queue.release(&reserve(&queue).unwrap().held(), Due::InMs(0), None, true).unwrap();
            let mut held = reserve(&queue).unwrap().held();
            let lease = String::from_utf8(held.receipt.lease.to_vec()).unwrap();
            let words: Vec<&str> = lease.split(' ').collect();
            let marked = format!("{} {} zh{} {}{rest}", words[0], words[1], "gl", words[3]);
            raw.run(&["HSET", &key(&queue, "leases"), "a", &marked]);
            held.receipt.lease = marked.as_bytes().into();
            assert_eq!(held.receipt.consumer(), words[3]);
            queue.touch(&held, None).unwrap();
            let kept = raw.text(&["HGET", &key(&queue, "leases"), "a"]);
            assert_eq!(kept, marked);
            settle(&queue, &held);
            let (_, faults) = audit::examine(&mut raw, &queue);
            assert_eq!(faults, Vec::<String>::new());
            if queue.count(None).unwrap() == 0 {
                let left = raw.run(&["HGET", &key(&queue, "history"), "a"]);
                assert_eq!(reply::bytes(left), None, "its mark says that it had a history");
            }
        }
    }
    // A lease that is over, of a job that was buried before, with marks of a newer version.
    let queue = fresh();
    queue.push(&job("b")).unwrap();
    let held = reserve(&queue).unwrap();
    let lease = String::from_utf8(held.receipt.lease.to_vec()).unwrap();
    assert!(lease.starts_with("- ") && lease.split(' ').count() == 4, "{lease}");
    raw.run(&["HSET", &key(&queue, "leases"), "b", &lease.replacen("-", "q", 1)]);
    travel(61_000);
    let again = reserve(&queue).unwrap();
    assert_eq!((again.attempts, again.due_at_us), (2, held.due_at_us));
}
