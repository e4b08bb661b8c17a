//! The bytes of a job in Redis (layout in `lua/README.md`): written here, read here and in `lua/lib/record.lua`.
//!
//! `flags 1 · created 6 · [length 2 · ttr_ms 4 · max_attempts 4 · priority 4 · JSON] · [length 2 · traits] · payload`, integers big-endian.

use super::backoff::Backoff;
use super::groups::Group;
use super::job::{DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, DEFAULT_TTR_MS, Extras, JobOptions, TTR_RANGE_MS};
use super::seal::Seal;
use super::traits;
use serde_json::{Map, Value};

const HAS_OPTIONS: u8 = 1;
#[cfg(test)]
const HAS_HISTORY: u8 = 2;
const HAS_TRAITS: u8 = 4;
const MAY_BE_IGNORED: u8 = 8 + 16 + 32;
/// This flag and the next one mean a newer format.
const IS_NEWER: u8 = 64;
/// Flags and the time of creation.
const HEAD: usize = 7;
/// The part of the options that scripts read.
const FIXED: usize = 12;

/// The bytes that the client stores before the payload. `created_at_ms` is the producer's clock, for people only.
#[must_use]
pub fn encode_head(options: &JobOptions, created_at_ms: i64) -> Vec<u8> {
    let (Extras { flags, traits, .. }, options) = (&options.extras, encode_options(options));
    let [_, _, created @ ..] = created_at_ms.to_be_bytes();
    let mut out = Vec::with_capacity(HEAD + options.len() + traits.len());
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(flag(!options.is_empty(), HAS_OPTIONS) | flag(!traits.is_empty(), HAS_TRAITS) | flags);
    out.extend_from_slice(&created);
    out.extend_from_slice(&options);
    out.extend_from_slice(traits);
    out
}

