//! Jobs that arrive once, however often they are pushed, and the receipts that a queue keeps of them.

use crate::audit;
use crate::new_jobs::{at_most, once, past, receipt_only, replacing, unique};
use crate::proxy::{Fault, Proxy};
use crate::seal_bytes::keys;
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{OnceJob, PushOnce, Queue, QueueConfig};
use delayqueue::core::record::History;
use std::sync::Arc;
use std::time::Duration;

const FAR_MS: u64 = 3_600_000;

fn told(added: u64, kept: u64, known: u64) -> PushOnce {
    PushOnce { added, kept, known }
}

fn receipts(queue: &Queue) -> Vec<String> {
    let found = queue.receipts(0, b"", usize::MAX).unwrap();
    found.into_iter().map(|name| String::from_utf8(name).unwrap()).collect()
}

#[test]
fn a_job_arrives_once_whatever_becomes_of_it() {
    let queue = fresh();
    let batch = [once("r1", job("a")), once("r2", job("b")), once("r3", job("a")), once("r1", job("c"))];
    assert_eq!(queue.push_once(&batch).unwrap(), told(2, 1, 1), "in the order of the call");
    assert_eq!(receipts(&queue), ["r1", "r2", "r3"]);
    for end in ["stays", "done", "cancelled", "purged", "kicked"] {
        match end {
            "done" => queue.ack(&reserve(&queue).unwrap().held()).unwrap(),
            "cancelled" => assert_eq!(queue.cancel(&[id("b")]).unwrap(), 1),
            "purged" => drop(queue.purge(&[]).unwrap()),
            "kicked" => drop(queue.kick(10, true).unwrap()),
            _ => {}
        }
        let before = queue.count(None).unwrap();
        assert_eq!(queue.push_once(&batch).unwrap(), told(0, 0, 4), "{end}");
        assert_eq!(queue.count(None).unwrap(), before, "{end}: nothing changes");
    }
    assert!(!queue.forget().unwrap(), "there are receipts");
    assert_eq!(queue.forget_receipts(&["r1", "r3", "none"].map(|name| name.as_bytes().to_vec())).unwrap(), 2);
    assert_eq!(queue.push_once(&batch).unwrap(), told(1, 1, 2), "the third item keeps what the first has added");
    queue.purge(&[]).unwrap();
    queue.forget_receipts(&["r1", "r2", "r3"].map(|name| name.as_bytes().to_vec())).unwrap();
    assert!(queue.forget().unwrap());
}

#[test]
fn jobs_of_one_call_keep_their_order_and_wake_nobody_too_late() {
    let queue = fresh();
    let batch: Vec<OnceJob> =
        (0..50).rev().map(|n| once(&format!("r{n}"), delayed(&format!("j{n:02}"), 1_000))).collect();
    queue.push_once(&batch).unwrap();
    let due: Vec<i64> = queue.list(State::Delayed, 0, 100).unwrap().iter().map(|info| info.due_at_us).collect();
    assert!(due.windows(2).all(|two| two[1] - two[0] == 1), "{due:?}");
    travel(2_000);
    assert_eq!(serve_all(&queue), (0..50).rev().map(|n| format!("j{n:02}")).collect::<Vec<_>>());
}

#[test]
fn a_job_arrives_with_its_past_to_the_byte() {
    for priority in [1024, 5] {
        let queue = fresh();
        let long = History { last_error: Some(vec![b'e'; 4_000]), ..past() };
        let with = |name: &str, due| NewJob { due, ..prioritized(name, priority) };
        let far = Due::AtUs(9_000_000_000_000_000);
        let batch = [
            OnceJob { past: Some(past()), created_at_ms: Some(1_600_000_000_000), ..once("r1", with("waits", far)) },
            OnceJob {
                past: Some(long),
                is_buried: true,
                ..once("r2", with("buried", Due::AtUs(1_650_000_000_000_000)))
            },
            OnceJob { is_buried: true, ..once("r3", with("no past", Due::InMs(0))) },
            OnceJob {
                past: Some(History { attempts: 1, ..History::default() }),
                ..once("r4", with("due", Due::AtUs(5)))
            },
        ];
        let now = queue.now_us().unwrap();
        assert_eq!(queue.push_once(&batch).unwrap(), told(4, 0, 0));
        let look = |name: &str| queue.peek(&id(name)).unwrap().unwrap();
        let waits = look("waits");
        assert_eq!(
            (waits.state, waits.created_at_ms, waits.due_at_us),
            (State::Delayed, 1_600_000_000_000, 9_000_000_000_000_000)
        );
        assert_eq!((waits.attempts, waits.timeouts, waits.releases, waits.buries, waits.kicks), (2, 1, 1, 3, 4));
        assert_eq!((waits.first_due_at_us, waits.last_error), (Some(past().first_due_us), Some(b"why".to_vec())));
        let buried = look("buried");
        assert_eq!((buried.state, buried.due_at_us, buried.buries), (State::Buried, 1_650_000_000_000_000, 3));
        assert_eq!(buried.last_error.unwrap().len(), 4_000);
        assert_eq!((look("no past").state, look("no past").buries), (State::Buried, 0));
        let due = look("due");
        assert_eq!((due.state, due.due_at_us, due.attempts), (State::Ready, 5, 1), "it keeps its place");
        assert!(due.first_due_at_us.unwrap() >= now, "it falls due first now: {due:?}");
        assert_eq!(states(&queue), [1, 1, 0, 2]);
        audit::places(&mut shared().raw(), &queue);
        assert_eq!(queue.kick(10, false).unwrap(), 2);
        let held = reserve_many(&queue, 1).remove(0);
        assert_eq!((held.id.clone(), held.attempts), (id("due"), 2));
    }
}

