//! Looking at a queue and managing it: lists, pauses, purges, the classic consumer, the index of queues, doctor; and changes that are refused half way.

use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::doctor::Level;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, State};
use delayqueue::core::queue::{Queue, QueueConfig};
use std::time::Duration;

#[test]
fn list_pages_every_state_in_its_order() {
    let queue = fresh();
    for n in 0..30 {
        queue.push(&delayed(&format!("w{n:02}"), 10_000 + n * 10)).unwrap();
        let options = priority_options(if n % 2 == 0 { 7 } else { 9_999 });
        queue.push(&NewJob { options, ..delayed(&format!("p{n:02}"), 10_005 + n * 10) }).unwrap();
    }
    let names = |state, offset, limit| -> Vec<String> {
        queue.list(state, offset, limit).unwrap().into_iter().map(|job| job.id.to_string()).collect()
    };
    let all: Vec<String> = (0..30).flat_map(|n| [format!("w{n:02}"), format!("p{n:02}")]).collect();
    assert_eq!(names(State::Delayed, 0, 100), all);
    for offset in 0..60 {
        assert_eq!(
            names(State::Delayed, offset, 7),
            all[offset as usize..(offset as usize + 7).min(60)],
            "offset {offset}"
        );
    }
    travel(20_000);
    let mut ready: Vec<String> = (0..30).filter(|n| n % 2 == 0).map(|n| format!("p{n:02}")).collect();
    ready.extend((0..30).map(|n| format!("w{n:02}")));
    ready.extend((0..30).filter(|n| n % 2 == 1).map(|n| format!("p{n:02}")));
    assert_eq!(names(State::Ready, 0, 100), ready);
    for offset in 0..60 {
        assert_eq!(
            names(State::Ready, offset, 7),
            ready[offset as usize..(offset as usize + 7).min(60)],
            "offset {offset}"
        );
    }
    assert_eq!(serve_all(&queue), ready);
}

#[test]
fn a_pause_that_is_over_leaves_no_trace() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let mut raw = server.raw();
    push_many(&queue, &["a", "b", "c", "d"].map(job));
    let cost = |raw: &mut Raw| {
        let count = |raw: &mut Raw| {
            let stats = raw.text(&["INFO", "commandstats"]);
            let calls = stats.lines().filter(|line| !line.starts_with("cmdstat_info"));
            calls.filter_map(|line| line.split_once(":calls=")?.1.split(',').next()?.parse::<u64>().ok()).sum::<u64>()
        };
        let before = count(raw);
        assert!(reserve(&queue).is_some());
        count(raw) - before
    };
    reserve(&queue).unwrap();
    let usual = cost(&mut raw);
    queue.pause(Some(1_000), None).unwrap();
    travel(1_001);
    assert!(reserve(&queue).is_some());
    assert_eq!(raw.int(&["EXISTS", &key(&queue, "limits")]), 0);
    assert_eq!(cost(&mut raw), usual);
}

#[test]
fn take_is_by_due_time_whatever_the_priority() {
    let queue = fresh();
    queue.push(&NewJob { due: Due::AtUs(3_000_000), ..prioritized("c", 1) }).unwrap();
    queue.push(&NewJob { due: Due::AtUs(1_000_000), ..job("a") }).unwrap();
    queue.push(&NewJob { due: Due::AtUs(2_000_000), ..prioritized("b", 5_000) }).unwrap();
    queue.push(&delayed("d", 60_000)).unwrap();
    let taken = payloads(queue.take(None, 2).unwrap());
    assert_eq!(taken, [b"payload of a".to_vec(), b"payload of b".to_vec()]);
    assert_eq!(queue.take(Some(i64::MAX / 1_000), 10).unwrap().len(), 2);
    assert_eq!(queue.count(None).unwrap(), 0);
}

#[test]
fn purge_empties_the_states_it_is_given() {
    let queue = fresh();
    let jobs: Vec<NewJob> =
        (0..700).map(|n| job(&format!("r{n}"))).chain((0..700).map(|n| delayed(&format!("d{n}"), 60_000))).collect();
    push_many(&queue, &jobs);
    queue.push(&prioritized("p", 1)).unwrap();
    let held = reserve_many(&queue, 100);
    queue.bury(&held[0].held(), None).unwrap();
    assert_eq!(states(&queue), [700, 601, 99, 1]);
    assert_eq!(queue.purge(&[State::Delayed]).unwrap(), 700);
    assert_eq!(states(&queue), [0, 601, 99, 1]);
    assert_eq!(queue.purge(&[]).unwrap(), 701);
    assert_eq!(states(&queue), [0, 0, 0, 0]);
    assert!(matches!(queue.ack(&held[5].held()), Err(Error::LeaseLost { .. })));
}

