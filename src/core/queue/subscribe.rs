//! The connections of a waiter, and the channels on which it hears of jobs.

use super::Queue;
use super::flight::by_server;
use super::sleep::{Flow, Interrupts};
use crate::core::client::to_error;
use crate::core::connection::{Fault, random_name};
use crate::core::error::{Error, Result};
use crate::core::pool::Connections;
use std::time::{Duration, Instant};

/// Has a connection to the server of each queue. One that is away may be restarting, or another may be taking over: tries for as long as
/// one operation may take.
pub(super) fn connect(
    connections: &mut Connections,
    queues: &[Queue],
    interrupts: &mut dyn Interrupts,
) -> Result<Flow> {
    let read_timeout = queues.first().map(|queue| queue.client.read_timeout()).unwrap_or_default();
    let deadline = Instant::now() + read_timeout;
    let mut pause = Duration::from_millis(5);
    connections.drop_broken();
    for queue in queues {
        loop {
            match queue.client.connect(connections) {
                Ok(connection) => {
                    connections.put(connection);
                    break;
                }
                Err(Error::Connection { .. }) if Instant::now() + pause < deadline => {}
                Err(error) => return Err(error),
            }
            match interrupts.poll() {
                Flow::Continue => {}
                flow => return Ok(flow),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
    Ok(Flow::Continue)
}

/// Makes the connections of queues listen for wake-ups, in one round trip to each server; returns the name under which it waits in each queue.
/// Tries again when a connection is lost, for as long as one operation may take.
pub(super) fn subscribe(queues: &[&Queue], connections: &mut Connections) -> Result<Vec<String>> {
    let mut waiters = vec![String::new(); queues.len()];
    for group in by_server(queues) {
        let Some(first) = group.first().and_then(|at| queues.get(*at)) else { continue };
        let deadline = Instant::now() + first.client.read_timeout();
        let mut pause = Duration::from_millis(5);
        let waiter = loop {
            let mut connection = first.client.connect(connections)?;
            if connection.waiter.is_empty() {
                connection.waiter = random_name();
            }
            let waiter = connection.waiter.clone();
            let of_group = group.iter().filter_map(|at| queues.get(*at));
            match connection.subscribe(of_group.map(|queue| queue.keys.channel(&waiter)).collect()) {
                Ok(_) => {
                    connections.put(connection);
                    break waiter;
                }
                Err(Fault::Sent(_) | Fault::Unsent(_)) if Instant::now() + pause < deadline => {}
                Err(fault) => return Err(to_error(fault, false)),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        };
        for at in group {
            if let Some(name) = waiters.get_mut(at) {
                name.clone_from(&waiter);
            }
        }
    }
    Ok(waiters)
}

impl Queue {
    /// Has the connection hear of jobs that a consumer holds and that are cancelled. False: it did so before.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn listen(&self, connections: &mut Connections, consumer: &str) -> Result<bool> {
        let mut connection = self.client.connect(connections)?;
        let is_new = connection.subscribe(vec![self.keys.channel(consumer)]).map_err(|fault| to_error(fault, false))?;
        connections.put(connection);
        Ok(is_new)
    }
}
