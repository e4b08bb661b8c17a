//! `reserve()` and its kin, `ackMany()`, `consumer()`.

use super::call::Call;
use super::callbacks::warn;
use super::delay_queue::DelayQueue;
use super::interrupts::PhpInterrupts;
use super::job::{self, Job};
use super::object::inside;
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, classes, convert, times};
use crate::core::error::Error;
use crate::core::job::Reserved;
use crate::core::queue::{Finished, Flow, Interrupts, Queue, Settled, Taken, rest};
use crate::core::worker::lease::Lease;
use ext_php_rs::types::Zval;
use std::time::{Duration, Instant};

pub fn reserve(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let jobs = fetch(this, 1, timeout(call, 1)?)?;
    Ok(jobs.into_iter().next().unwrap_or_else(convert::null))
}

pub fn reserve_many(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let max = call.required(1, args::at_least(1))?;
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    Ok(convert::list(fetch(this, max, timeout(call, 2)?)?))
}

/// `int|float|null $timeout = 0`
fn timeout(call: &Call, number: u32) -> Outcome<Option<Duration>> {
    Ok(call.optional(number, args::timeout)?.unwrap_or(Some(Duration::ZERO)))
}

/// Job objects; none when the time ran out, `stop()` was called, or an operator wants the worker to end.
fn fetch(this: &DelayQueue, max: usize, timeout: Option<Duration>) -> Outcome<Vec<Zval>> {
    let (watched, enlisted) = (this.watched(), this.enlistment());
    let orders = enlisted.as_ref().and_then(|enlisted| enlisted.orders());
    let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
    let time_left = || timeout.map(|t| deadline.map_or(t, |d| d.saturating_duration_since(Instant::now())));
    let last_round = this.queue.first().client().last_round();
    let mut left = timeout;
    while orders.is_none_or(|orders| orders.end().is_none()) {
        let mut interrupts = PhpInterrupts::obeying(&this.stop, orders);
        if orders.is_some_and(|orders| orders.is_paused()) {
            let flow = rest(left.unwrap_or(LONGEST_REST).min(LONGEST_REST), &mut interrupts);
            interrupts.finish(raised(flow))?;
            left = time_left();
            if this.stop.get() || left == Some(Duration::ZERO) {
                break;
            }
            continue;
        }
        let result = this.queue.reserve(&watched, max, left, &mut interrupts);
        let found = interrupts.finish(result)?;
        left = time_left();
        let Some((queue, reserved)) = found else {
            // Told to pause, it rests for as long as it would have waited.
            if orders.is_some_and(|orders| orders.is_paused()) && !this.stop.get() && left != Some(Duration::ZERO) {
                continue;
            }
            break;
        };
        let jobs = deliver(this, &queue, reserved)?;
        if !jobs.is_empty() {
            if let Some(enlisted) = &enlisted {
                for (object, job) in jobs.iter().filter_map(|object| Some((object, inside::<Job>(object)?))) {
                    job.report_to(enlisted, enlisted.task_of(object)?);
                }
            }
            return Ok(jobs);
        }
        // Every one of them was undecodable and is buried: reserve again in the time that is left.
        if timeout == Some(Duration::ZERO) && Instant::now() >= last_round {
            return Err(Error::unfinished(false)
                .while_doing(|| format!("reserving from queue '{}'", queue.name()))
                .into());
        }
        let mut interrupts = PhpInterrupts::new(&this.stop);
        let flow = interrupts.poll();
        interrupts.finish(raised(flow))?;
        if left == Some(Duration::ZERO) && timeout != left || flow == Flow::Return {
            break;
        }
    }
    this.stop.set(false);
    Ok(Vec::new())
}

/// A worker that is paused looks again after this time at the latest.
const LONGEST_REST: Duration = Duration::from_secs(3600);

fn raised(flow: Flow) -> Result<(), Error> {
    if flow == Flow::Raise { Err(Error::Interrupted) } else { Ok(()) }
}

/// True when one of the watched queues has a ready job.
pub fn wait(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let timeout = call.optional(1, args::timeout)?.flatten();
    let enlisted = this.enlistment();
    let mut interrupts = PhpInterrupts::obeying(&this.stop, enlisted.as_ref().and_then(|enlisted| enlisted.orders()));
    let result = this.queue.wait(&this.watched(), timeout, &mut interrupts);
    let is_ready = interrupts.finish(result)?;
    if !is_ready {
        this.stop.set(false);
    }
    Ok(convert::bool(is_ready))
}

