//! Waiters of a queue with groups: who wakes them, when they look by themselves, and that they never run in circles.

use crate::groups::{group, of};
use crate::machine::stalls_since;
use crate::support::*;
use crate::worker_loop::{self, keeper};
use delayqueue::core::groups::{GroupLimits, Rate};
use delayqueue::core::job::{Due, NewJob, Reserved};
use delayqueue::core::queue::{Held, NoInterrupts, Queue};
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const NONE: GroupLimits = GroupLimits { concurrency: None, rate: None, burst: None, weight: 1, ordered: false };
const ONE: GroupLimits = GroupLimits { concurrency: Some(1), ..NONE };
/// Sooner than a waiter would look by itself.
const AT_ONCE: Duration = Duration::from_secs(2);

fn watch(queues: &[&Queue]) -> Vec<String> {
    queues.iter().map(|queue| queue.name().to_owned()).collect()
}

/// So many waiters, each of which tells the job that it gets, and when it did.
fn waiting(server: &Server, queues: &[&Queue], count: i64) -> Receiver<(Reserved, Instant)> {
    let (sender, receiver) = channel();
    for _ in 0..count {
        let (sender, first, watch) = (sender.clone(), queues[0].clone(), watch(queues));
        std::thread::spawn(move || {
            let jobs = first.reserve(&watch, 1, Some(Duration::from_secs(30)), &mut NoInterrupts).unwrap();
            jobs.into_iter().for_each(|job| drop(sender.send((job, Instant::now()))));
        });
    }
    let mut raw = server.raw();
    let last = queues.last().unwrap();
    until("they wait", || raw.int(&["ZCARD", &key(last, "waiters")]) == count);
    receiver
}

fn next(waiter: &Receiver<(Reserved, Instant)>) -> (String, Instant) {
    let (job, at) = waiter.recv_timeout(Duration::from_secs(20)).expect("a job");
    (job.id.to_string(), at)
}

fn scripts(raw: &mut Raw) -> u64 {
    raw.calls("evalsha") + raw.calls("eval")
}

type Step = fn(&Queue);

/// A queue in which one job of the group `g` is held and one waits that may not be served, and what lets it in.
const OPENED: [(&str, Step, Step); 8] = [
    (
        "ack",
        |queue| queue.limit_groups(Some(&group("g")), Some(&ONE)).unwrap(),
        |queue| {
            queue.cancel(&[id("held")]).unwrap();
        },
    ),
    (
        "resume",
        |queue| queue.pause(None, Some(&group("g"))).unwrap(),
        |queue| {
            queue.resume(Some(&group("g"))).unwrap();
        },
    ),
    (
        "a pause that gets shorter",
        |queue| queue.pause(None, Some(&group("g"))).unwrap(),
        |queue| {
            queue.pause(Some(50), Some(&group("g"))).unwrap();
        },
    ),
    (
        "limits that are forgotten",
        |queue| queue.limit_groups(Some(&group("g")), Some(&ONE)).unwrap(),
        |queue| {
            queue.limit_groups(Some(&group("g")), None).unwrap();
        },
    ),
    (
        "limits of all that are forgotten",
        |queue| queue.limit_groups(None, Some(&ONE)).unwrap(),
        |queue| {
            queue.limit_groups(None, None).unwrap();
        },
    ),
    (
        "a higher limit",
        |queue| queue.limit_groups(Some(&group("g")), Some(&ONE)).unwrap(),
        |queue| {
            queue.limit_groups(Some(&group("g")), Some(&GroupLimits { concurrency: Some(2), ..NONE })).unwrap();
        },
    ),
    (
        "a higher limit of the queue",
        |queue| queue.limit_queue(Some(&ONE)).unwrap(),
        |queue| {
            queue.limit_queue(Some(&GroupLimits { concurrency: Some(2), ..NONE })).unwrap();
        },
    ),
    (
        "the end of a queue's only job",
        |queue| queue.limit_queue(Some(&ONE)).unwrap(),
        |queue| {
            queue.cancel(&[id("held")]).unwrap();
        },
    ),
];

#[test]
fn whatever_lets_a_job_in_wakes_a_waiter() {
    let server = Server::start(&[]);
    for (at, (name, close, open)) in OPENED.into_iter().enumerate() {
        let queue = server.queue(&format!("q{at}"));
        close(&queue);
        push_many(&queue, &[of("g", "held"), of("g", "next")]);
        queue.reserve_job(&id("held")).unwrap().unwrap();
        let waiter = waiting(&server, &[&queue], 1);
        let opened = Instant::now();
        open(&queue);
        let (got, at) = next(&waiter);
        assert_eq!(got, "next", "{name}");
        assert!(at - opened < AT_ONCE + stalls_since(opened), "{name}: {:?}", at - opened);
    }
}

