//! Whether the keys of a queue are sound.

use super::Queue;
use crate::core::doctor::{Check, Level, doing, finding};
use crate::core::error::{Error, Result};
use crate::core::scripts;

impl Queue {
    /// Checks the queue. `repair`: jobs of it that lie in no state become ready again.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn examine(&self, repair: bool) -> Result<Vec<Check>> {
        let schema = self.examine_schema().map_err(doing)?;
        if schema.level == Level::Error {
            return Ok(vec![schema]); // nobody here can read its jobs
        }
        let jobs = if repair { self.repair().map_err(doing)? } else { self.examine_jobs()? };
        Ok(vec![schema, jobs])
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

    fn examine_jobs(&self) -> Result<Check> {
        let unplaced = self.stats()?.unplaced;
        Ok(match unplaced {
            0 => finding("jobs", Level::Ok, format!("every job of queue '{}' lies in one state", self.name)),
            1.. => finding(
                "jobs",
                Level::Error,
                format!(
                    "{unplaced} jobs of queue '{}' lie in no state and are never served: somebody has deleted a key; run \
                     delayqueue doctor --repair",
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
        let (mut cursor, mut repaired) = ("0".to_owned(), 0);
        loop {
            let mut reply = self.script(&scripts::REPAIR, &[cursor.as_bytes()])?;
            cursor = reply.text()?;
            repaired += reply.int()?;
            if cursor == "0" {
                let message = match repaired {
                    0 => format!("every job of queue '{}' lies in one state", self.name),
                    _ => format!("{repaired} jobs of queue '{}' lay in no state and are ready again", self.name),
                };
                return Ok(finding("jobs", Level::Ok, message));
            }
        }
    }
}
