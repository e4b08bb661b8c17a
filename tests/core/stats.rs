//! Lateness, wait and run times: of the last hour, and since the queue was made.

use crate::server_clock::Clock;
use crate::support::*;
use delayqueue::core::clock::Moment;
use delayqueue::core::job::{Due, NewJob, OnDuplicate, Reserved};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{Held, NoInterrupts, Queue, RunOutcome, Snapshot, Stats, reserve_from};
use std::cell::Cell;
use std::time::Duration;

const MINUTE_MS: u64 = 60_000;

const START_US: i64 = 1_800_000_000_000_000;

/// The clock of a server, which moves only when it is told.
struct Standing {
    clock: Clock,
    now_us: Cell<i64>,
}

impl Standing {
    fn set(&self, now_us: i64) {
        self.now_us.set(now_us);
        self.clock.stand_still_at(now_us);
    }

    fn advance(&self, ms: u64) {
        self.set(self.now_us.get() + i64::try_from(ms).unwrap() * 1000);
    }
}

fn standing_still(name: &str) -> (Server, Queue, Standing) {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let queue = server.queue(name);
    let clock = Standing { clock, now_us: Cell::new(0) };
    clock.set(START_US);
    (server, queue, clock)
}

/// A reserve over a new connection, as of a consumer that has just started: it always asks for a snapshot.
fn consume(queue: &Queue, id: &str) {
    queue.push(&job(id)).unwrap();
    let job = reserve_anew(queue);
    queue.ack(&job.held()).unwrap();
}

fn reserve_anew(queue: &Queue) -> Reserved {
    queue.close();
    reserve(queue).unwrap()
}

fn snapshots(server: &Server, queue: &Queue) -> Vec<i64> {
    let redis::Value::Map(meta) = server.raw().run(&["HGETALL", &key(queue, "meta")]) else { panic!() };
    let names = meta.into_iter().filter_map(|(name, _)| delayqueue::core::reply::text(name));
    names.filter_map(|name| name.strip_prefix("snapshot")?.parse().ok()).collect()
}

#[test]
fn the_last_hour_forgets_a_bad_minute() {
    let (server, queue, clock) = standing_still("hour");
    queue.push(&job("late")).unwrap();
    clock.advance(10 * MINUTE_MS);
    queue.ack(&reserve_anew(&queue).held()).unwrap();
    let late =
        |stats: &Stats| [&stats.hour, &stats.ever].map(|counters| counters.lateness().quantiles().p99_ms > 60_000.0);
    let acked = |stats: &Stats| [stats.hour.count("acked"), stats.ever.count("acked")];
    for beat in 1..=11 {
        clock.advance(5 * MINUTE_MS);
        consume(&queue, &format!("prompt{beat}"));
        let stats = queue.stats().unwrap();
        assert_eq!((late(&stats), acked(&stats)), ([true, true], [beat + 1, beat + 1]), "55 minutes are no hour");
    }
    // The first snapshot was taken five minutes after the late job.
    for beat in 12..=40 {
        clock.advance(5 * MINUTE_MS);
        consume(&queue, &format!("prompt{beat}"));
        let stats = queue.stats().unwrap();
        if beat > 13 {
            assert_eq!((late(&stats), acked(&stats)), ([false, true], [13, beat + 1]), "{beat}");
        }
        assert!(snapshots(&server, &queue).len() <= 14, "{:?}", snapshots(&server, &queue));
    }
}

#[test]
fn one_snapshot_in_five_minutes_is_enough() {
    let (server, queue, clock) = standing_still("often");
    for (n, ms) in [0, 1_000, 5 * MINUTE_MS - 1_001, 1_001, 1].into_iter().enumerate() {
        clock.advance(ms);
        consume(&queue, &format!("job{n}"));
    }
    assert_eq!(
        snapshots(&server, &queue),
        [START_US + 1_000_000, START_US + 301_000_000],
        "none before there were counters"
    );
}

#[test]
fn a_quiet_night_does_not_count_as_the_last_hour() {
    let (_server, queue, clock) = standing_still("night");
    consume(&queue, "evening");
    clock.advance(5 * MINUTE_MS);
    consume(&queue, "last");
    clock.advance(480 * MINUTE_MS);
    consume(&queue, "morning");
    let stats = queue.stats().unwrap();
    assert_eq!((stats.hour.count("acked"), stats.ever.count("acked")), (2, 3), "since the snapshot before 'last'");
    clock.advance(60 * MINUTE_MS);
    consume(&queue, "next");
    assert_eq!(queue.stats().unwrap().hour.count("acked"), 2, "since the snapshot before 'morning'");
}