#[test]
fn the_past_counts_against_the_attempts_and_lateness_from_the_push() {
    let queue = fresh();
    let options = JobOptions { max_attempts: 3, ..JobOptions::default() };
    let job = OnceJob { past: Some(past()), ..once("r", NewJob { options, ..job("a") }) };
    let passed = once("r2", NewJob { due: Due::AtUs(1_000), ..self::job("b") });
    queue.push_once(&[job, passed]).unwrap();
    assert_eq!(reserve(&queue).unwrap().id, id("b"));
    assert!(queue.stats().unwrap().ever.lateness().quantiles().p99_ms < 60_000.0);
    let held = reserve(&queue).unwrap();
    queue.fail(&held.held(), Some(b"boom")).unwrap();
    assert_eq!(states(&queue), [0, 0, 1, 1], "its third attempt was the last one");
}

#[test]
fn it_replaces_a_job_that_nobody_holds_and_keeps_one_in_hand() {
    let mut raw = shared().raw();
    for state in ["delayed", "ready", "reserved", "lease over", "buried"] {
        for (priority, is_buried) in [(1024, false), (5, false), (1024, true)] {
            let queue = fresh();
            queue.push(&delayed("a", if state == "delayed" { FAR_MS } else { 0 })).unwrap();
            if !matches!(state, "delayed" | "ready") {
                let held = reserve(&queue).unwrap().held();
                if state == "buried" {
                    queue.bury(&held, Some(b"why")).unwrap();
                }
            }
            if state == "lease over" {
                travel(60_001);
            }
            let new = NewJob { payload: b"new".to_vec(), ..replacing(prioritized("a", priority)) };
            let new = OnceJob { is_buried, ..once("r", new) };
            let got = queue.push_once(std::slice::from_ref(&new)).unwrap();
            let is_held = state == "reserved";
            assert_eq!(got, if is_held { told(0, 1, 0) } else { told(1, 0, 0) }, "{state}");
            let info = queue.peek(&id("a")).unwrap().unwrap();
            assert_eq!((info.payload == b"new", info.buries), (!is_held, 0), "{state}");
            let expected = if is_held {
                State::Reserved
            } else if is_buried {
                State::Buried
            } else {
                State::Ready
            };
            assert_eq!(info.state, expected, "{state}");
            assert_eq!(audit::places(&mut raw, &queue).len(), 1);
            assert_eq!(queue.push_once(&[new]).unwrap(), told(0, 0, 1), "{state}: the receipt is given");
            assert_eq!(raw.int(&["HEXISTS", &key(&queue, "meta"), "replaced"]), i64::from(!is_held), "{state}");
            clock::set_offset_ms(0);
        }
    }
}

#[test]
fn ids_that_are_taken_are_kept_and_a_receipt_alone_may_take_one() {
    let queue = fresh();
    let taking = |receipt: &str, mode| once(receipt, unique("a", FAR_MS, mode));
    assert_eq!(queue.push_once(&[taking("r1", OnDuplicate::Keep)]).unwrap(), told(1, 0, 0));
    assert_eq!(serve_all(&queue), ["a"]);
    assert_eq!(queue.push_once(&[taking("r2", OnDuplicate::Keep)]).unwrap(), told(0, 1, 0));
    assert_eq!(queue.push_once(&[taking("r3", OnDuplicate::Replace)]).unwrap(), told(0, 1, 0), "it does not wait");
    assert_eq!(queue.push_once(&[once("r4", job("a"))]).unwrap(), told(1, 0, 0), "a plain one does not look");
    assert_eq!(queue.push_once(&[taking("r5", OnDuplicate::Replace)]).unwrap(), told(1, 0, 0), "it waits");
    let alone = [
        receipt_only("r6", unique("b", FAR_MS, OnDuplicate::Keep)),
        receipt_only("r7", NewJob { id: None, ..job("c") }),
    ];
    assert_eq!(queue.push_once(&alone).unwrap(), told(2, 0, 0));
    assert_eq!(queue.push_once(&alone).unwrap(), told(0, 0, 2));
    assert_eq!(queue.count(None).unwrap(), 1);
    assert!(queue.push(&unique("b", 1_000, OnDuplicate::Fail)).is_err());
    assert_eq!(queue.taken_ids().unwrap().len(), 2);
    assert_eq!(receipts(&queue).len(), 7);
    assert_eq!(queue.forget_receipts(&[b"a".to_vec(), b"r1".to_vec()]).unwrap(), 2);
}

