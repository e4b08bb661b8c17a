//! The loop: fetch, call, settle, until there is a reason to stop. And one job in it, from its bytes to the end of its handler.

use super::alarm::LimitGuard;
use super::runs::{self, HandlerRun, Member};
use super::settle::{HandledJob, Verdict, last_words};
use super::signals;
use super::state::{InHand, Loop, has_reached};
use super::surroundings::Changes;
use crate::core::clock;
use crate::core::queue::{Flow, LONGEST_ALONE, check_ready, is_alone, rest};
use crate::core::registry::{Order, TaskCount};
use crate::core::worker::alarm::Cause;
use crate::core::worker::feed::{Feed, Fetched};
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
/// A batch waits for more jobs no longer than until so soon before the end of the first lease.
const BEFORE_LEASE_END: Duration = Duration::from_secs(1);
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

    /// Fails the jobs in hand, acknowledges jobs that are done and gives back those that were not started. A job for which this fails comes back
    /// when its lease ends.
    fn leave(&mut self) {
        if self.is_child() {
            return;
        }
        self.drop_jobs_in_hand();
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
                    if let Some(members) = self.filled(*delivery)? {
                        self.handle(members)?;
                    }
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
        [self.time_left(), unacknowledged].into_iter().flatten().min()
    }

    /// `None`: without a limit.
    fn time_left(&self) -> Option<Duration> {
        let max_time = Some(self.options.max_time).filter(|max_time| !max_time.is_zero());
        max_time.map(|max_time| max_time.saturating_sub(self.started.elapsed()))
    }
}

