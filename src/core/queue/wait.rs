//! Waiting for a job without polling: a timer of our own until the next due time, and a channel on which a push wakes us.

use super::Queue;
use super::glance::{GLANCE_AFTER, Registered, glance};
use super::reserve::{Look, Waiting};
use super::sleep::{Flow, Interrupts, NextLook, Woken, sleep};
use crate::core::connection::{Connection, random_name};
use crate::core::error::{Error, Result};
use crate::core::job::Reserved;
use crate::core::link::{Link, Repeat, to_error};
use crate::core::reply;
use crate::core::scripts;
use std::time::{Duration, Instant};

/// A waiter is registered for so long at most. Then it looks, whatever its glances have seen.
const LOOK_AFTER: Duration = Duration::from_secs(150);

/// What waiting gave.
pub enum Waited {
    /// Jobs of the queue with that index.
    Jobs(usize, Vec<Reserved>),
    Nothing,
    Left(Flow),
}

/// How a queue is looked at.
pub type LookAt<'a> = dyn FnMut(&Queue, &mut Option<Connection>, Option<Waiting<'_>>) -> Result<Look> + 'a;

/// Looks at the queues, first one first, until one has jobs or the time is over (`None`: never).
///
/// # Errors
/// Connection and server errors.
pub fn wait_for(
    link: &Link,
    held: &mut Option<Connection>,
    queues: &[Queue],
    timeout: Option<Duration>,
    interrupts: &mut dyn Interrupts,
    look: &mut LookAt<'_>,
) -> Result<Waited> {
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    for (index, queue) in queues.iter().enumerate() {
        if let Look::Jobs(jobs) = look(queue, held, None)? {
            return Ok(Waited::Jobs(index, jobs));
        }
    }
    if timeout == Some(Duration::ZERO) {
        return Ok(Waited::Nothing);
    }
    loop {
        let connection = match held.take().filter(|connection| connection.is_usable()) {
            Some(connection) => connection,
            None => link.take().map_err(|error| error.while_doing(|| waiting(queues)))?,
        };
        let mut connection = subscribe(connection, queues)?;
        connection.clear_wakes();
        let waiter = connection.waiter.clone();
        *held = Some(connection);
        let is_last = until.is_some_and(|until| Instant::now() >= until);
        let at_most = if is_last { Duration::ZERO } else { jittered(LOOK_AFTER, &waiter) };
        let mut stay = Stay { waiter, registered: Vec::new(), look: NextLook::sometime(Instant::now() + at_most) };
        let mut found = None;
        for (index, queue) in queues.iter().enumerate() {
            // The next request takes as long to get there as this one: sent so much later, it arrives in time.
            let asked = Instant::now();
            match look(queue, held, Some(Waiting { name: &stay.waiter, at_most }))? {
                Look::Jobs(jobs) => {
                    found = Some(Waited::Jobs(index, jobs));
                    break;
                }
                Look::Unseen(_) => return Err(reply::unexpected()), // not asked for
                Look::Nothing(outlook) => {
                    if let Some(wait) = outlook.wait {
                        stay.look = stay.look.or(NextLook::after(asked, wait));
                    }
                    stay.registered.push(Registered::new(queue, outlook));
                }
            }
        }
        if is_last {
            return Ok(found.unwrap_or(Waited::Nothing));
        }
        if let Some(found) = found {
            stay.end(held);
            return Ok(found);
        }
        if let Some(until) = until {
            stay.look = stay.look.or(NextLook::sometime(until));
        }
        match stay.sleep(link, held, interrupts).map_err(|error| error.while_doing(|| waiting(queues)))? {
            Woken::Look | Woken::Glance => {}
            Woken::Lost => {
                *held = None;
                match reconnect(link, held, interrupts).map_err(|error| error.while_doing(|| waiting(queues)))? {
                    Flow::Continue => {}
                    flow => return Ok(Waited::Left(flow)),
                }
                // A look that waits for a Redis which is still loading; to wait, it must be there.
                for (index, queue) in queues.iter().enumerate() {
                    if let Look::Jobs(jobs) = look(queue, held, None)? {
                        return Ok(Waited::Jobs(index, jobs));
                    }
                }
            }
            Woken::Leave(flow) => {
                stay.end(held);
                return Ok(Waited::Left(flow));
            }
        }
    }
}

/// Redis went away while we slept. It may be restarting: tries for as long as one operation may take.
fn reconnect(link: &Link, held: &mut Option<Connection>, interrupts: &mut dyn Interrupts) -> Result<Flow> {
    let until = Instant::now() + link.read_timeout();
    let mut pause = Duration::from_millis(5);
    loop {
        match link.take() {
            Ok(connection) => {
                *held = Some(connection);
                return Ok(Flow::Continue);
            }
            Err(Error::Connection { .. }) if Instant::now() + pause < until => {}
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

/// A waiter that is registered.
struct Stay<'a> {
    waiter: String,
    registered: Vec<Registered<'a>>,
    look: NextLook,
}

impl Stay<'_> {
    /// Whether it is over: the connection was replaced, and nobody would be woken over the new one, or this is a child of the process
    /// that waits.
    fn is_over(&self, held: &Option<Connection>) -> bool {
        held.as_ref().is_none_or(|connection| connection.waiter != self.waiter || !connection.is_whole())
    }

    /// Sleeps until it is time to look, glancing at the queues meanwhile.
    fn sleep(&mut self, link: &Link, held: &mut Option<Connection>, interrupts: &mut dyn Interrupts) -> Result<Woken> {
        let is_awake = self.registered.iter().any(|registered| registered.queue.spin);
        while !self.is_over(held) {
            let glance_at = Instant::now() + jittered(GLANCE_AFTER, &self.waiter);
            match sleep(held, &mut self.look, glance_at, is_awake, interrupts) {
                Woken::Glance if !glance(link, held, &mut self.registered)? => {}
                woken => return Ok(woken),
            }
        }
        Ok(Woken::Look)
    }

    /// Tells the queues that this waiter is gone, so that a wake-up meant for it reaches another. Best effort: when it fails, the
    /// others notice by themselves after [`GLANCE_AFTER`].
    fn end(&self, held: &mut Option<Connection>) {
        for Registered { queue, .. } in &self.registered {
            if self.is_over(held) {
                return;
            }
            let _ = queue.link.run_on(held, Repeat::No, &mut |request, _, _| {
                queue.write_script(request, &scripts::LEAVE, &[self.waiter.as_bytes()]);
            });
        }
    }
}

/// A bit less than that, different for each waiter, so that idle workers do not look in step.
fn jittered(longest: Duration, waiter: &str) -> Duration {
    let seed = waiter.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    longest.mul_f64(0.85 + 0.15 * f64::from(seed % 1000) / 1000.0)
}
