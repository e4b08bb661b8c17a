//! A job: the options it is pushed with, a reservation of it, a look at it.

use super::backoff::Backoff;
use super::error::{Error, Result};
use super::seal::{Seal, Unopened};
use super::traits;
use std::sync::Arc;

/// Default priority; smaller is sooner.
pub const DEFAULT_PRIORITY: u32 = 1024;
/// Default lease length.
pub const DEFAULT_TTR_MS: u64 = 60_000;
/// Default number of attempts before a job is buried.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 10;
/// The shortest and the longest lease: 0.1 s and 30 days.
pub const TTR_RANGE_MS: std::ops::RangeInclusive<u64> = 100..=2_592_000_000;

/// A job id: 1..=200 bytes, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(Arc<[u8]>);

impl JobId {
    /// A `UUIDv7`, which comes after those that this process made before.
    #[must_use]
    pub fn generate() -> Self {
        let text = uuid::Uuid::now_v7().hyphenated();
        Self(Arc::from(text.encode_lower(&mut uuid::Uuid::encode_buffer()).as_bytes()))
    }

    /// The id of a job that arrives under a receipt, and has none of its own: the same one whenever it is pushed.
    #[must_use]
    pub fn of_receipt(receipt: &[u8]) -> Self {
        let text = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, receipt).hyphenated();
        Self(Arc::from(text.encode_lower(&mut uuid::Uuid::encode_buffer()).as_bytes()))
    }

    /// Checks an id that a user chose.
    ///
    /// # Errors
    /// [`Error::Invalid`]: "must be …", to follow an argument name.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self> {
        let bytes = bytes.as_ref();
        if bytes.is_empty() || bytes.len() > 200 {
            return Err(Error::Invalid("must be between 1 and 200 bytes long".into()));
        }
        if bytes.iter().any(|b| *b < 0x20 || *b == 0x7f) {
            return Err(Error::Invalid("must not contain control characters".into()));
        }
        Ok(Self(bytes.into()))
    }

    /// An id as Redis gave it back.
    #[must_use]
    pub fn from_redis(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// When a job falls due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Milliseconds from the moment it is pushed.
    InMs(u64),
    /// An absolute Unix time in microseconds; a past one is due at once and keeps its place.
    AtUs(i64),
}

/// The rule for an id that is in the queue already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDuplicate {
    #[default]
    Fail,
    Keep,
    Replace,
}

/// Everything stored with a job beside its payload.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOptions {
    pub priority: u32,
    pub ttr_ms: u64,
    /// 0: no limit.
    pub max_attempts: u32,
    /// `None`: the default one.
    pub backoff: Option<Backoff>,
    /// Limit of one run of the handler; 0: none.
    pub timeout_ms: u64,
    /// Beside the payload, for the handler of the job. No script reads them.
    pub headers: Vec<(String, String)>,
    /// Of a sealed job. No script reads it.
    pub seal: Option<Seal>,
    pub extras: Extras,
}

impl Default for JobOptions {
    fn default() -> Self {
        Self {
            priority: DEFAULT_PRIORITY,
            ttr_ms: DEFAULT_TTR_MS,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            backoff: None,
            timeout_ms: 0,
            headers: Vec::new(),
            seal: None,
            extras: Extras::default(),
        }
    }
}

impl JobOptions {
    /// The group of the job, if it has one.
    #[must_use]
    pub fn group(&self) -> Option<&[u8]> {
        if self.extras.traits.is_empty() { None } else { traits::group(&self.extras.traits) }
    }
}

/// The data that a newer version has stored with the job: kept as it is, through a dump and a load as well.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extras {
    /// Flags of the record.
    pub flags: u8,
    /// Traits of the record, with their length in front, or nothing.
    pub traits: Vec<u8>,
    /// Members of the options' JSON.
    pub members: serde_json::Map<String, serde_json::Value>,
}

