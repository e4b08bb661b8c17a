//! The options of a job survive everything that happens to it, also those that only newer versions know.

use crate::support::*;
use delayqueue::core::backoff::Backoff;
use delayqueue::core::job::{Due, Extras, JobOptions, NewJob, OnDuplicate};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Failed, Queue};
use serde_json::{Map, Value, json};

fn rich(priority: u32) -> JobOptions {
    let headers = [("trace", "00-abc-01"), ("Tenant.1", ""), ("text", "a\0\"ü\n{}")];
    JobOptions {
        priority,
        ttr_ms: 30_000,
        max_attempts: 7,
        timeout_ms: 12_345,
        backoff: Some(Backoff::Stages { delays_ms: vec![1_000, 2_000] }),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        seal: None,
        extras: Extras {
            flags: 8,
            traits: b"\0\x04w\x02ab".to_vec(),
            members: Map::from_iter([
                ("group".to_owned(), json!("g1")),
                ("dedupe".to_owned(), json!({ "window_ms": 9_007_199_254_740_993_i64, "empty": [] })),
            ]),
        },
    }
}

fn only_headers() -> JobOptions {
    JobOptions { headers: vec![("trace".into(), "1".into())], ..JobOptions::default() }
}

/// The options of job `a` as reserve and peek give them: they agree.
fn read(queue: &Queue) -> JobOptions {
    let job = queue.reserve_job(&id("a")).unwrap().unwrap();
    let info = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!(info.options, job.options);
    queue.release(&job.held(), Due::InMs(0), None, false).unwrap();
    job.options
}

/// No script reads the JSON of the options: every member comes back from every way that a job can take.
#[test]
fn options_survive_everything_that_happens_to_a_job() {
    for options in [rich(1024), rich(5), only_headers()] {
        let queue = fresh();
        let payload = b"\0\xff{\"order\":1}".to_vec();
        queue.push(&NewJob { payload: payload.clone(), options: options.clone(), ..job("a") }).unwrap();
        let reserved = reserve(&queue).unwrap();
        assert_eq!((&reserved.options, &reserved.payload), (&options, &payload), "reserved");
        queue.release(&reserved.held(), Due::InMs(0), None, true).unwrap();
        assert_eq!(read(&queue), options, "released");
        assert!(matches!(queue.fail(&reserve(&queue).unwrap().held(), Some(b"why")).unwrap(), Failed::Retried { .. }));
        assert_eq!(read(&queue), options, "failed");
        queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
        queue.kick(1, true).unwrap();
        assert_eq!(read(&queue), options, "kicked");
        queue.reschedule(&id("a"), Due::InMs(5_000), false).unwrap();
        assert!(queue.kick_job(&id("a"), false).unwrap());
        assert_eq!(read(&queue), options, "rescheduled, and kicked by its id");
        let held = reserve(&queue).unwrap();
        queue.touch(&held.held(), None).unwrap();
        queue.give_back(&[&held.receipt]).unwrap();
        assert_eq!(read(&queue), options, "given back");
        reserve(&queue).unwrap();
        travel(60_001);
        assert_eq!(read(&queue), options, "taken back when its lease ended");
        queue.update(&id("a"), Changes::payload(b"new"), None, None).unwrap();
        assert_eq!(read(&queue), options, "a new payload");
        queue.release(&reserve(&queue).unwrap().held(), Due::InMs(0), Some(9), true).unwrap();
        let other = JobOptions { priority: 9, ..options.clone() };
        assert_eq!(read(&queue), other, "another priority, and nothing else");
        let held = reserve(&queue).unwrap();
        assert_eq!(held.payload, b"new");
        queue.update_held(&held.held(), Changes::new(b"newer", &[("trace".into(), Some("2".into()))])).unwrap();
        queue.release(&held.held(), Due::InMs(0), None, false).unwrap();
        let mut headers = other.headers.clone();
        headers[0].1 = "2".into();
        assert_eq!(read(&queue), JobOptions { headers, ..other.clone() }, "another header, and nothing else");
        queue.update(&id("a"), Changes::new(b"newest", &[("trace".into(), None)]), None, None).unwrap();
        let headers = other.headers[1..].to_vec();
        assert_eq!(read(&queue), JobOptions { headers, ..other }, "one header less, and nothing else");
        assert_eq!(payloads(queue.take(None, 1).unwrap()), [b"newest".to_vec()]);
        delayqueue::core::clock::set_offset_ms(0);
    }
}

#[test]
fn options_are_stored_by_every_way_to_push() {
    for options in [rich(1024), rich(5)] {
        let queue = fresh();
        let with = |name: &str| NewJob { options: options.clone(), ..job(name) };
        queue.push(&with("one")).unwrap();
        push_many(&queue, &[with("b"), with("c")]);
        push_many(&queue, &[with("d"), prioritized("e", 3), job("plain")]);
        queue.push(&job("replaced")).unwrap();
        queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..with("replaced") }).unwrap();
        for name in ["one", "b", "c", "d", "replaced"] {
            assert_eq!(queue.peek(&id(name)).unwrap().unwrap().options, options, "{name}");
        }
        assert_eq!(queue.peek(&id("plain")).unwrap().unwrap().options, JobOptions::default());
    }
}

/// An operator can read the payload.
#[test]
fn redis_cli_shows_readable_json_before_the_payload() {
    let queue = fresh();
    queue.push(&NewJob { options: only_headers(), payload: br#"{"order":1}"#.to_vec(), ..job("a") }).unwrap();
    let record = delayqueue::core::reply::bytes(shared().raw().run(&["HGET", &key(&queue, "jobs"), "a"])).unwrap();
    assert!(record.ends_with(br#"{"headers":{"trace":"1"}}{"order":1}"#), "{record:?}");
    let _: Value = serde_json::from_slice(&record[21..record.len() - 11]).unwrap();
}

/// Two threads change the headers of one job at once: each change is whole, and nothing else is lost.
#[test]
fn updates_of_headers_beside_each_other_keep_the_other_options() {
    let queue = fresh();
    let options = rich(1024);
    queue.push(&NewJob { options: options.clone(), ..delayed("a", 3_600_000) }).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let queue = queue.clone();
            scope.spawn(move || {
                for n in 0..100 {
                    let value = format!("{thread}.{n}");
                    let by = [("by".to_owned(), Some(value.clone()))];
                    let _ = queue.update(&id("a"), Changes::new(value.as_bytes(), &by), None, None);
                }
            });
        }
    });
    let info = queue.peek(&id("a")).unwrap().unwrap();
    let by = ("by".to_owned(), String::from_utf8(info.payload).unwrap());
    assert_eq!(info.options.headers, [options.headers.as_slice(), &[by]].concat());
    assert_eq!(JobOptions { headers: options.headers.clone(), ..info.options }, options);
}
