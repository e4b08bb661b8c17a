//! The loop: fetch, call, settle, until there is a reason to stop. And one job in it, from its bytes to the end of its handler.

use super::alarm::LimitGuard;
use super::runs::{self, HandlerRun};
use super::settle::{HandledJob, Verdict, last_words};
use super::signals;
use super::state::{InHand, Loop, has_reached};
use super::surroundings::Changes;
use crate::core::clock;
use crate::core::queue::{Flow, LONGEST_ALONE, check_ready, is_alone, rest};
use crate::core::registry::Order;
use crate::core::worker::alarm::Cause;
use crate::core::worker::feed::Fetched;
use crate::core::worker::lease::Delivery;
use crate::core::worker::watch::Limits;
use crate::php::callbacks::{Ending, Event, attempt, discard};
use crate::php::classes::cases::StopReason;
use crate::php::unwind::{Outcome, Unwind, guard, throw_again};
use crate::php::{classes, convert, exceptions};
use ext_php_rs::types::Zval;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How it went.
pub struct Ended {
    pub stop: StopReason,
    pub jobs: u64,
}

/// The time that a dying process may still spend on Redis.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// The time that a loop may still take that ends in good order.
const FAREWELL: Duration = Duration::from_secs(3);
/// The thread that keeps the leases may be acknowledging: its answer is looked for so often.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_millis(50);

impl Loop<'_> {
    /// Works until there is a reason to stop.
    pub fn run(mut self) -> Outcome<Ended> {
        // The loop catches here every error that nothing on the way has caught, even a fatal one in a destructor: it is still whole.
        let result = guard(|| self.work()).and_then(|result| result);
        if result.is_err() {
            clock::within(LAST_WORDS, || self.depart());
        }
        let values = (std::mem::take(&mut self.unacknowledged), std::mem::replace(&mut self.handler, Zval::new()));
        let (frame, passing) = (self.frame.get(), self.passing.take());
        drop(self);
        let discarded = discard(values);
        runs::pass_on(frame, passing, result.and_then(|ended| discarded.map(|()| ended)))
    }

    fn work(&mut self) -> Outcome<Ended> {
        self.emit(Event::WorkerStarting, None, None)?;
        let stop = self.rounds()?;
        let time = self.time_to_end().unwrap_or(FAREWELL);
        clock::within(time, || self.depart());
        self.feed.give_up_all();
        self.report_lost()?;
        self.report_unanswered()?;
        self.emit(Event::WorkerStopping, None, None)?;
        Ok(Ended { stop, jobs: self.jobs })
    }

    /// Fails the job in hand, acknowledges jobs that are done and gives back those that were not started. A job for which this fails comes back
    /// when its lease ends.
    fn leave(&mut self) {
        if self.is_child() {
            return;
        }
        self.drop_job_in_hand();
        let _ = self.feed.flush();
        let _ = self.feed.return_rest();
    }

    /// Leaves for good.
    fn depart(&mut self) {
        self.leave();
        self.feed.sign_off();
    }

    fn rounds(&mut self) -> Outcome<StopReason> {
        // How long to wait at most while listeners have yet to hear of acknowledgements.
        let mut unacknowledged = None;
        loop {
            self.same_process()?;
            if let Some(stop) = self.reason_to_stop() {
                return Ok(stop);
            }
            if !self.is_ready {
                match check_ready(self.feed.queues()) {
                    Ok(()) => {
                        self.is_ready = true;
                        self.back()?;
                        self.emit(Event::WorkerReady, None, None)?;
                    }
                    Err(error) => self.away(error)?,
                }
                continue; // a listener may have stopped the loop
            }
            if self.is_paused() {
                self.leave();
                let mut interrupts = self.interrupts(true);
                let is_alone = is_alone(self.feed.queues());
                let length = self.options.idle_timeout.min(if is_alone { LONGEST_ALONE } else { Duration::MAX });
                let flow = rest(length, &mut interrupts);
                self.left(interrupts.php, flow)?;
                if is_alone && flow == Flow::Continue {
                    return Ok(StopReason::Empty); // nobody can tell it to go on
                }
                continue;
            }
            if self.options.max_jobs > 0 {
                let left = self.options.max_jobs.saturating_sub(self.jobs);
                self.feed.want(usize::try_from(left).unwrap_or(usize::MAX));
            }
            let mut interrupts = self.idling();
            let longest = self.longest_wait(unacknowledged);
            let waits = longest != Some(Duration::ZERO) && unacknowledged.is_none();
            match self.feed.next(longest, &mut interrupts) {
                Ok(Fetched::Job(delivery)) => {
                    if let Err(fault) = self.back().and_then(|()| self.report_lost()) {
                        self.feed.put_back(*delivery);
                        return Err(fault);
                    }
                    self.handle(*delivery)?;
                    unacknowledged = self.is_unacknowledged().then_some(Duration::ZERO);
                }
                Ok(Fetched::Nothing) => {
                    self.back()?;
                    self.report_lost()?;
                    if self.options.stop_when_empty || waits && is_alone(self.feed.queues()) {
                        return Ok(self.reason_to_stop().unwrap_or(StopReason::Empty));
                    }
                    unacknowledged = self.is_unacknowledged().then_some(ACKNOWLEDGED_WITHIN);
                }
                Ok(Fetched::Unfinished) => {
                    self.back()?;
                    self.report_lost()?;
                }
                Ok(Fetched::Left(flow)) => self.left(interrupts.php, flow)?,
                Err(error) => self.away(error)?,
            }
        }
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        let options = &self.options;
        if self.is_called_away() {
            return Some(StopReason::Stopped); // nobody sees it: the loop throws
        }
        if signals::stop_requested() {
            return Some(StopReason::Signal);
        }
        match self.orders.end() {
            Some(Order::Restart) => return Some(StopReason::Restart),
            Some(_) => return Some(StopReason::Ordered),
            None => {}
        }
        if self.queue.stop.take() {
            return Some(StopReason::Stopped);
        }
        if options.max_jobs > 0 && self.jobs >= options.max_jobs {
            return Some(StopReason::MaxJobs);
        }
        if !options.max_time.is_zero() && self.started.elapsed() >= options.max_time {
            return Some(StopReason::MaxTime);
        }
        if has_reached(options.memory_limit) {
            return Some(StopReason::MemoryLimit);
        }
        None
    }

    /// Whether listeners have yet to hear if jobs that are done were acknowledged.
    fn is_unacknowledged(&self) -> bool {
        !self.unacknowledged.is_empty()
    }

    /// `None`: for ever.
    fn longest_wait(&self, unacknowledged: Option<Duration>) -> Option<Duration> {
        // After an outage the loop asks without waiting, so that listeners hear at once that it is over.
        if self.options.stop_when_empty || self.away.is_some() {
            return Some(Duration::ZERO);
        }
        let max_time = Some(self.options.max_time).filter(|max_time| !max_time.is_zero());
        let left = max_time.map(|max_time| max_time.saturating_sub(self.started.elapsed()));
        [left, unacknowledged].into_iter().flatten().min()
    }
}

