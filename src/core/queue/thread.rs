//! The memory of a thread about queues: which of its calls they have not answered, and when it did a chore for them. And this thread as Redis knows
//! it when it reserves: a name, `random@host:pid`, and numbers of its calls. A reserve whose answer did not arrive is repeated under its number, so
//! that the script first gives back the jobs that no handler saw.

use super::Queue;
use super::flight::ask_each;
use crate::core::connection::{Connection, random_name};
use crate::core::dsn::Dsn;
use crate::core::error::Result;
use crate::core::pool::Connections;
use crate::core::process::{self, Generation};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A thread whose calls failed in more queues forgets the first of them: their jobs come back when the leases end.
const MOST_UNANSWERED: usize = 1024;

struct Consumer {
    process: Generation,
    name: Arc<str>,
    calls: u64,
    /// The calls that have not been answered: one, but for queues that failed.
    unanswered: Vec<(Queue, u64)>,
}

impl Consumer {
    fn unanswered(&self, queue: &Queue) -> Option<u64> {
        self.unanswered.iter().find(|(known, _)| known.is_same(queue)).map(|(_, number)| *number)
    }
}

thread_local! {
    static CONSUMER: RefCell<Option<Consumer>> = const { RefCell::new(None) };
}

fn with_consumer<T>(work: impl FnOnce(&mut Consumer) -> T) -> T {
    CONSUMER.with_borrow_mut(|consumer| {
        if consumer.as_ref().is_some_and(|consumer| !consumer.process.is_current()) {
            *consumer = None; // that of the parent, in a forked child
        }
        work(consumer.get_or_insert_with(|| Consumer {
            process: Generation::current(),
            name: format!("{}@{}", random_name(), process::worker()).into(),
            calls: 0,
            unanswered: Vec::new(),
        }))
    })
}

/// One call of a script that reserves.
pub(super) struct ReserveCall {
    pub consumer: Arc<str>,
    pub number: u64,
    /// It was sent before, and may have been executed.
    pub is_repeat: bool,
}

impl ReserveCall {
    /// The next call, or once more the one that this queue has not answered.
    pub fn begin(queue: &Queue) -> Self {
        with_consumer(|consumer| {
            let unanswered = consumer.unanswered(queue);
            let number = unanswered.unwrap_or_else(|| {
                consumer.calls += 1;
                if consumer.unanswered.len() >= MOST_UNANSWERED {
                    consumer.unanswered.remove(0);
                }
                consumer.unanswered.push((queue.detached(), consumer.calls));
                consumer.calls
            });
            Self { consumer: Arc::clone(&consumer.name), number, is_repeat: unanswered.is_some() }
        })
    }

    /// Its answer has arrived.
    pub fn answered(&self, queue: &Queue) {
        with_consumer(|consumer| consumer.unanswered.retain(|(known, _)| !known.is_same(queue)));
    }
}

/// The name of this thread's consumer, if this queue has answered every reserve of it: scripts may forget the last one then.
pub(super) fn answered_consumer(queue: &Queue) -> Option<Arc<str>> {
    with_consumer(|consumer| consumer.unanswered(queue).is_none().then(|| Arc::clone(&consumer.name)))
}

/// This thread asks these queues for no more jobs: nothing of its last reserves need be remembered.
///
/// # Errors
/// Connection and server errors.
pub fn forget_calls(queues: &[&Queue]) -> Result<()> {
    let answered: Vec<(&Queue, Vec<u8>)> = queues
        .iter()
        .filter_map(|queue| Some((*queue, [b"\n", answered_consumer(queue)?.as_bytes()].concat())))
        .collect();
    let Some((first, _)) = answered.first() else { return Ok(()) };
    let all: Vec<&Queue> = answered.iter().map(|(queue, _)| *queue).collect();
    let mut connections = Connections::default();
    let told = ask_each(&all, &mut connections, &mut |request, _, at| {
        if let Some((queue, call)) = answered.get(at) {
            request.command(&[b"HDEL", queue.keys.leases(), call]);
        }
    });
    first.client.give_back(connections);
    told?.into_iter().try_for_each(|told| told.map(drop))
}

/// A thread that serves more queues forgets them, and does their chores more often.
const MOST_QUEUES: usize = 1 << 16;
/// The longest known goes when another comes.
const MOST_SERVERS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chore {
    /// A push enters the queue into the index of names again, in case the database was flushed.
    Index,
    /// A reserve asks for a snapshot of the counters, as often as Redis keeps one (`lua/lib/snapshot.lua`).
    Snapshot,
}

impl Chore {
    const fn every(self) -> Duration {
        match self {
            Self::Index => Duration::from_secs(60),
            Self::Snapshot => Duration::from_secs(300),
        }
    }
}

/// When each chore was done last, by a key of the queue. The name alone would not do, because queues under several prefixes may have one name.
#[derive(Default)]
struct Chores(FxHashMap<Box<[u8]>, [Option<Instant>; 2]>);

