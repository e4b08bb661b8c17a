//! Waiting for a job without polling: a timer of our own until the next due time, and a channel on which a push wakes us.

use super::Queue;
use super::ask::{ReserveOutcome, Source, Waited, Waiting, ask, ask_all, doing, in_turn};
use super::flight::{ask_each, script_each};
use super::idle_check::{CHECK_EVERY, HORIZON, REGISTERED_FOR, Registered, overdue};
use super::look::{Look, look};
use super::next_due::jittered;
use super::sleep::{Flow, Interrupts, Woken, sleep};
use super::subscribe::{connect, subscribe};
use crate::core::clock::within;
use crate::core::connection::Wake;
use crate::core::error::{Error, Result};
use crate::core::pool::Connections;
use crate::core::resolver::MASTER_IS_KNOWN_FOR;
use crate::core::{memory, reply, scripts};
use std::time::{Duration, Instant};

/// So long a thread that [`is_alone`] waits at most: for a job that falls due later, a test moves the time.
pub const LONGEST_ALONE: Duration = Duration::from_secs(1);

/// Whether these queues are in the memory of this process, and no other thread has them: while this one waits, nobody pushes.
#[must_use]
pub fn is_alone(queues: &[Queue]) -> bool {
    queues.iter().all(|queue| queue.client.key().dsn.in_memory().is_some_and(memory::is_own))
}

/// The queues of a waiter, and how it is registered in each.
pub(super) struct Registration<'a> {
    pub(super) queues: &'a [Queue],
    /// When to check the queues next. A wake-up of one queue must not put off the check of the others.
    check_at: Option<Instant>,
    pub(super) known: Vec<Option<Registered<'a>>>,
}

impl<'a> Registration<'a> {
    pub fn new(queues: &'a [Queue]) -> Self {
        Self { queues, check_at: None, known: queues.iter().map(|_| None).collect() }
    }