/// An acknowledgement, a failure, a release: of each group that has been full, one waiter gets the next job, and the others sleep on.
#[test]
fn a_job_that_ends_wakes_one_waiter_for_the_next_of_its_group() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    queue.limit_groups(None, Some(&ONE)).unwrap();
    push_many(&queue, &["1", "2", "3", "4"].map(|id| of("g", id)));
    let first = reserve(&queue).unwrap();
    let waiters = waiting(&server, &[&queue], 5);
    let ends: [fn(&Queue, &Held); 3] = [
        |queue, held| queue.ack(held).unwrap(),
        |queue, held| assert!(queue.fail(held, None).is_ok()),
        |queue, held| queue.release(held, Due::InMs(60_000), None, true).unwrap(),
    ];
    let mut held = first.held();
    for (at, end) in ends.into_iter().enumerate() {
        let (begun, before) = (Instant::now(), scripts(&mut raw));
        end(&queue, &held);
        let (got, got_at) = waiters.recv_timeout(Duration::from_secs(20)).expect("a job");
        assert_eq!(got.id.to_string(), (at + 2).to_string());
        assert!(got_at - begun < AT_ONCE + stalls_since(begun), "{:?}", got_at - begun);
        until("the others wait", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 4 - at as i64);
        // The end, the reserve of the one that was woken, and the texts of scripts that Redis did not know.
        assert!(scripts(&mut raw) - before <= 6, "{} scripts", scripts(&mut raw) - before);
        held = got.held();
    }
}

#[test]
fn a_waiter_sleeps_until_there_is_a_token() {
    let server = Server::start(&[]);
    for of_queue in [false, true] {
        let (queue, mut raw) = (server.queue(if of_queue { "limited" } else { "of groups" }), server.raw());
        let rate = GroupLimits { rate: Some(Rate { starts: 1, per_us: 300_000 }), ..NONE };
        let limited = if of_queue { queue.limit_queue(Some(&rate)) } else { queue.limit_groups(None, Some(&rate)) };
        limited.unwrap();
        push_many(&queue, &["1", "2", "3", "4", "5", "6"].map(|id| of("g", id)));
        let first = reserve(&queue).unwrap();
        let (begun, before) = (first.reserved_at_us, scripts(&mut raw));
        let mut starts = Vec::new();
        for _ in 0..5 {
            let jobs = queue.reserve(&watch(&[&queue]), 1, Some(Duration::from_secs(10)), &mut NoInterrupts).unwrap();
            starts.push(jobs[0].reserved_at_us - begun);
        }
        for (at, start) in starts.iter().enumerate() {
            let early_us = start - 300_000 * (at as i64 + 1);
            assert!(early_us >= 0, "{starts:?}: the rate was exceeded");
        }
        let late = starts.windows(2).map(|pair| pair[1] - pair[0] - 300_000).min().unwrap();
        assert!(late < 20_000, "{starts:?}: each waits for its token only");
        assert!(scripts(&mut raw) - before <= 5 * 4, "{} scripts for five jobs", scripts(&mut raw) - before);
    }
}

/// And a second one 200 ms later, as for any push, in case the first is busy.
#[test]
fn a_push_to_a_group_that_is_closed_wakes_one_waiter_once() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    queue.limit_groups(Some(&group("full")), Some(&ONE)).unwrap();
    queue.push(&of("full", "0")).unwrap();
    queue.pause(None, Some(&group("paused"))).unwrap();
    reserve(&queue).unwrap();
    let waiters = waiting(&server, &[&queue], 3);
    for name in ["full", "paused"] {
        queue.push(&of(name, &format!("{name} 1"))).unwrap();
        until("all wait again", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 3);
        let before = scripts(&mut raw);
        queue.push(&of(name, &format!("{name} 2"))).unwrap();
        until("one has looked", || scripts(&mut raw) >= before + 2);
        std::thread::sleep(Duration::from_millis(500));
        assert!(scripts(&mut raw) - before <= 3, "{name}: {} scripts", scripts(&mut raw) - before);
    }
    assert!(waiters.try_recv().is_err());
}

