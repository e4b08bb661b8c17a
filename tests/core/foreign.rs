//! Records and members that no version of ours wrote, and keys that somebody deleted: set aside or dropped, never met again
//! and again, and the jobs around them are served.

use crate::audit;
use crate::scene::{OPERATIONS, Scene, Setting};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobId, JobOptions, NewJob, State};
use delayqueue::core::queue::{NoInterrupts, Queue};
use delayqueue::core::record;
use delayqueue::core::scripts;
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::collections::BTreeSet;
use std::time::Duration;

/// Pushes a job whose stamp has the bit that says "newer than you".
fn push_unknown(raw: &mut Raw, queue: &Queue, name: &str) {
    let keys = ["waiting", "jobs", "waiters"].map(|key| audit::key(queue, key));
    raw.run(&["EVAL", &scripts::PUSH.source, "3", &keys[0], &keys[1], &keys[2], name, "payload", "0", "4"]);
}

/// Reserves and acknowledges until nothing comes; fails when that takes too many calls.
fn serve(queue: &Queue) -> BTreeSet<String> {
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

fn all(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_record_of_a_newer_format_is_set_aside_and_stays_untouched() {
    let queue = fresh();
    let mut raw = shared().raw();
    for priority in [1024, 5] {
        push_unknown(&mut raw, &queue, "new");
        queue.push(&prioritized("good", priority)).unwrap();
        let record = raw.run(&["HGET", &audit::key(&queue, "jobs"), "new"]);
        assert_eq!(queue.reserve_job(&id("new")).unwrap(), None);
        assert!(!queue.update(&id("new"), b"x").unwrap());
        assert!(!queue.reschedule(&id("new"), Due::InMs(5)).unwrap());
        assert!(!queue.kick_job(&id("new"), false).unwrap());
        assert_eq!(serve(&queue), all(&["good"]));
        let info = queue.peek(&id("new")).unwrap().unwrap();
        assert_eq!(
            (info.state, info.last_error.as_deref()),
            (State::Buried, Some(b"unknown record format".as_slice()))
        );
        assert_eq!(raw.run(&["HGET", &audit::key(&queue, "jobs"), "new"]), record);
        assert_eq!(queue.kick(10, true).unwrap(), 0, "this version cannot serve it");
        assert!(!queue.kick_job(&id("new"), true).unwrap());
        assert_eq!(audit::places(&mut raw, &queue).len(), 1);
        assert_eq!(queue.cancel(&[id("new")]).unwrap(), 1);
        assert_eq!(queue.count(None).unwrap(), 0);
    }
}

#[test]
fn a_record_of_garbage_is_set_aside_with_a_reason() {
    let long = vec![b'z'; 5_000];
    let zeros = [0; 40];
    let cut = [b"\0\0\0\0\0\0\x02".as_slice(), b"\0\x1a\0"].concat();
    let far = b"\0\0\0\0\0\0\0\xff\xff\xff\0\0\0\0\0\x01"; // without its last byte
    let far_cut = [b"\0\0\0\0\0\0\x02\xff\xff\xff".as_slice(), &[0; 33]].concat();
    let garbage: [&[u8]; 11] = [
        b"",
        b"g",
        b"garbage",
        b"garbagf",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        &long,
        &zeros,
        &cut,
        &far[..15],
        &far[..10],
        &far_cut,
    ];
    for (n, bytes) in garbage.iter().enumerate() {
        for priority in [1024, 5] {
            let queue = fresh();
            let mut raw = shared().raw();
            queue.push(&prioritized("bad", priority)).unwrap();
            queue.push(&job("good")).unwrap();
            queue.push(&prioritized("good too", 2_000)).unwrap();
            raw.run_bytes(&[b"HSET", audit::key(&queue, "jobs").as_bytes(), b"bad", bytes]);
            assert_eq!(serve(&queue), all(&["good", "good too"]), "garbage {n}, priority {priority}");
            let listed = queue.list(State::Buried, 0, 10).unwrap();
            assert_eq!(listed.len(), 1, "garbage {n}, priority {priority}");
            let reason = String::from_utf8(listed[0].last_error.clone().unwrap()).unwrap();
            assert!(reason == "corrupt record" || reason == "unknown record format", "{reason}");
            assert!(bytes.ends_with(&listed[0].payload), "shown as it is");
            // Zeros happen to be a job of 2020: an operator who kicks it gets it.
            queue.kick(10, false).unwrap();
            let served = serve(&queue).len() as u64;
            assert_eq!(served, u64::from(**bytes == zeros));
            assert_eq!(queue.cancel(&[id("bad")]).unwrap(), 1 - served);
            assert_eq!(raw.int(&["HLEN", &audit::key(&queue, "jobs")]), 0);
        }
    }
}

#[test]
fn a_record_damaged_behind_its_stamp_is_set_aside_too() {
    for priority in [1024, 5] {
        let queue = fresh();
        let mut raw = shared().raw();
        let options = JobOptions { ttr_ms: 5_000, ..priority_options(priority) };
        queue.push(&NewJob { options, ..job("bad") }).unwrap();
        let key = audit::key(&queue, "jobs");
        let record = delayqueue::core::reply::bytes(raw.run(&["HGET", &key, "bad"])).unwrap();
        // The options claim to be longer than the record is.
        let mut broken = record.clone();
        broken[record::head(&record).len()] = 0xff;
        raw.run_bytes(&[b"HSET", key.as_bytes(), b"bad", &broken]);
        queue.push(&job("good")).unwrap();
        assert_eq!(serve(&queue), all(&["good"]));
        assert_eq!(states(&queue), [0, 0, 0, 1], "priority {priority}");
        assert_eq!(audit::examine(&mut raw, &queue).1, Vec::<String>::new());
    }
}

#[test]
fn a_record_that_ends_in_its_due_time_is_set_aside_too() {
    let options = JobOptions { ttr_ms: 5_000, ..JobOptions::default() };
    let cases = [(JobOptions::default(), 9), (JobOptions::default(), 10), (JobOptions::default(), 15), (options, 43)];
    for (options, length) in cases {
        for bad in 0..4 {
            for most in [1, 10] {
                let queue = fresh();
                let mut raw = shared().raw();
                let names = ["a", "b", "c", "d"];
                let old = |name: &&str| NewJob { due: Due::AtMs(5), options: options.clone(), ..job(name) };
                queue.push_many(&names.each_ref().map(old)).unwrap();
                let key = audit::key(&queue, "jobs");
                let record = delayqueue::core::reply::bytes(raw.run(&["HGET", &key, names[bad]])).unwrap();
                raw.run_bytes(&[b"HSET", key.as_bytes(), names[bad].as_bytes(), &record[..length]]);
                let mut feed = Feed::new(vec![queue.clone()], most, None);
                let mut served = Vec::new();
                let use_shortest_script = || {
                    let mut connection = queue.link().take().unwrap();
                    connection.without_next = 0;
                    queue.link().give_back(connection);
                };
                while let Fetched::Job(delivery) = feed.next(Some(Duration::ZERO), &mut NoInterrupts).unwrap() {
                    use_shortest_script();
                    served.push(delivery.job.id.to_string());
                    feed.done(&delivery.ticket).unwrap();
                }
                served.sort();
                let good: Vec<&str> = names.into_iter().filter(|name| *name != names[bad]).collect();
                assert_eq!(served, good, "{length} bytes of {}, {most} at a time", names[bad]);
                let buried = queue.peek(&id(names[bad])).unwrap().unwrap();
                assert_eq!((buried.state, buried.payload), (State::Buried, record[..length].to_vec()));
            }
        }
    }
}

#[test]
fn members_and_slots_without_a_record_are_dropped() {
    for ranked in [false, true] {
        let queue = fresh();
        let mut raw = shared().raw();
        if ranked {
            queue.push(&prioritized("urgent", 5)).unwrap();
        }
        queue.push(&job("good")).unwrap();
        for key in ["waiting", "later", "ready", "ripe", "reserved", "buried"] {
            if ranked || !["later", "ready", "ripe"].contains(&key) {
                for member in ["", "x", "seven b", "1234567and an id", "12345678901234567890 and an id"] {
                    raw.run(&["ZADD", &audit::key(&queue, key), "1", member]);
                }
            }
        }
        for (slot, record) in [("@junk", "xx"), ("@seven b", "0123456789012345678901234567890123456789"), ("@x", "")] {
            raw.run(&["HSET", &audit::key(&queue, "ledger"), slot, record]);
        }
        let names: &[&str] = if ranked { &["urgent", "good"] } else { &["good"] };
        for state in State::ALL {
            queue.list(state, 0, 100).unwrap();
        }
        assert_eq!(queue.peek(&id("nobody")).unwrap(), None);
        assert_eq!(serve(&queue), all(names), "ranked {ranked}");
        queue.kick(100, false).unwrap();
        queue.take(None, 100).unwrap();
        queue.purge(&[]).unwrap();
        assert_eq!(queue.count(None).unwrap(), 0, "ranked {ranked}");
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
        raw.run(&["HDEL", &audit::key(&queue, "jobs"), "held", "buried", "ready"]);
        queue.push(&prioritized("good", priority)).unwrap();
        assert!(queue.touch(&held, None).is_err());
        assert!(queue.release(&held, Due::InMs(0), None).is_err());
        assert_eq!(queue.kick(10, false).unwrap(), 0);
        travel(60_001);
        assert_eq!(serve(&queue), all(&["good"]));
        assert_eq!(queue.count(None).unwrap(), 0);
        assert!(audit::places(&mut raw, &queue).is_empty());
        clock::set_thread_offset_ms(0);
    }
}

#[test]
fn ids_longer_than_any_of_ours_are_set_aside() {
    let queue = fresh();
    let mut raw = shared().raw();
    let long = "i".repeat(300);
    let keys = ["waiting", "jobs", "waiters"].map(|key| audit::key(&queue, key));
    raw.run(&["EVAL", &scripts::PUSH.source, "3", &keys[0], &keys[1], &keys[2], &long, "payload", "0"]);
    queue.push(&job("good")).unwrap();
    let foreign = JobId::from_redis(long.as_bytes());
    assert_eq!(queue.reserve_job(&foreign).unwrap(), None);
    assert_eq!(serve(&queue), all(&["good"]));
    assert_eq!(states(&queue), [0, 0, 0, 1]);
    assert_eq!(queue.cancel(&[foreign]).unwrap(), 1);
    assert_eq!(queue.count(None).unwrap(), 0);
}

#[test]
fn a_stray_member_does_not_disturb_the_job_its_id_belongs_to() {
    for priority in [1024, 5] {
        for state in ["ready", "delayed", "held", "buried"] {
            let queue = fresh();
            let mut raw = shared().raw();
            let due = Due::InMs(if state == "delayed" { 3_600_000 } else { 0 });
            queue.push(&NewJob { due, ..prioritized("x", priority) }).unwrap();
            match state {
                "held" => drop(reserve(&queue).unwrap()),
                "buried" => queue.bury(&reserve(&queue).unwrap().held(), None).unwrap(),
                _ => {}
            }
            let before = audit::places(&mut raw, &queue);
            raw.run(&["ZADD", &audit::key(&queue, "waiting"), "1", "strayedx"]);
            let served = serve(&queue);
            assert_eq!(served.len(), usize::from(state == "ready"), "{state}, priority {priority}");
            if state != "ready" {
                assert_eq!(audit::places(&mut raw, &queue), before, "{state}, priority {priority}");
            }
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
    clock::set_thread_offset_ms(0);
}

#[test]
fn a_deleted_key_neither_stops_the_queue_nor_sends_it_round_in_circles() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for key in ["jobs", "waiting", "reserved", "ledger", "history", "buried", "waiters", "later", "ready", "ripe"] {
            for (name, operation) in OPERATIONS {
                scene.restore(&mut raw);
                raw.run(&["DEL", &audit::key(&queue, key)]);
                match operation(&scene, &queue) {
                    // A job whose place is gone looks like a held one.
                    Ok(()) | Err(Error::Duplicate { .. }) => {}
                    Err(error) => panic!("{name} without {key}: {error}"),
                }
            }
            scene.restore(&mut raw);
            raw.run(&["DEL", &audit::key(&queue, key)]);
            let done = Scene::drain(&queue);
            let lost = scene.ids.difference(&done).count();
            match key {
                "jobs" => assert!(done.is_empty()),
                "history" | "waiters" => assert_eq!(lost, 0, "without {key}"),
                _ => assert!(!done.is_empty(), "without {key}"),
            }
            queue.push(&job("afterwards")).unwrap();
            queue.push(&prioritized("urgent afterwards", 5)).unwrap();
            let served = serve(&queue);
            assert!(served.is_superset(&all(&["afterwards", "urgent afterwards"])), "without {key}: {served:?}");
        }
    }
}

#[test]
fn a_list_goes_on_behind_a_member_without_a_record() {
    let queue = fresh();
    let names: Vec<String> = (0..250).map(|n| format!("{n:03}")).collect();
    queue.push_many(&names.iter().map(|name| job(name)).collect::<Vec<_>>()).unwrap();
    shared().raw().run(&["HDEL", &audit::key(&queue, "jobs"), "007"]);
    assert_eq!(queue.list(State::Ready, 0, 300).unwrap().len(), 249);
    assert_eq!(queue.list(State::Ready, 0, 8).unwrap().len(), 8, "a page is full where there are enough");
}

#[test]
fn a_job_that_lost_its_history_is_not_handed_out_early() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.push(&job("a")).unwrap();
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(3_600_000), None).unwrap();
    server.raw().run(&["HDEL", &audit::key(&queue, "history"), "a"]);
    for max in [1, 2] {
        assert_eq!(reserve_many(&queue, max), vec![], "asked for {max}");
    }
}

