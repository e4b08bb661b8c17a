//! Pages of jobs behind the place of a job, and looks with plain commands.

use crate::groups::of;
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::error::Error;
use delayqueue::core::groups::Group;
use delayqueue::core::job::{Due, JobInfo, NewJob, Place, State};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::Queue;
use std::collections::BTreeSet;

const MANY: usize = 5_000;
/// In microseconds, far in the future and in the past.
const LATER: i64 = 4_000_000_000_000_000;
const BEFORE: i64 = 1_700_000_000_000_000;

fn at(due_us: i64, name: &str, priority: u32) -> NewJob {
    NewJob { due: Due::AtUs(due_us), payload: Vec::new(), ..prioritized(name, priority) }
}

fn ids(jobs: &[JobInfo]) -> Vec<String> {
    jobs.iter().map(|job| job.id.to_string()).collect()
}

/// Jobs of one moment in this state, some of them with other priorities.
fn fill(queue: &Queue, state: State) {
    let due_us = if state == State::Delayed { LATER } else { BEFORE };
    let jobs: Vec<NewJob> =
        (0..MANY).map(|n| at(due_us, &format!("job-{n:04}"), [1024, 1024, 5, 2000, 7][n % 5])).collect();
    push_many(queue, &jobs);
    if matches!(state, State::Reserved | State::Buried) {
        while !reserve_many(queue, 500).is_empty() {}
    }
    if state == State::Buried {
        let mut raw = shared().raw();
        raw.run(&["ZUNIONSTORE", &key(queue, "buried"), "1", &key(queue, "reserved"), "WEIGHTS", "0"]);
        raw.run(&["DEL", &key(queue, "reserved"), &key(queue, "leases")]);
    }
}

/// Reads all pages while jobs leave and come between two of them, among them the one whose place is asked for.
fn pages_show_what_stays_once(state: State) {
    let queue = fresh();
    fill(&queue, state);
    let all = ids(&queue.list(state, 0, 10_000).unwrap());
    assert_eq!(all.len(), MANY, "{state:?}");
    let (mut seen, mut left, mut after): (Vec<String>, BTreeSet<String>, Option<Place>) = Default::default();
    for page in 0.. {
        let jobs = queue.list_from(state, after.as_ref(), 0, 170).unwrap();
        let Some(last) = jobs.last() else { break };
        assert!(page < 100, "the pages of {state:?} jobs do not end");
        after = Some(last.place());
        seen.extend(ids(&jobs));
        // Every second time the place of a job that is gone; some of those to come, and one of those that were shown.
        let next = seen.len();
        let mut leave: Vec<&String> = all.iter().skip(next + 3).take(20).step_by(2).chain(all.get(next / 2)).collect();
        if page % 2 == 0 {
            leave.extend(all.get(next.max(1) - 1).filter(|name| seen.contains(name)));
            leave.extend(seen.last());
        }
        left.extend(leave.iter().map(|name| (*name).clone()));
        queue.cancel(&leave.iter().map(|name| id(name)).collect::<Vec<_>>()).unwrap();
        if matches!(state, State::Delayed | State::Ready) {
            let due_us = if state == State::Delayed { LATER } else { BEFORE };
            push_many(&queue, &[at(due_us, &format!("a{page}"), 1), at(due_us - 1_000_000, &format!("b{page}"), 1024)]);
        }
    }
    let stayed: Vec<&String> = all.iter().filter(|name| !left.contains(*name)).collect();
    let shown: Vec<&String> = seen.iter().filter(|name| name.starts_with("job-") && !left.contains(*name)).collect();
    assert!(shown == stayed, "{state:?}: {} and not {}, each once, in the order", shown.len(), stayed.len());
    queue.purge(&[]).unwrap();
}

#[test]
fn pages_of_every_state_show_what_stays_once() {
    std::thread::scope(|scope| {
        for state in State::ALL {
            scope.spawn(move || pages_show_what_stays_once(state));
        }
    });
}

