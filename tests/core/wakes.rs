//! Every transition that brings the next moment of a queue or of a group forward wakes an idle consumer. Here that consumer is registered and has
//! died: the script that wants to wake it finds that no connection listens, and removes it.

use crate::groups::{after, concurrency, group, of, ordered, rate};
use crate::new_jobs::{once, replacing};
use crate::repeats::Scripts;
use crate::support::*;
use delayqueue::core::groups::GroupLimits;
use delayqueue::core::job::{Due, JobOptions, NewJob, Reserved, State};
use delayqueue::core::keys::Keys;
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Fetch, OnceJob, Queue, ReserveOutcome};
use delayqueue::core::scripts::{self, Script};
use std::collections::BTreeSet;
use std::time::Duration;

/// Beyond the horizon of waiters: what is due then wakes nobody.
const LATER: Due = Due::InMs(3_600_000);
const HORIZON: Duration = Duration::from_secs(6);

/// A script; a transition that it makes; the queue before, with the jobs that are held; and the transition.
type Turn = (&'static str, &'static str, fn(&Queue) -> Vec<Reserved>, fn(&Queue, &[Reserved]));

fn nothing(_: &Queue) -> Vec<Reserved> {
    Vec::new()
}

fn one_held(queue: &Queue) -> Vec<Reserved> {
    queue.push(&job("held")).unwrap();
    reserve_many(queue, 1)
}

fn one_later(queue: &Queue) -> Vec<Reserved> {
    queue.push(&NewJob { due: LATER, ..job("later") }).unwrap();
    Vec::new()
}

fn one_buried(queue: &Queue) -> Vec<Reserved> {
    let held = one_held(queue);
    queue.bury(&held[0].held(), None).unwrap();
    Vec::new()
}

/// One job of a group is held, and the next one waits.
fn held_and_next(queue: &Queue) -> Vec<Reserved> {
    push_many(queue, &[of("g", "held"), of("g", "next")]);
    reserve_many(queue, 1)
}

fn full_group(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    held_and_next(queue)
}

fn full_queue(queue: &Queue) -> Vec<Reserved> {
    queue.limit_queue(Some(&concurrency(1))).unwrap();
    held_and_next(queue)
}

fn spent_group(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&rate(1, 3_600_000))).unwrap();
    held_and_next(queue)
}

fn spent_queue(queue: &Queue) -> Vec<Reserved> {
    queue.limit_queue(Some(&rate(1, 3_600_000))).unwrap();
    held_and_next(queue)
}

/// The first job of an ordered group came back, and the next one waits for it.
fn held_up(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&ordered())).unwrap();
    push_many(queue, &[of("g", "first"), of("g", "next")]);
    let first = reserve_many(queue, 1);
    queue.release(&first[0].held(), LATER, None, true).unwrap();
    Vec::new()
}

fn paused(queue: &Queue) -> Vec<Reserved> {
    queue.push(&job("a")).unwrap();
    queue.pause(None, None).unwrap();
    Vec::new()
}

fn paused_group(queue: &Queue) -> Vec<Reserved> {
    queue.push(&of("g", "a")).unwrap();
    queue.pause(None, Some(&group("g"))).unwrap();
    Vec::new()
}

fn raw(queue: &Queue) -> Raw {
    Raw::open(&queue.client().key().dsn)
}

/// Runs a script that leases jobs, for a consumer of its own.
fn run(queue: &Queue, script: &Script, args: &[&str]) {
    let keys = Keys::new("dq", queue.name(), 0);
    let (keys, offset) = (keys.all(), b"0".as_slice());
    let count = keys.len().to_string();
    let head = [b"EVAL".as_slice(), script.source.as_bytes(), count.as_bytes()];
    let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
    raw(queue).run_bytes(&[&head, &keys[..], &[offset], &args].concat());
}

