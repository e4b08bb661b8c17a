//! The whole state of a queue, read key by key: each job is in exactly one place, and nothing else is there.

use crate::support::*;
use delayqueue::core::queue::Queue;
use delayqueue::core::record::{self, Record};
use delayqueue::core::reply;
use redis::Value;
use std::collections::{BTreeMap, BTreeSet};

pub const NAMES: [&str; 10] =
    ["jobs", "waiting", "reserved", "ledger", "history", "buried", "waiters", "later", "ready", "ripe"];

pub fn key(queue: &Queue, name: &str) -> String {
    format!("dq:{{{}}}:{name}", queue.name())
}

pub fn list(raw: &mut Raw, args: &[&str]) -> Vec<Vec<u8>> {
    match raw.run(args) {
        Value::Array(values) => values.into_iter().map(|value| reply::bytes(value).unwrap()).collect(),
        Value::Map(fields) => fields
            .into_iter()
            .flat_map(|(name, value)| [reply::bytes(name).unwrap(), reply::bytes(value).unwrap()])
            .collect(),
        other => panic!("{args:?}: {other:?}"),
    }
}

pub fn hash(raw: &mut Raw, key: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut flat = list(raw, &["HGETALL", key]).into_iter();
    let mut out = BTreeMap::new();
    while let (Some(field), Some(value)) = (flat.next(), flat.next()) {
        out.insert(field, value);
    }
    out
}

/// Members with their scores.
pub fn zset(raw: &mut Raw, key: &str) -> Vec<(Vec<u8>, i64)> {
    let Value::Array(pairs) = raw.run(&["ZRANGE", key, "0", "-1", "WITHSCORES"]) else {
        panic!("{key} is no sorted set")
    };
    pairs
        .into_iter()
        .map(|pair| {
            let Value::Array(mut pair) = pair else { panic!("{pair:?}") };
            let Some(Value::Double(score)) = pair.pop() else { panic!("{pair:?}") };
            assert_eq!(score.fract(), 0.0, "scores are whole milliseconds");
            (reply::bytes(pair.pop().unwrap()).unwrap(), score as i64)
        })
        .collect()
}

/// Where each job is: `waiting`, `later`, `ready`, `reserved` or `buried`. Fails when the keys of the queue disagree.
pub fn places(raw: &mut Raw, queue: &Queue) -> BTreeMap<String, &'static str> {
    let (places, faults) = examine(raw, queue);
    assert!(faults.is_empty(), "{faults:#?}");
    places
}

