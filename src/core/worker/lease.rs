//! A job on its way to a handler, and its lease, which the loop, the job object and the thread that renews it share.

use super::duty::Timer;
use super::ears::LISTEN_AFTER;
use crate::core::clock::Moment;
use crate::core::job::{JobId, LeaseReceipt, Reserved};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

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

/// One lease, shared between the loop, the job object and the thread.
#[derive(Debug)]
pub struct Lease {
    pub receipt: LeaseReceipt,
    pub(super) ttr_ms: u64,
    /// End of the lease, in microseconds after `base`.
    until_us: AtomicU64,
    /// The thread renews it until then, in microseconds after `base`.
    keep_until_us: AtomicU64,
    base: Instant,
    settled: AtomicBool,
    lost: AtomicBool,
    /// It was lost before its time was over.
    cancelled: AtomicBool,
    /// Of the keeper that renews it: the last one it was given.
    timer: Mutex<Weak<Timer>>,
}

impl Lease {
    #[must_use]
    pub fn of(job: &Reserved) -> Arc<Self> {
        let base = Instant::now();
        let lease = Self {
            receipt: job.receipt.clone(),
            ttr_ms: job.options.ttr_ms,
            until_us: AtomicU64::new(0),
            keep_until_us: AtomicU64::new(u64::MAX),
            base,
            settled: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            timer: Mutex::default(),
        };
        lease.until_us.store(lease.after_base(job.lease_until), Ordering::Relaxed);
        Arc::new(lease)
    }

    fn after_base(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.base).as_micros()).unwrap_or(u64::MAX)
    }

    /// The thread has renewed it; the job's holder may have renewed it for longer.
    pub(super) fn renewed(&self, until: Instant) {
        self.until_us.fetch_max(self.after_base(until), Ordering::Relaxed);
    }

    /// Its holder has touched it, perhaps for less time than the thread counts on.
    pub fn touched(&self, until: Instant) {
        self.until_us.store(self.after_base(until), Ordering::Relaxed);
        self.tell_keeper();
    }

    /// The thread renews it no longer than until then.
    pub fn keep_until(&self, at: Option<Instant>) {
        self.keep_until_us.store(at.map_or(u64::MAX, |at| self.after_base(at)), Ordering::Relaxed);
        self.tell_keeper();
    }

    /// Whether a thread has it in its list, though perhaps not within its limit.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.timer().is_some()
    }

    pub(super) fn set_timer(&self, timer: &Arc<Timer>) {
        *self.timer.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(timer);
    }

    fn timer(&self) -> Option<Arc<Timer>> {
        let timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        timer.filter(|timer| !timer.is_over())
    }

    fn tell_keeper(&self) {
        if let Some(timer) = self.timer() {
            timer.tell(self.renew_at());
        }
    }

    /// When it ends, as far as this process knows; never later than in Redis.
    #[must_use]
    pub fn until(&self) -> Instant {
        self.base + Duration::from_micros(self.until_us.load(Ordering::Relaxed))
    }

    /// The job was cancelled or taken over. A renewal that was under way while the job was settled found nothing either: that is no loss.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed) && !self.settled.load(Ordering::Relaxed)
    }

    pub fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Redis has no such lease: the job was cancelled, unless its time may be over.
    pub(super) fn is_gone(&self) {
        self.cancelled.store(self.until() > Instant::now(), Ordering::Relaxed);
        self.lose();
    }

    /// The job was cancelled, as far as this process knows.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.is_lost() && self.cancelled.load(Ordering::Relaxed)
    }

    /// From then on its keeper listens for a word that it was cancelled.
    pub(super) fn listen_at(&self) -> Instant {
        self.base + LISTEN_AFTER
    }

    /// No renewal is needed any more.
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    pub(super) fn renew_at(&self) -> Instant {
        let third = Duration::from_millis(self.ttr_ms / 3);
        self.until().checked_sub(third * 2).unwrap_or_else(Instant::now)
    }

    /// Whether it will never be renewed again.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.settled.load(Ordering::Relaxed) || self.lost.load(Ordering::Relaxed)
    }

    /// Whether the thread is to renew it: it has not ended, and its limit is not over.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        !self.has_ended() && self.after_base(now) < self.keep_until_us.load(Ordering::Relaxed)
    }
}
