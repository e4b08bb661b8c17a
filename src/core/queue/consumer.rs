//! This thread as Redis knows it when it reserves: a name, `random@host:pid`, and numbers of its calls. A reserve whose answer did not arrive is repeated under
//! its number, so that the script first gives back the jobs that no handler saw.

use super::Queue;
use crate::core::connection::random_name;
use crate::core::process::{self, Generation};
use std::cell::RefCell;
use std::sync::Arc;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dsn::Dsn;
    use crate::core::queue::QueueConfig;
    use std::time::Duration;

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
}
