//! One connection per process, thread, DSN and server, opened when first needed, never shared with a forked child. Two where one was needed while
//! another waited. A caller takes them out and holds them meanwhile.

mod silence;

use super::connection::{Connection, Fault};
use super::dsn::{Dsn, Server};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Which connection: the same key gets the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolKey {
    pub dsn: Arc<Dsn>,
    pub connect_timeout: Duration,
    pub read_timeout: Duration,
    /// 0: shared by everything in this thread that asks for the same; otherwise private to one owner.
    owner: u64,
}

thread_local! {
    static IDLE: RefCell<Vec<(PoolKey, Connection)>> = const { RefCell::new(Vec::new()) };
}

/// Removes a private connection when the last queue that uses it is gone.
#[derive(Debug)]
pub struct Owner(PoolKey);

impl Drop for Owner {
    fn drop(&mut self) {
        forget(&self.0);
    }
}

impl PoolKey {
    /// The shared connection of this thread.
    #[must_use]
    pub fn shared(dsn: Arc<Dsn>, connect_timeout: Duration, read_timeout: Duration) -> Self {
        Self { dsn, connect_timeout, read_timeout, owner: 0 }
    }

    /// A connection of one's own, closed with the returned owner.
    #[must_use]
    pub fn private(dsn: Arc<Dsn>, connect_timeout: Duration, read_timeout: Duration) -> (Self, Arc<Owner>) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let key = Self { dsn, connect_timeout, read_timeout, owner: NEXT.fetch_add(1, Ordering::Relaxed) };
        (key.clone(), Arc::new(Owner(key)))
    }

    /// The idle connection of this key to that server, or a new one, which has to be open by `deadline`. It is taken out of the pool, so that
    /// PHP code that runs in between (a signal handler) cannot meet it half-way through a request; a fatal error in such
    /// code loses it, nothing else.
    ///
    /// # Errors
    /// As [`Connection::open`].
    pub fn take(&self, server: &Arc<Server>, deadline: Instant) -> Result<Connection, Fault> {
        let idle = IDLE.try_with(|idle| remove(&mut idle.borrow_mut(), self, Some(server))).ok().flatten();
        match idle {
            Some(connection) if connection.is_usable() => Ok(connection),
            _ => {
                let left = deadline.saturating_duration_since(Instant::now());
                silence::open(server, left.min(self.connect_timeout), self.read_timeout, deadline)
            }
        }
    }

    /// Puts a connection back, unless it is broken or enough have taken its place: there are two when one was needed while another waited.
    pub fn give_back(&self, connection: Connection) {
        if connection.is_whole() {
            let _ = IDLE.try_with(|idle| {
                let mut idle = idle.borrow_mut();
                let is_same = |(key, other): &&(PoolKey, Connection)| key == self && other.server == connection.server;
                if idle.iter().filter(is_same).count() < 2 {
                    idle.push((self.clone(), connection));
                }
            });
        }
    }
}

/// The connections that a caller holds, one per server: a waiter may wait for queues of several.
#[derive(Default)]
pub struct Connections(Vec<Connection>);

impl Connections {
    /// The one to that server, if it can be used.
    pub fn take(&mut self, server: &Arc<Server>) -> Option<Connection> {
        let at = self.0.iter().position(|connection| connection.server == *server)?;
        Some(self.0.swap_remove(at)).filter(|connection| connection.is_usable())
    }

    pub fn put(&mut self, connection: Connection) {
        self.0.push(connection);
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Connection> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Connection> {
        self.0.iter_mut()
    }

    /// Drops those that are broken, or belong to a parent process.
    pub fn drop_broken(&mut self) {
        self.0.retain(|connection| connection.is_whole());
    }
}

impl IntoIterator for Connections {
    type Item = Connection;
    type IntoIter = std::vec::IntoIter<Connection>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Closes the idle connections of a key.
pub fn forget(key: &PoolKey) {
    while let Ok(Some(gone)) = IDLE.try_with(|idle| remove(&mut idle.borrow_mut(), key, None)) {
        drop(gone);
    }
}

/// Closes the idle connections of this thread to a store in this process: what it holds is new.
pub fn forget_memory(name: &str) {
    let _ = IDLE.try_with(|idle| idle.borrow_mut().retain(|(key, _)| key.dsn.in_memory() != Some(name)));
}

/// The one that was given back last. A process has few of them: looking through is quicker than hashing a DSN.
fn remove(idle: &mut Vec<(PoolKey, Connection)>, key: &PoolKey, server: Option<&Arc<Server>>) -> Option<Connection> {
    let is_wanted = |connection: &Connection| server.is_none_or(|server| connection.server == *server);
    let at = idle.iter().rposition(|(known, connection)| known == key && is_wanted(connection))?;
    Some(idle.remove(at).1)
}
