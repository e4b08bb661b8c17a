//! One job of the model, and the changes that concern it alone.

use delayqueue::core::groups::Group;
use delayqueue::core::job::JobOptions;
use delayqueue::core::traits::{self, OnExpiry, Traits, expires_at_us, retry_until_us};

pub const TOO_LATE: &str = "too late to be tried again";

#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Waiting,
    Held { token: u64, deadline: i64 },
    Buried { since: i64 },
}

/// All times in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: String,
    pub payload: Vec<u8>,
    pub options: JobOptions,
    pub due: i64,
    pub place: Place,
    /// Attempts that have ended.
    pub attempts: u32,
    pub timeouts: u32,
    pub releases: u32,
    pub buries: u32,
    pub kicks: u32,
    pub error: String,
    /// Of a job that came back: when it fell due before, at first.
    pub first_due: Option<i64>,
    /// It came back to an ordered group, which waits for it.
    pub comes_first: bool,
    /// It was leased under a limit of the queue.
    pub is_limited: bool,
    /// It was leased after another job, by the same call.
    pub is_behind: bool,
    /// When it is to come back at the latest, as somebody has asked while it was held.
    pub asked: Option<i64>,
}

impl Job {
    /// Whether its lease is not over yet.
    pub fn is_held_at(&self, now: i64) -> bool {
        matches!(self.place, Place::Held { deadline, .. } if deadline > now)
    }

    pub fn is_held(&self) -> bool {
        matches!(self.place, Place::Held { .. })
    }

    pub fn is_spent(&self) -> bool {
        self.options.max_attempts > 0 && self.attempts >= self.options.max_attempts
    }

    /// Its lease expired once, or it has one attempt left: it is leased alone.
    pub fn goes_alone(&self) -> bool {
        self.timeouts > 0 || self.options.max_attempts > 0 && self.attempts + 1 >= self.options.max_attempts
    }

    pub fn wait_from(&mut self, due: i64) {
        (self.due, self.place) = (due, Place::Waiting);
    }

    /// A job that nobody holds gets another time.
    pub fn go_to(&mut self, due: i64, now: i64) {
        if self.first_due.is_some() || due < now {
            self.first_due = Some(due.max(now));
        }
        self.wait_from(due);
        self.comes_first = false;
    }

    pub fn group(&self) -> Option<&str> {
        self.options.group().map(|name| std::str::from_utf8(name).unwrap())
    }

    pub fn waits(&self) -> bool {
        self.place == Place::Waiting
    }

    /// It was served, buried or kicked.
    pub fn has_come_back(&self) -> bool {
        self.attempts + self.timeouts + self.buries + self.kicks > 0
    }

    /// By when it falls due, however often it is replaced.
    pub fn latest(&self) -> Option<i64> {
        let value = self.options.extras.traits.get(2..)?.strip_prefix(b"w\x09\0")?.first_chunk()?;
        Some(i64::from_be_bytes(*value))
    }

    /// The traits of a job that falls due by then, as scripts store them.
    pub fn traits_by(latest: i64, old: &[u8]) -> Vec<u8> {
        let group = traits::group(old).map(|name| Traits::default().group(&Group::from_redis(name)).before(&[]));
        let group = group.as_ref().map_or(&[][..], |group| &group[2..]);
        let length = 11 + u16::try_from(group.len()).unwrap();
        [&length.to_be_bytes(), b"w\x09\0".as_slice(), &latest.to_be_bytes(), group].concat()
    }

    /// Before it gets another due time.
    pub fn come_back(&mut self) {
        self.first_due.get_or_insert(self.due);
    }

    /// It was started in time, in an attempt that does not count: it expires no more.
    pub fn start(&mut self) {
        let traits = &mut self.options.extras.traits;
        if let Some(mode) = traits.windows(2).position(|two| two == b"E\x0a").and_then(|at| traits.get_mut(at + 2)) {
            *mode = 2;
        }
    }

    /// Whether it is not tried again, because that would be at this time. A kick has lifted all limits.
    pub fn is_too_late_at(&self, next: i64) -> bool {
        let until = retry_until_us(&self.options.extras.traits, self.first_due.unwrap_or(self.due));
        self.kicks == 0 && until.is_some_and(|until| until < next)
    }

    /// The end of the job, and its reason, where nobody may start it any more.
    pub fn end_at(&self, now: i64) -> Option<(OnExpiry, String)> {
        let expires = expires_at_us(&self.options.extras.traits, self.first_due.unwrap_or(self.due));
        match expires {
            Some((at, then)) if at < now && self.attempts + self.timeouts + self.kicks == 0 => {
                Some((then, "expired".into()))
            }
            _ if !self.is_too_late_at(now) => None,
            _ if self.error.is_empty() => Some((OnExpiry::Bury, TOO_LATE.into())),
            _ => Some((OnExpiry::Bury, self.error.clone())),
        }
    }

    pub fn bury(&mut self, now: i64, error: &str) {
        (self.buries, self.error) = (self.buries + 1, error.to_owned());
        (self.due, self.place) = (now, Place::Buried { since: now });
    }
}
