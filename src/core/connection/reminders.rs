//! Duties of a connection for a queue that come again after a while.

use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// A process that serves more queues forgets some of them, and does it for these more often.
const MOST: usize = 1024;

/// When something was last done, by a key of the queue. The name alone would not do: queues under several prefixes may have one name.
#[derive(Debug, Default)]
pub struct Reminders(FxHashMap<Box<[u8]>, Instant>);

impl Reminders {
    /// Whether it was not done for this key within that time. If so, it counts as done now.
    pub fn is_due(&mut self, key: &[u8], every: Duration, now: Instant) -> bool {
        if self.is_recent(key, every, now) {
            return false;
        }
        if self.0.len() >= MOST {
            self.0.retain(|_, done| now.saturating_duration_since(*done) < every);
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(key.into(), now);
        true
    }

    /// Whether it was done for this key within that time.
    #[must_use]
    pub fn is_recent(&self, key: &[u8], every: Duration, now: Instant) -> bool {
        self.0.get(key).is_some_and(|done| now.saturating_duration_since(*done) < every)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn each_key_is_due_at_once_and_again_after_the_time() {
        let (mut reminders, start) = (Reminders::default(), Instant::now());
        let mut due = |key: &str, after: Duration| reminders.is_due(key.as_bytes(), MINUTE, start + after);
        assert!(due("shop1:{q}:meta", Duration::ZERO) && due("shop2:{q}:meta", Duration::ZERO));
        assert!(!due("shop1:{q}:meta", MINUTE - Duration::from_millis(1)));
        assert!(due("shop1:{q}:meta", MINUTE) && !due("shop1:{q}:meta", MINUTE));
    }

    #[test]
    fn any_number_of_keys_takes_bounded_memory() {
        let (mut reminders, start) = (Reminders::default(), Instant::now());
        for number in 0..10_000_u32 {
            assert!(reminders.is_due(&number.to_le_bytes(), MINUTE, start + Duration::from_millis(number.into())));
            assert!(reminders.0.len() <= MOST);
        }
    }
}