#[test]
fn snapshots_of_the_future_are_no_history_and_go_when_the_clock_was_set_back() {
    let (server, queue, clock) = standing_still("back");
    consume(&queue, "first");
    clock.advance(30 * MINUTE_MS);
    consume(&queue, "second");
    let now_us = START_US - 3_600_000_000;
    clock.set(now_us);
    let stats = queue.stats().unwrap();
    assert_eq!((stats.history.len(), stats.hour.count("acked")), (0, 2));
    consume(&queue, "third");
    assert_eq!(snapshots(&server, &queue), [now_us]);
    assert_eq!(queue.stats().unwrap().hour.count("acked"), 3);
}

#[test]
fn the_history_has_what_was_counted_at_each_snapshot() {
    let (_server, queue, clock) = standing_still("history");
    assert_eq!(queue.stats().unwrap().history, []);
    consume(&queue, "first");
    clock.advance(5 * MINUTE_MS);
    push_many(&queue, &["a", "b", "c", "d"].map(|name| delayed(name, 10 * MINUTE_MS)));
    queue.cancel(&[id("a")]).unwrap();
    consume(&queue, "second");
    clock.advance(5 * MINUTE_MS);
    queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..job("b") }).unwrap();
    queue.fail(&reserve_anew(&queue).held(), None).unwrap();
    clock.advance(6 * MINUTE_MS);
    consume(&queue, "third");
    let told: Vec<(i64, u64, [u64; 3])> = queue.stats().unwrap().history.iter().map(told).collect();
    let at = |minutes: i64| START_US + minutes * 60_000_000;
    assert_eq!(told, [(at(5), 6, [1, 1, 0]), (at(10), 7, [2, 1, 0]), (at(16), 8, [2, 1, 1])]);
}

/// When, how many were pushed, and how many acknowledged, cancelled and failed.
fn told(snapshot: &Snapshot) -> (i64, u64, [u64; 3]) {
    (snapshot.at_us, snapshot.pushed, ["acked", "cancelled", "failed"].map(|word| snapshot.ever.count(word)))
}

#[test]
fn a_history_over_partitions_sums_the_last_snapshot_of_each() {
    let (_server, queue, clock) = standing_still("q");
    let partitions = Partitions::new(&queue, 3);
    let parts = [0, 1, 2].map(|number| queue.partition("q", number));
    parts[2].push(&delayed("never served", 1000)).unwrap();
    // A snapshot has what was counted before: none at 0.
    for (minute, part) in [(0, 0), (5, 0), (6, 1), (11, 0), (12, 1), (17, 0)] {
        clock.set(START_US + minute * 60_000_000);
        parts[part].push(&job(&format!("job{minute}"))).unwrap();
        let mut held = reserve_many_anew(&parts[part]);
        parts[part].ack(&held.remove(0).held()).unwrap();
    }
    let history: Vec<(i64, u64, [u64; 3])> = partitions.stats().unwrap().history.iter().map(told).collect();
    let at = |minutes: i64| START_US + minutes * 60_000_000;
    assert_eq!(history, [(at(12), 3 + 2, [2 + 1, 0, 0]), (at(17), 4 + 2, [3 + 1, 0, 0])]);
}