impl Loop<'_> {
    pub(super) fn handle(&mut self, delivery: Delivery) -> Outcome<()> {
        let Some(queue) = self.feed.queue(delivery.ticket.queue).cloned() else { return Ok(()) };
        let (held, lease) = (delivery.job.held(), Arc::clone(&delivery.ticket.lease));
        self.in_hand = Some(InHand { queue: queue.clone(), held, lease, is_put_back: false });
        let encoding = self.queue.defaults.encoding;
        let payload = match encoding.format.decode(&delivery.job.payload)? {
            Ok(payload) => payload,
            Err(why) => {
                let verdict = Verdict::Bury(why.clone().into_bytes(), exceptions::payload(&why));
                let job = HandledJob::new(queue, delivery, convert::null(), encoding)?;
                self.settle(&job, &verdict)?;
                return discard((job, verdict));
            }
        };
        let job = HandledJob::new(queue, delivery, payload, encoding)?;
        self.jobs += 1;
        self.emit(Event::Processing, Some(&job.object), None)?;
        let timeout = match job.held.options.timeout_ms {
            0 => self.options.timeout,
            own_ms => Duration::from_millis(own_ms),
        };
        self.feed.keeper().begins(&job.ticket);
        let (started, changes) = (Instant::now(), Changes::watch(true));
        let limits = Limits { timeout, shutdown: self.options.shutdown, grace: self.options.grace };
        let (ending, cause) = self.call_handler(&job, changes.number(), limits);
        self.ran = Some(started.elapsed());
        if self.is_child() {
            return Err(match ending {
                Ending::Returned(_) => self.same_process().err().unwrap_or(Unwind::Thrown),
                Ending::Threw(exception) => throw_again(exception),
                Ending::Exited => Unwind::Thrown,
                Ending::Fatal => Unwind::Bailout,
            });
        }
        match ending {
            Ending::Returned(_) | Ending::Threw(_) => changes.undo()?,
            Ending::Exited | Ending::Fatal => changes.leave(),
        }
        self.note_loss_around(&ending, &job);
        let is_called_away = self.is_called_away();
        if let Some(in_hand) = &mut self.in_hand {
            in_hand.is_put_back = cause == Some(Cause::Shutdown) || is_called_away;
        }
        let verdict = Verdict::of(ending, cause, timeout, is_called_away);
        let settled = self.settle(&job, &verdict);
        self.feed.keeper().has_ended();
        settled?;
        self.ran = None;
        discard((job, verdict))
    }

    /// The second: which of its limits has ended it.
    fn call_handler(&mut self, job: &HandledJob, number: u64, limits: Limits) -> (Ending, Option<Cause>) {
        let arguments = [job.object.shallow_clone(), self.object.shallow_clone()];
        let hears_of_cancel = self.options.throw_on_cancel || self.listeners().has(Event::Cancelled);
        let throws = self.options.throw_on_cancel;
        let run = HandlerRun::new(&job.object, self.object, &job.ticket.lease, hears_of_cancel, throws);
        let limit = LimitGuard::start(number, limits, &self.rung, run);
        if !limits.are_none() {
            self.feed.keeper().watch(&job.queue, &job.held, limits);
        }
        let ending = limit.throw_into(attempt(&self.handler, arguments));
        self.feed.keeper().unwatch();
        self.has_told_of_cancel = !hears_of_cancel || limit.has_told();
        (ending, limit.cause())
    }

    /// A handler may work on the job of a handler around this loop, whose lease is lost: nothing is wrong with its own job.
    fn note_loss_around(&mut self, ending: &Ending, job: &HandledJob) {
        if let Ending::Threw(exception) = ending
            && exception.object().is_some_and(|object| classes::LEASE_LOST_EXCEPTION.owns(object))
            && !job.ticket.lease.is_lost()
            && runs::has_lost_around(self.frame.get())
        {
            self.passing = Some(exception.shallow_clone());
        }
    }

    /// Settles the job in hand, because the process ends, or something that is not the handler's threw. The attempt has failed, unless the handler
    /// was told to stop.
    pub(super) fn drop_job_in_hand(&mut self) {
        if let Some(InHand { queue, held, lease, is_put_back }) = self.in_hand.take() {
            let _ = if is_put_back { queue.put_back(&held) } else { queue.fail(&held, Some(&last_words())).map(drop) };
            lease.settle();
        }
    }
}
