//! One queue over several hash tags, so that a cluster spreads it over its nodes. Each partition is a [`Queue`] of its own: order, leases and
//! fencing numbers hold within it. A job lies in the partition that its id chooses.

mod changes;
mod groups;
mod homes;
mod looks;
mod once;

use super::doctor::{Check, Level, examine_servers, unless_denied};
use super::error::Result;
use super::groups::Group;
use super::job::{JobId, JobInfo, NewJob, Reserved, State};
use super::queue::{
    Content, Interrupts, Queue, Stats, Taken, firsts_of, random_unit, reserve_from, stats_of, that_have, which_have,
};
use super::registry::Registry;
use homes::homes;
use std::collections::BTreeMap;
use std::time::Duration;

/// A queue by its partitions. An operation that needs no more than one of four ways is asked of the partitions by these: [`Partitions::first`]
/// answers for the queue, [`Partitions::each`] asks all, [`Partitions::sum`] changes all, and [`Partitions::at_home`] finds a job's own.
#[derive(Clone)]
pub struct Partitions {
    /// The one that a queue has which is not spread.
    first: Queue,
    further: Vec<Queue>,
}

impl Partitions {
    #[must_use]
    pub fn new(queue: &Queue, count: u16) -> Self {
        let first = queue.with_share_of_capacity(count);
        let further = (1..count).map(|number| first.partition(queue.name(), number)).collect();
        Self { first, further }
    }

    /// Over how many partitions the queue is spread.
    #[must_use]
    pub fn count_of_parts(&self) -> usize {
        1 + self.further.len()
    }

    fn parts(&self) -> impl Iterator<Item = &Queue> + Clone {
        std::iter::once(&self.first).chain(&self.further)
    }

    fn all(&self) -> Vec<&Queue> {
        self.parts().collect()
    }

    fn part(&self, number: usize) -> &Queue {
        number.checked_sub(1).and_then(|at| self.further.get(at)).unwrap_or(&self.first)
    }

    /// The partitions of these queues, in their order.
    #[must_use]
    pub fn of_all(&self, names: &[String]) -> Vec<Queue> {
        let of_name = |name: &String| {
            let Self { first, further } = self.named(name);
            std::iter::once(first).chain(further)
        };
        names.iter().flat_map(of_name).collect()
    }