#[test]
fn receipts_are_listed_by_age_and_beginning_over_many_pages() {
    let queue = fresh();
    let give = |from: usize, to: usize, word: &str| {
        let batch: Vec<OnceJob> =
            (from..to).map(|n| receipt_only(&format!("{word}:{n:05}"), NewJob { id: None, ..job("x") })).collect();
        assert_eq!(queue.push_once(&batch).unwrap().added, (to - from) as u64);
    };
    give(0, 1_500, "old");
    travel(60_000);
    give(0, 1_400, "new");
    travel(1_000);
    give(1_500, 1_700, "old");
    let list = |age_ms: u64, prefix: &str, limit: usize| -> Vec<String> {
        let found = queue.receipts(age_ms, prefix.as_bytes(), limit).unwrap();
        found.into_iter().map(|name| String::from_utf8(name).unwrap()).collect()
    };
    assert_eq!(list(0, "", usize::MAX).len(), 3_100);
    assert_eq!(list(30_000, "", usize::MAX).len(), 1_500);
    assert_eq!(list(600_000, "", usize::MAX).len(), 0);
    let old = list(0, "old:", usize::MAX);
    assert_eq!(old, (0..1_700).map(|n| format!("old:{n:05}")).collect::<Vec<_>>(), "the oldest first");
    assert_eq!(list(0, "old:", 1_600), old[..1_600]);
    assert_eq!(list(0, "new:", 3), ["new:00000", "new:00001", "new:00002"]);
    assert_eq!(list(0, "none", usize::MAX), Vec::<String>::new());
    let all: Vec<Vec<u8>> = queue.receipts(0, b"", usize::MAX).unwrap();
    assert_eq!(queue.forget_receipts(&all).unwrap(), 3_100);
    assert_eq!(list(0, "", 1), Vec::<String>::new());
}

#[test]
fn chunks_are_of_five_hundred_jobs_and_eight_megabytes() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let mut scripts = |batch: &[OnceJob]| {
        queue.count(None).unwrap();
        raw.run(&["CONFIG", "RESETSTAT"]);
        queue.push_once(batch).unwrap();
        raw.calls("evalsha")
    };
    let small: Vec<OnceJob> = (0..1_001).map(|n| once(&format!("s{n}"), job(&format!("s{n}")))).collect();
    let payload = vec![b'x'; 1_000_000];
    let large: Vec<OnceJob> =
        (0..20).map(|n| once(&format!("l{n}"), NewJob { payload: payload.clone(), ..job(&format!("l{n}")) })).collect();
    assert_eq!(scripts(&small), 3);
    assert_eq!(scripts(&large), 3);
    assert_eq!(queue.count(None).unwrap(), 1_021);
}

#[test]
fn after_a_lost_answer_or_a_crash_between_chunks_nothing_is_there_twice_and_nothing_is_missing() {
    let server = Server::start(&[]);
    let batch: Vec<OnceJob> = (0..1_200).map(|n| once(&format!("r{n}"), job(&format!("j{n:04}")))).collect();
    for (number, fault) in [Fault::DropReply, Fault::DropBefore, Fault::Hold].into_iter().enumerate() {
        let (direct, proxy) = (server.queue(&format!("q{number}")), Proxy::before(&server));
        let queue = proxy.queue(direct.name(), Duration::from_secs(2));
        queue.count(None).unwrap();
        // The second chunk never gets through; jobs of the first are done meanwhile.
        assert_eq!(queue.push_once(&batch[..500]).unwrap(), told(500, 0, 0));
        proxy.fail(fault, u32::MAX);
        let error = queue.push_once(&batch).unwrap_err();
        assert!(matches!(error, Error::Connection { .. }), "{fault:?}: {error:?}");
        assert!(error.to_string().contains("pushing 1200 jobs once"), "{error}");
        proxy.heal();
        let served = serve_some(&direct, 100);
        let again = queue.push_once(&batch).unwrap();
        assert_eq!(again.added + again.known, 1_200, "{fault:?}");
        assert!(again.known >= 500 && again.kept == 0, "{fault:?}: {again:?}");
        let all = [served, serve_some(&direct, usize::MAX)].concat();
        assert_eq!(all, (0..1_200).map(|n| format!("j{n:04}")).collect::<Vec<_>>(), "{fault:?}");
    }
}

