//! `Job::keepAlive()`: a thread of our own renews the leases of jobs that no loop keeps.

use super::worker::alarm::{Engine, Rung};
use crate::core::process::Generation;
use crate::core::queue::Queue;
use crate::core::worker::keeper::Keeper;
use crate::core::worker::lease::Lease;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

thread_local! {
    /// Made at its first use, in the process that is named with it: a forked child has no such thread.
    static KEEPER: RefCell<Option<(Generation, Keeper)>> = const { RefCell::new(None) };
}

/// The state of `keepAlive()` for one job.
#[derive(Default)]
pub struct KeepAlive {
    /// The lease is kept for as long as the object lives, not by a loop.
    is_ours: Cell<bool>,
}

impl KeepAlive {
    /// From now on the lease is renewed, for so long at most. A loop that keeps it already goes on doing so, within this limit.
    pub fn start(&self, queue: &Queue, lease: &Arc<Lease>, at_most: Option<Duration>) {
        lease.keep_until(at_most.and_then(|length| Instant::now().checked_add(length)));
        if !lease.is_kept() {
            keep(queue, lease);
            self.is_ours.set(true);
        }
    }

    /// The object is gone.
    pub fn end(&self, lease: &Lease) {
        if self.is_ours.get() {
            lease.settle();
        }
    }
}

fn keep(queue: &Queue, lease: &Arc<Lease>) {
    KEEPER.with_borrow_mut(|slot| {
        if slot.as_ref().is_none_or(|(process, _)| !process.is_current()) {
            // It watches no run, so that its alarm is never rung.
            let keeper = Keeper::new(Box::new(Engine::current(Rung::default())), true);
            *slot = Some((Generation::current(), keeper));
        }
        if let Some((_, keeper)) = slot {
            keeper.keep(queue, vec![Arc::clone(lease)]);
        }
    });
}

/// RSHUTDOWN: no lease is kept for a request that is over.
pub fn end_request() {
    drop(KEEPER.take());
}
