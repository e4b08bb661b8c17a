//! Waiting for a job without polling: a timer of our own until the next due time, and a channel on which a push wakes us.

use super::Queue;
use super::idle_check::{CHECK_EVERY, must_reserve};
use super::reserve::{NextDue, ReserveOutcome, Waiting};
use super::sleep::{Flow, Interrupts, Woken, sleep};
use crate::core::client::{Client, Repeat, to_error};
use crate::core::connection::{Connection, random_name};
use crate::core::error::{Error, Result};
use crate::core::job::Reserved;
use crate::core::scripts;
use std::time::{Duration, Instant};

/// A waiter is registered for so long at most. Then it reserves, even if its checks have seen nothing.
const REGISTERED_FOR: Duration = Duration::from_secs(150);

/// The result of waiting.
pub enum Waited {
    /// Jobs of the queue with that index.
    Jobs(usize, Vec<Reserved>),
    Nothing,
    Left(Flow),
}

/// How a queue is asked for jobs.
pub type Reserve<'a> = dyn FnMut(&Queue, &mut Option<Connection>, Option<Waiting<'_>>) -> Result<ReserveOutcome> + 'a;

/// Asks the queues, first one first, until one has jobs or the time is over (`None`: never). Zero: asks each of them once, and
/// as often as Redis needs to take back what it finds.
///
/// # Errors
/// Connection and server errors.
pub fn wait_for(
    client: &Client,
    connection: &mut Option<Connection>,
    queues: &[Queue],
    timeout: Option<Duration>,
    interrupts: &mut dyn Interrupts,
    reserve: &mut Reserve<'_>,
) -> Result<Waited> {
    let deadline = timeout.filter(|timeout| !timeout.is_zero()).and_then(|timeout| Instant::now().checked_add(timeout));
    if let Some(found) = ask_all(queues, connection, deadline, interrupts, reserve)? {
        return Ok(found);
    }
    if timeout == Some(Duration::ZERO) {
        return Ok(Waited::Nothing);
    }
    let mut registration = Registration::default();
    let result = registration.wait(client, connection, queues, deadline, interrupts, reserve);
    registration.end(connection);
    result
}

fn ask_all(
    queues: &[Queue],
    connection: &mut Option<Connection>,
    deadline: Option<Instant>,
    interrupts: &mut dyn Interrupts,
    reserve: &mut Reserve<'_>,
) -> Result<Option<Waited>> {
    for (index, queue) in queues.iter().enumerate() {
        match ask(deadline, interrupts, &mut || reserve(queue, connection, None))? {
            Ok(ReserveOutcome::Jobs(jobs)) => return Ok(Some(Waited::Jobs(index, jobs))),
            Ok(_) => {}
            Err(flow) => return Ok(Some(Waited::Left(flow))),
        }
    }
    Ok(None)
}

/// Asks one queue. Many leases may have ended at once: asks again while Redis takes back some of them with each answer, unless the
/// time is over, or a signal handler wants to leave.
fn ask(
    deadline: Option<Instant>,
    interrupts: &mut dyn Interrupts,
    reserve: &mut dyn FnMut() -> Result<ReserveOutcome>,
) -> Result<std::result::Result<ReserveOutcome, Flow>> {
    loop {
        let outcome = reserve()?;
        let is_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over || !matches!(outcome, ReserveOutcome::Again) {
            return Ok(Ok(outcome));
        }
        match interrupts.poll() {
            Flow::Continue => {}
            flow => return Ok(Err(flow)),
        }
    }
}

