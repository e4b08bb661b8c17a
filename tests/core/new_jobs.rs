//! Jobs with what few jobs have: an id that stays taken, a latest moment, a receipt.

use crate::support::*;
use delayqueue::core::job::{NewJob, OnDuplicate};
use delayqueue::core::queue::OnceJob;
use delayqueue::core::record::History;
use delayqueue::core::traits::Traits;

/// Its id stays taken for so long.
pub fn unique(name: &str, ms: u64, on_duplicate: OnDuplicate) -> NewJob {
    NewJob { on_duplicate, unique_ms: Some(ms), ..job(name) }
}

pub fn replacing(job: NewJob) -> NewJob {
    NewJob { on_duplicate: OnDuplicate::Replace, ..job }
}

/// A debounce.
pub fn at_most(job: NewJob, wait_ms: u64) -> NewJob {
    let mut job = replacing(job);
    job.options.extras.traits = Traits::default().longest_wait(wait_ms).before(&[]);
    job
}

pub fn once(receipt: &str, job: NewJob) -> OnceJob {
    let on_duplicate = if job.on_duplicate == OnDuplicate::Fail { OnDuplicate::Keep } else { job.on_duplicate };
    OnceJob {
        receipt: receipt.as_bytes().to_vec(),
        job: NewJob { on_duplicate, ..job },
        is_receipt_only: false,
        created_at_ms: None,
        past: None,
        is_buried: false,
    }
}

pub fn receipt_only(receipt: &str, job: NewJob) -> OnceJob {
    OnceJob { is_receipt_only: true, ..once(receipt, job) }
}

/// It was tried twice, once for nothing.
pub fn past() -> History {
    History {
        attempts: 2,
        timeouts: 1,
        releases: 1,
        buries: 3,
        kicks: 4,
        first_due_us: 1_700_000_000_000_000,
        last_error: Some(b"why".to_vec()),
    }
}
