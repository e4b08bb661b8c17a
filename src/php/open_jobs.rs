//! Jobs that `reserve()` gave to the program, which has not settled them. A request that ends with a fatal error, or by `exit()`, fails them at
//! once. A program that lets go of a job without settling it, or ends with one in its hands, leaves it to the end of its lease.
//!
//! And the thread that renews the leases of `Job::keepAlive()`, which ends with the request.

use super::worker::engine::Engine;
use super::worker::signs::Rung;
use super::{reason, sys};
use crate::core::clock;
use crate::core::process::Generation;
use crate::core::queue::{Held, Queue};
use crate::core::worker::keeper::Keeper;
use crate::core::worker::lease::Lease;
use std::cell::{Cell, RefCell};
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time that a request which dies may still spend on Redis.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A job in the hands of the program.
pub struct OpenJob {
    pub queue: Queue,
    pub held: Rc<Held>,
    pub lease: Arc<Lease>,
    pub process: Generation,
}

impl OpenJob {
    fn is_open(&self) -> bool {
        !self.lease.has_ended() && self.process.is_current() && self.lease.until() > Instant::now()
    }
}

thread_local! {
    static OPEN: RefCell<Vec<OpenJob>> = const { RefCell::new(Vec::new()) };
    /// The program has called `exit()`.
    static EXITED: Cell<bool> = const { Cell::new(false) };
}

/// MINIT.
pub fn hook() {
    sys::exit::on_exit(|| EXITED.set(true));
}

/// MSHUTDOWN.
pub fn unhook() {
    sys::exit::let_go_of_exit();
}

pub fn add(job: OpenJob) {
    OPEN.with_borrow_mut(|open| {
        if open.len() == open.capacity() {
            open.retain(OpenJob::is_open);
        }
        open.push(job);
    });
}

/// The object of a job is gone: it is nobody's, unless an error or `exit()` takes it away. An exception may turn out to be caught; then the
/// program ends in good order.
pub fn let_go(lease: &Arc<Lease>) {
    let is_taken = EXITED.get() || sys::exception_pending() || sys::has_fatal_error();
    if !is_taken || lease.has_ended() {
        // Not while the thread ends, when there is no list any more.
        let _ = OPEN.try_with(|open| {
            let mut open = open.borrow_mut();
            if let Some(at) = open.iter().position(|job| Arc::ptr_eq(&job.lease, lease)) {
                open.swap_remove(at);
            }
        });
    }
}

/// RSHUTDOWN: destructors and shutdown functions have run. No lease is kept for a request that is over.
pub fn end_request() {
    let _ = catch_unwind(fail_open_jobs);
    let _ = catch_unwind(|| drop(KEEPER.take()));
}

fn fail_open_jobs() {
    let (open, has_exited) = (OPEN.take(), EXITED.take());
    let why = match sys::fatal_error_message() {
        Some(text) => reason::of_fatal_error(&text),
        None if has_exited => format!("the script called exit() with status {}", sys::exit_status()).into_bytes(),
        None => return,
    };
    clock::within(LAST_WORDS, || {
        for job in open.iter().filter(|job| job.is_open()) {
            let _ = job.queue.fail(&job.held, Some(&why));
            job.lease.settle();
        }
    });
}

thread_local! {
    /// Made at its first use, in the process that is named with it: a forked child has no such thread.
    static KEEPER: RefCell<Option<(Generation, Keeper)>> = const { RefCell::new(None) };
}

/// Has the lease renewed from now on, until it is settled or the request ends.
pub fn keep(queue: &Queue, lease: &Arc<Lease>) {
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
