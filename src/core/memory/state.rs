//! The data of a store, and who listens to it.

use super::answer::Answer;
use super::mailbox::Mailbox;
use super::seen::Seen;
use super::store::Store;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Instant;

/// As much memory as a store may take where its DSN says nothing.
const MOST_BYTES: usize = 256 << 20;
/// So full is an empty store.
const BASE_BYTES: usize = 1024;
/// The Redis whose answers these are.
pub const VERSION: &str = "8.0.0";

/// The script that runs.
pub struct Script {
    pub began: Instant,
    /// The store was full when it began.
    is_full: bool,
    pub has_written: bool,
}

/// The data, and who listens.
pub struct State {
    pub store: Store,
    pub most_bytes: usize,
    pub script: Option<Script>,
    channels: FxHashMap<Box<[u8]>, Vec<Arc<Mailbox>>>,
    clients: FxHashMap<u64, Option<ThreadId>>,
    pub seen: Seen,
}

impl Default for State {
    fn default() -> Self {
        Self {
            store: Store::default(),
            most_bytes: MOST_BYTES,
            script: None,
            channels: FxHashMap::default(),
            clients: FxHashMap::default(),
            seen: Seen::default(),
        }
    }
}

impl State {
    fn is_full(&self) -> bool {
        self.most_bytes > 0 && self.store.bytes() + BASE_BYTES > self.most_bytes
    }

    pub fn begin_script(&mut self) {
        self.script = Some(Script { began: Instant::now(), is_full: self.is_full(), has_written: false });
    }

    /// Whether a command that needs memory is refused: in a script only until its first write.
    pub fn refuses_more(&self) -> bool {
        self.script.as_ref().map_or_else(|| self.is_full(), |script| script.is_full && !script.has_written)
    }

    /// Returns how many channels the client listens to.
    pub fn listen(&mut self, client: &Arc<Mailbox>, channel: &[u8]) -> usize {
        let is_own = |known: &Arc<Mailbox>| known.id == client.id;
        let listeners = self.channels.entry(channel.into()).or_default();
        if !listeners.iter().any(is_own) {
            listeners.push(Arc::clone(client));
        }
        self.channels.values().filter(|listeners| listeners.iter().any(is_own)).count()
    }

    pub fn publish(&mut self, channel: &[u8], text: &[u8]) -> usize {
        let Some(listeners) = self.channels.get(channel) else { return 0 };
        let message = Answer::Push(vec![Answer::text("message"), Answer::text(channel), Answer::text(text)]);
        listeners.iter().for_each(|mailbox| mailbox.tell(&message));
        listeners.len()
    }

    /// What `doctor()` asks for.
    pub fn info(&self) -> String {
        let (used, most, clients) = (self.store.bytes() + BASE_BYTES, self.most_bytes, self.clients.len());
        let seen = self.seen.info();
        format!(
            "# Server\r\nredis_version:{VERSION}\r\nredis_mode:standalone\r\n# Clients\r\nconnected_clients:{clients}\r\nmaxclients:10000\r\n\
             # Memory\r\nused_memory:{used}\r\nmaxmemory:{most}\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:0\r\n\
             # Replication\r\nrole:master\r\nconnected_slaves:0\r\n{seen}"
        )
    }

    /// Whether no other thread of the embedding language has this store.
    pub fn is_of(&self, thread: ThreadId) -> bool {
        self.clients.values().flatten().all(|other| *other == thread)
    }

    /// `thread`: one of the embedding language.
    pub fn enter(&mut self, client: &Mailbox, thread: Option<ThreadId>) {
        self.clients.insert(client.id, thread);
        self.seen.connected();
    }

    pub fn leave(&mut self, client: &Mailbox) {
        self.clients.remove(&client.id);
        self.channels.retain(|_, listeners| {
            listeners.retain(|known| known.id != client.id);
            !listeners.is_empty()
        });
    }
}
