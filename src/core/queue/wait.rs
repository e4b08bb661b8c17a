//! Waiting for a job without polling: a timer of our own until the next due time, and a channel on which a push wakes us.

use super::Queue;
use super::reserve::{Look, Waiting};
use crate::core::connection::{Connection, random_name};
use crate::core::error::{Error, Result};
use crate::core::job::Reserved;
use crate::core::link::{Link, to_error};
use crate::core::reply;
use crate::core::scripts;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// A waiter looks at least this often, in case a wake-up was lost with a process that died.
const LOOK_AT_LEAST: Duration = Duration::from_millis(2000);

/// What the embedding language wants after a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on waiting.
    Continue,
    /// Return without a job (`stop()` was called).
    Return,
    /// Return [`Error::Interrupted`]: an exception is pending.
    Raise,
}

/// Asked before each sleep and whenever a signal ended one. May run arbitrary code, also on the same queue.
pub trait Interrupts {
    fn poll(&mut self) -> Flow;
}

/// Never interrupts.
pub struct NoInterrupts;

impl Interrupts for NoInterrupts {
    fn poll(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Why a sleep ended.
enum Woken {
    /// Time to look, or somebody said so.
    Look,
    Leave(Flow),
    Lost,
}

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
        let at_most = if is_last { Duration::ZERO } else { jittered(LOOK_AT_LEAST, &waiter) };
        let mut wake_at = Instant::now() + at_most;
        let mut found = None;
        let mut registered = Vec::new();
        for (index, queue) in queues.iter().enumerate() {
            // The next request takes as long to get there as this one: sent so much later, it arrives in time.
            let asked = Instant::now();
            match look(queue, held, Some(Waiting { name: &waiter, at_most }))? {
                Look::Jobs(jobs) => {
                    found = Some(Waited::Jobs(index, jobs));
                    break;
                }
                Look::Unseen(_) => return Err(reply::unexpected()), // not asked for
                Look::Nothing(wait) => {
                    registered.push(queue);
                    if let Some(wait) = wait {
                        wake_at = wake_at.min(asked + wait);
                    }
                }
            }
        }
        if is_last {
            return Ok(found.unwrap_or(Waited::Nothing));
        }
        if let Some(found) = found {
            leave(held, &registered, &waiter);
            return Ok(found);
        }
        if held.as_ref().is_none_or(|connection| connection.waiter != waiter) {
            continue; // it was replaced while looking: the new one is not registered
        }
        if let Some(until) = until {
            wake_at = wake_at.min(until);
        }
        match sleep(held, wake_at, interrupts) {
            Woken::Look => {}
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
                leave(held, &registered, &waiter);
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

/// Tells the queues that this waiter is gone, so that a wake-up meant for it reaches another. Best effort: when it fails,
/// the others look by themselves within [`LOOK_AT_LEAST`].
fn leave(held: &mut Option<Connection>, queues: &[&Queue], waiter: &str) {
    for queue in queues {
        if held.as_ref().is_none_or(|connection| connection.waiter != waiter) {
            return;
        }
        let _ = queue.link.run_on(held, crate::core::link::Repeat::No, &mut |request, _, _| {
            queue.write_script(request, &scripts::LEAVE, &[waiter.as_bytes()]);
        });
    }
}

/// Sleeps until `wake_at`, a wake-up, or a signal whose handler wants to leave.
fn sleep(held: &mut Option<Connection>, mut wake_at: Instant, interrupts: &mut dyn Interrupts) -> Woken {
    let Some(connection) = held else { return Woken::Lost };
    let descriptor = connection.as_raw_fd();
    loop {
        match interrupts.poll() {
            Flow::Continue => {}
            flow => return Woken::Leave(flow),
        }
        let readable = {
            // Once more with signals blocked until the wait itself, so that none falls in between.
            let blocked = BlockedSignals::new();
            match interrupts.poll() {
                Flow::Continue => {}
                flow => return Woken::Leave(flow),
            }
            // A wake-up that came right behind a reply is read already: the socket will not tell of it.
            let left =
                if connection.has_wake() { Duration::ZERO } else { wake_at.saturating_duration_since(Instant::now()) };
            poll_readable(descriptor, left, &blocked)
        };
        match connection.next_wake(readable) {
            Err(_) => return Woken::Lost,
            Ok(Some(wake)) if wake.wait.is_zero() => return Woken::Look,
            Ok(Some(wake)) => wake_at = wake_at.min(Instant::now() + wake.wait),
            Ok(None) => {}
        }
        if Instant::now() >= wake_at {
            return Woken::Look;
        }
    }
}

/// Sleeps without any queue, as [`wait_for`] sleeps between looks.
pub fn rest(length: Duration, interrupts: &mut dyn Interrupts) -> Flow {
    let end = Instant::now() + length;
    loop {
        match interrupts.poll() {
            Flow::Continue => {}
            flow => return flow,
        }
        let blocked = BlockedSignals::new();
        match interrupts.poll() {
            Flow::Continue => {}
            flow => return flow,
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Flow::Continue;
        }
        poll_readable(-1, left, &blocked);
    }
}

/// All signals blocked in this thread until dropped.
struct BlockedSignals {
    before: libc::sigset_t,
}

impl BlockedSignals {
    fn new() -> Self {
        // SAFETY: both sets are plain memory that sigfillset and pthread_sigmask initialise.
        unsafe {
            let mut all = std::mem::zeroed();
            let mut before = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
            Self { before }
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: `before` was filled by pthread_sigmask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}

/// Waits with the signal mask from before; false after the time, or a signal.
fn poll_readable(descriptor: i32, left: Duration, blocked: &BlockedSignals) -> bool {
    let mut entry = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(left.subsec_nanos()),
    };
    // SAFETY: one pollfd, a valid timespec and a mask that pthread_sigmask filled.
    unsafe { libc::ppoll(&raw mut entry, 1, &raw const limit, &raw const blocked.before) > 0 }
}

/// Between three quarters and all of it, different for each waiter, so that idle workers do not look in step.
fn jittered(longest: Duration, waiter: &str) -> Duration {
    let seed = waiter.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    longest.mul_f64(0.75 + 0.25 * f64::from(seed % 1000) / 1000.0)
}