/// Bytes, not letters: Redis compares ids so, whatever its locale.
#[test]
fn the_place_of_a_gone_job_is_found_by_the_bytes_of_its_id() {
    let queue = fresh();
    let names = ["10", "9", "B", "a", "ab", "abc", "b", "\u{e4}", "\u{20ac}"];
    push_many(&queue, &names.map(|name| at(LATER, name, 1024)));
    for (n, name) in names.iter().enumerate() {
        let place = queue.peek(&id(name)).unwrap().unwrap().place();
        queue.cancel(&[id(name)]).unwrap();
        assert_eq!(ids(&queue.list_from(State::Delayed, Some(&place), 0, 20).unwrap()), names[n + 1..], "{name}");
        assert_eq!(
            ids(&queue.list_from(State::Delayed, Some(&place), 2, 1).unwrap()),
            names[(n + 3).min(9)..(n + 4).min(9)]
        );
        queue.push(&at(LATER, name, 1024)).unwrap();
    }
}

#[test]
fn the_place_of_a_job_that_is_not_due_any_more_hides_no_less_urgent_job() {
    let queue = fresh();
    push_many(&queue, &[at(BEFORE, "default", 1024), at(BEFORE, "less urgent", 2000)]);
    push_many(&queue, &["x", "y", "z"].map(|name| delayed(name, 60_000)));
    travel(61_000);
    let ready = queue.list(State::Ready, 0, 10).unwrap();
    assert_eq!(ids(&ready), ["default", "x", "y", "z", "less urgent"]);
    travel(-61_000);
    assert_eq!(ids(&queue.list_from(State::Ready, Some(&ready[3].place()), 0, 10).unwrap()), ["less urgent"]);
}

#[test]
fn the_place_of_an_urgent_job_that_is_not_due_any_more_hides_no_other() {
    let queue = fresh();
    let urgent = NewJob { options: priority_options(5), ..delayed("urgent", 60_000) };
    push_many(&queue, &[at(BEFORE, "default", 1024), at(BEFORE, "less urgent", 2000), urgent]);
    travel(61_000);
    let ready = queue.list(State::Ready, 0, 10).unwrap();
    assert_eq!(ids(&ready), ["urgent", "default", "less urgent"]);
    travel(-61_000);
    assert_eq!(ids(&queue.list(State::Ready, 0, 10).unwrap()), ["default", "less urgent"]);
    assert_eq!(
        ids(&queue.list_from(State::Ready, Some(&ready[0].place()), 0, 10).unwrap()),
        ["default", "less urgent"]
    );
}

/// Another program has written such times.
#[test]
fn pages_end_where_times_are_no_whole_microseconds() {
    let queue = fresh();
    let names: Vec<String> = (0..9).map(|n| format!("n{n}")).collect();
    push_many(&queue, &names.iter().map(|name| at(BEFORE, name, 1024)).collect::<Vec<_>>());
    let mut raw = shared().raw();
    for (n, name) in names.iter().enumerate() {
        raw.run(&["ZADD", &key(&queue, "waiting"), &format!("1000000.{n}"), name]);
    }
    assert_eq!(pages_of_one(&queue, State::Ready), names);
}

/// They are served first, to be buried: before the default priority, which is what can be told of them.
#[test]
fn pages_go_through_ready_jobs_whose_records_are_damaged() {
    let queue = fresh();
    push_many(&queue, &[at(BEFORE, "a", 1), at(BEFORE, "b", 9), at(BEFORE, "c", 9), at(BEFORE, "d", 1024)]);
    let mut raw = shared().raw();
    raw.run(&["HSET", &key(&queue, "jobs"), "b", "?", "c", "?"]);
    assert_eq!(pages_of_one(&queue, State::Ready), ["b", "c", "a", "d"]);
}

