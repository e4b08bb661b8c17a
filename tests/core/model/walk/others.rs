//! Operations without a lease: on jobs that no worker holds, and on the queue as a whole.

use super::Walk;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::State;
use delayqueue::core::queue::Changes;

impl Walk {
    pub(super) fn cancel(&mut self, ids: Vec<String>, is_lost: bool) {
        self.note(format!("cancel {ids:?}"));
        let expected = self.model.cancel(&ids);
        let got = self.queue(is_lost).cancel(&ids.iter().map(|text| id(text)).collect::<Vec<_>>());
        assert_eq!(unless_in_doubt(got), if is_lost { None } else { Some(expected) });
    }

    pub(super) fn reschedule(&mut self, is_lost: bool) {
        let (name, due, held) = (self.id(), self.due(), self.below(2) == 0);
        self.note(format!("reschedule {name} {due:?} {held}"));
        let expected = self.model.reschedule(&name, due, held);
        assert_eq!(self.queue(is_lost).reschedule(&id(&name), due, held).unwrap(), expected);
    }

    pub(super) fn update(&mut self, is_lost: bool) {
        let (payload, headers) = (self.below(3) > 0, self.changes());
        let due = (self.below(3) == 0).then(|| self.due());
        let seen = if self.below(2) == 0 { self.looked.clone() } else { Vec::new() };
        let seen = (!seen.is_empty()).then(|| self.pick(&seen));
        let name = seen.as_ref().map_or_else(|| self.id(), |seen| seen.id.to_string());
        let unchanged = seen.and_then(|seen| seen.fingerprint);
        self.note(format!("update {name} {payload} {headers:?} {due:?} {unchanged:?}"));
        let changes = Changes { payload: payload.then_some(b"updated"), headers: &headers };
        let expected = match &unchanged {
            None => self.model.update(&name, &changes, due),
            Some(_) => {
                let now = self.queue.peek(&id(&name)).unwrap().and_then(|info| info.fingerprint);
                self.model.reclaim();
                if self.model.find(&name).is_some_and(|job| job.waits()) {
                    self.model.is_paused(); // a look at what it waits for forgets a pause that is over
                }
                now == unchanged && self.model.update(&name, &changes, due)
            }
        };
        let got = self.queue(is_lost).update(&id(&name), changes, due, unchanged.as_ref());
        let is_in_doubt = is_lost && unchanged.is_some() && unless_in_doubt(got.clone()).is_none();
        assert!(is_in_doubt || got == Ok(expected), "{got:?}");
    }

    pub(super) fn kick(&mut self, is_lost: bool) {
        let (max, resets) = (self.below(5) as usize + 1, self.below(2) == 0);
        self.note(format!("kick {max} {resets}"));
        let expected = self.model.kick(max, resets);
        let got = self.queue(is_lost).kick(max as u64, resets);
        assert_eq!(unless_in_doubt(got), if is_lost { None } else { Some(expected) });
    }

    pub(super) fn kick_job(&mut self, name: &str, resets: bool, is_lost: bool) {
        self.note(format!("kick_job {name} {resets}"));
        let expected = self.model.kick_job(name, resets);
        let got = unless_in_doubt(self.queue(is_lost).kick_job(&id(name), resets));
        assert!(
            got == Some(expected) && !is_lost || is_lost && (got == Some(true) || !expected && got.is_none()),
            "{got:?}"
        );
    }

    pub(super) fn take(&mut self, is_lost: bool) {
        let (ahead_ms, limit) = (self.pick(&[None, None, Some(50)]), self.below(3) as usize + 1);
        self.note(format!("take {ahead_ms:?} {limit}"));
        let asked = ahead_ms.map(|ahead_ms| self.model.now + ahead_ms * 1000);
        let expected = self.model.take(asked.unwrap_or(self.model.now), limit, is_lost);
        let got = self.queue(is_lost).take(asked, limit);
        assert_eq!(unless_in_doubt(got.map(payloads)), if is_lost { None } else { Some(expected) });
    }

    pub(super) fn purge(&mut self, state: State, is_lost: bool) {
        self.note(format!("purge {state:?}"));
        let expected = self.model.purge(state);
        let got = self.queue(is_lost).purge(&[state]);
        assert_eq!(unless_in_doubt(got), if is_lost { None } else { Some(expected) });
    }

    /// Mostly the queue is empty first, and has no receipt, and of the ids that were taken those whose time is over.
    pub(super) fn forget(&mut self, is_lost: bool) {
        if self.below(4) > 0 {
            State::ALL.into_iter().for_each(|state| self.purge(state, false));
            let taken = self.model.recent.iter().filter(|(_, until)| **until > self.model.now);
            let names: Vec<String> = self.model.receipts.keys().chain(taken.map(|(id, _)| id)).cloned().collect();
            self.forget_names(&names, false);
            if self.has_groups {
                self.open_all();
                self.reserve(1, false); // which makes it a plain queue again
            }
        }
        self.note("forget".into());
        let expected = self.model.forget();
        assert_eq!(self.queue(is_lost).forget().unwrap(), expected);
        if expected {
            self.held.clear(); // tokens begin anew
        }
    }

    pub(super) fn pause(&mut self, is_lost: bool) {
        let for_ms = self.pick(&[None, Some(30), Some(30)]);
        self.note(format!("pause {for_ms:?}"));
        self.queue(is_lost).pause(for_ms, None).unwrap();
        let until = for_ms.map(|ms| self.model.now + i64::try_from(ms).unwrap() * 1000);
        self.model.paused_until = Some(until.unwrap_or(i64::MAX));
    }

    pub(super) fn resume(&mut self, is_lost: bool) {
        self.note("resume".into());
        self.queue(is_lost).resume(None).unwrap();
        self.model.paused_until = None;
    }
}

/// `None`: the answer was lost, and the error says so.
pub(super) fn unless_in_doubt<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Connection { ambiguous: true, .. }) => None,
        Err(error) => panic!("{error}"),
    }
}
