//! A thread of our own beside the loop. It never touches memory of the embedding language; to reach it, it calls the [`Alarm`].
//!
//! It starts with the first work it is given, sleeps without a timer while there is nothing to do, and ends with its keeper.
//! A forked child has no such thread: its keeper does nothing.

use super::alarm::Alarm;
use super::done::DoneJobs;
use super::duty::{Duty, Timer};
use super::ears::Ears;
use super::lease::{Lease, Ticket};
use super::listing::{FIRST_AFTER, Listing, Orders};
use super::renewals::Renewals;
use super::watch::{Limits, Watch};
use crate::core::process::start_thread;
use crate::core::queue::{Held, Queue};
use crate::core::registry::TaskCount;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Owner of the thread.
pub struct Keeper {
    timer: Arc<Timer>,
    renewals: Arc<Renewals>,
    pub(super) done: Arc<DoneJobs>,
    watch: Arc<Watch>,
    listing: Arc<Listing>,
    is_started: bool,
    renews: bool,
    /// A handler runs, as far as the list of workers knows.
    is_running: bool,
}

impl Keeper {
    /// `renews`: without it the thread only sends acknowledgements and checks time limits.
    #[must_use]
    pub fn new(alarm: Box<dyn Alarm>, renews: bool) -> Self {
        let (timer, alarm) = (Arc::<Timer>::default(), Arc::from(alarm));
        let renewals = Arc::new(Renewals::new(&timer, &alarm));
        let done = Arc::new(DoneJobs::new(&timer));
        let watch = Arc::new(Watch::new(&timer, alarm, &renewals, &done));
        let listing = Arc::new(Listing::new(&timer, &renewals));
        Self { timer, renewals, done, watch, listing, is_started: false, renews, is_running: false }
    }

    /// Keeps these leases alive until they are settled or lost.
    pub fn keep(&mut self, queue: &Queue, leases: Vec<Arc<Lease>>) {
        if self.renews && !leases.is_empty() {
            self.start();
            self.renewals.keep(queue, leases);
        }
    }

    /// Has a job acknowledged that is done, should no fetch do it before.
    pub(super) fn done(&mut self, ticket: Ticket) {
        self.start();
        self.has_ended();
        self.done.add(ticket);
    }

    /// Watches a run with these jobs, each with its queue.
    pub fn watch(&mut self, held: Vec<(Queue, Held)>, limits: Limits) {
        self.start();
        self.watch.begin(held, limits);
    }

    /// The run is over.
    pub fn unwatch(&mut self) {
        self.watch.end();
    }

    /// Puts the loop on the list of workers, and gives it the orders that come to its entry. A loop that never waits is listed
    /// after its first job.
    pub(super) fn enlist(&mut self, queues: &[Queue], orders: Arc<Orders>, waits: bool) {
        if waits {
            self.start();
        }
        self.listing.enlist(queues, orders, String::from("worker"), FIRST_AFTER);
    }

    /// Puts a loop on the list that does not fetch its jobs by a feed, without waiting for whether it lasts.
    pub fn enlist_at_once(&mut self, queues: &[Queue], orders: Arc<Orders>, kind: String) {
        self.start();
        self.listing.enlist(queues, orders, kind, Duration::ZERO);
    }

    /// Takes the loop off the list; waits for the thread, which may be writing its entry, until the deadline.
    pub fn sign_off(&self, deadline: Instant) {
        self.listing.sign_off(deadline);
    }

    /// The handler of a job begins.
    pub fn begins(&mut self, ticket: &Ticket) {
        self.is_running = true;
        self.listing.begins(ticket);
    }

    /// A handler has run for a job of this task: the counters of tasks get it with the next writing of the entry.
    pub fn ran(&self, task: String, count: TaskCount) {
        self.listing.ran(task, count);
    }

    /// The handler has ended, and its job is settled. Says nothing new of one that is done.
    pub fn has_ended(&mut self) {
        if std::mem::take(&mut self.is_running) {
            self.listing.has_ended();
        }
    }

    fn start(&mut self) {
        if self.is_started || self.timer.is_over() {
            return;
        }
        let (timer, renewals) = (Arc::clone(&self.timer), Arc::clone(&self.renewals));
        // The alarm comes first, because all others may wait for Redis.
        let duties: [Arc<dyn Duty>; 4] =
            [self.watch.clone(), self.renewals.clone(), self.done.clone(), self.listing.clone()];
        self.is_started = start_thread(move || run(&timer, &duties, &renewals));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.timer.end();
        self.watch.end();
        // Not joined: it may be waiting for Redis.
    }
}

fn run(timer: &Timer, duties: &[Arc<dyn Duty>], renewals: &Renewals) {
    let mut ears = Ears::default();
    loop {
        for duty in duties {
            if timer.is_over() {
                return;
            }
            if duty.due_at().is_some_and(|at| at <= Instant::now()) {
                duty.run();
            }
        }
        let planned = timer.plan(|| duties.iter().filter_map(|duty| duty.due_at()).min());
        if ears.hear(&timer.bell, planned, &renewals.listened_to()) {
            renewals.renew_all();
        }
    }
}
