//! Work and bytes of one call are bounded, however many jobs lie in the queue.

use crate::audit;
use crate::machine::stalls_since;
use crate::proxy::{Cut, Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{JobOptions, NewJob, State};
use delayqueue::core::keys;
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::time::{Duration, Instant};

/// Commands that Redis has executed so far, those of scripts among them, less those of the tests themselves.
fn commands(raw: &mut Raw) -> u64 {
    let stats = raw.text(&["INFO", "commandstats"]);
    let calls = stats.lines().filter(|line| !line.starts_with("cmdstat_info"));
    calls.filter_map(|line| line.split_once(":calls=")?.1.split(',').next()?.parse::<u64>().ok()).sum()
}

/// How many commands an operation takes, those of its scripts among them.
fn cost<T>(raw: &mut Raw, operation: impl FnOnce() -> T) -> (T, u64) {
    let before = commands(raw);
    let result = operation();
    (result, commands(raw) - before)
}

fn large(name: &str, bytes: usize) -> NewJob {
    NewJob { payload: vec![b'x'; bytes], ..job(name) }
}

fn push_large(queue: &Queue, count: usize, bytes: usize) {
    push_many(queue, &(0..count).map(|n| large(&format!("{n:03}"), bytes)).collect::<Vec<_>>());
}

/// A list is walked for each entry, so many leases in one would cost quadratic time.
#[test]
fn leases_of_more_than_eight_jobs_are_found_by_hash() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    push_large(&queue, 17, 10);
    let mut lease = |many: usize| {
        let jobs = reserve_many(&queue, many);
        let found = (jobs.len() as i64, raw.text(&["OBJECT", "ENCODING", &audit::key(&queue, "reserved")]));
        assert_eq!(raw.int(&["ZCARD", &audit::key(&queue, "reserved")]), found.0, "nothing else is there");
        queue.ack_many(&finished(&jobs)).unwrap();
        found
    };
    let (many, encoding) = lease(8);
    assert!(many == 8 && ["listpack", "ziplist"].contains(&&*encoding), "{many} in a {encoding}");
    assert_eq!(lease(9), (9, "skiplist".to_owned()));
}

#[test]
fn a_reserve_is_bounded_in_bytes_and_gives_one_job_at_least() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    push_large(&queue, 30, 1_000_000);
    let jobs = reserve_many(&queue, 100);
    assert_eq!(jobs.len(), 8, "as many as 8 MiB hold");
    assert_eq!(states(&queue), [0, 22, 8, 0], "the others are not leased");
    queue.give_back(&receipts(&jobs)).unwrap();
    let hasty = server.hasty_queue("q", Duration::from_millis(1_500));
    assert_eq!(reserve_many(&hasty, 100).len(), 1, "less time, less bytes, but one job");
}

#[test]
fn a_reserve_of_prioritized_jobs_is_bounded_in_bytes_too() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let jobs: Vec<NewJob> =
        (0..30).map(|n| NewJob { options: priority_options(5), ..large(&format!("{n:03}"), 1_000_000) }).collect();
    push_many(&queue, &jobs);
    let reserved = reserve_many(&queue, 100);
    assert_eq!(reserved.len(), 8);
    assert_eq!(
        reserved.iter().map(|job| job.id.to_string()).collect::<Vec<_>>(),
        (0..8).map(|n| format!("{n:03}")).collect::<Vec<_>>()
    );
}

