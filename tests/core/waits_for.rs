//! Why a job that waits is in no worker's hands, as a look at it tells.

use crate::support::*;
use delayqueue::core::groups::{Group, GroupLimits, Rate};
use delayqueue::core::job::{Due, NewJob, WaitReason, Waiting};
use delayqueue::core::queue::Queue;
use delayqueue::core::traits::Traits;

fn waiting(queue: &Queue, name: &str) -> Option<Waiting> {
    queue.peek(&id(name)).unwrap().unwrap().waiting
}

/// The reason, in how many minutes it may end, how many come before, and who holds it up.
fn told(queue: &Queue, name: &str) -> (WaitReason, Option<i64>, Option<u64>, Option<String>) {
    let Waiting { reason, until_us, ahead, held_up_by } = waiting(queue, name).unwrap();
    let now_us = queue.now_us().unwrap();
    let minutes = until_us.map(|until_us| (until_us - now_us + 30_000_000).div_euclid(60_000_000));
    (reason, minutes, ahead, held_up_by.map(|id| id.to_string()))
}

fn in_group(mut job: NewJob) -> NewJob {
    job.options.extras.traits = Traits::default().group("g").before(&[]);
    job
}

fn limit(queue: &Queue, group: Option<&Group>, concurrency: Option<u32>, rate: Option<&str>, ordered: bool) {
    let rate = rate.map(|text| Rate::parse(text).unwrap());
    let limits =
        GroupLimits { concurrency: concurrency.or(ordered.then_some(1)), rate, ordered, ..GroupLimits::default() };
    queue.limit_groups(group, Some(&limits)).unwrap();
}

#[test]
fn a_job_without_a_group_waits_for_its_time_the_queue_or_its_turn() {
    let queue = fresh();
    queue.push(&delayed("later", 3_600_000)).unwrap();
    assert_eq!(told(&queue, "later"), (WaitReason::Delay, Some(60), None, None));
    queue.push(&job("a")).unwrap();
    assert_eq!(told(&queue, "a"), (WaitReason::Nothing, None, Some(0), None));
    queue.push(&job("b")).unwrap();
    queue.push(&prioritized("first", 1)).unwrap();
    queue.push(&prioritized("last", 2000)).unwrap();
    let held = queue.reserve_job(&id("first")).unwrap().unwrap().held();
    assert_eq!(told(&queue, "b"), (WaitReason::Line, None, Some(1), None));
    assert_eq!(told(&queue, "last"), (WaitReason::Line, None, Some(2), None));
    assert_eq!(waiting(&queue, "first"), None, "it is held");
    queue.bury(&held, None).unwrap();
    assert_eq!(waiting(&queue, "first"), None, "it is buried");
    assert_eq!(queue.list(delayqueue::core::job::State::Ready, 0, 1).unwrap()[0].waiting, None, "a list does not tell");
    queue.pause(Some(600_000), None).unwrap();
    assert_eq!(told(&queue, "a"), (WaitReason::QueuePaused, Some(10), None, None));
    assert_eq!(told(&queue, "later").0, WaitReason::Delay);
    queue.pause(None, None).unwrap();
    assert_eq!(told(&queue, "a"), (WaitReason::QueuePaused, None, None, None));
    queue.resume(None).unwrap();
    queue.limit_queue(Some(&GroupLimits { concurrency: Some(1), ..GroupLimits::default() })).unwrap();
    let held = reserve(&queue).unwrap();
    assert_eq!(held.id.to_string(), "a");
    assert_eq!(told(&queue, "b"), (WaitReason::QueueLimit, None, Some(0), None));
    queue.ack(&held.held()).unwrap();
    let rate = Some(Rate::parse("1/10m").unwrap());
    queue.limit_queue(Some(&GroupLimits { rate, ..GroupLimits::default() })).unwrap();
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(0), None, true).unwrap();
    assert_eq!(told(&queue, "b"), (WaitReason::QueueLimit, Some(10), Some(0), None));
}

#[test]
fn a_job_of_a_group_waits_for_its_group() {
    let queue = fresh();
    let group = Group::new("g").unwrap();
    for name in ["a", "b", "c"] {
        queue.push(&in_group(job(name))).unwrap();
    }
    assert_eq!(told(&queue, "a"), (WaitReason::Nothing, None, Some(0), None));
    assert_eq!(told(&queue, "c"), (WaitReason::Line, None, Some(2), None));
    queue.pause(None, Some(&group)).unwrap();
    assert_eq!(told(&queue, "c"), (WaitReason::GroupPaused, None, Some(2), None));
    queue.resume(Some(&group)).unwrap();
    queue.rate_limit(600_000, Some(&group)).unwrap();
    assert_eq!(told(&queue, "a"), (WaitReason::GroupClosed, Some(10), Some(0), None));
    queue.resume(Some(&group)).unwrap();
    limit(&queue, Some(&group), Some(1), None, false);
    let held = reserve(&queue).unwrap().held();
    assert_eq!(told(&queue, "b"), (WaitReason::GroupConcurrency, None, Some(0), None));
    limit(&queue, Some(&group), None, None, true);
    assert_eq!(told(&queue, "b"), (WaitReason::GroupOrder, None, Some(0), Some("a".into())), "a runs");
    queue.release(&held, Due::InMs(600_000), None, true).unwrap();
    assert_eq!(told(&queue, "b"), (WaitReason::GroupOrder, Some(10), Some(1), Some("a".into())), "a comes back");
    assert_eq!(told(&queue, "a"), (WaitReason::Delay, Some(10), None, None));
    queue.cancel(&[id("a")]).unwrap();
    limit(&queue, None, None, Some("1/10m"), false);
    limit(&queue, Some(&group), None, Some("1/20m"), false);
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(0), None, true).unwrap();
    assert_eq!(told(&queue, "c").0, WaitReason::GroupRate);
    assert_eq!(told(&queue, "c").1, Some(20), "the limits of the group, not those of all others");
}

/// The time of Redis alone, the least of some: others may use the machine.
#[test]
fn a_look_at_a_job_behind_100_000_others_costs_a_millisecond_at_most() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let mut all: Vec<NewJob> = Vec::new();
    for n in 0..50_000 {
        all.push(job(&format!("plain {n:05}")));
        all.push(in_group(job(&format!("grouped {n:05}"))));
    }
    queue.push_many(&all, &mut Vec::new()).unwrap();
    let mut raw = server.raw();
    for name in ["plain 49999", "grouped 49999"] {
        let mut least_us = i64::MAX;
        for _ in 0..20 {
            raw.run(&["CONFIG", "RESETSTAT"]);
            assert!(told(&queue, name).2 >= Some(49_999));
            let stats = raw.text(&["INFO", "commandstats"]);
            let usec = stats.lines().find(|line| line.starts_with("cmdstat_evalsha:")).unwrap();
            let usec = usec.split("usec=").nth(1).unwrap().split(',').next().unwrap();
            least_us = least_us.min(usec.parse().unwrap());
        }
        assert!(least_us <= 1_000, "{name}: {least_us} µs");
    }
}
