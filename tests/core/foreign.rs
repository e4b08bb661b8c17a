//! Records and members that no version of ours wrote: scripts bury or drop them once and for all, and serve the jobs around them.

use crate::audit;
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::job::{Due, JobOptions, NewJob, State};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Queue, Settled};
use delayqueue::core::reply;
use std::collections::BTreeSet;

/// Pushes a job, and changes its record to one of a newer format.
fn push_unknown(raw: &mut Raw, queue: &Queue, name: &str) {
    queue.push(&job(name)).unwrap();
    let mut record = stored(raw, queue, name);
    record[0] = 64;
    store(raw, queue, name, &record);
}

fn stored(raw: &mut Raw, queue: &Queue, name: &str) -> Vec<u8> {
    reply::bytes(raw.run(&["HGET", &key(queue, "jobs"), name])).unwrap()
}

fn store(raw: &mut Raw, queue: &Queue, name: &str, record: &[u8]) {
    raw.run_bytes(&[b"HSET", key(queue, "jobs").as_bytes(), name.as_bytes(), record]);
}

/// The faults of the queue, except disagreements between histories and records: the test has deleted the one, and the other may be
/// damaged.
pub fn faults(raw: &mut Raw, queue: &Queue) -> Vec<String> {
    let (_, mut faults) = audit::examine(raw, queue);
    faults.retain(|fault| !fault.ends_with("has a history and no record that says so"));
    faults.retain(|fault| !fault.ends_with("has no history, and its record says that it has"));
    faults
}

/// Reserves and acknowledges until nothing comes; fails when that takes too many calls.
pub fn serve(queue: &Queue) -> BTreeSet<String> {
    let mut served = BTreeSet::new();
    for _ in 0..100 {
        let jobs = reserve_many(queue, 10);
        if jobs.is_empty() {
            return served;
        }
        for job in jobs {
            queue.ack(&job.held()).unwrap();
            served.insert(job.id.to_string());
        }
    }
    panic!("it never ends: {served:?}");
}

