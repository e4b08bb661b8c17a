//! Which process this is, without asking the kernel: a fork changes it. And threads of ours in it, beside the one that runs the embedding language.

use super::clock;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

thread_local! {
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

static FORKS: AtomicU64 = AtomicU64::new(0);

/// Tells a process from the parents it was forked from. A thing made under another value belongs to a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation(u64);

impl Generation {
    #[must_use]
    pub fn current() -> Self {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            // SAFETY: the handler only increments an atomic number. The C library forgets it when this library is unloaded.
            unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        });
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// False in a child that was forked since.
    #[must_use]
    pub fn is_current(self) -> bool {
        self == Self::current()
    }
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The worker for people: `host:pid`. At most 48 bytes of `[A-Za-z0-9._-]` and a colon.
#[must_use]
pub fn worker() -> String {
    format!("{}:{}", host(), std::process::id())
}

/// [`worker`] in its two parts.
#[must_use]
pub fn host_and_pid() -> (&'static str, u32) {
    (host(), std::process::id())
}

/// The memory of this process that lies in RAM, in bytes, where the kernel tells.
#[must_use]
pub fn resident_memory() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: asks for a number.
    let page_size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.checked_mul(u64::try_from(page_size).ok()?)
}

/// The name of this machine, or of the container.
fn host() -> &'static str {
    const LONGEST: usize = 32;
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let mut name = [0u8; 256];
        // SAFETY: the room is passed with its size; it is read up to the first NUL.
        let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
        let given = if result == 0 { name.split(|byte| *byte == 0).next().unwrap_or_default() } else { &[] };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let plain = given.iter().take(LONGEST).map(|byte| if is_plain(*byte) { char::from(*byte) } else { '-' });
        Some(plain.collect()).filter(|name: &String| !name.is_empty()).unwrap_or_else(|| "unknown".into())
    })
}

/// Starts a thread of ours; false when the system has none to give. It takes no signals, no thread joins it, and it may outlive the unloading of this
/// library.
pub(super) fn start_thread(work: impl FnOnce() + Send + 'static) -> bool {
    pin_library();
    // The thread inherits the mask: signals are for the thread that runs the embedding language.
    let _blocked = BlockedSignals::new();
    let offset = clock::shared();
    let started = std::thread::Builder::new().name("delayqueue".into()).spawn(move || {
        clock::share(offset);
        IS_OWN.set(true);
        work();
    });
    started.is_ok()
}

/// Whether this thread is one of ours.
pub(super) fn is_own_thread() -> bool {
    IS_OWN.try_with(Cell::get).unwrap_or(false)
}

/// All signals blocked in this thread until dropped.
pub(super) struct BlockedSignals {
    /// The mask of the thread without that.
    pub before: libc::sigset_t,
}

impl BlockedSignals {
    pub fn new() -> Self {
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
