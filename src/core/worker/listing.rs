//! The duty that writes a loop's entry in the list of workers (`core/registry.rs`), and the orders that come back with that.

use super::duty::{Duty, Shared, Timer};
use super::ears::Bell;
use super::lease::Ticket;
use super::renewals::Renewals;
use crate::core::clock::within;
use crate::core::connection::random_name;
use crate::core::error::Result;
use crate::core::queue::Queue;
use crate::core::registry::{
    Activity, Entry, INDEXED_EVERY, Order, PATIENCE, Registry, TaskCount, TaskCounts, WRITTEN_EVERY,
};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// A loop that ends sooner costs Redis nothing, and is not listed.
pub(super) const FIRST_AFTER: Duration = Duration::from_secs(1);
/// A job that runs for longer is in the list before the next regular writing. Shorter ones cost nothing.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// When a Redis is asked again that refused the entry: the user lacks a right.
const AFTER_REFUSAL: Duration = Duration::from_secs(60);

/// The orders that a loop has to obey.
#[derive(Debug, Default)]
pub struct Orders {
    /// Rung for each order, so that a loop that waits looks.
    bell: Bell,
    was_rung: AtomicBool,
    pauses: AtomicBool,
    stops: AtomicBool,
    restarts: AtomicBool,
}

impl Orders {
    /// It is to take no more jobs.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.pauses.load(Ordering::SeqCst)
    }

    /// It is to end: [`Order::Stop`], which counts more, or [`Order::Restart`].
    #[must_use]
    pub fn end(&self) -> Option<Order> {
        let stops = self.stops.load(Ordering::SeqCst).then_some(Order::Stop);
        stops.or(self.restarts.load(Ordering::SeqCst).then_some(Order::Restart))
    }

    pub fn take(&self, order: Order) {
        match order {
            Order::Stop => self.stops.store(true, Ordering::SeqCst),
            Order::Restart => self.restarts.store(true, Ordering::SeqCst),
            Order::Pause | Order::Resume => self.pauses.store(order == Order::Pause, Ordering::SeqCst),
        }
        // In this order: a look in between finds nothing to silence, and the bell goes on ringing.
        self.bell.ring();
        self.was_rung.store(true, Ordering::SeqCst);
    }

    /// A descriptor that can be read until somebody looks.
    #[must_use]
    pub fn calls(&self) -> RawFd {
        self.bell.descriptor()
    }

    /// The caller looks at the orders after this.
    pub fn look(&self) {
        if self.was_rung.swap(false, Ordering::SeqCst) {
            self.bell.silence();
        }
    }
}

/// The job that runs.
struct Running {
    ticket: Ticket,
    since: Instant,
}

/// The entry of one loop, if it is to be listed.
pub(super) struct Listing {
    entry: Shared<Option<Listed>>,
    renewals: Arc<Renewals>,
}

struct Listed {
    /// One of its queues: the registry is that of its prefix.
    queue: Queue,
    id: String,
    /// The program that runs the loop.
    kind: String,
    /// By the index of a ticket: a queue of several partitions has one entry for each.
    queues: Vec<String>,
    /// The names of the queues, each once.
    names: Vec<String>,
    orders: Arc<Orders>,
    since: Instant,
    running: Option<Running>,
    /// `None`: the loop ends.
    due_at: Option<Instant>,
    /// Before that, since the entry does not show the job that runs, or shows one that has ended.
    outdated_at: Option<Instant>,
    /// Redis did not take the entry.
    not_before: Instant,
    /// The entry shows a job.
    shows_job: bool,
    index_at: Instant,
    /// The keeper is writing.
    is_writing: bool,
    /// It may be in the list.
    was_written: bool,
    /// What has run since the last writing.
    tasks: TaskCounts,
}

/// An entry that the keeper is to write.
struct Writing {
    registry: Registry,
    id: String,
    entry: Entry,
    must_index: bool,
    tasks: TaskCounts,
}

impl Listed {
    /// `None` without queues.
    fn new(queues: &[Queue], orders: Arc<Orders>, kind: String, first_after: Duration) -> Option<Self> {
        let queue = queues.first()?.detached();
        let queues: Vec<String> = queues.iter().map(|queue| queue.name().to_owned()).collect();
        let mut names = queues.clone();
        names.dedup();
        let now = Instant::now();
        Some(Self {
            queue,
            id: random_name(),
            kind,
            queues,
            names,
            orders,
            since: now,
            running: None,
            due_at: Some(now + first_after),
            outdated_at: None,
            not_before: now,
            shows_job: false,
            index_at: now,
            is_writing: false,
            was_written: false,
            tasks: TaskCounts::new(),
        })
    }

    fn due_at(&self) -> Option<Instant> {
        self.due_at.map(|due_at| self.outdated_at.map_or(due_at, |at| due_at.min(at)).max(self.not_before))
    }

    /// Returns when the entry will not be true any more.
    fn begins(&mut self, ticket: &Ticket) -> Instant {
        let since = Instant::now();
        self.running = Some(Running { ticket: ticket.clone(), since });
        *self.outdated_at.insert(since + SHOWN_AFTER)
    }

    /// No job runs now. Returns when the entry is outdated, if it shows one.
    fn has_ended(&mut self) -> Option<Instant> {
        self.running = None;
        self.outdated_at = self.shows_job.then(|| Instant::now() + SHOWN_AFTER);
        self.outdated_at
    }