pub fn all(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_record_of_a_newer_format_is_set_aside_and_stays_untouched() {
    let queue = fresh();
    let mut raw = shared().raw();
    for priority in [1024, 5] {
        push_unknown(&mut raw, &queue, "new");
        queue.push(&prioritized("good", priority)).unwrap();
        let record = raw.run(&["HGET", &key(&queue, "jobs"), "new"]);
        assert!(!queue.update(&id("new"), Changes::payload(b"x"), None, None).unwrap());
        assert!(!queue.reschedule(&id("new"), Due::InMs(5), false).unwrap());
        assert!(!queue.kick_job(&id("new"), false).unwrap());
        assert_eq!(serve(&queue), all(&["good"]));
        let info = queue.peek(&id("new")).unwrap().unwrap();
        assert_eq!(
            (info.state, info.last_error.as_deref()),
            (State::Buried, Some(b"unknown record format".as_slice()))
        );
        assert_eq!(raw.run(&["HGET", &key(&queue, "jobs"), "new"]), record);
        assert_eq!(queue.kick(10, true).unwrap(), 0, "this version cannot serve it");
        assert!(!queue.kick_job(&id("new"), true).unwrap());
        assert_eq!(faults(&mut raw, &queue), Vec::<String>::new());
        assert_eq!(queue.cancel(&[id("new")]).unwrap(), 1);
        assert_eq!(queue.count(None).unwrap(), 0);
    }
}

#[test]
fn a_record_of_garbage_is_set_aside_with_a_reason() {
    let long = vec![b'z'; 5_000];
    let short_options = [b"\x01\0\0\0\0\0\0".as_slice(), b"\0\x0b", &[0; 30]].concat();
    let cut = [b"\x01\0\0\0\0\0\0".as_slice(), b"\0\x1a\0"].concat();
    let garbage: [&[u8]; 8] =
        [b"", b"g", b"garbage", b"\0\0\0\0\0\0", b"\xff\xff\xff\xff\xff\xff\xff\xff", &long, &short_options, &cut];
    for (n, bytes) in garbage.iter().enumerate() {
        for priority in [1024, 5] {
            let queue = fresh();
            let mut raw = shared().raw();
            queue.push(&prioritized("bad", priority)).unwrap();
            queue.push(&job("good")).unwrap();
            queue.push(&prioritized("good too", 2_000)).unwrap();
            store(&mut raw, &queue, "bad", bytes);
            assert_eq!(serve(&queue), all(&["good", "good too"]), "garbage {n}, priority {priority}");
            let listed = queue.list(State::Buried, 0, 10).unwrap();
            assert_eq!(listed.len(), 1, "garbage {n}, priority {priority}");
            let reason = String::from_utf8(listed[0].last_error.clone().unwrap()).unwrap();
            assert!(reason == "corrupt record" || reason == "unknown record format", "{reason}");
            assert!(bytes.ends_with(&listed[0].payload), "shown as it is");
            assert_eq!(queue.kick(10, false).unwrap(), 0, "nobody could serve it");
            assert_eq!(queue.cancel(&[id("bad")]).unwrap(), 1);
            assert_eq!(raw.int(&["HLEN", &key(&queue, "jobs")]), 0);
        }
    }
}

#[test]
fn a_record_that_is_cut_off_within_its_options_is_set_aside_too() {
    for priority in [1024, 5] {
        for most in [1, 10] {
            let queue = fresh();
            let mut raw = shared().raw();
            let options = JobOptions { ttr_ms: 5_000, ..priority_options(priority) };
            let names = ["a", "b", "c", "d"];
            push_many(&queue, &names.map(|name| NewJob { options: options.clone(), ..job(name) }));
            let record = stored(&mut raw, &queue, "c");
            let cut = &record[..20]; // one byte of the options is missing
            store(&mut raw, &queue, "c", cut);
            let mut served = BTreeSet::new();
            while let Some(job) = reserve_many(&queue, most).pop() {
                served.insert(job.id.to_string());
            }
            assert!(!served.contains("c"), "priority {priority}, {most} at a time");
            let buried = queue.peek(&id("c")).unwrap().unwrap();
            assert_eq!((buried.state, buried.payload), (State::Buried, cut.to_vec()));
            assert_eq!(states(&queue), [0, 0, 3, 1]);
            assert_eq!(faults(&mut raw, &queue), Vec::<String>::new());
        }
    }
}

/// Buried jobs that cannot be read stay; those behind them are kicked.
#[test]
fn kick_passes_over_buried_jobs_that_cannot_be_read() {
    let queue = fresh();
    let mut raw = shared().raw();
    let names: Vec<String> = (0..450).map(|n| format!("{n:03}")).collect();
    push_many(&queue, &names.iter().map(|name| job(name)).collect::<Vec<_>>());
    for job in reserve_many(&queue, 500) {
        queue.bury(&job.held(), None).unwrap();
    }
    let is_bad = |n: usize| n == 0 || (10..430).contains(&n);
    for (n, name) in names.iter().enumerate().filter(|(n, _)| is_bad(*n)) {
        store(&mut raw, &queue, name, if n % 2 == 0 { b"?" } else { b"" });
    }
    assert_eq!(queue.kick(1, false).unwrap(), 1);
    assert_eq!(queue.kick(1_000, false).unwrap(), 450 - 421 - 1);
    let good = names.iter().enumerate().filter(|(n, _)| !is_bad(*n)).map(|(_, name)| name.clone());
    assert_eq!(serve(&queue), good.collect());
    assert_eq!(states(&queue), [0, 0, 0, 421]);
}

#[test]
fn entries_without_a_record_are_dropped() {
    for has_priorities in [false, true] {
        let queue = fresh();
        let mut raw = shared().raw();
        if has_priorities {
            queue.push(&prioritized("urgent", 5)).unwrap();
        }
        queue.push(&job("good")).unwrap();
        for name in ["waiting", "prioritized", "prioritized_ready", "reserved", "buried"] {
            if has_priorities || !name.starts_with("prioritized") {
                for member in ["", "x", "eight by", "1234567and an id", "12345678901234567890 and an id"] {
                    raw.run(&["ZADD", &key(&queue, name), "1", member]);
                }
            }
        }
        raw.run(&["HSET", &key(&queue, "leases"), "nobody", "1 2 me", "", "", "junk", "?"]);
        let names: &[&str] = if has_priorities { &["urgent", "good"] } else { &["good"] };
        for state in State::ALL {
            queue.list(state, 0, 100).unwrap();
        }
        assert_eq!(queue.peek(&id("nobody")).unwrap(), None);
        assert_eq!(serve(&queue), all(names), "priorities: {has_priorities}");
        queue.kick(100, false).unwrap();
        queue.take(None, 100).unwrap();
        queue.purge(&[]).unwrap();
        assert_eq!(queue.count(None).unwrap(), 0, "priorities: {has_priorities}");
    }
}

#[test]
fn take_gives_what_is_due_beside_entries_without_a_record() {
    for priority in [1024, 5] {
        let queue = fresh();
        let mut raw = shared().raw();
        for n in 0..700 {
            raw.run(&["ZADD", &key(&queue, "waiting"), "1", &format!("left over {n}")]);
        }
        queue.push(&prioritized("a", priority)).unwrap();
        queue.push(&prioritized("b", priority)).unwrap();
        assert_eq!(payloads(queue.take(None, 1).unwrap()), [b"payload of a".to_vec()]);
        assert_eq!(payloads(queue.take(None, 10).unwrap()), [b"payload of b".to_vec()]);
        assert_eq!(queue.take(None, 10).unwrap().len(), 0);
        assert!(audit::places(&mut raw, &queue).is_empty());
    }
}

#[test]
fn a_job_whose_record_is_gone_disappears() {
    for priority in [1024, 5] {
        let queue = fresh();
        let mut raw = shared().raw();
        for name in ["held", "buried", "ready"] {
            queue.push(&prioritized(name, priority)).unwrap();
        }
        let held = queue.reserve_job(&id("held")).unwrap().unwrap().held();
        queue.bury(&queue.reserve_job(&id("buried")).unwrap().unwrap().held(), None).unwrap();
        raw.run(&["HDEL", &key(&queue, "jobs"), "held", "buried", "ready"]);
        queue.push(&prioritized("good", priority)).unwrap();
        assert!(queue.touch(&held, None).is_err());
        assert!(queue.release(&held, Due::InMs(0), None, true).is_err());
        assert_eq!(queue.kick(10, false).unwrap(), 0);
        travel(60_001);
        assert_eq!(serve(&queue), all(&["good"]));
        assert_eq!(queue.count(None).unwrap(), 0);
        assert!(audit::places(&mut raw, &queue).is_empty());
        clock::set_offset_ms(0);
    }
}

/// No script leaves such an entry; another program may.
#[test]
fn a_second_entry_of_a_job_neither_delivers_it_early_nor_loses_it() {
    for priority in [1024, 5] {
        for state in ["delayed", "buried"] {
            let queue = fresh();
            let mut raw = shared().raw();
            let due = Due::InMs(if state == "delayed" { 3_600_000 } else { 0 });
            queue.push(&NewJob { due, ..prioritized("x", priority) }).unwrap();
            if state == "buried" {
                queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
            }
            raw.run(&["ZADD", &key(&queue, "reserved"), "1", "x"]); // a lease that ran out, of nobody
            until("the entry is gone", || {
                let _ = queue.stats().unwrap();
                raw.int(&["ZCARD", &key(&queue, "reserved")]) == 0
            });
            queue.kick(10, false).unwrap();
            queue.reschedule(&id("x"), Due::InMs(0), false).unwrap();
            assert_eq!(serve(&queue), all(&["x"]), "{state}, priority {priority}");
            assert_eq!(queue.kick(10, false).unwrap(), 0);
            assert_eq!(queue.count(None).unwrap(), 0, "{state}, priority {priority}");
        }
    }
}

#[test]
fn a_clock_set_back_delays_urgent_jobs_but_does_not_block_others() {
    let queue = fresh();
    let mut raw = shared().raw();
    travel(7_200_000);
    for n in 0..20 {
        queue.push(&prioritized(&format!("urgent{n}"), 1)).unwrap();
    }
    assert!(reserve(&queue).is_some());
    travel(-7_200_000);
    queue.push(&prioritized("now", 5)).unwrap();
    queue.push(&job("plain")).unwrap();
    assert_eq!(reserve(&queue).unwrap().id, id("now"), "the clock decides, whatever it said before");
    assert_eq!(reserve(&queue).unwrap().id, id("plain"));
    assert_eq!(reserve(&queue), None);
    assert!(audit::examine(&mut raw, &queue).1.is_empty());
    travel(7_200_000);
    assert_eq!(serve(&queue).iter().filter(|name| name.starts_with("urgent")).count(), 20 - 1);
}

#[test]
fn a_list_goes_on_behind_a_member_without_a_record() {
    let queue = fresh();
    let names: Vec<String> = (0..250).map(|n| format!("{n:03}")).collect();
    push_many(&queue, &names.iter().map(|name| job(name)).collect::<Vec<_>>());
    shared().raw().run(&["HDEL", &key(&queue, "jobs"), "007"]);
    assert_eq!(queue.list(State::Ready, 0, 300).unwrap().len(), 249);
    assert_eq!(queue.list(State::Ready, 0, 8).unwrap().len(), 8, "a page is full where there are enough");
}

#[test]
fn a_job_that_lost_its_history_is_served_when_it_is_due() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.push(&job("a")).unwrap();
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(3_600_000), None, true).unwrap();
    server.raw().run(&["HDEL", &key(&queue, "history"), "a"]);
    assert_eq!(reserve(&queue), None);
    travel(3_600_001);
    assert_eq!(reserve(&queue).map(|job| job.attempts), Some(1));
}

