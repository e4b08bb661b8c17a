//! Signals of a worker, without pcntl: SIGTERM, SIGINT and SIGQUIT ask it to finish, SIGUSR2 to take no more jobs until
//! SIGCONT. Handlers that were there before run too, and are back when the loop is over.
//!
//! In a server (php-fpm) a signal that the server leaves to the system stays the system's: it ends a request that runs for
//! too long by SIGTERM.
//!
//! Signals are the process': where PHP has threads, all their loops obey a signal, whichever thread it comes to.

use crate::php::sys;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

const SIGNALS: [c_int; 5] = [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGUSR2, libc::SIGCONT];

/// When the first finishing signal came, in microseconds after [`BASE`]; 0: none has.
static STOPPED_AT: AtomicU64 = AtomicU64::new(0);
/// Set before our handler can run.
static BASE: OnceLock<Instant> = OnceLock::new();
static PAUSE: AtomicBool = AtomicBool::new(false);
/// The handlers that each of [`SIGNALS`] had before, which are to run too; 0: none.
static BEFORE: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];
static BEFORE_TAKES_INFO: [AtomicBool; 5] = [const { AtomicBool::new(false) }; 5];

/// The process that runs the loop.
static OWNER: AtomicI32 = AtomicI32::new(0);

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// The loops of this process: one in a handler of another, in fibers, or in several threads.
struct Loops {
    running: u32,
    /// The dispositions before the first of them.
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
            let slots = SIGNALS.into_iter().zip(BEFORE.iter().zip(&BEFORE_TAKES_INFO));
            loops.old = slots.filter_map(|(signal, (handler, info))| take(signal, handler, info)).collect();
        }
        Self { _listening: listening }
    }
}

/// RINIT: the engine has just put its own handlers in the place of all others, those of a loop in another thread among them.
pub fn take_again() {
    for (signal, _) in &loops().old {
        let handler = disposition(*signal).map_or(0, |now| now.sa_sigaction);
        if handler != on_signal as Handler as usize && sys::engine_signal_handler(*signal, handler).is_some() {
            put_ours(*signal);
        }
    }
}

/// Puts our handler in the place of another, which it gives back. `None`: the signal is not ours to take.
fn take(signal: c_int, before: &AtomicUsize, takes_info: &AtomicBool) -> Option<(c_int, libc::sigaction)> {
    let old = disposition(signal)?;
    let meant = match sys::engine_signal_handler(signal, old.sa_sigaction) {
        // The engine handles every signal itself, and then calls the handler that would have run without it.
        Some(meant) => meant,
        None => old.sa_sigaction,
    };
    // The parent process (nohup, a shell) wants it ignored: it stays ignored.
    if meant == libc::SIG_IGN && signal != libc::SIGCONT {
        return None;
    }
    if meant == libc::SIG_DFL && !sys::is_command_line() {
        return None;
    }
    let is_handled = meant != libc::SIG_IGN && meant != libc::SIG_DFL;
    before.store(if is_handled { old.sa_sigaction } else { 0 }, Ordering::SeqCst);
    takes_info.store(old.sa_flags & libc::SA_SIGINFO != 0, Ordering::SeqCst);
    put_ours(signal).then_some((signal, old))
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

fn disposition(signal: c_int) -> Option<libc::sigaction> {
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
            if disposition(signal).is_some_and(|now| now.sa_sigaction == on_signal as Handler as usize) {
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
    if before == 0 {
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
}

/// A signal of our own only ends a wait. The kernel gives a signal of the process to one of its threads: that one nudges the others that run a loop.
/// Threads beyond these hear of a signal when they next look: within their idle timeout.
const MOST_THREADS: usize = 256;

/// The threads of this process that run loops; 0: a free place.
static THREADS: [AtomicUsize; MOST_THREADS] = [const { AtomicUsize::new(0) }; MOST_THREADS];
/// Handlers that are going through [`THREADS`] right now.
static READERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How many loops this thread runs, one in a handler of another or in fibers.
    static LOOPS_HERE: Cell<u32> = const { Cell::new(0) };
}

/// Ends our own waits, and no system call of a handler that the system can restart.
fn nudge_signal() -> c_int {
    libc::SIGRTMIN() + 10
}

/// Has a signal do nothing but end waits, and with `flags` 0 other system calls, for the life of the process: one may be on its way at any time.
pub fn ignore(signal: c_int, flags: c_int) {
    extern "C" fn nothing(_: c_int) {}
    // SAFETY: sigaction with memory of ours; the handler does nothing.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = nothing as extern "C" fn(c_int) as usize;
        ours.sa_flags = flags;
        libc::sigaction(signal, &raw const ours, std::ptr::null_mut());
    }
}

fn this_thread() -> usize {
    // SAFETY: asks for a number, or in some C libraries for a pointer.
    unsafe { libc::pthread_self() as usize }
}

/// While it lives, this thread is nudged.
struct Listening(());

impl Listening {
    /// One thread at a time: the signal has a handler before anybody can nudge.
    fn begin() -> Self {
        LOOPS_HERE.set(LOOPS_HERE.get() + 1);
        if LOOPS_HERE.get() == 1 {
            // A process with one such thread has no use for it, and keeps the handlers that it had.
            if THREADS.iter().any(|place| place.load(Ordering::SeqCst) != 0) {
                static PREPARED: Once = Once::new();
                PREPARED.call_once(|| ignore(nudge_signal(), libc::SA_RESTART));
            }
            let me = this_thread();
            let _ =
                THREADS.iter().find(|place| place.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst).is_ok());
        }
        Self(())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LOOPS_HERE.set(LOOPS_HERE.get().saturating_sub(1));
        if LOOPS_HERE.get() > 0 {
            return;
        }
        let me = this_thread();
        for place in &THREADS {
            let _ = place.compare_exchange(me, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
        // The thread may end now: nobody must still be about to nudge it. A handler reads for microseconds; a forked child, where none
        // runs, may have inherited a count that nobody takes back.
        for _ in 0..1000 {
            if READERS.load(Ordering::SeqCst) == 0 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
    }
}

/// In a signal handler: has the loops of all other threads look at once. Async-signal-safe.
fn nudge_others() {
    READERS.fetch_add(1, Ordering::SeqCst);
    let me = this_thread();
    for place in &THREADS {
        let thread = place.load(Ordering::SeqCst);
        if thread != 0 && thread != me {
            // SAFETY: a thread takes itself out of the list and waits for its readers before it ends; the signal has a handler by then.
            unsafe { libc::pthread_kill(thread as libc::pthread_t, nudge_signal()) };
        }
    }
    READERS.fetch_sub(1, Ordering::SeqCst);
}