    /// The queue of this name, by as many partitions.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        if name == self.name() {
            return self.clone();
        }
        let further = self.further.iter().zip(1..).map(|(part, number)| part.partition(name, number));
        Self { first: self.first.partition(name, 0), further: further.collect() }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        self.first.name()
    }

    /// The first partition, which is where every queue of this name, prefix and Redis begins.
    #[must_use]
    pub fn first(&self) -> &Queue {
        &self.first
    }

    /// Closes the connections.
    pub fn close(&self) {
        self.first.close();
    }

    fn home(&self, name: &[u8]) -> usize {
        homes(name, self.count_of_parts()).last().unwrap_or(0)
    }

    /// A job and where it is pushed to: where its group lies, else where its id does. An id that is made here is one that lies with its group,
    /// so that one look finds the job.
    fn placed(&self, job: NewJob) -> (usize, NewJob) {
        if self.further.is_empty() {
            return (0, job);
        }
        let home = job.options.group().map(|group| self.home(group));
        let id = job.id.unwrap_or_else(|| {
            let mut ids = std::iter::repeat_with(JobId::generate).take(100 * self.count_of_parts());
            ids.find(|id| home.is_none_or(|home| self.home(id.as_bytes()) == home)).unwrap_or_else(JobId::generate)
        });
        (home.unwrap_or_else(|| self.home(id.as_bytes())), NewJob { id: Some(id), ..job })
    }

    /// Asks the partition of a job, then those where it was pushed to when there were fewer, and then one where its group may lie, until one has
    /// it: an answer that is neither false nor `None`.
    ///
    /// # Errors
    /// As `ask`.
    pub fn at_home<T: Answer>(&self, id: &JobId, ask: impl Fn(&Queue) -> Result<T>) -> Result<T> {
        let mut homes: Vec<usize> = homes(id.as_bytes(), self.count_of_parts()).collect();
        loop {
            let answer = ask(self.part(homes.pop().unwrap_or(0)))?;
            if answer.is_there() {
                return Ok(answer);
            }
            if homes.is_empty() {
                return match self.elsewhere(std::slice::from_ref(id))?.first() {
                    Some((number, _)) => ask(self.part(*number)),
                    None => Ok(answer),
                };
            }
        }
    }

    /// Asks the partitions in which jobs of a group may lie, or all, one after the other. What many programs look at is asked of all together
    /// instead (`queue/each.rs`).
    ///
    /// # Errors
    /// As `ask`.
    pub fn each<T>(&self, group: Option<&Group>, ask: impl Fn(&Queue) -> Result<T>) -> Result<Vec<T>> {
        self.homes_of(group).map(|number| ask(self.part(number))).collect()
    }

    /// Changes the partitions in which jobs of a group may lie, or all; `change` returns how many it changed. One that fails does not keep the
    /// others from their change, and the error says what was done: `done` is as in "jobs deleted".
    ///
    /// # Errors
    /// As `change`; [`Error::Connection`] with `ambiguous` when some partitions failed and others did not.
    pub fn sum(&self, group: Option<&Group>, done: &str, change: impl Fn(&Queue) -> Result<u64>) -> Result<u64> {
        self.change_each(self.homes_of(group), done, |number, _| change(self.part(number)))
    }

    /// The partitions in which jobs of a group may lie, or all.
    fn homes_of(&self, group: Option<&Group>) -> std::vec::IntoIter<usize> {
        let numbers: Vec<usize> = match group {
            Some(group) => homes(group.as_bytes(), self.count_of_parts()).collect(),
            None => (0..self.count_of_parts()).collect(),
        };
        numbers.into_iter()
    }

    /// Which of these ids are in which partitions beside their homes, as jobs of groups may be.
    fn elsewhere(&self, ids: &[JobId]) -> Result<Vec<(usize, JobId)>> {
        let count = self.count_of_parts();
        let others = |id: &JobId| {
            let own: Vec<usize> = homes(id.as_bytes(), count).collect();
            (0..self.count_of_parts()).filter(move |number| !own.contains(number))
        };
        let asked: Vec<(usize, &JobId)> = ids.iter().flat_map(|id| others(id).map(move |at| (at, id))).collect();
        let jobs: Vec<(&Queue, &JobId)> = asked.iter().map(|(number, id)| (self.part(*number), *id)).collect();
        let found = which_have(&jobs)?;
        let there = asked.into_iter().zip(found).filter(|(_, is_there)| *is_there);
        Ok(there.map(|((number, id), _)| (number, id.clone())).collect())
    }

    /// # Errors
    /// As [`Queue::push`].
    pub fn push(&self, job: NewJob) -> Result<JobId> {
        let (home, job) = self.placed(job);
        self.part(home).push(&job)
    }

    /// Adds many jobs, in chunks each of which is added whole or not at all, partition by partition. `stored` gets the ids of those that are
    /// stored, in the order of the jobs.
    ///
    /// # Errors
    /// As [`Queue::push`]; the chunks before the failing one are stored.
    pub fn push_many(&self, jobs: Vec<NewJob>, stored: &mut Vec<JobId>) -> Result<()> {
        if self.further.is_empty() {
            return self.first.push_many(&jobs, stored);
        }
        let mut chosen: BTreeMap<usize, (Vec<usize>, Vec<NewJob>)> = BTreeMap::new();
        for (position, job) in jobs.into_iter().enumerate() {
            let (home, job) = self.placed(job);
            let (positions, jobs) = chosen.entry(home).or_default();
            positions.push(position);
            jobs.push(job);
        }
        let mut all_here: Vec<(usize, JobId)> = Vec::new();
        let result = chosen.iter().try_for_each(|(home, (positions, jobs))| {
            let mut here = Vec::new();
            let result = self.part(*home).push_many(jobs, &mut here);
            all_here.extend(positions.iter().copied().zip(here));
            result.map_err(|error| error.with_items_at(|here| positions.get(here).copied().unwrap_or(here)))
        });
        all_here.sort_unstable_by_key(|(position, _)| *position);
        stored.extend(all_here.into_iter().map(|(_, id)| id));
        result
    }

    /// # Errors
    /// As [`Queue::try_push`].
    pub fn try_push(&self, job: NewJob) -> Result<Option<JobId>> {
        let (home, job) = self.placed(job);
        self.part(home).try_push(job)
    }

    /// Leases up to `max` jobs of the first watched queue that has any, waiting up to `timeout` (`None`: for ever), and tells the partition
    /// from which they are.
    ///
    /// # Errors
    /// As [`reserve_from`].
    pub fn reserve(
        &self,
        watch: &[String],
        max: usize,
        timeout: Option<Duration>,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Option<(Queue, Vec<Reserved>)>> {
        let mut parts = self.of_all(watch);
        let found = reserve_from(&parts, max.max(1), timeout, interrupts)?;
        Ok(found.map(|(at, jobs)| (parts.swap_remove(at), jobs)))
    }

    /// Waits as [`Partitions::reserve`] does until one of the queues has a ready job, and takes none. True: there was one.
    ///
    /// # Errors
    /// As [`reserve_from`].
    pub fn wait(&self, watch: &[String], timeout: Option<Duration>, interrupts: &mut dyn Interrupts) -> Result<bool> {
        Ok(reserve_from(&self.of_all(watch), 0, timeout, interrupts)?.is_some())
    }

    /// The job that is first in a state: of all partitions the one that is served, falls due, or was buried first.
    ///
    /// # Errors
    /// As [`Queue::peek`].
    pub fn peek_state(&self, state: State) -> Result<Option<JobInfo>> {
        let found = firsts_of(&self.all(), state)?;
        // Priorities matter only in the order of serving.
        let rank = |job: &JobInfo| if state == State::Ready { job.place().priority } else { 0 };
        Ok(found.into_iter().flatten().min_by_key(|job| (rank(job), job.due_at_us)))
    }

    /// The workers are missing where the user may not look at the list of them, or where its node of a cluster is away.
    ///
    /// # Errors
    /// As [`Queue::stats`].
    pub fn stats(&self) -> Result<Stats> {
        let mut sum = Stats::default();
        stats_of(&self.all())?.iter().for_each(|part| sum.add(part));
        Ok(Stats { workers: Registry::of(&self.first).headcount(self.name()).ok(), ..sum })
    }

    /// The classic consumer. It begins with any partition, so that none starves. The error of one that fails comes when nothing was taken
    /// before: what was taken is deleted, and must reach the caller.
    ///
    /// # Errors
    /// As [`Queue::take`].
    pub fn take(&self, max_due_at_us: Option<i64>, limit: usize) -> Result<Vec<Taken>> {
        let with_jobs = that_have(&self.all(), Content::Jobs)?;
        let begin = (random_unit() * with_jobs.len() as f64) as usize;
        let mut payloads = Vec::new();
        for (_, part) in with_jobs.iter().cycle().skip(begin).take(with_jobs.len()) {
            match part.take(max_due_at_us, limit - payloads.len()) {
                Ok(more) => payloads.extend(more),
                Err(error) if payloads.is_empty() => return Err(error),
                Err(_) => break,
            }
            if payloads.len() >= limit {
                break;
            }
        }
        Ok(payloads)
    }

    /// Forgets the queue, with all partitions that the index knows: its counters, and its name in the index. False if it is in use; the
    /// counters of partitions that are not may be gone then.
    ///
    /// # Errors
    /// As [`Queue::forget`].
    pub fn forget(&self) -> Result<bool> {
        let known = u16::try_from(self.first.known_partitions()?).unwrap_or(u16::MAX);
        let unknown = (self.count_of_parts() as u16..known).map(|number| self.first.partition(self.name(), number));
        let parts: Vec<Queue> = self.parts().cloned().chain(unknown).collect();
        for part in &parts {
            if !part.forget()? {
                return Ok(false);
            }
        }
        self.first.unlist()?;
        // A producer may have entered it again, for a job that it has pushed just before the name was taken out.
        for part in &parts {
            if part.count(None)? > 0 {
                part.enlist()?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks the servers and the queue. `repair`: jobs that lie in no state become ready again.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn doctor(&self, repair: bool) -> Result<Vec<Check>> {
        let mut checks = examine_servers(self.first.client(), self.first.max_payload())?;
        let known = unless_denied(self.first.known_partitions())?.unwrap_or(0);
        if known > self.count_of_parts() as u64 {
            let message = format!(
                "queue '{}' has jobs in {known} partitions, and this client looks at {}: raise its option 'partitions'",
                self.name(),
                self.count_of_parts()
            );
            checks.push(Check { level: Level::Error, check: "partitions", message });
        }
        for part in self.parts() {
            checks.extend(part.examine(repair)?);
        }
        Ok(checks)
    }
}

/// An answer of [`Partitions::at_home`] that says whether the job was there.
pub trait Answer {
    fn is_there(&self) -> bool;
}

impl Answer for bool {
    fn is_there(&self) -> bool {
        *self
    }
}

impl<T> Answer for Option<T> {
    fn is_there(&self) -> bool {
        self.is_some()
    }
}
