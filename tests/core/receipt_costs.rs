//! The cost of jobs that arrive once, or whose ids stay taken: commands, time and memory.

use crate::new_jobs::{once, unique};
use crate::support::*;
use delayqueue::core::job::{NewJob, OnDuplicate};
use delayqueue::core::queue::OnceJob;
use std::time::Instant;

/// Commands of scripts among them.
fn commands(raw: &mut Raw) -> u64 {
    let stats = raw.text(&["INFO", "commandstats"]);
    let calls = stats.lines().filter(|line| !line.starts_with("cmdstat_info"));
    calls.filter_map(|line| line.split_once(":calls=")?.1.split(',').next()?.parse::<u64>().ok()).sum()
}

fn batch(from: usize) -> Vec<OnceJob> {
    (from..from + 500).map(|n| once(&format!("receipt-{n:08}"), delayed(&format!("job-{n:08}"), 3_600_000))).collect()
}

#[test]
fn five_hundred_jobs_that_arrive_once_are_one_short_script() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    for n in 0..20 {
        queue.push_once(&batch(n * 500)).unwrap();
    }
    for (jobs, most) in [(batch(20_000), 500 * 7 + 40), (batch(0), 500 + 40)] {
        let (before, started) = (commands(&mut raw), Instant::now());
        queue.push_once(&jobs).unwrap();
        let took = started.elapsed();
        let cost = commands(&mut raw) - before;
        println!("push_once of 500 jobs: {cost} commands, {took:?}");
        assert!(cost <= most, "{cost} commands");
    }
}

/// Bytes of the data set for one more of each.
fn bytes_each(raw: &mut Raw, many: u64, mut work: impl FnMut()) -> f64 {
    let used = |raw: &mut Raw| -> f64 {
        raw.run(&["MEMORY", "PURGE"]);
        let info = raw.text(&["INFO", "memory"]);
        info.lines().find_map(|line| line.strip_prefix("used_memory_dataset:")).unwrap().trim().parse().unwrap()
    };
    let before = used(raw);
    work();
    (used(raw) - before) / many as f64
}

#[test]
fn a_receipt_and_a_taken_id_take_little_memory() {
    const MANY: u64 = 20_000;
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let (queue, other) = (server.queue("q"), server.queue("other"));
    let receipts = bytes_each(&mut raw, MANY, || {
        for from in (0..MANY as usize).step_by(500) {
            let alone = batch(from).into_iter().map(|one| OnceJob { is_receipt_only: true, ..one });
            queue.push_once(&alone.collect::<Vec<_>>()).unwrap();
        }
    });
    let ids = bytes_each(&mut raw, MANY, || {
        for from in (0..MANY as usize).step_by(500) {
            let jobs = (from..from + 500).map(|n| unique(&format!("job-{n:08}"), 3_600_000, OnDuplicate::Fail));
            push_many(&other, &jobs.collect::<Vec<NewJob>>());
            other.purge(&[]).unwrap();
        }
    });
    println!("a receipt of 16 bytes takes {receipts:.0} bytes, a taken id of 12 bytes {ids:.0}");
    assert!(receipts < 170.0 && ids < 170.0, "{receipts} {ids}");
    assert_eq!((raw.int(&["EXISTS", &key(&queue, "jobs")]), other.count(None).unwrap()), (0, 0));
}
