//! Leases as the scripts make them, asked for one script at a time.

use crate::audit::{self, NAMES, key};
use crate::support::*;
use delayqueue::core::job::{Due, NewJob, Receipt};
use delayqueue::core::keys::Keys;
use delayqueue::core::queue::Queue;
use delayqueue::core::scripts::{self, Script};
use delayqueue::core::slot::Slot;
use redis::Value;

/// The number of every call here.
pub const CALL: &[u8] = b"\0\0\0\x01";
/// When the jobs here were due: all are as late.
pub const DUE_MS: i64 = 1_700_000_000_000;

pub fn old(name: &str) -> NewJob {
    NewJob { due: Due::AtMs(DUE_MS), ..job(name) }
}

pub fn eval(raw: &mut Raw, script: &Script, keys: &[&[u8]], args: &[&[u8]]) -> Value {
    let count = keys.len().to_string();
    let mut command = vec![b"EVAL".as_slice(), script.source.as_bytes(), count.as_bytes()];
    command.extend(keys.iter().chain(args));
    raw.run_bytes(&command)
}

pub fn keys(queue: &Queue) -> Keys {
    Keys::new("dq", queue.name())
}

/// What the slot then holds; `None` when the answer was `OTHER`. `done`: first token and how many.
pub fn lease(raw: &mut Raw, queue: &Queue, slot: &str, most: usize, done: Option<(u64, usize)>) -> Option<Vec<u8>> {
    match ask(raw, queue, &scripts::RESERVE_UNSEEN, slot, most, done) {
        Value::Array(values) => match values.as_slice() {
            [Value::BulkString(word), Value::BulkString(leases), Value::Int(now_ms)] if word == b"LEASES" => {
                assert!(Slot::decode(leases).unwrap().iter().all(|lease| lease.deadline_ms == now_ms + 60_000));
                Some(leases.clone())
            }
            [Value::BulkString(word)] if word == b"OTHER" => None,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Asks this script, or `lua/reserve.lua`, which takes the same.
pub fn ask(
    raw: &mut Raw,
    queue: &Queue,
    script: &Script,
    slot: &str,
    most: usize,
    done: Option<(u64, usize)>,
) -> Value {
    let keys = keys(queue);
    let (six, four) = (keys.reserve(), keys.reserve_unseen());
    let most = most.to_string();
    let done = done.map(|(first, count)| [first.to_string(), count.to_string()]);
    let mut args = vec![slot.as_bytes(), CALL, most.as_bytes()];
    args.extend(done.iter().flatten().map(|text| text.as_bytes()));
    eval(raw, script, if script.name == "reserve" { &six } else { &four }, &args)
}

/// What a slot holds now.
pub fn held_in(raw: &mut Raw, queue: &Queue, slot: &str) -> Option<Vec<u8>> {
    match raw.run(&["HGET", &key(queue, "ledger"), &format!("@{slot}")]) {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

pub fn disown(raw: &mut Raw, queue: &Queue, slot: &str, tokens: &[u64]) {
    let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    let args: Vec<&[u8]> = std::iter::once(slot.as_bytes()).chain(tokens.iter().map(|text| text.as_bytes())).collect();
    let answer = eval(raw, &scripts::DISOWN, &keys(queue).disown(), &args);
    assert_eq!(answer, Value::BulkString(b"OK".to_vec()));
}

/// Changes whenever anything of the queue does.
pub fn digest(raw: &mut Raw, queue: &Queue) -> Value {
    let names = NAMES.map(|name| key(queue, name));
    raw.run(&[vec!["DEBUG", "DIGEST-VALUE"], names.iter().map(String::as_str).collect()].concat())
}

/// Leases so many in slot `s` with their records: first token and how many.
pub fn seen(queue: &Queue, raw: &mut Raw, many: usize) -> Option<(u64, usize)> {
    let most = many.to_string();
    let answer = eval(raw, &scripts::RESERVE, &keys(queue).reserve(), &[b"s", CALL, most.as_bytes()]);
    assert!(matches!(answer, Value::Array(values) if values.len() == many + 2));
    first(raw, queue)
}

/// What slot `s` holds.
pub fn first(raw: &mut Raw, queue: &Queue) -> Option<(u64, usize)> {
    let record = held_in(raw, queue, "s").unwrap();
    let leases = Slot::decode(&record).unwrap();
    Some((leases[0].token, leases.len()))
}

/// Until somebody has reserved, nobody knows when the first lease ends.
pub fn prime(queue: &Queue, raw: &mut Raw) {
    queue.push(&old("first")).unwrap();
    let (token, _) = seen(queue, raw, 1).unwrap();
    queue.ack_receipts(&[Receipt { slot: "s".into(), token }]).unwrap();
}

pub fn primed() -> (Queue, Raw) {
    let (queue, mut raw) = (fresh(), shared().raw());
    prime(&queue, &mut raw);
    (queue, raw)
}

/// Ids of a slot's leases, and whether each has its record's stamp.
pub fn ids(raw: &mut Raw, queue: &Queue, record: &[u8]) -> Vec<(String, bool)> {
    let records = audit::hash(raw, &key(queue, "jobs"));
    let is_its = |lease: &Slot| records.get(lease.id).is_some_and(|record| lease.stamp.unwrap() == record[..7]);
    let leases = Slot::decode(record).unwrap();
    leases.iter().map(|lease| (String::from_utf8_lossy(lease.id).into_owned(), is_its(lease))).collect()
}

pub fn push(queue: &Queue, names: &[&str]) {
    queue.push_many(&names.iter().map(|name| old(name)).collect::<Vec<_>>()).unwrap();
}

pub fn edit_head(raw: &mut Raw, queue: &Queue, edit: impl FnOnce(&mut Vec<u8>)) {
    let ledger = key(queue, "ledger");
    let mut head = delayqueue::core::reply::bytes(raw.run(&["HGET", &ledger, "head"])).unwrap();
    edit(&mut head);
    raw.run_bytes(&[b"HSET", ledger.as_bytes(), b"head", &head]);
}
