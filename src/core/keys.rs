//! The only file that spells a Redis key.

use super::error::{Error, Result};
use super::resolver::{SLOTS, slot_of, slots_behind};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

/// Name and type of each key of a queue, in the order of `lua/lib/keys.lua`.
const KEYS: [(&str, &str); 17] = [
    ("jobs", "hash"),
    ("waiting", "zset"),
    ("reserved", "zset"),
    ("leases", "hash"),
    ("meta", "hash"),
    ("history", "hash"),
    ("buried", "zset"),
    ("waiters", "zset"),
    ("prioritized", "zset"),
    ("prioritized_ready", "zset"),
    ("grouped", "zset"),
    ("groups", "zset"),
    ("line", "zset"),
    ("limits", "hash"),
    ("spent", "zset"),
    ("recent", "zset"),
    ("receipts", "zset"),
];
/// As many of them are `KEYS all`. Scripts that need the others say so.
const ALL: usize = 15;

/// The keys of a partition of a queue; all share a hash tag: `{queue}`, and `{queue#1.17}`, `{queue#2.5}`, … in further partitions. No
/// queue's name has a `#`.
///
/// They lie behind each other in one text, which is one allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    prefix: Box<str>,
    queue: Arc<str>,
    partition: u16,
    text: String,
    ends: [usize; KEYS.len()],
}

impl Keys {
    #[must_use]
    pub fn new(prefix: &str, queue: &str, partition: u16) -> Self {
        let head = [prefix, ":{", &tag(queue, partition), "}:"].concat();
        let mut text = String::with_capacity(KEYS.len() * (head.len() + "prioritized".len()));
        let ends = KEYS.map(|(name, _)| {
            text.push_str(&head);
            text.push_str(name);
            text.len()
        });
        Self { prefix: prefix.into(), queue: queue.into(), partition, text, ends }
    }

    /// As [`Keys::new`]; keys that this thread made last are not made again. A page makes its queue object in
    /// every request.
    #[must_use]
    pub fn shared(prefix: &str, queue: &str, partition: u16) -> Arc<Self> {
        thread_local! {
            static LAST: RefCell<Option<Arc<Keys>>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| match last {
            Some(known) if *known.queue == *queue && *known.prefix == *prefix && known.partition == partition => {
                Arc::clone(known)
            }
            last => Arc::clone(last.insert(Arc::new(Self::new(prefix, queue, partition)))),
        })
    }

    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    #[must_use]
    pub fn partition(&self) -> u16 {
        self.partition
    }

    /// How many partitions the queue has at least.
    #[must_use]
    pub fn parts_up_to_here(&self) -> u32 {
        u32::from(self.partition) + 1
    }

    /// The hash tag of all keys.
    #[must_use]
    pub fn tag(&self) -> &str {
        // Cut out: finding the one of a further partition takes many checksums.
        let behind_prefix = self.text.get(self.prefix.len() + ":{".len()..).unwrap_or_default();
        behind_prefix.split_once('}').map_or("", |(tag, _)| tag)
    }

    /// The slot of all keys, in a cluster.
    #[must_use]
    pub fn slot(&self) -> u16 {
        slot_of(self.tag().as_bytes())
    }

    #[must_use]
    pub fn queue(&self) -> &Arc<str> {
        &self.queue
    }

    /// Each key that a queue can have.
    #[must_use]
    pub fn every(&self) -> [&[u8]; KEYS.len()] {
        let mut from = 0;
        self.ends.map(|end| self.text.as_bytes().get(std::mem::replace(&mut from, end)..end).unwrap_or_default())
    }

    /// `KEYS all` of the scripts.
    #[must_use]
    pub fn all(&self) -> [&[u8]; ALL] {
        *self.every().first_chunk().unwrap_or(&[&[]; ALL])
    }

    /// `KEYS all`, and the ids that are taken for some time.
    #[must_use]
    pub fn all_and_recent(&self) -> [&[u8]; ALL + 1] {
        *self.every().first_chunk().unwrap_or(&[&[]; ALL + 1])
    }

    #[must_use]
    pub fn recent(&self) -> &[u8] {
        let [.., recent, _] = self.every();
        recent
    }

    #[must_use]
    pub fn receipts(&self) -> &[u8] {
        let [.., receipts] = self.every();
        receipts
    }

