//! Consuming: one call of the shortest script that may do, of a longer one where that is not enough, and what the answers ask for.

use super::glance::Outlook;
use super::settle::{Range, range_args, ranges};
use super::unseen::Unseen;
use super::{Flow, Queue, wait};
use crate::core::connection::{Connection, random_name};
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, Receipt, Reserved};
use crate::core::link::{Repeat, Request};
use crate::core::process::Generation;
use crate::core::reply::{self, Leased, Reply};
use crate::core::{clock, scripts};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most jobs of one round trip.
const MOST: usize = 500;

/// What one look at a queue gave.
#[derive(Debug)]
pub enum Look {
    Jobs(Vec<Reserved>),
    /// Only where [`Trip::may_be_unseen`].
    Unseen(Vec<Unseen>),
    /// And what was learned of the queue.
    Nothing(Outlook),
}

/// A waiter's part of a look: its name, and how long it may sleep at most (zero: it stops waiting).
#[derive(Debug, Clone, Copy)]
pub struct Waiting<'a> {
    pub name: &'a str,
    pub at_most: Duration,
}

/// One call of the script: into which slot it leases, and what it acknowledges on the way.
#[derive(Debug)]
pub struct Trip<'a> {
    pub slot: &'a Arc<str>,
    /// Tells a repeated call from a new one with the same slot.
    pub call: u32,
    pub max: usize,
    pub done: Vec<&'a Receipt>,
    /// Tokens that were to be acknowledged and are not ours any more.
    pub lost: Vec<u64>,
    /// The jobs may be leased without their records, to be read with the next trip.
    pub may_be_unseen: bool,
    /// Jobs that were leased so before: to be read along.
    pub unseen: &'a [Unseen],
    /// Those of them that are there; or why their records could not be read.
    pub seen: Option<Result<Vec<Reserved>>>,
}

impl<'a> Trip<'a> {
    /// A first call, which acknowledges nothing.
    #[must_use]
    pub fn new(slot: &'a Arc<str>, max: usize) -> Self {
        Self { slot, call: 1, max, done: Vec::new(), lost: Vec::new(), may_be_unseen: false, unseen: &[], seen: None }
    }
}

/// The scripts that reserve: each can do all that the ones before it can, and costs more.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Way {
    /// `lua/reserve_unseen.lua`, where this is allowed, or `lua/reserve_next.lua`, where there is one to acknowledge and
    /// one to lease
    Shortest,
    /// `lua/reserve.lua`
    Usual,
    /// `lua/reserve_or_wait.lua`
    Any,
}

/// How a queue is asked.
#[derive(Clone, Copy)]
struct How<'a> {
    /// As far as is known, this one will do.
    way: Way,
    /// The answer to an earlier try was lost.
    is_retry: bool,
    waiting: Option<Waiting<'a>>,
}