#[test]
fn queues_are_listed_without_scanning() {
    let queue = fresh();
    queue.push(&job("a")).unwrap();
    assert!(queue.queues().unwrap().contains(&queue.name().to_owned()));
}

/// The database may be flushed while a connection lives: a push writes the index entry again after a minute, or over a new connection.
#[test]
fn a_queue_is_in_the_index_again_after_a_flush() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    queue.push(&job("a")).unwrap();
    raw.run(&["FLUSHALL"]);
    queue.push(&job("a")).unwrap();
    assert_eq!(queue.queues().unwrap().len(), 0, "the entry is not a minute old");
    queue.close();
    queue.push(&job("b")).unwrap();
    assert_eq!(queue.queues().unwrap(), ["q"]);
}

/// Two shops on one Redis, in one process.
#[test]
fn a_queue_is_in_the_index_of_each_prefix_and_has_snapshots_under_each() {
    let server = Server::start(&[]);
    let shops = ["shop1", "shop2"]
        .map(|prefix| Queue::new(QueueConfig { prefix: prefix.into(), ..config(server.dsn(), "orders") }));
    for queue in &shops {
        queue.push(&job("a")).unwrap();
        assert_eq!(queue.queues().unwrap(), ["orders"], "{}", queue.prefix());
        queue.ack(&reserve(queue).unwrap().held()).unwrap();
        queue.push(&job("b")).unwrap();
    }
    shops[0].close();
    for queue in &shops {
        reserve(queue).unwrap();
        let meta = server.raw().run(&["HKEYS", &key(queue, "meta")]);
        assert!(format!("{meta:?}").contains("snapshot"), "{}: {meta:?}", queue.prefix());
    }
}

/// One thread pushes to two shops of one name, over connections that are older than both pushes.
#[test]
fn a_queue_is_in_the_index_of_each_server() {
    let servers = [Server::start(&[]), Server::start(&[])];
    let queues = servers.each_ref().map(|server| server.queue("orders"));
    queues.iter().for_each(|queue| assert_eq!(queue.count(None), Ok(0)));
    for queue in &queues {
        queue.push(&job("a")).unwrap();
        assert_eq!(queue.queues().unwrap(), ["orders"]);
    }
}

#[test]
fn doctor_reports_maxmemory() {
    let (_server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    for (maxmemory, level, text) in [
        ("0", Level::Ok, "maxmemory is not set"),
        ("1gb", Level::Ok, "maxmemory 1024 MiB"),
        ("1", Level::Error, "raise it"),
    ] {
        raw.run(&["CONFIG", "SET", "maxmemory", maxmemory]);
        let check = queue.doctor(false).unwrap().into_iter().find(|check| check.check == "memory").unwrap();
        assert_eq!((check.level, check.message.contains(text)), (level, true), "{maxmemory}: {}", check.message);
    }
}

/// The first step succeeds, the second is refused.
#[test]
fn a_change_that_fails_half_way_says_how_much_is_done() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(5)));
    let jobs: Vec<NewJob> = (0..700).map(|n| job(&format!("j{n}"))).collect();
    let ids: Vec<_> = jobs.iter().filter_map(|job| job.id.clone()).collect();
    let check = |change: &dyn Fn() -> Result<u64, Error>, done: &str, left: [u64; 4]| {
        proxy.fail_twice(Fault::Delay(Duration::ZERO), Fault::Instead(b"-ERR refused\r\n"));
        let found = change();
        assert_eq!(proxy.heal(), 2);
        let error = found.unwrap_err();
        assert!(matches!(error, Error::Connection { ambiguous: true, .. }), "{error:?}");
        assert!(error.to_string().contains(done) && error.to_string().contains("ERR refused"), "{error}");
        assert_eq!(states(&direct), left, "{error}");
        direct.purge(&[]).unwrap();
        push_many(&direct, &jobs);
    };
    push_many(&direct, &jobs);
    check(&|| queue.cancel(&ids), "cancelling 200 jobs of queue 'q': jobs cancelled: 200, then: ", [0, 500, 0, 0]);
    check(&|| queue.purge(&[State::Ready]), "purging queue 'q': jobs deleted: 500, then: ", [0, 200, 0, 0]);
    for held in reserve_many(&direct, 500) {
        direct.bury(&held.held(), None).unwrap();
    }
    check(&|| queue.kick(400, true), "kicking jobs of queue 'q': jobs kicked: 200, then: ", [0, 400, 0, 300]);
}
