//! What a store counts, and its second database. They are in debug builds only.

use super::store::Store;
use std::collections::BTreeMap;

/// What tests ask for.
#[derive(Default)]
pub struct Seen {
    /// How often each command was called.
    pub calls: BTreeMap<&'static str, u64>,
    connections: u64,
    /// Database 1, or 0 while that is selected.
    pub other: Store,
    pub has_selected: bool,
}

impl Seen {
    pub fn connected(&mut self) {
        self.connections += 1;
    }

    pub fn count(&mut self, name: &'static str) {
        *self.calls.entry(name).or_default() += 1;
    }

    pub fn info(&self) -> String {
        let line =
            |(name, calls): (&&str, &u64)| format!("cmdstat_{}:calls={calls},usec=0\r\n", name.to_ascii_lowercase());
        let (connections, commands) = (self.connections, self.calls.values().sum::<u64>());
        let calls: String = self.calls.iter().map(line).collect();
        format!(
            "# Stats\r\ntotal_connections_received:{connections}\r\ntotal_commands_processed:{commands}\r\n# Commandstats\r\n{calls}"
        )
    }
}
