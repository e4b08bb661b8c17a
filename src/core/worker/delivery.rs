//! Jobs on their way to a handler.

use super::lease::Lease;
use crate::core::clock::Moment;
use crate::core::job::{JobId, Reserved};
use std::sync::Arc;

/// A job on its way to the handler.
#[derive(Debug)]
pub struct Delivery {
    pub job: Reserved,
    pub ticket: Ticket,
}

impl Delivery {
    pub(super) fn new(queue: usize, job: Reserved) -> Self {
        let lease = Lease::of(&job);
        Self { ticket: Ticket { queue, lease, since: Moment::now() }, job }
    }
}

/// Tells the feed which job it delivered.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Index of its queue.
    pub queue: usize,
    pub lease: Arc<Lease>,
    /// Since when its handler runs.
    pub since: Moment,
}

impl Ticket {
    #[must_use]
    pub fn id(&self) -> &JobId {
        &self.lease.receipt.id
    }

    /// Tells the jobs of a loop apart.
    #[must_use]
    pub fn key(&self) -> JobKey {
        (self.queue, self.lease.receipt.token())
    }
}

/// Index of the queue, and fencing number.
pub type JobKey = (usize, u64);
