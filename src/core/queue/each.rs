//! Looks at the partitions of a queue that is spread, all of them together.

use super::Queue;
use super::flight::{ask_each, read_each};
use super::stats::Stats;
use crate::core::client::Request;
use crate::core::error::Result;
use crate::core::groups::AllLimits;
use crate::core::job::{JobInfo, State};
use crate::core::pool::Connections;
use crate::core::reply::{self, Reply};
use crate::core::scripts;
use redis::Value;
use std::vec::IntoIter;

/// So many partitions answer with a job at a time: each may be large.
const RECORDS: usize = 16;
/// So many moments are counted at a time.
const COMMANDS: usize = 10_000;

/// The numbers of each.
///
/// # Errors
/// As [`Queue::stats`].
pub fn stats_of(parts: &[&Queue]) -> Result<Vec<Stats>> {
    read_each(&scripts::STATS, parts, &[], |_, reply| Stats::read(reply))
}

/// The first job in a state of each.
///
/// # Errors
/// As [`Queue::peek_state`].
pub fn firsts_of(parts: &[&Queue], state: State) -> Result<Vec<Option<JobInfo>>> {
    let mut firsts = Vec::with_capacity(parts.len());
    for parts in parts.chunks(RECORDS) {
        let bytes = parts.first().map_or(0, |part| part.most_bytes()).to_string();
        firsts.extend(read_each(
            &scripts::LIST,
            parts,
            &[state.word().as_bytes(), b"0", b"1", bytes.as_bytes(), b""],
            |part, mut reply| {
                reply.text()?;
                let looked = reply.int()?;
                reply.int()?;
                match reply.is_at_end() {
                    false => Ok(Some(part.looked_at(reply.info(&part.name, state)?))),
                    // The first place is one without a job.
                    true if looked > 0 => part.peek_state(state),
                    true => Ok(None),
                }
            },
        )?);
    }
    Ok(firsts)
}

/// Names of groups of each.
///
/// # Errors
/// As [`Queue::groups`].
pub fn groups_of(parts: &[&Queue], limit: u64, after: &[u8]) -> Result<Vec<Vec<Vec<u8>>>> {
    let want = limit.min(200);
    read_each(&scripts::GROUPS, parts, &[want.to_string().as_bytes(), after], |part, reply: Reply| {
        let names = reply.rest()?;
        if (names.len() as u64) < want || want == limit { Ok(names) } else { part.groups(limit, after) }
    })
}

/// The limits that each has.
///
/// # Errors
/// As [`Queue::limits`].
pub fn limits_of(parts: &[&Queue]) -> Result<Vec<AllLimits>> {
    let write = |request: &mut Request, part: &Queue| {
        request.command(&[b"HSCAN", part.keys.limits(), b"0", b"COUNT", b"500"]);
    };
    let told = told_of(parts, &write)?;
    let limits = |(part, told): (&&Queue, Option<IntoIter<Value>>)| match told
        .and_then(|mut replies| replies.next())
        .and_then(reply::scanned)
    {
        Some((cursor, fields)) if cursor == b"0" => Ok(AllLimits::read(fields)),
        _ => part.limits(),
    };
    parts.iter().zip(told).map(limits).collect()
}

/// What a partition may have.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    Jobs,
    Receipts,
    TakenIds,
}

/// The partitions that may have it, with their positions: also those of which Redis would not tell.
///
/// # Errors
/// Connection and server errors.
pub fn that_have<'a>(parts: &[&'a Queue], content: Content) -> Result<Vec<(usize, &'a Queue)>> {
    let all = parts.iter().copied().enumerate();
    // One is asked as quickly as it is looked at.
    if parts.len() < 2 {
        return Ok(all.collect());
    }
    let counts = told_of(parts, &|request, Queue { keys, .. }| match content {
        Content::Jobs => request.command(&[b"HLEN", keys.jobs()]),
        Content::Receipts => request.command(&[b"ZCARD", keys.receipts()]),
        Content::TakenIds => request.command(&[b"ZCARD", keys.recent()]),
    })?;
    let may_have = |count: Option<IntoIter<Value>>| count.and_then(|mut replies| replies.next()) != Some(Value::Int(0));
    Ok(all.zip(counts).filter_map(|(part, count)| may_have(count).then_some(part)).collect())
}

/// How many waiting jobs of each are due before each of these moments.
///
/// # Errors
/// As [`Queue::count_due`].
pub fn counts_due(parts: &[&Queue], until_us: &[i64]) -> Result<Vec<Vec<u64>>> {
    if until_us.is_empty() {
        return Ok(Vec::new());
    }
    let mut all = Vec::with_capacity(parts.len());
    for parts in parts.chunks((COMMANDS / until_us.len().max(1)).max(1)) {
        let told = told_of(parts, &|request, part| part.ask_for_counts(request, until_us))?;
        for (part, told) in parts.iter().zip(told) {
            let counts = told.and_then(|replies| replies.map(reply::int).collect::<Option<Vec<i64>>>());
            all.push(match counts.and_then(|counts| Queue::read_counts(&counts, until_us)) {
                Some(counts) => counts,
                None => part.count_due(until_us)?,
            });
        }
    }
    Ok(all)
}

/// The replies for each partition; `None` where its node of a cluster is away.
fn told_of(parts: &[&Queue], write: &dyn Fn(&mut Request, &Queue)) -> Result<Vec<Option<IntoIter<Value>>>> {
    let Some(first) = parts.first() else { return Ok(Vec::new()) };
    let mut connections = Connections::default();
    let told = ask_each(parts, &mut connections, &mut |request, _, at| {
        parts.get(at).into_iter().for_each(|part| write(request, part));
    });
    first.client.give_back(connections);
    Ok(told.map_err(first.looking())?.into_iter().map(|told| told.ok().map(|told| told.replies)).collect())
}
