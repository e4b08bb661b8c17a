//! A waiter glances at its queues for as long as it waits: has Redis' clock reached what is to be done next, and has that changed?
//! As long as Redis has not said that it has, `TIME` is all that is asked for.

use super::Queue;
use crate::core::clock;
use crate::core::connection::Connection;
use crate::core::error::{Error, Result};
use crate::core::link::{Link, Repeat, Request};
use crate::core::reply::Answers;
use std::time::Duration;

/// A waiter glances at least this often: some pushes wake nobody (`place.rs`), a wake-up may be lost with a process that died, a clock may
/// be set, and a connection may be lost without a sign.
pub(super) const GLANCE_AFTER: Duration = Duration::from_millis(2000);

/// What a look that found nothing has learned.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outlook {
    /// Look again after this long (`None`: nothing is coming).
    pub wait: Option<Duration>,
    /// When there is something to do, in milliseconds since 1970 by Redis' clock, if that is known. Somebody will look then.
    pub next_ms: Option<i64>,
    pub is_paused: bool,
}

/// A queue at which a waiter is registered.
pub(super) struct Registered<'a> {
    pub queue: &'a Queue,
    outlook: Outlook,
    /// When there is something to do (`None`: nothing is coming), as a glance has found and Redis has not taken back.
    seen: Option<Option<i64>>,
}

impl<'a> Registered<'a> {
    pub fn new(queue: &'a Queue, outlook: Outlook) -> Self {
        Self { queue, outlook, seen: None }
    }

    fn ask(&self, request: &mut Request, is_tracked: bool) {
        let keys = &self.queue.keys;
        if is_tracked {
            request.command(&[b"CLIENT", b"CACHING", b"YES"]); // for the very next command, which reads all of them
            if self.outlook.is_paused {
                request.command(&[b"EXISTS", keys.ledger()]);
            } else {
                let [waiting, reserved, later, ripe] = keys.heads();
                request.command(&[b"EXISTS", waiting, reserved, later, ripe]);
            }
        }
        if self.outlook.is_paused {
            return request.command(&[b"HGET", keys.ledger(), b"paused"]);
        }
        for key in keys.heads() {
            request.command(&[b"ZRANGE", key, b"0", b"0", b"WITHSCORES"]);
        }
    }

    /// `None` when Redis refused to tell.
    fn read(&self, answers: &mut Answers) -> Option<Option<i64>> {
        if self.outlook.is_paused { answers.end_of_pause() } else { answers.earliest(self.queue.keys.heads().len()) }
    }

    /// Whether something is to be done earlier than was known at the last look, or has not been done in time, or cannot be seen.
    fn is_outdated(&self, now_ms: i64) -> bool {
        let known_ms = self.outlook.next_ms.filter(|next_ms| *next_ms > now_ms);
        self.seen.is_none_or(|seen| seen.is_some_and(|seen_ms| known_ms.is_none_or(|known_ms| seen_ms < known_ms)))
    }
}

/// Whether somebody should look. Also if Redis refused to tell: the look says why.
///
/// # Errors
/// Connection and server errors.
pub(super) fn glance(link: &Link, held: &mut Option<Connection>, registered: &mut [Registered<'_>]) -> Result<bool> {
    let (mut is_tracked, mut is_new) = (false, false);
    let answers = link.run_on(held, Repeat::Yes, &mut |request, _, connection| {
        let tracking = &mut connection.tracking;
        if tracking.take_change() {
            registered.iter_mut().for_each(|one| one.seen = None);
        }
        is_tracked = tracking.is_wanted();
        is_new = is_tracked && !tracking.is_on();
        request.keep_all();
        if is_new {
            request.command(&[b"CLIENT", b"TRACKING", b"ON", b"OPTIN"]);
        }
        registered.iter().filter(|one| one.seen.is_none()).for_each(|one| one.ask(request, is_tracked));
        request.command(&[b"TIME"]);
    });
    let mut answers = Answers::new(answers.map_err(Error::of_a_question)?)?;
    let mut refusal = if is_new { answers.refusal() } else { None };
    for one in registered.iter_mut().filter(|one| one.seen.is_none()) {
        if is_tracked {
            let caching = answers.refusal();
            let exists = answers.refusal();
            refusal = refusal.or(caching).or(exists);
        }
        one.seen = one.read(&mut answers);
    }
    let now_ms = answers.time_us().map(|now_us| now_us.div_euclid(1000).saturating_add(clock::offset_ms()));
    let is_outdated = now_ms.is_none_or(|now_ms| registered.iter().any(|one| one.is_outdated(now_ms)));
    if let Some(connection) = held.as_mut().filter(|_| is_tracked) {
        connection.tracking.answered(refusal.as_deref());
    }
    if !is_tracked || refusal.is_some() {
        registered.iter_mut().for_each(|one| one.seen = None);
    }
    Ok(is_outdated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dsn::Dsn;
    use crate::core::queue::QueueConfig;
    use std::sync::Arc;

    #[test]
    fn a_look_is_due_when_something_is_earlier_than_known_or_late() {
        let queue = Queue::new(QueueConfig {
            name: "q".into(),
            prefix: "dq".into(),
            dsn: Arc::new(Dsn::parse("redis://127.0.0.1").unwrap()),
            max_payload: 1,
            compress: false,
            spin: false,
            ask_first: false,
            connect_timeout: Duration::ZERO,
            read_timeout: Duration::ZERO,
            persistent: true,
        });
        let cases = [
            (None, None, false),
            (None, Some(900), true),
            (None, Some(2000), true),
            (Some(2000), None, false),
            (Some(2000), Some(2000), false),
            (Some(2000), Some(3000), false),
            (Some(2000), Some(1999), true),
            (Some(2000), Some(900), true),
            (Some(1000), Some(1000), true), // nobody came for it
            (Some(900), Some(3000), true),  // nobody knows of this one
            (Some(900), None, false),
        ];
        for (next_ms, seen, is_due) in cases {
            let outlook = Outlook { next_ms, ..Outlook::default() };
            let registered = Registered { seen: Some(seen), ..Registered::new(&queue, outlook) };
            assert_eq!(registered.is_outdated(1000), is_due, "{next_ms:?} {seen:?}");
        }
        assert!(Registered::new(&queue, Outlook::default()).is_outdated(1000), "it could not be seen");
    }
}