const TURNS: &[Turn] = &[
    ("push", "a ready job", nothing, |queue, _| {
        queue.push(&job("a")).unwrap();
    }),
    ("push", "a job that is due soon", one_later, |queue, _| {
        queue.push(&delayed("a", 2_000)).unwrap();
    }),
    ("push", "a job whose moment has passed", nothing, |queue, _| {
        queue.push(&NewJob { due: Due::AtUs(1), ..job("a") }).unwrap();
    }),
    ("push", "a job of a group", nothing, |queue, _| {
        queue.push(&of("g", "a")).unwrap();
    }),
    ("push_any", "a job of another priority", nothing, |queue, _| {
        queue.push(&prioritized("a", 5)).unwrap();
    }),
    ("push_any", "a ready job in place of a later one", one_later, |queue, _| {
        queue.push(&replacing(job("later"))).unwrap();
    }),
    ("push_any", "a later job in place of the one that holds up its group", held_up, |queue, _| {
        queue.push(&replacing(after(7_200_000, of("g", "first")))).unwrap();
    }),
    ("push_any", "a job of no group in place of it", held_up, |queue, _| {
        push_many(queue, &[replacing(delayed("first", 7_200_000))]);
    }),
    ("push_any", "try_push() in place of it", held_up, |queue, _| {
        queue.try_push(replacing(after(7_200_000, of("g", "first")))).unwrap();
    }),
    ("push_once", "a ready job", nothing, |queue, _| {
        queue.push_once(&[once("r", job("a"))]).unwrap();
    }),
    ("push_once", "a later job in place of the one that holds up its group", held_up, |queue, _| {
        queue.push_once(&[once("r", replacing(after(7_200_000, of("g", "first"))))]).unwrap();
    }),
    ("push_once", "a buried job in place of it", held_up, |queue, _| {
        let buried = OnceJob { is_buried: true, ..once("r", replacing(of("g", "first"))) };
        queue.push_once(&[buried]).unwrap();
    }),
    ("release", "a held job", one_held, |queue, held| {
        queue.release(&held[0].held(), Due::InMs(2_000), None, true).unwrap();
    }),
    ("release", "a held job of a full group, for later", full_group, |queue, held| {
        queue.release(&held[0].held(), LATER, None, true).unwrap();
    }),
    ("release", "a held job of a full queue, for later", full_queue, |queue, held| {
        queue.release(&held[0].held(), LATER, None, true).unwrap();
    }),
    ("release", "a job that nobody has seen, with its token", spent_queue, |queue, held| {
        queue.give_back(&receipts(held)).unwrap();
    }),
    ("fail", "a held job", one_held, |queue, held| {
        queue.fail(&held[0].held(), None).unwrap();
    }),
    ("fail", "a held job of a full group", full_group, |queue, held| {
        queue.fail(&held[0].held(), None).unwrap();
    }),
    ("ack", "a held job of a full group", full_group, |queue, held| queue.ack(&held[0].held()).unwrap()),
    ("ack", "a held job of a full queue", full_queue, |queue, held| queue.ack(&held[0].held()).unwrap()),
    ("ack", "a given job of a group that waits for its first", first_is_due_soon, |queue, held| {
        queue.ack(&held[0].held()).unwrap();
    }),
    ("bury", "a held job of a full group", full_group, |queue, held| queue.bury(&held[0].held(), None).unwrap()),
    ("bury", "a held job of a full queue", full_queue, |queue, held| queue.bury(&held[0].held(), None).unwrap()),
    ("touch", "a lease that gets shorter", one_held, |queue, held| {
        queue.touch(&held[0].held(), Some(1_000)).unwrap();
    }),
    ("reserve", "an acknowledgement of two groups, with a job of one of them", two_full_groups, |queue, held| {
        let mut fetch = Fetch { max: 1, done: finished(held), ..Fetch::default() };
        queue.reserve_now(&mut Connections::default(), &mut fetch, None).unwrap();
    }),
    ("reserve", "a repeat that takes fewer jobs than the call whose answer was lost", two_lost, |queue, _| {
        run(queue, &scripts::RESERVE, &["me@here:1", "7", "1", "r", "1000000", "", "0", ""]);
    }),
    ("reserve_job", "a lease that ends soon", short_later, |queue, _| {
        queue.reserve_job(&id("later")).unwrap().unwrap();
    }),
    ("reserve_job", "a repeat that takes no job of the call whose answer was lost", two_lost, |queue, _| {
        run(queue, &scripts::RESERVE_JOB, &["me@here:1", "7", "1", "nowhere"]);
    }),
    ("reschedule", "a later job", one_later, |queue, _| {
        assert!(queue.reschedule(&id("later"), Due::InMs(1_000)).unwrap());
    }),
    ("reschedule", "the job that holds up its group, to a later moment", held_up, |queue, _| {
        assert!(queue.reschedule(&id("first"), Due::InMs(7_200_000)).unwrap());
    }),
    ("kick", "a buried job", one_buried, |queue, _| assert_eq!(queue.kick(1, true).unwrap(), 1)),
    ("kick_job", "a later job", one_later, |queue, _| assert!(queue.kick_job(&id("later"), true).unwrap())),
    ("cancel", "a held job of a full group", full_group, |queue, _| {
        queue.cancel(&[id("held")]).unwrap();
    }),
    ("cancel", "a held job of a full queue", full_queue, |queue, _| {
        queue.cancel(&[id("held")]).unwrap();
    }),
    ("cancel", "the job that holds up its group", held_up, |queue, _| {
        queue.cancel(&[id("first")]).unwrap();
    }),
    ("cancel_group", "a group that fills the queue", full_queue, |queue, _| {
        queue.push(&job("other")).unwrap();
        queue.cancel_group(&group("g"), true).unwrap();
    }),
    ("purge", "the delayed job that holds up its group", held_up, |queue, _| {
        queue.purge(&[State::Delayed]).unwrap();
    }),
    ("purge", "the held jobs of a full group", full_group, |queue, _| {
        queue.purge(&[State::Reserved]).unwrap();
    }),
    ("pause", "a pause that gets shorter", paused, |queue, _| queue.pause(Some(1_000), None).unwrap()),
    ("pause", "the pause of a group that gets shorter", paused_group, |queue, _| {
        queue.pause(Some(1_000), Some(&group("g"))).unwrap();
    }),
    ("resume", "a queue", paused, |queue, _| queue.resume(None).unwrap()),
    ("resume", "a group", paused_group, |queue, _| queue.resume(Some(&group("g"))).unwrap()),
    ("limit_groups", "a faster rate", spent_group, |queue, _| {
        queue.limit_groups(None, Some(&rate(1, 3_000))).unwrap();
    }),
    ("limit_groups", "a faster rate of one group", spent_group, |queue, _| {
        queue.limit_groups(Some(&group("g")), Some(&rate(1, 3_000))).unwrap();
    }),
    ("limit_groups", "a larger burst", spent_group, |queue, _| {
        queue.limit_groups(None, Some(&GroupLimits { burst: Some(2), ..rate(1, 3_600_000) })).unwrap();
    }),
    ("limit_groups", "no rate", spent_group, |queue, _| queue.limit_groups(None, None).unwrap()),
    ("limit_groups", "a higher concurrency", full_group, |queue, _| {
        queue.limit_groups(None, Some(&concurrency(2))).unwrap();
    }),
    ("limit_groups", "a higher concurrency of one group", full_group, |queue, _| {
        queue.limit_groups(Some(&group("g")), Some(&concurrency(2))).unwrap();
    }),
    ("limit_groups", "no order", held_up, |queue, _| queue.limit_groups(None, Some(&concurrency(1))).unwrap()),
    ("limit_queue", "a faster rate", spent_queue, |queue, _| queue.limit_queue(Some(&rate(1, 3_000))).unwrap()),
    ("limit_queue", "a larger burst", spent_queue, |queue, _| {
        queue.limit_queue(Some(&GroupLimits { burst: Some(2), ..rate(1, 3_600_000) })).unwrap();
    }),
    ("limit_queue", "no rate", spent_queue, |queue, _| queue.limit_queue(None).unwrap()),
    ("limit_queue", "a higher concurrency", full_queue, |queue, _| queue.limit_queue(Some(&concurrency(2))).unwrap()),
    ("repair", "a job whose lease is gone", one_without_lease, |queue, _| {
        queue.doctor(true).unwrap();
    }),
    ("repair", "a job that is not in the book of its group", one_without_entry, |queue, _| {
        queue.doctor(true).unwrap();
    }),
];

