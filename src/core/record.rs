//! The bytes of a job in Redis (layout in `lua/README.md`): written and read here and in `lua/lib/record.lua`.

use super::backoff::Backoff;
use super::clock;
use super::job::{DEFAULT_PRIORITY, JobOptions};
use super::packing;

/// A stamp counts quarters of a microsecond from 2020-01-01T00:00:00Z.
const EPOCH_MS: i64 = 1_577_836_800_000;
pub(super) const STAMP: usize = 7;
/// The length of stamp and due time where the latter is so many milliseconds after the stamp's own.
const NEAR: usize = STAMP + 3;
/// Where it is earlier, or 4.66 hours later: then those three bytes are these, and the time itself follows.
const FAR: usize = NEAR + 6;
const FAR_MARK: [u8; NEAR - STAMP] = [0xff; NEAR - STAMP];
const HAS_OPTIONS: u8 = 2;
const UNKNOWN: u8 = 4;
/// The birth of a job, and its flags.
pub type Stamp = [u8; STAMP];
/// ttr 4 · max attempts 4 · priority 4 · timeout 6 · clock offset 8, then the backoff's text.
const FIXED: usize = 26;

/// What the client adds before the payload, and the stamp flag that says so. Jobs with the default options have none.
#[must_use]
pub fn encode_options(options: &JobOptions) -> (Vec<u8>, &'static [u8]) {
    let offset_ms = clock::offset_ms();
    if *options == JobOptions::default() && offset_ms == 0 {
        return (Vec::new(), b"0");
    }
    let backoff = options.backoff.encode();
    let mut out = Vec::with_capacity(2 + FIXED + backoff.len());
    out.extend_from_slice(&u16::try_from(FIXED + backoff.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(&u32::try_from(options.ttr_ms).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(&options.max_attempts.to_be_bytes());
    out.extend_from_slice(&options.priority.to_be_bytes());
    let [_, _, timeout @ ..] = options.timeout_ms.to_be_bytes();
    out.extend_from_slice(&timeout);
    out.extend_from_slice(&offset_ms.to_be_bytes());
    out.extend_from_slice(backoff.as_bytes());
    (out, b"2")
}

/// The stamp of a job that is pushed so many quarters of a microsecond after this time of Redis' clock, with the flags of
/// [`encode_options`].
#[must_use]
pub fn stamp(server_us: i64, quarters: u64, flags: &[u8]) -> Stamp {
    let quarters = u64::try_from((server_us - EPOCH_MS * 1000) * 4).unwrap_or(0) + quarters;
    let flags = if flags == b"2" { HAS_OPTIONS } else { 0 };
    let [_, stamp @ ..] = (quarters << 3 | u64::from(flags)).to_be_bytes();
    stamp
}

/// What a record begins with: stamp and due time.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    bytes: [u8; FAR],
    length: usize,
}

impl Head {
    #[must_use]
    pub fn new(stamp: Stamp, due_at_ms: i64) -> Self {
        let [s0, s1, s2, s3, s4, s5, s6] = stamp;
        let [_, _, d0, d1, d2, d3, d4, d5] = due_at_ms.to_be_bytes();
        let near = due_at_ms.checked_sub(stamped_at_ms(stamp)).and_then(near);
        let [n0, n1, n2] = near.unwrap_or(FAR_MARK);
        let bytes = [s0, s1, s2, s3, s4, s5, s6, n0, n1, n2, d0, d1, d2, d3, d4, d5];
        Self { bytes, length: if near.is_some() { NEAR } else { FAR } }
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// What a record begins with: stamp and due time.
#[must_use]
pub fn head(record: &[u8]) -> &[u8] {
    let is_far = record.get(STAMP..NEAR) == Some(&FAR_MARK);
    record.get(..if is_far { FAR } else { NEAR }).unwrap_or_default()
}

/// Whether a record is of the job that was stamped so: its flags may have changed.
#[must_use]
pub fn has_birth(record: &[u8], stamp: Stamp) -> bool {
    record.first_chunk().is_some_and(|own: &Stamp| be(own) >> 3 == be(&stamp) >> 3)
}

/// A due time in three bytes; `None` if they cannot hold it.
fn near(after_ms: i64) -> Option<[u8; NEAR - STAMP]> {
    let [high, bytes @ ..] = u32::try_from(after_ms).ok()?.to_be_bytes();
    (high == 0 && bytes != FAR_MARK).then_some(bytes)
}

/// When this was by Redis' clock, which due times in three bytes count from. The flags are less than what is cut off.
fn stamped_at_ms(stamp: Stamp) -> i64 {
    i64::try_from((be(&stamp) >> 3) / 4000).unwrap_or(0) + EPOCH_MS
}

/// A record taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub created_at_ms: i64,
    /// As long as the job has no history; then that knows better.
    pub due_at_ms: i64,
    pub options: JobOptions,
    pub payload: Vec<u8>,
}

impl Record {
    /// Reads a record; `None` when it is damaged or of a newer format.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        Self::from_bytes(bytes.to_vec())
    }

    /// The same; a payload without tokens stays in these bytes.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let (created_at_ms, due_at_ms, options, payload_at) = Self::head(&bytes)?;
        Some(Self { created_at_ms, due_at_ms, options, payload: packing::unpack(bytes, payload_at)? })
    }

    /// Everything before the payload, and where that begins.
    fn head(bytes: &[u8]) -> Option<(i64, i64, JobOptions, usize)> {
        let head = head(bytes);
        let (stamp, due) = head.split_first_chunk()?;
        let flags = stamp.last()? & 7;
        if flags & UNKNOWN != 0 {
            return None;
        }
        let created_at_ms = stamped_at_ms(*stamp);
        let due_at_ms = match due.split_first_chunk()? {
            (&FAR_MARK, due) => i64::try_from(be(due)).ok()?,
            (after_ms, _) => created_at_ms + i64::try_from(be(after_ms)).ok()?,
        };
        if flags & HAS_OPTIONS == 0 {
            return Some((created_at_ms, due_at_ms, JobOptions::default(), head.len()));
        }
        let rest = bytes.get(head.len()..)?;
        let (length, rest) = rest.split_at_checked(2)?;
        let length = usize::try_from(be(length)).ok()?;
        let (fixed, backoff) = rest.get(..length)?.split_at_checked(FIXED)?;
        let field = |from: usize, to: usize| fixed.get(from..to).map(be);
        let offset_ms = i64::from_be_bytes(fixed.get(18..26)?.try_into().ok()?);
        let options = JobOptions {
            ttr_ms: field(0, 4)?,
            max_attempts: u32::try_from(field(4, 8)?).ok()?,
            priority: u32::try_from(field(8, 12)?).ok()?,
            timeout_ms: field(12, 18)?,
            // A kind of a newer version: the job matters more than its spacing.
            backoff: std::str::from_utf8(backoff).ok().and_then(|text| Backoff::decode(text).ok()).unwrap_or_default(),
        };
        Some((created_at_ms.checked_add(offset_ms)?, due_at_ms, options, head.len() + 2 + length))
    }
}

/// What `lua/lib/history.lua` keeps of a job that came back once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    pub attempts: u32,
    pub timeouts: u32,
    pub releases: u32,
    pub buries: u32,
    pub kicks: u32,
    pub due_at_ms: i64,
    pub last_error: Option<Vec<u8>>,
}