    /// The keys of `lua/push.lua`: jobs, waiting, waiters; history for moments; grouped, groups and line for jobs of groups.
    #[must_use]
    pub fn push(&self) -> [&[u8]; 7] {
        let [jobs, waiting, _, _, _, history, _, waiters, _, _, grouped, groups, line, ..] = self.all();
        [jobs, waiting, waiters, history, grouped, groups, line]
    }

    /// The keys of `lua/ack.lua`: jobs, reserved, leases, meta, history; waiters, groups, line and limits for leases that have marks.
    #[must_use]
    pub fn ack(&self) -> [&[u8]; 9] {
        let [jobs, _, reserved, leases, meta, history, _, waiters, _, _, _, groups, line, limits, _] = self.all();
        [jobs, reserved, leases, meta, history, waiters, groups, line, limits]
    }

    /// The first of each of these says when there is something to do: waiting, reserved, prioritized, line.
    #[must_use]
    pub fn due(&self) -> [&[u8]; 4] {
        let [_, waiting, reserved, _, _, _, _, _, prioritized, _, _, _, line, ..] = self.all();
        [waiting, reserved, prioritized, line]
    }

    #[must_use]
    pub fn jobs(&self) -> &[u8] {
        let [jobs, ..] = self.all();
        jobs
    }

    #[must_use]
    pub fn leases(&self) -> &[u8] {
        let [_, _, _, leases, ..] = self.all();
        leases
    }

    #[must_use]
    pub fn waiting(&self) -> &[u8] {
        let [_, waiting, ..] = self.all();
        waiting
    }

    #[must_use]
    pub fn prioritized(&self) -> &[u8] {
        let [_, _, _, _, _, _, _, _, prioritized, ..] = self.all();
        prioritized
    }

    #[must_use]
    pub fn grouped(&self) -> &[u8] {
        let [.., grouped, _, _, _, _] = self.all();
        grouped
    }

    #[must_use]
    pub fn limits(&self) -> &[u8] {
        let [.., limits, _] = self.all();
        limits
    }

    #[must_use]
    pub fn meta(&self) -> &[u8] {
        let [_, _, _, _, meta, ..] = self.all();
        meta
    }

    #[must_use]
    pub fn waiters(&self) -> &[u8] {
        let [_, _, _, _, _, _, _, waiters, ..] = self.all();
        waiters
    }

    /// Each key, and the type that it must have.
    pub fn typed(&self) -> impl Iterator<Item = (&[u8], &'static str)> {
        self.every().into_iter().zip(KEYS.map(|(_, kind)| kind))
    }

    /// The channel on which one waiter hears that it should look (see `lua/lib/wake.lua`).
    #[must_use]
    pub fn channel(&self, waiter: &str) -> String {
        format!("{}:{waiter}", String::from_utf8_lossy(self.waiters()))
    }
}

/// The index of queues under a prefix: name → number of partitions. A sorted set, so that it can be read in pages. In a cluster its slot is another one than those
/// of the queues: see [`index_slot`].
#[must_use]
pub fn index(prefix: &str) -> String {
    format!("{prefix}:queues")
}

#[must_use]
pub fn index_slot(prefix: &str) -> u16 {
    slot_of(index(prefix).as_bytes())
}

/// No queue's name has a `#`.
const WORKERS: &str = "#workers";

/// The index of workers under a prefix: id → when it was last entered. It lies in one slot with the entries of the workers.
#[must_use]
pub fn workers(prefix: &str) -> String {
    format!("{prefix}:{{{WORKERS}}}:index")
}

/// The entry of a worker.
#[must_use]
pub fn worker(prefix: &str, id: &str) -> String {
    format!("{prefix}:{{{WORKERS}}}:{id}")
}

/// The counters of tasks, beside the workers that write them.
#[must_use]
pub fn tasks(prefix: &str) -> String {
    format!("{prefix}:{{{WORKERS}}}:tasks")
}

#[must_use]
pub fn workers_slot() -> u16 {
    slot_of(WORKERS.as_bytes())
}

