//! A signal of our own that only ends a wait. The kernel gives a signal of the process to one of its threads: that one nudges the others that run a
//! loop.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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

pub fn this_thread() -> usize {
    // SAFETY: asks for a number, or in some C libraries for a pointer.
    unsafe { libc::pthread_self() as usize }
}

/// While it lives, this thread is nudged.
pub struct Listening(());

impl Listening {
    /// One thread at a time: the signal has a handler before anybody can nudge.
    pub fn begin() -> Self {
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
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// In a signal handler: has the loops of all other threads look at once. Async-signal-safe.
pub fn nudge_others() {
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

/// Whether this is the only thread of the process that runs a loop.
pub fn is_alone() -> bool {
    let me = this_thread();
    THREADS.iter().map(|place| place.load(Ordering::SeqCst)).all(|thread| thread == 0 || thread == me)
}
