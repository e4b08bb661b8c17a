//! A queue with jobs in every state, put back in one step, and every operation by name: for tests that break something
//! under each of them.

use crate::groups::group;
use crate::new_jobs::{at_most, once, past, receipt_only, unique};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, LeaseReceipt, NewJob, OnDuplicate, Reserved, State};
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Fetch, Held, NoInterrupts, OnceJob, Queue};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

mod groups;

pub type Operation = fn(&Scene, &Queue) -> Result<(), Error>;

/// The jobs that an operation meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Leases that ran out.
    Plain,
    /// As `Plain`, with jobs of other priorities.
    Prioritized,
    /// Neither: a reserve takes its shortest way.
    Tidy,
    /// As `Plain`, with groups: the jobs that have other priorities in `Prioritized` are of the group `g`, and there are others, limited, ordered
    /// and paused.
    Grouped,
}

impl Setting {
    pub const ALL: [Self; 4] = [Self::Plain, Self::Prioritized, Self::Tidy, Self::Grouped];

    /// The operations to try in this setting.
    pub fn operations(self) -> impl Iterator<Item = &'static (&'static str, Operation)> {
        let is_grouped = self == Self::Grouped;
        let others = if is_grouped { groups::OPERATIONS } else { &[] };
        // A new job does not care about those of groups.
        let matters = move |name: &str| !is_grouped || !name.starts_with("push") || name.contains("replacing");
        OPERATIONS.iter().filter(move |(name, _)| matters(name)).chain(others)
    }
}

/// Whether tests of many combinations take all of them, as where the model takes many walks; else each fourth.
pub fn takes_all() -> bool {
    std::env::var_os(MANY_SEEDS).is_some()
}

/// Whether a test of many combinations takes the one of this number.
pub fn takes(case: usize) -> bool {
    case.is_multiple_of(4) || takes_all()
}

/// The reservations of a holder, by the name of the job.
pub struct Scene {
    pub held: HashMap<String, Reserved>,
    /// Every job there is.
    pub ids: BTreeSet<String>,
    offset_ms: i64,
}

const SAVE: &str =
    "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', '1', 'REPLACE') end";
const RESTORE: &str = "redis.call('FLUSHDB') redis.call('SELECT', 1)
    for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', '0') end redis.call('SELECT', 0)";

impl Scene {
    /// Sets the scene in an empty server of one's own and keeps a copy of it there.
    pub fn set(server: &Server, queue: &Queue, setting: Setting) -> Self {
        let mut scene = Self { held: HashMap::new(), ids: BTreeSet::new(), offset_ms: 0 };
        clock::set_offset_ms(0);
        server.raw().run(&["FLUSHALL"]);
        let urgent = if setting == Setting::Prioritized { 5 } else { 1024 };
        let short_ms = if setting == Setting::Tidy { 600_000 } else { 1_000 };
        let options = |priority: u32, ttr_ms: u64, max_attempts: u32| JobOptions {
            priority,
            ttr_ms,
            max_attempts,
            ..JobOptions::default()
        };
        let options_of = |suffix: &str, options: JobOptions| match (setting, suffix) {
            (Setting::Grouped, "!") => groups::in_group("g", options),
            _ => options,
        };
        let mut add = |name: &str, delay_ms: u64, options: JobOptions| {
            scene.ids.insert(name.to_owned());
            let options = options_of(name.get(name.len() - 1..).unwrap_or_default(), options);
            queue.push(&NewJob { options, ..delayed(name, delay_ms) }).unwrap();
        };
        for (suffix, priority) in [("", 1024), ("!", urgent)] {
            for name in ["again", "buried", "held", "old", "last", "one", "two"] {
                let max = if name == "last" { 1 } else { 10 };
                add(&format!("{name}{suffix}"), 0, options(priority, 600_000, max));
            }
            add(&format!("expired{suffix}"), 0, options(priority, short_ms, 10));
            add(&format!("spent{suffix}"), 0, options(priority, short_ms, 1));
            add(&format!("delayed{suffix}"), 3_600_000, options(priority, 60_000, 10));
            add(&format!("later{suffix}"), 4_600_000, options(priority, 60_000, 10));
            add(&format!("due{suffix}"), 500, options(priority, 60_000, 10));
            add(&format!("ready{suffix}"), 0, options(priority, 60_000, 10));
        }
        for suffix in ["", "!"] {
            let hold = |name: &str| queue.reserve_job(&id(&format!("{name}{suffix}"))).unwrap().unwrap();
            queue.release(&hold("again").held(), Due::InMs(0), None, true).unwrap();
            queue.release(&hold("old").held(), Due::InMs(0), None, true).unwrap();
            queue.bury(&hold("buried").held(), Some(b"why")).unwrap();
            for name in ["held", "old", "last", "expired", "spent"] {
                scene.held.insert(format!("{name}{suffix}"), hold(name));
            }
        }
        // Four jobs that one reserve has leased.
        let put_off = || {
            for name in ["ready", "ready!", "again", "again!", "due", "due!"] {
                let _ = queue.reschedule(&id(name), Due::InMs(700), false).unwrap();
            }
        };
        put_off();
        for job in reserve_many(queue, 10) {
            scene.held.insert(job.id.to_string(), job);
        }
        assert!(scene.held.contains_key("one") && scene.held.contains_key("two!"));
        if setting == Setting::Grouped {
            put_off();
            scene.add_groups(queue);
        }
        if setting == Setting::Tidy {
            until("what was put off is due", || queue.count(Some(State::Ready)).unwrap() == 6);
        } else {
            travel(1_001);
        }
        scene.offset_ms = clock::offset_ms();
        server.raw().run(&["EVAL", SAVE, "0"]);
        scene
    }

