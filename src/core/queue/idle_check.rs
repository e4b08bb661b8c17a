//! A waiter checks its queues every five seconds by itself: a wake-up may be lost with a process that died, a clock may be set, and no
//! script wakes a waiter for a job that is due later than [`HORIZON`].

use super::{NextDue, Queue};
use crate::core::client::{Repeat, Request};
use crate::core::clock;
use crate::core::connection::Connection;
use crate::core::connections::Connections;
use crate::core::error::Result;
use crate::core::reply;
use redis::Value;
use std::time::Duration;

/// How often a waiter checks.
pub(super) const CHECK_EVERY: Duration = Duration::from_millis(5000);
/// A job that is due within this time must have a waiter that looks at it: `HORIZON_US` of `lua/lib/wake.lua`, more than [`CHECK_EVERY`].
const HORIZON: Duration = Duration::from_millis(6000);

/// Whether the waiter should reserve: a job is due, or will be soon and no waiter looks then. Also if Redis refused to answer: the reserve
/// reports why.
///
/// # Errors
/// Connection and server errors.
pub(super) fn must_reserve(queue: &Queue, next: NextDue, connections: &mut Connections) -> Result<bool> {
    let mut ask = |request: &mut Request, _, _: &mut Connection| {
        request.all_replies();
        request.command(&[b"TIME"]);
        ask_for_due(request, queue, next);
    };
    let mut replies = reply::all(queue.client.run_on(connections, Repeat::Yes, &mut ask)?)?;
    let Some(server_us) = replies.next().as_ref().and_then(reply::time_us) else { return Ok(true) };
    let Some(due) = read_due(&mut replies, next) else { return Ok(true) };
    let now_us = server_us.saturating_add(clock::offset_us());
    let horizon_us = now_us.saturating_add(i64::try_from(HORIZON.as_micros()).unwrap_or(i64::MAX));
    let Some(due_us) = due.filter(|due_us| *due_us <= horizon_us) else { return Ok(false) };
    if due_us <= now_us {
        return Ok(true);
    }
    let mut ask = |request: &mut Request, _, _: &mut Connection| {
        request.all_replies();
        request.command(&[b"ZRANGE", queue.keys.waiters(), b"0", b"0", b"WITHSCORES"]);
    };
    let look = reply::all(queue.client.run_on(connections, Repeat::Yes, &mut ask)?)?.next();
    let is_covered = matches!(look.as_ref().and_then(reply::first_score), Some(Some(at)) if at <= due_us);
    Ok(!is_covered)
}

fn ask_for_due(request: &mut Request, queue: &Queue, next: NextDue) {
    if next.is_paused {
        return request.command(&[b"HGET", queue.keys.meta(), b"paused"]);
    }
    for key in queue.keys.due() {
        request.command(&[b"ZRANGE", key, b"0", b"0", b"WITHSCORES"]);
    }
}

/// The next moment at which there is something to do, if there is one; `None` when Redis refused to tell.
fn read_due(replies: &mut std::vec::IntoIter<Value>, next: NextDue) -> Option<Option<i64>> {
    if next.is_paused {
        return match replies.next()? {
            Value::Nil => Some(Some(i64::MIN)), // the pause has ended
            Value::BulkString(ends) if ends == b"forever" => Some(None),
            Value::BulkString(ends) => std::str::from_utf8(&ends).ok()?.parse().ok().map(Some),
            _ => None,
        };
    }
    let scores: Option<Vec<Option<i64>>> = replies.by_ref().take(3).map(|reply| reply::first_score(&reply)).collect();
    scores.map(|scores| scores.into_iter().flatten().min())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_leaves_to_the_check_what_the_check_finds_in_time() {
        let horizon = format!("HORIZON_US, SECOND_LOOK_US, GONE_AFTER_US = {}, ", HORIZON.as_micros());
        assert!(include_str!("../../../lua/lib/wake.lua").contains(&horizon));
        assert!(HORIZON > CHECK_EVERY + Duration::from_millis(500));
    }
}
