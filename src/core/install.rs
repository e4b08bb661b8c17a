//! Scripts put into the servers ahead, for users that may run them and may not send any.

use super::client::Client;
use super::dsn::Server;
use super::error::{Error, Result};
use super::{reply, scripts};
use redis::Value;

/// Loads all scripts into each server that has jobs, and returns the number of servers. Needs the ACL right `+script|load`.
///
/// A server forgets its scripts when it restarts, and Redis 7 does not tell them to replicas.
///
/// # Errors
/// Connection and server errors; servers before that one have the scripts.
pub fn install_scripts(client: &Client) -> Result<usize> {
    let nodes = client.nodes().map_err(|error| error.while_doing(|| "installing scripts".into()))?;
    nodes.iter().try_for_each(|(server, client)| install(client).map_err(|error| doing(error, server)))?;
    Ok(nodes.len())
}

fn install(client: &Client) -> Result<()> {
    let replies = client.run(|request, _, _| {
        request.all_replies();
        scripts::all().iter().for_each(|(script, _)| request.command(&[b"SCRIPT", b"LOAD", script.source.as_bytes()]));
    });
    reply::all(replies?)?.try_for_each(|reply| match reply {
        Value::ServerError(error) => Err(Error::from_redis(error.code(), error.details().unwrap_or_default())),
        _ => Ok(()),
    })
}

fn doing(error: Error, server: &Server) -> Error {
    error.while_doing(|| format!("installing scripts on {}", server.target))
}

/// How many of the scripts this server has, and how many there are.
///
/// # Errors
/// Connection and server errors; the user needs the ACL right `+script|exists`.
pub fn count_installed(client: &Client) -> Result<(usize, usize)> {
    let all = scripts::all();
    let mut command: Vec<&[u8]> = vec![b"SCRIPT", b"EXISTS"];
    command.extend(all.iter().map(|(script, _)| script.sha.as_bytes()));
    let there = reply::all(client.run(|request, _, _| request.command(&command))?)?;
    Ok((there.filter_map(reply::int).filter(|is_there| *is_there == 1).count(), all.len()))
}
