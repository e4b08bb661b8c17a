//! Waiting for a job without polling: a timer of our own until the next due time, and a channel on which a push wakes us.

use super::Queue;
use super::idle_check::{CHECK_EVERY, must_reserve};
use super::reserve::{NextDue, ReserveOutcome, Waiting};
use super::settle::random_unit;
use super::sleep::{Flow, Interrupts, Woken, sleep};
use crate::core::client::{Repeat, to_error};
use crate::core::connection::{Connection, Fault, random_name};
use crate::core::connections::Connections;
use crate::core::deadline::within;
use crate::core::dsn::Server;
use crate::core::error::{Error, Result};
use crate::core::job::Reserved;
use crate::core::resolver::MASTER_IS_KNOWN_FOR;
use crate::core::scripts;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A waiter is registered for so long at most. Then it reserves, even if its checks have seen nothing.
const REGISTERED_FOR: Duration = Duration::from_secs(150);

/// Housekeeping that takes longer than this is asked for with pauses.
const IN_A_HURRY: Duration = Duration::from_millis(500);

/// The result of waiting.
pub enum Waited {
    /// Jobs of the queue with that index.
    Jobs(usize, Vec<Reserved>),
    Nothing,
    /// Nothing so far, and Redis has housekeeping left to do that may make jobs ready: ask again. Only if it was not to wait.
    Unfinished,
    Left(Flow),
}

/// How a queue, the one of that index, is asked for jobs.
pub type Reserve<'a> = dyn FnMut(usize, &Queue, &mut Connections, Option<Waiting<'_>>) -> Result<ReserveOutcome> + 'a;

/// Asks the queues, first one first and the partitions of one in any order, until one has jobs or the time is over (`None`: never). Zero: asks
/// each of them once, and as often as Redis needs to take back what it finds, within the time of one operation.
///
/// # Errors
/// Connection and server errors.
pub fn wait_for(
    queues: &[Queue],
    timeout: Option<Duration>,
    interrupts: &mut dyn Interrupts,
    reserve: &mut Reserve<'_>,
) -> Result<Waited> {
    let deadline = timeout.filter(|timeout| !timeout.is_zero()).and_then(|timeout| Instant::now().checked_add(timeout));
    let mut connections = Connections::default();
    let mut result = ask_all(queues, &mut connections, deadline, interrupts, reserve);
    if matches!(result, Ok(Waited::Nothing | Waited::Unfinished)) && timeout != Some(Duration::ZERO) {
        let mut registration = Registration::default();
        result = registration.wait(&mut connections, queues, deadline, interrupts, reserve);
        registration.end(&mut connections);
    }
    if let Some(queue) = queues.first() {
        queue.client.give_back(connections);
    }
    result
}

/// One queue after the other, all of them in the time that one operation may take. In a cluster, a node that is away does not keep us from the
/// queues of others: each node gets its share of that time.
fn ask_all(
    queues: &[Queue],
    connections: &mut Connections,
    deadline: Option<Instant>,
    interrupts: &mut dyn Interrupts,
    reserve: &mut Reserve<'_>,
) -> Result<Waited> {
    let now = Instant::now();
    let [end, last_round] =
        queues.first().map_or([now; 2], |Queue { client, .. }| [client.deadline(), client.last_round()]);
    let is_over = || Instant::now() >= deadline.map_or(last_round, |deadline| deadline.min(last_round));
    let servers = if queues.iter().any(|queue| queue.client.has_slots()) { count_servers(queues) } else { 1 };
    let mut failed = None;
    for ((index, queue), untried) in in_turn(queues).zip((1..=queues.len()).rev()) {
        let asked = ask(&is_over, interrupts, &mut || {
            let left = end.saturating_duration_since(Instant::now());
            let share = if queue.client.has_slots() { left / untried.min(servers) as u32 } else { left };
            within(share, || reserve(index, queue, connections, None))
        });
        match asked {
            Ok(Ok(ReserveOutcome::Jobs(jobs))) => return Ok(Waited::Jobs(index, jobs)),
            Ok(Ok(ReserveOutcome::Again)) => return Ok(Waited::Unfinished),
            Ok(Ok(ReserveOutcome::Nothing(_))) => {}
            Ok(Err(flow)) => return Ok(Waited::Left(flow)),
            Err(error) if queue.client.has_slots() && error.is_retryable() => drop(failed.get_or_insert(error)),
            Err(error) => return Err(error),
        }
    }
    failed.map_or(Ok(Waited::Nothing), Err)
}