impl History {
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let count = |at: usize| bytes.get(at..at + 4).map_or(0, |field| u32::try_from(be(field)).unwrap_or(u32::MAX));
        Self {
            attempts: count(0),
            timeouts: count(4),
            releases: count(8),
            buries: count(12),
            kicks: count(16),
            due_at_ms: bytes.get(20..26).map_or(0, |field| i64::try_from(be(field)).unwrap_or(0)),
            last_error: bytes.get(26..).filter(|text| !text.is_empty()).map(<[u8]>::to_vec),
        }
    }
}

/// Whether the options of a job put it outside the default order.
#[must_use]
pub fn is_ranked(options: &JobOptions) -> bool {
    options.priority != DEFAULT_PRIORITY
}

pub(super) fn be(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED_MS: i64 = EPOCH_MS + 123_456_789;

    /// As a script would write it, due so long after the stamp.
    fn stamped_for(flags: u64, after_ms: i64, rest: &[u8]) -> Vec<u8> {
        let value = (123_456_789_u64 * 4000 + 3999) << 3 | flags;
        let mut out = value.to_be_bytes()[1..].to_vec();
        if (0..0xff_ffff).contains(&after_ms) {
            out.extend_from_slice(&after_ms.to_be_bytes()[5..]);
        } else {
            out.extend_from_slice(&[0xff; 3]);
            out.extend_from_slice(&(CREATED_MS + after_ms).to_be_bytes()[2..]);
        }
        out.extend_from_slice(rest);
        out
    }

    fn stamped(flags: u64, rest: &[u8]) -> Vec<u8> {
        stamped_for(flags, 900_000, rest)
    }

    #[test]
    fn default_options_cost_ten_bytes() {
        let (options, flags) = encode_options(&JobOptions::default());
        assert_eq!((options.len(), flags), (0, b"0".as_slice()));
        let bytes = stamped(0, b"payload");
        assert_eq!(bytes.len(), 10 + b"payload".len());
        let record = Record::decode(&bytes).unwrap();
        assert_eq!((record.created_at_ms, record.due_at_ms), (CREATED_MS, CREATED_MS + 900_000));
        assert_eq!((record.options, record.payload), (JobOptions::default(), b"payload".to_vec()));
    }

    #[test]
    fn a_record_has_the_birth_of_its_stamp_whatever_its_flags() {
        let (born, next) = (stamp(CREATED_MS * 1000, 1, b"0"), stamp(CREATED_MS * 1000, 2, b"0"));
        for flags in [b"0", b"2"] {
            assert!(has_birth(Head::new(stamp(CREATED_MS * 1000, 1, flags), CREATED_MS).as_bytes(), born));
        }
        assert!(!has_birth(Head::new(next, CREATED_MS).as_bytes(), born));
        assert!(!has_birth(&born[..6], born));
    }

    /// What a job may be due after its stamp, and how long its record's head is.
    const DUES: [(i64, usize); 9] = [
        (0, 10),
        (1, 10),
        (0x01_0203, 10),
        (0xff_fffe, 10),
        (0xff_ffff, 16),
        (0x0100_0000, 16),
        (-1, 16),
        (-CREATED_MS, 16),
        (3_155_760_000_000, 16),
    ];

    #[test]
    fn a_record_is_what_a_script_would_write() {
        let server_us = CREATED_MS * 1000 + 999;
        let (options, _) = encode_options(&JobOptions { ttr_ms: 7, ..JobOptions::default() });
        for (after_ms, length) in DUES {
            for (flags, value, options) in [(b"0", 0, &[][..]), (b"2", 2, &options)] {
                let begins = Head::new(stamp(server_us, 3, flags), CREATED_MS + after_ms);
                let record = [begins.as_bytes(), options, b"\x03body"].concat();
                assert_eq!(record, stamped_for(value, after_ms, &[options, b"\x03body"].concat()), "{after_ms}");
                assert_eq!(head(&record), &record[..length], "{after_ms}");
                let read = Record::decode(&record).unwrap();
                assert_eq!((read.created_at_ms, read.due_at_ms), (CREATED_MS, CREATED_MS + after_ms));
                assert_eq!(read.options.ttr_ms, if value == 0 { 60_000 } else { 7 });
                assert_eq!(read.payload, b"{\"body\"}");
            }
        }
    }

    #[test]
    fn a_due_time_counts_from_the_millisecond_of_the_stamp() {
        for quarters in [0, 1, 31, 32, 3999, 4000, 4001, 7999] {
            let stamp = stamp(CREATED_MS * 1000, quarters, b"2");
            let after = i64::try_from(quarters / 4000).unwrap();
            let head = Head::new(stamp, CREATED_MS + 5);
            assert_eq!(head.as_bytes()[7..], (5 - after).to_be_bytes()[5..], "{quarters}");
        }
    }

    #[test]
    fn options_survive() {
        let options = JobOptions {
            priority: u32::MAX,
            ttr_ms: 2_592_000_000,
            max_attempts: 0,
            timeout_ms: 3_155_760_000_000,
            backoff: Backoff::Stages { delays_ms: (0..50).collect() },
        };
        let (bytes, flags) = encode_options(&options);
        assert_eq!(flags, b"2");
        let record = Record::decode(&stamped(2, &[bytes, b"\0\xff".to_vec()].concat())).unwrap();
        assert_eq!((record.options, record.payload), (options, b"\0\xff".to_vec()));
    }

    #[test]
    fn damage_and_newer_formats_are_none() {
        assert_eq!(Record::decode(b"short"), None);
        for after_ms in [0, -1] {
            let whole = stamped_for(0, after_ms, b"");
            assert!(Record::decode(&whole).is_some());
            assert_eq!(Record::decode(&whole[..whole.len() - 1]), None, "cut off in the due time");
            assert_eq!(head(&whole), whole);
            assert!(head(&whole[..whole.len() - 1]).is_empty());
        }
        assert_eq!(Record::decode(&stamped(4, b"x")), None);
        assert_eq!(Record::decode(&stamped(2, b"\0\xffx")), None);
    }

    proptest::proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            let _ = (Record::decode(&bytes), History::decode(&bytes));
        }
    }
}
