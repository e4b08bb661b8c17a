//! A member without its record, or beside that of a newer job of the same id, was leased unseen: nobody takes that lease for one
//! of the newer job, and nothing that is done with it touches that job.

use crate::audit::{self, key};
use crate::denied::user_without;
use crate::leases::{CALL, DUE_MS, digest, disown, eval, held_in, keys, lease, old, primed};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, Receipt, State};
use delayqueue::core::queue::{Held, Queue};
use delayqueue::core::scripts;
use delayqueue::core::slot::Slot;
use redis::Value;
use std::collections::BTreeMap;

/// Where the newer job `x` is; `together`: in the slot of the stray.
const STATES: [&str; 8] = ["absent", "ready", "delayed", "urgent", "held", "buried", "together", "come back"];
const HOUR: u64 = 3_600_000;

/// Slot `s` of `queue`: the stray, if there is one, `x`, if it is there together with it, then `y` and `z`.
struct Scene {
    queue: Queue,
    raw: Raw,
    leases: Vec<(u64, String)>,
    /// Of the job `x`, where it is held.
    real: Option<Held>,
}

impl Scene {
    fn set(state: &str, has_stray: bool) -> Self {
        let (queue, mut raw) = primed();
        let hold = || queue.reserve_job(&id("x")).unwrap().unwrap().held();
        let mut real = None;
        let with_due = |ms| NewJob { due: Due::InMs(ms), ..job("x") };
        match state {
            "absent" | "urgent" => {}
            "together" => drop(queue.push(&old("x")).unwrap()),
            "delayed" => drop(queue.push(&with_due(HOUR)).unwrap()),
            _ => drop(queue.push(&with_due(0)).unwrap()),
        }
        match state {
            "held" => {
                let held = hold();
                queue.touch(&held, Some(10 * HOUR)).unwrap();
                real = Some(held);
            }
            "buried" => queue.bury(&hold(), Some(b"why")).unwrap(),
            "come back" => queue.release(&hold(), Due::InMs(HOUR), None).unwrap(),
            _ => {}
        }
        for name in ["y", "z"] {
            queue.push(&old(name)).unwrap(); // one by one: not before `x`, whatever time the client believes it to be
        }
        if has_stray {
            add_stray(&mut raw, &queue, "x", ["ready", "held", "buried"].contains(&state));
        }
        let most = 2 + usize::from(has_stray) + usize::from(state == "together");
        let record = lease(&mut raw, &queue, "s", most, None).unwrap();
        let leases: Vec<(u64, String)> = Slot::decode(&record)
            .unwrap()
            .iter()
            .map(|lease| (lease.token, String::from_utf8_lossy(lease.id).into_owned()))
            .collect();
        if state == "together" {
            real = Some(held_as("x", leases[usize::from(has_stray)].0));
        }
        if state == "urgent" {
            queue.push(&NewJob { options: priority_options(5), ..with_due(HOUR) }).unwrap();
        }
        assert_eq!(leases.len(), most);
        assert!(!has_stray || leases[0].1 == "x");
        Self { queue, raw, leases, real }
    }

    fn stray(&self) -> Held {
        held_as("x", self.leases[0].0)
    }

    /// Where everything is once the stray is disowned.
    fn places(&mut self, has_stray: bool) -> BTreeMap<String, &'static str> {
        if has_stray {
            disown(&mut self.raw, &self.queue, "s", &[self.leases[0].0]);
        }
        audit::places(&mut self.raw, &self.queue)
    }
}

fn held_as(name: &str, token: u64) -> Held {
    Held { id: id(name), receipt: Receipt { slot: "s".into(), token }, attempts: 1, options: JobOptions::default() }
}

/// The member of a job that was pushed before any other, or a moment from the newer one, and is not there any more. Either way a
/// part of its stamp is the newer one's.
fn add_stray(raw: &mut Raw, queue: &Queue, name: &str, is_near: bool) {
    let record = audit::hash(raw, &key(queue, "jobs")).remove(name.as_bytes()).unwrap_or(vec![8; 7]);
    let born = record[..6].to_vec();
    let last = record[6] - record[6] % 8;
    let stamp = if is_near { [born, vec![last ^ 8]].concat() } else { [vec![0; 6], vec![last]].concat() };
    let member = [&stamp, name.as_bytes()].concat();
    raw.run_bytes(&[b"ZADD", key(queue, "waiting").as_bytes(), DUE_MS.to_string().as_bytes(), &member]);
}

