//! A lease as the loop, the job object and the thread that renews it share it.

use super::keeper::Shared;
use crate::core::job::Receipt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// One lease, shared between the loop, the job object and the thread.
#[derive(Debug)]
pub struct Lease {
    pub receipt: Receipt,
    pub(super) ttr_ms: u64,
    /// End of the lease, in microseconds after `base`.
    until_us: AtomicU64,
    base: Instant,
    settled: AtomicBool,
    pub(super) lost: Arc<AtomicBool>,
    /// Who renews it.
    pub(super) keeper: OnceLock<Weak<Shared>>,
}

impl Lease {
    #[must_use]
    pub fn new(receipt: Receipt, ttr_ms: u64, until: Instant) -> Arc<Self> {
        let base = Instant::now();
        let lease = Self {
            receipt,
            ttr_ms,
            until_us: AtomicU64::new(0),
            base,
            settled: AtomicBool::new(false),
            lost: Arc::default(),
            keeper: OnceLock::new(),
        };
        lease.extend(until);
        Arc::new(lease)
    }

    pub(super) fn extend(&self, until: Instant) {
        let us = u64::try_from(until.saturating_duration_since(self.base).as_micros()).unwrap_or(u64::MAX);
        self.until_us.store(us, Ordering::Relaxed);
    }

    /// It was renewed by somebody else than the thread, perhaps for less time than the thread counts on.
    pub fn renewed(&self, until: Instant) {
        self.extend(until);
        if let Some(shared) = self.keeper.get().and_then(Weak::upgrade) {
            shared.tell_if_earlier(&mut shared.state(), self.renew_at());
        }
    }

    /// When it ends, as far as this process knows; never later than in Redis.
    #[must_use]
    pub fn until(&self) -> Instant {
        self.base + Duration::from_micros(self.until_us.load(Ordering::Relaxed))
    }

    /// A renewal found the job cancelled or taken over.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// The flag behind [`Lease::is_lost`].
    #[must_use]
    pub fn lost_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.lost)
    }

    /// No renewal is needed any more.
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    pub(super) fn renew_at(&self) -> Instant {
        let third = Duration::from_millis(self.ttr_ms / 3);
        self.until().checked_sub(third * 2).unwrap_or_else(Instant::now)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.settled.load(Ordering::Relaxed) && !self.is_lost()
    }
}