/// The answer with the batch is lost: the repeat gives the same jobs, and no attempt is counted for jobs that no handler saw.
#[test]
fn a_batch_that_could_not_be_read_is_given_back_uncounted() {
    let (server, proxy) = Proxy::with_server();
    for (number, fault) in
        [Fault::DropReply, Fault::CutReply(Cut::First), Fault::CutReply(Cut::Half), Fault::CutReply(Cut::Last)]
            .into_iter()
            .enumerate()
    {
        for priority in [1024, 5] {
            let direct = server.queue(&format!("q{number}.{priority}"));
            let options = JobOptions { max_attempts: 3, ..priority_options(priority) };
            let names = ["a", "b", "c"];
            push_many(&direct, &names.map(|name| NewJob { options: options.clone(), ..job(name) }));
            let queue = proxy.queue(direct.name(), Duration::from_secs(10));
            proxy.fail(fault, 20);
            let jobs = reserve_many(&queue, 3);
            assert_eq!(proxy.heal(), 20);
            let got: Vec<_> = jobs.iter().map(|job| (job.id.to_string(), job.attempts)).collect();
            assert_eq!(got, names.map(|name| (name.to_owned(), 1)), "{fault:?}, priority {priority}");
            let stats = direct.stats().unwrap();
            assert_eq!((stats.timed_out, stats.reserved), (0, 3));
            audit::places(&mut server.raw(), &direct);
            ack_all(&direct, &jobs);
        }
    }
}

#[test]
fn a_page_of_a_list_is_bounded_in_bytes() {
    let server = Server::start(&[]);
    let direct = server.queue("q");
    let limit = Duration::from_millis(300);
    push_many(&direct, &(10..50).map(|n| large(&n.to_string(), 100_000)).collect::<Vec<_>>());
    let mut raw = server.raw();
    raw.run(&["CONFIG", "RESETSTAT"]);
    let jobs = server.hasty_queue("q", limit).list(State::Ready, 0, 100).unwrap();
    let ids: Vec<_> = jobs.iter().map(|job| job.id.to_string()).collect();
    assert_eq!(ids, (10..50).map(|n| n.to_string()).collect::<Vec<_>>());
    assert!(raw.calls("evalsha") + raw.calls("eval") >= 4000 / 300, "pages of about 300 KB");
}

/// None of the tries of an operation was answered. The next call of this consumer gives back what they have leased.
#[test]
fn a_batch_that_nobody_saw_is_given_back_by_the_next_call() {
    let (server, proxy) = Proxy::with_server();
    for fault in [Fault::Hold, Fault::DropReply, Fault::CutReply(Cut::Half)] {
        let direct = server.queue(&format!("{fault:?}").replace(['(', ')'], "."));
        push_many(&direct, &["a", "b", "c", "d"].map(|name| large(name, 1_000)));
        // Long enough for a busy machine to bring at least one of the tries to Redis.
        let queue = proxy.queue(direct.name(), Duration::from_millis(600));
        let mut unseen = 0;
        while unseen < 12 {
            proxy.fail(fault, u32::MAX);
            let found = queue.reserve(&[queue.name().to_owned()], 2, Some(Duration::ZERO), &mut NoInterrupts);
            match found {
                Err(Error::Connection { ambiguous: true, .. }) => unseen += 1,
                Err(Error::Connection { .. }) => {} // a busy machine: it did not even connect
                _ => panic!("{found:?}"),
            }
            proxy.heal();
        }
        assert_eq!(states(&direct), [0, 2, 2, 0], "{fault:?}: the last two that nobody saw");
        let jobs = reserve_many(&queue, 4);
        let got: Vec<_> = jobs.iter().map(|job| (job.id.to_string(), job.attempts)).collect();
        assert_eq!(got, ["a", "b", "c", "d"].map(|name| (name.to_owned(), 1)), "{fault:?}");
        assert_eq!(direct.stats().unwrap().timed_out, 0);
    }
}