/// Ids of all jobs, each from a page of its own.
fn pages_of_one(queue: &Queue, state: State) -> Vec<String> {
    let (mut seen, mut after) = (Vec::new(), None);
    while let Some(job) = queue.list_from(state, after.as_ref(), 0, 1).unwrap().pop() {
        seen.push(job.id.to_string());
        assert!(seen.len() < 20, "{seen:?}");
        after = Some(job.place());
    }
    seen
}

#[test]
fn where_redis_refuses_writes_pages_go_through_jobs_that_are_not_promoted() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let due_us = queue.now_us().unwrap() + 500_000;
    push_many(&queue, &[at(due_us - 499_000, "first", 2000), at(due_us, "x", 1024)]);
    push_many(&queue, &(0..7).map(|n| at(due_us, &format!("n{n}"), 9 - n)).collect::<Vec<_>>());
    until("the first is due", || queue.now_us().unwrap() > due_us - 499_000);
    queue.list(State::Ready, 0, 1).unwrap(); // promotes the first
    raw.run(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    until("all are due", || queue.now_us().unwrap() > due_us);
    let all = ids(&queue.list(State::Ready, 0, 100).unwrap());
    assert_eq!(all.len(), 9);
    assert_eq!(pages_of_one(&queue, State::Ready), all);
}

#[test]
fn a_page_behind_a_hundred_thousand_jobs_of_one_moment_costs_a_few_commands() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    push_many(&queue, &[at(LATER, "y", 1024), at(LATER, "z", 1024)]);
    let place = queue.peek(&id("y")).unwrap().unwrap().place();
    queue.cancel(&[id("y")]).unwrap();
    for first in (0..100_000).step_by(10_000) {
        let mut command = vec!["ZADD".to_owned(), key(&queue, "waiting")];
        command.extend((first..first + 10_000).flat_map(|n| [LATER.to_string(), format!("n{n:06}")]));
        raw.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }
    raw.run(&["CONFIG", "RESETSTAT"]);
    assert_eq!(ids(&queue.list_from(State::Delayed, Some(&place), 0, 100).unwrap()), ["z"]);
    let calls = ["zcount", "zrange", "zscore", "zrank", "zcard", "hget"].map(|command| raw.calls(command));
    assert!(calls.iter().sum::<u64>() < 45, "{calls:?}");
}

/// A job that was pushed when there were fewer partitions lies in another one than a push of today would choose.
#[test]
fn pages_of_partitions_go_on_in_the_partition_of_the_job_also_after_a_raise() {
    let server = Server::start(&[]);
    let jobs: Vec<NewJob> = (0..60).map(|n| at(LATER, &format!("order-{n}"), 1024)).collect();
    for (count, range) in [(1, 0..20), (2, 20..40), (4, 40..60)] {
        Partitions::new(&server.queue("q"), count).push_many(jobs[range].to_vec(), &mut Vec::new()).unwrap();
    }
    let partitions = Partitions::new(&server.queue("q"), 4);
    let all = ids(&partitions.list_from(State::Delayed, None, 0, 100).unwrap());
    assert_eq!(all.len(), 60);
    for is_gone in [false, true] {
        let (mut seen, mut after) = (Vec::new(), None);
        while let Some(job) = partitions.list_from(State::Delayed, after.as_ref(), 0, 1).unwrap().pop() {
            let at = seen.len();
            let page = partitions.list_from(State::Delayed, after.as_ref(), 5, 9).unwrap();
            assert_eq!(
                ids(&page),
                all[(at + 5).min(60)..(at + 14).min(60)],
                "an offset counts over the ends of partitions"
            );
            seen.push(job.id.to_string());
            after = Some(job.place());
            if is_gone {
                partitions.cancel(&[job.id]).unwrap();
            }
        }
        assert_eq!(seen, all, "gone: {is_gone}");
    }
}