/// Redis went away while we slept. It may be restarting: tries for as long as one operation may take.
fn reconnect(client: &Client, connection: &mut Option<Connection>, interrupts: &mut dyn Interrupts) -> Result<Flow> {
    let deadline = Instant::now() + client.read_timeout();
    let mut pause = Duration::from_millis(5);
    loop {
        match client.take() {
            Ok(open) => {
                *connection = Some(open);
                return Ok(Flow::Continue);
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

fn waiting(queues: &[Queue]) -> String {
    let names: Vec<String> = queues.iter().map(|queue| format!("'{}'", queue.name)).collect();
    format!("waiting for {} {}", if names.len() == 1 { "queue" } else { "queues" }, names.join(", "))
}

fn subscribe(mut connection: Connection, queues: &[Queue]) -> Result<Connection> {
    if connection.waiter.is_empty() {
        connection.waiter = random_name();
    }
    for queue in queues {
        let channel = queue.keys.channel(&connection.waiter);
        connection
            .subscribe(&channel)
            .map_err(|fault| to_error(fault, false).while_doing(|| format!("waiting for queue '{}'", queue.name)))?;
    }
    Ok(connection)
}

/// A waiter that scripts know of, and the queues in which it is registered.
#[derive(Default)]
struct Registration<'a> {
    waiter: String,
    queues: Vec<(&'a Queue, NextDue)>,
}

impl<'a> Registration<'a> {
    fn wait(
        &mut self,
        client: &Client,
        connection: &mut Option<Connection>,
        queues: &'a [Queue],
        deadline: Option<Instant>,
        interrupts: &mut dyn Interrupts,
        reserve: &mut Reserve<'_>,
    ) -> Result<Waited> {
        let doing = |error: Error| error.while_doing(|| waiting(queues));
        loop {
            let open = match connection.take().filter(|open| open.is_usable()) {
                Some(open) => open,
                None => client.take().map_err(doing)?,
            };
            let mut open = subscribe(open, queues)?;
            open.clear_wakes();
            if self.waiter != open.waiter {
                *self = Self { waiter: open.waiter.clone(), queues: Vec::new() };
            }
            *connection = Some(open);
            let is_last = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let at_most = if is_last { Duration::ZERO } else { jittered(REGISTERED_FOR, &self.waiter) };
            let mut reserve_at = Instant::now() + at_most;
            for (index, queue) in queues.iter().enumerate() {
                // The next request takes as long to reach Redis as this one, so the wait counts from the moment this one is sent.
                let mut asked = Instant::now();
                let waiting = Some(Waiting { name: &self.waiter, at_most });
                let outcome = match ask(deadline, interrupts, &mut || {
                    asked = Instant::now();
                    reserve(queue, connection, waiting)
                })? {
                    Ok(ReserveOutcome::Again) => continue, // the time is over
                    Ok(outcome) => outcome,
                    Err(flow) => return Ok(Waited::Left(flow)),
                };
                self.queues.retain(|(known, _)| known.name() != queue.name());
                match outcome {
                    ReserveOutcome::Jobs(jobs) => return Ok(Waited::Jobs(index, jobs)),
                    ReserveOutcome::Nothing(next) if !is_last => {
                        reserve_at = next.wait.map_or(reserve_at, |wait| reserve_at.min(asked + wait));
                        self.queues.push((queue, next));
                    }
                    _ => {}
                }
            }
            if is_last {
                return Ok(Waited::Nothing);
            }
            reserve_at = deadline.map_or(reserve_at, |deadline| reserve_at.min(deadline));
            match self.sleep(client, connection, reserve_at, interrupts).map_err(doing)? {
                Woken::Reserve | Woken::Check => {}
                Woken::Lost => {
                    *connection = None;
                    match reconnect(client, connection, interrupts).map_err(doing)? {
                        Flow::Continue => {}
                        flow => return Ok(Waited::Left(flow)),
                    }
                    // A reserve that waits for a Redis which is still loading; to subscribe, it must be there.
                    if let Some(found) = ask_all(queues, connection, deadline, interrupts, reserve)? {
                        return Ok(found);
                    }
                }
                Woken::Leave(flow) => return Ok(Waited::Left(flow)),
            }
        }
    }

    /// Whether it is over: the connection was replaced, and no wake-up would come over the new one, or this is a child of the process
    /// that waits.
    fn is_over(&self, connection: &Option<Connection>) -> bool {
        connection.as_ref().is_none_or(|open| open.waiter != self.waiter || !open.is_whole())
    }

    /// Sleeps until it is time to reserve, checking the queues meanwhile.
    fn sleep(
        &self,
        client: &Client,
        connection: &mut Option<Connection>,
        mut reserve_at: Instant,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Woken> {
        while !self.is_over(connection) {
            let check_at = Instant::now() + jittered(CHECK_EVERY, &self.waiter);
            match sleep(connection, &mut reserve_at, check_at, interrupts) {
                Woken::Check if !must_reserve(client, connection, &self.queues)? => {}
                woken => return Ok(woken),
            }
        }
        Ok(Woken::Reserve)
    }

    /// Tells the queues that this waiter is gone, so that a wake-up meant for it reaches another. Best effort: when it fails, the
    /// others notice with their next check.
    fn end(&self, connection: &mut Option<Connection>) {
        for (queue, _) in &self.queues {
            if self.is_over(connection) {
                return;
            }
            let _ = queue.client.run_on(connection, Repeat::No, &mut |request, _, _| {
                queue.write_script(request, &scripts::LEAVE, &[self.waiter.as_bytes()]);
            });
        }
    }
}

/// A little less than `longest`, different for each waiter, so that idle workers do not check in step.
fn jittered(longest: Duration, waiter: &str) -> Duration {
    let seed = waiter.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    longest.mul_f64(0.85 + 0.15 * f64::from(seed % 1000) / 1000.0)
}