/// A job about to be pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// `None`: a UUIDv7 is made before the first send, so that a retry is the same job.
    pub id: Option<JobId>,
    pub payload: Vec<u8>,
    pub due: Due,
    pub options: JobOptions,
    pub on_duplicate: OnDuplicate,
    /// How long the id stays taken, whatever becomes of the job.
    pub unique_ms: Option<u64>,
}

/// The state of a job; it is in exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    Delayed,
    Ready,
    Reserved,
    Buried,
}

impl State {
    pub const ALL: [Self; 4] = [Self::Delayed, Self::Ready, Self::Reserved, Self::Buried];

    /// The word used in scripts and in PHP.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Delayed => "delayed",
            Self::Ready => "ready",
            Self::Reserved => "reserved",
            Self::Buried => "buried",
        }
    }
}

/// Proves that a reservation is still ours.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeaseReceipt {
    pub id: JobId,
    /// The text of the lease: marks, token, due time, consumer, of a group's job the group, and what newer versions add.
    pub lease: Arc<[u8]>,
}

impl LeaseReceipt {
    /// Fencing number: grows with every reservation in the queue.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.number(1)
    }

    /// When the job fell due, or was buried, in microseconds since 1970.
    #[must_use]
    pub fn due_at_us(&self) -> i64 {
        i64::try_from(self.number(2)).unwrap_or(0)
    }

    /// Whether ending this lease concerns a group, or a limit of the queue: it has the marks `g` or `l`.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.field(0).iter().any(|mark| matches!(mark, b'g' | b'l'))
    }

    /// The thread that reserved the job, as Redis knows it.
    #[must_use]
    pub fn consumer(&self) -> String {
        String::from_utf8_lossy(self.field(3)).into_owned()
    }

    fn field(&self, index: usize) -> &[u8] {
        self.lease.split(|byte| *byte == b' ').nth(index).unwrap_or_default()
    }

    fn number(&self, index: usize) -> u64 {
        let text = std::str::from_utf8(self.field(index)).unwrap_or_default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "times of the far future have no more digits"
        )]
        text.parse().unwrap_or_else(|_| text.parse::<f64>().map_or(0, |number| number as u64))
    }
}

/// A job held under a lease.
#[derive(Debug, Clone, PartialEq)]
pub struct Reserved {
    pub id: JobId,
    pub queue: Arc<str>,
    pub payload: Vec<u8>,
    pub options: JobOptions,
    /// Reservations so far, this one included.
    pub attempts: u32,
    pub created_at_ms: i64,
    pub due_at_us: i64,
    pub reserved_at_us: i64,
    /// End of the lease on this process' monotonic clock, counted from before the request was sent.
    pub lease_until: std::time::Instant,
    pub receipt: LeaseReceipt,
    /// Leases that expired.
    pub timeouts: u32,
    pub last_error: Option<Vec<u8>>,
}

impl Reserved {
    /// Whether a lease expired before, or this is its last attempt: no other job is to end with it.
    #[must_use]
    pub fn goes_alone(&self) -> bool {
        self.timeouts > 0 || self.options.max_attempts > 0 && self.attempts >= self.options.max_attempts
    }
}

/// A look at a job without holding it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobInfo {
    pub id: JobId,
    pub queue: String,
    pub state: State,
    pub payload: Vec<u8>,
    pub options: JobOptions,
    pub attempts: u32,
    pub created_at_ms: i64,
    /// Of a buried job: since when it is buried.
    pub due_at_us: i64,
    pub lease_until_us: Option<i64>,
    pub timeouts: u32,
    pub releases: u32,
    pub buries: u32,
    pub kicks: u32,
    /// Of a job that has a history: when it fell due first, or anew.
    pub first_due_at_us: Option<i64>,
    pub last_error: Option<Vec<u8>>,
    /// Why payload and headers are the stored ones, and not to be trusted.
    pub seal_error: Option<Unopened>,
    /// The partition of the queue in which it lay.
    pub partition: u16,
    /// `None` of a job that no queue has shown.
    pub fingerprint: Option<Fingerprint>,
    /// Only of a job that waits, and only a look at that one job tells.
    pub waiting: Option<Waiting>,
}

