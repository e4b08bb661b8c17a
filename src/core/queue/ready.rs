//! The look of a worker before its first job. It takes none.

use super::ask_ahead::ask_ahead;
use super::flight::{ask_each, by_server};
use super::subscribe::subscribe;
use super::thread::answered_consumer;
use super::{Fetch, Queue};
use crate::core::error::{Error, Result};
use crate::core::pool::Connections;
use redis::Value;

/// Whether a loop could work on these queues now: Redis answers, its user has every right that the scripts of a loop need, and no queue is of
/// a newer version. In a cluster one answer is enough, because a loop serves the queues of the other nodes while a node is away.
///
/// # Errors
/// Connection and server errors. The one about rights (`NOPERM`) names all that are missing.
pub fn check_ready(queues: &[Queue]) -> Result<()> {
    let mut connections = Connections::default();
    let result = look_at_all(&queues.iter().collect::<Vec<_>>(), &mut connections);
    if let Some(queue) = queues.first() {
        queue.client.give_back(connections);
    }
    result
}

fn look_at_all(queues: &[&Queue], connections: &mut Connections) -> Result<()> {
    let (mut has_answer, mut failed) = (false, None);
    for group in by_server(queues) {
        let of_server: Vec<&Queue> = group.iter().filter_map(|at| queues.get(*at)).copied().collect();
        match look_at(&of_server, connections) {
            Ok(()) => has_answer = true,
            Err(error) if of_server.iter().any(|queue| queue.client.has_slots()) && error.is_retryable() => {
                failed.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    failed.filter(|_| !has_answer).map_or(Ok(()), Err)
}

/// Looks at queues of one server, in a few round trips for all of them.
fn look_at(queues: &[&Queue], connections: &mut Connections) -> Result<()> {
    let doing = |queue: &Queue| format!("looking at queue '{}'", queue.name);
    let first = |error: Error| error.while_doing(|| queues.first().map(|queue| doing(queue)).unwrap_or_default());
    let waiters = subscribe(queues, connections).map_err(first)?;
    let told = ask_each(queues, connections, &mut |request, _, at| {
        let (Some(queue), Some(waiter)) = (queues.get(at), waiters.get(at)) else { return };
        let channel = queue.keys.channel(waiter);
        for (command, key, args) in rights(queue.keys.meta(), queue.keys.waiters(), channel.as_bytes()) {
            request.command(&[&[command.as_bytes(), key], args].concat());
        }
    });
    for (queue, told) in queues.iter().zip(told.map_err(first)?) {
        if let Some(denied) = denied(told.map_err(first)?.replies) {
            let keys = format!("{}:{{{}}}:*", queue.keys.prefix(), queue.keys.tag());
            return Err(Error::from_redis("NOPERM", &denied).while_doing(|| format!("{} (keys {keys})", doing(queue))));
        }
    }
    let (asked, unanswered): (Vec<&Queue>, Vec<&Queue>) =
        queues.iter().partition(|queue| answered_consumer(queue).is_some());
    ask_ahead(&asked, &[], connections).map_err(first)?;
    unanswered.into_iter().try_for_each(|queue| queue.reserve_now(connections, &mut Fetch::default(), None).map(drop))
}

/// A command, its key, and what follows.
type Form<'a> = (&'static str, &'a [u8], &'a [&'a [u8]]);

/// The commands that the scripts of a loop call, and the one that wakes a waiter. Each form changes nothing: Redis looks at the rights first,
/// and then finds no such field or member, or a wrong argument.
fn rights<'a>(hash: &'a [u8], zset: &'a [u8], channel: &'a [u8]) -> [Form<'a>; 20] {
    [
        ("exists", hash, &[]),
        ("hget", hash, &[b""]),
        ("hmget", hash, &[b""]),
        ("hexists", hash, &[b""]),
        ("hlen", hash, &[]),
        ("hset", hash, &[b"", b"", b""]),
        ("hdel", hash, &[b""]),
        ("hincrby", hash, &[b"", b""]),
        ("zadd", zset, &[b"XX", b"0", b""]),
        ("zrem", zset, &[b""]),
        ("zrange", zset, &[b"1", b"0"]),
        ("zrangebyscore", zset, &[b"1", b"0"]),
        ("zrangebylex", zset, &[b"+", b"-"]),
        ("zlexcount", zset, &[b"+", b"-"]),
        ("zscore", zset, &[b""]),
        ("zmscore", zset, &[b""]),
        ("zrank", zset, &[b""]),
        ("zcard", zset, &[]),
        ("zcount", zset, &[b"1", b"0"]),
        ("publish", channel, &[b""]),
    ]
}

/// The rights that Redis said are missing, each once.
fn denied(replies: impl Iterator<Item = Value>) -> Option<String> {
    let mut denied: Vec<String> = Vec::new();
    for reply in replies {
        if let Value::ServerError(error) = reply
            && error.code() == "NOPERM"
        {
            let what = error.details().unwrap_or_default().to_owned();
            if !denied.contains(&what) {
                denied.push(what);
            }
        }
    }
    (!denied.is_empty()).then(|| denied.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scripts::{ACK, BURY, FAIL, LEAVE, RELEASE, RESERVE, TOUCH};
    use std::collections::BTreeSet;

    #[test]
    fn the_look_tries_each_command_that_a_loop_needs() {
        let mut needed = BTreeSet::from(["publish".to_owned()]);
        for script in [&ACK, &BURY, &FAIL, &LEAVE, &RELEASE, &RESERVE, &TOUCH] {
            let calls = script.source.split("call('").skip(1);
            // TIME needs no key: the script of the look has called it.
            needed.extend(
                calls.filter_map(|call| Some(call.split_once('\'')?.0.to_lowercase())).filter(|name| name != "time"),
            );
        }
        let tried: BTreeSet<String> = rights(b"", b"", b"").iter().map(|(name, ..)| (*name).to_owned()).collect();
        assert_eq!(tried, needed);
    }
}
