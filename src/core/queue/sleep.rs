//! Sleeping between two reserves: a wake-up ends the sleep, and so does a signal.

use crate::core::connection::Wake;
use crate::core::pool::Connections;
use crate::core::process::BlockedSignals;
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// Linux ends a wait late by up to a thousandth of its length; for a process of low priority it is one part in so many
/// (`__estimate_accuracy()` in its fs/select.c).
const SLACK: u32 = 200;

/// The wish of the embedding language after a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on waiting.
    Continue,
    /// Return without a job (`stop()` was called).
    Return,
    /// Return [`crate::core::error::Error::Interrupted`]: an exception is pending.
    Raise,
}

/// Asked before each sleep and whenever a signal ended one. May run arbitrary code, also on the same queue.
pub trait Interrupts {
    fn poll(&mut self) -> Flow;

    /// A descriptor that can be read when another thread wants [`Interrupts::poll`] to be called; −1: there is none.
    fn calls(&self) -> RawFd {
        -1
    }

    /// When [`Interrupts::tick`] is to be called, if the sleep lasts until then.
    fn tick_at(&self) -> Option<Instant> {
        None
    }

    /// Something that is to be done now and then. May run arbitrary code, too.
    fn tick(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Never interrupts.
pub struct NoInterrupts;

impl Interrupts for NoInterrupts {
    fn poll(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Why a sleep ended.
pub(super) enum Woken {
    /// The time to reserve has come.
    Reserve,
    /// A script asks to look at a queue.
    Told(Wake),
    /// Time for the waiter's own check.
    Check,
    Leave(Flow),
    Lost,
}

/// Sleeps until `reserve_at` or `check_at`, or until a wake-up comes, or a signal whose handler wants to leave.
pub(super) fn sleep(
    connections: &mut Connections,
    reserve_at: Instant,
    check_at: Instant,
    interrupts: &mut dyn Interrupts,
) -> Woken {
    let mut sockets: Vec<libc::pollfd> =
        connections.iter().map(|connection| connection.as_raw_fd()).chain([interrupts.calls()]).map(readable).collect();
    loop {
        if interrupts.tick_at().is_some_and(|tick_at| tick_at <= Instant::now()) {
            match interrupts.tick() {
                Flow::Continue => {}
                flow => return Woken::Leave(flow),
            }
        }
        match interrupts.poll() {
            Flow::Continue => {}
            flow => return Woken::Leave(flow),
        }
        {
            // Once more with signals blocked until the wait itself, so that none falls in between.
            let blocked = BlockedSignals::new();
            match interrupts.poll() {
                Flow::Continue => {}
                flow => return Woken::Leave(flow),
            }
            let other_at = check_at.min(interrupts.tick_at().unwrap_or(check_at));
            let now = Instant::now();
            let left = nap(reserve_at.saturating_duration_since(now)).min(other_at.saturating_duration_since(now));
            // A wake-up that came right behind a reply is read already: the socket will not tell of it.
            let has_wake = connections.iter().any(|connection| connection.has_wake());
            poll_readable(&mut sockets, if has_wake { Duration::ZERO } else { left }, &blocked);
        }
        for (connection, socket) in connections.iter_mut().zip(&sockets) {
            match connection.next_wake(socket.revents != 0) {
                Err(_) => return Woken::Lost,
                Ok(Some(wake)) => return Woken::Told(wake),
                Ok(None) => {}
            }
        }
        let now = Instant::now();
        if now >= reserve_at {
            return Woken::Reserve;
        }
        if now >= check_at {
            return Woken::Check;
        }
    }
}

/// How long to sleep if so much time is left: not all of it in one go, since the kernel ends a longer sleep later.
fn nap(left: Duration) -> Duration {
    const SHORTEST: Duration = Duration::from_micros(1);
    left.saturating_sub(left / SLACK).max(SHORTEST).min(left)
}

/// Sleeps without any queue, heeding signals.
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
        poll_readable(&mut [readable(interrupts.calls())], left, &blocked);
    }
}

fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Waits with the signal mask from before, until a socket can be read, the time is over, or a signal comes.
fn poll_readable(sockets: &mut [libc::pollfd], left: Duration, blocked: &BlockedSignals) {
    sockets.iter_mut().for_each(|socket| socket.revents = 0);
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(left.subsec_nanos()),
    };
    // SAFETY: so many pollfds, a valid timespec and a mask that pthread_sigmask filled.
    unsafe {
        libc::ppoll(sockets.as_mut_ptr(), sockets.len() as libc::nfds_t, &raw const limit, &raw const blocked.before)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_naps_end_in_time_however_long_each_is_drawn_out() {
        for ms in [0, 1, 2, 10, 300, 2_000, 150_000] {
            let (mut left, mut naps) = (Duration::from_micros(3) + Duration::from_millis(ms), 0);
            while left > Duration::from_micros(1) {
                let nap = nap(left);
                let took = nap + nap / SLACK;
                assert!(took <= left, "{took:?} of {left:?}");
                (left, naps) = (left - took, naps + 1);
            }
            assert!(naps <= 6, "{naps} for {ms} ms");
        }
    }
}