#[test]
fn a_damaged_lease_or_call_does_not_stop_any_consumer() {
    for junk in ["", "x", "1", "x y z", "99999999999999999999999 -1 ?"] {
        let queue = fresh();
        let mut raw = shared().raw();
        push_many(&queue, &[job("a"), job("b"), job("c"), job("d")]);
        let held = reserve_many(&queue, 2);
        for job in &held {
            raw.run(&["HSET", &key(&queue, "leases"), &job.id.to_string(), junk]);
        }
        let consumer = String::from_utf8_lossy(&held[0].receipt.lease).split(' ').nth(3).unwrap().to_owned();
        raw.run(&["HSET", &key(&queue, "leases"), &format!("\n{}", consumer.trim_end_matches('+')), junk]);
        assert_eq!(ack_each(&queue, &held), [Settled::Lost; 2]);
        assert_eq!(queue.list(State::Reserved, 0, 10).unwrap().len(), 2);
        assert!(queue.peek(&id("a")).unwrap().is_some());
        travel(60_001);
        assert_eq!(serve(&queue), all(&["a", "b", "c", "d"]), "{junk:?}");
        clock::set_offset_ms(0);
    }
}

/// Eight bytes hold times that no double does. An entry that promote() did not make is dropped by the bytes that were read.
#[test]
fn an_entry_of_prioritized_ready_that_is_no_due_time_stops_no_consumer() {
    let queue = fresh();
    let mut raw = shared().raw();
    let members =
        [u64::MAX, (1 << 53) + 1, (1 << 53) + 2, 1 << 63, 0].map(|due| [&due.to_be_bytes()[..], b"x"].concat());
    for member in members.into_iter().chain([b"1234567".to_vec(), Vec::new()]) {
        for score in ["5", "inf", "-inf", "2000"] {
            for name in ["plain", "urgent"] {
                queue.push(&prioritized(name, if name == "plain" { 1024 } else { 7 })).unwrap();
            }
            raw.run_bytes(&[b"ZADD", key(&queue, "prioritized_ready").as_bytes(), score.as_bytes(), &member]);
            assert_eq!(serve(&queue), all(&["plain", "urgent"]), "{member:?} {score}");
            assert_eq!(faults(&mut raw, &queue), Vec::<String>::new());
        }
    }
}

