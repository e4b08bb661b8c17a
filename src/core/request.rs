//! Writes requests: commands and scripts, and which of their replies are wanted.

use super::durability::Durability;
use super::error::Result;
use super::resp::{self, Bounds};
use super::scripts::Script;
use std::time::Duration;

/// A request under construction. Its reply is the one to the last command.
pub struct Request {
    pub(super) buffer: Vec<u8>,
    pub(super) commands: usize,
    pub(super) all_replies: bool,
    /// Of each reply.
    pub(super) bounds: Bounds,
    /// How safe the change has to be before the request succeeds, and a key that may be written to be sure.
    confirmation: Option<(Durability, Vec<u8>)>,
    with_source: bool,
}

impl Request {
    /// `with_source`: Redis does not know the script; its text is sent.
    pub(super) fn new(buffer: Vec<u8>, with_source: bool) -> Self {
        Self { buffer, commands: 0, all_replies: false, bounds: Bounds::SMALL, confirmation: None, with_source }
    }

    /// Adds a plain command.
    pub fn command(&mut self, args: &[&[u8]]) {
        resp::write_command(&mut self.buffer, args.iter().copied());
        self.commands += 1;
    }

    /// Has the change of the script that comes last confirmed. `meta` is the key with the counters of its queue.
    pub fn confirm(&mut self, durability: Durability, meta: &[u8]) {
        self.confirmation = (durability != Durability::Memory).then(|| (durability, meta.to_vec()));
    }

    /// Has Redis wait behind the script, for as long as `time`, until its change is as safe as it has to be. Two replies follow that of the script
    /// then: see [`Durability::confirmed`] for the last one.
    ///
    /// Newer servers wait for what this connection has written, and a repeated push, for one, finds its job and writes nothing. So a field that
    /// nobody reads is written: Redis replicates its commands in their order.
    ///
    /// # Errors
    /// As [`Durability::wait_command`]; nothing must be sent then.
    pub(super) fn write_wait(&mut self, version: (u32, u32), time: Duration) -> Result<Option<Durability>> {
        let Some((durability, meta)) = self.confirmation.take() else { return Ok(None) };
        let wait = durability.wait_command(version, time)?;
        self.command(&[b"HSET", &meta, b"durable", b"1"]);
        self.command(&wait.iter().map(String::as_bytes).collect::<Vec<_>>());
        Ok(Some(durability))
    }

    /// How many commands it has.
    #[must_use]
    pub fn commands(&self) -> usize {
        self.commands
    }

    /// Has the replies to all commands given back, in a [`redis::Value::Array`], errors among them.
    pub fn all_replies(&mut self) {
        self.all_replies = true;
    }

    /// The reply may be a record of a job.
    pub fn reads_records(&mut self) {
        self.bounds = Bounds::RECORDS;
    }

    /// Adds the script; it must be the last command of the request.
    pub fn script(&mut self, script: &Script, keys: &[&[u8]], args: &[&[u8]]) {
        if script.answers_with_records() {
            self.reads_records();
        }
        let mut digits = itoa::Buffer::new();
        let count = digits.format(keys.len()).as_bytes();
        let head: [&[u8]; 3] = if self.with_source {
            [b"EVAL", script.source.as_bytes(), count]
        } else {
            [b"EVALSHA", script.sha.as_bytes(), count]
        };
        let all: Vec<&[u8]> = head.iter().chain(keys).chain(args).copied().collect();
        self.command(&all);
    }
}
