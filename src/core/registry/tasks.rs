//! Counters of runs by the names of tasks, for all queues under a prefix. Loops add what they have counted when they write their entries. They only
//! ever grow, so that rates are true over restarts; a worker that is killed loses what it has not written.

use super::{Registry, ask};
use crate::core::client::Request;
use crate::core::error::Result;
use crate::core::{keys, reply};
use redis::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Tasks with a name of their own: whoever pushes chooses names.
const MOST_TASKS: usize = 200;
/// What all further ones count as.
const OTHERS: &str = "others";
/// Bytes of the longest name.
const LONGEST_NAME: usize = 100;

/// What happened with the jobs of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskCount {
    /// Calls of handlers.
    pub runs: u64,
    /// Those that have failed.
    pub failures: u64,
    /// How long they took, all together.
    pub ran_us: u64,
}

/// By the names of tasks.
pub type TaskCounts = BTreeMap<String, TaskCount>;

impl TaskCount {
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.failures += other.failures;
        self.ran_us += other.ran_us;
    }

    /// One run.
    #[must_use]
    pub fn of_run(time: Duration, has_failed: bool) -> Self {
        Self { runs: 1, failures: u64::from(has_failed), ran_us: u64::try_from(time.as_micros()).unwrap_or(u64::MAX) }
    }
}

/// The name under which a task is counted: its beginning, in one line.
#[must_use]
pub fn task_name(text: &str) -> String {
    let begin = (0..=LONGEST_NAME.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    begin.replace(char::is_control, "?")
}

/// Fields of the hash: the name, and behind a newline what it counts.
const COUNTS: [&str; 3] = ["runs", "failures", "us"];

impl Registry {
    /// Adds to the counters.
    ///
    /// # Errors
    /// Connection and server errors; one that is not ambiguous has added nothing.
    pub fn count_tasks(&self, counted: &TaskCounts) -> Result<()> {
        let key = keys::tasks(&self.prefix);
        let runs: Vec<String> = counted.keys().map(|name| format!("{name}\nruns")).collect();
        let mut known = ask(&self.client, true, |request| {
            request.command(&[b"HLEN", key.as_bytes()]);
            let names = runs.iter().map(String::as_bytes);
            request.command(&[b"HMGET".as_slice(), key.as_bytes()].into_iter().chain(names).collect::<Vec<_>>());
        })?;
        let fields = known.next().and_then(reply::int).and_then(|fields| usize::try_from(fields).ok()).unwrap_or(0);
        let found = known.next().map(reply::all).transpose()?.into_iter().flatten();
        let mut room = MOST_TASKS.saturating_sub(fields / COUNTS.len());
        let mut changes = TaskCounts::new();
        for ((name, count), known) in counted.iter().zip(found) {
            let is_new = known == Value::Nil;
            let has_name = !is_new || room > 0;
            room -= usize::from(is_new && has_name);
            let name = if has_name { name } else { OTHERS };
            changes.entry(name.to_owned()).or_default().add(*count);
        }
        // Not repeated: it would count twice.
        ask(&self.client, false, |request: &mut Request| {
            for (name, count) in &changes {
                for (what, number) in COUNTS.iter().zip([count.runs, count.failures, count.ran_us]) {
                    let (field, number) = (format!("{name}\n{what}"), number.to_string());
                    request.command(&[b"HINCRBY", key.as_bytes(), field.as_bytes(), number.as_bytes()]);
                }
            }
        })
        .map(drop)
    }

    /// All that loops have counted.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn tasks(&self) -> Result<TaskCounts> {
        let key = keys::tasks(&self.prefix);
        let read = || {
            let all = self.client.run(|request, _, _| request.command(&[b"HGETALL", key.as_bytes()]))?;
            let mut tasks = TaskCounts::new();
            for (field, number) in reply::fields(all).ok_or_else(reply::unexpected)? {
                let (Ok(field), Some(number)) = (String::from_utf8(field), reply::int(Value::BulkString(number)))
                else {
                    continue;
                };
                let Some((name, what)) = field.rsplit_once('\n') else { continue };
                let (count, number) = (tasks.entry(name.to_owned()).or_default(), u64::try_from(number).unwrap_or(0));
                match what {
                    "runs" => count.runs = number,
                    "failures" => count.failures = number,
                    "us" => count.ran_us = number,
                    _ => {}
                }
            }
            Ok(tasks)
        };
        read()
            .map_err(|error: crate::core::error::Error| error.while_doing(|| "looking at the counters of tasks".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_in_one_line() {
        assert_eq!(task_name("App\\Jobs\\Mail"), "App\\Jobs\\Mail");
        assert_eq!(task_name("a\nb"), "a?b");
        assert_eq!(task_name(&"ü".repeat(60)), "ü".repeat(50));
    }
}