/// Whether `lua/reserve.lua` can acknowledge this: nothing, or jobs of the very slot that is used again.
fn fits(done: &[Range<'_>], slot: &str) -> bool {
    match done {
        [] => true,
        [range] => range.slot == slot,
        _ => false,
    }
}

/// Where `lua/reserve_next.lua` would not do, as many reserves go without it, this one included: a short TTR or a history
/// seldom comes alone.
const WITHOUT_NEXT: u8 = 64;
/// The same for `lua/reserve_unseen.lua`: a trip ahead in vain costs less than one that is waited for.
const WITHOUT_UNSEEN: u8 = 16;

thread_local! {
    static SLOTS: RefCell<Option<(Generation, String, u64)>> = const { RefCell::new(None) };
}

/// A name for a lease slot that nobody else has, made before the request is sent.
#[must_use]
pub fn new_slot() -> Arc<str> {
    SLOTS.with_borrow_mut(|slots| {
        if !slots.as_ref().is_some_and(|(owner, ..)| owner.is_current()) {
            *slots = None;
        }
        let (_, name, count) = slots.get_or_insert_with(|| (Generation::current(), random_name(), 0));
        *count += 1;
        format!("{name}.{count}").into()
    })
}

impl Queue {
    /// Leases up to `max` jobs of the first watched queue that has any, waiting up to `timeout` (`None`: for ever). An empty
    /// result: nothing in time, or [`super::Flow::Return`].
    ///
    /// # Errors
    /// [`Error::Interrupted`] after [`super::Flow::Raise`]; connection and server errors.
    pub fn reserve(
        &self,
        watch: &[String],
        max: usize,
        timeout: Option<Duration>,
        interrupts: &mut dyn super::Interrupts,
    ) -> Result<Vec<Reserved>> {
        let queues: Vec<Self> =
            watch.iter().map(|name| if **name == *self.name { self.clone() } else { self.sibling(name) }).collect();
        let mut held = None;
        let mut look = |queue: &Self, held: &mut Option<Connection>, waiting: Option<Waiting<'_>>| {
            let slot = new_slot();
            queue.look(held, &mut Trip::new(&slot, max), waiting)
        };
        let result = wait::wait_for(&self.link, &mut held, &queues, timeout, interrupts, &mut look);
        if let Some(connection) = held {
            self.link.give_back(connection);
        }
        match result? {
            wait::Waited::Jobs(_, jobs) => Ok(jobs),
            wait::Waited::Nothing | wait::Waited::Left(Flow::Continue | Flow::Return) => Ok(Vec::new()),
            wait::Waited::Left(Flow::Raise) => Err(Error::Interrupted),
        }
    }

    /// Asks over this connection what [`Queue::look`] asks, which reads the answer when it is called with the same trip.
    pub fn begin_look(&self, connection: &mut Connection, trip: &Trip<'_>) {
        let done = ranges(trip.done.iter().copied());
        let how = How { way: Way::Shortest, is_retry: false, waiting: None };
        self.link.begin(self.link.deadline(), connection, |request, _, connection| {
            self.write_see(request, trip.unseen);
            self.ask(request, connection, trip, &done, how);
        });
    }

    fn ask(&self, request: &mut Request, connection: &Connection, trip: &Trip<'_>, done: &[Range<'_>], how: How<'_>) {
        if self.spin {
            request.spin();
        }
        let (call, offset) = (trip.call.to_be_bytes(), clock::offset_ms());
        let is_plain = how.way < Way::Any && !how.is_retry && how.waiting.is_none() && offset == 0;
        let needs_any = connection.ranked.contains(&*self.name) || connection.quiet.contains(&*self.name);
        let is_short = is_plain && fits(done, trip.slot) && !needs_any;
        let is_unseen = trip.may_be_unseen && how.way == Way::Shortest && connection.without_unseen == 0;
        if let (true, Way::Shortest, 1, 0, [Range { first, count: 1, .. }]) =
            (is_short, how.way, trip.max, connection.without_next, done)
        {
            let mut token = itoa::Buffer::new();
            let args: [&[u8]; 3] = [trip.slot.as_bytes(), &call, token.format(*first).as_bytes()];
            return request.script(&scripts::RESERVE_NEXT, &self.keys.reserve_next(), &args);
        }
        let most = trip.max.clamp(1, MOST).to_string();
        let args = range_args(done);
        let args = args.iter().map(Vec::as_slice);
        if is_short {
            let head: [&[u8]; 3] = [trip.slot.as_bytes(), &call, most.as_bytes()];
            let args: Vec<&[u8]> = head.into_iter().chain(args.skip(1)).collect();
            if is_unseen {
                return request.script(&scripts::RESERVE_UNSEEN, &self.keys.reserve_unseen(), &args);
            }
            return request.script(&scripts::RESERVE, &self.keys.reserve(), &args);
        }
        let offset = offset.to_string();
        let retry: &[u8] = if how.is_retry { b"1" } else { b"0" };
        let (waiter, at_most) = how.waiting.map_or(("", Duration::ZERO), |waiting| (waiting.name, waiting.at_most));
        let at_most = at_most.as_millis().to_string();
        let head = [offset.as_bytes(), trip.slot.as_bytes(), &call, most.as_bytes(), retry];
        let wait = [waiter.as_bytes(), at_most.as_bytes()];
        let args: Vec<&[u8]> = head.into_iter().chain(wait).chain(args).collect();
        request.script(&scripts::RESERVE_OR_WAIT, &self.keys.all(), &args);
    }

    /// Looks once. Repeats while a bounded part of housekeeping is being done.
    ///
    /// # Errors
    /// Connection and server errors; what was to be acknowledged may have been.
    pub fn look(
        &self,
        held: &mut Option<Connection>,
        trip: &mut Trip<'_>,
        waiting: Option<Waiting<'_>>,
    ) -> Result<Look> {
        let doing = |error: Error| error.while_doing(|| format!("reserving from queue '{}'", self.name));
        let mut done = ranges(trip.done.iter().copied());
        let mut way = Way::Shortest;
        loop {
            let mut sent = Instant::now();
            let unseen = if trip.seen.is_none() { trip.unseen } else { &[] };
            let mut was_lost = false;
            let value = self.link.run_on(held, Repeat::Yes, &mut |request, attempt, connection| {
                sent = attempt.begun.unwrap_or_else(Instant::now);
                was_lost = attempt.since_lost.is_some();
                let how = How { way, is_retry: was_lost, waiting };
                self.write_see(request, unseen);
                self.ask(request, connection, trip, &done, how);
            });
            let value = value.map_err(doing)?;
            if !unseen.is_empty() {
                let records = held.as_mut().and_then(|connection| connection.aside.take());
                trip.seen = Some(self.see_all(unseen, records).map_err(doing));
            }
            let mut reply = Reply::new(value).map_err(doing)?;
            // After a lost answer, what is gone was acknowledged by the try before.
            let mut gone = |lost: Vec<u64>| trip.lost.extend(lost.into_iter().filter(|_| !was_lost));
            match reply.word.as_str() {
                "OTHER" => {
                    way = Way::Usual;
                    if let Some(connection) = held {
                        if trip.max > 1 {
                            connection.without_unseen = WITHOUT_UNSEEN;
                        } else {
                            connection.without_next = WITHOUT_NEXT;
                        }
                    }
                    continue;
                }
                "LEASES" => {
                    let unseen = Unseen::read(reply, trip.slot, sent).map_err(doing)?;
                    return Ok(Look::Unseen(unseen));
                }
                word @ ("RANKED" | "UNUSUAL") => {
                    way = Way::Any;
                    if let (Some(connection), "RANKED") = (held.as_mut(), word) {
                        connection.ranked.insert(self.name.to_string());
                    }
                    continue;
                }
                "JOBS" => {
                    let (leased, lost) = reply.reserved(&self.name, trip.slot, sent).map_err(doing)?;
                    gone(lost);
                    if let Some(connection) = held {
                        connection.quiet.remove(&*self.name);
                        connection.without_next = connection.without_next.saturating_sub(1);
                        connection.without_unseen = connection.without_unseen.saturating_sub(1);
                    }
                    let jobs = self.keep_readable(leased)?;
                    if !jobs.is_empty() {
                        return Ok(Look::Jobs(jobs));
                    }
                }
                word @ ("EMPTY" | "PAUSED") => {
                    let is_paused = word == "PAUSED";
                    if let Some(connection) = held
                        && !connection.quiet.contains(&*self.name)
                    {
                        connection.quiet.insert(self.name.to_string());
                    }
                    gone(reply.tokens().map_err(doing)?);
                    let wait_us = reply.int().map_err(doing)?;
                    let wait = u64::try_from(wait_us).ok().map(Duration::from_micros);
                    let next_ms = reply.optional_int().map_err(doing)?;
                    return Ok(Look::Nothing(Outlook { wait, next_ms, is_paused }));
                }
                "AGAIN" => gone(reply.tokens().map_err(doing)?),
                _ => return Err(doing(reply::unexpected())),
            }
            done.clear();
        }
    }

    /// Sets damaged records aside, so that nobody meets them again.
    fn keep_readable(&self, leased: Leased) -> Result<Vec<Reserved>> {
        for receipt in &leased.damaged {
            self.bury_receipt(receipt, b"corrupt record")?;
        }
        Ok(leased.jobs)
    }

    pub(super) fn bury_receipt(&self, receipt: &Receipt, reason: &[u8]) -> Result<()> {
        self.script(&scripts::BURY, &[receipt.slot.as_bytes(), receipt.token.to_string().as_bytes(), reason])
            .map(|_| ())
    }

    /// Leases one given job, if it is ready, delayed or buried.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn reserve_job(&self, id: &JobId) -> Result<Option<Reserved>> {
        let doing = |error: Error| error.while_doing(|| format!("reserving job '{id}' of queue '{}'", self.name));
        let slot = new_slot();
        loop {
            let sent = Instant::now();
            let (reply, _) = self
                .script_knowing(&scripts::RESERVE_JOB, |attempt| {
                    let retry: &[u8] = if attempt.since_lost.is_some() { b"1" } else { b"0" };
                    vec![slot.as_bytes(), b"\0\0\0\x01", id.as_bytes(), retry]
                })
                .map_err(doing)?;
            match reply.word.as_str() {
                "JOBS" => {
                    let (leased, _) = reply.reserved(&self.name, &slot, sent).map_err(doing)?;
                    return Ok(self.keep_readable(leased)?.pop());
                }
                "MISSING" => return Ok(None),
                "AGAIN" => {}
                _ => return Err(doing(reply::unexpected())),
            }
        }
    }
}