/// Ids, acknowledged.
fn serve_some(queue: &Queue, most: usize) -> Vec<String> {
    let mut ids = Vec::new();
    while ids.len() < most {
        let jobs = reserve_many(queue, most.min(100));
        ack_all(queue, &jobs);
        ids.extend(jobs.iter().map(|job| job.id.to_string()));
        if jobs.is_empty() {
            break;
        }
    }
    ids
}

#[test]
fn a_repeat_says_known_of_what_the_lost_try_has_added() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(5)));
    queue.count(None).unwrap();
    proxy.fail(Fault::DropReply, 1);
    let batch = [once("r1", replacing(job("a"))), once("r2", at_most(delayed("b", 60_000), 1_000))];
    assert_eq!(queue.push_once(&batch).unwrap(), told(0, 0, 2));
    assert_eq!((proxy.heal(), direct.stats().unwrap().pushed), (1, 2));
}

#[test]
fn many_leases_that_are_over_are_taken_back_first() {
    let queue = fresh();
    let options = JobOptions { ttr_ms: 1_000, ..JobOptions::default() };
    let jobs: Vec<NewJob> = (0..250).map(|n| NewJob { options: options.clone(), ..job(&format!("j{n:03}")) }).collect();
    push_many(&queue, &jobs);
    assert_eq!(reserve_many(&queue, 250).len(), 250);
    travel(1_001);
    let batch: Vec<OnceJob> = jobs.iter().map(|job| once(&format!("r{:?}", job.id), replacing(job.clone()))).collect();
    assert_eq!(queue.push_once(&batch).unwrap(), told(250, 0, 0));
    assert_eq!((states(&queue), queue.stats().unwrap().timed_out), ([0, 250, 0, 0], 250));
}

#[test]
fn entries_that_other_programs_have_left_and_damaged_records_are_replaced_or_kept() {
    let (queue, mut raw) = (fresh(), shared().raw());
    raw.run(&["ZADD", &key(&queue, "waiting"), "5", "a"]);
    raw.run(&["ZADD", &key(&queue, "recent"), "1.5", "b", "inf", "c"]);
    raw.run(&["ZADD", &key(&queue, "receipts"), "-1", "r9"]);
    queue.push(&job("d")).unwrap();
    raw.run(&["HSET", &key(&queue, "jobs"), "d", "damaged"]);
    let taking = |name: &str| unique(name, 1_000, OnDuplicate::Keep);
    let batch =
        [once("r1", job("a")), once("r2", taking("b")), once("r3", taking("c")), once("r4", replacing(job("d")))];
    assert_eq!(queue.push_once(&batch).unwrap(), told(3, 1, 0));
    assert_eq!(queue.push_once(&[once("r9", job("e"))]).unwrap(), told(0, 0, 1));
    assert_eq!(receipts(&queue).len(), 5);
    assert_eq!(queue.taken_ids().unwrap().len(), 2);
    assert_eq!(queue.forget_receipts(&[b"c".to_vec()]).unwrap(), 1);
    assert_eq!(audit::places(&mut raw, &queue).len(), 3);
}

/// A job that was sealed arrives as it was stored; one that was not is sealed on its way.
#[test]
fn a_sealed_job_arrives_as_it_was_and_others_are_sealed() {
    let plain = fresh();
    let keyring = Some(Arc::new(keys(&["k1"], false)));
    let sealing = Queue::new(QueueConfig { keyring, ..config(shared().dsn(), plain.name()) });
    sealing.push(&job("a")).unwrap();
    let stored = plain.peek(&id("a")).unwrap().unwrap();
    assert!(stored.options.seal.is_some() && stored.payload != b"payload of a");
    plain.cancel(&[id("a")]).unwrap();
    let as_stored = NewJob { payload: stored.payload.clone(), options: stored.options.clone(), ..job("a") };
    for queue in [&plain, &sealing] {
        assert_eq!(queue.push_once(&[once("r", as_stored.clone())]).unwrap(), told(1, 0, 0));
        let again = plain.peek(&id("a")).unwrap().unwrap();
        assert_eq!((again.payload, again.options), (stored.payload.clone(), stored.options.clone()), "to the byte");
        let held = reserve(&sealing).unwrap();
        assert_eq!(held.payload, b"payload of a");
        sealing.ack(&held.held()).unwrap();
        sealing.forget_receipts(&[b"r".to_vec()]).unwrap();
    }
    sealing.push_once(&[once("r2", job("b"))]).unwrap();
    assert!(plain.peek(&id("b")).unwrap().unwrap().options.seal.is_some());
    assert_eq!(reserve(&sealing).unwrap().payload, b"payload of b");
}
