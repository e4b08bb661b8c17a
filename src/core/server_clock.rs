//! What Redis' clock says, as one connection has heard it: for a request that has to name a time before it arrives.

use std::time::{Duration, Instant};

/// Afterwards it is asked anew: the clocks of two machines may have drifted apart by a tenth of a millisecond.
const GOOD_FOR: Duration = Duration::from_secs(2);

/// Redis' time in an answer, and when the request for it was sent.
#[derive(Debug, Clone, Copy)]
struct Heard {
    sent: Instant,
    server_us: i64,
}

impl Heard {
    fn at(&self, now: Instant) -> i64 {
        self.server_us + micros(now.saturating_duration_since(self.sent))
    }
}

/// A time that a request claims to be Redis'.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Microseconds since 1970.
    pub us: i64,
    made: Instant,
}

impl Claim {
    /// Whether Redis' own time, in the answer to the request, bears it out: the claim is not before the request was made, and
    /// not after its answer was here.
    #[must_use]
    pub fn is_borne_out(&self, server_us: i64, answered: Instant) -> bool {
        let took = micros(answered.saturating_duration_since(self.made));
        (server_us - took..=server_us + took / 2).contains(&self.us)
    }
}

/// The clock of the server behind one connection.
#[derive(Debug, Default)]
pub struct ServerClock {
    /// Of the last seconds, the request that was fastest on its way there: it makes the clock run ahead the least.
    best: Option<Heard>,
    /// The same since `best` was heard.
    next: Option<Heard>,
    heard_at: Option<Instant>,
    last_us: i64,
}

impl ServerClock {
    /// The answer to a request sent at `sent` says what time it is.
    pub fn hear(&mut self, sent: Instant, server_us: i64) {
        let new = Heard { sent, server_us };
        let better = |old: Option<Heard>| old.filter(|old| old.at(sent) <= server_us).unwrap_or(new);
        self.best = match self.best {
            Some(best) if sent.saturating_duration_since(best.sent) > GOOD_FOR => Some(better(self.next.take())),
            best => Some(better(best)),
        };
        self.next = Some(better(self.next));
        self.heard_at = Some(sent);
    }

    /// What was heard is not true any more.
    pub fn forget(&mut self) {
        (self.best, self.next, self.heard_at) = (None, None, None);
    }

    /// Whether it was heard lately.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.heard_at.is_some_and(|heard| heard.elapsed() < GOOD_FOR)
    }

    /// Redis' time now, later than in each claim before; `None` when it was not heard lately. It is what a request will meet
    /// that travels as fast as the fastest did, so it is not earlier than now unless a clock has jumped.
    pub fn claim(&mut self) -> Option<Claim> {
        let made = Instant::now();
        let best = self.best.filter(|_| self.heard_at.is_some_and(|heard| made < heard + GOOD_FOR))?;
        self.last_us = best.at(made).max(self.last_us + 1);
        Some(Claim { us: self.last_us, made })
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_fastest_request_of_late_is_believed() {
        let (start, mut clock) = (Instant::now().checked_sub(GOOD_FOR).unwrap() - 20 * MS, ServerClock::default());
        assert!(clock.claim().is_none(), "never heard");
        let offset = |clock: &ServerClock| clock.best.map(|best| best.at(start));
        clock.hear(start, 1_000_800);
        clock.hear(start + MS, 1_001_300);
        assert_eq!(offset(&clock), Some(1_000_300), "it took less time to get there");
        clock.hear(start + 2 * MS, 1_002_500);
        assert_eq!(offset(&clock), Some(1_000_300), "it took more");
        let later = start + MS + GOOD_FOR + MS;
        clock.hear(later, 1_000_900 + micros(later - start));
        assert_eq!(offset(&clock), Some(1_000_300), "the fastest since then is still known");
        clock.forget();
        assert!(clock.claim().is_none());
    }

    #[test]
    fn it_is_not_believed_for_long_and_never_goes_back() {
        let (now, mut clock) = (Instant::now(), ServerClock::default());
        clock.hear(now.checked_sub(GOOD_FOR).unwrap(), 5_000_000);
        assert!(clock.claim().is_none());
        clock.hear(now, 5_000_000);
        let first = clock.claim().unwrap();
        assert!(first.us >= 5_000_000);
        clock.forget();
        clock.hear(now, 4_000_000);
        assert_eq!(clock.claim().unwrap().us, first.us + 1);
    }

    #[test]
    fn a_claim_lies_between_asking_and_being_answered() {
        let made = Instant::now();
        let claim = Claim { us: 10_000, made };
        let answered = made + MS;
        for (server_us, is_fine) in [(11_001, false), (11_000, true), (10_000, true), (9_500, true), (9_499, false)] {
            assert_eq!(claim.is_borne_out(server_us, answered), is_fine, "{server_us}");
        }
    }
}