fn is_lost<T: std::fmt::Debug>(result: Result<T, Error>) -> bool {
    match result {
        Ok(_) => false,
        Err(Error::LeaseLost { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn who_settles_a_stray_hears_that_it_is_lost_and_changes_nothing() {
    type Settle = fn(&Queue, &Held) -> bool;
    let settle: [(&str, Settle); 6] = [
        ("release", |queue, held| is_lost(queue.release(held, Due::InMs(0), None))),
        ("release later", |queue, held| is_lost(queue.release(held, Due::InMs(HOUR), None))),
        ("release urgent", |queue, held| is_lost(queue.release(held, Due::InMs(0), Some(5)))),
        ("return unstarted", |queue, held| is_lost(queue.return_unstarted(held))),
        ("fail", |queue, held| is_lost(queue.fail(held, Some(b"boom")))),
        ("bury", |queue, held| is_lost(queue.bury(held, Some(b"boom")))),
    ];
    for state in STATES {
        let mut scene = Scene::set(state, true);
        for (name, settle) in &settle {
            let before = digest(&mut scene.raw, &scene.queue);
            assert!(settle(&scene.queue, &scene.stray()), "{name}, {state}");
            assert_eq!(digest(&mut scene.raw, &scene.queue), before, "{name}, {state}");
        }
    }
    for (name, settle) in &settle {
        let mut scene = Scene::set("absent", true);
        assert!(!settle(&scene.queue, &held_as("y", scene.leases[1].0)), "{name}: not so for its neighbour");
        scene.places(true);
    }
}

#[test]
fn the_lease_of_a_stray_ends_without_a_trace() {
    for state in STATES {
        let [mut with, mut without] = [true, false].map(|has_stray| Scene::set(state, has_stray));
        clock::set_thread_offset_ms(60_001);
        let stats = [&with.queue, &without.queue].map(|queue| queue.stats().unwrap());
        assert_eq!(stats[0].timed_out, stats[1].timed_out, "{state}");
        assert_eq!(with.places(false), without.places(false), "{state}");
        let served = [&with.queue, &without.queue].map(|queue| {
            let (mut jobs, held) = (Vec::new(), reserve_many(queue, 10));
            for job in held {
                jobs.push((job.id.to_string(), job.attempts));
                queue.ack(&job.held()).unwrap();
            }
            jobs
        });
        assert_eq!(served[0], served[1], "{state}");
        let expected = usize::from(["ready", "together"].contains(&state));
        assert_eq!(served[0].iter().filter(|(id, _)| id == "x").count(), expected, "{state}");
        clock::set_thread_offset_ms(0);
    }
}

/// What an operation answers, as a text.
type Operation = fn(&Scene) -> String;

const OPERATIONS: &[(&str, Operation)] = &[
    ("cancel", |scene| scene.queue.cancel(&[id("x")]).unwrap().to_string()),
    ("peek", |scene| {
        let info = scene.queue.peek(&id("x")).unwrap();
        format!("{:?}", info.map(|info| (info.state, info.attempts, info.lease_until_ms.is_some())))
    }),
    ("list", |scene| {
        let list = |state| scene.queue.list(state, 0, 10).unwrap();
        let mut names = State::ALL.map(|state| list(state).iter().map(|job| job.id.to_string()).collect::<Vec<_>>());
        names[2].sort();
        format!("{names:?}")
    }),
    ("reserve job", |scene| format!("{:?}", scene.queue.reserve_job(&id("x")).unwrap().map(|job| job.payload))),
    ("reserve", |scene| {
        let jobs = reserve_many(&scene.queue, 10);
        format!("{:?}", jobs.iter().map(|job| (job.id.to_string(), job.attempts)).collect::<Vec<_>>())
    }),
    ("reschedule", |scene| scene.queue.reschedule(&id("x"), Due::InMs(2 * HOUR)).unwrap().to_string()),
    ("reschedule now", |scene| scene.queue.reschedule(&id("x"), Due::InMs(0)).unwrap().to_string()),
    ("update", |scene| scene.queue.update(&id("x"), b"new").unwrap().to_string()),
    ("kick job", |scene| scene.queue.kick_job(&id("x"), false).unwrap().to_string()),
    ("kick", |scene| scene.queue.kick(10, false).unwrap().to_string()),
    ("push", |scene| scene.queue.push(&job("x")).is_ok().to_string()),
    ("push replacing", |scene| {
        scene.queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..job("x") }).is_ok().to_string()
    }),
    ("push many", |scene| scene.queue.push_many(&[job("x"), job("other")]).is_ok().to_string()),
    ("take", |scene| scene.queue.take(Some(i64::MAX >> 16), 10).unwrap().len().to_string()),
    ("purge reserved", |scene| scene.queue.purge(&[State::Reserved]).unwrap().to_string()),
    ("purge", |scene| scene.queue.purge(&[]).unwrap().to_string()),
    ("stats", |scene| {
        let stats = scene.queue.stats().unwrap();
        format!(
            "{:?}",
            (stats.pushed, stats.acked, stats.failed, stats.timed_out, stats.cancelled, states(&scene.queue))
        )
    }),
    ("ack of its own", |scene| scene.real.as_ref().map_or(String::new(), |x| is_lost(scene.queue.ack(x)).to_string())),
    ("release of its own", |scene| {
        let release = |x| is_lost(scene.queue.release(x, Due::InMs(0), None)).to_string();
        scene.real.as_ref().map_or(String::new(), release)
    }),
    ("release of its own with another priority", |scene| {
        let release = |x| is_lost(scene.queue.release(x, Due::InMs(0), Some(5))).to_string();
        scene.real.as_ref().map_or(String::new(), release)
    }),
    ("fail of its own", |scene| {
        scene.real.as_ref().map_or(String::new(), |x| is_lost(scene.queue.fail(x, None)).to_string())
    }),
    ("bury of its own", |scene| {
        scene.real.as_ref().map_or(String::new(), |x| is_lost(scene.queue.bury(x, None)).to_string())
    }),
    ("touch of its own", |scene| {
        scene.real.as_ref().map_or(String::new(), |x| is_lost(scene.queue.touch(x, Some(HOUR))).to_string())
    }),
    ("ack of a neighbour", |scene| {
        let (token, name) = scene.leases.last().unwrap();
        is_lost(scene.queue.ack(&held_as(name, *token))).to_string()
    }),
    ("reserve after another stray", |scene| {
        let mut raw = shared().raw();
        add_stray(&mut raw, &scene.queue, "x", false);
        format!("{:?}", reserve(&scene.queue).map(|job| job.id))
    }),
];

#[test]
fn every_operation_does_to_a_job_what_it_does_without_a_stray() {
    for state in STATES {
        for (name, operation) in OPERATIONS {
            let [mut with, mut without] = [true, false].map(|has_stray| Scene::set(state, has_stray));
            let answers = [operation(&with), operation(&without)];
            assert_eq!(answers[0], answers[1], "{name}, {state}");
            let places = [with.places(true), without.places(false)];
            assert_eq!(places[0], places[1], "{name}, {state}");
        }
    }
}

#[test]
fn a_stray_does_not_hide_that_a_record_is_orphaned() {
    for has_stray in [true, false] {
        let mut scene = Scene::set("delayed", has_stray);
        scene.raw.run(&["DEL", &key(&scene.queue, "waiting")]);
        assert!(scene.queue.peek(&id("x")).unwrap().is_none(), "{has_stray}");
        assert_eq!(scene.queue.cancel(&[id("x")]).unwrap(), 1, "{has_stray}");
        assert_eq!(scene.places(has_stray).keys().collect::<Vec<_>>(), ["y", "z"]);
    }
}

#[test]
fn a_repeated_reserve_gives_what_has_its_record() {
    for state in STATES {
        let mut scene = Scene::set(state, true);
        let retry = |raw: &mut Raw| {
            let args: [&[u8]; 7] = [b"0", b"s", CALL, b"4", b"1", b"", b"0"];
            eval(raw, &scripts::RESERVE_OR_WAIT, &keys(&scene.queue).all(), &args)
        };
        let Value::Array(answer) = retry(&mut scene.raw) else { panic!("{state}") };
        let record = held_in(&mut scene.raw, &scene.queue, "s").unwrap();
        assert_eq!(answer[1], Value::BulkString(record), "{state}");
        assert_eq!(answer[2], Value::Nil, "{state}: the record is not the stray's");
        let count = scene.leases.len();
        for (n, (_, name)) in scene.leases.iter().enumerate().skip(1) {
            let record = scene.raw.run(&["HGET", &key(&scene.queue, "jobs"), name]);
            assert_eq!(answer[2 + n], record, "{state}");
        }
        assert_eq!(answer[2 + count], Value::Array(vec![Value::BulkString(Vec::new()); count]), "{state}");
        let real: Vec<u64> = scene.leases[1..].iter().map(|(token, _)| *token).collect();
        disown(&mut scene.raw, &scene.queue, "s", &real);
        let only_strays = retry(&mut scene.raw);
        assert!(matches!(&only_strays, Value::ServerError(error) if error.code() == "DQSLOT"), "{only_strays:?}");
    }
}

#[test]
fn disowning_ends_leases_and_nothing_else() {
    for state in STATES {
        let mut scene = Scene::set(state, true);
        let (queue, raw) = (&scene.queue, &mut scene.raw);
        let before = digest(raw, queue);
        disown(raw, queue, "s", &[1, 999, scene.leases[0].0 - 1]);
        disown(raw, queue, "unknown", &[scene.leases[0].0]);
        assert_eq!(digest(raw, queue), before, "{state}: tokens that are not there do not matter");
        let held = |raw: &mut Raw| held_in(raw, queue, "s").unwrap();
        let stamped = |record: &[u8]| -> Vec<_> {
            Slot::decode(record).unwrap().iter().map(|lease| (lease.token, lease.stamp.unwrap())).collect()
        };
        let all = stamped(&held(raw));
        let (jobs, waiting) = (audit::hash(raw, &key(queue, "jobs")), audit::zset(raw, &key(queue, "waiting")));
        disown(raw, queue, "s", &[999, scene.leases[0].0]);
        assert_eq!(stamped(&held(raw)), all[1..], "{state}");
        let last: Vec<u64> = all[1..].iter().map(|(token, _)| *token).collect();
        disown(raw, queue, "s", &last);
        assert_eq!(held_in(raw, queue, "s"), None, "{state}");
        assert_eq!(audit::zset(raw, &key(queue, "reserved")).len(), usize::from(state == "held"), "{state}");
        assert_eq!(audit::hash(raw, &key(queue, "jobs")), jobs, "{state}");
        assert_eq!(audit::zset(raw, &key(queue, "waiting")), waiting, "{state}");
    }
}

#[test]
fn leases_of_their_own_deadlines_keep_their_stamps() {
    let mut scene = Scene::set("together", true);
    let (queue, raw) = (&scene.queue, &mut scene.raw);
    let before = held_in(raw, queue, "s").unwrap();
    let y = held_as("y", scene.leases[2].0);
    let end = queue.touch(&y, Some(HOUR)).unwrap();
    let after = held_in(raw, queue, "s").unwrap();
    let mut expected = Slot::decode(&before).unwrap();
    expected[2].deadline_ms = end;
    assert_eq!(Slot::decode(&after).unwrap(), expected);
    assert_eq!(after[4..7], [2, 0, 0], "in full");
    // In full, too, a stray is no lease of the job.
    assert!(is_lost(queue.release(&held_as("x", scene.leases[0].0), Due::InMs(0), None)));
    assert!(!is_lost(queue.release(&held_as("x", scene.leases[1].0), Due::InMs(0), None)));
    assert_eq!(queue.peek(&id("x")).unwrap().unwrap().state, State::Ready);
    clock::set_thread_offset_ms(60_001);
    assert_eq!(queue.stats().unwrap().timed_out, 1);
    let places = audit::places(raw, queue);
    let expected = [("x", "waiting"), ("y", "reserved"), ("z", "waiting")];
    assert_eq!(places, expected.map(|(name, place)| (name.to_owned(), place)).into());
    assert_eq!(Slot::decode(&held_in(raw, queue, "s").unwrap()).unwrap().len(), 1);
    queue.ack(&y).unwrap();
    assert_eq!(serve_all(queue), ["z", "x"]);
    clock::set_thread_offset_ms(0);
}

/// The new priority is written first: the record then has options, and is still that of the leased job.
#[test]
fn a_release_that_failed_half_way_leaves_the_job_to_its_lease() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    crate::leases::prime(&queue, &mut raw);
    queue.push_many(&[old("y"), old("z")]).unwrap();
    let record = lease(&mut raw, &queue, "s", 2, None).unwrap();
    let token = Slot::decode(&record).unwrap()[0].token;
    let limited = Queue::new(config(user_without(&server, &["-zadd"]), "q"));
    limited.release(&held_as("y", token), Due::InMs(0), Some(5)).unwrap_err();
    assert_eq!(audit::hash(&mut raw, &key(&queue, "jobs"))[b"y".as_slice()][6] % 8, 2, "it has options");
    clock::set_thread_offset_ms(60_001);
    assert_eq!(serve_all(&queue), ["y", "z"]);
    clock::set_thread_offset_ms(0);
}