impl Loop<'_> {
    /// The job, and in a loop of batches those that go with it. `None`: there is none to handle, because the loop was asked to leave, or all were
    /// cancelled meanwhile.
    fn filled(&mut self, first: Delivery) -> Outcome<Option<Vec<Delivery>>> {
        let Some(most) = self.options.batch.filter(|_| !first.job.goes_alone()) else { return Ok(Some(vec![first])) };
        let most = match self.options.max_jobs {
            0 => most,
            max => most.min(usize::try_from(max.saturating_sub(self.jobs)).unwrap_or(usize::MAX)),
        };
        let within = self.options.within.min(self.time_left().unwrap_or(Duration::MAX));
        let (index, within) = (first.ticket.queue, Instant::now() + within);
        let mut members = vec![first];
        while members.len() < most {
            let ends = members.iter().filter_map(|member| member.ticket.lease.until().checked_sub(BEFORE_LEASE_END));
            let left = ends.min().unwrap_or(within).min(within).saturating_duration_since(Instant::now());
            let mut interrupts = self.interrupts(false);
            let next = self.feed.next_of(index, most - members.len(), left, &mut interrupts);
            match next {
                Ok(Fetched::Job(delivery)) => members.push(*delivery),
                Ok(Fetched::Left(flow)) => {
                    members.into_iter().rev().for_each(|member| self.feed.put_back(member));
                    return self.left(interrupts.php, flow).map(|()| None);
                }
                Ok(Fetched::Unfinished) if !left.is_zero() => {}
                // Those that are there do not wait for a Redis that is away.
                Ok(Fetched::Nothing | Fetched::Unfinished) | Err(_) => break,
            }
        }
        // Of one that was cancelled meanwhile nobody hears, as of any job that is fetched ahead.
        members.extract_if(.., |member| member.ticket.lease.is_lost()).for_each(|member| member.ticket.lease.settle());
        Ok(Some(members).filter(|members| !members.is_empty()))
    }

    /// Calls the handler with these jobs, which are of one queue, and settles them.
    fn handle(&mut self, members: Vec<Delivery>) -> Outcome<()> {
        let queue_of = |feed: &Feed, member: &Delivery| feed.queue(member.ticket.queue).cloned();
        let in_hand = |member: &Delivery| {
            let (held, lease) = (member.job.held(), Arc::clone(&member.ticket.lease));
            Some(InHand { queue: queue_of(&self.feed, member)?, held, lease, is_put_back: false })
        };
        self.in_hand = members.iter().filter_map(in_hand).collect();
        let encoding = self.queue.defaults.encoding;
        let mut jobs = Vec::with_capacity(members.len());
        for member in members {
            let Some(queue) = queue_of(&self.feed, &member) else { continue };
            match encoding.format.decode(&member.job.payload)? {
                Ok(payload) => jobs.push(HandledJob::new(queue, member, payload, encoding)?),
                Err(why) => {
                    let verdict = Verdict::Bury(why.clone().into_bytes(), exceptions::payload(&why));
                    let job = HandledJob::new(queue, member, convert::null(), encoding)?;
                    self.settle(&job, &verdict, false)?;
                    discard((job, verdict))?;
                }
            }
        }
        let Some(first) = jobs.first() else { return Ok(()) };
        self.jobs += jobs.len() as u64;
        for job in &jobs {
            self.emit(Event::Processing, Some(&job.object), None)?;
        }
        let limits = jobs.iter().map(|job| match job.held.options.timeout_ms {
            0 => self.options.timeout,
            own_ms => Duration::from_millis(own_ms),
        });
        // Without a limit for one there is none for all.
        let timeout = limits.map(|limit| if limit.is_zero() { Duration::MAX } else { limit }).max().unwrap_or_default();
        let timeout = if timeout == Duration::MAX { Duration::ZERO } else { timeout };
        self.feed.keeper().begins(&first.ticket);
        let (started, changes) = (Instant::now(), Changes::watch(true));
        let limits = Limits { timeout, shutdown: self.options.shutdown, grace: self.options.grace };
        let (ending, cause, told) = self.call_handler(&jobs, changes.number(), limits);
        self.ran = Some(started.elapsed());
        if self.is_child() {
            return Err(match ending {
                Ending::Returned => self.same_process().err().unwrap_or(Unwind::Thrown),
                Ending::Threw(exception) => throw_again(exception),
                Ending::Exited => Unwind::Thrown,
                Ending::Fatal => Unwind::Bailout,
            });
        }
        match ending {
            Ending::Returned | Ending::Threw(_) => changes.undo()?,
            Ending::Exited | Ending::Fatal => changes.leave(),
        }
        self.note_loss_around(&ending, &jobs);
        let is_called_away = self.is_called_away();
        for in_hand in &mut self.in_hand {
            in_hand.is_put_back = cause == Some(Cause::Shutdown) || is_called_away;
        }
        let verdict = Verdict::of(ending, cause, timeout, is_called_away);
        let mut settled = self.count(&jobs, &verdict);
        for (job, has_told) in jobs.iter().zip(told) {
            if settled.is_ok() {
                settled = self.settle(job, &verdict, has_told);
            } else {
                // A listener has ended the loop, or the process: the verdict holds for the others all the same, and nobody hears of it.
                self.is_silent = true;
                let _ = clock::within(LAST_WORDS, || self.settle(job, &verdict, has_told));
            }
        }
        self.feed.keeper().has_ended();
        settled?;
        self.ran = None;
        discard((jobs, verdict))
    }

    /// Counts the run by the tasks of its jobs, each of which has an equal part of its time.
    fn count(&mut self, jobs: &[HandledJob], verdict: &Verdict) -> Outcome<()> {
        let time = self.ran.unwrap_or_default() / u32::try_from(jobs.len()).unwrap_or(1).max(1);
        for job in jobs {
            if let Some(task) = self.tasks.of(&job.object)? {
                let has_failed = job.failed_by(verdict);
                self.feed.keeper().ran(task, TaskCount::of_run(time, has_failed));
            }
        }
        Ok(())
    }

    /// The second: which of its limits has ended it. The third: of each job, whether listeners have heard that it was cancelled, or there are none.
    fn call_handler(&mut self, jobs: &[HandledJob], number: u64, limits: Limits) -> (Ending, Option<Cause>, Vec<bool>) {
        let mut objects = jobs.iter().map(|job| job.object.shallow_clone());
        let given = match self.options.batch {
            Some(_) => convert::list(objects),
            None => objects.next().unwrap_or_else(convert::null),
        };
        let hears_of_cancel = self.options.throw_on_cancel || self.listeners().has(Event::Cancelled);
        let members = jobs.iter().map(|job| Member::new(&job.object, &job.ticket.lease)).collect();
        let run = HandlerRun::new(members, self.object, hears_of_cancel, self.options.throw_on_cancel);
        let limit = LimitGuard::start(number, limits, &self.rung, run);
        if !limits.are_none() {
            let held = jobs.iter().map(|job| (job.queue.clone(), job.held.clone())).collect();
            self.feed.keeper().watch(held, limits);
        }
        let ending = limit.throw_into(attempt(&self.handler, [given, self.object.shallow_clone()]));
        self.feed.keeper().unwatch();
        (ending, limit.cause(), limit.told())
    }

    /// A handler may work on the job of a handler around this loop, whose lease is lost: nothing is wrong with its own job.
    fn note_loss_around(&mut self, ending: &Ending, jobs: &[HandledJob]) {
        if let Ending::Threw(exception) = ending
            && exception.object().is_some_and(|object| classes::LEASE_LOST_EXCEPTION.owns(object))
            && !jobs.iter().any(|job| job.ticket.lease.is_lost())
            && runs::has_lost_around(self.frame.get())
        {
            self.passing = Some(exception.shallow_clone());
        }
    }

    /// Settles the jobs in hand, because the process ends, or something that is not the handler's threw. The attempt has failed, unless the handler
    /// was told to stop.
    pub(super) fn drop_jobs_in_hand(&mut self) {
        for InHand { queue, held, lease, is_put_back } in std::mem::take(&mut self.in_hand) {
            let _ = if is_put_back { queue.put_back(&held) } else { queue.fail(&held, Some(&last_words())).map(drop) };
            lease.settle();
        }
    }
}
