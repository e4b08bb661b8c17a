//! Looks at several queues without a script: a plain command costs Redis a small part of what a script does.

use super::Queue;
use super::flight::{Told, ask_each};
use crate::core::client::Request;
use crate::core::error::Result;
use crate::core::job::JobId;
use crate::core::pool::Connections;
use crate::core::reply;
use redis::Value;
use std::time::{Duration, Instant};
use std::vec::IntoIter;

/// The state of a queue, as far as a waiter has to know it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// By Redis' clock, when it looked.
    pub now_us: i64,
    /// When it was asked to.
    pub sent: Instant,
    /// The next moment at which there is something to do.
    pub due_us: Option<i64>,
}

impl Look {
    /// Whether a job may be ready.
    pub fn has_job(self) -> bool {
        self.due_us.is_some_and(|due_us| due_us <= self.now_us)
    }

    /// Redis' time of a moment of this process.
    pub fn redis_us(self, at: Instant) -> i64 {
        let since_us = at.saturating_duration_since(self.sent).as_micros();
        self.now_us.saturating_add(i64::try_from(since_us).unwrap_or(i64::MAX))
    }

    /// The moment of this process at which it is that time in Redis.
    pub fn moment(self, redis_us: i64) -> Instant {
        let wait_us = u64::try_from(redis_us.saturating_sub(self.now_us)).unwrap_or(0);
        self.sent.checked_add(Duration::from_micros(wait_us)).unwrap_or(self.sent)
    }
}

/// Looks at queues with their indexes, and notes under these what it found. Leaves out those of which Redis would not tell.
///
/// # Errors
/// As [`ask_each`].
pub(super) fn look(
    queues: &[(usize, &Queue)],
    connections: &mut Connections,
    looks: &mut [Option<Look>],
) -> Result<()> {
    let all: Vec<&Queue> = queues.iter().map(|(_, queue)| *queue).collect();
    let told = ask_each(&all, connections, &mut |request, _, at| {
        all.get(at).into_iter().for_each(|queue| ask_for_due(request, queue));
    })?;
    for ((index, _), told) in queues.iter().zip(told) {
        if let (Some(look), Ok(mut told)) = (looks.get_mut(*index), told) {
            *look = told.look();
        }
    }
    Ok(())
}

impl Told {
    /// What the replies to [`ask_for_due`] say.
    pub fn look(&mut self) -> Option<Look> {
        Some(Look { now_us: self.now_us?, sent: self.sent, due_us: read_due(&mut self.replies)? })
    }
}

/// Whether these queues have these jobs, in any state; also where Redis would not tell.
///
/// # Errors
/// As [`ask_each`].
pub fn which_have(jobs: &[(&Queue, &JobId)]) -> Result<Vec<bool>> {
    let Some((first, _)) = jobs.first() else { return Ok(Vec::new()) };
    let mut connections = Connections::default();
    let queues: Vec<&Queue> = jobs.iter().map(|(queue, _)| *queue).collect();
    let told = ask_each(&queues, &mut connections, &mut |request, _, at| {
        if let Some((queue, id)) = jobs.get(at) {
            request.command(&[b"HEXISTS", queue.keys.jobs(), id.as_bytes()]);
        }
    });
    first.client.give_back(connections);
    let told = told.map_err(first.looking());
    let is_there = |told: Result<Told>| told.ok().and_then(|mut told| told.replies.next()) != Some(Value::Int(0));
    Ok(told?.into_iter().map(is_there).collect())
}

/// How many commands [`ask_for_due`] writes.
const ASKED: usize = 4;

/// Asks for the first of each place in which there may be something to do.
pub(super) fn ask_for_due(request: &mut Request, queue: &Queue) {
    for key in queue.keys.due() {
        request.command(&[b"ZRANGE", key, b"0", b"0", b"WITHSCORES"]);
    }
}

/// The next moment at which there is something to do, if there is one; `None` when Redis refused to tell.
pub(super) fn read_due(replies: &mut IntoIter<Value>) -> Option<Option<i64>> {
    let scores: Vec<Option<i64>> =
        replies.by_ref().take(ASKED).map(|reply| reply::first_score(&reply)).collect::<Option<_>>()?;
    (scores.len() == ASKED).then(|| scores.into_iter().flatten().min())
}