    fn begin(&mut self, now: Instant) -> Writing {
        self.is_writing = true;
        self.was_written = true;
        self.shows_job = self.running.is_some();
        self.outdated_at = None;
        let job = self.running.as_ref().map(|Running { ticket, since }| {
            let queue = self.queues.get(ticket.queue).cloned().unwrap_or_default();
            (queue, ticket.id().to_string(), now.saturating_duration_since(*since))
        });
        let activity = match (self.orders.end(), self.orders.is_paused()) {
            (Some(_), _) => Activity::Stopping,
            (None, true) => Activity::Paused,
            (None, false) if job.is_some() => Activity::Working,
            (None, false) => Activity::Idle,
        };
        let up = now.saturating_duration_since(self.since);
        Writing {
            registry: Registry::of(&self.queue),
            id: self.id.clone(),
            entry: Entry { kind: self.kind.clone(), activity, queues: self.names.clone(), job, up },
            must_index: self.index_at <= now,
            tasks: std::mem::take(&mut self.tasks),
        }
    }

    /// A handler has run, for a job of this task.
    fn ran(&mut self, task: String, count: TaskCount) {
        self.tasks.entry(task).or_default().add(count);
    }

    fn written(&mut self, writing: &Writing, answer: Result<Option<Vec<Order>>>) {
        self.is_writing = false;
        let now = Instant::now();
        let next = match answer {
            Ok(before) => {
                if writing.must_index {
                    self.index_at = now + INDEXED_EVERY;
                } else if before.is_none() {
                    self.index_at = now; // the entry had ended, so somebody may have taken it off the index
                }
                let orders = before.unwrap_or_default();
                orders.iter().for_each(|order| self.orders.take(*order));
                // The operator sees at once that they were heard.
                if !orders.is_empty() || self.index_at <= now { Duration::ZERO } else { WRITTEN_EVERY }
            }
            Err(error) => {
                let pause = if error.is_retryable() { WRITTEN_EVERY } else { AFTER_REFUSAL };
                self.not_before = now + pause;
                pause
            }
        };
        self.due_at = self.due_at.map(|_| now + next);
    }
}

impl Listing {
    pub fn new(timer: &Arc<Timer>, renewals: &Arc<Renewals>) -> Self {
        Self { entry: Shared::new(timer), renewals: Arc::clone(renewals) }
    }

    pub fn enlist(&self, queues: &[Queue], orders: Arc<Orders>, kind: String, first_after: Duration) {
        self.entry.change(|entry| {
            *entry = Listed::new(queues, orders, kind, first_after);
            entry.as_ref()?.due_at()
        });
    }

    /// The handler of a job begins.
    pub fn begins(&self, ticket: &Ticket) {
        self.entry.change(|entry| Some(entry.as_mut()?.begins(ticket)));
    }

    /// The handler has ended.
    pub fn has_ended(&self) {
        self.entry.change(|entry| entry.as_mut()?.has_ended());
    }

    /// A handler has run, for a job of this task.
    pub fn ran(&self, task: String, count: TaskCount) {
        if let Some(mut entry) = self.entry.lock()
            && let Some(listed) = entry.as_mut()
        {
            listed.ran(task, count);
        }
    }

    /// Takes the loop off the list. The thread may be writing the entry: waits for it until the deadline.
    pub fn sign_off(&self, deadline: Instant) {
        if let Some(mut entry) = self.entry.lock()
            && let Some(listed) = entry.as_mut()
        {
            listed.due_at = None; // it is written no more
        }
        let is_writing = |entry: &Option<Listed>| entry.as_ref().is_some_and(|listed| listed.is_writing);
        let entry = self.entry.lock_once_sent(deadline, is_writing).and_then(|mut entry| entry.take());
        let Some(listed) = entry else { return };
        let registry = Registry::of(&listed.queue);
        if !listed.tasks.is_empty() {
            let _ = registry.count_tasks(&listed.tasks);
        }
        if listed.was_written {
            let _ = registry.remove(&listed.id);
        }
    }
}

impl Duty for Listing {
    fn due_at(&self) -> Option<Instant> {
        self.entry.lock()?.as_ref()?.due_at()
    }

    /// Best effort: a loop that cannot be listed works all the same. Waits no longer for Redis than until a lease is to be renewed: the list may
    /// lie on a node that is away.
    fn run(&self) {
        let begin = |mut entry: MutexGuard<'_, Option<Listed>>| Some(entry.as_mut()?.begin(Instant::now()));
        let Some(writing) = self.entry.lock().and_then(begin) else { return };
        let Writing { registry, id, entry, must_index, tasks } = &writing;
        let time = || self.renewals.until_next().min(PATIENCE);
        let answer = within(time(), || registry.write(id, entry, *must_index));
        let is_counted = tasks.is_empty()
            || within(time(), || registry.count_tasks(tasks)).map_or_else(|error| error.is_ambiguous(), |()| true);
        if let Some(mut entry) = self.entry.lock()
            && let Some(listed) = entry.as_mut()
        {
            listed.written(&writing, answer);
            if !is_counted {
                writing.tasks.into_iter().for_each(|(task, count)| listed.ran(task, count));
            }
        }
        self.entry.has_sent();
    }
}
