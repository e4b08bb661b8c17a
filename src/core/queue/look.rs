//! Looks at several queues without a script, all of them in one round trip, in a cluster one for each: a plain command costs Redis a small part
//! of what a script does.

use super::Queue;
use super::thread::Chore;
use crate::core::client::{Repeat, Request};
use crate::core::clock::{self, within};
use crate::core::connection::Connection;
use crate::core::dsn::Server;
use crate::core::error::Result;
use crate::core::job::JobId;
use crate::core::pool::Connections;
use crate::core::reply;
use redis::Value;
use std::sync::Arc;
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

/// The replies to the commands of one queue.
pub(super) struct Told {
    pub now_us: i64,
    pub sent: Instant,
    pub replies: IntoIter<Value>,
}

/// Has `write` write the commands of each queue, and sends all of one server together. In a cluster each queue is asked alone, so that one
/// that moves to another node is followed there. `None`: Redis did not say what time it is.
///
/// # Errors
/// Connection and server errors; in a cluster such queues are left out.
pub(super) fn ask_each(
    queues: &[&Queue],
    connections: &mut Connections,
    write: &mut dyn FnMut(&mut Request, &mut Connection, usize),
) -> Result<Vec<Option<Told>>> {
    let Some(first) = queues.first() else { return Ok(Vec::new()) };
    let has_slots = first.client.has_slots();
    let (mut told, mut away): (Vec<Option<Told>>, Vec<Arc<Server>>) = (Vec::with_capacity(queues.len()), Vec::new());
    for group in queues.chunks(if has_slots { 1 } else { queues.len() }) {
        let Some(first) = group.first() else { continue };
        let begin = told.len();
        // A node that did not answer would be waited for with each of its queues.
        let server = first.client.server().ok();
        if server.as_ref().is_some_and(|server| away.contains(server)) {
            told.resize_with(begin + group.len(), || None);
            continue;
        }
        let (mut sent, mut counts) = (Instant::now(), Vec::new());
        let answer = first.client.run_on(connections, Repeat::Yes, &mut |request, _, connection| {
            (sent, counts) = (Instant::now(), Vec::with_capacity(group.len()));
            request.all_replies();
            request.command(&[b"TIME"]);
            for at in begin..begin + group.len() {
                let before = request.commands();
                write(request, connection, at);
                counts.push(request.commands() - before);
            }
        });
        let mut replies = match answer {
            Ok(value) => reply::all(value)?,
            Err(error) if has_slots && error.is_retryable() => {
                away.extend(server);
                Vec::new().into_iter()
            }
            Err(error) => return Err(error),
        };
        let time = replies.next().as_ref().and_then(reply::time_us);
        let now_us = time.map(|now_us| now_us.saturating_add(clock::offset_us()));
        for count in counts {
            let replies: Vec<Value> = replies.by_ref().take(count).collect();
            told.push(now_us.map(|now_us| Told { now_us, sent, replies: replies.into_iter() }));
        }
        told.resize_with(begin + group.len(), || None);
    }
    Ok(told)
}

/// Looks at queues with their indexes, and notes under these what it found. Leaves out those of which Redis would not tell, and those whose
/// counters it is time to take a snapshot of: a script has to be asked there.
///
/// # Errors
/// As [`ask_each`].
pub(super) fn look(
    queues: &[(usize, &Queue)],
    connections: &mut Connections,
    at_most: Duration,
    looks: &mut [Option<Look>],
) -> Result<()> {
    let all: Vec<&Queue> = queues.iter().map(|(_, queue)| *queue).collect();
    let mut wants_snapshot = vec![false; all.len()];
    let mut write = |request: &mut Request, connection: &mut Connection, at: usize| {
        if let (Some(queue), Some(wants)) = (all.get(at), wants_snapshot.get_mut(at)) {
            *wants = queue.is_due(Chore::Snapshot, connection);
            ask_for_due(request, queue);
        }
    };
    let told = within(at_most, || ask_each(&all, connections, &mut write))?;
    for (((index, _), told), wants_snapshot) in queues.iter().zip(told).zip(wants_snapshot) {
        let Some(look) = looks.get_mut(*index) else { continue };
        let read = |Told { now_us, sent, mut replies }| Some(Look { now_us, sent, due_us: read_due(&mut replies)? });
        *look = told.filter(|_| !wants_snapshot).and_then(read);
    }
    Ok(())
}

/// Whether these queues have these jobs, in any state; also where Redis would not tell.
///
/// # Errors
/// As [`ask_each`].
pub fn which_have(jobs: &[(&Queue, &JobId)]) -> Result<Vec<bool>> {
    const MOST: usize = 1000;
    let Some((first, _)) = jobs.first() else { return Ok(Vec::new()) };
    let (mut found, mut connections) = (Vec::with_capacity(jobs.len()), Connections::default());
    for part in jobs.chunks(MOST) {
        let queues: Vec<&Queue> = part.iter().map(|(queue, _)| *queue).collect();
        let told = ask_each(&queues, &mut connections, &mut |request, _, at| {
            if let Some((queue, id)) = part.get(at) {
                request.command(&[b"HEXISTS", queue.keys.jobs(), id.as_bytes()]);
            }
        });
        let told = told.map_err(|error| error.while_doing(|| format!("looking at queue '{}'", first.name)));
        let is_there = |told: Option<Told>| told.and_then(|mut told| told.replies.next()) != Some(Value::Int(0));
        found.extend(told?.into_iter().map(is_there));
    }
    first.client.give_back(connections);
    Ok(found)
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
