//! Groups of a queue: their limits, their pauses and those of the queue, and what there is of them.

use super::Queue;
use super::manage::{count, flag, partly, unknown};
use crate::core::error::{Error, Result};
use crate::core::groups::{AllLimits, Group, GroupLimits, GroupStats};
use crate::core::job::{JobInfo, State};
use crate::core::reply::{self, Reply};
use crate::core::scripts;

/// A group as scripts take it: its name, or nothing for the queue, or for all others.
fn name(group: Option<&Group>) -> &[u8] {
    group.map_or(b"", Group::as_bytes)
}

fn us(ms: u64) -> String {
    ms.saturating_mul(1000).to_string()
}

impl Queue {
    fn on_group<'a>(&'a self, what: &'a str, group: Option<&'a Group>) -> impl Fn(Error) -> Error + 'a {
        move |error| {
            error.while_doing(|| match group {
                Some(group) => format!("{what} group '{group}' of queue '{}'", self.name),
                None => format!("{what} queue '{}'", self.name),
            })
        }
    }

    /// The limits of a group, or (`None`) of each group that has none of its own; without limits it forgets them.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn limit_groups(&self, group: Option<&Group>, limits: Option<&GroupLimits>) -> Result<()> {
        let text = limits.map(GroupLimits::encode).unwrap_or_default();
        let mut from = Vec::new();
        loop {
            let args = [name(group), text.as_bytes(), from.as_slice()];
            let answer = self.script(&scripts::LIMIT_GROUPS, &args).and_then(|mut reply| match reply.word.as_str() {
                "OK" => Ok(None),
                "MORE" => reply.bytes().map(Some),
                _ => Err(reply::unexpected()),
            });
            match answer.map_err(self.on_group("limiting", group))? {
                None => return Ok(()),
                // Each part is a bounded one of all the groups that there are: it takes the time of an operation.
                Some(rest) => from = rest,
            }
        }
    }

    /// The limits of all jobs together; without them it forgets them.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn limit_queue(&self, limits: Option<&GroupLimits>) -> Result<()> {
        let text = limits.map(GroupLimits::encode).unwrap_or_default();
        self.script(&scripts::LIMIT_QUEUE, &[text.as_bytes()]).map(drop).map_err(self.on_queue("limiting"))
    }

    /// All limits that are set.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn limits(&self) -> Result<AllLimits> {
        let (mut all, mut cursor) = (Vec::new(), b"0".to_vec());
        loop {
            let page = self.client.run(|request, _, _| {
                request.command(&[b"HSCAN", self.keys.limits(), &cursor, b"COUNT", b"500"]);
            });
            let page = page.and_then(|page| reply::scanned(page).ok_or_else(reply::unexpected));
            let (next, fields) =
                page.map_err(|error| self.on_queue("looking at the limits of")(self.naming_key(error)))?;
            all.extend(fields);
            if next == b"0" {
                return Ok(AllLimits::read(all));
            }
            cursor = next;
        }
    }

    /// No job of the group, or of the queue, is served for so long; never shortens what keeps it closed already.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn rate_limit(&self, for_ms: u64, group: Option<&Group>) -> Result<()> {
        let args = [us(for_ms).into_bytes(), name(group).to_vec()];
        let args = args.each_ref().map(Vec::as_slice);
        self.script(&scripts::RATE_LIMIT, &args).map(drop).map_err(self.on_group("limiting the rate of", group))
    }

    /// `reserve()` of every process gives nothing of the queue, or of a group, until [`Queue::resume`], or until the time has passed.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn pause(&self, for_ms: Option<u64>, group: Option<&Group>) -> Result<()> {
        let text = for_ms.map(us).unwrap_or_default();
        self.script(&scripts::PAUSE, &[text.as_bytes(), name(group)]).map(drop).map_err(self.on_group("pausing", group))
    }

    /// # Errors
    /// Connection and server errors.
    pub fn resume(&self, group: Option<&Group>) -> Result<()> {
        self.script(&scripts::RESUME, &[name(group)]).map(drop).map_err(self.on_group("resuming", group))
    }

    /// # Errors
    /// Connection and server errors.
    pub fn is_paused(&self, group: Option<&Group>) -> Result<bool> {
        match group {
            Some(group) => Ok(self.group_stats(group)?.is_paused),
            None => Ok(self.stats()?.paused),
        }
    }

    /// Removes the waiting jobs of a group, with `reserved` also those that consumers hold, in bounded steps; returns how many.
    ///
    /// # Errors
    /// As [`Queue::purge`].
    pub fn cancel_group(&self, group: &Group, reserved: bool) -> Result<u64> {
        let doing = self.on_group("cancelling", Some(group));
        let (mut cancelled, mut was_ever_lost) = (0, false);
        loop {
            let answer = self.script_again(&scripts::CANCEL_GROUP, &[group.as_bytes(), flag(reserved)]);
            let answer = answer.and_then(|(mut reply, was_lost)| Ok((reply.counts()?, was_lost)));
            let ([more, left], was_lost) = answer.map_err(|error| {
                doing(match was_ever_lost {
                    true => Error::in_doubt("an answer was lost, and jobs are deleted", error),
                    false => partly(cancelled, "cancelled", error),
                })
            })?;
            was_ever_lost |= was_lost;
            cancelled += more;
            if left == 0 {
                break;
            }
        }
        match was_ever_lost {
            true => Err(doing(unknown("the jobs are gone, how many there were is unknown"))),
            false => Ok(cancelled),
        }
    }

    /// # Errors
    /// Connection and server errors.
    pub fn group_stats(&self, group: &Group) -> Result<GroupStats> {
        let doing = self.on_group("looking at", Some(group));
        let (reply, _) = self.script_again(&scripts::GROUP_STATS, &[group.as_bytes()]).map_err(&doing)?;
        read_stats(reply).map_err(doing)
    }

    /// Names of groups that have waiting or reserved jobs, in the order of their bytes, from behind a name on.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn groups(&self, limit: u64, after: &[u8]) -> Result<Vec<Vec<u8>>> {
        const PAGE: u64 = 200;
        let mut names: Vec<Vec<u8>> = Vec::new();
        while (names.len() as u64) < limit {
            let want = (limit - names.len() as u64).min(PAGE);
            let many = want.to_string();
            let last = names.last().map_or(after, Vec::as_slice);
            let reply = self.script(&scripts::GROUPS, &[many.as_bytes(), last]);
            let page = reply.and_then(Reply::rest).map_err(self.on_queue("looking at the groups of"))?;
            let is_last = (page.len() as u64) < want;
            names.extend(page);
            if is_last {
                break;
            }
        }
        Ok(names)
    }

    /// A page of the jobs of a group in one state, in the order of the group.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn list_group(&self, group: &Group, state: State, offset: u64, limit: u64) -> Result<Vec<JobInfo>> {
        let doing = self.on_group("looking at", Some(group));
        let (mut jobs, mut skip, mut from) = (Vec::new(), offset, Vec::new());
        while (jobs.len() as u64) < limit {
            let want = (limit - jobs.len() as u64).saturating_add(skip).min(200).to_string();
            let bytes = self.most_bytes().to_string();
            let args = [group.as_bytes(), state.word().as_bytes(), &from, want.as_bytes(), bytes.as_bytes()];
            let (mut reply, _) = self.script_again(&scripts::LIST_GROUP, &args).map_err(&doing)?;
            reply.text().map_err(&doing)?;
            from = reply.bytes().map_err(&doing)?;
            while !reply.is_at_end() {
                let info = self.looked_at(reply.info(&self.name, state).map_err(&doing)?);
                match skip.checked_sub(1) {
                    Some(left) => skip = left,
                    None => jobs.push(info),
                }
            }
            if from.is_empty() {
                break;
            }
        }
        jobs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(jobs)
    }
}

fn read_stats(mut reply: Reply) -> Result<GroupStats> {
    Ok(GroupStats {
        waiting: count(reply.int()?),
        reserved: count(reply.int()?),
        next_turn_at_us: reply.optional_int()?,
        closed_until_us: reply.optional_int()?,
        is_paused: reply.int()? == 1,
    })
}
