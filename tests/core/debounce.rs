//! A debounce: each push replaces the job and puts it off, but not behind the moment that the first one has set.

use crate::audit;
use crate::new_jobs::{at_most, once, replacing};
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, State};
use delayqueue::core::queue::Queue;
use delayqueue::core::reply;
use std::time::Duration;

type Change = fn(&Queue);
type Push = fn(&Queue, NewJob) -> Result<(), Error>;

fn due(queue: &Queue) -> i64 {
    queue.peek(&id("a")).unwrap().unwrap().due_at_us
}

/// Fifteen pushes in 1.5 seconds; returns how often a job was run meanwhile.
fn runs(queue: &Queue, job: &NewJob) -> usize {
    let mut runs = 0;
    for _ in 0..15 {
        queue.push(job).unwrap();
        travel(100);
        runs += serve_all(queue).len();
    }
    clock::set_offset_ms(0);
    runs
}

#[test]
fn fifteen_pushes_in_a_second_and_a_half_run_twice_and_not_at_all_without_it() {
    for priority in [1024, 5] {
        let job = NewJob { due: Due::InMs(300), ..prioritized("a", priority) };
        assert_eq!(runs(&fresh(), &replacing(job.clone())), 0);
        assert!(runs(&fresh(), &at_most(job.clone(), 500)) >= 2);
        let moment = || NewJob { due: Due::AtUs(fresh().now_us().unwrap() + 5_000_000), ..job.clone() };
        assert!(runs(&fresh(), &at_most(moment(), 500)) >= 2, "moments as well");
    }
}

#[test]
fn each_replacement_copies_the_moment_of_the_first_push() {
    let queue = fresh();
    queue.push(&at_most(delayed("a", 60_000), 90_000)).unwrap();
    let first = due(&queue);
    travel(20_000);
    queue.push(&at_most(delayed("a", 60_000), 5_000)).unwrap();
    assert!((19_900_000..21_000_000).contains(&(due(&queue) - first)), "put off, and its own 5 s do not count");
    let mut latest = 0;
    for _ in 0..3 {
        travel(20_000);
        queue.push(&at_most(delayed("a", 60_000), 90_000)).unwrap();
        latest = due(&queue);
        assert!((29_000_000..31_000_000).contains(&(latest - first)), "90 s after the first push");
    }
    travel(60_000);
    queue.push(&at_most(delayed("a", 60_000), 90_000)).unwrap();
    assert_eq!(due(&queue), latest, "it waits for a worker");
    assert_eq!(serve_all(&queue), ["a"]);
    queue.push(&at_most(delayed("a", 60_000), 90_000)).unwrap();
    assert!(due(&queue) > latest + 60_000_000, "the next debounce begins");
    queue.push(&replacing(delayed("a", 200_000))).unwrap();
    assert!(due(&queue) > latest + 200_000_000, "a push without it is no part of the debounce");
}

#[test]
fn a_job_that_came_back_begins_a_new_debounce() {
    let back: [(&str, Change); 5] = [
        ("released", |queue| {
            let held = queue.reserve_job(&id("a")).unwrap().unwrap();
            queue.release(&held.held(), Due::InMs(500), None, true).unwrap();
        }),
        ("kicked", |queue| assert!(queue.kick_job(&id("a"), true).unwrap())),
        ("buried", |queue| queue.bury(&queue.reserve_job(&id("a")).unwrap().unwrap().held(), None).unwrap()),
        ("lease over, and seen", |queue| {
            queue.reserve_job(&id("a")).unwrap().unwrap();
            travel(60_001);
            queue.stats().unwrap();
        }),
        ("lease over", |queue| {
            queue.reserve_job(&id("a")).unwrap().unwrap();
            travel(60_001);
        }),
    ];
    for (way, back) in back {
        let queue = fresh();
        queue.push(&at_most(delayed("a", 60_000), 1_000)).unwrap();
        back(&queue);
        let now = queue.now_us().unwrap();
        queue.push(&at_most(delayed("a", 60_000), 30_000)).unwrap();
        assert!((29_000_000..31_000_000).contains(&(due(&queue) - now)), "{way}");
        let (_, faults) = audit::examine(&mut shared().raw(), &queue);
        assert!(faults.is_empty(), "{way}: {faults:?}");
        clock::set_offset_ms(0);
    }
}

/// Given back uncounted, or put off: nobody has served it.
#[test]
fn a_job_that_was_only_moved_keeps_its_moment() {
    let queue = fresh();
    queue.push(&at_most(delayed("a", 60_000), 30_000)).unwrap();
    let latest = due(&queue);
    queue.give_back(&[&queue.reserve_job(&id("a")).unwrap().unwrap().receipt]).unwrap();
    queue.reschedule(&id("a"), Due::AtUs(1), false).unwrap();
    travel(1_000);
    queue.push(&at_most(delayed("a", 60_000), 30_000)).unwrap();
    assert_eq!(due(&queue), latest);
    queue.push_once(&[once("r", at_most(delayed("a", 60_000), 5_000))]).unwrap();
    assert_eq!(due(&queue), latest, "the same by a push that arrives once");
}