/// The same, naming what is wrong instead of failing.
pub fn examine(raw: &mut Raw, queue: &Queue) -> (BTreeMap<String, &'static str>, Vec<String>) {
    let keys = NAMES.map(|name| key(queue, name));
    let [jobs, waiting, reserved, ledger, history, buried, _, later, ready, ripe] = &keys;
    let mut faults = Vec::new();
    let mut places: BTreeMap<String, &'static str> = BTreeMap::new();
    let mut found = |id: &[u8], place: &'static str, faults: &mut Vec<String>| {
        let id = String::from_utf8_lossy(id).into_owned();
        if let Some(other) = places.insert(id.clone(), place) {
            faults.push(format!("'{id}' is in {other} and in {place}"));
        }
    };
    let records = hash(raw, jobs);
    let past = hash(raw, history);
    let stamped = |id: &[u8], member: &[u8], due: i64, faults: &mut Vec<String>| {
        let Some(record) = records.get(id) else { return };
        let mut stamp = record[..7].to_vec();
        stamp[6] += u8::from(past.contains_key(id));
        if member[..7] != stamp {
            faults.push(format!("'{}' lies under a stamp that is not its record's", String::from_utf8_lossy(id)));
        }
        let stored = Record::decode(record).map(|record| record.due_at_ms);
        if !past.contains_key(id) && stored.is_some_and(|stored| stored != due) {
            faults.push(format!("'{}' is due {due}, and {stored:?} by its record", String::from_utf8_lossy(id)));
        }
    };
    for (member, due) in zset(raw, waiting) {
        found(&member[7..], "waiting", &mut faults);
        stamped(&member[7..], &member, due, &mut faults);
    }
    for (member, due) in zset(raw, later) {
        found(&member[11..], "later", &mut faults);
        stamped(&member[11..], &member, due, &mut faults);
    }
    let by_priority: BTreeSet<(Vec<u8>, i64)> = zset(raw, ready).into_iter().collect();
    let mut expected = BTreeSet::new();
    for (member, due) in zset(raw, ripe) {
        found(&member[11..], "ready", &mut faults);
        stamped(&member[11..], &member, due, &mut faults);
        let priority = i64::from(u32::from_be_bytes(member[7..11].try_into().unwrap()));
        expected.insert(([&due.to_be_bytes()[2..], &member[..7], &member[11..]].concat(), priority));
    }
    if by_priority != expected {
        faults.push(format!("ready and ripe disagree: {by_priority:?} {expected:?}"));
    }
    let ledger_fields = hash(raw, ledger);
    let mut slots: BTreeSet<Vec<u8>> =
        ledger_fields.keys().filter_map(|name| name.strip_prefix(b"@")).map(<[u8]>::to_vec).collect();
    for (slot, deadline) in zset(raw, reserved) {
        if !slots.remove(&slot) {
            faults.push("a slot without leases".into());
            continue;
        }
        let record = &ledger_fields[&[b"@", slot.as_slice()].concat()];
        let leases = leases(record);
        for (id, _) in &leases {
            found(id, "reserved", &mut faults);
        }
        // A slot that is used again keeps its place; it may only be looked at too early.
        match leases.iter().map(|(_, deadline)| *deadline).min() {
            Some(first) if deadline <= first => {}
            first => faults.push(format!("a slot under {deadline} that first ends at {first:?}")),
        }
    }
    if !slots.is_empty() {
        faults.push(format!("{} leases that lie in no slot", slots.len()));
    }
    for (id, _) in zset(raw, buried) {
        found(&id, "buried", &mut faults);
    }
    for (id, record) in &records {
        if !is_as_short_as_can_be(record) {
            faults.push(format!("'{}' has a due time in nine bytes for no reason", String::from_utf8_lossy(id)));
        }
        if !places.contains_key(&*String::from_utf8_lossy(id)) {
            faults.push(format!("'{}' has a record but no place", String::from_utf8_lossy(id)));
        }
    }
    for id in places.keys() {
        if !records.contains_key(id.as_bytes()) {
            faults.push(format!("'{id}' has no record"));
        }
    }
    for id in past.keys().filter(|id| !records.contains_key(*id)) {
        faults.push(format!("'{}' has a history but no record", String::from_utf8_lossy(id)));
    }
    let pattern = format!("dq:{{{}}}:*", queue.name());
    for found in list(raw, &["KEYS", &pattern]) {
        let found = String::from_utf8(found).unwrap();
        if !keys.contains(&found) {
            faults.push(format!("a key that is none of ours: {found}"));
        }
        if raw.int(&["PTTL", &found]) != -1 {
            faults.push(format!("{found} expires"));
        }
    }
    (places, faults)
}

/// Whether the client would have written the same, knowing stamp and due time.
fn is_as_short_as_can_be(record: &[u8]) -> bool {
    let Some(known) = Record::decode(record) else { return true };
    let (stamp, body) = (record[..7].try_into().unwrap(), &record[record::head(record).len()..]);
    record == [record::Head::new(stamp, known.due_at_ms).as_bytes(), body].concat()
}

/// Id and deadline of each lease in a slot, its stamp being left out (layout in `lua/lib/lease.lua`).
fn leases(record: &[u8]) -> Vec<(Vec<u8>, i64)> {
    let number =
        |from: usize, to: usize| record[from..to].iter().fold(0_i64, |value, byte| value << 8 | i64::from(*byte));
    let count = usize::try_from(number(5, 7)).unwrap();
    let stamp = if record[4] & 2 == 0 { 0 } else { 7 };
    if count > 0 {
        let (end, ids) = record[19..record.len() - count * stamp].split_last().unwrap();
        assert_eq!(*end, 0, "a zero byte behind each id");
        let ids: Vec<Vec<u8>> = ids.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        assert_eq!(ids.len(), count, "as many ids as the slot says");
        return ids.into_iter().map(|id| (id, number(7, 13))).collect();
    }
    let (mut at, mut found) = (7, Vec::new());
    while at < record.len() {
        let after = at + 13 + usize::from(record[at + 12]);
        found.push((record[at + 13..after].to_vec(), number(at + 6, at + 12)));
        at = after + stamp;
    }
    found
}
