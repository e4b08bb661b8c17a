//! Jobs that somebody reschedules while a consumer holds them, and updates that ask what the job was before.

use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobInfo, State};
use delayqueue::core::queue::{Changes, Failed, Held, Queue, Settled};
use delayqueue::core::traits::Traits;
use std::sync::atomic::{AtomicBool, Ordering};

const HOUR_MS: u64 = 3_600_000;

fn look(queue: &Queue, name: &str) -> JobInfo {
    queue.peek(&id(name)).unwrap().unwrap()
}

/// In how many minutes the job falls due.
fn due_in_minutes(queue: &Queue, name: &str) -> i64 {
    (look(queue, name).due_at_us - queue.now_us().unwrap() + 30_000_000).div_euclid(60_000_000)
}

#[test]
fn a_held_job_comes_back_by_the_time_for_which_it_was_asked() {
    type End = fn(&Queue, &Held);
    let ends: [(&str, End, i64); 6] = [
        ("released for later", |queue, held| queue.release(held, Due::InMs(HOUR_MS), None, true).unwrap(), 10),
        ("released uncounted", |queue, held| queue.release(held, Due::InMs(HOUR_MS), None, false).unwrap(), 10),
        (
            "released with a reason",
            |queue, held| {
                assert_eq!(queue.release_because(held, Due::InMs(HOUR_MS), true, b"waits"), Ok(Settled::Ours))
            },
            10,
        ),
        ("released for sooner", |queue, held| queue.release(held, Due::InMs(300_000), None, true).unwrap(), 5),
        (
            "released after a failure",
            |queue, held| queue.release_failed(held, Due::InMs(HOUR_MS), None, true, b"no").unwrap(),
            60,
        ),
        ("put back", |queue, held| queue.put_back(held).unwrap(), 0),
    ];
    for group in [None, Some("g")] {
        for (what, end, minutes) in ends {
            let queue = fresh();
            let mut new = job("a");
            if let Some(group) = group {
                new.options.extras.traits = Traits::default().group(group).before(b"");
            }
            queue.push(&new).unwrap();
            let before = look(&queue, "a").fingerprint.unwrap().digest;
            let held = reserve(&queue).unwrap().held();
            assert!(!queue.reschedule(&id("a"), Due::InMs(600_000), false).unwrap(), "{what}: it is held");
            for _ in 0..2 {
                assert!(queue.reschedule(&id("a"), Due::InMs(600_000), true).unwrap(), "{what}");
            }
            assert_eq!(look(&queue, "a").state, State::Reserved);
            end(&queue, &held);
            assert_eq!(due_in_minutes(&queue, "a"), minutes, "{what} {group:?}");
            assert_eq!(look(&queue, "a").fingerprint.unwrap().digest, before, "{what}: nothing is left of it");
            assert!(queue.kick_job(&id("a"), true).unwrap() || minutes == 0);
            let held = reserve(&queue).unwrap().held();
            queue.release(&held, Due::InMs(HOUR_MS), None, true).unwrap();
            assert_eq!(due_in_minutes(&queue, "a"), 60, "{what}: it is over");
        }
    }
}

#[test]
fn what_a_job_was_asked_for_ends_with_its_failure_or_its_lease() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let ask = || assert!(queue.reschedule(&id("a"), Due::InMs(1), true).unwrap());
    let held = reserve(&queue).unwrap().held();
    ask();
    assert!(matches!(queue.fail(&held, None).unwrap(), Failed::Retried { .. }));
    assert_eq!(look(&queue, "a").state, State::Delayed, "the backoff stays");
    queue.kick_job(&id("a"), true).unwrap();
    let held = reserve(&queue).unwrap().held();
    ask();
    queue.bury(&held, None).unwrap();
    queue.kick_job(&id("a"), true).unwrap();
    reserve(&queue).unwrap();
    ask();
    travel(61_000);
    let held = reserve(&queue).unwrap().held();
    queue.release(&held, Due::InMs(HOUR_MS), None, true).unwrap();
    assert_eq!(due_in_minutes(&queue, "a"), 60);
    delayqueue::core::clock::set_offset_ms(0);
    assert!(!queue.reschedule(&id("gone"), Due::InMs(1), true).unwrap());
    // One that nobody holds is moved.
    assert!(queue.reschedule(&id("a"), Due::InMs(120_000), true).unwrap());
    assert_eq!(due_in_minutes(&queue, "a"), 2);
}