/// Why no worker has a job that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub reason: WaitReason,
    /// When that may end, as far as it can be known.
    pub until_us: Option<i64>,
    /// How many jobs come before it; not counted for a job that is not due.
    pub ahead: Option<u64>,
    /// The job that holds up its ordered group.
    pub held_up_by: Option<JobId>,
}

/// What a job waits for: the first that holds it up, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    Delay,
    QueuePaused,
    GroupPaused,
    GroupClosed,
    GroupOrder,
    GroupConcurrency,
    GroupRate,
    QueueLimit,
    Line,
    Nothing,
}

impl WaitReason {
    pub const ALL: [Self; 10] = [
        Self::Delay,
        Self::QueuePaused,
        Self::GroupPaused,
        Self::GroupClosed,
        Self::GroupOrder,
        Self::GroupConcurrency,
        Self::GroupRate,
        Self::QueueLimit,
        Self::Line,
        Self::Nothing,
    ];

    /// Its word in the answer of a script.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::QueuePaused => "queue_paused",
            Self::GroupPaused => "group_paused",
            Self::GroupClosed => "group_closed",
            Self::GroupOrder => "group_order",
            Self::GroupConcurrency => "group_concurrency",
            Self::GroupRate => "group_rate",
            Self::QueueLimit => "queue_limit",
            Self::Line => "line",
            Self::Nothing => "nothing",
        }
    }
}

/// What a job was at a look: another one has another record, or another time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    pub digest: String,
    /// Of a buried job: since when it is buried.
    pub due_at_us: i64,
}

impl JobInfo {
    #[must_use]
    pub fn group(&self) -> Option<&[u8]> {
        self.options.group()
    }

    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            state: self.state,
            // In the order of ready jobs those of groups lie among the ones of default priority.
            priority: if self.group().is_some() { DEFAULT_PRIORITY } else { self.options.priority },
            at_us: self.lease_until_us.unwrap_or(self.due_at_us),
            id: self.id.clone(),
            partition: self.partition,
        }
    }
}

/// A place in the order of the jobs of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub state: State,
    /// Means something in the order of ready jobs alone.
    pub priority: u32,
    /// The due time, the end of the lease, or since when it is buried.
    pub at_us: i64,
    pub id: JobId,
    pub partition: u16,
}

/// For pages of another process: `delayed.1024.1767225600000000.0.order-4711`.
impl Place {
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = format!("{}.{}.{}.{}.", self.state.word(), self.priority, self.at_us, self.partition);
        [head.as_bytes(), self.id.as_bytes()].concat()
    }

    /// `None`: these bytes are no place.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.splitn(5, |byte| *byte == b'.');
        let mut word = || std::str::from_utf8(parts.next()?).ok();
        let named = word()?;
        let state = State::ALL.into_iter().find(|state| state.word() == named)?;
        let (priority, at_us, partition) = (word()?.parse().ok()?, word()?.parse().ok()?, word()?.parse().ok()?);
        Some(Self { state, priority, at_us, partition, id: JobId::new(parts.next()?).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_its_bytes_say() {
        let id = JobId::new([b"a.b/".as_slice(), &[0xff]].concat()).unwrap();
        let place = Place { state: State::Ready, priority: 7, at_us: -1, id, partition: 255 };
        assert_eq!(Place::parse(&place.to_bytes()), Some(place));
        let wrong =
            "order-4711 ready.1024.5.0. gone.1.5.0.a ready.-1.5.0.a ready.1.x.0.a ready.1.5.65536.a ready.1.5.0";
        for wrong in wrong.split(' ') {
            assert_eq!(Place::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn generated_ids_are_uuids_in_the_order_of_their_making() {
        let ids: Vec<JobId> = std::iter::repeat_with(JobId::generate).take(3000).collect();
        assert!(ids.windows(2).all(|two| two[0] < two[1]));
        for id in ids {
            let uuid = uuid::Uuid::try_parse_ascii(id.as_bytes()).unwrap();
            assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
        }
    }
}
