//! Asks many queues by script whether they have a job, in one round trip. It takes none.

use super::Queue;
use super::flight::script_each;
use super::idle_check::REGISTERED_FOR;
use super::next_due::{NextDue, jittered};
use super::thread::{Chore, answered_consumer};
use crate::core::error::Result;
use crate::core::pool::Connections;
use crate::core::scripts;
use std::sync::Arc;

/// When there may be something to do in queues that have nothing now. `waiters`: the names under which a waiter registers in each of them; none:
/// it only asks. `None`: there is a job, or Redis has some housekeeping to do first, or its node of a cluster is away; a reserve finds out.
///
/// A queue that has not answered the last reserve of this thread is left out: that has to be repeated, whatever is ready.
///
/// # Errors
/// As [`script_each`].
pub(super) fn ask_ahead(
    queues: &[&Queue],
    waiters: &[String],
    connections: &mut Connections,
) -> Result<Vec<Option<NextDue>>> {
    let asked: Vec<Asked<'_>> = queues
        .iter()
        .enumerate()
        .filter_map(|(at, queue)| {
            let (consumer, waiter) = (answered_consumer(queue)?, waiters.get(at).map_or("", String::as_str));
            Some(Asked { at, queue, consumer, waiter, wants_snapshot: queue.is_due(Chore::Snapshot) })
        })
        .collect();
    let args = |place: usize| asked.get(place).map_or_else(Vec::new, Asked::args);
    let of_asked: Vec<&Queue> = asked.iter().map(|asked| asked.queue).collect();
    let mut found = vec![None; queues.len()];
    for (asked, answer) in asked.iter().zip(script_each(&scripts::RESERVE, &of_asked, connections, &args)?) {
        let Ok(mut answer) = answer else { continue };
        if asked.wants_snapshot {
            asked.queue.has_done(Chore::Snapshot);
        }
        answer.text()?; // of the jobs that are acknowledged on the way: there are none
        if let Some(found) = found.get_mut(asked.at) {
            *found = if answer.word == "READY" { None } else { NextDue::read(&mut answer)? };
        }
    }
    Ok(found)
}

/// One call of `reserve.lua`.
struct Asked<'a> {
    at: usize,
    queue: &'a Queue,
    consumer: Arc<str>,
    waiter: &'a str,
    wants_snapshot: bool,
}

impl Asked<'_> {
    fn args(&self) -> Vec<Vec<u8>> {
        let at_most = jittered(REGISTERED_FOR, self.waiter).as_micros().to_string();
        let marks = if self.wants_snapshot { "s" } else { "" };
        let args = [&self.consumer, "0", "0", marks, "0", self.waiter, &at_most, ""];
        args.iter().map(|text| text.as_bytes().to_vec()).collect()
    }
}
