//! The order of jobs: by the moment at which they are due, by Redis' clock. Many of the same moment come in the order of their ids.

use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::connection::Connection;
use delayqueue::core::job::{Due, NewJob};
use delayqueue::core::queue::Queue;
use delayqueue::core::record;
use delayqueue::core::{resp, scripts};
use std::time::{Duration, Instant};

const MANY: usize = 20_000;

/// Pushes jobs `0…` due at the same moment, in chunks and one by one; `priority` gives each its own.
fn push_all(queue: &Queue, many: usize, due: i64, priority: fn(usize) -> u32) {
    let make = |n: usize| NewJob {
        due: Due::AtUs(due * 1000),
        payload: Vec::new(),
        ..prioritized(&format!("{n:06}"), priority(n))
    };
    let mut n = 0;
    while n < many {
        let chunk = if n % 5_000 == 0 { 500 } else { 475 };
        let end = (n + chunk).min(many);
        push_many(queue, &(n..end).map(make).collect::<Vec<_>>());
        n = end;
        for _ in 0..5 {
            if n < many {
                queue.push(&make(n)).unwrap();
                n += 1;
            }
        }
    }
}

/// Ids in the order of serving.
fn serve_in_batches(queue: &Queue) -> Vec<String> {
    let mut served = Vec::with_capacity(MANY);
    loop {
        let jobs = reserve_many(queue, 500);
        if jobs.is_empty() {
            return served;
        }
        ack_all(queue, &jobs);
        served.extend(jobs.iter().map(|job| job.id.to_string()));
    }
}

fn first_out_of_order(served: &[String], expected: impl Iterator<Item = usize>) -> Option<(usize, usize, usize)> {
    let mut pairs = served.iter().map(|id| id.parse().unwrap()).zip(expected).enumerate();
    pairs.find_map(|(at, (found, wanted))| (found != wanted).then_some((at, found, wanted)))
}

#[test]
fn jobs_of_the_very_same_moment_are_served_in_the_order_of_their_ids() {
    let queue = fresh();
    push_all(&queue, MANY, 1_700_000_000_000, |_| 1024);
    let served = serve_in_batches(&queue);
    assert_eq!(served.len(), MANY);
    assert_eq!(first_out_of_order(&served, 0..MANY), None, "at, found, wanted");
}

#[test]
fn with_priorities_they_are_served_by_priority_and_then_in_that_order() {
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
    push_many(&queue, &batch);
    let again = [job("new"), delayed("other", 9_000), job("07")];
    assert!(
        matches!(queue.push_many(&again, &mut Vec::new()), Err(delayqueue::core::error::Error::Duplicate { id, .. }) if id == "07")
    );
    push_many(&queue, &[delayed("later", 9_000), delayed("soon", 5_000), job("now")]);
    assert_eq!(states(&queue), [2, 41, 0, 0]);
    travel(9_001);
    let served: Vec<String> = reserve_many(&queue, 50).iter().map(|job| job.id.to_string()).collect();
    assert_eq!(served, [names, ["now", "soon", "later"].map(String::from).to_vec()].concat());
}

/// Names against the order of ids, so that only the order of pushes can be the order of serving.
fn name(n: usize) -> String {
    format!("{:06}", 999_999 - n)
}

fn assert_in_push_order(queue: &Queue, many: usize, later_ms: i64) {
    travel(later_ms);
    let served = serve_in_batches(queue);
    clock::set_offset_ms(0);
    assert_eq!(served.len(), many);
    let wrong = served.iter().enumerate().find(|(n, id)| **id != name(*n));
    assert_eq!(wrong, None, "served at this place");
}

/// One push after the other over two connections, one of which is slow on the way there: Redis' clock says which was first.
#[test]
fn pushes_over_two_connections_are_served_in_their_order() {
    let server = Server::start(&[]);
    let proxies = [Proxy::before(&server), Proxy::before(&server)];
    for delay_ms in [0, 3_000, 100_000] {
        let queues = proxies.each_ref().map(|proxy| proxy.queue(&format!("q{delay_ms}"), Duration::from_secs(5)));
        proxies[1].fail(Fault::Delay(Duration::from_millis(2)), u32::MAX);
        for n in 0..200 {
            queues[n % 2].push(&delayed(&name(n), delay_ms)).unwrap();
        }
        proxies[1].heal();
        assert_in_push_order(&server.queue(&format!("q{delay_ms}")), 200, delay_ms as i64 + 1);
    }
}

#[test]
fn order_is_exact_within_batches_and_among_them() {
    for delay_ms in [0, 2_000] {
        let queue = fresh();
        let mut n = 0;
        let mut make = |count: usize| -> Vec<NewJob> {
            n += count;
            (n - count..n).map(|n| delayed(&name(n), delay_ms)).collect()
        };
        for batch in [1, 1_203, 3, 1, 501, 500, 7, 2, 1, 1_000, 8, 1, 1] {
            let jobs = make(batch);
            if batch == 1 { drop(queue.push(&jobs[0]).unwrap()) } else { drop(push_many(&queue, &jobs)) }
        }
        assert_in_push_order(&queue, n, delay_ms as i64 + 1_000);
    }
}

/// Jobs of one batch are due a microsecond after each other: the next push must not come in between, however soon it is executed.
#[test]
fn a_push_that_redis_executes_right_behind_a_batch_comes_after_it() {
    let queue = fresh();
    let limit = Duration::from_secs(5);
    let mut connection = Connection::open(&server_of(&shared().dsn()), limit, limit).unwrap();
    let keys = ["jobs", "waiting", "waiters"].map(|name| key(&queue, name));
    let head = record::encode_head(&delayed("x", 0).options, 1);
    let mut n = 0;
    for _ in 0..20 {
        let (mut request, mut commands) = (Vec::new(), 0);
        for count in [500, 1, 2, 1, 3, 1, 50, 1] {
            let ids: Vec<String> = (n..n + count).map(name).collect();
            n += count;
            let mut args: Vec<&[u8]> = vec![b"EVAL", scripts::PUSH.source.as_bytes(), b"3"];
            args.extend(keys.iter().map(|key| key.as_bytes()));
            args.extend([b"0", b"fail".as_slice()]);
            args.extend(ids.iter().flat_map(|id| [id.as_bytes(), &head, b"2000000"]));
            resp::write_command(&mut request, args.into_iter());
            commands += 1;
        }
        connection.exchange(&request, commands, resp::Bounds::SMALL, Instant::now() + limit).unwrap();
    }
    assert_in_push_order(&queue, n, 3_000);
}
