//! `enlist()`: a loop of the program's own in the list of workers, which hears the orders of operators.

use super::call::Call;
use super::classes::{self, cases, properties};
use super::delay_queue::DelayQueue;
use super::object::{Handlers, Inside, make};
use super::task::Tasks;
use super::unwind::{Outcome, throw_error};
use super::worker::engine::Engine;
use super::worker::runs;
use super::worker::signs::Rung;
use super::{args, convert, sys};
use crate::core::process::Generation;
use crate::core::queue::Queue;
use crate::core::registry::{Order, TaskCount};
use crate::core::worker::keeper::Keeper;
use crate::core::worker::lease::Ticket;
use crate::core::worker::listing::Orders;
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// The fields of a `DelayQueue\Enlisted` object.
pub struct Enlisted(Rc<Enlistment>);

impl Inside for Enlisted {
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
}

/// The loop goes off the list with its object, though jobs and the queue still know of it.
impl Drop for Enlisted {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The entry of the loop.
pub struct Enlistment {
    orders: Arc<Orders>,
    /// The queues that it serves, first one first.
    queues: Vec<Queue>,
    /// `None` once it has ended.
    keeper: RefCell<Option<Keeper>>,
    /// The lease of the job that the list shows.
    shown: Cell<u64>,
    tasks: Tasks,
    process: Generation,
}

impl Enlistment {
    /// It is on the list, and not in a child of that process.
    fn is_there(&self) -> bool {
        self.process.is_current() && self.keeper.borrow().is_some()
    }

    /// The orders that it has to obey, while it is there.
    pub fn orders(&self) -> Option<&Arc<Orders>> {
        Some(&self.orders).filter(|_| self.is_there())
    }

    /// The program has the job in hand.
    pub fn begins(&self, queue: &Queue, ticket: Ticket) {
        let index = self.queues.iter().position(|other| other.is_same(queue));
        if let (Some(keeper), Some(index)) = (self.keeper.borrow_mut().as_mut(), index) {
            self.shown.set(ticket.lease.receipt.token());
            keeper.begins(&Ticket { queue: index, ..ticket });
        }
    }

    /// The name of the job's task.
    pub fn task_of(&self, job: &Zval) -> Outcome<Option<String>> {
        self.tasks.of(job)
    }

    /// A job of this task was settled.
    pub fn ran(&self, task: String, count: TaskCount) {
        if let Some(keeper) = self.keeper.borrow().as_ref() {
            keeper.ran(task, count);
        }
    }

    /// The job of this lease is settled, or nobody has it any more.
    pub fn ends(&self, token: u64) {
        if self.shown.get() == token
            && self.is_there()
            && let Some(keeper) = self.keeper.borrow_mut().as_mut()
        {
            keeper.has_ended();
        }
    }

    fn end(&self) {
        let keeper = self.keeper.take();
        if let (Some(keeper), Some(queue), true) = (keeper, self.queues.first(), self.process.is_current()) {
            keeper.sign_off(queue.client().deadline());
        }
    }
}

pub fn enlist(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let kind = call
        .optional(1, args::bytes)?
        .map_or_else(|| "worker".into(), |kind| String::from_utf8_lossy(&kind).into_owned());
    if !sys::is_command_line() {
        return Err(throw_error("DelayQueue::enlist() is for programs of the command line: a request has no loop"));
    }
    if runs::is_in_loop() {
        return Err(throw_error("DelayQueue::enlist() must not be called within consume(), whose loop is on the list"));
    }
    if this.enlistment().is_some() {
        return Err(throw_error("This object is on the list of workers already"));
    }
    let queues: Vec<Queue> = this.queue.of_all(&this.watched()).iter().map(Queue::hasty).collect();
    let (orders, tasks) = (Arc::<Orders>::default(), Tasks::read(call, 2, this.hides_payloads())?);
    // It watches no run, so that its alarm is never rung.
    let mut keeper = Keeper::new(Box::new(Engine::current(Rung::default())), false);
    keeper.enlist_at_once(&queues, Arc::clone(&orders), kind);
    let (keeper, process) = (RefCell::new(Some(keeper)), Generation::current());
    let enlistment = Rc::new(Enlistment { orders, queues, keeper, shown: Cell::new(0), tasks, process });
    this.enlisted.replace(Rc::downgrade(&enlistment));
    make(Enlisted(enlistment), properties::Enlisted {})
}

/// What an operator has told the loop.
pub fn order(this: &Enlisted) -> Outcome<Zval> {
    let order = this.0.orders().and_then(|orders| match orders.end() {
        Some(Order::Restart) => Some(cases::WorkerOrder::Restart),
        Some(_) => Some(cases::WorkerOrder::Stop),
        None => orders.is_paused().then_some(cases::WorkerOrder::Pause),
    });
    Ok(convert::nullable(order, classes::case_object))
}

pub fn close(this: &Enlisted) -> Outcome<Zval> {
    this.0.end();
    Ok(convert::null())
}
