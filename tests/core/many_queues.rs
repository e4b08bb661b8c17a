//! One worker on many queues, or on many partitions of one: how few scripts it runs, and that no job waits for it because of that.

use crate::machine::stalls_since;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::worker_loop::keeper;
use delayqueue::core::job::{JobOptions, NewJob};
use delayqueue::core::keys::Keys;
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{NoInterrupts, Queue};
use delayqueue::core::scripts;
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

fn named(server: &Server, count: usize) -> Vec<Queue> {
    (0..count).map(|number| server.queue(&format!("q{number}"))).collect()
}

fn partitions(server: &Server, count: u16) -> Vec<Queue> {
    Partitions::new(&server.queue("q"), count).of_all(&["q".to_owned()])
}

/// A loop as that of `consume()`, until it gets the job `end`.
fn worker(queues: &[Queue]) -> JoinHandle<Vec<String>> {
    let queues = queues.to_vec();
    std::thread::spawn(move || {
        let (mut feed, mut ids) = (Feed::new(queues, 1, keeper()), Vec::new());
        while ids.last().is_none_or(|id| id != "end") {
            if let Fetched::Job(delivery) = feed.next(None, &mut NoInterrupts).unwrap() {
                ids.push(delivery.job.id.to_string());
                feed.done(&delivery.ticket);
            }
        }
        feed.flush().unwrap();
        ids
    })
}

/// How many entries of waiters there are in all queues, and how many jobs.
fn waiters_and_jobs(raw: &mut Raw) -> (i64, i64) {
    let mut sum = |command: &str, name: &str| {
        let sum = "local n = 0 for _, key in ipairs(redis.call('KEYS', ARGV[2])) do n = n + redis.call(ARGV[1], key) end return n";
        raw.int(&["EVAL", sum, "0", command, &format!("dq:*:{name}")])
    };
    (sum("ZCARD", "waiters"), sum("HLEN", "jobs"))
}

/// Script calls of one job, pushes included, if the jobs come one at a time, each to another queue.
fn scripts_per_job(server: &Server, queues: &[Queue], pending: u64, delay_ms: u64) -> f64 {
    const JOBS: usize = 40;
    let mut raw = server.raw();
    for queue in queues.iter().filter(|_| pending > 0) {
        queue.push(&delayed("pending", pending)).unwrap();
    }
    let left = if pending > 0 { queues.len() as i64 } else { 0 };
    let worker = worker(queues);
    let waits = |raw: &mut Raw| {
        until("it waits", || waiters_and_jobs(raw) == (queues.len() as i64, left));
    };
    waits(&mut raw);
    let before = raw.calls("evalsha");
    for number in 0..JOBS {
        queues[number * 7 % queues.len()].push(&delayed(&format!("{number}"), delay_ms)).unwrap();
        waits(&mut raw);
    }
    let scripts = raw.calls("evalsha") - before;
    queues[0].push(&job("end")).unwrap();
    let ids = worker.join().unwrap();
    assert_eq!(ids.len(), JOBS + 1);
    scripts as f64 / JOBS as f64
}

#[test]
fn a_sparse_queue_of_eight_partitions_costs_at_most_eight_scripts_a_job() {
    for (pending, delay_ms) in [(0, 0), (0, 20), (900_000, 0), (4_000_000, 20)] {
        let server = Server::start(&[]);
        let per_job = scripts_per_job(&server, &partitions(&server, 8), pending, delay_ms);
        println!("8 partitions, jobs due in {pending} ms, delay {delay_ms} ms: {per_job} scripts a job");
        assert!(per_job <= 8.0, "{per_job} scripts a job, others are due in {pending} ms, delay {delay_ms} ms");
    }
}

#[test]
fn a_worker_of_fifty_queues_costs_at_most_ten_scripts_a_job() {
    for delay_ms in [0, 20] {
        let server = Server::start(&[]);
        let per_job = scripts_per_job(&server, &named(&server, 50), 0, delay_ms);
        println!("50 queues, delay {delay_ms} ms: {per_job} scripts a job");
        assert!(per_job <= 10.0, "{per_job} scripts a job, delay {delay_ms} ms");
    }
}

/// All partitions have a job that is due within the horizon, so the only waiter has to look at each of them.
#[test]
fn a_partition_whose_next_job_is_due_soon_costs_no_script_to_wait_for() {
    let server = Server::start(&[]);
    let queues = partitions(&server, 8);
    let per_job = scripts_per_job(&server, &queues, 5_500, 0);
    println!("8 partitions with jobs that are due soon: {per_job} scripts a job");
    assert!(per_job <= 8.0, "{per_job} scripts a job");
}

/// Waits on the queues, and tells each job that it gets. It keeps each for ever: one that has a job is busy.
fn busy_with_the_first(queues: &[Queue], jobs: &mpsc::Sender<(String, i64)>) {
    let (queues, jobs) = (queues.to_vec(), jobs.clone());
    let watch: Vec<String> = queues.iter().map(|queue| queue.name().to_owned()).collect();
    std::thread::spawn(move || {
        let got = queues[0].reserve(&watch, 1, Some(Duration::from_secs(30)), &mut NoInterrupts).unwrap();
        got.into_iter().for_each(|job| drop(jobs.send((job.id.to_string(), job.reserved_at_us - job.due_at_us))));
    });
}

/// How late the jobs are that `push` makes, in their order, while as many workers wait on three queues.
fn late_us(push: &dyn Fn(&[Queue])) -> Vec<(String, i64)> {
    let server = Server::start(&[]);
    let (queues, mut raw) = (named(&server, 3), server.raw());
    let (sender, receiver) = mpsc::channel();
    for count in [3, 6] {
        busy_with_the_first(&queues, &sender);
        until("all wait", || waiters_and_jobs(&mut raw).0 == count);
    }
    push(&queues);
    (0..2).map(|_| receiver.recv_timeout(Duration::from_secs(20)).unwrap()).collect()
}

