//! Waiting for an answer awake. To fall asleep and be woken again takes a seventh of the round trip to a Redis
//! nearby, or half of it in some virtual machines, so a worker looks for the answer again and again for a moment first, and lets others have
//! the processor in between.

use super::patience::Patience;
use std::time::{Duration, Instant};

/// What takes longer is waited for asleep: Redis is busy, or far away.
const LONGEST: Duration = Duration::from_micros(100);

/// Whether one connection waits awake.
#[derive(Debug, Default)]
pub struct Spin {
    is_wanted: bool,
    patience: Patience,
}

impl Spin {
    /// For the answer to the next request, unless they took too long lately.
    pub fn want(&mut self, is_wanted: bool) {
        self.is_wanted = is_wanted && self.patience.take_chance();
    }

    /// What `look` finds in time, if that is wanted: once for each request.
    pub fn wait<T>(&mut self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        if !std::mem::take(&mut self.is_wanted) {
            return None;
        }
        let until = Instant::now() + LONGEST;
        loop {
            let found = look();
            let is_late = Instant::now() >= until;
            if found.is_some() {
                self.patience.saw(!is_late); // others had the processor for longer than that
                return found;
            }
            if is_late {
                self.patience.saw(false);
                return None;
            }
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_looked_for_and_once() {
        let mut spin = Spin::default();
        assert_eq!(spin.wait(|| Some(1)), None);
        spin.want(true);
        assert_eq!((spin.wait(|| Some(2)), spin.wait(|| Some(3))), (Some(2), None));
        spin.want(true);
        spin.want(false);
        assert_eq!(spin.wait(|| Some(1)), None);
    }

    #[test]
    fn after_answers_that_took_long_others_are_waited_for_asleep() {
        let mut spin = Spin::default();
        let began = Instant::now();
        for found in [None, None, Some(()), None, None, None] {
            spin.want(true);
            assert_eq!(spin.wait(|| found), found);
        }
        assert!(began.elapsed() >= 5 * LONGEST);
        for _ in 0..64 {
            spin.want(false);
            spin.want(true);
            assert_eq!(spin.wait(|| Some(())), None);
        }
        spin.want(true);
        assert_eq!(spin.wait(|| Some(())), Some(()));
    }
}
