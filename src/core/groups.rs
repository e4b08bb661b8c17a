//! Groups of jobs: tenants that share a queue, their names and their limits.

use super::duration;
use super::error::{Error, Result};
use super::job::JobId;

/// The name of a group: 1..=200 bytes, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group(JobId);

impl Group {
    /// Checks a name that a user chose.
    ///
    /// # Errors
    /// [`Error::Invalid`]: "must be …", to follow an argument name.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self> {
        JobId::new(bytes).map(Self)
    }

    /// A name as Redis gave it back.
    #[must_use]
    pub fn from_redis(bytes: &[u8]) -> Self {
        Self(JobId::from_redis(bytes))
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl AsRef<[u8]> for Group {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// So many starts in so long: '100/1m'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub starts: u32,
    pub per_us: u64,
}

impl Rate {
    /// Reads `<number>/<duration>`.
    ///
    /// # Errors
    /// [`Error::Invalid`]: "must be …", to follow an argument name.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = || Error::Invalid("must be a number and a duration, both above 0, such as \"100/1m\"".into());
        let (starts, duration) = text.split_once('/').ok_or_else(invalid)?;
        let starts = starts.trim().parse().ok().filter(|starts| *starts > 0).ok_or_else(invalid)?;
        let per_ms = duration::parse(duration.trim()).map_err(|_| invalid())?;
        let rate = Self { starts, per_us: per_ms.saturating_mul(1000) };
        if rate.per_us < u64::from(starts) {
            return Err(invalid());
        }
        Ok(rate)
    }

    /// From one start to the next, in the long run.
    fn interval_us(self) -> u64 {
        self.per_us.div_ceil(u64::from(self.starts).max(1))
    }
}

/// The limits of a group, of each group without limits of its own, or of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupLimits {
    /// At most so many jobs are leased at once.
    pub concurrency: Option<u32>,
    pub rate: Option<Rate>,
    /// So many of them may start at once; `None`: the number of the rate.
    pub burst: Option<u32>,
    /// So many jobs in each turn.
    pub weight: u32,
    /// One at a time, and one that comes back goes first.
    pub ordered: bool,
}

impl Default for GroupLimits {
    fn default() -> Self {
        Self { concurrency: None, rate: None, burst: None, weight: 1, ordered: false }
    }
}

impl GroupLimits {
    /// As `limits` holds them (see `lua/README.md`). The rate stands behind, for people.
    #[must_use]
    pub fn encode(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let concurrency = if self.ordered { Some(1) } else { self.concurrency.map(u64::from) };
        let burst = self.rate.map(|rate| u64::from(self.burst.unwrap_or(rate.starts)));
        let rate = self.rate.map_or_else(|| "-".to_owned(), |rate| format!("{}/{}", rate.starts, rate.per_us));
        format!(
            "{} {} {} {} {} {rate}",
            number(concurrency),
            number(self.rate.map(Rate::interval_us)),
            number(burst),
            self.weight,
            u8::from(self.ordered)
        )
    }

    /// `None`: [`GroupLimits::encode`] has not made it.
    #[must_use]
    pub fn decode(text: &[u8]) -> Option<Self> {
        // A mark of limits that are being changed (`lua/limit_groups.lua`).
        let text = text.strip_suffix(b" !").unwrap_or(text);
        let words: Vec<&str> = std::str::from_utf8(text).ok()?.split(' ').collect();
        let [concurrency, _, burst, weight, ordered, rate] = words.as_slice() else { return None };
        let rate = match rate.split_once('/') {
            Some((starts, per_us)) => Some(Rate { starts: starts.parse().ok()?, per_us: per_us.parse().ok()? }),
            None => None,
        };
        let burst: Option<u32> = burst.parse().ok();
        Some(Self {
            concurrency: concurrency.parse().ok(),
            rate,
            burst: burst.filter(|burst| rate.is_none_or(|rate| rate.starts != *burst)),
            weight: weight.parse().ok()?,
            ordered: *ordered == "1",
        })
    }
}

/// All limits of a queue that are set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AllLimits {
    pub queue: Option<GroupLimits>,
    /// Of each group that has none of its own.
    pub others: Option<GroupLimits>,
    pub groups: Vec<(Group, GroupLimits)>,
}

impl AllLimits {
    /// From the fields of the key `limits`.
    pub(super) fn read(fields: Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        let mut all = Self::default();
        for (name, text) in fields {
            let Some(limits) = GroupLimits::decode(&text) else { continue };
            match name.as_slice() {
                b"" => all.others = Some(limits),
                b"\n" => all.queue = Some(limits),
                name => all.groups.push((Group::from_redis(name), limits)),
            }
        }
        all.groups.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        all.groups.dedup_by(|(one, _), (other, _)| one == other);
        all
    }
}

/// The counts and times of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupStats {
    /// Delayed and ready jobs.
    pub waiting: u64,
    pub reserved: u64,
    /// From when on it may be its turn; `None`: it is not in line.
    pub next_turn_at_us: Option<i64>,
    /// `None`: it is open, or closed until it is resumed.
    pub closed_until_us: Option<i64>,
    pub is_paused: bool,
}

impl GroupStats {
    /// Adds those of another partition.
    pub fn add(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.reserved += other.reserved;
        self.next_turn_at_us = self.next_turn_at_us.into_iter().chain(other.next_turn_at_us).min();
        self.closed_until_us = self.closed_until_us.max(other.closed_until_us);
        self.is_paused |= other.is_paused;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_duration() {
        assert_eq!(Rate::parse("100/1m"), Ok(Rate { starts: 100, per_us: 60_000_000 }));
        assert_eq!(Rate::parse("3 / 1s").unwrap().interval_us(), 333_334, "never more than were allowed");
        for bad in ["", "5", "/1s", "0/1s", "5/0", "-1/1s", "1.5/1s", "5/x", "2000/1ms", "5/1s/2"] {
            assert!(Rate::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_come_back_as_they_were_set() {
        let rate = Some(Rate { starts: 100, per_us: 60_000_000 });
        let all = [
            (GroupLimits::default(), "- - - 1 0 -"),
            (GroupLimits { concurrency: Some(3), rate, ..GroupLimits::default() }, "3 600000 100 1 0 100/60000000"),
            (GroupLimits { rate, burst: Some(1), weight: 4, ..GroupLimits::default() }, "- 600000 1 4 0 100/60000000"),
            (GroupLimits { concurrency: Some(1), ordered: true, ..GroupLimits::default() }, "1 - - 1 1 -"),
        ];
        for (limits, text) in all {
            assert_eq!((limits.encode().as_str(), GroupLimits::decode(text.as_bytes())), (text, Some(limits)));
        }
        assert_eq!(GroupLimits::decode(b"- - - 1 0 - !"), Some(GroupLimits::default()));
        assert_eq!(GroupLimits::decode(b"1 2"), None);
    }
}
