//! Asking queues for jobs without waiting for one.

use super::Queue;
use super::ask_ahead::ask_ahead;
use super::flight::{MOST, by_server, patience};
use super::look::{Look, look};
use super::next_due::NextDue;
use super::settle::random_unit;
use super::sleep::{Flow, Interrupts};
use super::thread::{Chore, answered_consumer};
use crate::core::clock::within;
use crate::core::error::{Error, Result};
use crate::core::job::Reserved;
use crate::core::pool::Connections;
use std::time::{Duration, Instant};

/// Housekeeping that takes longer than this is asked for with pauses.
const IN_A_HURRY: Duration = Duration::from_millis(500);

/// The result of one reserve.
#[derive(Debug)]
pub enum ReserveOutcome {
    /// None, if it was only asked whether one is ready.
    Jobs(Vec<Reserved>),
    Nothing(NextDue),
    /// A bounded part of the housekeeping is done: ask again.
    Again,
}

/// A waiter's part of a reserve: its name, and how long it may sleep at most (zero: it stops waiting).
#[derive(Debug, Clone, Copy)]
pub struct Waiting<'a> {
    pub name: &'a str,
    pub at_most: Duration,
}

/// The result of waiting.
pub enum Waited {
    /// Jobs of the queue with that index.
    Jobs(usize, Vec<Reserved>),
    Nothing,
    /// Nothing so far, and Redis has housekeeping left to do that may make jobs ready: ask again. Only if it was not to wait.
    Unfinished,
    Left(Flow),
}

/// Where jobs come from: asks a queue, the one of that index, for them.
pub trait Source {
    /// # Errors
    /// Connection and server errors.
    fn reserve(
        &mut self,
        index: usize,
        queue: &Queue,
        connections: &mut Connections,
        waiting: Option<Waiting<'_>>,
    ) -> Result<ReserveOutcome>;

    /// Whether the next reserve of this queue has something to tell it, so that a look is not enough.
    fn has_news(&mut self, _index: usize) -> bool {
        false
    }
}