    /// Waits for a job of any queue. A queue that has not told the waiter to look, and has nothing due, is not asked again.
    pub fn wait(
        &mut self,
        connections: &mut Connections,
        mut looks: Vec<Option<Look>>,
        deadline: Option<Instant>,
        interrupts: &mut dyn Interrupts,
        source: &mut dyn Source,
    ) -> Result<Waited> {
        let queues = self.queues;
        let doing = |error: Error| error.while_doing(|| doing("waiting for", queues));
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut is_lost = false;
        loop {
            match connect(connections, queues, interrupts).map_err(doing)? {
                Flow::Continue => {}
                flow => return Ok(Waited::Left(flow)),
            }
            // A reserve that waits for a Redis which is still loading; to subscribe, it must be there.
            if std::mem::take(&mut is_lost) {
                match ask_all(queues, connections, deadline, interrupts, source, &mut looks)? {
                    Waited::Nothing | Waited::Unfinished => {}
                    found => return Ok(found),
                }
            }
            self.drop_over(connections);
            if self.all().next().is_none() {
                connections.iter_mut().for_each(|connection| connection.clear_wakes());
            }
            let is_last = is_over();
            if is_last && queues.len() > 1 {
                let all: Vec<(usize, &Queue)> = queues.iter().enumerate().collect();
                look(&all, connections, &mut looks).map_err(doing)?;
            } else if !is_last {
                self.register(connections, &mut looks).map_err(doing)?;
            }
            let says_nothing = |look: &Option<Look>| is_last && look.is_some_and(|look| !look.has_job());
            let mut has_nothing: Vec<bool> =
                queues.iter().enumerate().map(|(index, _)| looks.get(index).is_some_and(says_nothing)).collect();
            let order: Vec<(usize, &'a Queue)> = in_turn(queues).collect();
            let mut in_vain = 0;
            for (turn, (index, queue)) in order.iter().copied().enumerate() {
                let is_open = |known: &Self, has_nothing: &[bool], index: usize| match is_last {
                    true => has_nothing.get(index) != Some(&true),
                    false => !known.is_quiet(index),
                };
                if !is_open(self, &has_nothing, index) {
                    continue;
                }
                // A look has found jobs that are not to be had: the queue is paused, say. The rest is asked together.
                if in_vain == 1 {
                    let rest: Vec<(usize, &'a Queue)> = order
                        .iter()
                        .skip(turn)
                        .copied()
                        .filter(|(index, _)| !source.has_news(*index) && is_open(self, &has_nothing, *index))
                        .collect();
                    self.ask_together(rest, is_last, &mut has_nothing, connections).map_err(doing)?;
                }
                in_vain += 1;
                if !is_open(self, &has_nothing, index) {
                    continue;
                }
                let [waiter] = &*subscribe(&[queue], connections).map_err(doing)? else { continue };
                let at_most = if is_last { Duration::ZERO } else { jittered(REGISTERED_FOR, waiter) };
                // The next request takes as long to reach Redis as this one, so the wait counts from the moment this one is sent.
                let mut asked = Instant::now();
                let waiting = Some(Waiting { name: waiter, at_most });
                let outcome = match ask(&is_over, interrupts, &mut || {
                    asked = Instant::now();
                    source.reserve(index, queue, connections, waiting)
                })? {
                    Ok(ReserveOutcome::Again) => continue, // the time is over
                    Ok(outcome) => outcome,
                    Err(flow) => return Ok(Waited::Left(flow)),
                };
                let Some(known) = self.known.get_mut(index) else { continue };
                *known = None;
                match outcome {
                    ReserveOutcome::Jobs(jobs) => return Ok(Waited::Jobs(index, jobs)),
                    ReserveOutcome::Nothing(next) if !is_last => {
                        let look_at = asked + next.wait.unwrap_or(at_most).min(at_most);
                        *known = Some(Registered::new(queue, waiter.clone(), next.is_paused, look_at));
                    }
                    _ => {}
                }
            }
            if is_last || self.is_in_vain() {
                return Ok(Waited::Nothing);
            }
            match self.sleep(connections, deadline, interrupts).map_err(doing)? {
                Woken::Lost => is_lost = true,
                Woken::Leave(flow) => return Ok(Waited::Left(flow)),
                _ => {}
            }
        }
    }

    /// Whether there is nothing to do in a queue, as far as the waiter has been told.
    fn is_quiet(&self, index: usize) -> bool {
        let known = self.known.get(index).and_then(Option::as_ref);
        known.is_some_and(|known| known.look_at > Instant::now())
    }

    /// Whether to wait is in vain. A job that falls due soon is waited for.
    fn is_in_vain(&self) -> bool {
        let soon = Instant::now() + LONGEST_ALONE;
        self.all().all(|known| known.look_at > soon) && is_alone(self.queues)
    }

    fn all(&self) -> impl Iterator<Item = &Registered<'a>> {
        self.known.iter().flatten()
    }

    fn is_over(&self, connections: &Connections) -> bool {
        self.all().any(|known| known.is_over(connections))
    }

    fn drop_over(&mut self, connections: &Connections) {
        for known in &mut self.known {
            known.take_if(|known| known.is_over(connections));
        }
    }

    /// Sleeps until it is time to reserve, checking the queues meanwhile.
    fn sleep(
        &mut self,
        connections: &mut Connections,
        deadline: Option<Instant>,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Woken> {
        let seed = self.all().next().map(|known| known.waiter.clone()).unwrap_or_default();
        let may_move = self.all().any(|known| known.queue.client.may_move());
        let mut check_at = *self.check_at.get_or_insert_with(|| Instant::now() + jittered(CHECK_EVERY, &seed));
        while !self.is_over(connections) {
            let reserve_at = self.all().map(|known| known.look_at).chain(deadline).min();
            let Some(reserve_at) = reserve_at.filter(|at| *at > Instant::now()) else { break };
            let resolve_at = Instant::now() + MASTER_IS_KNOWN_FOR;
            let look_at = if may_move { check_at.min(resolve_at) } else { check_at };
            match sleep(connections, reserve_at, look_at, interrupts) {
                Woken::Told(wake) => {
                    self.hear(&wake);
                    self.hear_all(connections);
                }
                Woken::Check if Instant::now() < check_at => {}
                Woken::Check => {
                    let registered: Vec<&Registered<'_>> = self.all().collect();
                    let overdue = overdue(&registered, connections)?;
                    let now = Instant::now();
                    let due = self.known.iter_mut().flatten().zip(overdue).filter(|(_, is_overdue)| *is_overdue);
                    due.for_each(|(known, _)| known.look_at = now);
                    check_at = now + jittered(CHECK_EVERY, &seed);
                    self.check_at = Some(check_at);
                }
                woken => return Ok(woken),
            }
        }
        Ok(Woken::Reserve)
    }

    /// Notes when a script wants this waiter to look: at the queue of this channel, or at all of them if no queue has it.
    fn hear(&mut self, wake: &Wake) {
        let at = Instant::now() + wake.wait;
        let is_told = |known: &Registered<'_>| known.channel.as_bytes() == wake.channel;
        let is_one = self.all().any(is_told);
        for known in self.known.iter_mut().flatten().filter(|known| !is_one || is_told(known)) {
            known.look_at = known.look_at.min(at);
        }
    }

    /// The wake-ups that have been read: queues that have jobs at the same time are asked in their order.
    fn hear_all(&mut self, connections: &mut Connections) {
        for connection in connections.iter_mut() {
            while let Ok(Some(wake)) = connection.next_wake(false) {
                self.hear(&wake);
            }
        }
    }

    /// Takes the waiter off the queues: one that is busy must not be told of a job. Where it was to look soon, or a script has just told it, and
    /// others wait, a script has another one look instead. Best effort: when it fails, the others notice with their next check.
    pub fn end(&mut self, connections: &mut Connections) {
        self.drop_over(connections);
        let Some(first) = self.all().next() else { return };
        // All of them together: a process that is about to end must not wait for one frozen node after the other.
        within(first.queue.client.read_timeout(), || {
            let all: Vec<(&Queue, String)> = self.all().map(|known| (known.queue, known.waiter.clone())).collect();
            let queues: Vec<&Queue> = all.iter().map(|(queue, _)| *queue).collect();
            let told = ask_each(&queues, connections, &mut |request, _, at| {
                let Some((queue, waiter)) = all.get(at) else { return };
                request.command(&[b"ZREM", queue.keys.waiters(), waiter.as_bytes()]);
                request.command(&[b"ZCARD", queue.keys.waiters()]);
            });
            // Redis sends a wake-up ahead of the reply of a command that comes behind it.
            self.hear_all(connections);
            let soon = Instant::now() + HORIZON;
            let mut leaving: Vec<&Registered<'_>> = Vec::new();
            for (known, told) in self.all().zip(told.unwrap_or_default()) {
                let others = told.ok().and_then(|told| told.replies.last()).and_then(reply::int);
                if others != Some(0) && (others.is_none() || known.look_at <= soon) && !known.is_over(connections) {
                    leaving.push(known);
                }
            }
            let queues: Vec<&Queue> = leaving.iter().map(|known| known.queue).collect();
            let waiter =
                |at: usize| leaving.get(at).map_or_else(Vec::new, |known| vec![known.waiter.as_bytes().to_vec()]);
            let _ = script_each(&scripts::LEAVE, &queues, connections, &waiter);
        });
    }
}
