//! Flights: requests to many queues that go to a server together, so that all of them take one round trip. Each flight has the time of an
//! operation, and goes on for as long as Redis answers.

use super::Queue;
use crate::core::client::{Repeat, Request};
use crate::core::clock::{self, within};
use crate::core::connection::Connection;
use crate::core::dsn::Server;
use crate::core::error::{Error, Result};
use crate::core::pool::Connections;
use crate::core::reply::{self, Reply};
use crate::core::resolver;
use crate::core::scripts::Script;
use redis::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::vec::IntoIter;

/// Most queues of a flight.
pub(super) const MOST: usize = 500;

/// The replies to the commands of one queue.
pub(super) struct Told {
    /// When Redis was asked, by its own clock, unless it did not say.
    pub now_us: Option<i64>,
    pub sent: Instant,
    pub replies: IntoIter<Value>,
}

/// The positions of queues, by their servers as far as these are known.
pub(super) fn by_server(queues: &[&Queue]) -> Vec<Vec<usize>> {
    if queues.first().is_some_and(|queue| !queue.client.has_slots()) {
        return vec![(0..queues.len()).collect()];
    }
    let mut groups: Vec<(Option<Arc<Server>>, Vec<usize>)> = Vec::new();
    for (at, queue) in queues.iter().enumerate() {
        let server = queue.client.server().ok();
        match groups.iter_mut().find(|(known, _)| *known == server) {
            Some((_, group)) => group.push(at),
            None => groups.push((server, vec![at])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// How long one trip may take if the queues that are asked lie on so many servers: in a cluster, a node that is away must not keep a waiter from
/// those of others for as long as an operation may take.
pub(super) fn patience(queue: &Queue, servers: usize) -> Duration {
    queue.client.read_timeout() / if queue.client.has_slots() && servers > 1 { 2 } else { 1 }
}

/// Has `write` write the commands of each queue, and sends those of one server together. One queue has an error where its node of a cluster is
/// away.
///
/// # Errors
/// Connection and server errors.
pub(super) fn ask_each(
    queues: &[&Queue],
    connections: &mut Connections,
    write: &mut dyn FnMut(&mut Request, &mut Connection, usize),
) -> Result<Vec<Result<Told>>> {
    let mut told: Vec<Result<Told>> = queues.iter().map(|_| Err(reply::unexpected())).collect();
    let mut left: Vec<usize> = (0..queues.len()).collect();
    while !left.is_empty() {
        let of_left: Vec<&Queue> = left.iter().filter_map(|at| queues.get(*at)).copied().collect();
        let (groups, mut moved) = (by_server(&of_left), Vec::new());
        for group in &groups {
            let mut away: Option<Error> = None;
            for part in group.chunks(MOST) {
                let part: Vec<usize> = part.iter().filter_map(|at| left.get(*at)).copied().collect();
                let Some(first) = part.first().and_then(|at| queues.get(*at)) else { continue };
                let answers = match &away {
                    // A node that did not answer would be waited for with each of its flights.
                    Some(error) => Err(error.clone()),
                    None => within(patience(first, groups.len()), || fly(first, &part, connections, write)),
                };
                match answers {
                    Ok(answers) => part.iter().zip(answers).for_each(|(at, answer)| {
                        if part.len() > 1 && answer.has_moved() {
                            moved.push(*at);
                        } else if let Some(told) = told.get_mut(*at) {
                            *told = Ok(answer);
                        }
                    }),
                    Err(error) if first.client.has_slots() && error.is_retryable() => {
                        for at in &part {
                            if let Some(told) = told.get_mut(*at) {
                                *told = Err(error.clone());
                            }
                        }
                        away.get_or_insert(error);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        // One by itself is followed to its new node. The others may be known to have gone there as well by then.
        if let Some((at, queue)) = moved.pop().and_then(|at| Some((at, *queues.get(at)?))) {
            resolver::doubt(&queue.client.key().dsn);
            let answer = within(patience(queue, groups.len()), || fly(queue, &[at], connections, write));
            match answer.and_then(|mut told| told.pop().ok_or_else(reply::unexpected)) {
                Err(error) if !error.is_retryable() || !queue.client.has_slots() => return Err(error),
                answer => {
                    if let Some(told) = told.get_mut(at) {
                        *told = answer
                    }
                }
            }
        }
        left = moved;
    }
    Ok(told)
}

/// One flight, to the server of `first`.
fn fly(
    first: &Queue,
    part: &[usize],
    connections: &mut Connections,
    write: &mut dyn FnMut(&mut Request, &mut Connection, usize),
) -> Result<Vec<Told>> {
    let (mut sent, mut counts) = (Instant::now(), Vec::new());
    let answer = first.client.run_on(connections, Repeat::Yes, &mut |request, _, connection| {
        (sent, counts) = (Instant::now(), Vec::with_capacity(part.len()));
        if part.len() > 1 {
            request.each_reply()
        } else {
            request.all_replies()
        }
        request.command(&[b"TIME"]);
        for at in part {
            let before = request.commands();
            write(request, connection, *at);
            counts.push(request.commands() - before);
        }
    });
    let mut replies = reply::all(answer?)?;
    let time = replies.next().as_ref().and_then(reply::time_us);
    let now_us = time.map(|now_us| now_us.saturating_add(clock::offset_us()));
    let told = |count| Told { now_us, sent, replies: replies.by_ref().take(count).collect::<Vec<_>>().into_iter() };
    Ok(counts.into_iter().map(told).collect())
}

impl Told {
    fn has_moved(&self) -> bool {
        let is_moved = |reply: &Value| matches!(reply, Value::ServerError(error) if error.code() == "MOVED");
        self.replies.as_slice().iter().any(is_moved)
    }
}

/// Runs a script that may be repeated for each of these queues, with the arguments of its position. One queue has an error where its node of a
/// cluster is away.
///
/// # Errors
/// Connection and server errors.
pub(super) fn script_each(
    script: &Script,
    queues: &[&Queue],
    connections: &mut Connections,
    args: &dyn Fn(usize) -> Vec<Vec<u8>>,
) -> Result<Vec<Result<Reply>>> {
    let write = |request: &mut Request, at: usize| {
        if let Some(queue) = queues.get(at) {
            let args = args(at);
            queue.write_script(request, script, &args.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
    };
    let mut answers: Vec<Option<Result<Reply>>> = queues.iter().map(|_| None).collect();
    let mut left: Vec<usize> = (0..queues.len()).collect();
    while !left.is_empty() {
        if left.len() > 1 {
            let of_left: Vec<&Queue> = left.iter().filter_map(|at| queues.get(*at)).copied().collect();
            let told = ask_each(&of_left, connections, &mut |request, _, at| {
                left.get(at).into_iter().for_each(|at| write(request, *at));
            })?;
            for (at, told) in left.iter().zip(told) {
                let answer = match told.map(|mut told| told.replies.next()) {
                    Ok(None | Some(Value::ServerError(_))) => None,
                    Ok(Some(value)) => Some(Reply::new(value)),
                    Err(error) => Some(Err(error)),
                };
                if let Some(known) = answers.get_mut(*at) {
                    *known = answer;
                }
            }
            left.retain(|at| answers.get(*at).is_some_and(Option::is_none));
        }
        // One by itself: it loads the script for the others, is followed to its node, waits for a Redis that still loads, or says what is wrong.
        let Some((at, queue)) = left.pop().and_then(|at| Some((at, *queues.get(at)?))) else { break };
        let value = queue.client.run_on(connections, Repeat::Yes, &mut |request, _, _| write(request, at));
        let answer = value.map_err(|error| queue.naming_key(error)).and_then(Reply::new);
        if let Err(error) = &answer {
            if !error.is_retryable() || !queue.client.has_slots() {
                return Err(error.clone());
            }
            let server = queue.client.server();
            let is_there = |at: &usize| queues.get(*at).is_some_and(|other| other.client.server() == server);
            for at in left.extract_if(.., |at| is_there(at)) {
                answers.get_mut(at).into_iter().for_each(|known| *known = Some(Err(error.clone())));
            }
        }
        if let Some(known) = answers.get_mut(at) {
            *known = Some(answer);
        }
    }
    Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(reply::unexpected()))).collect())
}

/// What a script that only looks says of each of these queues.
///
/// # Errors
/// Connection and server errors, the first one.
pub(super) fn read_each<T>(
    script: &Script,
    queues: &[&Queue],
    args: &[&[u8]],
    read: impl Fn(&Queue, Reply) -> Result<T>,
) -> Result<Vec<T>> {
    let Some(first) = queues.first() else { return Ok(Vec::new()) };
    let mut connections = Connections::default();
    let owned: Vec<Vec<u8>> = args.iter().map(|arg| arg.to_vec()).collect();
    let answers = script_each(script, queues, &mut connections, &|_| owned.clone());
    first.client.give_back(connections);
    let answer = |queue: &Queue, reply: Result<Reply>| match reply? {
        reply if reply.word == "AGAIN" => read(queue, queue.script_again(script, args)?.0),
        reply => read(queue, reply),
    };
    queues
        .iter()
        .zip(answers.map_err(first.looking())?)
        .map(|(queue, reply)| answer(queue, reply).map_err(queue.looking()))
        .collect()
}
