//! Ends a wait of another thread, also one for sockets.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::{Duration, Instant};

/// Rung by any thread, heard by the one that waits; a ring before the wait ends it, too.
#[derive(Debug)]
pub(super) struct Bell(Option<File>);

impl Default for Bell {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the system has no descriptor to give, the thread looks so often.
const WITHOUT_BELL: Duration = Duration::from_millis(50);

impl Bell {
    pub fn new() -> Self {
        // SAFETY: a new descriptor, or -1; the file owns it from here on.
        let file = unsafe {
            let descriptor = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            (descriptor >= 0).then(|| File::from_raw_fd(descriptor))
        };
        Self(file)
    }

    pub fn ring(&self) {
        if let Some(mut file) = self.0.as_ref() {
            let _ = file.write(&1u64.to_ne_bytes());
        }
    }

    /// Takes back all rings.
    pub fn silence(&self) {
        if let Some(mut file) = self.0.as_ref() {
            let _ = file.read(&mut [0; 8]);
        }
    }

    /// Can be read after a ring; −1, which poll() passes over, where there is none.
    pub fn descriptor(&self) -> RawFd {
        self.0.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Waits for a ring, for bytes in one of the sockets, or until the time has come (`None`: never). Says of each socket whether it can be read.
    pub fn wait(&self, sockets: impl Iterator<Item = i32>, until: Option<Instant>) -> Vec<bool> {
        let mut all: Vec<libc::pollfd> = std::iter::once(self.descriptor())
            .chain(sockets)
            .map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
            .collect();
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = if self.0.is_none() { Some(left.map_or(WITHOUT_BELL, |left| left.min(WITHOUT_BELL))) } else { left };
        let limit = left.map(|left| libc::timespec {
            tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(left.subsec_nanos()),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: so many pollfds, and a valid timespec or none.
        unsafe { libc::ppoll(all.as_mut_ptr(), all.len() as libc::nfds_t, limit, std::ptr::null()) };
        self.silence();
        all.iter().skip(1).map(|socket| socket.revents != 0).collect()
    }
}
