//! Whether the keys of a queue are sound.

use super::Queue;
use crate::core::clock;
use crate::core::doctor::{Check, Level, doing, finding, unknown, unless_denied};
use crate::core::error::{Error, Result};
use crate::core::{reply, scripts};
use redis::Value;

/// How many of the leases that end first are looked at, less one.
const LEASES: usize = 499;
/// A worker takes back a lease that has ended within seconds.
const UNNOTICED_US: i64 = 60_000_000;

impl Queue {
    /// Checks the queue. `repair`: jobs of it that lie in no state go back to their place, or are buried where that is lost.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn examine(&self, repair: bool) -> Result<Vec<Check>> {
        let schema = unless_denied(self.examine_schema()).map_err(doing)?;
        if let Some(Check { level: Level::Error, .. }) = schema {
            return Ok(schema.into_iter().collect()); // nobody here can read its jobs
        }
        let repaired = if repair { Some(self.repair().map_err(doing)?) } else { None };
        // Before any script looks, and takes back the leases that have ended.
        let leases = unless_denied(self.examine_leases()).map_err(doing)?;
        let jobs = match repaired {
            Some(repaired) => Some(repaired),
            None => unless_denied(self.examine_jobs())?,
        };
        let or_unknown =
            |found: Option<Check>, check| found.unwrap_or_else(|| unknown(check, "the rights of a worker"));
        Ok(vec![or_unknown(schema, "schema"), or_unknown(leases, "leases"), or_unknown(jobs, "jobs")])
    }

    fn examine_schema(&self) -> Result<Check> {
        let known = self.client.run(|request, _, _| request.command(&[b"ZCARD", self.keys.waiting()]));
        match known.map_err(|error| self.naming_key(error)) {
            Ok(_) => Ok(finding("schema", Level::Ok, format!("queue '{}' has the schema of this version", self.name))),
            Err(Error::Server { code, .. }) if code == "DQSCHEMA" => Ok(finding(
                "schema",
                Level::Error,
                format!("queue '{}' was written by a newer version of delayqueue; update it here", self.name),
            )),
            Err(error) => Err(error),
        }
    }

    /// A lease that ended a while ago is one that no worker has noticed; a job without a lease can be settled by none.
    fn examine_leases(&self) -> Result<Check> {
        let [_, _, reserved, leases, ..] = self.keys.all();
        let most = LEASES.to_string();
        let ask = |command: &[&[u8]]| {
            let reply = self.client.run(|request, _, _| request.command(command));
            reply.map_err(|error| self.naming_key(error))
        };
        let now_us = reply::time_us(&ask(&[b"TIME"])?).unwrap_or(0) + clock::offset_us();
        let long_ago = (now_us - UNNOTICED_US).to_string();
        let ended = reply::int(ask(&[b"ZCOUNT", reserved, b"-inf", long_ago.as_bytes()])?).unwrap_or(0);
        let ids: Vec<Vec<u8>> =
            reply::all(ask(&[b"ZRANGE", reserved, b"0", most.as_bytes()])?)?.filter_map(reply::bytes).collect();
        // Workers go on meanwhile: only a job that is still reserved then, and still has no lease, is stuck.
        let mut stuck = ids;
        for (command, key, is_nil) in [("HMGET", leases, true), ("ZMSCORE", reserved, false), ("HMGET", leases, true)] {
            if !stuck.is_empty() {
                let command: Vec<&[u8]> =
                    [command.as_bytes(), key].into_iter().chain(stuck.iter().map(Vec::as_slice)).collect();
                let found = reply::all(ask(&command)?)?;
                stuck = stuck
                    .into_iter()
                    .zip(found)
                    .filter(|(_, value)| (*value == Value::Nil) == is_nil)
                    .map(|(id, _)| id)
                    .collect();
            }
        }
        let stuck = stuck.len();
        Ok(if stuck > 0 {
            finding(
                "leases",
                Level::Error,
                format!(
                    "{stuck} reserved jobs of queue '{}' have no lease, so no worker can settle them: somebody has deleted a key; run \
                     delayqueue doctor --repair",
                    self.name
                ),
            )
        } else if ended > 0 {
            finding(
                "leases",
                Level::Warn,
                format!(
                    "{ended} leases of queue '{}' ended over a minute ago, and no worker has looked since: start one, or their jobs wait for ever",
                    self.name
                ),
            )
        } else {
            finding("leases", Level::Ok, format!("no lease of queue '{}' is stuck", self.name))
        })
    }

    fn examine_jobs(&self) -> Result<Check> {
        let unplaced = self.stats()?.unplaced;
        Ok(match unplaced {
            0 => finding("jobs", Level::Ok, format!("every job of queue '{}' lies in one state", self.name)),
            1.. => finding(
                "jobs",
                Level::Error,
                format!(
                    "{unplaced} jobs of queue '{}' lie in no state and are never served: somebody has deleted a key. delayqueue doctor \
                     --repair buries those whose due time is lost",
                    self.name
                ),
            ),
            ..0 => finding(
                "jobs",
                Level::Warn,
                format!(
                    "queue '{}' has {} entries without a job, which workers drop when they meet them; jobs were deleted by hand",
                    self.name, -unplaced
                ),
            ),
        })
    }

    fn repair(&self) -> Result<Check> {
        let (mut cursor, mut back, mut buried) = ("0".to_owned(), 0, 0);
        loop {
            let mut reply = self.script(&scripts::REPAIR, &[cursor.as_bytes()])?;
            cursor = reply.text()?;
            back += reply.int()?;
            buried += reply.int()?;
            if cursor == "0" {
                let name = &self.name;
                let message = match (back, buried) {
                    (0, 0) => format!("every job of queue '{name}' lies in one state"),
                    (_, 0) => format!("{back} jobs of queue '{name}' lay in no state and are back in their place"),
                    _ => format!(
                        "{buried} jobs of queue '{name}' lay in no state: they are buried, because their due times are lost; kick() or \
                         reschedule() them. {back} others are back in their place"
                    ),
                };
                let level = if buried == 0 { Level::Ok } else { Level::Warn };
                return Ok(finding("jobs", level, message));
            }
        }
    }
}