#[test]
fn waiting_jobs_are_counted_that_are_due_before_a_moment() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let jobs =
        [at(BEFORE, "a", 1024), at(BEFORE, "b", 1), at(LATER, "c", 1024), at(LATER + 1, "d", 9), at(LATER, "e", 9)];
    push_many(&queue, &jobs);
    push_many(&queue, &[at(BEFORE - 5, "held", 0), at(BEFORE - 5, "buried", 0)]);
    queue.reserve_job(&id("held")).unwrap().unwrap();
    queue.bury(&queue.reserve_job(&id("buried")).unwrap().unwrap().held(), None).unwrap();
    let moments = [LATER, BEFORE, BEFORE + 1, LATER + 1, LATER + 2, i64::MIN, i64::MAX];
    let counts = [2, 0, 2, 4, 5, 0, 5];
    let mut raw = server.raw();
    raw.run(&["CONFIG", "RESETSTAT"]);
    assert_eq!(queue.count_due(&moments).unwrap(), counts);
    assert_eq!((raw.calls("zcount"), raw.calls("evalsha")), (21, 0));
    assert_eq!(queue.count_due(&[]).unwrap(), [0; 0]);
    let partitions = Partitions::new(&queue, 3);
    partitions.push_many((0..30).map(|n| at(LATER, &format!("n{n}"), 1024)).collect(), &mut Vec::new()).unwrap();
    assert_eq!(partitions.count_due(&[LATER, LATER + 1]).unwrap(), [2, 34]);
    assert_eq!(partitions.count_due(&[]).unwrap(), [0; 0]);
    raw.run(&["SET", &key(&queue, "prioritized"), "x"]);
    let error = queue.count_due(&[LATER]).unwrap_err();
    assert!(matches!(&error, Error::Server { code, .. } if code == "WRONGTYPE"), "{error:?}");
    assert!(error.to_string().contains("looking at queue 'q'"), "{error}");
}

#[test]
fn now_is_the_time_of_redis_as_tests_have_moved_it() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    clock.stand_still_at(LATER);
    assert_eq!(server.queue("q").now_us().unwrap(), LATER);
    clock::set_offset_ms(-1_500);
    assert_eq!(Partitions::new(&server.queue("q"), 2).first().now_us().unwrap(), LATER - 1_500_000);
}

#[test]
fn an_offset_or_a_limit_may_be_as_large_as_a_number() {
    let first = fresh();
    for parts in [1, 3] {
        let queue = Partitions::new(&first, parts);
        for number in 0..6 {
            queue.push(delayed(&format!("{parts} {number}"), 3_600_000)).unwrap();
            queue.push(prioritized(&format!("{parts} ready {number}"), [5, 1024][number % 2])).unwrap();
        }
        let group = Group::new("g").unwrap();
        queue.push(of("g", &format!("{parts} of a group"))).unwrap();
        for state in State::ALL {
            let all = queue.list_from(state, None, 0, u64::MAX).unwrap();
            assert_eq!(all.len() as u64, queue.count(Some(state)).unwrap());
            let last = all.last().map(JobInfo::place);
            for (offset, limit) in [(u64::MAX, 1), (i64::MAX as u64, 1), (u64::MAX, u64::MAX), (1 << 53, 200)] {
                assert_eq!(queue.list_from(state, None, offset, limit).unwrap(), []);
                assert_eq!(queue.list_from(state, last.as_ref(), offset, limit).unwrap(), []);
                let of_group = if state == State::Buried {
                    Ok(Vec::new())
                } else {
                    queue.list_group(&group, state, offset, limit)
                };
                assert_eq!(of_group.unwrap(), []);
            }
        }
        assert_eq!(queue.groups(u64::MAX, b"").unwrap(), [b"g".to_vec()]);
        assert_eq!(queue.receipts(u64::MAX, b"", usize::MAX).unwrap(), Vec::<Vec<u8>>::new());
        assert_eq!(queue.kick(u64::MAX, true).unwrap(), 0);
    }
}