/// It holds for a job that is reserved by its id, and for one that another worker has settled meanwhile.
#[test]
fn a_given_job_that_nobody_saw_goes_back_to_where_it_was() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_millis(300)));
    direct.push(&delayed("a", 3_600_000)).unwrap();
    direct.push(&delayed("b", 3_600_000)).unwrap();
    proxy.fail(Fault::Hold, u32::MAX);
    assert!(queue.reserve_job(&id("a")).is_err());
    proxy.heal();
    assert_eq!(states(&direct), [1, 0, 1, 0]);
    assert_eq!(queue.reserve_job(&id("b")).unwrap().map(|job| job.attempts), Some(1));
    let info = direct.peek(&id("a")).unwrap().unwrap();
    assert_eq!((info.state, info.attempts), (State::Delayed, 0));
    proxy.fail(Fault::Hold, u32::MAX);
    assert!(queue.reserve_job(&id("a")).is_err());
    proxy.heal();
    direct.cancel(&[id("a")]).unwrap();
    direct.push(&job("a")).unwrap();
    let other = std::thread::spawn(move || reserve(&direct).unwrap()).join().unwrap();
    assert_eq!(reserve(&queue), None, "what another consumer holds is left to it");
    ack_all(&queue, &[other]);
}

/// A worker may have queues of the same name at two servers: the lost answer of the one is not that of the other.
#[test]
fn a_lost_answer_belongs_to_its_server() {
    let (server, other) = (Server::start(&[]), Server::start(&[]));
    let proxy = Proxy::before(&server);
    let (direct, queue, elsewhere) =
        (server.queue("q"), proxy.queue("q", Duration::from_millis(300)), other.queue("q"));
    direct.push(&job("here")).unwrap();
    elsewhere.push(&job("there")).unwrap();
    proxy.fail(Fault::Hold, u32::MAX);
    assert!(queue.reserve(&["q".to_owned()], 1, Some(Duration::ZERO), &mut NoInterrupts).is_err());
    proxy.heal();
    assert_eq!(reserve(&elsewhere).map(|job| job.id), Some(id("there")));
    assert_eq!(reserve(&queue).map(|job| (job.id, job.attempts)), Some((id("here"), 1)));
}

/// The connection of a waiting worker is subscribed: Redis closes it when more than 32 MB of answers wait to be read.
#[test]
fn a_waiter_gets_large_jobs_within_the_output_limit_of_subscribed_connections() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let waiter = {
        let queue = server.queue("q");
        std::thread::spawn(move || {
            let mut got = 0;
            while got < 64 {
                let jobs =
                    queue.reserve(&["q".to_owned()], 64, Some(Duration::from_secs(10)), &mut NoInterrupts).unwrap();
                assert!(jobs.iter().all(|job| job.attempts == 1));
                ack_all(&queue, &jobs);
                got += jobs.len();
            }
        })
    };
    until("it waits", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 1);
    queue.pause(None, None).unwrap();
    push_large(&queue, 64, 1_000_000);
    queue.resume(None).unwrap();
    waiter.join().unwrap();
    let stats = raw.text(&["INFO", "stats"]);
    let closed = stats.lines().find_map(|line| line.strip_prefix("client_output_buffer_limit_disconnections:"));
    assert!(closed.is_none_or(|closed| closed.trim() == "0"), "{closed:?}");
}

#[test]
fn five_hundred_jobs_are_given_back_by_one_script() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    push_many(&queue, &(0..500).map(|n| job(&format!("{n:03}"))).collect::<Vec<_>>());
    let jobs = reserve_many(&queue, 500);
    assert_eq!(jobs.len(), 500);
    let before = raw.calls("evalsha") + raw.calls("eval");
    let started = Instant::now();
    queue.give_back(&receipts(&jobs)).unwrap();
    assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
    // The first time Redis is told the text of the script.
    assert!(raw.calls("evalsha") + raw.calls("eval") - before <= 2);
    let again = reserve_many(&queue, 500);
    assert!(again.iter().all(|job| job.attempts == 1));
    assert_eq!(again.iter().map(|job| &job.id).collect::<Vec<_>>(), jobs.iter().map(|job| &job.id).collect::<Vec<_>>());
}

