//! Which server a request goes to: the DSN says it, or Sentinels, or the nodes of a cluster. A thread remembers their answers, and asks
//! again when somebody doubts them.

mod cluster;
mod first_answer;
mod sentinel;

pub use cluster::{Redirection, SLOTS, slot_of, slots_behind};

use super::connection::Fault;
use super::dsn::{Dsn, Server, Target, Topology};
use cluster::Slots;
use sentinel::Master;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After a planned failover the old master goes on answering for seconds, and all it takes is lost. So the Sentinels are asked again
/// this often.
pub const MASTER_IS_KNOWN_FOR: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Known {
    master: Master,
    slots: Slots,
}

thread_local! {
    static KNOWN: RefCell<Vec<(Arc<Dsn>, Known)>> = const { RefCell::new(Vec::new()) };
}

/// Takes out all that is known about a topology, so that nothing is borrowed while servers are asked.
fn with<T>(dsn: &Arc<Dsn>, work: impl FnOnce(&mut Known) -> T) -> T {
    let take = |known: &mut Vec<(Arc<Dsn>, Known)>| {
        let at = known.iter().position(|(other, _)| other == dsn)?;
        Some(known.swap_remove(at).1)
    };
    let mut known = KNOWN.with_borrow_mut(take).unwrap_or_default();
    let result = work(&mut known);
    KNOWN.with_borrow_mut(|all| all.push((Arc::clone(dsn), known)));
    result
}

/// The server of that slot; in a topology without slots, the one that takes writes. Asks for no longer than `time`, and not beyond `deadline`.
///
/// # Errors
/// [`Fault::Unsent`] when nobody knows.
pub fn find(dsn: &Arc<Dsn>, slot: u16, time: Duration, deadline: Instant) -> Result<Arc<Server>, Fault> {
    let left = || deadline.saturating_duration_since(Instant::now()).min(time);
    match &dsn.topology {
        Topology::Server(server) => Ok(Arc::clone(server)),
        Topology::Sentinel { sentinels, service } => {
            with(dsn, |known| known.master.find(dsn, sentinels, service, left()))
        }
        Topology::Cluster { nodes } => with(dsn, |known| known.slots.find(dsn, nodes, slot, left())),
    }
}

/// All servers that have keys, each with a slot of it.
///
/// # Errors
/// As [`find`].
pub fn nodes(dsn: &Arc<Dsn>, time: Duration, deadline: Instant) -> Result<Vec<(u16, Arc<Server>)>, Fault> {
    let first = find(dsn, 0, time, deadline)?;
    Ok(match &dsn.topology {
        Topology::Cluster { .. } => with(dsn, |known| known.slots.nodes()),
        _ => vec![(0, first)],
    })
}

/// How many Sentinels watch the service, and how many of them must agree that its master is down.
///
/// # Errors
/// The reasons of all of them.
pub fn count_sentinels(dsn: &Dsn, time: Duration) -> Result<(u64, u64), Fault> {
    match &dsn.topology {
        Topology::Sentinel { sentinels, service } => sentinel::count(sentinels, service, time),
        _ => Err(Fault::Unsent("there are none".into())),
    }
}

/// The server did not behave as the one we look for: the next request asks anew.
pub fn doubt(dsn: &Arc<Dsn>) {
    match &dsn.topology {
        Topology::Server(_) => {}
        Topology::Sentinel { .. } => with(dsn, |known| known.master.doubt()),
        Topology::Cluster { .. } => with(dsn, |known| known.slots.doubt()),
    }
}

/// A node of the cluster says that a slot is at another one.
pub fn moved(dsn: &Arc<Dsn>, slot: u16, server: Arc<Server>) {
    with(dsn, |known| known.slots.moved(slot, server));
}

/// `host` and `port` as servers give them.
fn target(host: &str, port: u16) -> Target {
    Target::Tcp { host: host.to_owned(), port }
}
