//! Writes requests: commands and scripts, and which of their replies are wanted.

use super::resp::{self, Bounds};
use super::scripts::Script;

/// A request under construction. Its reply is the one to the last command.
pub struct Request {
    pub(super) buffer: Vec<u8>,
    pub(super) commands: usize,
    pub(super) all_replies: bool,
    /// Of each reply.
    pub(super) bounds: Bounds,
    /// The script that is run, and the key with the counters of its queue.
    pub(super) script: Option<(&'static str, Vec<u8>)>,
    with_source: bool,
}

impl Request {
    /// `with_source`: Redis does not know the script; its text is sent.
    pub(super) fn new(buffer: Vec<u8>, with_source: bool) -> Self {
        Self { buffer, commands: 0, all_replies: false, bounds: Bounds::SMALL, script: None, with_source }
    }

    /// Adds a plain command.
    pub fn command(&mut self, args: &[&[u8]]) {
        resp::write_command(&mut self.buffer, args.iter().copied());
        self.commands += 1;
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

    /// Adds the script; it must be the last command of the request. `meta` is the key with the counters of the queue.
    pub fn script(&mut self, script: &Script, meta: &[u8], keys: &[&[u8]], args: &[&[u8]]) {
        self.script = Some((script.name, meta.to_vec()));
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
