//! The handlers that a thread runs: what they have to hear, and how it reaches them.
//!
//! A handler may run a loop of its own. What the handler around that loop has to hear ends the inner loops first, one after the other: the job in
//! hand of each goes back uncounted, and the loop throws where it was called.

use super::signs::Rung;
use super::surroundings;
use crate::core::worker::alarm::Cause;
use crate::core::worker::lease::Lease;
use crate::core::worker::watch::Limits;
use crate::php::callbacks::Event;
use crate::php::delay_queue::DelayQueue;
use crate::php::object::inside;
use crate::php::unwind::{Outcome, Unwind, throw, throw_again};
use crate::php::{classes, sys};
use ext_php_rs::ffi::zend_execute_data;
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

thread_local! {
    /// The handlers that are running, inner ones last.
    static RUNS: RefCell<Vec<Rc<Run>>> = const { RefCell::new(Vec::new()) };
    /// The frames of the loops that are running.
    static LOOPS: RefCell<Vec<*const zend_execute_data>> = const { RefCell::new(Vec::new()) };
}

/// The runs of this thread, inner ones last.
pub fn with<T>(look: impl FnOnce(&[Rc<Run>]) -> T) -> T {
    RUNS.with_borrow(|all| look(all))
}

/// Until it leaves again, the run is one of these.
pub fn enter(number: u64, limits: Limits, rung: &Rung, handler: HandlerRun) -> Rc<Run> {
    let (rung, frame) = (Arc::clone(rung), sys::current_frame());
    let run = Rc::new(Run { number, limits, rung, thrown: Cell::new(None), passing: Cell::new(None), frame, handler });
    RUNS.with_borrow_mut(|all| all.push(Rc::clone(&run)));
    run
}

pub fn leave(run: &Rc<Run>) {
    RUNS.with_borrow_mut(|all| all.retain(|other| !Rc::ptr_eq(other, run)));
}

/// The call of `consume()` or `drain()` that runs a loop, until it is dropped.
pub struct LoopFrame(*const zend_execute_data);

impl LoopFrame {
    pub fn enter() -> Self {
        let frame: *const zend_execute_data = sys::current_frame();
        LOOPS.with_borrow_mut(|all| all.push(frame));
        Self(frame)
    }

    pub fn get(&self) -> *const zend_execute_data {
        self.0
    }
}

impl Drop for LoopFrame {
    fn drop(&mut self) {
        LOOPS.with_borrow_mut(|all| {
            if let Some(at) = all.iter().rposition(|frame| *frame == self.0) {
                all.remove(at);
            }
        });
    }
}

/// Whether a loop runs in this thread.
pub fn is_in_loop() -> bool {
    LOOPS.with_borrow(|all| !all.is_empty())
}

/// Whether a handler around this loop has to hear something: the loop ends.
pub fn is_called_away(frame: *const zend_execute_data) -> bool {
    RUNS.with_borrow(|all| all.iter().any(|run| run.is_around(frame) && run.word().is_some()))
}

/// Whether the lease of a job was lost whose handler runs this loop.
pub fn has_lost_around(frame: *const zend_execute_data) -> bool {
    RUNS.with_borrow(|all| all.iter().any(|run| run.is_around(frame) && run.handler.has_lost()))
}

/// The outcome of a loop that has ended. It throws what the handler around it has to hear, or else `passing`, an exception of an inner handler that
/// is about the job of an outer one.
pub fn pass_on<T>(frame: *const zend_execute_data, passing: Option<Zval>, outcome: Outcome<T>) -> Outcome<T> {
    let may_throw = match &outcome {
        Ok(_) => true,
        Err(Unwind::Thrown) => sys::pending_throwable().is_some(),
        Err(Unwind::Bailout) => false,
    };
    let called = |run: &&Rc<Run>| run.is_around(frame) && run.is_heard() && run.word().is_some();
    let run = RUNS.with_borrow(|all| all.iter().rfind(called).cloned());
    match (run, passing) {
        (Some(run), _) if may_throw => {
            run.word().into_iter().for_each(|word| run.say(word, frame));
            Err(Unwind::Thrown)
        }
        (None, Some(exception)) if outcome.is_ok() => Err(throw_again(exception)),
        _ => outcome,
    }
}

/// A job that a handler has.
pub struct Member {
    job: Zval,
    lease: Arc<Lease>,
    /// Listeners have heard that it was cancelled.
    is_told: Cell<bool>,
}

impl Member {
    pub fn new(job: &Zval, lease: &Arc<Lease>) -> Self {
        Self { job: job.shallow_clone(), lease: Arc::clone(lease), is_told: Cell::new(false) }
    }

    fn is_to_be_told(&self) -> bool {
        !self.is_told.get() && self.lease.is_cancelled()
    }
}

