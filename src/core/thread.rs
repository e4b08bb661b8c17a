//! Threads of ours beside the one that runs the embedding language. They take no signals, no thread joins them, and they may
//! outlive the unloading of this library.

use super::clock;

/// Starts one; false when the system has none to give.
pub(super) fn start(work: impl FnOnce() + Send + 'static) -> bool {
    pin_library();
    // The thread inherits the mask: signals are for the thread that runs the embedding language.
    let before = block_signals();
    let offset = clock::shared();
    let started = std::thread::Builder::new().name("delayqueue".into()).spawn(move || {
        clock::share(offset);
        work();
    });
    restore_signals(&before);
    started.is_ok()
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are plain memory that the calls initialise.
    unsafe {
        let mut all = std::mem::zeroed();
        let mut before = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        before
    }
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: the set was filled by pthread_sigmask.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

/// Keeps this library mapped until the process ends.
fn pin_library() {
    // SAFETY: dladdr only reads; the name it gives belongs to the loader; opening again with NODELETE has no other effect.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(pin_library as *const libc::c_void, &raw mut info) != 0 && !info.dli_fname.is_null() {
            libc::dlopen(info.dli_fname, libc::RTLD_NOLOAD | libc::RTLD_NODELETE | libc::RTLD_NOW);
        }
    }
}
