//! The engine's own handling of signals, where it has one.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction);

/// The engine's `zend_sigaction()`, looked up by name, because not every build has it.
fn engine_sigaction() -> Option<Sigaction> {
    static FUNCTION: OnceLock<Option<Sigaction>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        // SAFETY: a function of that name is the engine's.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"zend_sigaction".as_ptr());
            (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, Sigaction>(found))
        }
    })
}

/// The engine's own disposition of a signal that it handles itself (`--enable-zend-signals`): the handler it calls, or `SIG_DFL` or
/// `SIG_IGN`. `None` when `handler`, the one the system knows, is not the engine's.
pub fn engine_disposition(signal: c_int, handler: usize) -> Option<libc::sigaction> {
    /// The engine's handler, once it is known.
    static HANDLER: AtomicUsize = AtomicUsize::new(0);
    let ask = engine_sigaction()?;
    if handler != HANDLER.load(Ordering::Relaxed) {
        // It has no name; it lies in the same file.
        // SAFETY: dladdr only reads.
        unsafe {
            let mut engine: libc::Dl_info = std::mem::zeroed();
            let mut found: libc::Dl_info = std::mem::zeroed();
            if handler <= libc::SIG_IGN
                || libc::dladdr(ask as *const c_void, &raw mut engine) == 0
                || libc::dladdr(handler as *const c_void, &raw mut found) == 0
                || engine.dli_fbase != found.dli_fbase
            {
                return None;
            }
        }
        HANDLER.store(handler, Ordering::Relaxed);
    }
    // SAFETY: the engine fills the room for the answer.
    unsafe {
        let mut meant: libc::sigaction = std::mem::zeroed();
        ask(signal, std::ptr::null(), &raw mut meant);
        Some(meant)
    }
}

/// Gives the engine a disposition of a signal that it handles itself.
pub fn set_engine_disposition(signal: c_int, disposition: &libc::sigaction) {
    if let Some(set) = engine_sigaction() {
        // SAFETY: it was the engine's before.
        unsafe { set(signal, disposition, std::ptr::null_mut()) };
    }
}
