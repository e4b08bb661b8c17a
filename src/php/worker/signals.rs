//! Signals of a worker, without pcntl: SIGTERM, SIGINT and SIGQUIT ask it to finish, SIGUSR2 to take no more jobs until
//! SIGCONT. Handlers that were there before run too, and are back when the loop is over.
//!
//! In a server (php-fpm) a signal that the server leaves to the system stays the system's: it ends a request that runs for
//! too long by SIGTERM.
//!
//! Signals are the process': where PHP has threads, all their loops obey a signal, whichever thread it comes to.

use super::nudge::{Listening, nudge_others, this_thread};
use crate::php::sys;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

const SIGNALS: [c_int; 5] = [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGUSR2, libc::SIGCONT];

/// When the first finishing signal came, in microseconds after [`BASE`]; 0: none has.
static STOPPED_AT: AtomicU64 = AtomicU64::new(0);
/// Set before our handler can run.
static BASE: OnceLock<Instant> = OnceLock::new();
static PAUSE: AtomicBool = AtomicBool::new(false);
/// The handlers that each of [`SIGNALS`] had before, which are to run too; or `SIG_DFL`, `SIG_IGN`.
static BEFORE: [AtomicUsize; 5] = [const { AtomicUsize::new(libc::SIG_DFL) }; 5];
static BEFORE_TAKES_INFO: [AtomicBool; 5] = [const { AtomicBool::new(false) }; 5];
/// The threads that run one of [`BEFORE`] at present; 0: none does.
static RUNS_BEFORE: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];

/// The process that runs the loop.
static OWNER: AtomicI32 = AtomicI32::new(0);

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// The loops of this process: one in a handler of another, in fibers, or in several threads.
struct Loops {
    running: u32,
    /// The signals that are ours, with the dispositions that they have without us.
    old: Vec<(c_int, libc::sigaction)>,
}

static LOOPS: Mutex<Loops> = Mutex::new(Loops { running: 0, old: Vec::new() });

fn loops() -> MutexGuard<'static, Loops> {
    LOOPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A finishing signal came since the loop began, or since the first of several did.
pub fn stop_requested() -> bool {
    STOPPED_AT.load(Ordering::SeqCst) > 0
}

/// When the first of these signals came.
pub fn stop_requested_at() -> Option<Instant> {
    let after_base = Duration::from_micros(STOPPED_AT.load(Ordering::SeqCst));
    BASE.get().filter(|_| !after_base.is_zero()).map(|base| *base + after_base)
}

/// Async-signal-safe.
fn request_stop() {
    let after_base = BASE.get().map_or(Duration::ZERO, Instant::elapsed);
    let us = u64::try_from(after_base.as_micros()).unwrap_or(u64::MAX).max(1);
    let _ = STOPPED_AT.compare_exchange(0, us, Ordering::SeqCst, Ordering::SeqCst);
}

/// SIGUSR2 came, and no SIGCONT since.
pub fn paused() -> bool {
    PAUSE.load(Ordering::SeqCst)
}

/// Our handlers in place until dropped. Several loops share them.
pub struct Signals {
    _listening: Listening,
}

impl Signals {
    pub fn install() -> Self {
        let mut loops = loops();
        let listening = Listening::begin();
        loops.running += 1;
        if loops.running == 1 {
            BASE.get_or_init(Instant::now);
            STOPPED_AT.store(0, Ordering::SeqCst);
            PAUSE.store(false, Ordering::SeqCst);
            // SAFETY: asks for a number.
            OWNER.store(unsafe { libc::getpid() }, Ordering::SeqCst);
            loops.old = SIGNALS.into_iter().filter_map(|signal| Some((signal, take(signal)?))).collect();
        }
        Self { _listening: listening }
    }
}

/// RINIT: the engine has just put its own handlers in the place of all others, those of a loop in another thread among them.
pub fn take_again() {
    for (signal, _) in &loops().old {
        let handler = disposition(*signal).map_or(0, |now| now.sa_sigaction);
        if handler != on_signal as Handler as usize && sys::signals::engine_disposition(*signal, handler).is_some() {
            put_ours(*signal);
        }
    }
}

/// After code of the user: takes the signals again that it has taken from us. What it has put in our place runs too from now on, and stays when the
/// loop is over.
pub fn take_back() {
    // SAFETY: asks for a number.
    if unsafe { libc::getpid() } != OWNER.load(Ordering::SeqCst) {
        return; // a forked child, where another thread may hold the lock
    }
    for (signal, old) in &mut loops().old {
        if let Some(now) = disposition(*signal).filter(|now| !is_ours(now)) {
            put_in_place_of(*signal, &now, meaning(*signal, &now));
            *old = now;
        }
    }
}

