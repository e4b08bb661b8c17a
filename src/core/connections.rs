//! The connections that a caller keeps in its hands, one per server: a waiter may wait for queues of several.

use super::connection::Connection;
use super::dsn::Server;
use std::sync::Arc;

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
