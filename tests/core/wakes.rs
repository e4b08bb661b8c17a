//! Every transition that brings the next moment of a queue or of a group forward wakes an idle consumer. Here that consumer is registered and has
//! died: the script that wants to wake it finds that no connection listens, and removes it.

mod before;
mod table;

use crate::repeats::Scripts;
use crate::support::*;
use before::next_moment;
use delayqueue::core::scripts::{self, Script};
use std::collections::BTreeSet;
use table::{OTHERS, TURNS};

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
