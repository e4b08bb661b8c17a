//! Consuming: queues are asked for jobs, and waited for if they have none. One script acknowledges what is done and leases the next jobs.

use super::Queue;
use super::ask::{ReserveOutcome, Source, Waited, Waiting, ask_all, doing};
use super::next_due::NextDue;
use super::settle::{Finished, runs_of};
use super::sleep::{Flow, Interrupts};
use super::thread::{Chore, ReserveCall};
use super::wait::Registration;
use crate::core::client::Repeat;
use crate::core::error::{Error, Result};
use crate::core::job::{JobId, LeaseReceipt, Reserved};
use crate::core::pool::Connections;
use crate::core::reply::{self, Leased, Reply};
use crate::core::scripts;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Most jobs of one round trip.
const MOST: usize = 500;

/// The request of a reserve: how many jobs to lease, and which to acknowledge on the way.
#[derive(Debug, Default)]
pub struct Fetch<'a> {
    /// 0: only to be told whether a job is ready.
    pub max: usize,
    pub done: Vec<Finished<'a>>,
    /// Positions in `done` of jobs that are not ours any more, once the reserve has been answered.
    pub lost: Vec<usize>,
}

/// Leases up to `max` jobs of the first queue that has any, waiting up to `timeout` (`None`: for ever); with `max` 0 it takes none and only
/// waits for a ready one. Tells the queue by its index. `None`: nothing in time, or [`Flow::Return`].
///
/// # Errors
/// [`Error::Interrupted`] after [`Flow::Raise`]; connection and server errors: [`Error::unfinished`] only without a timeout.
pub fn reserve_from(
    queues: &[Queue],
    max: usize,
    timeout: Option<Duration>,
    interrupts: &mut dyn Interrupts,
) -> Result<Option<(usize, Vec<Reserved>)>> {
    match wait_for(queues, timeout, interrupts, &mut UpTo(max))? {
        Waited::Unfinished => Err(Error::unfinished(false).while_doing(|| doing("reserving from", queues))),
        Waited::Jobs(index, jobs) => Ok(Some((index, jobs))),
        Waited::Nothing | Waited::Left(Flow::Continue | Flow::Return) => Ok(None),
        Waited::Left(Flow::Raise) => Err(Error::Interrupted),
    }
}

/// Leases so many jobs at most, and acknowledges none.
struct UpTo(usize);

impl Source for UpTo {
    fn reserve(
        &mut self,
        _index: usize,
        queue: &Queue,
        connections: &mut Connections,
        waiting: Option<Waiting<'_>>,
    ) -> Result<ReserveOutcome> {
        queue.reserve_now(connections, &mut Fetch { max: self.0, ..Fetch::default() }, waiting)
    }
}

/// Asks the queues, first one first and the partitions of one in any order, until one has jobs or the time is over (`None`: never). Zero: looks
/// at each of them once, and asks as often as Redis needs to take back what it finds, within the time of one operation.
///
/// # Errors
/// Connection and server errors.
pub fn wait_for(
    queues: &[Queue],
    timeout: Option<Duration>,
    interrupts: &mut dyn Interrupts,
    source: &mut dyn Source,
) -> Result<Waited> {
    let deadline = timeout.filter(|timeout| !timeout.is_zero()).and_then(|timeout| Instant::now().checked_add(timeout));
    let mut connections = Connections::default();
    let mut looks = Vec::new();
    let mut result = ask_all(queues, &mut connections, deadline, interrupts, source, &mut looks);
    if matches!(result, Ok(Waited::Nothing | Waited::Unfinished)) && timeout != Some(Duration::ZERO) {
        let mut registration = Registration::new(queues);
        result = registration.wait(&mut connections, looks, deadline, interrupts, source);
        registration.end(&mut connections);
    }
    if let Some(queue) = queues.first() {
        queue.client.give_back(connections);
    }
    result
}

impl Queue {
    /// Asks once, without waiting.
    ///
    /// # Errors
    /// Connection and server errors; Redis may have acknowledged the jobs all the same.
    pub fn reserve_now(
        &self,
        connections: &mut Connections,
        fetch: &mut Fetch<'_>,
        waiting: Option<Waiting<'_>>,
    ) -> Result<ReserveOutcome> {
        self.client.in_one_operation(|| self.reserve_in_time(connections, fetch, waiting))
    }

