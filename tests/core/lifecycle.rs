//! One job from push to its end, one behaviour a test.

use crate::support::*;
use delayqueue::core::backoff::Backoff;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, State};
use delayqueue::core::process;
use delayqueue::core::queue::{Failed, Settled};

#[test]
fn push_reserve_ack_leaves_nothing_behind() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    assert_eq!(states(&queue), [0, 1, 0, 0]);
    let held = reserve(&queue).unwrap();
    assert_eq!(
        (held.id.to_string(), held.payload.as_slice(), held.attempts),
        ("a".into(), b"payload of a".as_slice(), 1)
    );
    assert_eq!(states(&queue), [0, 0, 1, 0]);
    queue.ack(&held.held()).unwrap();
    assert_eq!(states(&queue), [0, 0, 0, 0]);
    assert!(matches!(queue.ack(&held.held()), Err(Error::LeaseLost { .. })));
    let stats = queue.stats().unwrap();
    assert_eq!((stats.pushed, stats.acked, stats.ever.lateness().count()), (1, 1, 1));
    assert!(shared().raw().int(&["EXISTS", &key(&queue, "jobs")]) == 0);
}

#[test]
fn a_delayed_job_is_never_early_and_served_when_due() {
    let queue = fresh();
    queue.push(&delayed("a", 5_000)).unwrap();
    assert_eq!(reserve(&queue), None);
    travel(4_000);
    assert_eq!(reserve(&queue), None);
    travel(1_001);
    let held = reserve(&queue).unwrap();
    assert!(held.reserved_at_us >= held.due_at_us);
    assert_eq!(queue.stats().unwrap().reserved, 1);
}

#[test]
fn an_expired_lease_returns_the_job_to_its_old_place() {
    let queue = fresh();
    for name in ["a", "b", "c"] {
        queue.push(&job(name)).unwrap();
    }
    let lost = reserve(&queue).unwrap();
    travel(60_001);
    assert_eq!(states(&queue), [0, 3, 0, 0]);
    let again = reserve(&queue).unwrap();
    assert_eq!(
        (again.id.clone(), again.attempts, again.last_error.as_deref()),
        (lost.id.clone(), 2, Some(b"lease expired".as_slice()))
    );
    assert!(again.receipt.token() > lost.receipt.token());
    assert!(matches!(queue.ack(&lost.held()), Err(Error::LeaseLost { .. })));
    queue.ack(&again.held()).unwrap();
    assert_eq!(serve_all(&queue).join(""), "bc");
    assert_eq!(queue.stats().unwrap().timed_out, 1);
}

#[test]
fn a_job_that_outlives_no_lease_names_the_workers_that_held_it() {
    let queue = fresh();
    let options = JobOptions { max_attempts: 4, ..JobOptions::default() };
    queue.push(&NewJob { options, ..job("a") }).unwrap();
    let mut raw = shared().raw();
    let hold_as = |raw: &mut Raw, worker: &str| {
        let held = reserve(&queue).unwrap();
        let lease = String::from_utf8(held.receipt.lease.to_vec()).unwrap();
        let (head, _) = lease.split_once('@').unwrap();
        let plus = if lease.ends_with('+') { "+" } else { "" };
        raw.run(&["HSET", &key(&queue, "leases"), "a", &format!("{head}@{worker}{plus}")]);
        travel(60_001);
        held.last_error
    };
    assert_eq!(hold_as(&mut raw, "web-1:42"), None);
    let expired = Some(b"lease expired".to_vec());
    assert_eq!(hold_as(&mut raw, "web-1:4242"), expired, "the workers are for whoever finds it buried");
    assert_eq!(hold_as(&mut raw, "web-1:42"), expired);
    assert_eq!(queue.peek(&id("a")).unwrap().unwrap().last_error, expired);
    assert_eq!(reserve(&queue).unwrap().last_error, expired);
    travel(60_001);
    let info = queue.list(State::Buried, 0, 1).unwrap().remove(0);
    let error = String::from_utf8(info.last_error.unwrap()).unwrap();
    assert_eq!(error, format!("lease expired, held by web-1:42, web-1:4242, {}", process::worker()));
    // Another failure in between begins anew, and there is a limit.
    queue.kick(1, true).unwrap();
    hold_as(&mut raw, "old:1");
    queue.fail(&reserve(&queue).unwrap().held(), Some(b"broken")).unwrap();
    assert!(queue.kick_job(&id("a"), true).unwrap());
    for n in 0..3 {
        hold_as(&mut raw, &format!("{n}{}", "x".repeat(300)));
    }
    reserve(&queue).unwrap();
    travel(60_001);
    let error = queue.list(State::Buried, 0, 1).unwrap().remove(0).last_error.unwrap();
    assert!(error.starts_with(b"lease expired, held by 0xxx") && error.len() < 700, "{}", error.len());
}