fn reserve_many_anew(part: &Queue) -> Vec<Reserved> {
    part.close();
    let found = reserve_from(std::slice::from_ref(part), 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap();
    found.unwrap().1
}

#[test]
fn a_full_redis_refuses_the_snapshot_and_not_the_reserve() {
    let (server, queue, _clock) = standing_still("full");
    consume(&queue, "first");
    queue.push(&job("second")).unwrap();
    server.raw().run(&["CONFIG", "SET", "maxmemory", "1"]);
    let held = reserve_anew(&queue);
    queue.ack(&held.held()).unwrap();
    assert!(snapshots(&server, &queue).is_empty());
}

#[test]
fn a_job_that_comes_back_waits_since_it_first_fell_due() {
    let (_server, queue, clock) = standing_still("wait");
    queue.push(&delayed("order", 3_600_000)).unwrap();
    clock.advance(3_600_000);
    for _ in 0..2 {
        let held = reserve(&queue).unwrap().held();
        queue.release(&held, Due::InMs(60_000), None, true).unwrap();
        clock.advance(60_000);
    }
    let quantiles = |queue: &Queue| {
        let counters = queue.stats().unwrap().ever;
        (counters.lateness().quantiles(), counters.wait().quantiles())
    };
    reserve(&queue).unwrap();
    let (lateness, wait) = quantiles(&queue);
    assert_eq!((lateness.count, lateness.p99_ms), (3, 0.0), "never late: it was taken when it was due");
    assert_eq!(wait.count, 3);
    assert!((100_000.0..140_000.0).contains(&wait.p99_ms), "twice a minute: {wait:?}");
}

#[test]
fn a_job_that_is_rescheduled_or_kicked_waits_anew() {
    let (_server, queue, clock) = standing_still("anew");
    for (name, kicks) in [("moved", false), ("kicked", true)] {
        queue.push(&job(name)).unwrap();
        let held = reserve(&queue).unwrap().held();
        queue.bury(&held, None).unwrap();
        clock.advance(600_000);
        let changed =
            if kicks { queue.kick_job(&id(name), false) } else { queue.reschedule(&id(name), Due::InMs(1_000), false) };
        assert!(changed.unwrap());
        clock.advance(1_000);
        queue.ack(&reserve(&queue).unwrap().held()).unwrap();
    }
    let wait = queue.stats().unwrap().ever.wait().quantiles();
    assert!(wait.p99_ms < 1_500.0, "not the ten minutes that nobody wanted them: {wait:?}");
}

#[test]
fn run_times_are_counted_by_outcome() {
    let (_server, queue, clock) = standing_still("runs");
    push_many(&queue, &["acked", "acked with others", "failed", "released", "buried", "timed out"].map(job));
    clock.advance(1); // the jobs of a batch are a microsecond apart
    let since = |seconds| Moment::now().before(Duration::from_secs(seconds));
    let next = |seconds| Held { since: since(seconds), ..reserve(&queue).unwrap().held() };
    let lasted = |low: f64, high: f64, outcome| {
        let quantiles = queue.stats().unwrap().ever.run(outcome).quantiles();
        assert!((low..high).contains(&quantiles.p50_ms), "{outcome:?}: {quantiles:?}");
        quantiles.count
    };
    queue.ack(&next(10)).unwrap();
    queue.ack_many(&[next(10).finished()]).unwrap();
    assert_eq!(lasted(8_000.0, 12_000.0, RunOutcome::Acked), 2);
    queue.fail(&next(100), None).unwrap();
    assert_eq!(lasted(80_000.0, 140_000.0, RunOutcome::Failed), 1);
    queue.release(&next(1_000), Due::InMs(600_000), None, true).unwrap();
    assert_eq!(lasted(800_000.0, 1_400_000.0, RunOutcome::Released), 1);
    queue.bury(&next(10_000), None).unwrap();
    assert_eq!(lasted(8_000_000.0, 12_000_000.0, RunOutcome::Buried), 1);
    next(0);
    clock.advance(60_000);
    assert_eq!(lasted(46_000.0, 66_000.0, RunOutcome::TimedOut), 1);
}

#[test]
fn what_did_not_run_has_no_run_time() {
    let queue = fresh();
    push_many(&queue, &["given back", "taken"].map(job));
    let held = reserve(&queue).unwrap();
    queue.give_back(&[&held.receipt]).unwrap();
    assert_eq!(queue.take(None, 10).unwrap().len(), 2);
    let stats = queue.stats().unwrap();
    assert!(RunOutcome::ALL.iter().all(|outcome| stats.ever.run(*outcome).count() == 0), "{:?}", stats.ever);
    assert_eq!((stats.acked, stats.pushed), (2, 2));
}

#[test]
fn a_moment_that_has_passed_counts_lateness_from_the_push() {
    let queue = fresh();
    let moment = |name: &str, due_at_us| NewJob { due: Due::AtUs(due_at_us), ..job(name) };
    queue.push(&moment("second", 2_000_000)).unwrap();
    push_many(&queue, &[moment("first", 1_000_000), NewJob { options: priority_options(2000), ..moment("third", 3) }]);
    queue.push(&delayed("moved", 60_000)).unwrap();
    assert!(queue.reschedule(&id("moved"), Due::AtUs(3_000_000), false).unwrap());
    queue.push(&delayed("released", 0)).unwrap();
    let held = queue.reserve_job(&id("released")).unwrap().unwrap();
    queue.release(&held.held(), Due::AtUs(4_000_000), None, false).unwrap();
    assert_eq!(serve_all(&queue), ["first", "second", "moved", "released", "third"], "they keep their places");
    let counters = queue.stats().unwrap().ever;
    for histogram in [counters.lateness(), counters.wait()] {
        let quantiles = histogram.quantiles();
        assert!(quantiles.count == 5 && quantiles.p99_ms < 60_000.0, "{quantiles:?}");
    }
}
