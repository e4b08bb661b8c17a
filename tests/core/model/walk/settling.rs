//! Reserving, and the operations of a holder.

use super::super::compare::held_for_long;
use super::super::reference::backoff;
use super::Walk;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Changes, Failed, Fetch, Held, NoInterrupts, Queue, ReserveOutcome, Settled};
use std::time::Duration;

impl Walk {
    pub(super) fn reserve(&mut self, max: usize, is_lost: bool) {
        self.note(format!("reserve {max}"));
        let line = self.look_at_line(is_lost);
        let got = reserve_many(&self.queue(is_lost), max);
        let expected = self.expected(&got, max, is_lost, line.as_ref());
        self.compare_reserved(got, &expected);
    }

    /// A round trip of a loop: acknowledges all of its last batch, and leases the next.
    pub(super) fn trip(&mut self, is_lost: bool) {
        let (max, batch) = (self.pick(&[1, 1, 2, 3, 10, 30]), std::mem::take(&mut self.batch));
        self.note(format!("trip {max}, acknowledging {}", names(&batch)));
        let queue = self.queue(is_lost);
        let mut fetch = Fetch { max, done: batch.iter().map(Held::finished).collect(), lost: Vec::new() };
        let got = match with_connections(&queue, |connections| queue.reserve_now(connections, &mut fetch, None)) {
            ReserveOutcome::Jobs(jobs) => jobs,
            ReserveOutcome::Nothing(_) => Vec::new(),
            ReserveOutcome::Again => reserve_many(&self.queue(false), max),
        };
        let acked: Vec<bool> = batch.iter().map(|held| self.model.ack(held.receipt.token())).collect();
        let lost: Vec<usize> = (0..acked.len()).filter(|at| !acked[*at]).collect();
        assert_eq!(fetch.lost, if is_lost { Vec::new() } else { lost }, "which were not ours any more");
        self.batch = got.iter().map(held_for_long).collect();
        let expected = self.expected(&got, max, is_lost, None);
        self.compare_reserved(got, &expected);
    }

    pub(super) fn wait(&mut self, is_lost: bool) {
        self.note("wait".into());
        let watch = [self.queue.name().to_owned()];
        let got = self.queue(is_lost).wait(&watch, Some(Duration::ZERO), &mut NoInterrupts).unwrap();
        self.check_wait(got);
    }

    pub(super) fn reserve_job(&mut self, name: &str, is_lost: bool) {
        self.note(format!("reserve_job {name}"));
        let got = self.queue(is_lost).reserve_job(&id(name)).unwrap();
        self.model.reclaim();
        let before = self.model.find(name).map(|job| job.place.clone());
        let mut expected = self.model.reserve_job(name);
        if is_lost {
            self.model.forget_lease(expected.as_slice());
            if let (Some(job), Some(place)) = (self.model.find(name).filter(|_| expected.is_some()), before) {
                job.place = place; // a buried one is buried again
            }
            expected = self.model.reserve_job(name);
        }
        self.compare_reserved(got.into_iter().collect(), expected.as_slice());
    }

    pub(super) fn ack(&mut self, many: &[Held], is_lost: bool) {
        self.note(format!("ack {}", names(many)));
        let expected: Vec<bool> = many.iter().map(|held| self.model.ack(held.receipt.token())).collect();
        let queue = self.queue(is_lost);
        if let [one] = many {
            assert_eq!(is_ours(queue.ack(one)), expected[0] || is_lost);
        } else {
            let receipts: Vec<_> = many.iter().map(|held| &held.receipt).collect();
            let settled = queue.ack_many(&many.iter().map(Held::finished).collect::<Vec<_>>()).unwrap();
            assert_eq!(settled, with_lost(&receipts, expected, is_lost));
        }
    }

    pub(super) fn ack_failed(&mut self, is_lost: bool) {
        let Some(held) = self.some_held() else { return };
        self.note(format!("ack_failed {}", name(&held)));
        let expected = self.model.end(held.receipt.token(), true);
        assert_eq!(is_ours(self.queue(is_lost).ack_failed(&held)), expected || is_lost);
    }

    pub(super) fn release(&mut self, is_lost: bool) {
        let Some(held) = self.some_held() else { return };
        let (due, counts) = (self.due(), self.below(3) > 0);
        let priority = if self.has_priorities() { self.pick(&[None, Some(3), Some(1024), Some(9_999)]) } else { None };
        let error = self.pick(&[None, None, Some("no bank"), Some("")]);
        self.note(format!("release {} {due:?} {priority:?} {counts} {error:?}", name(&held)));
        let expected = self.model.release(held.receipt.token(), due, priority, counts, error);
        let queue = self.queue(is_lost);
        let got = match error {
            None => queue.release(&held, due, priority, counts),
            Some(error) => queue.release_failed(&held, due, priority, counts, error.as_bytes()),
        };
        assert_eq!(is_ours(got), expected || is_lost);
    }