#[test]
fn a_release_leaves_its_reason_and_without_one_the_error_before() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let error = || queue.peek(&id("a")).unwrap().unwrap().last_error.map(|text| String::from_utf8(text).unwrap());
    queue.release_because(&reserve(&queue).unwrap().held(), Due::InMs(0), true, b"rate limit").unwrap();
    assert_eq!(error().as_deref(), Some("rate limit"));
    for counts in [true, false] {
        queue.release(&reserve(&queue).unwrap().held(), Due::InMs(0), None, counts).unwrap();
        assert_eq!(error().as_deref(), Some("rate limit"));
    }
    queue.release_because(&reserve(&queue).unwrap().held(), Due::InMs(0), true, b"").unwrap();
    assert_eq!((error().as_deref(), reserve(&queue).unwrap().attempts), (Some("rate limit"), 4));
}

#[test]
fn a_job_is_buried_when_its_attempts_are_used_up() {
    let queue = fresh();
    let options =
        JobOptions { max_attempts: 2, backoff: Some(Backoff::Fixed { delay_ms: 100 }), ..JobOptions::default() };
    queue.push(&NewJob { options, ..job("a") }).unwrap();
    let first = reserve(&queue).unwrap();
    assert!(matches!(queue.fail(&first.held(), Some(b"boom 1")).unwrap(), Failed::Retried { .. }));
    assert_eq!(states(&queue), [1, 0, 0, 0]);
    travel(101);
    let second = reserve(&queue).unwrap();
    assert_eq!((second.attempts, second.last_error.as_deref()), (2, Some(b"boom 1".as_slice())));
    assert_eq!(queue.fail(&second.held(), Some(b"boom 2")).unwrap(), Failed::Buried);
    let info = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!(
        (info.state, info.attempts, info.buries, info.last_error.as_deref()),
        (State::Buried, 2, 1, Some(b"boom 2".as_slice()))
    );
    assert_eq!(queue.kick(10, true).unwrap(), 1);
    let third = reserve(&queue).unwrap();
    assert_eq!(third.attempts, 1);
    queue.bury(&third.held(), Some(b"by hand")).unwrap();
    assert!(queue.kick_job(&id("a"), false).unwrap());
    assert_eq!(reserve(&queue).unwrap().attempts, 2);
}

#[test]
fn release_keeps_the_attempt_and_may_change_the_priority() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    queue.push(&job("b")).unwrap();
    let held = reserve(&queue).unwrap();
    queue.release(&held.held(), Due::InMs(0), Some(1), true).unwrap();
    let again = reserve(&queue).unwrap();
    assert_eq!((again.id.to_string(), again.attempts, again.options.priority), ("a".into(), 2, 1));
    queue.release(&again.held(), Due::InMs(10_000), None, true).unwrap();
    assert_eq!(states(&queue), [1, 1, 0, 0]);
    assert_eq!(queue.peek(&id("a")).unwrap().unwrap().releases, 2);
    assert_eq!(serve_all(&queue).join(""), "b");
    travel(10_001);
    assert_eq!(serve_all(&queue).join(""), "a");
}

#[test]
fn touch_starts_the_lease_anew() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    let held = reserve(&queue).unwrap();
    travel(50_000);
    assert!(queue.touch(&held.held(), None).unwrap() >= held.reserved_at_us + 110_000_000);
    travel(50_000);
    assert_eq!(reserve(&queue), None);
    queue.touch(&held.held(), Some(1_000)).unwrap();
    travel(1_001);
    assert!(reserve(&queue).is_some());
    assert!(matches!(queue.touch(&held.held(), None), Err(Error::LeaseLost { .. })));
}

#[test]
fn jobs_of_one_reserve_have_leases_of_their_own() {
    let queue = fresh();
    let ttr = |name: &str, ttr_ms: u64| NewJob { options: JobOptions { ttr_ms, ..JobOptions::default() }, ..job(name) };
    push_many(&queue, &[ttr("a", 1_000), ttr("b", 2_000), ttr("c", 30_000), job("d")]);
    let held = reserve_many(&queue, 10);
    assert_eq!(held.len(), 4);
    travel(2_001);
    assert_eq!(states(&queue), [0, 2, 2, 0]);
    assert_eq!(ack_each(&queue, &held), [Settled::Lost, Settled::Lost, Settled::Ours, Settled::Ours]);
    assert_eq!(serve_all(&queue).join(""), "ab");
}