#[test]
fn looking_at_and_cancelling_a_held_job_costs_the_same_among_a_hundred_thousand_leases() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let costs = [1_000, 100_000].map(|leases: usize| {
        let held = queue.count(Some(State::Reserved)).unwrap() as usize;
        let names: Vec<String> = (held..leases).map(|n| format!("{n:06}")).collect();
        for some in names.chunks(20_000) {
            push_many(&queue, &some.iter().map(|name| NewJob { payload: Vec::new(), ..job(name) }).collect::<Vec<_>>());
            while !reserve_many(&queue, 500).is_empty() {}
        }
        assert_eq!(queue.count(Some(State::Reserved)).unwrap() as usize, leases);
        let middle = id(&format!("{:06}", leases / 2));
        queue.peek(&id("nobody")).unwrap(); // Redis knows the scripts from here on
        queue.cancel(&[id("nobody")]).unwrap();
        let (found, peek) = cost(&mut raw, || queue.peek(&middle).unwrap().unwrap().state);
        assert_eq!(found, State::Reserved);
        let (cancelled, cancel) = cost(&mut raw, || queue.cancel(std::slice::from_ref(&middle)).unwrap());
        assert_eq!(cancelled, 1);
        queue.push(&NewJob { id: Some(middle), ..job("any") }).unwrap();
        assert!(reserve(&queue).is_some());
        (peek, cancel)
    });
    assert_eq!(costs[0], costs[1]);
    assert!(costs[1].0 <= 12 && costs[1].1 <= 34, "{costs:?}");
}

/// Many leases end together: each call takes back a part of them, and all come back.
#[test]
fn leases_that_end_together_are_taken_back_in_parts() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    push_many(&queue, &(0..2_000).map(|n| job(&format!("{n:04}"))).collect::<Vec<_>>());
    while !reserve_many(&queue, 500).is_empty() {}
    travel(60_001);
    let before = raw.calls("evalsha");
    assert_eq!(states(&queue), [0, 2_000, 0, 0]);
    assert!(raw.calls("evalsha") - before >= 20, "a hundred at a time");
    assert_eq!(queue.stats().unwrap().timed_out, 2_000);
}

#[test]
fn names_in_the_index_that_are_no_text_are_passed_over() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("zebra"), server.raw());
    queue.push(&job("a")).unwrap();
    server.queue("ape").push(&job("a")).unwrap();
    for n in 0..2_500_u32 {
        let name = [b"m\xff".as_slice(), n.to_string().as_bytes()].concat();
        raw.run_bytes(&[b"ZADD", keys::index("dq").as_bytes(), b"0", &name]);
    }
    let (names, calls) = {
        let before = raw.calls("zrange");
        let names = queue.queues().unwrap();
        (names, raw.calls("zrange") - before)
    };
    assert_eq!(names, ["ape", "zebra"]);
    assert_eq!(calls, 3, "a page of a thousand each");
}

/// HSCAN gives the records as well, each of which may be as large as a payload can be.
#[test]
fn a_repair_looks_at_a_few_records_at_a_time() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    push_large(&queue, 500, 100);
    raw.run(&["DEL", &key(&queue, "waiting")]);
    let before = raw.calls("hscan");
    queue.doctor(true).unwrap();
    assert!(raw.calls("hscan") - before >= 500 / 10, "about 5 a call");
    assert_eq!(states(&queue), [0, 0, 0, 500]);
}

/// A worker whose job was cancelled may have died: the script looks for one job that it still holds, and not at all of them.
#[test]
fn cancelling_jobs_of_many_workers_reads_few_leases() {
    const WORKERS: usize = 20;
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let mut cancelled = Vec::new();
    for _ in 0..WORKERS {
        push_many(&queue, &vec![NewJob { id: None, ..job("a") }; 50]);
        // Each thread is a consumer of its own.
        let held = std::thread::scope(|scope| scope.spawn(|| reserve_many(&queue, 50)).join().unwrap());
        assert_eq!(held.len(), 50);
        cancelled.extend(held.into_iter().take(2).map(|job| job.id));
    }
    let mut raw = server.raw();
    let before = raw.calls("hget");
    assert_eq!(queue.cancel(&cancelled), Ok(2 * WORKERS as u64));
    assert!(raw.calls("hget") - before <= 5 * WORKERS as u64, "{}", raw.calls("hget") - before);
}
