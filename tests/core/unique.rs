//! An id that stays taken for a time after its push, whatever became of the job.

use crate::audit;
use crate::new_jobs::{replacing, unique};
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Queue;
use std::time::Duration;

const WINDOW_MS: u64 = 600_000;
const FATES: [&str; 9] =
    ["delayed", "ready", "reserved", "lease over", "buried", "acknowledged", "cancelled", "purged", "taken"];

/// Pushes job `a`, whose id stays taken, and brings it there.
fn pushed(fate: &str) -> Queue {
    clock::set_offset_ms(0);
    let queue = fresh();
    let due = Due::InMs(if fate == "delayed" { 3_600_000 } else { 0 });
    queue.push(&NewJob { due, ..unique("a", WINDOW_MS, OnDuplicate::Fail) }).unwrap();
    match fate {
        "delayed" | "ready" => {}
        "cancelled" => assert_eq!(queue.cancel(&[id("a")]).unwrap(), 1),
        "purged" => assert_eq!(queue.purge(&[]).unwrap(), 1),
        "taken" => assert_eq!(queue.take(None, 1).unwrap().len(), 1),
        _ => {
            let held = reserve(&queue).unwrap().held();
            match fate {
                "acknowledged" => queue.ack(&held).unwrap(),
                "buried" => queue.bury(&held, None).unwrap(),
                "lease over" => travel(60_001),
                _ => {}
            }
        }
    }
    queue
}

fn again(on_duplicate: OnDuplicate) -> NewJob {
    NewJob { payload: b"again".to_vec(), ..unique("a", WINDOW_MS, on_duplicate) }
}

fn payload(queue: &Queue) -> Option<Vec<u8>> {
    queue.peek(&id("a")).unwrap().map(|info| info.payload)
}

/// Without a script, which would take back a lease that is over.
fn is_again(raw: &mut Raw, queue: &Queue) -> bool {
    audit::hash(raw, &key(queue, "jobs")).get(b"a".as_slice()).is_some_and(|record| record.ends_with(b"again"))
}

fn taken_until(queue: &Queue) -> i64 {
    queue.taken_ids().unwrap()[0].1
}

#[test]
fn the_id_stays_taken_whatever_became_of_the_job() {
    let mut raw = shared().raw();
    for fate in FATES {
        let queue = pushed(fate);
        let (before, until) = (audit::places(&mut raw, &queue), taken_until(&queue));
        assert!(matches!(queue.push(&again(OnDuplicate::Fail)), Err(Error::Duplicate { .. })), "{fate}");
        assert_eq!(queue.push(&again(OnDuplicate::Keep)).unwrap(), id("a"), "{fate}");
        assert_eq!(queue.try_push(again(OnDuplicate::Fail)).unwrap(), None, "{fate}");
        assert_eq!(queue.try_push(again(OnDuplicate::Keep)).unwrap(), None, "{fate}");
        let batch = [job("b"), again(OnDuplicate::Fail)];
        assert!(queue.push_many(&batch, &mut Vec::new()).is_err(), "{fate}: all or none");
        assert_eq!((audit::places(&mut raw, &queue), taken_until(&queue)), (before.clone(), until), "{fate}");
        assert!(!is_again(&mut raw, &queue), "{fate}");
        travel(1_000);
        let waits = fate == "delayed" || fate == "ready";
        let replaced = queue.try_push(again(OnDuplicate::Replace)).unwrap();
        assert_eq!((replaced.is_some(), is_again(&mut raw, &queue)), (waits, waits), "{fate}");
        assert_eq!(taken_until(&queue) > until, waits, "{fate}: from the push that replaces it");
        queue.push(&again(OnDuplicate::Replace)).unwrap();
        if !waits {
            assert_eq!(audit::places(&mut raw, &queue), before, "{fate}: it is kept");
        }
    }
}

#[test]
fn a_push_that_names_no_time_does_not_look_and_the_id_is_free_when_its_time_is_over() {
    for fate in ["acknowledged", "cancelled", "purged", "taken"] {
        let queue = pushed(fate);
        queue.push(&job("a")).unwrap();
        queue.cancel(&[id("a")]).unwrap();
        push_many(&queue, &[prioritized("a", 5), job("b")]);
        queue.cancel(&[id("a")]).unwrap();
        assert!(queue.push(&again(OnDuplicate::Fail)).is_err(), "{fate}: it is taken all the same");
        travel(i64::try_from(WINDOW_MS).unwrap() + 1);
        assert_eq!(queue.taken_ids().unwrap(), []);
        assert_eq!(queue.try_push(again(OnDuplicate::Keep)).unwrap(), Some(id("a")), "{fate}");
        assert_eq!(queue.taken_ids().unwrap().len(), 1);
    }
}

#[test]
fn a_job_that_is_there_when_the_time_is_over_keeps_its_id() {
    for (fate, replaces) in [("buried", true), ("reserved", false)] {
        let queue = pushed(fate);
        if fate == "reserved" {
            let held = queue.list(State::Reserved, 0, 1).unwrap();
            assert_eq!(held.len(), 1);
        }
        shared().raw().run(&["DEL", &key(&queue, "recent")]); // as if its time were over
        assert!(queue.push(&again(OnDuplicate::Fail)).is_err());
        assert_eq!(queue.try_push(again(OnDuplicate::Keep)).unwrap(), None);
        assert_eq!(queue.push(&again(OnDuplicate::Replace)).is_ok(), replaces, "{fate}: as without the argument");
    }
}

