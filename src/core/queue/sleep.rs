//! Sleeping between looks, so that a wake-up ends it, and a signal is heard at once.

use crate::core::connection::Connection;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The last of the time before a look is waited for awake: so late may a system's timer be.
const AWAKE: Duration = Duration::from_micros(200);
/// Linux ends a wait later by up to a thousandth of it, that of a process of low priority by up to this part (`__estimate_accuracy()` in its
/// fs/select.c).
const SLACK: u32 = 200;

/// What the embedding language wants after a signal.
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
    /// Time to look, or somebody said so.
    Look,
    /// Time to glance.
    Glance,
    Leave(Flow),
    Lost,
}

/// When to look, and whether it is for something that falls due then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NextLook {
    pub(super) at: Instant,
    is_due: bool,
}

impl NextLook {
    pub(super) fn sometime(at: Instant) -> Self {
        Self { at, is_due: false }
    }

    /// For something that there is to do so long after this. If that is not soon, a look shortly before says anew how long it is, since the clocks
    /// of two machines drift apart, and has Redis awake for the one that counts.
    pub(super) fn after(start: Instant, wait: Duration) -> Self {
        const SOON: Duration = Duration::from_millis(10);
        const BEFORE: Duration = Duration::from_millis(1);
        /// NTP has each of them gain or lose up to 500 parts per million.
        const DRIFT: u32 = 1000;
        let is_due = wait <= SOON;
        Self { at: start + if is_due { wait } else { wait - BEFORE - wait / DRIFT }, is_due }
    }

    /// The earlier one.
    pub(super) fn or(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }
}

/// Sleeps until it is time to look, which a wake-up may make earlier, or `glance_at`, or a signal whose handler wants to leave. The very last of it
/// awake, if that is wanted and something falls due.
pub(super) fn sleep(
    held: &mut Option<Connection>,
    look: &mut NextLook,
    glance_at: Instant,
    is_awake: bool,
    interrupts: &mut dyn Interrupts,
) -> Woken {
    let Some(connection) = held else { return Woken::Lost };
    let descriptor = connection.as_raw_fd();
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
        let readable = {
            // Once more with signals blocked until the wait itself, so that none falls in between.
            let blocked = BlockedSignals::new();
            match interrupts.poll() {
                Flow::Continue => {}
                flow => return Woken::Leave(flow),
            }
            let other_at = glance_at.min(interrupts.tick_at().unwrap_or(glance_at));
            let left = look.at.saturating_duration_since(Instant::now());
            let nap = match nap(left, if is_awake && look.is_due { AWAKE } else { Duration::ZERO }) {
                // A wake-up that came right behind a reply is read already: the socket will not tell of it.
                _ if connection.has_wake() => Duration::ZERO,
                Some(nap) => nap.min(other_at.saturating_duration_since(Instant::now())),
                None => {
                    while Instant::now() < look.at {
                        std::hint::spin_loop(); // whom one yields to keeps the processor for milliseconds
                    }
                    Duration::ZERO
                }
            };
            poll_readable(descriptor, nap, &blocked)
        };
        match connection.next_wake(readable) {
            Err(_) => return Woken::Lost,
            Ok(Some(wake)) if wake.wait.is_zero() => return Woken::Look,
            Ok(Some(wake)) => *look = look.or(NextLook::after(Instant::now(), wake.wait)),
            Ok(None) => {}
        }
        let now = Instant::now();
        if now >= look.at {
            return Woken::Look;
        }
        if now >= glance_at {
            return Woken::Glance;
        }
    }
}

/// How long to sleep if so much time is left, the last of which is to be spent awake; `None`: not any more. Not all of it in one go, since the
/// longer a sleep, the later its end.
fn nap(left: Duration, awake: Duration) -> Option<Duration> {
    const SHORTEST: Duration = Duration::from_micros(1);
    let early = awake + left / SLACK;
    (left > awake + SHORTEST).then(|| left.saturating_sub(early).max(SHORTEST))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_is_in_time_though_clocks_drift_apart() {
        let start = Instant::now();
        for drift in [-0.001, 0.0, 0.001] {
            for ms in [1, 10, 11, 300, 2_000, 150_000] {
                let (mut left, mut looks) = (Duration::from_millis(ms), 0);
                let mut look = NextLook::after(start, left);
                while !look.is_due {
                    let took = (look.at - start).mul_f64(1.0 + drift);
                    assert!(took < left, "{took:?} of {left:?}");
                    (left, looks) = (left - took, looks + 1);
                    look = NextLook::after(start, left);
                }
                assert_eq!(look.at - start, left);
                assert!(looks <= 2 && (looks == 0) == (ms <= 10), "{looks} of {ms} ms");
            }
        }
    }

    #[test]
    fn a_few_naps_end_in_time_however_long_each_is_drawn_out() {
        for awake in [Duration::ZERO, AWAKE] {
            for ms in [0, 1, 2, 10, 300, 2_000, 150_000] {
                let mut left = awake + Duration::from_micros(3) + Duration::from_millis(ms);
                let mut naps = 0;
                while let Some(nap) = nap(left, awake) {
                    let took = nap + nap / SLACK;
                    assert!(took <= left, "{took:?} of {left:?}");
                    (left, naps) = (left - took, naps + 1);
                }
                assert!(left <= awake + Duration::from_micros(1) && naps <= 6, "{left:?} after {naps} of {ms} ms");
            }
        }
    }
}
