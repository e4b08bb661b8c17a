//! The alarm of the process, as `pcntl_alarm()` sets it: one that a handler sets ends with it, one that the program has set outside of handlers stays.

use super::nudge;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// An alarm that rings sooner or later by less is the one that was expected.
const TOLERANCE: Duration = Duration::from_millis(20);
/// PHP's handler of the signal may run so much later, in the handler of a job that has begun since.
const LATE: Duration = Duration::from_millis(50);

thread_local! {
    /// When the alarm rings, or has rung, that the program has set outside of handlers.
    static OWN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The alarm that is set now, if one is, is the program's.
pub fn is_set_by_program() {
    let left = length(alarm().it_value);
    OWN.set((!left.is_zero()).then(|| Instant::now() + left));
}

fn alarm() -> libc::itimerval {
    // SAFETY: only reads, into memory of ours.
    unsafe {
        let mut now: libc::itimerval = std::mem::zeroed();
        libc::getitimer(libc::ITIMER_REAL, &raw mut now);
        now
    }
}

fn length(time: libc::timeval) -> Duration {
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_usec).unwrap_or(0) * 1000)
}

/// Ends the alarm of a handler that began then. One of the program's own gets the time back that it would still have: one that came while the handler
/// ran, and was set again by its own signal handler or replaced, comes at once.
pub fn restore(since: Instant) {
    let (now, is) = (Instant::now(), alarm());
    // It belongs to the process: with several threads it may be that of another's handler.
    if !length(is.it_interval).is_zero() || !nudge::is_alone() {
        return;
    }
    let own = OWN.get().filter(|at| *at > now || (!length(is.it_value).is_zero() && *at + LATE >= since));
    let left = own.map(|at| at.saturating_duration_since(now).max(Duration::from_millis(1)));
    OWN.set(left.map(|left| now + left));
    let left = left.unwrap_or_default();
    if length(is.it_value).abs_diff(left) > TOLERANCE || length(is.it_value).is_zero() != left.is_zero() {
        // SAFETY: a timer of this process, with values of ours.
        unsafe {
            let mut again: libc::itimerval = std::mem::zeroed();
            again.it_value.tv_sec = libc::time_t::try_from(left.as_secs()).unwrap_or(0);
            again.it_value.tv_usec = libc::suseconds_t::from(left.subsec_micros());
            libc::setitimer(libc::ITIMER_REAL, &raw const again, std::ptr::null_mut());
        }
    }
}