pub fn reserve_job(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let id = call.required(1, args::id)?;
    let reserve = |part: &Queue| Ok(part.reserve_job(&id)?.map(|job| (part.clone(), job)));
    let Some((queue, reserved)) = this.queue.at_home(&id, reserve)? else { return Ok(convert::null()) };
    let jobs = deliver(this, &queue, vec![reserved])?;
    Ok(jobs.into_iter().next().unwrap_or_else(convert::null))
}

/// Decodes payloads; a job whose body cannot be decoded is buried with that reason.
fn deliver(this: &DelayQueue, queue: &Queue, reserved: Vec<Reserved>) -> Outcome<Vec<Zval>> {
    let mut jobs = Vec::with_capacity(reserved.len());
    let mut failure = None;
    for one in reserved {
        match this.defaults.encoding.format.decode(&one.payload)? {
            Ok(payload) => {
                let lease = Lease::of(&one);
                let value = job::object(queue.clone(), one, payload, lease, this.defaults.encoding)?;
                inside::<Job>(&value).into_iter().for_each(Job::give_out);
                jobs.push(value);
            }
            Err(words) => {
                // Without an answer the others would each wait for one. They return when their leases end.
                if failure.is_none() {
                    failure = bury(queue, one, &words).err();
                }
            }
        }
    }
    match failure {
        // Jobs in hand go first; the one that could not be buried returns when its lease ends.
        Some(error) if jobs.is_empty() => Err(error.into()),
        _ => Ok(jobs),
    }
}

fn bury(queue: &Queue, reserved: Reserved, words: &str) -> Result<(), Error> {
    match queue.bury(&reserved.held(), Some(words.as_bytes())) {
        Err(Error::LeaseLost { .. }) => Ok(()),
        other => other,
    }
}

/// Counts those that were still ours; the others are settled or lost, and stay so.
pub fn ack_many(_: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let mut jobs: Vec<&Job> = Vec::new();
    // The holder of another queue's job acknowledges it in another way.
    let read =
        |value, origin: Origin<'_>| inside::<Job>(value).ok_or_else(|| origin.type_error(classes::JOB.name, value));
    for job in call.each(1, read)? {
        if !jobs.iter().any(|other| std::ptr::eq(*other, job)) {
            jobs.push(job);
        }
    }
    jobs.retain(|job| job.is_ours());
    let mut done: u64 = 0;
    for job in &jobs {
        if let Some(acknowledged) = job.ack_recorded() {
            done += u64::from(acknowledged?);
        }
    }
    jobs.retain(|job| job.recorder.is_none());
    let mut failure = None;
    // One round trip per queue: jobs of several watched queues, or of several servers, may come together.
    while let Some(first) = jobs.first() {
        let queue = first.queue.clone();
        let (same, others): (Vec<&Job>, Vec<&Job>) = jobs.into_iter().partition(|job| job.queue.is_same(&queue));
        let finished: Vec<Finished<'_>> = same.iter().map(|job| job.finished()).collect();
        match queue.ack_many(&finished) {
            Ok(settled) => {
                for (job, settled) in same.iter().zip(settled) {
                    match settled {
                        Settled::Ours | Settled::Buried => {
                            done += 1;
                            job.set_settled();
                        }
                        Settled::Lost => job.set_lost(),
                    }
                }
            }
            Err(error) => failure = failure.or(Some(error)),
        }
        jobs = others;
    }
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(convert::int(done)),
    }
}

/// The classic consumer: takes and deletes. Redis has none of them any more, so no warning may keep them from the caller: one that cannot be
/// decoded comes as it was stored.
pub fn consumer(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let max_score =
        call.nullable(1, |value, origin| times::unix_us(args::number(value, origin)?, f64::floor, origin))?;
    let limit = call.optional(2, args::at_least(1))?.unwrap_or(10);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    for Taken { payload: body, is_sealed } in this.queue.take(max_score, limit)? {
        if is_sealed {
            warn("A payload is sealed, and this queue object has no keys")?;
            out.push(convert::bytes(&body));
            continue;
        }
        out.push(match this.defaults.encoding.format.decode(&body)? {
            Ok(value) => value,
            Err(words) => {
                warn(&format!("A {words}"))?;
                convert::bytes(&body)
            }
        });
    }
    Ok(convert::list(out))
}