/// The nodes of a cluster have long ranges of slots. Tags of any names would often leave a node without a partition, so each further one
/// gets the first number behind its name that puts it where partitions are rarest: at one half of the ring of slots behind the first one,
/// then at the quarters, then at the eighths.
fn tag(queue: &str, partition: u16) -> Cow<'_, str> {
    const NEAR: u16 = SLOTS / 64;
    if partition == 0 {
        return Cow::Borrowed(queue);
    }
    let head = format!("{queue}#{partition}.");
    let wanted = slot_of(queue.as_bytes()) + ((u32::from(partition.reverse_bits()) * u32::from(SLOTS)) >> 16) as u16;
    let is_near = |slot: u16| (slot + 2 * SLOTS - wanted) % SLOTS < NEAR;
    let number = slots_behind(head.as_bytes()).position(is_near).unwrap_or(0);
    Cow::Owned(format!("{head}{number}"))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-')
}

/// # Errors
/// [`Error::Invalid`], to follow an argument name.
pub fn check_queue_name(bytes: &[u8]) -> Result<String> {
    checked(bytes, 200)
}

/// # Errors
/// [`Error::Invalid`], to follow an argument name.
pub fn check_prefix(bytes: &[u8]) -> Result<String> {
    checked(bytes, 64)
}

fn checked(bytes: &[u8], longest: usize) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.is_empty() && bytes.len() <= longest && bytes.iter().all(|b| is_name_byte(*b)) => {
            Ok(text.to_owned())
        }
        _ => Err(Error::Invalid(format!("must be 1 to {longest} bytes of [A-Za-z0-9._:-]"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_of_a_queue_share_one_hash_tag() {
        let keys = Keys::new("dq", "orders:eu", 0);
        assert_eq!(keys.every().len(), 17);
        for key in keys.every() {
            assert!(key.starts_with(b"dq:{orders:eu}:"));
        }
        assert_eq!(keys.channel("w1"), "dq:{orders:eu}:waiters:w1");
        let tag = Keys::new("dq", "orders", 12).tag().to_owned();
        assert_eq!(Keys::new("dq", "orders", 12).jobs(), format!("dq:{{{tag}}}:jobs").as_bytes());
        assert_eq!(Keys::new("dq", "orders", 12).slot(), slot_of(tag.as_bytes()));
    }

    #[test]
    fn partitions_have_the_same_tags_for_ever() {
        let tags = [1, 2, 3].map(|partition| Keys::new("dq", "orders", partition).tag().to_owned());
        assert_eq!(
            tags,
            ["orders#1.70", "orders#2.0", "orders#3.33"],
            "other tags would lose the jobs that lie in Redis"
        );
    }

    #[test]
    fn partitions_are_spread_evenly_over_nodes() {
        for queue in ["orders", "q", "mails:eu", "a-long-name-of-a-queue"] {
            for (nodes, partitions) in [(2, 2), (3, 4), (3, 8), (4, 4), (4, 16), (6, 32)] {
                let mut counts = vec![0; nodes];
                for partition in 0..partitions {
                    counts[usize::from(Keys::new("dq", queue, partition).slot()) * nodes / usize::from(SLOTS)] += 1;
                }
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(
                    most - least <= 1 + partitions / 16 && *least > 0,
                    "{queue}: {partitions} partitions on {nodes} nodes: {counts:?}"
                );
            }
        }
    }

    #[test]
    fn shared_keys_are_those_of_the_queue_that_was_asked_for() {
        for (prefix, queue) in [("dq", "orders"), ("dq", "orders"), ("dq", "mails"), ("d", "q:mails"), ("dq", "orders")]
        {
            assert_eq!(*Keys::shared(prefix, queue, 0), Keys::new(prefix, queue, 0));
            assert_eq!(*Keys::shared(prefix, queue, 1), Keys::new(prefix, queue, 1));
        }
        assert!(Arc::ptr_eq(&Keys::shared("dq", "orders", 0), &Keys::shared("dq", "orders", 0)));
    }

    #[test]
    fn names_that_could_break_the_hash_tag_are_refused() {
        for name in ["", "a b", "a{b", "a}b", "ä", "a\0b", "a\nb"] {
            assert!(check_queue_name(name.as_bytes()).is_err(), "{name:?}");
        }
        assert!(check_queue_name(&[b'a'; 200]).is_ok());
        assert!(check_queue_name(&[b'a'; 201]).is_err());
        assert_eq!(check_queue_name(b"A-z.0_9:x"), Ok("A-z.0_9:x".to_owned()));
    }
}