/// A pair of jobs, one for each worker.
type Pair = (&'static str, fn(&[Queue]));

#[test]
fn a_worker_that_gets_a_job_leaves_those_of_its_other_queues_to_others() {
    let pairs: [Pair; 4] = [
        ("both ready", |queues| {
            queues[0].push(&job("a")).unwrap();
            queues[1].push(&job("b")).unwrap();
        }),
        ("one ready, the other soon", |queues| {
            queues[1].push(&delayed("b", 400)).unwrap();
            queues[0].push(&job("a")).unwrap();
        }),
        ("both soon", |queues| {
            queues[2].push(&delayed("b", 400)).unwrap();
            queues[0].push(&delayed("a", 390)).unwrap();
        }),
        ("one ready, the other beyond the horizon", |queues| {
            queues[2].push(&delayed("b", 7_000)).unwrap();
            queues[1].push(&job("a")).unwrap();
        }),
    ];
    for (what, push) in pairs {
        let began = Instant::now();
        let late = late_us(&push);
        // By itself a waiter checks after four seconds at the earliest.
        let limit = 1_500_000 + i64::try_from(stalls_since(began).as_micros()).unwrap();
        assert!(late.iter().all(|(_, late_us)| (0..limit).contains(late_us)), "{what}: {late:?}");
    }
}

#[test]
fn queues_that_have_jobs_at_once_are_served_in_their_order() {
    let server = Server::start(&[]);
    let (queues, mut raw) = (named(&server, 5), server.raw());
    for queue in &queues {
        queue.push(&job(queue.name())).unwrap();
    }
    let worker = worker(&queues);
    until("all are served", || waiters_and_jobs(&mut raw) == (5, 0));
    queues[4].push(&job("end")).unwrap();
    let ids = worker.join().unwrap();
    assert_eq!(ids, ["q0", "q1", "q2", "q3", "q4", "end"]);
}

/// The answer with a job is lost, and the operation ends with that. The next one has to give the job back, though a look finds
/// nothing that is ready.
#[test]
fn a_reserve_whose_answer_was_lost_is_repeated_in_each_queue() {
    let (server, proxy) = Proxy::with_server();
    let watch = ["a", "b", "c"].map(str::to_owned);
    let queue = proxy.queue("a", Duration::from_millis(300));
    let look = |queue: &Queue| queue.reserve(&watch, 1, Some(Duration::ZERO), &mut NoInterrupts);
    assert_eq!(look(&queue).unwrap(), []);
    let options = JobOptions { ttr_ms: 600_000, ..JobOptions::default() };
    server.queue("b").push(&NewJob { options, ..job("x") }).unwrap();
    proxy.fail_twice(Fault::Delay(Duration::ZERO), Fault::Hold); // the second script is that of queue b
    assert!(look(&queue).is_err());
    assert_eq!((proxy.heal(), states(&server.queue("b"))), (2, [0, 0, 1, 0]));
    let got = look(&queue).unwrap();
    assert_eq!(got.iter().map(|job| job.id.to_string()).collect::<Vec<_>>(), ["x"]);
}

#[test]
fn a_worker_that_gets_a_job_is_registered_nowhere() {
    let server = Server::start(&[]);
    let (queues, mut raw) = (named(&server, 4), server.raw());
    let (sender, receiver) = mpsc::channel();
    busy_with_the_first(&queues, &sender);
    until("it waits", || waiters_and_jobs(&mut raw).0 == 4);
    queues[2].push(&job("a")).unwrap();
    assert_eq!(receiver.recv().unwrap().0, "a");
    assert_eq!(waiters_and_jobs(&mut raw).0, 0);
}

/// A client that could not take itself off before leaves it to the script.
#[test]
fn leaving_takes_the_waiter_off() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    raw.run(&["ZADD", "dq:{q}:waiters", "1", "me", "2", "other"]);
    let (leave, _) = scripts::all().into_iter().find(|(script, _)| script.name == "leave").unwrap();
    let keys = Keys::new("dq", "q", 0);
    let keys = keys.all().map(|key| std::str::from_utf8(key).unwrap());
    let count = keys.len().to_string();
    raw.run(&[&["EVAL", &leave.source, &count][..], &keys, &["0", "me"]].concat());
    assert_eq!(raw.int(&["ZCARD", "dq:{q}:waiters"]), 1);
}

/// Wake-ups of one queue, as of one that others serve, do not put off the check of the other.
#[test]
fn a_waiter_that_is_woken_again_and_again_for_nothing_checks_all_its_queues() {
    let server = Server::start(&[]);
    let queues = named(&server, 2);
    let mut raw = server.raw();
    let worker = worker(&queues);
    until("it waits", || waiters_and_jobs(&mut raw) == (2, 0));
    let waiter = raw.text(&["EVAL", "return redis.call('ZRANGE', ARGV[1], 0, 0)[1]", "0", &key(&queues[0], "waiters")]);
    // The wake-up of this push is lost.
    raw.run(&["DEL", &key(&queues[1], "waiters")]);
    queues[1].push(&job("end")).unwrap();
    let pushed = Instant::now();
    while !worker.is_finished() {
        assert!(pushed.elapsed() < Duration::from_secs(15) + stalls_since(pushed), "nobody looks");
        raw.run(&["PUBLISH", &format!("{}:{waiter}", key(&queues[0], "waiters")), "0"]);
        std::thread::sleep(Duration::from_millis(200));
    }
    worker.join().unwrap();
}