#[test]
fn a_due_time_that_is_no_time_stops_no_consumer() {
    let queue = fresh();
    let mut raw = shared().raw();
    for (score, priority) in [("-inf", 7), ("-5", 7), ("0.5", 7), ("1.5", 7), ("-5", 1024), ("1.5", 1024)] {
        queue.push(&prioritized("odd", priority)).unwrap();
        queue.push(&prioritized("good", priority)).unwrap();
        raw.run(&["ZADD", &key(&queue, if priority == 7 { "prioritized" } else { "waiting" }), score, "odd"]);
        assert_eq!(serve(&queue), all(&["odd", "good"]), "{score}, priority {priority}");
        assert_eq!(faults(&mut raw, &queue), Vec::<String>::new(), "{score}, priority {priority}");
    }
}

/// Only another program stores such a lease. It would end before its holder hears of it, and the job be first again for ever.
#[test]
fn a_job_without_a_lease_time_is_held_for_the_shortest_one() {
    let queue = fresh();
    let mut raw = shared().raw();
    for max_attempts in [0, 3] {
        queue
            .push(&NewJob { options: JobOptions { max_attempts, ttr_ms: 5_000, ..JobOptions::default() }, ..job("z") })
            .unwrap();
        queue.push(&job("other")).unwrap();
        let mut record = stored(&mut raw, &queue, "z");
        record[9..13].fill(0);
        store(&mut raw, &queue, "z", &record);
        let held = reserve(&queue).unwrap();
        assert_eq!((held.id.to_string(), held.options.ttr_ms), ("z".into(), 100));
        assert_eq!(reserve(&queue).unwrap().id.to_string(), "other", "the lease holds");
        queue.ack(&held.held()).unwrap();
        queue.purge(&[]).unwrap();
    }
}
