//! A hundred thousand jobs of the same millisecond keep their order.

use crate::support::*;
use delayqueue::core::job::{Due, NewJob, Reserved};
use delayqueue::core::queue::Queue;

const MANY: usize = 100_000;

/// Pushes jobs `0…` due at the same millisecond, in chunks and one by one; `priority` gives each its own.
fn push_all(queue: &Queue, many: usize, due: i64, priority: fn(usize) -> u32) {
    let make =
        |n: usize| NewJob { due: Due::AtMs(due), payload: Vec::new(), ..prioritized(&format!("{n:06}"), priority(n)) };
    let mut n = 0;
    while n < many {
        let chunk = if n % 5_000 == 0 { 500 } else { 475 };
        let end = (n + chunk).min(many);
        queue.push_many(&(n..end).map(make).collect::<Vec<_>>()).unwrap();
        n = end;
        for _ in 0..5 {
            if n < many {
                queue.push(&make(n)).unwrap();
                n += 1;
            }
        }
    }
}

fn serve_in_batches(queue: &Queue) -> Vec<usize> {
    let mut served = Vec::with_capacity(MANY);
    loop {
        let jobs = reserve_many(queue, 500);
        if jobs.is_empty() {
            return served;
        }
        assert!(
            queue.ack_many(&jobs.iter().map(Reserved::held).collect::<Vec<_>>()).unwrap().iter().all(|acked| *acked)
        );
        served.extend(jobs.iter().map(|job| job.id.to_string().parse::<usize>().unwrap()));
    }
}

fn first_out_of_order(served: &[usize], expected: impl Iterator<Item = usize>) -> Option<(usize, usize, usize)> {
    let mut pairs = served.iter().copied().zip(expected).enumerate();
    pairs.find_map(|(at, (found, wanted))| (found != wanted).then_some((at, found, wanted)))
}

#[test]
fn jobs_due_in_the_same_millisecond_are_served_in_push_order() {
    let queue = fresh();
    push_all(&queue, MANY, 1_700_000_000_000, |_| 1024);
    let served = serve_in_batches(&queue);
    assert_eq!(served.len(), MANY);
    assert_eq!(first_out_of_order(&served, 0..MANY), None, "at, found, wanted");
}

#[test]
fn with_priorities_they_are_served_by_priority_and_then_in_push_order() {
    const PRIORITIES: [u32; 5] = [1024, 0, 4_294_967_295, 5, 2_000];
    let queue = fresh();
    push_all(&queue, MANY, 1_700_000_000_000, |n| PRIORITIES[n * 7 % 5]);
    let served = serve_in_batches(&queue);
    assert_eq!(served.len(), MANY);
    let mut expected: Vec<usize> = (0..MANY).collect();
    expected.sort_by_key(|n| (PRIORITIES[n * 7 % 5], *n));
    assert_eq!(first_out_of_order(&served, expected.into_iter()), None, "at, found, wanted");
}

#[test]
fn ten_thousand_prioritized_jobs_that_fall_due_together_are_served_in_order() {
    let queue = fresh();
    let due = {
        let mut raw = shared().raw();
        let redis::Value::Array(parts) = raw.run(&["TIME"]) else { panic!() };
        delayqueue::core::reply::int(parts[0].clone()).unwrap() * 1000 + 3_600_000
    };
    push_all(&queue, 10_000, due, |n| if n % 2 == 0 { 9 } else { 8 });
    assert_eq!(reserve(&queue), None);
    travel(3_700_000);
    let served = serve_in_batches(&queue);
    assert_eq!(served.len(), 10_000);
    let expected = (0..10_000).filter(|n| n % 2 == 1).chain((0..10_000).filter(|n| n % 2 == 0));
    assert_eq!(first_out_of_order(&served, expected), None, "at, found, wanted");
}

#[test]
fn a_batch_of_plain_jobs_keeps_its_order_and_is_refused_as_a_whole() {
    let queue = fresh();
    let names: Vec<String> = (0..40).rev().map(|n| format!("{n:02}")).collect(); // against the order of the ids
    let batch: Vec<NewJob> = names.iter().map(|name| job(name)).collect();
    queue.push_many(&batch).unwrap();
    let again = [job("new"), delayed("other", 9_000), job("07")];
    assert!(matches!(queue.push_many(&again), Err(delayqueue::core::error::Error::Duplicate { id, .. }) if id == "07"));
    queue.push_many(&[delayed("later", 9_000), delayed("soon", 5_000), job("now")]).unwrap();
    assert_eq!(states(&queue), [2, 41, 0, 0]);
    travel(9_010); // a batch may be due some milliseconds later than asked, but not earlier
    let served: Vec<String> = reserve_many(&queue, 50).iter().map(|job| job.id.to_string()).collect();
    assert_eq!(served, [names, ["now", "soon", "later"].map(String::from).to_vec()].concat());
    travel(0);
}