#[test]
fn within_a_batch_the_first_of_an_id_sets_the_moment() {
    let queue = fresh();
    let now = queue.now_us().unwrap();
    push_many(&queue, &[at_most(delayed("a", 60_000), 10_000), at_most(delayed("a", 60_000), 40_000)]);
    assert!((9_000_000..11_000_000).contains(&(due(&queue) - now)));
    // A job that is kept is no part of it.
    let keeping = NewJob { on_duplicate: delayqueue::core::job::OnDuplicate::Keep, ..job("a") };
    push_many(&queue, &[keeping, at_most(delayed("a", 60_000), 40_000)]);
    assert!((9_000_000..11_000_000).contains(&(due(&queue) - now)));
}

#[test]
fn a_repeated_replacement_keeps_the_moment_and_counts_once() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(10)));
    queue.count(None).unwrap();
    direct.push(&at_most(delayed("a", 60_000), 30_000)).unwrap();
    let latest = due(&direct);
    for fault in [Fault::DropReply, Fault::DropBefore] {
        proxy.fail(fault, 1);
        queue.push(&at_most(delayed("a", 60_000), 30_000)).unwrap();
        assert_eq!((proxy.heal(), due(&direct)), (1, latest), "{fault:?}");
    }
    assert_eq!(direct.stats().unwrap().pushed, 3);
    assert_eq!(direct.count(Some(State::Delayed)).unwrap(), 1);
}

/// Another length, another mode, a record that is cut off or empty: that of another program, or of a newer version.
#[test]
fn a_moment_that_cannot_be_read_is_none() {
    let (queue, mut raw) = (fresh(), shared().raw());
    let records = key(&queue, "jobs");
    queue.push(&at_most(delayed("a", 60_000), 30_000)).unwrap();
    let record = reply::bytes(raw.run(&["HGET", &records, "a"])).unwrap();
    let at = record.windows(2).position(|two| two == b"w\x09").unwrap();
    let (mut mode, mut length, mut not_made) = (record.clone(), record.clone(), record.clone());
    mode[at + 2] = 2;
    not_made[at + 2] = 1;
    not_made[at + 3..at + 11].copy_from_slice(&1_000_u64.to_be_bytes());
    length[at + 1] = 7;
    length[at + 9..at + 11].copy_from_slice(b"x\0");
    for stored in [mode, length, not_made, record[..at].to_vec(), Vec::new()] {
        let pushes: [Push; 2] =
            [|queue, job| queue.push(&job).map(drop), |queue, job| queue.push_once(&[once("r", job)]).map(|_| ())];
        for push in pushes {
            raw.run_bytes(&[b"HSET", records.as_bytes(), b"a", &stored]);
            let now = queue.now_us().unwrap();
            push(&queue, at_most(delayed("a", 60_000), 20_000)).unwrap();
            assert!((19_000_000..21_000_000).contains(&(due(&queue) - now)), "{stored:?}");
            queue.forget_receipts(&[b"r".to_vec()]).unwrap();
        }
    }
}

/// The bytes of prepare() for a push with another rule for taken ids.
#[test]
fn the_moment_is_made_by_any_push_that_stores_the_job() {
    for change in [|job: &mut NewJob| job.on_duplicate = Default::default(), |job: &mut NewJob| job.id = None] {
        let queue = fresh();
        let mut job = at_most(delayed("a", 60_000), 20_000);
        change(&mut job);
        let now = queue.now_us().unwrap();
        queue.push(&job).unwrap();
        let found = &queue.list(State::Delayed, 0, 1).unwrap()[0];
        assert!((19_000_000..21_000_000).contains(&(found.due_at_us - now)));
    }
}

/// A newer version may have stored it, and a dump brings it.
#[test]
fn a_mode_that_is_not_known_is_kept_and_changes_nothing() {
    let traits = b"\0\x0bw\x09\x02\0\0\0\0\0\0\0\x05";
    for priority in [1024, 5] {
        let queue = fresh();
        let mut job = NewJob { due: Due::InMs(60_000), ..prioritized("a", priority) };
        job.options.extras.traits = traits.to_vec();
        let now = queue.now_us().unwrap();
        queue.push(&job).unwrap();
        queue.push_once(&[once("r", NewJob { id: Some(id("b")), ..job.clone() })]).unwrap();
        queue.push(&replacing(job)).unwrap();
        assert_eq!(states(&queue), [2, 0, 0, 0]);
        for info in queue.list(State::Delayed, 0, 2).unwrap() {
            assert!(info.due_at_us > now + 59_000_000, "{info:?}");
            assert_eq!(info.options.extras.traits, traits);
        }
    }
}