/// Scripts that bring no moment forward, and why.
const OTHERS: &[(&str, &str)] = &[
    ("forget", "there is no job"),
    ("group_stats", "looks; a lease that it takes back has ended at a moment that waiters know"),
    ("groups", "looks"),
    ("leave", "changes no moment: it hands over the look of a waiter, see below"),
    ("list", "looks, as group_stats"),
    ("list_group", "looks, as group_stats"),
    ("peek", "looks, as group_stats"),
    ("rate_limit", "closes for longer, never for shorter"),
    ("stats", "looks, as group_stats"),
    ("take", "takes a job that holds up its group only behind all that are due before it"),
    ("update", "changes neither time nor priority nor group"),
];

/// The first job of an ordered group came back and is due soon; another one was taken by its id, and the group has left the line.
fn first_is_due_soon(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&ordered())).unwrap();
    push_many(queue, &[of("g", "first"), of("g", "next")]);
    let first = reserve_many(queue, 1);
    queue.release(&first[0].held(), Due::InMs(5_000), None, true).unwrap();
    let held = queue.reserve_job(&id("next")).unwrap().unwrap();
    next_moment(queue);
    vec![held]
}

fn two_full_groups(queue: &Queue) -> Vec<Reserved> {
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    push_many(queue, &[of("g", "1"), of("h", "2"), of("g", "3"), of("h", "4")]);
    reserve_many(queue, 2)
}