/// Whatever comes first, the reschedule or the release, the job is there in time.
#[test]
fn no_release_beside_a_reschedule_is_later_than_asked() {
    let queue = fresh();
    let count = if std::env::var_os("DELAYQUEUE_SEEDS").is_some() { 5_000 } else { 500 };
    queue.push(&job("a")).unwrap();
    for n in 0..count {
        let held = reserve(&queue).unwrap_or_else(|| panic!("round {n}: the job is not there in time")).held();
        let begins = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let other = queue.clone();
            let begins = &begins;
            scope.spawn(move || {
                while !begins.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
                assert!(other.reschedule(&id("a"), Due::InMs(0), true).unwrap());
            });
            begins.store(true, Ordering::Release);
            queue.release(&held, Due::InMs(HOUR_MS), None, false).unwrap();
        });
    }
}

#[test]
fn an_update_changes_only_the_job_that_was_seen() {
    let queue = fresh();
    queue.push(&delayed("a", HOUR_MS)).unwrap();
    let seen = look(&queue, "a").fingerprint.unwrap();
    let update = |payload: &[u8], due| queue.update(&id("a"), Changes::payload(payload), due, Some(&seen)).unwrap();
    assert!(update(b"first", None));
    assert!(!update(b"second", None), "the payload is another one");
    queue.update(&id("a"), Changes::payload(&look(&queue, "a").payload), Some(Due::InMs(0)), None).unwrap();
    let seen = look(&queue, "a").fingerprint.unwrap();
    queue.reschedule(&id("a"), Due::InMs(HOUR_MS), false).unwrap();
    let again = |due| queue.update(&id("a"), Changes::default(), due, Some(&seen)).unwrap();
    assert!(!again(None), "the time is another one");
    let moment = Due::AtUs(seen.due_at_us);
    queue.reschedule(&id("a"), moment, false).unwrap();
    assert!(again(Some(Due::InMs(HOUR_MS))), "all is as it was");
    assert_eq!((look(&queue, "a").payload, look(&queue, "a").state), (b"first".to_vec(), State::Delayed));
    // A job that has come back is the same, until it gets another time.
    let seen = look(&queue, "a").fingerprint.unwrap();
    let held = queue.reserve_job(&id("a")).unwrap().unwrap().held();
    assert!(!queue.update(&id("a"), Changes::default(), None, Some(&seen)).unwrap(), "it is held");
    queue.release(&held, Due::AtUs(seen.due_at_us), None, true).unwrap();
    assert!(queue.update(&id("a"), Changes::payload(b"third"), None, Some(&seen)).unwrap());
}

#[test]
fn a_buried_job_that_gets_a_time_waits() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    queue.bury(&reserve(&queue).unwrap().held(), None).unwrap();
    let seen = look(&queue, "a").fingerprint.unwrap();
    assert!(queue.update(&id("a"), Changes::payload(b"new"), Some(Due::InMs(HOUR_MS)), Some(&seen)).unwrap());
    let info = look(&queue, "a");
    assert_eq!((info.state, info.payload), (State::Delayed, b"new".to_vec()));
}

#[test]
fn headers_change_by_their_names_beside_each_other() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let held = reserve(&queue).unwrap().held();
    let set = |name: &str, value: Option<&str>| [(name.to_owned(), value.map(str::to_owned))];
    queue.update_held(&held, Changes { payload: None, headers: &set("steps", Some("1")) }).unwrap();
    queue.update_held(&held, Changes { payload: None, headers: &set("progress", Some("50")) }).unwrap();
    queue.update_held(&held, Changes::new(b"new", &set("steps", Some("2")))).unwrap();
    queue.update_held(&held, Changes { payload: None, headers: &set("progress", None) }).unwrap();
    let info = look(&queue, "a");
    assert_eq!(info.options.headers, [("steps".to_owned(), "2".to_owned())]);
    assert_eq!(info.payload, b"new");
    let many: Vec<_> = (0..64).map(|n| (format!("n{n}"), Some(String::new()))).collect();
    let refused = queue.update_held(&held, Changes { payload: None, headers: &many });
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
}

#[test]
fn an_update_whose_answer_was_lost_is_in_doubt_if_it_asked_what_the_job_was() {
    let (server, proxy) = Proxy::with_server();
    server.queue("q").push(&delayed("a", HOUR_MS)).unwrap();
    let queue = proxy.queue("q", std::time::Duration::from_secs(5));
    proxy.fail(Fault::DropReply, 1);
    let lost = queue.update(&id("a"), Changes::payload(b"new"), None, None);
    assert_eq!(lost, Ok(true), "a repeat does the same again");
    proxy.heal();
    proxy.fail_at(b"EVALSHA", Fault::DropReply);
    let seen = look(&server.queue("q"), "a").fingerprint.unwrap();
    let lost = queue.update(&id("a"), Changes::payload(b"newer"), None, Some(&seen));
    assert!(matches!(lost, Err(Error::Connection { ambiguous: true, .. })), "{lost:?}");
}
