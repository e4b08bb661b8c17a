//! Ends the sleep of a keeper: the bell of its own process, and the word of Redis that a job was cancelled while its handler runs. `lib/remove.lua`
//! sends that word to the consumer that holds the job; the keeper then asks Redis for all leases that it keeps.
//!
//! A keeper listens, over the connection that renews leases, as soon as it has kept one for [`LISTEN_AFTER`]: jobs that are done sooner cost nothing.

use crate::core::pool::Connections;
use crate::core::queue::Queue;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::{Duration, Instant};

pub(super) const LISTEN_AFTER: Duration = Duration::from_millis(500);
/// When a Redis that could not be listened to is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// Where the system has no descriptor to give, the thread looks so often.
const WITHOUT_BELL: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Ears {
    retry_at: Option<Instant>,
}

impl Ears {
    /// Waits until the bell rings, the time has come (`None`: never), or one of these queues has a message for its consumer. Says whether a message
    /// came, or may have come before this thread listened.
    pub fn hear(&mut self, bell: &Bell, until: Option<Instant>, queues: &[(Queue, String)]) -> bool {
        let mut has_heard = false;
        let mut taken: Vec<(&Queue, Connections)> = Vec::new();
        let mut until = until;
        if self.retry_at.is_none_or(|at| at <= Instant::now()) {
            self.retry_at = None;
            for (queue, consumer) in queues {
                has_heard |= self.listen(queue, consumer, &mut taken);
            }
        }
        if let Some(retry_at) = self.retry_at.filter(|_| !queues.is_empty()) {
            until = Some(until.map_or(retry_at, |until| until.min(retry_at)));
        }
        let all = || taken.iter().flat_map(|(_, connections)| connections.iter());
        has_heard |= all().any(|connection| connection.has_wake());
        let until = if has_heard { Some(Instant::now()) } else { until };
        let readable = bell.wait(all().map(|connection| connection.as_raw_fd()), until);
        let connections = taken.iter_mut().flat_map(|(_, connections)| connections.iter_mut());
        for (connection, is_readable) in connections.zip(readable) {
            // A lost connection may have lost a message.
            has_heard |= !matches!(connection.next_wake(is_readable), Ok(None));
            connection.clear_wakes();
        }
        for (queue, connections) in taken {
            queue.client().give_back(connections);
        }
        has_heard
    }

    /// Says whether it is new that the connection listens for this consumer.
    fn listen<'a>(&mut self, queue: &'a Queue, consumer: &str, taken: &mut Vec<(&'a Queue, Connections)>) -> bool {
        let at = taken.iter().position(|(other, _)| other.client().key() == queue.client().key());
        let at = at.unwrap_or_else(|| {
            taken.push((queue, Connections::default()));
            taken.len() - 1
        });
        let Some((_, connections)) = taken.get_mut(at) else { return false };
        queue.listen(connections, consumer).unwrap_or_else(|_| {
            self.retry_at = Some(Instant::now() + RETRY);
            false
        })
    }
}

/// Rung by any thread, heard by the one that waits; a ring before the wait ends it, too.
#[derive(Debug)]
pub(super) struct Bell(Option<File>);

impl Default for Bell {
    fn default() -> Self {
        Self::new()
    }
}

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