#[test]
fn a_damaged_head_or_slot_does_not_stop_a_loop() {
    for (field, bytes) in [("head", "x"), ("slot", "call\0\0\x02too short for two"), ("slot", "x")] {
        let server = Server::start(&[]);
        let (queue, mut raw) = (server.queue("q"), server.raw());
        queue.push_many(&[job("a"), job("b"), job("c"), job("d")]).unwrap();
        let mut feed = Feed::new(vec![queue.clone()], 2, None);
        let mut next = || match feed.next(Some(Duration::ZERO), &mut NoInterrupts).unwrap() {
            Fetched::Job(delivery) => feed.done(&delivery.ticket).map(|()| delivery.job.id.to_string()).unwrap(),
            other => panic!("{field} {bytes:?}: {other:?}"),
        };
        assert_eq!([next(), next()], ["a", "b"]);
        let ledger = audit::key(&queue, "ledger");
        let slots = raw.run(&["ZRANGE", &audit::key(&queue, "reserved"), "0", "0"]);
        let redis::Value::Array(slots) = slots else { panic!("{slots:?}") };
        let redis::Value::BulkString(slot) = &slots[0] else { panic!("{slots:?}") };
        let slot = format!("@{}", String::from_utf8_lossy(slot));
        raw.run(&["HSET", &ledger, if field == "slot" { &slot } else { field }, bytes]);
        assert_eq!([next(), next()], ["c", "d"], "{field} {bytes:?}");
    }
}