    fn reserve_in_time(
        &self,
        connections: &mut Connections,
        fetch: &mut Fetch<'_>,
        waiting: Option<Waiting<'_>>,
    ) -> Result<ReserveOutcome> {
        let doing = |error: Error| error.while_doing(|| format!("reserving from queue '{}'", self.name));
        let max = fetch.max.min(MOST).to_string();
        let (waiter, at_most) = waiting.map_or(("", Duration::ZERO), |waiting| (waiting.name, waiting.at_most));
        let call = ReserveCall::begin(self);
        let [number, max_bytes, at_most] =
            [u128::from(call.number), self.most_bytes(), at_most.as_micros()].map(|number| number.to_string());
        let runs = runs_of(&fetch.done);
        let (mut sent, mut was_lost, mut wants_snapshot) = (Instant::now(), false, false);
        let value = self.client.run_on(connections, Repeat::Yes, &mut |request, attempt, connection| {
            sent = Instant::now();
            was_lost = attempt.is_repeat;
            wants_snapshot = self.is_due_over(connection, Chore::Snapshot);
            let marks = match (call.is_repeat || attempt.is_repeat, wants_snapshot) {
                (false, false) => "",
                (true, false) => "r",
                (false, true) => "s",
                (true, true) => "rs",
            };
            let head = [&call.consumer, number.as_str(), &max, marks, &max_bytes, waiter, &at_most, &runs];
            let mut args = head.map(str::as_bytes).to_vec();
            args.extend(fetch.done.iter().flat_map(|job| [job.receipt.id.as_bytes(), &job.receipt.lease]));
            self.write_script(request, &scripts::RESERVE, &args);
        });
        let mut reply = Reply::new(value.map_err(|error| doing(self.naming_key(error)))?).map_err(doing)?;
        call.answered(self);
        if wants_snapshot {
            self.has_done(Chore::Snapshot);
        }
        let lost = reply.positions().map_err(doing)?;
        // After a lost answer, a job that is gone was acknowledged by the try before.
        if !was_lost {
            fetch.lost = lost;
        }
        match reply.word.as_str() {
            "JOBS" => {
                let jobs = self.readable(reply.leased(&self.name, sent).map_err(doing)?).map_err(doing)?;
                Ok(if jobs.is_empty() { ReserveOutcome::Again } else { ReserveOutcome::Jobs(jobs) })
            }
            "READY" if fetch.max == 0 => Ok(ReserveOutcome::Jobs(Vec::new())),
            _ => Ok(NextDue::read(&mut reply).map_err(doing)?.map_or(ReserveOutcome::Again, ReserveOutcome::Nothing)),
        }
    }

    /// As much as a network of 8 Mbit/s carries within the time that an operation has: the client can always read a batch in time, and within
    /// Redis' output limits.
    pub(super) fn most_bytes(&self) -> u128 {
        (self.client.read_timeout().as_millis() * 1000).clamp(64 << 10, 8 << 20)
    }

    /// Opens the jobs. Buries those whose records cannot be read, or that cannot be opened, so that no consumer meets them again: as many as
    /// there is time for.
    fn readable(&self, leased: Leased) -> Result<Vec<Reserved>> {
        let mut jobs = Vec::with_capacity(leased.jobs.len());
        let mut bad: Vec<(LeaseReceipt, Cow<'_, str>)> =
            leased.damaged.into_iter().map(|receipt| (receipt, "corrupt record".into())).collect();
        for mut job in leased.jobs {
            let opened = match (&self.keyring, &job.options.seal) {
                (None, None) => Ok(()),
                _ => self.open(&job.id, &mut job.options, &mut job.payload),
            };
            match opened {
                Ok(()) => jobs.push(job),
                Err(why) => {
                    let reason = self.unopened_reason(&job.id, &why);
                    bad.push((job.receipt, reason.into()));
                }
            }
        }
        let last_round = self.client.last_round();
        for (LeaseReceipt { id, lease }, reason) in bad.iter().take_while(|_| Instant::now() < last_round) {
            let buried = self.script(&scripts::BURY, &[id.as_bytes(), lease, b"", reason.as_bytes(), b"buried"]);
            // Jobs in hand go first; the one that could not be buried returns when its lease ends.
            if jobs.is_empty() {
                buried?;
            }
        }
        Ok(jobs)
    }

    /// Leases one given job, if it is ready, delayed or buried.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn reserve_job(&self, id: &JobId) -> Result<Option<Reserved>> {
        self.client
            .in_one_operation(|| self.reserve_job_in_time(id))
            .map_err(|error: Error| error.while_doing(|| format!("reserving job '{id}' of queue '{}'", self.name)))
    }

    fn reserve_job_in_time(&self, id: &JobId) -> Result<Option<Reserved>> {
        let last_round = self.client.last_round();
        loop {
            let call = ReserveCall::begin(self);
            let number = call.number.to_string();
            let mut sent = Instant::now();
            let value = self.client.run(|request, attempt, _| {
                sent = Instant::now();
                let repeat: &[u8] = if call.is_repeat || attempt.is_repeat { b"1" } else { b"0" };
                let args = [call.consumer.as_bytes(), number.as_bytes(), repeat, id.as_bytes()];
                self.write_script(request, &scripts::RESERVE_JOB, &args);
            });
            let mut reply = Reply::new(value.map_err(|error| self.naming_key(error))?)?;
            call.answered(self);
            match reply.word.as_str() {
                "JOBS" => {
                    reply.positions()?;
                    return Ok(self.readable(reply.leased(&self.name, sent)?)?.pop());
                }
                "MISSING" => return Ok(None),
                "AGAIN" if Instant::now() >= last_round => return Err(Error::unfinished(false)),
                "AGAIN" => {}
                _ => return Err(reply::unexpected()),
            }
        }
    }
}
