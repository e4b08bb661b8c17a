//! The whole state of a queue, read in one step: each job is in exactly one place, and nothing else is there.

use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::job::DEFAULT_PRIORITY;
use delayqueue::core::queue::Queue;
use delayqueue::core::record::Record;
use delayqueue::core::reply;
use redis::Value;
use std::collections::{BTreeMap, BTreeSet};

mod books;
mod lease;

pub use crate::support::key;
pub use lease::Lease;

pub const NAMES: [&str; 17] = [
    "jobs",
    "waiting",
    "reserved",
    "leases",
    "meta",
    "history",
    "buried",
    "waiters",
    "prioritized",
    "prioritized_ready",
    "grouped",
    "groups",
    "line",
    "limits",
    "spent",
    "recent",
    "receipts",
];

/// Of a record: it has a history.
const HAS_HISTORY: u8 = 2;

type Hash = BTreeMap<Vec<u8>, Vec<u8>>;
/// Members with their scores, in their order. `inf` is the largest number.
type Zset = Vec<(Vec<u8>, i64)>;

/// The keys of a queue that hold its jobs.
#[derive(Debug, Default, PartialEq)]
pub struct Snapshot {
    pub jobs: Hash,
    pub leases: Hash,
    pub history: Hash,
    pub meta: Hash,
    pub limits: Hash,
    pub waiting: Zset,
    pub reserved: Zset,
    pub buried: Zset,
    pub prioritized: Zset,
    pub prioritized_ready: Zset,
    pub grouped: Zset,
    pub groups: Zset,
    pub line: Zset,
    pub spent: Zset,
    pub recent: Zset,
    pub receipts: Zset,
}

const READ: &str = "local out = {}
    for n, key in ipairs(KEYS) do
      out[n] = n <= 5 and redis.call('HGETALL', key) or redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    end
    return out";

impl Snapshot {
    pub fn of(raw: &mut Raw, queue: &Queue) -> Self {
        let hashes = ["jobs", "leases", "history", "meta", "limits"];
        let others = ["grouped", "groups", "line", "spent", "recent", "receipts"];
        let zsets = ["waiting", "reserved", "buried", "prioritized", "prioritized_ready"].into_iter().chain(others);
        let keys: Vec<String> = hashes.into_iter().chain(zsets).map(|name| key(queue, name)).collect();
        let many = keys.len().to_string();
        let args: Vec<&str> = ["EVAL", READ, &many].into_iter().chain(keys.iter().map(String::as_str)).collect();
        let Value::Array(all) = raw.run(&args) else { panic!("the keys of the queue are of their types") };
        let mut all = all.into_iter().map(pairs);
        let mut next_hash = || all.next().unwrap().into_iter().collect();
        let (jobs, leases, history, meta, limits) = (next_hash(), next_hash(), next_hash(), next_hash(), next_hash());
        let score = |text: Vec<u8>| match String::from_utf8(text).unwrap().as_str() {
            "inf" => i64::MAX,
            text => text.parse().expect("scores are whole microseconds"),
        };
        let mut next_zset = || all.next().unwrap().into_iter().map(|(member, text)| (member, score(text))).collect();
        Self {
            jobs,
            leases,
            history,
            meta,
            limits,
            waiting: next_zset(),
            reserved: next_zset(),
            buried: next_zset(),
            prioritized: next_zset(),
            prioritized_ready: next_zset(),
            grouped: next_zset(),
            groups: next_zset(),
            line: next_zset(),
            spent: next_zset(),
            recent: next_zset(),
            receipts: next_zset(),
        }
    }