    /// Puts everything back as it was.
    pub fn restore(&self, raw: &mut Raw) {
        raw.run(&["EVAL", RESTORE, "0"]);
        clock::set_offset_ms(self.offset_ms);
    }

    fn held(&self, name: &str) -> Held {
        self.held[name].held()
    }

    fn receipt(&self, name: &str) -> LeaseReceipt {
        self.held[name].receipt.clone()
    }

    /// Serves everything that is left, as a healthy worker with all rights would. Returns the ids.
    pub fn drain(queue: &Queue) -> BTreeSet<String> {
        let mut done = BTreeSet::new();
        if !queue.groups(1, b"").unwrap().is_empty() {
            queue.resume(Some(&group("paused"))).unwrap();
        }
        for _ in 0..4 {
            if !done.is_empty() && queue.count(None).unwrap() == 0 {
                break;
            }
            travel(5_000_000);
            loop {
                // A job that timed out comes alone.
                let jobs = reserve_many(queue, 100);
                if jobs.is_empty() {
                    break;
                }
                ack_each(queue, &jobs);
                done.extend(jobs.iter().map(|job| job.id.to_string()));
            }
            queue.kick(1_000, true).unwrap();
        }
        done
    }
}

fn reserve_waiting(queue: &Queue, max: usize, ms: u64) -> Result<(), Error> {
    queue.reserve(&[queue.name().to_owned()], max, Some(Duration::from_millis(ms)), &mut NoInterrupts).map(|_| ())
}

/// Acknowledges and reserves in one round trip, as a loop does.
fn feed(queue: &Queue, receipts: &[LeaseReceipt]) -> Result<(), Error> {
    let mut connections = Connections::default();
    let mut fetch = Fetch { max: 1, done: receipts.iter().map(done).collect(), lost: Vec::new() };
    let result = queue.reserve_now(&mut connections, &mut fetch, None).map(|_| ());
    queue.client().give_back(connections);
    result
}

fn lease_kept(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(Error::LeaseLost { .. }) => Ok(()),
        other => other,
    }
}