fn two_lost(queue: &Queue) -> Vec<Reserved> {
    push_many(queue, &[job("1"), job("2")]);
    run(queue, &scripts::RESERVE, &["me@here:1", "7", "2", "", "1000000", "", "0", ""]);
    Vec::new()
}

fn short_later(queue: &Queue) -> Vec<Reserved> {
    let options = JobOptions { ttr_ms: 1_000, ..JobOptions::default() };
    queue.push(&NewJob { options, due: LATER, ..job("later") }).unwrap();
    Vec::new()
}

fn one_without_lease(queue: &Queue) -> Vec<Reserved> {
    let held = one_held(queue);
    raw(queue).run(&["HDEL", &key(queue, "leases"), "held"]);
    held
}

fn one_without_entry(queue: &Queue) -> Vec<Reserved> {
    queue.push(&of("g", "a")).unwrap();
    raw(queue).run(&["DEL", &key(queue, "groups")]);
    Vec::new()
}

/// When a waiter would look, as far as it can know; `None`: at no moment that would wake anybody.
fn next_moment(queue: &Queue) -> Option<Duration> {
    let mut connections = Connections::default();
    let found = loop {
        match queue.reserve_now(&mut connections, &mut Fetch::default(), None).unwrap() {
            ReserveOutcome::Jobs(_) => break Some(Duration::ZERO),
            ReserveOutcome::Nothing(next) => break next.wait,
            ReserveOutcome::Again => {}
        }
    };
    queue.client().give_back(connections);
    found.filter(|wait| *wait <= HORIZON)
}

#[test]
fn every_transition_that_brings_a_moment_forward_wakes_an_idle_consumer() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    for (at, (script, what, before, change)) in TURNS.iter().enumerate() {
        let queue = server.queue(&format!("q{at}"));
        let held = before(&queue);
        assert_eq!(next_moment(&queue), None, "{script}, {what}: something is to be done before");
        let waiters = key(&queue, "waiters");
        raw.run(&["ZADD", &waiters, "9000000000000000", "died"]);
        queue.stats().unwrap();
        assert_eq!(raw.int(&["ZCARD", &waiters]), 1, "looking wakes nobody");
        raw.run(&["SCRIPT", "FLUSH"]);
        change(&queue, &held);
        assert_eq!(raw.int(&["ZCARD", &waiters]), 0, "nobody was woken: {script}, {what}");
        let (known, _) = scripts::all().into_iter().find(|(known, _)| known.name == *script).expect(script);
        assert_eq!(
            raw.run(&["SCRIPT", "EXISTS", &known.sha]),
            redis::Value::Array(vec![redis::Value::Int(1)]),
            "{what}"
        );
        assert!(next_moment(&queue).is_some(), "{script}, {what}: nothing is to be done");
    }
}

#[test]
fn each_script_is_in_the_table_of_transitions_or_brings_no_moment_forward() {
    let all: BTreeSet<&str> = scripts::all().iter().map(|(script, _)| script.name).collect();
    let [tried, others] = [
        TURNS.iter().map(|(script, ..)| *script).collect::<BTreeSet<_>>(),
        OTHERS.iter().map(|(script, _)| *script).collect(),
    ];
    assert_eq!(tried.union(&others).copied().collect::<BTreeSet<_>>(), all);
    assert_eq!(tried.intersection(&others).count(), 0);
}

/// A waiter goes away with `leave`, or with a last reserve that finds nothing.
#[test]
fn a_waiter_that_goes_away_has_another_one_look_in_its_place() {
    let last_reserve: [&[u8]; 8] = [b"consumer", b"1", b"1", b"", b"1000000", b"leaver", b"0", b""];
    let farewells: [(&Script, &[&[u8]]); 2] = [(&scripts::LEAVE, &[b"leaver"]), (&scripts::RESERVE, &last_reserve)];
    for (script, args) in farewells {
        for is_job_coming in [false, true] {
            let queue = fresh();
            let mut scripts = Scripts::of(&queue);
            if is_job_coming {
                queue.push(&delayed("a", 2_000)).unwrap();
            }
            let (keys, waiters) = (scripts.keys.clone(), key(&queue, "waiters"));
            scripts.raw.run(&["ZADD", &waiters, "9000000000000000", "died", "9000000000000001", "leaver"]);
            scripts.run(script, &keys.all(), args);
            let left = scripts.raw.run(&["ZRANGE", &waiters, "0", "-1"]);
            let expected: &[&str] = if is_job_coming { &[] } else { &["died"] };
            let expected = expected.iter().map(|name| redis::Value::BulkString(name.as_bytes().to_vec())).collect();
            assert_eq!(left, redis::Value::Array(expected), "{}, a job is coming: {is_job_coming}", script.name);
        }
    }
}