    /// Where each job is, and the faults found. `latest`: the latest time that a script has seen.
    pub fn examine(&self, latest: i64) -> (BTreeMap<String, &'static str>, Vec<String>) {
        let (mut places, mut faults) = (BTreeMap::<String, &'static str>::new(), Vec::new());
        let sets = [
            ("waiting", &self.waiting),
            ("prioritized", &self.prioritized),
            ("grouped", &self.grouped),
            ("reserved", &self.reserved),
            ("buried", &self.buried),
        ];
        for (place, (id, _)) in sets.into_iter().flat_map(|(place, set)| set.iter().map(move |entry| (place, entry))) {
            if let Some(other) = places.insert(text(id), place) {
                faults.push(format!("'{}' is in {other} and in {place}", text(id)));
            }
            match self.jobs.get(id).map(|record| Record::decode(record.clone())) {
                None => faults.push(format!("'{}' is in {place} and has no record", text(id))),
                Some(Some(record)) if matches!(place, "waiting" | "prioritized" | "grouped") => {
                    let options = &record.options;
                    let right = match options.group() {
                        Some(_) => "grouped",
                        None if options.priority == DEFAULT_PRIORITY => "waiting",
                        None => "prioritized",
                    };
                    if place != right {
                        faults.push(format!("'{}' is in {place} instead of {right}", text(id)));
                    }
                }
                Some(_) => {}
            }
        }
        for id in self.jobs.keys().filter(|id| !places.contains_key(&text(id))) {
            faults.push(format!("'{}' has a record but no place", text(id)));
        }
        self.examine_leases(&mut faults);
        self.examine_histories(&mut faults);
        self.examine_ready(&mut faults);
        self.examine_meta(&mut faults);
        self.examine_books(&mut faults);
        self.examine_line(latest, &mut faults);
        (places, faults)
    }

    /// Each entry of `reserved` has a lease, nothing else has, and no token is given twice.
    fn examine_leases(&self, faults: &mut Vec<String>) {
        let held: BTreeSet<&Vec<u8>> = self.reserved.iter().map(|(id, _)| id).collect();
        for id in held.iter().filter(|id| !self.leases.contains_key(**id)) {
            faults.push(format!("'{}' is reserved and has no lease", text(id)));
        }
        let mut tokens = BTreeSet::new();
        // Behind a newline are the consumers' last calls.
        for (id, lease) in self.leases.iter().filter(|(id, _)| id.first() != Some(&b'\n')) {
            if !held.contains(id) {
                faults.push(format!("'{}' has a lease and is not reserved", text(id)));
            }
            let Some(lease) = Lease::parse(lease) else {
                faults.push(format!("'{}' has the lease '{}'", text(id), text(lease)));
                continue;
            };
            if lease.token > self.counter("token") || !tokens.insert(lease.token) {
                faults.push(format!("'{}' has token {} of another lease", text(id), lease.token));
            }
            if self.jobs.get(id).is_some_and(|record| Record::decode(record.clone()).is_some())
                && (lease.group != self.group_of(id)
                    || lease.has('g') != lease.group.is_some()
                    || lease.has('h') != self.history.contains_key(id))
            {
                let (of, is_aged) = (self.group_of(id), self.history.contains_key(id));
                faults.push(format!("'{}', of {of:?}, with a history: {is_aged}, has {lease:?}", text(id)));
            }
        }
    }

    /// A reserve asks for a job's history only where the record says that it has one.
    fn examine_histories(&self, faults: &mut Vec<String>) {
        for (id, past) in &self.history {
            let is_said = self
                .jobs
                .get(id)
                .is_some_and(|record| says_history(record) || Record::decode(record.clone()).is_none());
            if !is_said || past.len() < 20 {
                faults.push(format!("'{}' has a history and no record that says so", text(id)));
            }
        }
    }

    /// `prioritized_ready` holds the first of `prioritized`, by their priorities.
    fn examine_ready(&self, faults: &mut Vec<String>) {
        let first = self.prioritized.iter().take(self.prioritized_ready.len());
        let expected: BTreeSet<(Vec<u8>, Option<u32>)> = first
            .map(|(id, due)| {
                let record = self.jobs.get(id).and_then(|record| Record::decode(record.clone()));
                ([&due.to_be_bytes()[..], id].concat(), record.map(|record| record.options.priority))
            })
            .collect();
        let found = self.prioritized_ready.iter();
        let found = found.map(|(member, priority)| (member.clone(), u32::try_from(*priority).ok())).collect();
        if expected != found {
            faults.push(format!("prioritized_ready is {found:?}, the first of prioritized are {expected:?}"));
        }
    }

    fn examine_meta(&self, faults: &mut Vec<String>) {
        let mut late = 0;
        for (name, value) in &self.meta {
            let (name, value) = (text(name), text(value));
            let number = value.parse::<u64>();
            late += if name.starts_with("late") { number.clone().unwrap_or(0) } else { 0 };
            let is_known =
                ["token", "acked", "given_up", "buried", "timed_out", "cancelled", "replaced", "expired", "dropped"];
            let bucket = |word: &str| name.strip_prefix(word)?.parse::<u32>().ok();
            let is_bucket = ["late", "acked", "failed", "released", "buried", "timed_out"]
                .iter()
                .any(|word| bucket(word).is_some());
            let is_difference = bucket("wait").is_some() && value.parse::<i64>().is_ok();
            let is_snapshot = name.strip_prefix("snapshot").is_some_and(|at| at.parse::<i64>().is_ok());
            let is_number = (is_known.contains(&&*name) || is_bucket) && number.is_ok();
            if !is_number && !is_difference && !is_snapshot {
                faults.push(format!("meta has {name}: {value}"));
            }
        }
        if late > self.counter("token") {
            faults.push(format!("{late} jobs were handed out, with {} tokens", self.counter("token")));
        }
    }

    /// The group that the record names.
    pub fn group_of(&self, id: &[u8]) -> Option<Vec<u8>> {
        let record = Record::decode(self.jobs.get(id)?.clone())?;
        record.options.group().map(<[u8]>::to_vec)
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.meta.get(name.as_bytes()).map_or(0, |value| text(value).parse().unwrap())
    }
}

/// Whether the flags of a record say that the job has a history.
pub fn says_history(record: &[u8]) -> bool {
    record.first().is_some_and(|flags| flags & HAS_HISTORY != 0)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pairs(value: Value) -> Vec<(Vec<u8>, Vec<u8>)> {
    let Value::Array(values) = value else { panic!("{value:?}") };
    let mut values = values.into_iter().map(|value| reply::bytes(value).unwrap());
    let mut pairs = Vec::new();
    while let (Some(one), Some(other)) = (values.next(), values.next()) {
        pairs.push((one, other));
    }
    pairs
}

pub fn hash(raw: &mut Raw, key: &str) -> Hash {
    pairs(raw.run(&["EVAL", "return redis.call('HGETALL', KEYS[1])", "1", key])).into_iter().collect()
}

pub fn list(raw: &mut Raw, args: &[&str]) -> Vec<Vec<u8>> {
    match raw.run(args) {
        Value::Array(values) => values.into_iter().map(|value| reply::bytes(value).unwrap()).collect(),
        other => panic!("{args:?}: {other:?}"),
    }
}

/// Members with their scores.
pub fn zset(raw: &mut Raw, key: &str) -> Zset {
    let Value::Array(pairs) = raw.run(&["ZRANGE", key, "0", "-1", "WITHSCORES"]) else {
        panic!("{key} is no sorted set")
    };
    pairs
        .into_iter()
        .map(|pair| {
            let Value::Array(mut pair) = pair else { panic!("{pair:?}") };
            let Some(Value::Double(score)) = pair.pop() else { panic!("{pair:?}") };
            assert_eq!(score.fract(), 0.0, "scores are whole microseconds");
            (reply::bytes(pair.pop().unwrap()).unwrap(), score as i64)
        })
        .collect()
}

/// Where each job is: `waiting`, `prioritized`, `reserved` or `buried`. Fails when the keys of the queue disagree.
pub fn places(raw: &mut Raw, queue: &Queue) -> BTreeMap<String, &'static str> {
    let (places, faults) = examine(raw, queue);
    assert!(faults.is_empty(), "{faults:#?}");
    places
}

/// As [`places`], naming faults instead of failing. No key expires.
pub fn examine(raw: &mut Raw, queue: &Queue) -> (BTreeMap<String, &'static str>, Vec<String>) {
    let Value::Array(time) = raw.run(&["TIME"]) else { panic!("no time") };
    let [seconds, us] = [0, 1].map(|at| text(&reply::bytes(time[at].clone()).unwrap()).parse::<i64>().unwrap());
    examine_at(raw, queue, seconds * 1_000_000 + us + clock::offset_ms() * 1000)
}

/// As [`examine`], at a given time, or later than all that scripts have seen.
pub fn examine_at(raw: &mut Raw, queue: &Queue, latest: i64) -> (BTreeMap<String, &'static str>, Vec<String>) {
    let (places, mut faults) = Snapshot::of(raw, queue).examine(latest);
    for found in list(raw, &["KEYS", &key(queue, "*")]) {
        let found = text(&found);
        let left_ms = raw.int(&["PTTL", &found]);
        if !NAMES.iter().any(|name| found == key(queue, name)) {
            faults.push(format!("a key that is none of ours: {found}"));
        } else if left_ms != -1 {
            faults.push(format!("{found} expires"));
        }
    }
    (places, faults)
}