/// Every operation, on a job of default priority and on one of another.
pub const OPERATIONS: &[(&str, Operation)] = &[
    ("push", |_, queue| queue.push(&job("new")).map(|_| ())),
    ("push delayed", |_, queue| queue.push(&delayed("new", 1_000)).map(|_| ())),
    ("push urgent", |_, queue| queue.push(&prioritized("new", 5)).map(|_| ())),
    ("push duplicate", |_, queue| match queue.push(&job("ready")) {
        Err(Error::Duplicate { .. }) => Ok(()),
        other => other.map(|_| ()),
    }),
    ("push many", |_, queue| {
        queue.push_many(
            &[job("new1"), prioritized("new2", 5), prioritized("new3", 9), delayed("new4", 500)],
            &mut vec![],
        )
    }),
    ("push many of default priority", |_, queue| {
        queue.push_many(&[job("new1"), delayed("new2", 5_000), job("new3")], &mut vec![])
    }),
    ("push many without ids", |_, queue| {
        let anonymous = NewJob { id: None, ..delayed("none", 5_000) };
        queue.push_many(&[anonymous.clone(), anonymous.clone(), anonymous], &mut vec![])
    }),
    ("push replacing", |_, queue| {
        queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..job("again") }).map(|_| ())
    }),
    ("push replacing urgent", |_, queue| {
        queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..job("again!") }).map(|_| ())
    }),
    ("push replacing buried", |_, queue| {
        queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..job("buried") }).map(|_| ())
    }),
    ("push for a moment", |_, queue| {
        let at = |name: &str, at_us| NewJob { due: Due::AtUs(at_us), ..job(name) };
        let soon = queue.now_us().unwrap_or(1) + 1_000_000_000;
        queue.push_many(&[at("new1", 1), at("new2", soon)], &mut vec![])
    }),
    ("push unique", |_, queue| queue.push(&unique("new", 60_000, OnDuplicate::Keep)).map(|_| ())),
    ("push unique replacing", |_, queue| queue.push(&unique("delayed!", 60_000, OnDuplicate::Replace)).map(|_| ())),
    ("push once more, replacing", |_, queue| queue.push(&at_most(delayed("again", 500), 300)).map(|_| ())),
    ("push if it is new", |_, queue| queue.try_push(job("new")).map(|_| ())),
    ("push if it is no duplicate", |_, queue| queue.try_push(job("ready")).map(|_| ())),
    ("push to a queue with a capacity", |_, queue| queue.with_capacity(Some(50)).push(&job("new")).map(|_| ())),
    ("push once", |_, queue| {
        let unique = unique("new2", 60_000, OnDuplicate::Keep);
        let new = [once("r1", job("new1")), OnceJob { past: Some(past()), ..once("r2", prioritized("new3", 5)) }];
        let others = [once("r3", unique), OnceJob { is_buried: true, ..once("r4", delayed("new4", 0)) }];
        let none = [receipt_only("r5", job("held")), once("r6", job("ready"))];
        queue.push_once(&[&new[..], &others[..], &none[..]].concat()).map(|_| ())
    }),
    ("push once replacing", |_, queue| {
        let again = |receipt: &str, name: &str| once(receipt, at_most(delayed(name, 400), 300));
        let buried = OnceJob { is_buried: true, ..again("r3", "delayed") };
        queue.push_once(&[again("r1", "again!"), again("r2", "buried"), buried, again("r4", "expired")]).map(|_| ())
    }),
    ("receipts", |_, queue| queue.receipts(0, b"", 10).map(|_| ())),
    ("taken ids", |_, queue| queue.taken_ids().map(|_| ())),
    ("forget receipts", |_, queue| queue.forget_receipts(&[b"r1".to_vec()]).map(|_| ())),
    ("reserve", |_, queue| reserve_waiting(queue, 1, 0)),
    ("reserve many", |_, queue| reserve_waiting(queue, 100, 0)),
    ("feed", |scene, queue| feed(queue, &[scene.receipt("held")])),
    ("feed after four", |scene, queue| feed(queue, &["one", "two", "one!", "two!"].map(|name| scene.receipt(name)))),
    ("ack", |scene, queue| lease_kept(queue.ack(&scene.held("held")))),
    ("ack with a past", |scene, queue| lease_kept(queue.ack(&scene.held("old")))),
    ("ack one of four", |scene, queue| lease_kept(queue.ack(&scene.held("one")))),
    ("ack many", |scene, queue| {
        let receipts = ["one", "two", "held", "old!", "last"].map(|name| scene.receipt(name));
        queue.ack_many(&receipts.each_ref().map(done)).map(|_| ())
    }),
    ("release", |scene, queue| lease_kept(queue.release(&scene.held("held"), Due::InMs(0), None, true))),
    ("release urgent", |scene, queue| lease_kept(queue.release(&scene.held("held!"), Due::InMs(0), None, true))),
    ("release later", |scene, queue| lease_kept(queue.release(&scene.held("old!"), Due::InMs(9_000), None, true))),
    ("release to another priority", |scene, queue| {
        lease_kept(queue.release(&scene.held("one"), Due::InMs(0), Some(7), true))
    }),
    ("release uncounted", |scene, queue| lease_kept(queue.release(&scene.held("old"), Due::InMs(0), None, false))),
    ("give back", |scene, queue| {
        let receipts = ["one", "two!", "held", "old!", "last"].map(|name| scene.receipt(name));
        queue.give_back(&receipts.each_ref()).map(|_| ())
    }),
    ("fail", |scene, queue| lease_kept(queue.fail(&scene.held("held"), Some(b"boom")).map(|_| ()))),
    ("fail urgent", |scene, queue| lease_kept(queue.fail(&scene.held("one!"), Some(b"boom")).map(|_| ()))),
    ("fail last", |scene, queue| lease_kept(queue.fail(&scene.held("last"), Some(b"boom")).map(|_| ()))),
    ("bury", |scene, queue| lease_kept(queue.bury(&scene.held("held!"), Some(b"boom")))),
    ("touch", |scene, queue| lease_kept(queue.touch(&scene.held("held"), None).map(|_| ()))),
    ("touch one of four", |scene, queue| lease_kept(queue.touch(&scene.held("two"), Some(500)).map(|_| ()))),
    ("renew", |scene, queue| {
        let receipts = ["one", "two!", "old"].map(|name| scene.receipt(name));
        queue.renew(&receipts.each_ref().map(|receipt| (receipt, 60_000))).map(|_| ())
    }),
    ("cancel waiting", |_, queue| queue.cancel(&["ready", "delayed!", "due!"].map(id)).map(|_| ())),
    ("cancel held", |_, queue| queue.cancel(&["held", "old!", "one"].map(id)).map(|_| ())),
    ("cancel buried", |_, queue| queue.cancel(&["buried", "buried!"].map(id)).map(|_| ())),
    ("reschedule", |_, queue| queue.reschedule(&id("delayed"), Due::InMs(0), false).map(|_| ())),
    ("reschedule urgent", |_, queue| queue.reschedule(&id("delayed!"), Due::InMs(0), false).map(|_| ())),
    ("reschedule later", |_, queue| queue.reschedule(&id("again!"), Due::InMs(9_000), false).map(|_| ())),
    ("reschedule buried", |_, queue| queue.reschedule(&id("buried!"), Due::InMs(0), false).map(|_| ())),
    ("update", |_, queue| queue.update(&id("delayed!"), Changes::payload(b"changed"), None, None).map(|_| ())),
    ("update with headers", |_, queue| {
        let headers = [("trace".into(), Some("1".into()))];
        queue.update(&id("delayed"), Changes::new(b"changed", &headers), None, None).map(|_| ())
    }),
    ("update with a time", |_, queue| {
        queue.update(&id("delayed!"), Changes::payload(b"changed"), Some(Due::InMs(0)), None).map(|_| ())
    }),
    ("update a buried one with a time", |_, queue| {
        queue.update(&id("buried!"), Changes::default(), Some(Due::InMs(9_000)), None).map(|_| ())
    }),
    ("update held", |scene, queue| lease_kept(queue.update_held(&scene.held("one!"), Changes::payload(b"changed")))),
    ("kick", |_, queue| queue.kick(10, true).map(|_| ())),
    ("kick job", |_, queue| queue.kick_job(&id("buried!"), false).map(|_| ())),
    ("kick delayed job", |_, queue| queue.kick_job(&id("delayed"), false).map(|_| ())),
    ("kick delayed urgent job", |_, queue| queue.kick_job(&id("delayed!"), true).map(|_| ())),
    ("reserve job", |_, queue| queue.reserve_job(&id("delayed")).map(|_| ())),
    ("reserve urgent job", |_, queue| queue.reserve_job(&id("again!")).map(|_| ())),
    ("reserve buried job", |_, queue| queue.reserve_job(&id("buried")).map(|_| ())),
    ("take", |_, queue| queue.take(None, 3).map(|_| ())),
    ("purge delayed", |_, queue| queue.purge(&[State::Delayed]).map(|_| ())),
    ("purge ready", |_, queue| queue.purge(&[State::Ready]).map(|_| ())),
    ("purge reserved", |_, queue| queue.purge(&[State::Reserved]).map(|_| ())),
    ("purge buried", |_, queue| queue.purge(&[State::Buried]).map(|_| ())),
    ("forget", |_, queue| queue.forget().map(|_| ())),
    ("peek", |_, queue| queue.peek(&id("held")).map(|_| ())),
    ("list", |_, queue| queue.list(State::Ready, 0, 10).map(|_| ())),
    ("stats", |_, queue| queue.stats().map(|_| ())),
    ("repair", |_, queue| queue.doctor(true).map(|_| ())),
    ("pause", |_, queue| queue.pause(None, None)),
    ("resume", |_, queue| queue.resume(None)),
];
