//! What Redis' clock says, as one connection has heard it: for a request that has to name a time before it arrives.

/// Afterwards it is asked anew: the clocks of two machines may have drifted apart by a tenth of a millisecond.
const GOOD_FOR_US: i64 = 2_000_000;

/// A point of time by a clock that nobody sets, and that goes on while the machine sleeps; in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    #[must_use]
    pub fn now() -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        const CLOCK: libc::clockid_t = libc::CLOCK_BOOTTIME;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes one timespec.
        unsafe { libc::clock_gettime(CLOCK, &raw mut time) };
        Self(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)
    }

    fn since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }
}

/// Redis' time in an answer.
#[derive(Debug, Clone, Copy)]
struct Heard {
    asked: Moment,
    /// The round trip, or a shorter one lately.
    shortest_us: i64,
    server_us: i64,
}

impl Heard {
    /// Not before Redis' time then: the question was on its way for a while. Unless a clock was set.
    fn at(&self, moment: Moment) -> i64 {
        self.server_us + moment.since(self.asked)
    }
}

/// A time that a request claims to be Redis', in microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Not before Redis' time when the claim was made: what is delayed from then on is not early.
    pub delay_from_us: i64,
    /// Not after Redis' time when the request arrives, unless it gets there a quarter of a round trip faster than the fastest so
    /// far: what is stamped so comes before all that is pushed later. It is later than all that was stamped over this connection.
    pub stamp_us: i64,
    made: Moment,
    /// The shortest round trip lately.
    shortest_us: i64,
}

impl Claim {
    /// Whether Redis' own time, in the answer to the request, bears it out. A clock that was set by less than half of what the
    /// request took, or by less than what that took longer than the shortest one lately, goes unnoticed. A stamp from before the claim was made is none.
    #[must_use]
    pub fn is_borne_out(&self, server_us: i64, answered: Moment) -> bool {
        let took_us = answered.since(self.made);
        let on_its_way_us = (took_us / 2).max(took_us - self.shortest_us * 3 / 4);
        let could_be_then = self.stamp_us <= server_us && self.stamp_us >= server_us - took_us;
        could_be_then && self.delay_from_us >= server_us - on_its_way_us
    }
}

/// The clock of the server behind one connection.
#[derive(Debug, Default)]
pub struct ServerClock {
    /// Of the last seconds, the question that was fastest on its way there.
    best: Option<Heard>,
    /// The same since `best` was heard.
    next: Option<Heard>,
    heard_at: Option<Moment>,
    last_stamp_us: i64,
    is_denied: bool,
}

impl ServerClock {
    /// The answer to a question says what time it is.
    pub fn hear(&mut self, asked: Moment, answered: Moment, server_us: i64) {
        let new = Heard { asked, shortest_us: answered.since(asked), server_us };
        if self.last_stamp_us > server_us + new.shortest_us {
            self.last_stamp_us = 0; // the clock was set back: what is pushed now cannot come after that
        }
        // What is believed is not before the time in any answer, less what that took: else a clock was set.
        let is_true = |old: &Heard| old.at(asked) >= server_us - new.shortest_us;
        let better = |old: Option<Heard>| match old.filter(is_true) {
            Some(old) => {
                let best = if old.at(asked) <= server_us { old } else { new };
                Heard { shortest_us: old.shortest_us.min(new.shortest_us), ..best } // an answer may have lain unread for a while
            }
            None => new,
        };
        self.best = match self.best {
            Some(best) if asked.since(best.asked) > GOOD_FOR_US => Some(better(self.next.take())),
            best => Some(better(best)),
        };
        self.next = Some(better(self.next));
        self.heard_at = Some(asked);
    }

    /// So many jobs were stamped from this time on, a quarter of a microsecond after each other: what is claimed next comes after them.
    pub fn stamped(&mut self, stamp_us: i64, jobs: usize) {
        self.last_stamp_us = self.last_stamp_us.max(stamp_us + i64::try_from(jobs).unwrap_or(0) / 4);
    }

    /// What was heard is not true any more.
    pub fn forget(&mut self) {
        (self.best, self.next, self.heard_at) = (None, None, None);
    }

    /// This user may not ask in a transaction.
    pub fn deny(&mut self) {
        self.forget();
        self.is_denied = true;
    }

    /// The shortest round trip of the last seconds in which it was heard.
    #[must_use]
    pub fn shortest_us(&self) -> Option<i64> {
        self.best.map(|best| best.shortest_us)
    }

