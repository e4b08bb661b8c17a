//! The duty that renews leases, and learns from Redis which of them are gone.

use super::alarm::Alarm;
use super::duty::{Duty, RETRY, Shared, Timer};
use super::lease::Lease;
use crate::core::job::LeaseReceipt;
use crate::core::queue::Queue;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most leases of one round trip.
const MOST: usize = 500;

/// The leases of one queue: one round trip renews them together.
struct Kept {
    queue: Queue,
    leases: Vec<Arc<Lease>>,
    /// The server could not be reached. That must not cost the other queues their leases.
    not_before: Instant,
}

impl Kept {
    fn open(&self, now: Instant) -> impl Iterator<Item = &Arc<Lease>> {
        self.leases.iter().filter(move |lease| lease.is_open(now))
    }

    fn due_at(&self, now: Instant) -> Option<Instant> {
        let look_at = |lease: &Arc<Lease>| match lease.listen_at() {
            listen_at if listen_at > now => lease.renew_at().min(listen_at),
            _ => lease.renew_at(),
        };
        Some(self.open(now).map(look_at).min()?.max(self.not_before))
    }

    /// Says whether any are left.
    fn forget_ended(&mut self) -> bool {
        self.leases.retain(|lease| !lease.has_ended());
        !self.leases.is_empty()
    }
}

/// The leases that a keeper renews.
pub(super) struct Renewals {
    kept: Shared<Vec<Kept>>,
    alarm: Arc<dyn Alarm>,
}

impl Renewals {
    pub fn new(timer: &Arc<Timer>, alarm: &Arc<dyn Alarm>) -> Self {
        Self { kept: Shared::new(timer), alarm: Arc::clone(alarm) }
    }

    pub fn keep(&self, queue: &Queue, leases: Vec<Arc<Lease>>) {
        let first = leases.iter().map(|lease| lease.renew_at().min(lease.listen_at())).min();
        leases.iter().for_each(|lease| lease.set_timer(&self.kept.timer));
        self.kept.change(|all| {
            // The thread forgets leases that have ended when it wakes, which may be in an hour. Before a list grows, they go.
            match all.iter_mut().find(|kept| kept.queue.is_same(queue)) {
                Some(kept) => {
                    if kept.leases.len() + leases.len() > kept.leases.capacity() {
                        kept.forget_ended();
                    }
                    kept.leases.extend(leases);
                }
                None => {
                    if all.len() == all.capacity() {
                        all.retain_mut(Kept::forget_ended);
                    }
                    all.push(Kept { queue: queue.detached(), leases, not_before: Instant::now() });
                }
            }
            first
        });
    }

    /// The time until the next lease is to be renewed.
    pub fn until_next(&self) -> Duration {
        let (now, all) = (Instant::now(), self.kept.lock());
        let open = all.iter().flat_map(|all| all.iter()).flat_map(|kept| kept.open(now));
        open.map(|lease| lease.renew_at().saturating_duration_since(now)).min().unwrap_or(Duration::MAX)
    }

    /// The queues of jobs that have been held for long, each with the consumer that holds them.
    pub fn listened_to(&self) -> Vec<(Queue, String)> {
        let (now, all) = (Instant::now(), self.kept.lock());
        let all = all.iter().flat_map(|all| all.iter()).map(|kept| {
            let held = kept.open(now).filter(|lease| lease.listen_at() <= now);
            let consumers: BTreeSet<String> = held.map(|lease| lease.receipt.consumer()).collect();
            consumers.into_iter().map(|consumer| (kept.queue.clone(), consumer))
        });
        all.flatten().collect()
    }

    /// The jobs that nobody has begun.
    pub fn behind(&self, has_begun: impl Fn(&LeaseReceipt) -> bool) -> Vec<(Queue, Vec<LeaseReceipt>)> {
        let all = self.kept.lock();
        let waiting = all.iter().flat_map(|all| all.iter()).map(|kept| {
            let open = kept.leases.iter().filter(|lease| !lease.has_ended() && !has_begun(&lease.receipt));
            (kept.queue.clone(), open.map(|lease| lease.receipt.clone()).collect::<Vec<_>>())
        });
        waiting.filter(|(_, receipts)| !receipts.is_empty()).collect()
    }

    /// Also those that are not due: a message came that a job was cancelled, or may have been missed.
    pub fn renew_all(&self) {
        self.renew_those(|_| true);
    }

    fn renew_those(&self, is_due: impl Fn(&Kept) -> bool) {
        let Some(mut all) = self.kept.lock() else { return };
        all.retain_mut(Kept::forget_ended);
        let now = Instant::now();
        let due = all.iter().filter(|kept| is_due(kept));
        let due: Vec<(Queue, Vec<Arc<Lease>>)> =
            due.map(|kept| (kept.queue.clone(), kept.open(now).cloned().collect())).collect();
        drop(all);
        for (queue, leases) in due {
            if !self.renew(&queue, &leases)
                && let Some(mut all) = self.kept.lock()
                && let Some(unreached) = all.iter_mut().find(|kept| kept.queue.is_same(&queue))
            {
                unreached.not_before = Instant::now() + RETRY;
            }
        }
    }

    /// False when Redis could not be asked.
    fn renew(&self, queue: &Queue, leases: &[Arc<Lease>]) -> bool {
        let mut is_any_lost = false;
        for some in leases.chunks(MOST) {
            let asked = Instant::now();
            let receipts: Vec<(&LeaseReceipt, u64)> = some.iter().map(|lease| (&lease.receipt, lease.ttr_ms)).collect();
            let Ok(ends) = queue.renew(&receipts) else { return false };
            for (lease, end) in some.iter().zip(ends) {
                match end {
                    Some(_) => lease.renewed(asked + Duration::from_millis(lease.ttr_ms)),
                    None if lease.is_open(asked) => {
                        lease.is_gone();
                        is_any_lost = true;
                    }
                    None => {}
                }
            }
        }
        if is_any_lost {
            self.alarm.leases_lost();
        }
        true
    }
}

impl Duty for Renewals {
    fn due_at(&self) -> Option<Instant> {
        let now = Instant::now();
        self.kept.lock()?.iter().filter_map(|kept| kept.due_at(now)).min()
    }

    fn run(&self) {
        let now = Instant::now();
        self.renew_those(|kept| kept.due_at(now).is_some_and(|at| at <= now));
    }
}
