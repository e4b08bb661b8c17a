//! Signals of a worker, without pcntl: SIGTERM, SIGINT and SIGQUIT ask it to finish, SIGUSR2 to take no more jobs until
//! SIGCONT. Handlers that were there before run too, and are back when the loop is over.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SIGNALS: [c_int; 5] = [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGUSR2, libc::SIGCONT];

static STOP: AtomicBool = AtomicBool::new(false);
static PAUSE: AtomicBool = AtomicBool::new(false);
/// What handled each of [`SIGNALS`] before; 0 is `SIG_DFL`, 1 is `SIG_IGN`.
static BEFORE: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];
static BEFORE_TAKES_INFO: [AtomicBool; 5] = [const { AtomicBool::new(false) }; 5];

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A finishing signal came since the loop began.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// SIGUSR2 came, and no SIGCONT since.
pub fn paused() -> bool {
    PAUSE.load(Ordering::SeqCst)
}

/// Our handlers in place until dropped. A loop inside a handler of another shares them.
pub struct Signals {
    before: Vec<(c_int, libc::sigaction)>,
}

impl Signals {
    pub fn install() -> Self {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        let mut before = Vec::new();
        if depth == 0 {
            STOP.store(false, Ordering::SeqCst);
            PAUSE.store(false, Ordering::SeqCst);
            for (index, signal) in SIGNALS.into_iter().enumerate() {
                // SAFETY: sigaction with memory of ours; the handler only uses atomics and calls what was there before.
                unsafe {
                    let mut old: libc::sigaction = std::mem::zeroed();
                    if libc::sigaction(signal, std::ptr::null(), &raw mut old) != 0 {
                        continue;
                    }
                    // Somebody (nohup, a shell) wants it ignored: it stays ignored.
                    if old.sa_sigaction == libc::SIG_IGN && signal != libc::SIGCONT {
                        continue;
                    }
                    let (Some(handler), Some(takes_info)) = (BEFORE.get(index), BEFORE_TAKES_INFO.get(index)) else {
                        continue;
                    };
                    handler.store(old.sa_sigaction, Ordering::SeqCst);
                    takes_info.store(old.sa_flags & libc::SA_SIGINFO != 0, Ordering::SeqCst);
                    let mut ours: libc::sigaction = std::mem::zeroed();
                    ours.sa_sigaction =
                        on_signal as extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) as usize;
                    // Restart: a running job's system calls are not disturbed; our own waits are interrupted all the same.
                    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                    libc::sigfillset(&raw mut ours.sa_mask);
                    if libc::sigaction(signal, &raw const ours, std::ptr::null_mut()) == 0 {
                        before.push((signal, old));
                    }
                }
            }
        }
        Self { before }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
        for (signal, old) in &self.before {
            // SAFETY: puts back what sigaction gave.
            unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
        }
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    match signal {
        libc::SIGUSR2 => PAUSE.store(true, Ordering::SeqCst),
        libc::SIGCONT => PAUSE.store(false, Ordering::SeqCst),
        _ => STOP.store(true, Ordering::SeqCst),
    }
    let Some(index) = SIGNALS.iter().position(|known| *known == signal) else { return };
    let (Some(before), Some(takes_info)) = (BEFORE.get(index), BEFORE_TAKES_INFO.get(index)) else { return };
    let before = before.load(Ordering::SeqCst);
    if before == libc::SIG_DFL || before == libc::SIG_IGN {
        return;
    }
    // SAFETY: the address came from sigaction, with the flag that says which of the two forms it has.
    unsafe {
        if takes_info.load(Ordering::SeqCst) {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) = std::mem::transmute(before);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(before);
            handler(signal);
        }
    }
}
