//! The times that the model counts: how late jobs were handed out, how long they waited, how long they ran.

use super::job::Job;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Times {
    /// Jobs handed out so late: `ms + 1` in `2^(bucket/2) .. 2^((bucket+1)/2)`.
    pub lateness: BTreeMap<u32, i64>,
    /// How many more waited so long since they fell due first.
    pub wait: BTreeMap<u32, i64>,
    /// Ends of runs, by outcome and bucket of the run time.
    pub runs: BTreeMap<(&'static str, u32), i64>,
}

/// The run times of the walk, so that outcomes differ: long enough for a slow machine to change nothing.
pub fn run_of(token: u64) -> u32 {
    40 + (token % 5) as u32
}

fn bucket_of(us: i64) -> u32 {
    (2.0 * (us.max(0) as f64 / 1000.0 + 1.0).log2()).floor() as u32
}

impl Times {
    pub fn handed_out(&mut self, now: i64, jobs: &[Job]) {
        let mut longer: BTreeMap<u32, i64> = BTreeMap::new();
        for job in jobs {
            // A moment that had passed when the job was pushed.
            let since = job.first_due.map_or(job.due, |first| first.max(job.due));
            let late = bucket_of(now - since);
            *self.lateness.entry(late).or_default() += 1;
            let wait = job.first_due.map_or(late, |first| bucket_of(now - first));
            *longer.entry(wait).or_default() += 1;
            *longer.entry(late).or_default() -= 1;
        }
        for (bucket, many) in longer.into_iter().filter(|(_, many)| *many != 0) {
            *self.wait.entry(bucket).or_default() += many;
        }
    }

    pub fn ran(&mut self, outcome: &'static str, token: u64) {
        *self.runs.entry((outcome, run_of(token))).or_default() += 1;
    }

    pub fn timed_out(&mut self, ttr_ms: u64) {
        let ttr_us = i64::try_from(ttr_ms).unwrap() * 1000;
        *self.runs.entry(("timed_out", bucket_of(ttr_us))).or_default() += 1;
    }
}
