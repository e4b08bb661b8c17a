//! A waiter checks its queues every five seconds by itself: a wake-up may be lost with a process that died, a clock may be set, and no
//! script wakes a waiter for a job that is due later than [`HORIZON`].

use super::Queue;
use super::flight::{Told, ask_each};
use super::look::{ask_for_due, read_due};
use crate::core::connection::Connection;
use crate::core::error::Result;
use crate::core::pool::Connections;
use crate::core::reply;
use redis::Value;
use std::time::{Duration, Instant};

/// How often a waiter checks.
pub(super) const CHECK_EVERY: Duration = Duration::from_millis(5000);
/// A job that is due within this time must have a waiter that looks at it: `HORIZON_US` of `lua/lib/wake.lua`, more than [`CHECK_EVERY`].
pub(super) const HORIZON: Duration = Duration::from_millis(6000);

/// A waiter is registered for so long at most. Then it reserves, even if its checks have seen nothing.
pub(super) const REGISTERED_FOR: Duration = Duration::from_secs(150);

/// A second waiter looks so much later than the first: `SECOND_LOOK_US` of `lua/lib/wake.lua`.
const SECOND_LOOK_US: i64 = 200_000;

/// A queue that knows of the waiter.
pub(super) struct Registered<'a> {
    pub queue: &'a Queue,
    pub waiter: String,
    pub channel: String,
    pub is_paused: bool,
    /// When to reserve from it.
    pub look_at: Instant,
}

impl<'a> Registered<'a> {
    pub fn new(queue: &'a Queue, waiter: String, is_paused: bool, look_at: Instant) -> Self {
        Self { queue, channel: queue.keys.channel(&waiter), waiter, is_paused, look_at }
    }

    /// Whether it is over: the connection was replaced, or another server has the queue now, and no wake-up would come; or this is a child
    /// of the process that waits.
    pub fn is_over(&self, connections: &Connections) -> bool {
        let connection =
            connections.iter().find(|connection| connection.waiter == self.waiter && connection.is_whole());
        let is_right = |connection: &Connection| {
            !self.queue.client.may_move() || self.queue.client.server().is_ok_and(|server| server == connection.server)
        };
        !connection.is_some_and(is_right)
    }
}

/// From which of the queues the waiter should reserve: a job is due, or will be soon and no two waiters look then. Also if Redis refused to
/// answer: the reserve reports why.
///
/// # Errors
/// Connection and server errors.
pub(super) fn overdue(registered: &[&Registered<'_>], connections: &mut Connections) -> Result<Vec<bool>> {
    let queues: Vec<&Queue> = registered.iter().map(|known| known.queue).collect();
    let told = ask_each(&queues, connections, &mut |request, _, at| match registered.get(at) {
        Some(known) if known.is_paused => request.command(&[b"HGET", known.queue.keys.limits(), b"\n\n"]),
        Some(known) => ask_for_due(request, known.queue),
        None => {}
    })?;
    let mut is_overdue = vec![true; registered.len()];
    let mut soon: Vec<(usize, &Registered<'_>, i64)> = Vec::new();
    for (at, (known, told)) in registered.iter().zip(told).enumerate() {
        let Ok(Told { now_us: Some(now_us), mut replies, .. }) = told else { continue };
        let due = if known.is_paused { read_pause(replies.next()) } else { read_due(&mut replies) };
        let Some(due_us) = due else { continue };
        let horizon_us = now_us.saturating_add(i64::try_from(HORIZON.as_micros()).unwrap_or(i64::MAX));
        match due_us.filter(|due_us| *due_us <= horizon_us) {
            Some(due_us) if due_us <= now_us => {}
            Some(due_us) => soon.push((at, known, due_us)),
            None => is_overdue.get_mut(at).into_iter().for_each(|is_overdue| *is_overdue = false),
        }
    }
    let queues: Vec<&Queue> = soon.iter().map(|(_, known, _)| known.queue).collect();
    let told = ask_each(&queues, connections, &mut |request, _, at| {
        if let Some(queue) = queues.get(at) {
            request.command(&[b"ZRANGE", queue.keys.waiters(), b"0", b"1", b"WITHSCORES"]);
        }
    })?;
    for ((at, known, due_us), told) in soon.into_iter().zip(told) {
        let Some(answer) = told.ok().and_then(|mut told| told.replies.next()) else { continue };
        let mut waiters = reply::scores(&answer).unwrap_or_default().into_iter();
        let first = waiters.next().filter(|(_, at_us)| *at_us <= due_us);
        let second = waiters.next().filter(|(_, at_us)| *at_us <= due_us.saturating_add(SECOND_LOOK_US));
        let is_covered = first.is_some_and(|(name, _)| name == known.waiter.as_bytes() || second.is_some());
        is_overdue.get_mut(at).into_iter().for_each(|is_overdue| *is_overdue = !is_covered);
    }
    Ok(is_overdue)
}

/// When a pause ends; `None` when Redis refused to tell.
fn read_pause(ends: Option<Value>) -> Option<Option<i64>> {
    match ends? {
        Value::Nil => Some(Some(i64::MIN)), // it has ended
        Value::BulkString(ends) if ends == b"forever" => Some(None),
        Value::BulkString(ends) => std::str::from_utf8(&ends).ok()?.parse().ok().map(Some),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_leaves_to_the_check_what_the_check_finds_in_time() {
        let horizon =
            format!("HORIZON_US, SECOND_LOOK_US, GONE_AFTER_US = {}, {SECOND_LOOK_US}, ", HORIZON.as_micros());
        assert!(include_str!("../../../lua/lib/wake.lua").contains(&horizon));
        assert!(HORIZON > CHECK_EVERY + Duration::from_millis(500));
    }
}