/// The options with their length in front; nothing for the default ones.
#[must_use]
pub fn encode_options(options: &JobOptions) -> Vec<u8> {
    let json = encode_json(options);
    let fixed = (options.ttr_ms, options.max_attempts, options.priority);
    if json.is_empty() && fixed == (DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY) {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(2 + FIXED + json.len());
    out.extend_from_slice(&u16::try_from(FIXED + json.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(&u32::try_from(options.ttr_ms).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(&options.max_attempts.to_be_bytes());
    out.extend_from_slice(&options.priority.to_be_bytes());
    out.extend_from_slice(json.as_bytes());
    out
}

/// The options that only clients read, as JSON: a new option of a job is one more member here.
fn encode_json(options: &JobOptions) -> String {
    let mut members = Map::new();
    if options.timeout_ms > 0 {
        members.insert("timeout_ms".into(), options.timeout_ms.into());
    }
    // A job that was moved or loaded comes with the backoff that it had, which is the default one mostly.
    if let Some(backoff) = options.backoff.as_ref().filter(|backoff| **backoff != Backoff::default()) {
        members.insert("backoff".into(), backoff.to_string().into());
    }
    if !options.headers.is_empty() {
        let headers = options.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        members.insert("headers".into(), Value::Object(headers.collect()));
    }
    if let Some(seal) = &options.seal {
        members.insert("sealed".into(), seal.to_json());
    }
    members.extend(options.extras.members.clone());
    if members.is_empty() { String::new() } else { Value::Object(members).to_string() }
}

/// Damaged members are as if they were not there: the job matters more than its spacing.
fn decode_json(json: &[u8], options: &mut JobOptions) {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(json) else { return };
    if let Some(timeout_ms) = members.remove("timeout_ms") {
        options.timeout_ms = timeout_ms.as_u64().unwrap_or(0);
    }
    if let Some(backoff) = members.remove("backoff") {
        options.backoff = backoff.as_str().and_then(|text| Backoff::parse(text).ok());
    }
    if let Some(Value::Object(headers)) = members.remove("headers") {
        let texts = headers.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        options.headers = texts.collect();
    }
    options.seal = members.remove("sealed").map(|member| Seal::from_json(&member));
    options.extras.members = members;
}

/// A record taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub created_at_ms: i64,
    pub options: JobOptions,
    pub payload: Vec<u8>,
}

impl Record {
    /// Reads a record; `None` when it is damaged or of a newer format.
    #[must_use]
    pub fn decode(mut bytes: Vec<u8>) -> Option<Self> {
        let stored = stored_options(&bytes)?;
        let traits = stored_traits(&bytes, HEAD + stored.len())?;
        let mut options = JobOptions::default();
        options.extras.flags = bytes.first()? & MAY_BE_IGNORED;
        options.extras.traits = traits::lasting(traits);
        if let Some((fixed, json)) = stored.get(2..).and_then(|rest| rest.split_at_checked(FIXED)) {
            let field = |from: usize| fixed.get(from..from + 4).map(be);
            // A shorter lease, which only another program can have stored, would end before its holder hears of it.
            options.ttr_ms = field(0)?.max(*TTR_RANGE_MS.start());
            options.max_attempts = u32::try_from(field(4)?).ok()?;
            options.priority = u32::try_from(field(8)?).ok()?;
            decode_json(json, &mut options);
        }
        let payload_at = HEAD + stored.len() + traits.len();
        let created_at_ms = i64::try_from(be(bytes.get(1..HEAD)?)).ok()?;
        bytes.drain(..payload_at);
        Some(Self { created_at_ms, options, payload: bytes })
    }
}

/// The digest of a record but for its flags, which scripts change: as `lua/lib/record.lua` makes it.
#[must_use]
pub fn digest(record: &[u8]) -> String {
    sha1_smol::Sha1::from(record.get(1..).unwrap_or_default()).digest().to_string()
}

/// The options as they stand in a record, with their length in front; nothing for the default ones. `None`: as for [`Record::decode`].
#[must_use]
pub fn stored_options(record: &[u8]) -> Option<&[u8]> {
    let (flags, rest) = (record.first()?, record.get(HEAD..)?);
    if *flags >= IS_NEWER {
        return None;
    }
    if flags & HAS_OPTIONS == 0 {
        return Some(&[]);
    }
    let length = usize::try_from(be(rest.get(..2)?)).ok().filter(|length| *length >= FIXED)?;
    rest.get(..2 + length)
}

/// The traits, which stand behind the options from `at` on, with their length in front; nothing if there are none. `None`: the record is
/// damaged, or has a trait that this version does not know and must not ignore.
fn stored_traits(record: &[u8], at: usize) -> Option<&[u8]> {
    if record.first()? & HAS_TRAITS == 0 {
        return Some(&[]);
    }
    let rest = record.get(at..)?;
    let traits = rest.get(..2 + usize::try_from(be(rest.get(..2)?)).ok()?)?;
    let mut left = traits.get(2..)?;
    while let [kind, length, values @ ..] = left {
        if !traits::is_readable(*kind, *length) {
            return None;
        }
        left = values.get(usize::from(*length)..)?;
    }
    left.is_empty().then_some(traits)
}

/// The data that a newer version has stored with a job, for a program that moves it: `flags 1 · length 2 · traits · JSON`. `None`: nothing.
#[must_use]
pub fn encode_extras(extras: &Extras) -> Option<Vec<u8>> {
    if *extras == Extras::default() {
        return None;
    }
    let traits: &[u8] = if extras.traits.is_empty() { &[0, 0] } else { &extras.traits };
    let json = Value::Object(extras.members.clone()).to_string();
    Some([&[extras.flags], traits, json.as_bytes()].concat())
}

/// `None`: [`encode_extras`] has not made it, or this version must understand it and does not. Or its group has
/// a name that no user can give: with a line break it would stand for something else in `limits` (`lua/groups.md`).
#[must_use]
pub fn decode_extras(bytes: &[u8]) -> Option<Extras> {
    let flags = *bytes.first().filter(|flags| **flags & !MAY_BE_IGNORED == 0)?;
    let as_record = [&[HAS_TRAITS], bytes.get(1..)?].concat();
    let traits = stored_traits(&as_record, 1)?;
    if traits::group(traits).is_some_and(|name| Group::new(name).is_err()) {
        return None;
    }
    let members = match serde_json::from_slice(bytes.get(1 + traits.len()..)?).ok()? {
        Value::Object(members) => members,
        _ => return None,
    };
    let traits = if traits == [0, 0] { Vec::new() } else { traits.to_vec() };
    Some(Extras { flags, traits, members })
}

/// The past of a job that came back at least once, as `lua/lib/history.lua` keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    pub attempts: u32,
    pub timeouts: u32,
    pub releases: u32,
    pub buries: u32,
    pub kicks: u32,
    /// A job that is kicked or rescheduled falls due anew.
    pub first_due_us: i64,
    pub last_error: Option<Vec<u8>>,
}

impl History {
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let counts = [self.attempts, self.timeouts, self.releases, self.buries, self.kicks];
        let mut out: Vec<u8> = counts.iter().flat_map(|count| count.to_be_bytes()).collect();
        out.extend_from_slice(&self.first_due_us.max(0).to_be_bytes());
        out.extend_from_slice(self.last_error.as_deref().unwrap_or_default());
        out
    }

    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let count = |at: usize| bytes.get(at..at + 4).map_or(0, |field| u32::try_from(be(field)).unwrap_or(u32::MAX));
        Self {
            attempts: count(0),
            timeouts: count(4),
            releases: count(8),
            buries: count(12),
            kicks: count(16),
            first_due_us: bytes.get(20..28).map_or(0, |field| i64::try_from(be(field)).unwrap_or(i64::MAX)),
            last_error: bytes.get(28..).filter(|text| !text.is_empty()).map(|text| without_workers(text).to_vec()),
        }
    }
}

