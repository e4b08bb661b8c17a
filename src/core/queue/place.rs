//! Where a job goes, and as what, if the client makes it itself: what the scripts would make of it.

use super::push::Encoded;
use crate::core::clock;
use crate::core::job::Due;
use crate::core::record::{self, Head, Stamp};
use crate::core::server_clock::{Claim, ServerClock};

/// An idle consumer glances every two seconds, so what falls due later than this need wake nobody.
const LEAST_DELAY_MS: i64 = 3000;

/// What time it is for jobs that are pushed together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    stamp_us: i64,
    /// What is not delayed is due then.
    at_once_ms: i64,
    /// What is delayed is so from then on.
    now_ms: i64,
}

impl Times {
    /// By Redis' clock, in microseconds since 1970: when they were pushed, and from when on they are delayed, which is rounded up, so
    /// that nothing is early.
    pub(super) fn new(stamp_us: i64, delay_from_us: i64) -> Self {
        let offset_ms = clock::offset_ms();
        let at_once_ms = stamp_us.div_euclid(1000).saturating_add(offset_ms);
        let now_ms = delay_from_us.saturating_add(999).div_euclid(1000).saturating_add(offset_ms);
        Self { stamp_us, at_once_ms, now_ms }
    }

    pub(super) fn of(claim: Claim) -> Self {
        Self::new(claim.stamp_us, claim.delay_from_us)
    }

    pub(super) fn stamp_us(&self) -> i64 {
        self.stamp_us
    }

    /// What tells a script which jobs have been pushed with these times: those that it may meet after an answer was lost.
    pub(super) fn own_since(&self) -> String {
        format!("@{}", self.stamp_us)
    }

    /// The place of the job so many quarters of a microsecond after the first.
    pub(super) fn place(&self, quarters: u64, job: &Encoded<'_>) -> Place {
        let due_at_ms = match job.job.due {
            Due::InMs(0) => self.at_once_ms,
            Due::InMs(delay) => self.now_ms.saturating_add_unsigned(delay),
            Due::AtMs(at) => at.max(0),
        };
        let stamp = record::stamp(self.stamp_us, quarters, job.flags);
        Place { due_at_ms, stamp, head: Head::new(stamp, due_at_ms) }
    }

    /// Whether the job falls due so late that nobody need be woken.
    pub(super) fn is_far_off(&self, job: &Encoded<'_>) -> bool {
        is_far_off(job, self.now_ms)
    }
}

/// Redis' time for these jobs; `None` when one of them falls due so soon that somebody may have to be woken, or that is not known.
pub(super) fn claim(jobs: &[Encoded<'_>], clock: &mut ServerClock) -> Option<Claim> {
    let now_us = clock.now_us()?;
    let times = Times::new(now_us, now_us);
    // Decided before: a claim that is not used stamps later ones ahead.
    if jobs.iter().all(|job| times.is_far_off(job)) { clock.claim(jobs.len()) } else { None }
}

/// Whether the job may fall due so late that nobody need be woken, whatever the time.
pub(super) fn may_be_far_off(job: &Encoded<'_>) -> bool {
    is_far_off(job, 0)
}

fn is_far_off(job: &Encoded<'_>, now_ms: i64) -> bool {
    match job.job.due {
        Due::InMs(delay) => delay >= LEAST_DELAY_MS.unsigned_abs(),
        Due::AtMs(at) => at >= now_ms + LEAST_DELAY_MS,
    }
}

/// Where one job goes. The byte strings are in parts, one behind the other, since they are copied into a request anyway.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) due_at_ms: i64,
    stamp: Stamp,
    head: Head,
}

impl Place {
    /// What is put into `waiting`.
    pub(super) fn member<'a>(&'a self, job: &'a Encoded<'_>) -> [&'a [u8]; 2] {
        [&self.stamp, job.id.as_bytes()]
    }

    /// What is put into `jobs`.
    pub(super) fn record<'a>(&'a self, job: &'a Encoded<'_>) -> [&'a [u8]; 4] {
        let [options, mark, payload] = job.body_parts();
        [self.head.as_bytes(), options, mark, payload]
    }

    /// What the record begins with.
    pub(super) fn head(&self) -> &[u8] {
        self.head.as_bytes()
    }
}
