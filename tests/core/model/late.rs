//! Jobs that are too late to be run, and those that meet them without leasing.

use super::job::Place;
use super::reference::Reference;
use delayqueue::core::job::State;
use delayqueue::core::traits::OnExpiry;

impl Reference {
    pub fn is_ready(&mut self) -> bool {
        self.reclaim();
        if self.is_paused() {
            return false;
        }
        let ready: Vec<String> = self.in_order(State::Ready).iter().map(|job| job.id.clone()).collect();
        ready.iter().any(|id| !self.ends_late(id))
    }

    /// Ends a waiting job that may not be started any more.
    pub fn ends_late(&mut self, id: &str) -> bool {
        let now = self.now;
        let job = self.find(id).unwrap();
        let Some((then, why)) = job.end_at(now) else { return false };
        if then == OnExpiry::Drop {
            self.counters.dropped += 1;
            self.jobs.retain(|job| job.id != id);
        } else {
            job.come_back();
            job.bury(now, &why);
            self.counters.expired += 1;
        }
        true
    }

    /// `in_one_call`: it takes no others in the places of those that end.
    pub fn take(&mut self, latest: i64, limit: usize, in_one_call: bool) -> Vec<Vec<u8>> {
        self.reclaim();
        if self.is_paused() {
            return Vec::new();
        }
        let mut due: Vec<(i64, String)> = Vec::new();
        for job in self.jobs.iter().filter(|job| job.place == Place::Waiting && job.due <= latest) {
            due.push((job.due, job.id.clone()));
        }
        due.sort();
        let mut taken = Vec::new();
        for (at, (_, id)) in due.iter().enumerate() {
            if in_one_call && at >= limit && !taken.is_empty() {
                break;
            }
            if taken.len() < limit && !self.ends_late(id) {
                if in_one_call && at >= limit {
                    break; // only looked at
                }
                taken.push(self.find(id).unwrap().payload.clone());
                self.jobs.retain(|job| job.id != *id);
            }
        }
        self.counters.acked += taken.len() as u64;
        self.taken += taken.len() as u64;
        taken
    }
}