/// Behind "lease expired" the scripts note the workers that held the job, until they name them when they bury it (`lua/lib/take_back.lua`).
fn without_workers(error: &[u8]) -> &[u8] {
    const EXPIRED: &[u8] = b"lease expired";
    match error.strip_prefix(EXPIRED) {
        Some([b'\n', ..]) => EXPIRED,
        _ => error,
    }
}

/// Whether the options of a job put it outside the default order.
#[must_use]
pub fn is_prioritized(options: &JobOptions) -> bool {
    options.priority != DEFAULT_PRIORITY
}

fn be(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED_MS: i64 = 1_763_827_313_123;

    fn record(options: &JobOptions, payload: &[u8]) -> Vec<u8> {
        [encode_head(options, CREATED_MS), payload.to_vec()].concat()
    }

    #[test]
    fn default_options_cost_seven_bytes() {
        let bytes = record(&JobOptions::default(), b"payload");
        assert_eq!(bytes.len(), 7 + b"payload".len());
        let read = Record::decode(bytes).unwrap();
        assert_eq!((read.created_at_ms, read.options), (CREATED_MS, JobOptions::default()));
        assert_eq!(read.payload, b"payload");
        let given = JobOptions { backoff: Some(Backoff::default()), ..JobOptions::default() };
        assert_eq!(record(&given, b"").len(), 7);
    }

    #[test]
    fn options_survive() {
        let headers = vec![("trace".to_owned(), "a\0\"b".to_owned()), ("Tenant.1".to_owned(), String::new())];
        let options = JobOptions {
            priority: u32::MAX,
            ttr_ms: 2_592_000_000,
            max_attempts: 0,
            timeout_ms: 3_155_760_000_000,
            backoff: Some(Backoff::Stages { delays_ms: (0..50).collect() }),
            headers,
            seal: Some(Seal { algorithm: "a".into(), key: "k".into(), tag: "t".into() }),
            extras: Extras {
                flags: 8 + 32,
                traits: b"\0\x05a\x03xyz".to_vec(),
                members: Map::from_iter([("group".to_owned(), Value::from("g1"))]),
            },
        };
        let read = Record::decode(record(&options, b"\0\xff")).unwrap();
        assert_eq!((read.options, read.payload), (options, b"\0\xff".to_vec()));
    }

    #[test]
    fn what_redis_cli_shows_is_readable() {
        let headers = vec![("trace".to_owned(), "abc".to_owned())];
        let bytes = record(&JobOptions { headers, ..JobOptions::default() }, br#"{"order":1}"#);
        assert!(bytes.ends_with(br#"{"headers":{"trace":"abc"}}{"order":1}"#));
    }

    #[test]
    fn damage_and_newer_formats_are_none() {
        let whole = record(&JobOptions { ttr_ms: 700, ..JobOptions::default() }, b"");
        assert!(Record::decode(whole.clone()).is_some());
        for length in 0..whole.len() {
            assert_eq!(Record::decode(whole[..length].to_vec()), None, "cut off at {length}");
        }
        for flags in 64..=255 {
            assert_eq!(Record::decode([vec![flags], whole[1..].to_vec()].concat()), None, "flags {flags}");
        }
    }

    #[test]
    fn traits_in_lower_case_and_small_flags_may_be_unknown() {
        let options = JobOptions { ttr_ms: 500, ..JobOptions::default() };
        let with = |flags: u8, traits: &[u8]| {
            let mut bytes = encode_head(&options, CREATED_MS);
            bytes[0] |= flags;
            Record::decode([bytes, traits.to_vec(), b"payload".to_vec()].concat())
        };
        let plain = with(0, b"").unwrap();
        for traits in [&b"\0\0"[..], b"\0\x02a\0", b"\0\x07a\x02xyz\x01A"] {
            let read = with(HAS_TRAITS + MAY_BE_IGNORED, traits).unwrap();
            assert!(read.options.extras.traits == traits || traits == [0, 0]);
            let known = JobOptions { extras: Extras::default(), ..read.options.clone() };
            assert_eq!((known, &read.payload), (plain.options.clone(), &plain.payload), "{traits:?}");
            assert_eq!(
                encode_extras(&read.options.extras).and_then(|bytes| decode_extras(&bytes)),
                Some(read.options.extras)
            );
        }
        assert_eq!(encode_extras(&Extras::default()), None);
        assert_eq!(decode_extras(b"\x04\0\0{}"), None, "a flag of this version");
        assert_eq!(decode_extras(b"\0\0\x02G\0{}"), None, "it must be understood");
        assert!(decode_extras(b"\0\0\x03G\x01g{}").is_some());
        assert_eq!(decode_extras(b"\0\0\x03G\x01\n{}"), None, "it is no name of a group");
        for traits in
            [&b"\0\x02G\0"[..], b"\0\x05a\x01AG\0", b"\0\x02\x80\0", b"\0\x01a", b"\0\x02a\x01", b"\xff\xffa\0"]
        {
            assert_eq!(with(HAS_TRAITS, traits), None, "{traits:?}");
        }
    }

    #[test]
    fn scripts_know_the_same_defaults() {
        let lua = [include_str!("../../lua/lib/options.lua"), include_str!("../../lua/lib/record.lua")].concat();
        let line = format!("= {DEFAULT_TTR_MS}, {DEFAULT_MAX_ATTEMPTS}, {DEFAULT_PRIORITY}\n");
        assert!(lua.contains(&line), "{line}");
        let flags = format!("{HAS_OPTIONS}, {HAS_HISTORY}, {HAS_TRAITS}, {IS_NEWER}\n");
        assert!(lua.contains(&format!("HAS_OPTIONS, HAS_HISTORY, HAS_TRAITS, IS_NEWER = {flags}")));
        assert!(lua.contains(&format!(", {} -- a shorter lease", TTR_RANGE_MS.start())));
    }

    proptest::proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            let _ = (History::decode(&bytes), Record::decode(bytes));
        }
    }
}
