//! What trips bring: batches of jobs under leases that are being kept.

use super::lease::Lease;
use crate::core::job::{JobId, Reserved};
use crate::core::queue::{Held, Unseen};
use std::collections::VecDeque;
use std::sync::Arc;

/// A job on its way to the handler.
#[derive(Debug)]
pub struct Delivery {
    pub job: Reserved,
    pub ticket: Ticket,
}

impl Delivery {
    fn new(queue: usize, job: Reserved, lease: &Arc<Lease>) -> Self {
        Self { ticket: Ticket { queue, id: job.id.clone(), lease: Arc::clone(lease) }, job }
    }
}

/// What the feed needs to know of a job that it delivered.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Index of its queue.
    pub queue: usize,
    pub id: JobId,
    pub lease: Arc<Lease>,
}

/// Jobs that one trip fetched, under leases that are being kept.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub deliveries: VecDeque<Delivery>,
    /// As many as were asked for: there may be more.
    pub is_full: bool,
    /// Its number with the keeper; 0: none.
    pub kept: u64,
}

impl Batch {
    /// `keep` has the leases renewed from now on.
    pub fn new(queue: usize, jobs: Vec<Reserved>, asked: usize, keep: impl FnOnce(Vec<Arc<Lease>>) -> u64) -> Self {
        let is_full = jobs.len() >= asked;
        let lease = |job: &Reserved| Lease::new(job.receipt.clone(), job.options.ttr_ms, job.lease_until);
        let leases: Vec<Arc<Lease>> = jobs.iter().map(lease).collect();
        let deliveries = jobs.into_iter().zip(&leases).map(|(job, lease)| Delivery::new(queue, job, lease)).collect();
        Self { deliveries, is_full, kept: keep(leases) }
    }

    pub fn tokens(&self) -> impl Iterator<Item = u64> {
        self.deliveries.iter().map(|delivery| delivery.job.receipt.token)
    }
}

/// The same, of [`Unseen`] jobs.
#[derive(Debug)]
pub(super) struct Sealed {
    pub unseen: Vec<Unseen>,
    leases: Vec<Arc<Lease>>,
    is_full: bool,
    pub kept: u64,
}

impl Sealed {
    pub fn new(unseen: Vec<Unseen>, asked: usize, keep: impl FnOnce(Vec<Arc<Lease>>) -> u64) -> Self {
        let lease = |unseen: &Unseen| Lease::new(unseen.receipt.clone(), Unseen::TTR_MS, unseen.lease_until);
        let leases: Vec<Arc<Lease>> = unseen.iter().map(lease).collect();
        Self { is_full: unseen.len() >= asked, kept: keep(leases.clone()), unseen, leases }
    }

    /// The jobs as they turned out to be: some may be missing.
    pub fn unseal(&self, queue: usize, seen: Vec<Reserved>) -> Batch {
        let mut seen = seen.into_iter().peekable();
        let mut deliveries = VecDeque::with_capacity(self.leases.len());
        for lease in &self.leases {
            match seen.next_if(|job| job.receipt.token == lease.receipt.token) {
                Some(job) => deliveries.push_back(Delivery::new(queue, job, lease)),
                None => lease.settle(),
            }
        }
        Batch { deliveries, is_full: self.is_full, kept: self.kept }
    }

    /// Nobody renews the leases any more.
    pub fn let_go(&self) {
        self.leases.iter().for_each(|lease| lease.settle());
    }

    pub fn held(&self) -> impl Iterator<Item = Held> {
        self.unseen.iter().map(Unseen::held)
    }

    pub fn tokens(&self) -> impl Iterator<Item = u64> {
        self.unseen.iter().map(|unseen| unseen.receipt.token)
    }
}