/// The run of a handler.
pub struct HandlerRun {
    /// One job, or a batch.
    members: Vec<Member>,
    /// The queue object of the loop.
    queue: Zval,
    /// Listeners, or the handler, are to know when a job is cancelled.
    hears_of_cancel: bool,
    /// A cancelled job is to end the handler.
    pub throws: bool,
    started: Instant,
}

impl HandlerRun {
    pub fn new(members: Vec<Member>, queue: &Zval, hears_of_cancel: bool, throws: bool) -> Self {
        Self { members, queue: queue.shallow_clone(), hears_of_cancel, throws, started: Instant::now() }
    }

    /// Listeners hear of each cancelled job once, in the middle of the handler's code.
    pub fn tell_of_cancel(&self) -> Outcome<()> {
        let Some(queue) = inside::<DelayQueue>(&self.queue) else { return Ok(()) };
        self.members.iter().filter(|member| member.is_to_be_told()).try_for_each(|member| {
            member.is_told.set(true);
            queue.listeners.emit(Event::Cancelled, Some(&member.job), None, Some(self.started.elapsed()))
        })
    }

    /// Of each job, whether listeners have heard that it was cancelled.
    pub fn told(&self) -> Vec<bool> {
        self.members.iter().map(|member| !self.hears_of_cancel || member.is_told.get()).collect()
    }

    fn has_lost(&self) -> bool {
        self.members.iter().any(|member| member.lease.is_lost())
    }
}

/// What is thrown into a handler.
#[derive(Clone, Copy)]
pub enum Word {
    Limit(Cause),
    Cancelled,
}

/// A run as this thread knows it.
pub struct Run {
    /// Of its call, among the calls of handlers and listeners in this thread.
    number: u64,
    pub limits: Limits,
    pub rung: Rung,
    pub thrown: Cell<Option<Cause>>,
    /// It was said while loops inside this run were running, and has not come through them.
    pub passing: Cell<Option<Word>>,
    /// The frame of the loop.
    pub frame: *const zend_execute_data,
    pub handler: HandlerRun,
}

impl Run {
    /// Whether its handler runs the loop of this frame.
    fn is_around(&self, frame: *const zend_execute_data) -> bool {
        self.frame != frame && sys::is_called_from(frame, self.frame)
    }

    /// What is thrown into a listener ends in a warning: the runs around it hear nothing meanwhile. The alarm rings again.
    pub fn is_heard(&self) -> bool {
        surroundings::innermost_listener().is_none_or(|listener| self.number > listener)
    }

    /// What it has to hear and has not heard yet.
    fn word(&self) -> Option<Word> {
        let due = || self.rung.due().filter(|_| self.thrown.get().is_none()).map(Word::Limit);
        self.passing.get().or_else(due)
    }

    /// Throws into the running code. A loop inside this run that waits ends first, and throws then.
    pub fn say(&self, word: Word, running: *const zend_execute_data) {
        if let Word::Limit(cause) = word {
            self.thrown.set(Some(cause));
            self.rung.due.store(0, Ordering::SeqCst);
        }
        let is_inside = |inner: *const zend_execute_data| {
            inner != self.frame && sys::is_called_from(running, inner) && sys::is_called_from(inner, self.frame)
        };
        let (waits, passes) = LOOPS.with_borrow(|loops| {
            (running != self.frame && loops.contains(&running), loops.iter().any(|inner| is_inside(*inner)))
        });
        self.passing.set(passes.then_some(word));
        if waits {
            return;
        }
        let (class, words) = match word {
            Word::Limit(Cause::TimedOut) => (&classes::TIMEOUT_EXCEPTION, self.limits.reason(Cause::TimedOut)),
            Word::Limit(Cause::Shutdown) => (&classes::SHUTDOWN_EXCEPTION, self.limits.reason(Cause::Shutdown)),
            Word::Cancelled => {
                let cancelled = self.handler.members.iter().find(|member| member.lease.is_cancelled());
                let id = cancelled.map(|member| member.lease.receipt.id.to_string()).unwrap_or_default();
                (&classes::CANCELLED_EXCEPTION, format!("job '{id}' was cancelled"))
            }
        };
        if passes {
            let words = format!("the handler that runs this loop has to end: {words}");
            throw(classes::SHUTDOWN_EXCEPTION.entry(), &words, 0);
        } else {
            throw(class.entry(), &words, 0);
        }
    }

    pub fn is_cancelled(&self, running: *const zend_execute_data) -> bool {
        self.rung.lost.load(Ordering::SeqCst)
            && self.handler.hears_of_cancel
            && self.handler.members.iter().any(Member::is_to_be_told)
            && sys::is_called_from(running, self.frame)
    }
}
