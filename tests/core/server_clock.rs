//! A clock for a redis-server, owned by the test.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Microseconds in a mapped file (see `clockshim.c`).
#[derive(Clone)]
pub struct Clock {
    pub file: std::sync::Arc<tempfile::NamedTempFile>,
    cell: &'static AtomicU64,
}

impl Clock {
    pub fn new() -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(8).unwrap();
        // SAFETY: maps eight bytes of a file that lives as long as the process keeps the mapping.
        let cell = unsafe {
            let at = libc::mmap(
                std::ptr::null_mut(),
                8,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_file().as_raw_fd(),
                0,
            );
            assert_ne!(at, libc::MAP_FAILED);
            &*at.cast::<AtomicU64>()
        };
        cell.store(1_800_000_000_000_001, Ordering::SeqCst);
        Self { file: std::sync::Arc::new(file), cell }
    }

    pub fn now_us(&self) -> i64 {
        i64::try_from(self.cell.load(Ordering::SeqCst)).unwrap()
    }

    pub fn now_ms(&self) -> i64 {
        self.now_us() / 1000
    }

    /// Sets the clock, also back.
    pub fn set_us(&self, now_us: i64) {
        self.cell.store(u64::try_from(now_us).unwrap(), Ordering::SeqCst);
    }

    /// Sets the clock and stops it: looking at it does not move it any more.
    pub fn stand_still_at(&self, now_us: i64) {
        self.cell.store(u64::try_from(now_us).unwrap() | 1 << 63, Ordering::SeqCst);
    }

    /// Moves on by whole milliseconds, and by one more when the current one is nearly used up by the looks at it. The
    /// clock is never at a whole millisecond.
    pub fn advance(&self, ms: u64) -> i64 {
        let us = self.cell.load(Ordering::SeqCst);
        let ms = if ms == 0 && us % 1000 > 500 { 1 } else { ms };
        if ms > 0 {
            self.cell.store((us / 1000 + ms) * 1000 + 1, Ordering::SeqCst);
        }
        self.now_ms()
    }

    /// The library by which a server reads this clock.
    pub fn shim() -> PathBuf {
        static SHIM: OnceLock<PathBuf> = OnceLock::new();
        SHIM.get_or_init(|| {
            // Several test processes may build it at once: each its own, then into place.
            let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clockshim.so");
            let mine = out.with_extension(std::process::id().to_string());
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/core/clockshim.c");
            let status = Command::new("cc")
                .args(["-shared", "-fPIC", "-O2", "-o"])
                .arg(&mine)
                .arg(source)
                .status()
                .expect("cc is installed");
            assert!(status.success());
            std::fs::rename(mine, &out).unwrap();
            out
        })
        .clone()
    }
}
