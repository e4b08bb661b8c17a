//! What a client has not read yet, and a bell that its `poll()` hears.

use super::answer::Answer;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct Mailbox {
    pub id: u64,
    unread: Mutex<Unread>,
    bell: UnixStream,
    /// The other end of the bell.
    pub ear: UnixStream,
}

#[derive(Default)]
struct Unread {
    bytes: Vec<u8>,
    /// A byte lies in the ear: there is a message.
    has_rung: bool,
}

impl Mailbox {
    /// # Errors
    /// Where the system has no descriptors left.
    pub fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (bell, ear) = UnixStream::pair()?;
        Ok(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), unread: Mutex::default(), bell, ear })
    }

    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_unread(&self) -> bool {
        !self.unread().bytes.is_empty()
    }

    /// An answer to a command of this client, which it goes to read.
    pub fn answer(&self, answer: &Answer) {
        answer.write(&mut self.unread().bytes);
    }

    /// A message that the client may be waiting for: its first byte is that of messages, so that a look at the socket shows one.
    pub fn tell(&self, message: &Answer) {
        let mut unread = self.unread();
        message.write(&mut unread.bytes);
        if !unread.has_rung {
            unread.has_rung = (&self.bell).write(b">").is_ok();
        }
    }

    /// Waits for something to read, as long as the timeout of the ear allows.
    ///
    /// # Errors
    /// `WouldBlock` when there is nothing.
    pub fn read(&self, room: &mut [u8]) -> io::Result<usize> {
        let mut unread = self.unread();
        while unread.bytes.is_empty() {
            drop(unread);
            if (&self.ear).read(&mut [0u8; 1])? == 0 {
                return Ok(0);
            }
            unread = self.unread();
            unread.has_rung = false;
        }
        let many = unread.bytes.as_slice().read(room)?;
        unread.bytes.drain(..many);
        if unread.bytes.is_empty() && std::mem::take(&mut unread.has_rung) {
            let _ = (&self.ear).read(&mut [0u8; 1]);
        }
        Ok(many)
    }
}