/// Nothing of the first queue may be served, the second has jobs now and then.
#[test]
fn a_waiter_of_several_queues_does_not_spin_on_one_that_is_blocked() {
    let blocks: [(&str, Step); 4] = [
        ("a full queue", |queue| queue.limit_queue(Some(&ONE)).unwrap()),
        ("full groups", |queue| queue.limit_groups(None, Some(&ONE)).unwrap()),
        ("a paused group", |queue| queue.pause(None, Some(&group("g"))).unwrap()),
        ("spent tokens", |queue| {
            let rate = Some(Rate { starts: 1, per_us: 3_600_000_000 });
            queue.limit_queue(Some(&GroupLimits { rate, ..NONE })).unwrap();
        }),
    ];
    let server = Server::start(&[]);
    for (name, block) in blocks {
        for is_first in [true, false] {
            let (blocked, open) = (server.queue(&format!("{name} {is_first}")), server.queue("open"));
            let mut raw = server.raw();
            block(&blocked);
            push_many(&blocked, &["held", "next", "last"].map(|id| of("g", id)));
            blocked.reserve_job(&id("held")).unwrap().unwrap();
            let queues = if is_first { [&blocked, &open] } else { [&open, &blocked] };
            let waiter = waiting(&server, &queues, 1);
            let before = scripts(&mut raw);
            std::thread::sleep(Duration::from_millis(700));
            assert!(scripts(&mut raw) - before <= 2, "{name}: {} scripts of idle time", scripts(&mut raw) - before);
            open.push(&job("a")).unwrap();
            let (got, _) = next(&waiter);
            assert_eq!(got, "a", "{name}");
            open.cancel(&[id("a")]).unwrap();
            open.purge(&[]).unwrap();
        }
    }
}

#[test]
fn jobs_that_may_not_be_served_are_not_ready() {
    for block in [
        (|queue| queue.limit_queue(Some(&ONE)).unwrap()) as Step,
        |queue| queue.limit_groups(None, Some(&ONE)).unwrap(),
        |queue| queue.pause(None, Some(&group("g"))).unwrap(),
    ] {
        let queue = fresh();
        block(&queue);
        push_many(&queue, &["held", "next"].map(|id| of("g", id)));
        queue.reserve_job(&id("held")).unwrap().unwrap();
        let ready = |ms| queue.wait(&watch(&[&queue]), Some(Duration::from_millis(ms)), &mut NoInterrupts).unwrap();
        assert!(!ready(0) && !ready(200));
        // As a loop that stops when the queue is empty.
        let mut feed = worker_loop::feed(&queue, 4, true);
        assert!(matches!(feed.next(Some(Duration::ZERO), &mut NoInterrupts), Ok(Fetched::Nothing)));
        queue.resume(Some(&group("g"))).unwrap();
        queue.cancel(&[id("held")]).unwrap();
        assert!(ready(0));
    }
}

/// The first job is done, and its handler's next one takes long: the next job of the group must not wait for that.
#[test]
fn the_next_of_a_group_does_not_wait_for_a_loop_that_is_busy() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    queue.limit_groups(Some(&group("g")), Some(&ONE)).unwrap();
    let mut took = Vec::new();
    for _ in 0..10 {
        push_many(&queue, &[of("g", "1"), job("other"), of("g", "2")]);
        let mut feed = Feed::new(vec![queue.clone()], 2, keeper());
        let first = worker_loop::next(&mut feed);
        assert_eq!(first.job.id, id("1"));
        let waiter = waiting(&server, &[&queue], 1);
        let ended = Instant::now();
        feed.done(&first.ticket);
        let busy = worker_loop::next(&mut feed);
        assert_eq!(busy.job.id, id("other"));
        let (got, at) = next(&waiter);
        assert_eq!(got, "2");
        took.push((at - ended).saturating_sub(stalls_since(ended)));
        feed.done(&busy.ticket);
        feed.flush().unwrap();
        queue.purge(&[]).unwrap();
    }
    assert!(took.iter().min().unwrap() < &Duration::from_millis(20), "{took:?}");
}

/// The loop fetches again at once: the acknowledgement goes along with that.
#[test]
fn jobs_of_groups_need_no_round_trips_of_their_own() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let mut feed = Feed::new(vec![queue.clone()], 1, keeper());
    push_many(&queue, &(0..2_000).map(|n| of("g", &format!("{n:04}"))).collect::<Vec<NewJob>>());
    let delivery = worker_loop::next(&mut feed);
    feed.done(&delivery.ticket);
    until("ten jobs are handled in ten trips", || {
        let before = raw.calls("evalsha");
        for _ in 0..10 {
            let delivery = worker_loop::next(&mut feed);
            feed.done(&delivery.ticket);
        }
        raw.calls("evalsha") - before == 10
    });
}