impl Chores {
    /// `since`: the server may have lost what was done before.
    fn is_due(&self, chore: Chore, key: &[u8], since: Option<Instant>, now: Instant) -> bool {
        let done = self.0.get(key).and_then(|done| done.get(chore as usize).copied().flatten());
        done.is_none_or(|done| {
            since.is_some_and(|since| done < since) || now.saturating_duration_since(done) >= chore.every()
        })
    }

    fn has_done(&mut self, chore: Chore, key: &[u8], now: Instant) {
        if !self.0.contains_key(key) && self.0.len() >= MOST_QUEUES {
            self.0.clear();
        }
        if let Some(done) = self.0.entry(key.into()).or_default().get_mut(chore as usize) {
            *done = Some(now);
        }
    }
}

fn with_chores<T>(queue: &Queue, work: impl FnOnce(&mut Chores, &[u8]) -> T) -> T {
    thread_local! {
        static CHORES: RefCell<Vec<(Arc<Dsn>, Chores)>> = const { RefCell::new(Vec::new()) };
    }
    CHORES.with_borrow_mut(|all| {
        let dsn = &queue.client.key().dsn;
        if let Some((_, chores)) = all.iter_mut().find(|(known, _)| known == dsn) {
            return work(chores, queue.keys.meta());
        }
        if all.len() >= MOST_SERVERS {
            all.remove(0);
        }
        let mut chores = Chores::default();
        let result = work(&mut chores, queue.keys.meta());
        all.push((Arc::clone(dsn), chores));
        result
    })
}

impl Queue {
    /// Whether it is time for the chore, over this connection: after its opening it is, because the server may have been restarted or replaced.
    pub(super) fn is_due_over(&self, connection: &Connection, chore: Chore) -> bool {
        with_chores(self, |chores, key| chores.is_due(chore, key, Some(connection.opened_at), Instant::now()))
    }

    /// Whether it is time for the chore, whatever became of the server since.
    pub(super) fn is_due(&self, chore: Chore) -> bool {
        with_chores(self, |chores, key| chores.is_due(chore, key, None, Instant::now()))
    }

    /// Redis has answered.
    pub(super) fn has_done(&self, chore: Chore) {
        with_chores(self, |chores, key| chores.has_done(chore, key, Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::queue::QueueConfig;

    fn queue(name: &str) -> Queue {
        Queue::new(QueueConfig {
            name: name.into(),
            prefix: "dq".into(),
            dsn: Dsn::parse("redis://localhost").unwrap().into(),
            max_payload: 0,
            capacity: None,
            keyring: None,
            connect_timeout: Duration::ZERO,
            read_timeout: Duration::ZERO,
            durability: None,
            persistent: true,
        })
    }

    #[test]
    fn a_call_without_an_answer_is_repeated_and_a_bounded_number_of_them_is_remembered() {
        let first = ReserveCall::begin(&queue("0"));
        assert!(ReserveCall::begin(&queue("0")).is_repeat && answered_consumer(&queue("0")).is_none());
        for name in 1..=MOST_UNANSWERED {
            assert!(!ReserveCall::begin(&queue(&name.to_string())).is_repeat);
        }
        with_consumer(|consumer| assert_eq!(consumer.unanswered.len(), MOST_UNANSWERED));
        assert_ne!(ReserveCall::begin(&queue("0")).number, first.number);
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn each_queue_is_due_at_once_and_again_after_the_time_or_over_a_newer_connection() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        let is_due = |chores: &Chores, key: &str, after: Duration| {
            chores.is_due(Chore::Index, key.as_bytes(), Some(start), start + after)
        };
        assert!(is_due(&chores, "shop1:{q}:meta", Duration::ZERO));
        chores.has_done(Chore::Index, b"shop1:{q}:meta", start);
        assert!(is_due(&chores, "shop2:{q}:meta", Duration::ZERO));
        assert!(!is_due(&chores, "shop1:{q}:meta", MINUTE - Duration::from_millis(1)));
        assert!(is_due(&chores, "shop1:{q}:meta", MINUTE));
        let second = Duration::from_secs(1);
        assert!(chores.is_due(Chore::Index, b"shop1:{q}:meta", Some(start + second), start + second));
        assert!(!chores.is_due(Chore::Index, b"shop1:{q}:meta", None, start + second));
        assert!(chores.is_due(Chore::Snapshot, b"shop1:{q}:meta", Some(start), start), "another chore");
    }

    #[test]
    fn any_number_of_queues_takes_bounded_memory() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        for number in 0..200_000_u32 {
            chores.has_done(Chore::Index, &number.to_le_bytes(), start);
            assert!(chores.0.len() <= MOST_QUEUES);
            assert!(!chores.is_due(Chore::Index, &number.to_le_bytes(), Some(start), start));
        }
    }
}