    /// Whether it is worth asking: it was not heard lately, and may be.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.is_denied && !self.is_known(Moment::now())
    }

    fn is_known(&self, now: Moment) -> bool {
        self.heard_at.is_some_and(|heard| now.since(heard) < GOOD_FOR_US)
    }

    /// A time that is not before Redis' time now; `None` when it was not heard lately.
    #[must_use]
    pub fn now_us(&self) -> Option<i64> {
        let now = Moment::now();
        self.best.filter(|_| self.is_known(now)).map(|best| best.at(now))
    }

    /// Redis' time now, to stamp so many jobs; `None` when it was not heard lately.
    pub fn claim(&mut self, jobs: usize) -> Option<Claim> {
        let made = Moment::now();
        let best = self.best.filter(|_| self.is_known(made))?;
        let delay_from_us = best.at(made);
        let stamp_us = (delay_from_us - best.shortest_us / 4).max(self.last_stamp_us + 1);
        self.stamped(stamp_us, jobs);
        Some(Claim { delay_from_us, stamp_us, made, shortest_us: best.shortest_us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1000;

    fn ago(us: i64) -> Moment {
        Moment(Moment::now().0 - us)
    }

    fn after(moment: Moment, us: i64) -> Moment {
        Moment(moment.0 + us)
    }

    /// Asks at a time of which Redis' clock is 1000 s ahead; the question takes so long to get there, and so does the answer back.
    fn ask(clock: &mut ServerClock, asked: Moment, way_us: i64) {
        clock.hear(asked, after(asked, 2 * way_us), asked.0 + 1_000_000 * MS + way_us);
    }

    fn ahead(clock: &ServerClock) -> Option<i64> {
        clock.best.map(|best| best.at(Moment(0)) - 1_000_000 * MS)
    }

    #[test]
    fn the_fastest_question_of_late_is_believed() {
        let (start, mut clock) = (ago(GOOD_FOR_US + 20 * MS), ServerClock::default());
        assert!(clock.claim(1).is_none() && clock.is_wanted(), "never heard");
        ask(&mut clock, start, 800);
        assert_eq!(ahead(&clock), Some(800));
        ask(&mut clock, after(start, MS), 300);
        assert_eq!(ahead(&clock), Some(300), "it took less time to get there");
        ask(&mut clock, after(start, 2 * MS), 500);
        assert_eq!(ahead(&clock), Some(300), "it took more");
        ask(&mut clock, after(start, GOOD_FOR_US + 2 * MS), 900);
        assert_eq!(ahead(&clock), Some(300), "the fastest since the one before is still known");
        assert!(clock.claim(1).is_some() && !clock.is_wanted());
    }

    #[test]
    fn an_answer_that_lay_unread_makes_no_stamp_early() {
        let mut clock = ServerClock::default();
        let asked = ago(20 * MS);
        clock.hear(asked, after(asked, 12 * MS), asked.0 + 1_000_000 * MS + 100);
        let claim = clock.claim(1).unwrap();
        assert!(
            !claim.is_borne_out(claim.made.0 + 1_000_000 * MS + 100, after(claim.made, 600)),
            "the only one so far"
        );
        ask(&mut clock, ago(3 * MS), 300);
        assert_eq!(ahead(&clock), Some(100));
        let claim = clock.claim(1).unwrap();
        assert_eq!(claim.delay_from_us - claim.stamp_us, 150, "a quarter of the shortest");
        assert!(claim.is_borne_out(claim.made.0 + 1_000_000 * MS + 100, after(claim.made, 600)));
    }

    #[test]
    fn it_is_not_believed_for_long_and_stamps_never_go_back() {
        let mut clock = ServerClock::default();
        ask(&mut clock, ago(GOOD_FOR_US), 100);
        assert!(clock.claim(1).is_none() && clock.is_wanted());
        ask(&mut clock, ago(200), 100);
        let first = clock.claim(1).unwrap();
        assert_eq!(first.delay_from_us - first.stamp_us, 50, "a quarter of the round trip");
        clock.forget();
        clock.hear(ago(200), ago(0), first.stamp_us - 200);
        assert_eq!(clock.claim(1).unwrap().stamp_us, first.stamp_us + 1);
        clock.stamped(first.stamp_us + 50, 7);
        clock.stamped(first.stamp_us + 50, 0);
        assert_eq!(clock.claim(40).unwrap().stamp_us, first.stamp_us + 52);
        assert_eq!(clock.claim(1).unwrap().stamp_us, first.stamp_us + 63);
        clock.deny();
        assert!(clock.claim(1).is_none() && clock.now_us().is_none() && !clock.is_wanted());
    }

    #[test]
    fn stamps_go_back_with_a_clock_that_was_set_back() {
        let mut clock = ServerClock::default();
        ask(&mut clock, ago(200), 100);
        let first = clock.claim(1).unwrap();
        clock.hear(ago(200), ago(0), first.stamp_us - 3_600_000 * MS);
        let claim = clock.claim(1).unwrap();
        assert!((first.stamp_us - claim.stamp_us - 3_600_000 * MS).abs() < 100 * MS);
        assert!(clock.now_us().is_some_and(|now| now >= claim.delay_from_us));
    }

    #[test]
    fn a_clock_that_was_set_is_believed_anew() {
        for set_us in [-5_000 * MS, 5_000 * MS] {
            let (start, mut clock) = (ago(10 * MS), ServerClock::default());
            ask(&mut clock, start, 300);
            let asked = after(start, MS);
            clock.hear(asked, after(asked, 800), asked.0 + 1_000_000 * MS + 400 + set_us);
            assert_eq!(ahead(&clock), Some(400 + set_us));
        }
    }

    #[test]
    fn a_claim_lies_between_asking_and_being_answered() {
        let made = Moment(0);
        let claim = Claim { delay_from_us: 10_000, stamp_us: 9_900, made, shortest_us: 800 };
        assert!(
            !claim.is_borne_out(10_101, after(made, 200)) && claim.is_borne_out(10_100, after(made, 200)),
            "long ago"
        );
        for (took_us, latest) in [(400, 10_200), (1000, 10_500), (1200, 10_600), (1600, 11_000), (5000, 14_400)] {
            for (server_us, is_fine) in [(latest + 1, false), (latest, true), (9_900, true), (9_899, false)] {
                assert_eq!(claim.is_borne_out(server_us, after(made, took_us)), is_fine, "{took_us}, {server_us}");
            }
        }
    }
}