    pub(super) fn give_back(&mut self, is_lost: bool) {
        let many = self.some_of_held();
        self.note(format!("give_back {}", names(&many)));
        let expected: Vec<bool> = many.iter().map(|held| self.model.give_back(held.receipt.token())).collect();
        let receipts: Vec<_> = many.iter().map(|held| &held.receipt).collect();
        let settled = self.queue(is_lost).give_back(&receipts).unwrap();
        assert_eq!(settled, with_lost(&receipts, expected, is_lost));
    }

    pub(super) fn fail(&mut self, is_lost: bool) {
        let Some(held) = self.some_held() else { return };
        let used = held.options.backoff.clone().unwrap_or_default();
        let is_known = used == backoff();
        let (is_lost, reason) = (is_lost && is_known, self.pick(&["boom", ""]));
        self.note(format!("fail {} {reason}", name(&held)));
        let got = self.queue(is_lost).fail(&held, Some(reason.as_bytes()));
        let due = |unit| {
            let delay_ms = used.jittered_after_ms(held.attempts, unit);
            self.model.now + i64::try_from(delay_ms).unwrap() * 1000
        };
        let (soonest, latest) = (due(0.0), due(0.999_999_999));
        let due = match got {
            Ok(Failed::Retried { due_at_us }) if !is_known => due_at_us,
            Ok(Failed::Buried) if !is_known => latest,
            _ => soonest,
        };
        assert!((soonest..=latest).contains(&due), "{soonest} {due} {latest}");
        let is_last = held.options.max_attempts > 0 && held.attempts >= held.options.max_attempts;
        match (got, self.model.fail(held.receipt.token(), due, reason)) {
            (Ok(Failed::Buried), Some(true)) | (Err(Error::LeaseLost { .. }), None) => {}
            (Ok(Failed::Retried { due_at_us }), Some(false)) if due_at_us == due => {}
            (Ok(Failed::Retried { due_at_us: 0 }), _) if is_lost && !is_last => {}
            (Ok(Failed::Buried), _) if is_lost && is_last => {}
            (got, expected) => panic!("fail gave {got:?}, expected {expected:?}"),
        }
    }

    pub(super) fn bury(&mut self, is_lost: bool) {
        let Some(held) = self.some_held() else { return };
        let failed = self.below(2) == 0;
        self.note(format!("bury {} {failed}", name(&held)));
        let expected = self.model.bury(held.receipt.token(), "why", failed);
        let queue = self.queue(is_lost);
        let got = if failed { queue.bury_failed(&held, Some(b"why")) } else { queue.bury(&held, Some(b"why")) };
        assert_eq!(is_ours(got), expected || is_lost);
    }

    pub(super) fn touch(&mut self, is_lost: bool) {
        let Some(held) = self.some_held() else { return };
        let ttr_ms = self.pick(&[None, Some(100), Some(5_000)]);
        self.note(format!("touch {} {ttr_ms:?}", name(&held)));
        let expected = self.model.touch(held.receipt.token(), ttr_ms.unwrap_or(held.options.ttr_ms), false);
        assert_eq!(self.queue(is_lost).touch(&held, ttr_ms).ok(), expected);
    }

    pub(super) fn renew(&mut self, is_lost: bool) {
        let (many, ttr_ms) = (self.some_of_held(), self.pick(&[100, 5_000]));
        self.note(format!("renew {} {ttr_ms}", names(&many)));
        let leases: Vec<_> = many.iter().map(|held| (&held.receipt, ttr_ms)).collect();
        let expected: Vec<_> = many.iter().map(|held| self.model.touch(held.receipt.token(), ttr_ms, true)).collect();
        assert_eq!(self.queue(is_lost).renew(&leases).unwrap(), expected);
    }

    pub(super) fn update_held(&mut self, is_lost: bool) {
        let Some(held) = self.some_held() else { return };
        let headers = self.changes();
        self.note(format!("update_held {} {headers:?}", name(&held)));
        let changes = Changes::new(b"in hand", &headers);
        let expected = self.model.update_held(held.receipt.token(), &changes);
        assert_eq!(is_ours(self.queue(is_lost).update_held(&held, changes)), expected);
    }
}

fn name(held: &Held) -> String {
    format!("{}#{}", held.id(), held.receipt.token())
}

fn names(many: &[Held]) -> String {
    many.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The answer to settling many jobs. Where the first answer was lost, a job that is gone counts as settled by the first try, once.
fn with_lost<T: PartialEq>(receipts: &[T], settled: Vec<bool>, is_lost: bool) -> Vec<Settled> {
    let is_first = |at: usize| !receipts[..at].contains(&receipts[at]);
    let one = |(at, is_ours)| if is_ours || is_lost && is_first(at) { Settled::Ours } else { Settled::Lost };
    settled.into_iter().enumerate().map(one).collect()
}

fn with_connections<T>(queue: &Queue, work: impl FnOnce(&mut Connections) -> Result<T, Error>) -> T {
    let mut connections = Connections::default();
    let result = work(&mut connections);
    queue.client().give_back(connections);
    result.unwrap()
}

pub(super) fn is_ours(result: Result<(), Error>) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::LeaseLost { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}
