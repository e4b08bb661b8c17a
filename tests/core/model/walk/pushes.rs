//! What is pushed at random: one job, a few, or so many that no script is needed.

use super::super::reference::{Push, backoff};
use super::{PLAIN_ATTEMPTS, Walk};
use crate::support::*;
use delayqueue::core::backoff::Backoff;
use delayqueue::core::connection::Connection;
use delayqueue::core::error::Error;
use delayqueue::core::job::{JobOptions, NewJob, OnDuplicate};

impl Walk {
    pub(super) fn new_push(&mut self, ranked: bool) -> Push {
        let is_plain = self.is_plain && self.below(8) == 0;
        self.push_of(ranked, is_plain)
    }

    pub(super) fn push_of(&mut self, ranked: bool, is_plain: bool) -> Push {
        let priority = if ranked { self.pick(&[0, 5, 1023, 1024, 1024, 1025, u32::MAX]) } else { 1024 };
        let number = self.below(1_000_000);
        let is_plain = is_plain && priority == 1024;
        Push {
            id: self.id(),
            payload: format!("p{number}").into_bytes(),
            priority,
            ttr: if is_plain { 60_000 } else { self.pick(&[100, 500, 3_000, 60_000]) },
            max_attempts: if is_plain { PLAIN_ATTEMPTS } else { self.pick(&[0, 1, 2, 3]) },
            due: self.due(),
            on_duplicate: self.pick(&[OnDuplicate::Fail, OnDuplicate::Fail, OnDuplicate::Keep, OnDuplicate::Replace]),
        }
    }

    pub(super) fn push(&mut self, batch: Vec<Push>) {
        let jobs: Vec<NewJob> = batch
            .iter()
            .map(|push| NewJob {
                id: Some(id(&push.id)),
                payload: push.payload.clone(),
                due: push.due,
                options: JobOptions {
                    priority: push.priority,
                    ttr_ms: u64::try_from(push.ttr).unwrap(),
                    max_attempts: push.max_attempts,
                    backoff: if push.max_attempts == PLAIN_ATTEMPTS { Backoff::default() } else { backoff() },
                    timeout_ms: 0,
                },
                on_duplicate: push.on_duplicate,
            })
            .collect();
        self.note(format!(
            "push {:?}",
            batch.iter().map(|push| (&push.id, push.due, push.priority, push.on_duplicate)).collect::<Vec<_>>()
        ));
        let expected = self.model.push(batch);
        let got = if let [one] = jobs.as_slice() {
            self.queue.push(one).map(|_| ())
        } else {
            self.queue.push_many(&jobs).map(|_| ())
        };
        match (&got, expected) {
            (Ok(()), true) | (Err(Error::Duplicate { .. }), false) => {}
            _ => panic!("push gave {got:?}, expected {expected}"),
        }
    }

    /// So many jobs that a transaction over watched keys pays. Most of them are cancelled, or there would be too many soon.
    pub(super) fn push_bulk(&mut self) {
        let ids: Vec<String> = (0..40).map(|n| if n < 2 { self.id() } else { format!("bulk{n}") }).collect();
        let new = |walk: &mut Self, id: &String| Push {
            id: id.clone(),
            on_duplicate: OnDuplicate::Fail,
            ..walk.push_of(false, false)
        };
        let batch = ids.iter().map(|id| new(self, id)).collect();
        let with_connection = |walk: &Self, change: fn(&mut Connection)| {
            let mut connection = walk.queue.link().take().unwrap();
            change(&mut connection);
            walk.queue.link().give_back(connection);
        };
        with_connection(self, |connection| connection.looks = Default::default()); // though looks are slow here
        let scripts = |walk: &mut Self| walk.raw.calls("evalsha") + walk.raw.calls("eval");
        let before = scripts(self);
        self.push(batch);
        self.watched += u64::from(scripts(self) == before);
        with_connection(self, |connection| connection.clock.forget()); // as if no time had passed: this clock stands still
        for some in ids[4..].chunks(9) {
            self.model.now = self.clock.advance(0); // it is looked at often
            let expected = self.model.cancel(some);
            assert_eq!(self.queue.cancel(&some.iter().map(|text| id(text)).collect::<Vec<_>>()).unwrap(), expected);
        }
    }
}