/// Asks one queue after the other, the first by a reserve. When it has nothing, plain commands look at all others in one flight, and only those are asked
/// that may have a job, in one flight as soon as one of them had none: `looks` gets what was found of the rest. In a cluster, a node that is away
/// does not keep us from the queues of others.
pub(super) fn ask_all(
    queues: &[Queue],
    connections: &mut Connections,
    deadline: Option<Instant>,
    interrupts: &mut dyn Interrupts,
    source: &mut dyn Source,
    looks: &mut Vec<Option<Look>>,
) -> Result<Waited> {
    let doing = |error: Error| error.while_doing(|| doing("reserving from", queues));
    let servers = by_server(&queues.iter().collect::<Vec<_>>()).len();
    let (mut failed, mut away) = (None, Vec::new());
    looks.clear();
    looks.resize_with(queues.len(), || None);
    let mut has_nothing = vec![false; queues.len()];
    let (order, mut in_vain): (Vec<(usize, &Queue)>, u32) = (in_turn(queues).collect(), 0);
    let mut is_asked_ahead = false;
    for (turn, (index, queue)) in order.iter().copied().enumerate() {
        if turn == 1 && queues.len() > 2 {
            let mut others: Vec<(usize, &Queue)> = order.iter().copied().skip(1).collect();
            // A reserve whose answer was lost has to be repeated, whatever is ready.
            others.retain(|(index, queue)| !source.has_news(*index) && answered_consumer(queue).is_some());
            look(&others, connections, looks).map_err(doing)?;
            for (has_nothing, look) in has_nothing.iter_mut().zip(&*looks) {
                *has_nothing = look.is_some_and(|look| !look.has_job());
            }
        }
        if in_vain == 2 && !std::mem::replace(&mut is_asked_ahead, true) {
            let rest = order.iter().copied().skip(turn);
            let rest: Vec<(usize, &Queue)> =
                rest.filter(|(index, _)| !source.has_news(*index) && has_nothing.get(*index) == Some(&false)).collect();
            let queues: Vec<&Queue> = rest.iter().map(|(_, queue)| *queue).collect();
            // One alone is asked as quickly by a reserve.
            let found = if rest.len() > 1 { ask_ahead(&queues, &[], connections).map_err(doing)? } else { Vec::new() };
            for ((index, _), found) in rest.iter().zip(found) {
                if let Some(has_nothing) = has_nothing.get_mut(*index) {
                    *has_nothing = found.is_some();
                }
            }
        }
        let server = if queue.client.has_slots() { queue.client.server().ok() } else { None };
        if has_nothing.get(index) == Some(&true) || server.as_ref().is_some_and(|server| away.contains(server)) {
            continue;
        }
        let last_round = queue.client.last_round();
        let is_over = || Instant::now() >= deadline.map_or(last_round, |deadline| deadline.min(last_round));
        let asked = ask(&is_over, interrupts, &mut || {
            within(patience(queue, servers), || source.reserve(index, queue, connections, None))
        });
        in_vain += 1;
        match asked {
            Ok(Ok(ReserveOutcome::Jobs(jobs))) => return Ok(Waited::Jobs(index, jobs)),
            Ok(Ok(ReserveOutcome::Again)) => return Ok(Waited::Unfinished),
            Ok(Ok(ReserveOutcome::Nothing(_))) => {}
            Ok(Err(flow)) => return Ok(Waited::Left(flow)),
            Err(error) if queue.client.has_slots() && error.is_retryable() => {
                away.extend(server);
                failed.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    // A look asks for no snapshot.
    let with_chores: Vec<&Queue> = queues.iter().filter(|queue| queue.is_due(Chore::Snapshot)).take(MOST).collect();
    if failed.is_none() && !with_chores.is_empty() {
        ask_ahead(&with_chores, &[], connections).map_err(doing)?;
    }
    failed.map_or(Ok(Waited::Nothing), Err)
}

/// The queues with their indexes. Partitions of one queue begin with any of them, so that none starves.
pub(super) fn in_turn(queues: &[Queue]) -> impl Iterator<Item = (usize, &Queue)> {
    let mut at = 0;
    queues.chunk_by(|one, next| one.name() == next.name()).flat_map(move |parts| {
        let first = at;
        at += parts.len();
        let begin = if parts.len() == 1 { 0 } else { (random_unit() * parts.len() as f64) as usize };
        (0..parts.len()).filter_map(move |turn| {
            let number = (begin + turn) % parts.len();
            Some((first + number, parts.get(number)?))
        })
    })
}

/// Asks one queue. Many leases may have ended at once: asks again while Redis takes back some of them with each answer, unless the
/// time is over, or a signal handler wants to leave. After a while it leaves Redis time for others.
pub(super) fn ask(
    is_over: &dyn Fn() -> bool,
    interrupts: &mut dyn Interrupts,
    reserve: &mut dyn FnMut() -> Result<ReserveOutcome>,
) -> Result<std::result::Result<ReserveOutcome, Flow>> {
    let begun = Instant::now();
    loop {
        let outcome = reserve()?;
        if !matches!(outcome, ReserveOutcome::Again) {
            return Ok(Ok(outcome));
        }
        match interrupts.poll() {
            Flow::Continue if begun.elapsed() < IN_A_HURRY => {}
            Flow::Continue => std::thread::sleep(Duration::from_millis(5)),
            flow => return Ok(Err(flow)),
        }
        // A signal handler may have taken long.
        if is_over() {
            return Ok(Ok(outcome));
        }
    }
}

/// "waiting for queues 'a', 'b'"
pub(super) fn doing(what: &str, queues: &[Queue]) -> String {
    let names: Vec<String> = queues.iter().map(|queue| format!("'{}'", queue.name)).collect();
    format!("{what} {} {}", if names.len() == 1 { "queue" } else { "queues" }, names.join(", "))
}
