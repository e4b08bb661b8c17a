//! What the walk compares: a reservation, and now and then everything.

use super::reference::{Job, Place};
use super::walk::Walk;
use crate::support::*;
use delayqueue::core::job::{Reserved, State};
use delayqueue::core::queue::Lateness;

impl Walk {
    pub(super) fn compare_reserved(&mut self, got: Vec<Reserved>, expected: Vec<Job>) {
        assert_eq!(got.len(), expected.len(), "reserved {got:?}, expected {expected:?}");
        for (job, model) in got.iter().zip(&expected) {
            assert_eq!(job.id.to_string(), model.id, "wrong job: order");
            let Place::Held { token, deadline } = model.place else { panic!() };
            let real = (
                job.payload.clone(),
                job.options.priority,
                job.attempts,
                job.due_at_ms,
                job.receipt.token,
                job.lease_until_ms,
                job.last_error.clone().map(|text| String::from_utf8(text).unwrap()),
            );
            assert_eq!(
                real,
                (
                    model.payload.clone(),
                    model.priority,
                    model.attempts,
                    model.due,
                    token,
                    deadline,
                    model.error.clone()
                )
            );
            self.held.push(job.held());
        }
        if self.held.len() > 300 {
            self.held.drain(..100);
        }
    }

    /// Whole state: every list, every counter, and what lies in Redis itself.
    pub(super) fn compare_all(&mut self) {
        self.model.reclaim();
        for state in State::ALL {
            let mut real = self.queue.list(state, 0, 1_000).unwrap();
            if state == State::Reserved {
                real.sort_by(|a, b| a.id.cmp(&b.id));
            }
            let model = self.model.in_order(state);
            let seen: Vec<_> = real
                .iter()
                .map(|job| {
                    let error = job.last_error.clone().map(|text| String::from_utf8(text).unwrap());
                    (
                        job.id.to_string(),
                        job.due_at_ms,
                        job.attempts,
                        job.timeouts,
                        job.releases,
                        job.buries,
                        job.kicks,
                        error,
                        job.priority(),
                    )
                })
                .collect();
            let expected: Vec<_> = model
                .iter()
                .map(|job| {
                    (
                        job.id.clone(),
                        job.due,
                        job.attempts,
                        job.timeouts,
                        job.releases,
                        job.buries,
                        job.kicks,
                        job.error.clone(),
                        job.priority,
                    )
                })
                .collect();
            assert_eq!(seen, expected, "{state:?}");
        }
        let stats = self.queue.stats().unwrap();
        let counters = &self.model.counters;
        assert_eq!(
            (stats.pushed, stats.acked, stats.failed, stats.timed_out, stats.cancelled),
            (counters.pushed, counters.acked, counters.failed, counters.timed_out, counters.cancelled)
        );
        let lateness: Vec<(u32, u64)> = self.model.lateness.iter().map(|(bucket, many)| (*bucket, *many)).collect();
        assert_eq!(stats.lateness, Lateness::from_buckets(&lateness));
        assert_eq!(stats.paused, self.model.is_paused());
        self.check_redis();
    }

    /// A job is in exactly one place, nothing points at a job that is not there, no key has a TTL.
    fn check_redis(&mut self) {
        let key = |name: &str| format!("dq:{{{}}}:{name}", self.queue.name());
        let count = |raw: &mut Raw, command: &str, name: &str| raw.int(&[command, &key(name)]);
        let raw = &mut self.raw;
        let jobs = count(raw, "HLEN", "jobs");
        let held = self.model.in_order(State::Reserved).len() as i64;
        let places = count(raw, "ZCARD", "waiting")
            + count(raw, "ZCARD", "later")
            + count(raw, "ZCARD", "ripe")
            + count(raw, "ZCARD", "buried")
            + held;
        assert_eq!(jobs, places, "jobs and their places");
        assert_eq!(jobs, self.model.jobs.len() as i64);
        assert_eq!(count(raw, "ZCARD", "ready"), count(raw, "ZCARD", "ripe"), "ready and ripe");
        let came_back = self
            .model
            .jobs
            .iter()
            .filter(|job| job.timeouts + job.releases + job.buries + job.kicks > 0 || job.error.is_some())
            .count();
        assert!(count(raw, "HLEN", "history") >= came_back as i64);
        assert!(count(raw, "HLEN", "history") <= jobs);
        if held == 0 {
            assert_eq!(count(raw, "ZCARD", "reserved"), 0);
        }
        for name in ["jobs", "waiting", "later", "ready", "ripe", "reserved", "buried", "history", "ledger"] {
            assert!(count(raw, "PTTL", name) < 0, "{name} has a TTL");
        }
    }
}

trait Priority {
    fn priority(&self) -> u32;
}
impl Priority for delayqueue::core::job::JobInfo {
    fn priority(&self) -> u32 {
        self.options.priority
    }
}