/// The signals that the loops have taken, each as the bit of its number.
pub fn taken() -> u64 {
    loops().old.iter().fold(0, |all, (signal, _)| all | 1 << signal)
}

/// The handler that a disposition leads to, or `SIG_DFL`, or `SIG_IGN`. The engine handles every signal itself, and then calls the handler that would
/// have run without it.
fn meaning(signal: c_int, disposition: &libc::sigaction) -> usize {
    sys::signals::engine_disposition(signal, disposition.sa_sigaction)
        .map_or(disposition.sa_sigaction, |engine| engine.sa_sigaction)
}

/// Puts our handler in the place of another, which it gives back. `None`: the signal is not ours to take.
fn take(signal: c_int) -> Option<libc::sigaction> {
    let old = disposition(signal)?;
    let meant = meaning(signal, &old);
    // The parent process (nohup, a shell) wants it ignored: it stays ignored.
    if meant == libc::SIG_IGN && signal != libc::SIGCONT {
        return None;
    }
    if meant == libc::SIG_DFL && !sys::is_command_line() {
        return None;
    }
    put_in_place_of(signal, &old, meant).then_some(old)
}

fn put_in_place_of(signal: c_int, old: &libc::sigaction, meant: usize) -> bool {
    let slots = SIGNALS.iter().zip(BEFORE.iter().zip(&BEFORE_TAKES_INFO));
    for (_, (before, takes_info)) in slots.filter(|(known, _)| **known == signal) {
        let is_handled = meant != libc::SIG_IGN && meant != libc::SIG_DFL;
        before.store(if is_handled { old.sa_sigaction } else { meant }, Ordering::SeqCst);
        takes_info.store(old.sa_flags & libc::SA_SIGINFO != 0, Ordering::SeqCst);
    }
    put_ours(signal)
}

fn is_ours(disposition: &libc::sigaction) -> bool {
    disposition.sa_sigaction == on_signal as Handler as usize
}

fn put_ours(signal: c_int) -> bool {
    // SAFETY: sigaction with memory of ours; the handler only uses atomics and calls what was there before.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as Handler as usize;
        // Restart: a running job's system calls are not disturbed; our own waits are interrupted all the same.
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&raw mut ours.sa_mask);
        libc::sigaction(signal, &raw const ours, std::ptr::null_mut()) == 0
    }
}

pub fn disposition(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: only reads, into memory of ours.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0).then_some(now)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let mut loops = loops();
        loops.running = loops.running.saturating_sub(1);
        if loops.running > 0 {
            return;
        }
        for (signal, old) in std::mem::take(&mut loops.old) {
            // If the user installed another handler meanwhile, we keep it.
            if disposition(signal).is_some_and(|now| is_ours(&now)) {
                // SAFETY: puts back what sigaction gave.
                unsafe { libc::sigaction(signal, &raw const old, std::ptr::null_mut()) };
            }
        }
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: asks for a number.
    let is_child = unsafe { libc::getpid() } != OWNER.load(Ordering::SeqCst);
    match signal {
        _ if is_child => {}
        libc::SIGUSR2 => PAUSE.store(true, Ordering::SeqCst),
        libc::SIGCONT => PAUSE.store(false, Ordering::SeqCst),
        _ => request_stop(),
    }
    if !is_child {
        nudge_others();
    }
    let Some(index) = SIGNALS.iter().position(|known| *known == signal) else { return };
    let (Some(before), Some(takes_info)) = (BEFORE.get(index), BEFORE_TAKES_INFO.get(index)) else { return };
    let before = before.load(Ordering::SeqCst);
    if before == libc::SIG_IGN {
        return;
    }
    if before == libc::SIG_DFL {
        if is_child {
            // It does what it would have done to a child of another program, as soon as this handler returns.
            // SAFETY: both are async-signal-safe.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        return;
    }
    // A handler of a job may call the one that was there before it: ours.
    let (Some(runs), me) = (RUNS_BEFORE.get(index), this_thread()) else { return };
    if runs.load(Ordering::SeqCst) == me {
        return;
    }
    let is_marked = runs.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    // SAFETY: the address came from sigaction, with the flag that says which of the two forms it has.
    unsafe {
        if takes_info.load(Ordering::SeqCst) {
            let handler: Handler = std::mem::transmute(before);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(before);
            handler(signal);
        }
    }
    if is_marked {
        runs.store(0, Ordering::SeqCst);
    }
}
