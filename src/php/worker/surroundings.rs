//! What handlers and listeners may leave behind in the process of a worker, and must not: an alarm, which would end it later while it is idle; a signal
//! that ends it and did not before; signals that are blocked; and handlers of PHP that no longer run at once.
//!
//! To ask the system before each handler how the process is would cost more than many a handler does: this asks when one calls a function of pcntl.

use super::{signals, timer};
use crate::php::convert;
use crate::php::sys::{self, pcntl, signals as engine};
use crate::php::unwind::{Outcome, run};
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// Signals that end a process unless somebody handles or ignores them.
const DEADLY: [c_int; 8] = [
    libc::SIGHUP,
    libc::SIGUSR1,
    libc::SIGALRM,
    libc::SIGPIPE,
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR2,
];
/// Signals that were taken in another way are taken back so often at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);

thread_local! {
    /// The calls of handlers and listeners that this thread runs, inner ones last.
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    /// How many have begun.
    static BEGUN: Cell<u64> = const { Cell::new(0) };
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone, Copy)]
struct Call {
    number: u64,
    is_handler: bool,
    has_set_alarm: bool,
    since: Instant,
    /// How the process was when the call was about to change it.
    before: Option<Surroundings>,
}

/// RINIT.
pub fn hook() {
    if sys::is_command_line() {
        pcntl::note_calls(pcntl::Around { before: is_about_to_change, after: has_changed });
    }
}

fn is_about_to_change() {
    let _ = catch_unwind(|| {
        let is_first = CALLS.with_borrow(|all| all.last().is_some_and(|call| call.before.is_none()));
        if is_first && !IS_LOOKING.replace(true) {
            let now = Surroundings::look().ok();
            CALLS.with_borrow_mut(|all| {
                if let Some(call) = all.last_mut() {
                    call.before = now;
                }
            });
            IS_LOOKING.set(false);
        }
    });
}

fn has_changed(is_alarm: bool) {
    let _ = catch_unwind(|| {
        LOOKED.set(None);
        CALLS.with_borrow_mut(|all| match all.iter_mut().rfind(|call| call.is_handler) {
            _ if !is_alarm => {}
            Some(call) => call.has_set_alarm = true,
            None => timer::is_set_by_program(),
        });
    });
}

/// A call of a handler or a listener, after which the process is to be as it was.
pub struct Changes(u64);

impl Changes {
    pub fn watch(is_handler: bool) -> Self {
        BEGUN.set(BEGUN.get() + 1);
        let call = Call { number: BEGUN.get(), is_handler, has_set_alarm: false, since: Instant::now(), before: None };
        CALLS.with_borrow_mut(|all| all.push(call));
        Self(BEGUN.get())
    }

    /// Of this call, among those of this thread.
    pub fn number(&self) -> u64 {
        self.0
    }

    pub fn undo(self) -> Outcome<()> {
        match CALLS.with_borrow(|all| all.iter().rfind(|call| call.number == self.0).copied()) {
            Some(Call { before: Some(before), has_set_alarm, since, .. }) => {
                if has_set_alarm {
                    timer::restore(since);
                }
                before.put_back()
            }
            _ => {
                take_back_in_time();
                Ok(())
            }
        }
    }

    /// They stay, because the process or the loop ends.
    pub fn leave(self) {}
}

impl Drop for Changes {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(|all| all.retain(|call| call.number != self.0));
    }
}

/// The number of the last listener that was called and runs.
pub fn innermost_listener() -> Option<u64> {
    CALLS.with_borrow(|all| all.iter().rfind(|call| !call.is_handler).map(|call| call.number))
}

/// Takes back signals that were taken without pcntl, if that was not looked for just now.
pub fn take_back_in_time() {
    let now = Instant::now();
    if LOOKED.get().is_none_or(|at| now.saturating_duration_since(at) >= LOOK_EVERY) {
        LOOKED.set(Some(now));
        signals::take_back();
    }
}

#[derive(Clone, Copy)]
struct Surroundings {
    blocked: libc::sigset_t,
    survived: [Option<Survived>; DEADLY.len()],
    is_async: bool,
}

/// A signal that does not end the process, with the disposition behind that: the engine's own, or the system's.
#[derive(Clone, Copy)]
struct Survived {
    signal: c_int,
    disposition: libc::sigaction,
    is_of_engine: bool,
}

impl Surroundings {
    fn look() -> Outcome<Self> {
        let taken = signals::taken();
        let survived = DEADLY.map(|signal| if taken & (1 << signal) == 0 { survived(signal) } else { None });
        Ok(Self { blocked: blocked(), survived, is_async: async_signals(&mut [])? })
    }

    fn put_back(self) -> Outcome<()> {
        for before in self.survived.into_iter().flatten() {
            if survived(before.signal).is_none() {
                before.put_back();
            }
        }
        signals::take_back();
        unblock(&self.blocked);
        if self.is_async && !async_signals(&mut [])? {
            async_signals(&mut [convert::bool(true)])?;
        }
        Ok(())
    }
}

impl Survived {
    fn put_back(&self) {
        if self.is_of_engine {
            engine::set_engine_disposition(self.signal, &self.disposition);
        } else {
            // SAFETY: puts back what sigaction gave.
            unsafe { libc::sigaction(self.signal, &raw const self.disposition, std::ptr::null_mut()) };
        }
    }
}

/// `None`: it ends the process.
fn survived(signal: c_int) -> Option<Survived> {
    let of_system = signals::disposition(signal)?;
    let of_engine = engine::engine_disposition(signal, of_system.sa_sigaction);
    let (disposition, is_of_engine) = (of_engine.unwrap_or(of_system), of_engine.is_some());
    (disposition.sa_sigaction != libc::SIG_DFL).then_some(Survived { signal, disposition, is_of_engine })
}

/// Whether handlers of PHP ran at once; with an argument from now on.
fn async_signals(argument: &mut [Zval]) -> Outcome<bool> {
    let function = sys::find_function(sys::function_table(), "pcntl_async_signals");
    if function.is_null() { Ok(false) } else { run(function, None, argument).map(|was| was.bool() == Some(true)) }
}

fn blocked() -> libc::sigset_t {
    // SAFETY: only reads, into memory of ours.
    unsafe {
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut blocked);
        blocked
    }
}

/// Unblocks the signals that were not blocked before.
fn unblock(before: &libc::sigset_t) {
    // SAFETY: sets of ours, which have been filled; in the last one are only signals that are new in the second.
    unsafe {
        let (mut new, now): (libc::sigset_t, _) = (std::mem::zeroed(), blocked());
        libc::sigemptyset(&raw mut new);
        for signal in 1..=31 {
            if libc::sigismember(&raw const now, signal) == 1 && libc::sigismember(before, signal) != 1 {
                libc::sigaddset(&raw mut new, signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const new, std::ptr::null_mut());
    }
}
