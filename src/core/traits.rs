//! Options of few jobs that scripts read, as the traits of a record keep them (layout in `lua/README.md`): `(kind 1 · length 1 · bytes)*`.

/// A moment by which something about a job must have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Unix microseconds on Redis' clock.
    AtUs(i64),
    /// So long after the job fell due first.
    AfterDueMs(u64),
}

/// The fate of a job that was not started in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExpiry {
    #[default]
    Bury,
    Drop,
}

const EXPIRES: u8 = b'E';
const RETRY_UNTIL: u8 = b'U';
const GROUP: u8 = b'G';
/// Scripts make a moment of it when they store the job.
const LONGEST_WAIT: u8 = b'w';
/// When a job is to come back at the latest that somebody has rescheduled while it was held. Scripts write it, and take it away.
const ASKED_FOR: u8 = b'h';

const AT: u8 = 0;
const AFTER_DUE: u8 = 1;
// Scripts write 2 where the job was started in time.

/// The traits of a job that is to be pushed, without their length.
#[derive(Debug, Clone, Default)]
pub struct Traits(Vec<u8>);

impl Traits {
    /// It must be started by then.
    #[must_use]
    pub fn expires(self, by: Limit, then: OnExpiry) -> Self {
        let (mode, value) = mode_and_value(by);
        self.with(EXPIRES, &[&[mode], &value[..], &[u8::from(then == OnExpiry::Drop)]].concat())
    }

    /// It is tried again until then.
    #[must_use]
    pub fn retry_until(self, until: Limit) -> Self {
        let (mode, value) = mode_and_value(until);
        self.with(RETRY_UNTIL, &[&[mode], &value[..]].concat())
    }

    /// However often it is replaced, it falls due so long after its first push.
    #[must_use]
    pub fn longest_wait(self, ms: u64) -> Self {
        let (mode, value) = mode_and_value(Limit::AfterDueMs(ms));
        self.with(LONGEST_WAIT, &[&[mode], &value[..]].concat())
    }

    /// It is served as one of this group.
    #[must_use]
    pub fn group(self, name: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        self.with(GROUP, name.as_ref())
    }

    fn with(mut self, kind: u8, value: &[u8]) -> Self {
        self.0.extend([kind, u8::try_from(value.len()).unwrap_or(u8::MAX)]);
        self.0.extend_from_slice(value);
        self
    }

    /// In front of those that the job has already, with the length that a record has before them; nothing where there are none.
    #[must_use]
    pub fn before(self, stored: &[u8]) -> Vec<u8> {
        let all = [self.0.as_slice(), stored.get(2..).unwrap_or_default()].concat();
        let length = u16::try_from(all.len()).unwrap_or(u16::MAX).to_be_bytes();
        if all.is_empty() { all } else { [&length, all.as_slice()].concat() }
    }
}

fn us(ms: u64) -> u64 {
    ms.saturating_mul(1000)
}

fn mode_and_value(limit: Limit) -> (u8, [u8; 8]) {
    match limit {
        Limit::AtUs(at_us) => (AT, u64::try_from(at_us).unwrap_or(0).to_be_bytes()),
        Limit::AfterDueMs(ms) => (AFTER_DUE, us(ms).to_be_bytes()),
    }
}

/// Whether this version knows the trait, or may ignore it.
#[must_use]
pub fn is_readable(kind: u8, length: u8) -> bool {
    kind.is_ascii_lowercase() || matches!((kind, length), (EXPIRES, 10) | (RETRY_UNTIL, 9) | (GROUP, 1..=200))
}

/// The kinds and values of stored traits, with their length in front.
fn all(stored: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut left = stored.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, length, rest) = (*left.first()?, usize::from(*left.get(1)?), left.get(2..)?);
        let value = rest.get(..length)?;
        left = rest.get(length..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The traits that belong to the job, and not to the lease under which it is now.
#[must_use]
pub fn lasting(stored: &[u8]) -> Vec<u8> {
    let lasting = all(stored).filter(|(kind, _)| *kind != ASKED_FOR);
    lasting.fold(Traits::default(), |traits, (kind, value)| traits.with(kind, value)).before(&[])
}

/// When a job with these traits has expired unless it was started, and what then. `first_due_us`: when it fell due first.
#[must_use]
pub fn expires_at_us(stored: &[u8], first_due_us: i64) -> Option<(i64, OnExpiry)> {
    let value = all(stored).find(|(kind, _)| *kind == EXPIRES)?.1;
    let then = if value.get(9) == Some(&1) { OnExpiry::Drop } else { OnExpiry::Bury };
    Some((moment_us(value, first_due_us)?, then))
}

/// Until when a job with these traits is tried again.
#[must_use]
pub fn retry_until_us(stored: &[u8], first_due_us: i64) -> Option<i64> {
    moment_us(all(stored).find(|(kind, _)| *kind == RETRY_UNTIL)?.1, first_due_us)
}

/// The group of a job with these traits.
#[must_use]
pub fn group(stored: &[u8]) -> Option<&[u8]> {
    Some(all(stored).find(|(kind, _)| *kind == GROUP)?.1)
}

/// Whether a job with these traits falls due at last by a moment that the script which stores it makes.
#[must_use]
pub fn has_longest_wait(stored: &[u8]) -> bool {
    all(stored).any(|(kind, _)| kind == LONGEST_WAIT)
}

fn moment_us(value: &[u8], first_due_us: i64) -> Option<i64> {
    let number = i64::from_be_bytes(value.get(1..9)?.try_into().ok()?);
    match *value.first()? {
        AT => Some(number),
        AFTER_DUE => Some(first_due_us.saturating_add(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_come_back_as_they_were_given() {
        let stored = Traits::default()
            .expires(Limit::AfterDueMs(5), OnExpiry::Drop)
            .retry_until(Limit::AtUs(77))
            .before(b"\0\x03a\x01x");
        assert_eq!(stored, b"\0\x1aE\x0a\x01\0\0\0\0\0\0\x13\x88\x01U\x09\0\0\0\0\0\0\0\0\x4da\x01x");
        assert_eq!(expires_at_us(&stored, 1_000), Some((6_000, OnExpiry::Drop)));
        assert_eq!(retry_until_us(&stored, 1_000), Some(77));
        assert_eq!(Traits::default().before(b""), b"");
        let grouped = Traits::default().group(b"g1").before(b"");
        assert_eq!(
            (grouped.as_slice(), group(&grouped), group(&stored)),
            (&b"\0\x04G\x02g1"[..], Some(&b"g1"[..]), None)
        );
        assert_eq!((expires_at_us(b"", 0), retry_until_us(b"\0\x03a\x01x", 0)), (None, None));
    }
}
