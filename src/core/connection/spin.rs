//! Waiting for an answer awake. To fall asleep and be woken again takes a worker a seventh of its round trip to a Redis
//! nearby, so it looks for the answer again and again for a moment first, and lets others have the processor in between.

use std::time::{Duration, Instant};

/// What takes longer is waited for asleep.
const LONGEST: Duration = Duration::from_micros(60);
/// After so many in a row that took longer Redis is busy, or far away:
const MOST_LATE: u8 = 3;
/// so many answers are waited for asleep.
const ASLEEP: u8 = 64;

/// Whether one connection waits awake.
#[derive(Debug, Default)]
pub struct Spin {
    is_wanted: bool,
    /// How many answers in a row took too long.
    late: u8,
    asleep: u8,
}

impl Spin {
    /// For the answer to the next request, unless they took too long lately.
    pub fn want(&mut self, is_wanted: bool) {
        self.is_wanted = is_wanted && self.asleep == 0;
        if is_wanted {
            self.asleep = self.asleep.saturating_sub(1);
        }
    }

    /// What `look` finds in time, if that is wanted: once for each request.
    pub fn wait<T>(&mut self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        if !std::mem::take(&mut self.is_wanted) {
            return None;
        }
        let until = Instant::now() + LONGEST;
        loop {
            let found = look();
            if found.is_some() {
                self.late = 0;
                return found;
            }
            if Instant::now() >= until {
                self.late += 1;
                if self.late == MOST_LATE {
                    (self.late, self.asleep) = (0, ASLEEP);
                }
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
        for _ in 0..ASLEEP {
            spin.want(false);
            spin.want(true);
            assert_eq!(spin.wait(|| Some(())), None);
        }
        spin.want(true);
        assert_eq!(spin.wait(|| Some(())), Some(()));
    }
}
