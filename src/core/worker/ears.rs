//! How a keeper hears that a job was cancelled while its handler runs. `lib/remove.lua` sends a word to the consumer that holds it; the keeper then
//! asks Redis for all leases that it keeps.
//!
//! A keeper listens, over the connection that renews leases, as soon as it has kept one for [`LISTEN_AFTER`]: jobs that are done sooner cost nothing.

use super::bell::Bell;
use crate::core::pool::Connections;
use crate::core::queue::Queue;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

pub(super) const LISTEN_AFTER: Duration = Duration::from_millis(500);
/// When a Redis that could not be listened to is tried again.
const RETRY: Duration = Duration::from_secs(5);

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
