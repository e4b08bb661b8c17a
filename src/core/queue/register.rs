//! How a waiter registers in its queues, all of them together: with plain commands where a look has found nothing, else by script.

use super::Queue;
use super::ask_ahead::ask_ahead;
use super::flight::{Told, ask_each};
use super::idle_check::{HORIZON, REGISTERED_FOR, Registered};
use super::look::{Look, ask_for_due};
use super::next_due::{NextDue, jittered};
use super::subscribe::subscribe;
use super::wait::Registration;
use crate::core::error::Result;
use crate::core::pool::Connections;
use crate::core::reply;
use std::time::Instant;

impl<'a> Registration<'a> {
    /// Registers the waiter with plain commands where a look has found no ready job: for the next due time if it is soon. Redis first registers
    /// the waiter and then looks again, so a job that comes later wakes it. Where this look finds a job, or another waiter that may look at
    /// the same due time, a script sorts it out at once.
    pub(super) fn register(&mut self, connections: &mut Connections, looks: &mut [Option<Look>]) -> Result<()> {
        let mut quiet: Vec<(usize, &'a Queue, Look)> = Vec::new();
        for ((index, queue), seen) in self.queues.iter().enumerate().zip(looks) {
            let Some(seen) = seen.take().filter(|seen| !seen.has_job()) else { continue };
            if self.known.get(index).is_some_and(Option::is_none) {
                quiet.push((index, queue, seen));
            }
        }
        let all: Vec<&Queue> = quiet.iter().map(|(_, queue, _)| *queue).collect();
        let (waiters, now) = (subscribe(&all, connections)?, Instant::now());
        let chosen: Vec<(usize, &'a Queue, String, i64)> = quiet
            .into_iter()
            .zip(waiters)
            .map(|((index, queue, seen), waiter)| {
                let last_us = seen.redis_us(now + jittered(REGISTERED_FOR, &waiter));
                let at_us = seen.due_us.filter(|due_us| *due_us <= seen.redis_us(now + HORIZON)).unwrap_or(last_us);
                (index, queue, waiter, at_us)
            })
            .collect();
        let told = ask_each(&all, connections, &mut |request, _, at| {
            let Some((_, queue, waiter, at_us)) = chosen.get(at) else { return };
            request.command(&[b"ZADD", queue.keys.waiters(), at_us.to_string().as_bytes(), waiter.as_bytes()]);
            ask_for_due(request, queue);
            request.command(&[b"ZRANGE", queue.keys.waiters(), b"0", b"0", b"WITHSCORES"]);
        })?;
        for ((index, queue, waiter, at_us), told) in chosen.into_iter().zip(told) {
            let look_at = told.ok().and_then(|told| quiet_until(told, at_us, &waiter)).unwrap_or_else(Instant::now);
            if let Some(known) = self.known.get_mut(index) {
                *known = Some(Registered::new(queue, waiter, false, look_at));
            }
        }
        Ok(())
    }

    /// Registers the waiter by script where it has to find out itself; or only asks, if it waits no longer, and notes which queues have nothing. A
    /// queue that may have a job stays unknown.
    pub(super) fn ask_together(
        &mut self,
        rest: Vec<(usize, &'a Queue)>,
        is_last: bool,
        has_nothing: &mut [bool],
        connections: &mut Connections,
    ) -> Result<()> {
        if rest.len() < 2 {
            return Ok(()); // a reserve asks one alone as quickly
        }
        let queues: Vec<&Queue> = rest.iter().map(|(_, queue)| *queue).collect();
        let waiters = if is_last { Vec::new() } else { subscribe(&queues, connections)? };
        let asked = Instant::now();
        let found = ask_ahead(&queues, &waiters, connections)?;
        let mut waiters = waiters.into_iter();
        for ((index, queue), found) in rest.into_iter().zip(found) {
            if let (true, Some(has_nothing)) = (is_last, has_nothing.get_mut(index)) {
                *has_nothing = found.is_some();
            } else if let (Some(waiter), Some(known)) = (waiters.next(), self.known.get_mut(index)) {
                let at_most = jittered(REGISTERED_FOR, &waiter);
                let look_at = |next: NextDue| asked + next.wait.unwrap_or(at_most).min(at_most);
                *known = found.map(|next| Registered::new(queue, waiter, next.is_paused, look_at(next)));
            }
        }
        Ok(())
    }
}

/// Until when a waiter that has registered itself for `at_us` may sleep: until then, if nothing is due before and it is the first to look. `None`:
/// a script has to find out.
fn quiet_until(mut told: Told, at_us: i64, waiter: &str) -> Option<Instant> {
    reply::int(told.replies.next()?)?;
    let seen = told.look()?;
    let due_us = seen.due_us;
    let is_soon = due_us.is_some_and(|due_us| due_us <= seen.redis_us(told.sent + HORIZON));
    if is_soon {
        let waiters = told.replies.next()?;
        let (first, _) = reply::scores(&waiters)?.first().copied()?;
        let is_mine = first == waiter.as_bytes() && due_us.is_some_and(|due_us| at_us <= due_us);
        if seen.has_job() || !is_mine {
            return None;
        }
    }
    Some(seen.moment(at_us))
}