/// On how many servers these queues are. While nobody knows: as many as there are queues.
fn count_servers(queues: &[Queue]) -> usize {
    let servers: Result<HashSet<Arc<Server>>> = queues.iter().map(|queue| queue.client.server()).collect();
    servers.map_or(queues.len(), |servers| servers.len())
}

/// The queues with their indexes. Partitions of one queue begin with any of them, so that none starves.
fn in_turn(queues: &[Queue]) -> impl Iterator<Item = (usize, &Queue)> {
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
fn ask(
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

/// Has a connection to the server of each queue. One that is away may be restarting, or another may be taking over: tries for as long as
/// one operation may take.
fn connect(connections: &mut Connections, queues: &[Queue], interrupts: &mut dyn Interrupts) -> Result<Flow> {
    let read_timeout = queues.first().map(|queue| queue.client.read_timeout()).unwrap_or_default();
    let deadline = Instant::now() + read_timeout;
    let mut pause = Duration::from_millis(5);
    connections.drop_broken();
    for queue in queues {
        loop {
            match queue.client.connect(connections) {
                Ok(connection) => {
                    connections.put(connection);
                    break;
                }
                Err(Error::Connection { .. }) if Instant::now() + pause < deadline => {}
                Err(error) => return Err(error),
            }
            match interrupts.poll() {
                Flow::Continue => {}
                flow => return Ok(flow),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
    Ok(Flow::Continue)
}

/// "waiting for queues 'a', 'b'"
pub(super) fn doing(what: &str, queues: &[Queue]) -> String {
    let names: Vec<String> = queues.iter().map(|queue| format!("'{}'", queue.name)).collect();
    format!("{what} {} {}", if names.len() == 1 { "queue" } else { "queues" }, names.join(", "))
}

/// Makes the connection of a queue listen for wake-ups; returns the name under which it waits. Tries again when the connection is lost, for
/// as long as one operation may take.
fn subscribe(queue: &Queue, connections: &mut Connections) -> Result<String> {
    let deadline = Instant::now() + queue.client.read_timeout();
    let mut pause = Duration::from_millis(5);
    loop {
        let mut connection = queue.client.connect(connections)?;
        if connection.waiter.is_empty() {
            connection.waiter = random_name();
        }
        let waiter = connection.waiter.clone();
        match connection.subscribe(&queue.keys.channel(&waiter)) {
            Ok(_) => {
                connections.put(connection);
                return Ok(waiter);
            }
            Err(Fault::Sent(_) | Fault::Unsent(_)) if Instant::now() + pause < deadline => {}
            Err(fault) => return Err(to_error(fault, false)),
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

impl Queue {
    /// Has the connection hear of jobs that a consumer holds and that are cancelled. False: it did so before.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn listen(&self, connections: &mut Connections, consumer: &str) -> Result<bool> {
        let mut connection = self.client.connect(connections)?;
        let is_new = connection.subscribe(&self.keys.channel(consumer)).map_err(|fault| to_error(fault, false))?;
        connections.put(connection);
        Ok(is_new)
    }
}

/// A queue that knows of the waiter.
struct Registered<'a> {
    queue: &'a Queue,
    waiter: String,
    next: NextDue,
}

impl Registered<'_> {
    /// Whether it is over: the connection was replaced, or another server has the queue now, and no wake-up would come; or this is a child
    /// of the process that waits.
    fn is_over(&self, connections: &Connections) -> bool {
        let connection =
            connections.iter().find(|connection| connection.waiter == self.waiter && connection.is_whole());
        let is_right = |connection: &Connection| {
            !self.queue.client.may_move() || self.queue.client.server().is_ok_and(|server| server == connection.server)
        };
        !connection.is_some_and(is_right)
    }
}

/// The queues in which this waiter is registered.
#[derive(Default)]
struct Registration<'a>(Vec<Registered<'a>>);

impl<'a> Registration<'a> {
    fn wait(
        &mut self,
        connections: &mut Connections,
        queues: &'a [Queue],
        deadline: Option<Instant>,
        interrupts: &mut dyn Interrupts,
        reserve: &mut Reserve<'_>,
    ) -> Result<Waited> {
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
                match ask_all(queues, connections, deadline, interrupts, reserve)? {
                    Waited::Nothing | Waited::Unfinished => {}
                    found => return Ok(found),
                }
            }
            connections.iter_mut().for_each(|connection| connection.clear_wakes());
            let is_last = is_over();
            let mut reserve_at = Instant::now() + REGISTERED_FOR;
            for (index, queue) in in_turn(queues) {
                let waiter = subscribe(queue, connections).map_err(doing)?;
                let at_most = if is_last { Duration::ZERO } else { jittered(REGISTERED_FOR, &waiter) };
                // The next request takes as long to reach Redis as this one, so the wait counts from the moment this one is sent.
                let mut asked = Instant::now();
                let waiting = Some(Waiting { name: &waiter, at_most });
                let outcome = match ask(&is_over, interrupts, &mut || {
                    asked = Instant::now();
                    reserve(index, queue, connections, waiting)
                })? {
                    Ok(ReserveOutcome::Again) => continue, // the time is over
                    Ok(outcome) => outcome,
                    Err(flow) => return Ok(Waited::Left(flow)),
                };
                self.0.retain(|known| !known.queue.is_same(queue));
                match outcome {
                    ReserveOutcome::Jobs(jobs) => return Ok(Waited::Jobs(index, jobs)),
                    ReserveOutcome::Nothing(next) if !is_last => {
                        reserve_at = reserve_at.min(asked + next.wait.unwrap_or(at_most).min(at_most));
                        self.0.push(Registered { queue, waiter, next });
                    }
                    _ => {}
                }
            }
            if is_last {
                return Ok(Waited::Nothing);
            }
            reserve_at = deadline.map_or(reserve_at, |deadline| reserve_at.min(deadline));
            match self.sleep(connections, reserve_at, interrupts).map_err(doing)? {
                Woken::Reserve | Woken::Check => {}
                Woken::Lost => is_lost = true,
                Woken::Leave(flow) => return Ok(Waited::Left(flow)),
            }
        }
    }

    fn is_over(&self, connections: &Connections) -> bool {
        self.0.iter().any(|registered| registered.is_over(connections))
    }

    /// Sleeps until it is time to reserve, checking the queues meanwhile.
    fn sleep(
        &self,
        connections: &mut Connections,
        mut reserve_at: Instant,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Woken> {
        let seed = self.0.first().map(|registered| registered.waiter.as_str()).unwrap_or_default();
        let may_move = self.0.iter().any(|registered| registered.queue.client.may_move());
        let mut check_at = Instant::now() + jittered(CHECK_EVERY, seed);
        while !self.is_over(connections) {
            let resolve_at = Instant::now() + MASTER_IS_KNOWN_FOR;
            let look_at = if may_move { check_at.min(resolve_at) } else { check_at };
            match sleep(connections, &mut reserve_at, look_at, interrupts) {
                Woken::Check if Instant::now() < check_at => {}
                Woken::Check => {
                    for Registered { queue, next, .. } in &self.0 {
                        if must_reserve(queue, *next, connections)? {
                            return Ok(Woken::Check);
                        }
                    }
                    check_at = Instant::now() + jittered(CHECK_EVERY, seed);
                }
                woken => return Ok(woken),
            }
        }
        Ok(Woken::Reserve)
    }

    /// Tells the queues that this waiter is gone, so that a wake-up meant for it reaches another. Best effort: when it fails, the
    /// others notice with their next check.
    fn end(&self, connections: &mut Connections) {
        let Some(first) = self.0.first() else { return };
        // All of them together: a process that is about to end must not wait for one frozen node after the other.
        within(first.queue.client.read_timeout(), || {
            for registered @ Registered { queue, waiter, .. } in &self.0 {
                if !registered.is_over(connections) {
                    let _ = queue.client.run_on(connections, Repeat::No, &mut |request, _, _| {
                        queue.write_script(request, &scripts::LEAVE, &[waiter.as_bytes()]);
                    });
                }
            }
        });
    }
}

/// A little less than `longest`, different for each waiter, so that idle workers do not check in step.
fn jittered(longest: Duration, waiter: &str) -> Duration {
    let seed = waiter.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    longest.mul_f64(0.85 + 0.15 * f64::from(seed % 1000) / 1000.0)
}