#[test]
fn each_push_of_such_a_job_drops_ten_ids_whose_time_is_over() {
    let (queue, mut raw) = (fresh(), shared().raw());
    for n in 0..25 {
        raw.run(&["ZADD", &key(&queue, "recent"), &n.to_string(), &format!("old{n}")]);
    }
    for (n, left) in [(1, 15), (2, 5), (3, 0), (4, 0)] {
        queue.push(&unique(&format!("new{n}"), WINDOW_MS, OnDuplicate::Fail)).unwrap();
        assert_eq!(raw.int(&["ZCARD", &key(&queue, "recent")]), left + n);
    }
    push_many(&queue, &[job("plain"), prioritized("urgent", 5)]);
    assert_eq!(queue.taken_ids().unwrap().len(), 4, "those of plain pushes are not taken");
}

#[test]
fn a_batch_may_name_an_id_twice() {
    let names = |queue: &Queue| queue.list(State::Ready, 0, 9).unwrap().into_iter().map(|info| info.payload).collect();
    for (mode, expected) in
        [(OnDuplicate::Keep, vec![b"payload of a".to_vec()]), (OnDuplicate::Replace, vec![b"again".to_vec()])]
    {
        let queue = fresh();
        push_many(&queue, &[unique("a", 1_000, mode), again(mode)]);
        let found: Vec<Vec<u8>> = names(&queue);
        assert_eq!((found, queue.taken_ids().unwrap().len()), (expected, 1));
    }
    let queue = fresh();
    let refused = queue.push_many(&[unique("a", 1_000, OnDuplicate::Fail), again(OnDuplicate::Fail)], &mut Vec::new());
    assert!(matches!(refused, Err(Error::Duplicate { .. })));
    assert_eq!((queue.count(None).unwrap(), queue.taken_ids().unwrap().len()), (0, 0));
}

#[test]
fn a_push_whose_answer_was_lost_is_not_made_again_though_its_job_is_done() {
    let server = Server::start(&[]);
    for (number, mode) in [OnDuplicate::Fail, OnDuplicate::Keep, OnDuplicate::Replace].into_iter().enumerate() {
        let (direct, proxy) = (server.queue(&format!("q{number}")), Proxy::before(&server));
        let queue = proxy.queue(direct.name(), Duration::from_secs(10));
        let lost = |jobs: &[NewJob]| {
            proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_secs(1)));
            std::thread::scope(|scope| {
                let pushed = scope.spawn(|| match jobs {
                    [one] => queue.try_push(one.clone()).map(|stored| assert_eq!(stored, Some(id("a")), "{mode:?}")),
                    many => queue.push_many(many, &mut Vec::new()),
                });
                until("the first try is executed", || direct.count(None).unwrap() == jobs.len() as u64);
                serve_all(&direct);
                pushed.join().unwrap().unwrap();
            });
            assert_eq!(proxy.heal(), 2);
            direct.list(State::Ready, 0, 9).unwrap().iter().map(|info| info.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(lost(&[unique("a", WINDOW_MS, mode)]), Vec::<String>::new());
        direct.forget_receipts(&[b"a".to_vec()]).unwrap();
        assert_eq!(lost(&[unique("a", WINDOW_MS, mode), job("b")]), ["b"], "only its own job is known");
    }
}

#[test]
fn a_lost_push_counts_as_stored_where_another_has_taken_the_id_and_replaces_a_job_that_waits() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(10)));
    queue.count(None).unwrap();
    direct.push(&unique("a", WINDOW_MS, OnDuplicate::Fail)).unwrap();
    proxy.fail(Fault::DropReply, 1);
    assert_eq!(queue.try_push(again(OnDuplicate::Fail)).unwrap(), Some(id("a")), "nobody can tell");
    assert_eq!((proxy.heal(), payload(&direct)), (1, Some(b"payload of a".to_vec())));
    for fault in [Fault::DropBefore, Fault::DropReply] {
        direct.push(&replacing(job("a"))).unwrap();
        proxy.fail(fault, 1);
        queue.push(&again(OnDuplicate::Replace)).unwrap();
        assert_eq!((proxy.heal(), payload(&direct)), (1, Some(b"again".to_vec())), "{fault:?}");
    }
}

#[test]
fn nothing_that_ends_jobs_frees_an_id_but_forgetting_it() {
    for fate in FATES {
        let queue = pushed(fate);
        queue.kick(10, true).unwrap();
        queue.purge(&[]).unwrap();
        assert!(!queue.forget().unwrap(), "{fate}: the id is taken");
        assert_eq!(queue.taken_ids().unwrap().len(), 1, "{fate}");
        assert_eq!(queue.forget_receipts(&[b"a".to_vec(), b"b".to_vec()]).unwrap(), 1);
        queue.push(&again(OnDuplicate::Fail)).unwrap();
        queue.purge(&[]).unwrap();
        travel(i64::try_from(WINDOW_MS).unwrap() + 1);
        assert!(queue.forget().unwrap(), "{fate}: its time is over");
        assert_eq!(shared().raw().int(&["EXISTS", &key(&queue, "recent")]), 0);
    }
}
