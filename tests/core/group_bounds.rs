//! Work of one call is bounded, however many groups there are, and whatever they wait for.

use crate::groups::{group, of, of_priority};
use crate::support::*;
use delayqueue::core::groups::GroupLimits;
use delayqueue::core::job::{Due, NewJob};
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::time::Duration;

const GROUPS: usize = 20_000;
const ONE: GroupLimits = GroupLimits { concurrency: Some(1), rate: None, burst: None, weight: 1, ordered: false };

/// Calls of scripts, the commands in them, and the time of Redis that they took in microseconds.
fn totals(raw: &mut Raw) -> [f64; 3] {
    let stats = raw.text(&["INFO", "commandstats"]);
    let mut totals = [0.0; 3];
    for line in stats.lines() {
        let Some((name, numbers)) = line.split_once(":calls=") else { continue };
        let number = |text: &str| text.split(',').next().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        match name {
            "cmdstat_evalsha" | "cmdstat_eval" => {
                totals[0] += number(numbers);
                totals[2] += number(numbers.split("usec=").nth(1).unwrap_or_default());
            }
            "cmdstat_info" => {}
            _ => totals[1] += number(numbers),
        }
    }
    totals
}

/// The mean cost of a call of a script: commands, and milliseconds.
fn per_call(raw: &mut Raw, what: &str, operation: impl FnOnce()) -> (f64, f64, f64) {
    let before = totals(raw);
    operation();
    let after = totals(raw);
    let [calls, commands, us] = [0, 1, 2].map(|at| after[at] - before[at]);
    let found = (calls, commands / calls, us / 1000.0 / calls);
    println!("{what}: {calls} calls, each {:.0} commands and {:.2} ms", found.1, found.2);
    assert!(found.1 < 2_100.0, "{what}: a call has {:.0} commands", found.1);
    found
}

fn push_each(queue: &Queue, job: impl Fn(usize) -> NewJob) {
    for from in (0..GROUPS).step_by(500) {
        push_many(queue, &(from..from + 500).map(&job).collect::<Vec<_>>());
    }
}

/// Says to a reserve, wrongly, that it may be the turn of each group.
const ALL_IN_LINE: &str =
    "for _, group in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, group) end";

#[test]
fn many_groups_make_no_call_longer() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    push_each(&queue, |n| NewJob { due: Due::InMs(3_600_000), ..of(&format!("group{n}"), &n.to_string()) });
    let line = key(&queue, "line");
    raw.run(&["EVAL", ALL_IN_LINE, "1", &line]);
    let (calls, commands, _) = per_call(&mut raw, "a reserve, and none of them has anything", || {
        while wrong_ones(&server, &line) > 0 {
            // On a busy machine so many calls take longer than one operation may.
            let found = queue.reserve(&["q".to_owned()], 1, Some(Duration::ZERO), &mut NoInterrupts);
            assert!(!found.is_ok_and(|jobs| !jobs.is_empty()));
        }
    });
    assert!(calls >= GROUPS as f64 / 100.0 && commands < 600.0, "{calls} {commands}");
    travel(3_600_001);
    per_call(&mut raw, "stats, all of them ready", || assert_eq!(queue.stats().unwrap().blocked, 0));
    let (calls, commands, _) = per_call(&mut raw, "limits of all", || queue.limit_groups(None, Some(&ONE)).unwrap());
    assert!(calls >= GROUPS as f64 / 200.0 && commands < 1_300.0, "{calls} {commands}");
    per_call(&mut raw, "stats, all of them limited", || assert_eq!(queue.stats().unwrap().blocked, 0));
    per_call(&mut raw, "a reserve of many", || assert_eq!(reserve_many(&queue, 100).len(), 100));
    per_call(&mut raw, "names", || assert_eq!(queue.groups(1_000_000, b"").unwrap().len(), GROUPS));
    raw.run(&["EVAL", ALL_IN_LINE, "1", &line]);
    per_call(&mut raw, "a reserve of one", || assert!(reserve(&queue).is_some()));
    travel(-3_600_001);
}

/// How many groups stand in line where it cannot be their turn.
fn wrong_ones(server: &Server, line: &str) -> i64 {
    server.raw().int(&["ZCOUNT", line, "1", "1"])
}

#[test]
fn a_large_group_is_cancelled_in_parts() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    push_each(&queue, |n| of("g", &n.to_string()));
    let (calls, ..) = per_call(&mut raw, "cancelling a group", || {
        assert_eq!(queue.cancel_group(&group("g"), true).unwrap(), GROUPS as u64);
    });
    assert!(calls >= GROUPS as f64 / 500.0);
    assert_eq!(states(&queue), [0; 4]);
}

/// A look jumps over a thousand priorities at most.
#[test]
fn a_group_of_many_priorities_whose_jobs_are_delayed_holds_up_no_call_and_no_other_group() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let delayed =
        |n: usize| NewJob { due: Due::InMs(3_600_000), ..of_priority("g", &n.to_string(), u32::try_from(n).unwrap()) };
    for from in (0..10_000).step_by(500) {
        push_many(&queue, &(from..from + 500).map(delayed).collect::<Vec<_>>());
    }
    per_call(&mut raw, "a reserve over 10,000 priorities", || assert_eq!(reserve(&queue), None));
    per_call(&mut raw, "stats over 10,000 priorities", || drop(queue.stats().unwrap()));
    queue.push(&of_priority("g", "ready", 20_000)).unwrap();
    queue.push(&of("h", "other")).unwrap();
    let mut got = None;
    per_call(&mut raw, "a reserve of what lies behind them", || {
        got = reserve(&queue).or_else(|| reserve(&queue)).map(|job| job.id.to_string());
    });
    assert_eq!(got.as_deref(), Some("other"));
}
