//! Writes requests: commands and scripts, and which of their replies are wanted.

use super::connection::{Connection, END};
use super::resp;
use super::scripts::Script;
use super::server_clock::Moment;

/// A request under construction.
pub struct Request {
    pub(super) buffer: Vec<u8>,
    pub(super) commands: usize,
    whole: bool,
    pub(super) spins: bool,
    pub(super) keeps_all: bool,
    /// Which reply is wanted beside the last one.
    pub(super) aside: Option<usize>,
    pub(super) transaction: Option<Transaction>,
}

/// Which replies begin and end a transaction, and since when the time, which is asked for aside, was wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transaction {
    pub(super) begins: usize,
    pub(super) ends: usize,
    pub(super) asked: Moment,
}

impl Request {
    /// It begins with the rest of a command that was sent but for that.
    pub(super) fn new(connection: &mut Connection, whole: bool) -> Self {
        let (mut buffer, is_open) = (connection.request(), std::mem::take(&mut connection.is_open));
        if is_open {
            buffer.extend_from_slice(END);
        }
        Self {
            buffer,
            commands: usize::from(is_open),
            whole,
            spins: false,
            keeps_all: false,
            aside: None,
            transaction: None,
        }
    }

    /// Has the answer waited for awake: somebody does nothing else meanwhile.
    pub fn spin(&mut self) {
        self.spins = true;
    }

    /// Adds a plain command, the reply of which nobody reads.
    pub fn command(&mut self, args: &[&[u8]]) {
        resp::write_command(&mut self.buffer, args.iter().copied());
        self.commands += 1;
    }

    /// Adds a plain command the reply of which the connection has afterwards, beside the last one.
    pub fn aside(&mut self, args: &[&[u8]]) {
        self.aside = Some(self.commands);
        self.command(args);
    }

    /// Adds a look at Redis' clock, which the connection hears of, and the plain commands that `write` adds, which are executed together
    /// or not at all. The look comes before them: among them it would cost twice as much.
    pub fn transaction(&mut self, write: impl FnOnce(&mut Self)) {
        self.aside(&[b"TIME"]);
        let begins = self.commands;
        self.command(&[b"MULTI"]);
        write(self);
        self.transaction = Some(Transaction { begins, ends: self.commands, asked: Moment::now() });
        self.command(&[b"EXEC"]);
    }

    /// Adds a plain command, the arguments of which `write` appends with [`resp::write_arg`]: as many as it is said here.
    pub fn command_of(&mut self, args: usize, write: impl FnOnce(&mut Vec<u8>)) {
        resp::begin_command(&mut self.buffer, args);
        write(&mut self.buffer);
        self.commands += 1;
    }

    /// Adds what is in another one.
    pub fn append(&mut self, other: &Self) {
        self.buffer.extend_from_slice(&other.buffer);
        self.commands += other.commands;
    }

    /// Ends a transaction, nothing of which is executed.
    pub fn abort(&mut self) {
        // DISCARD would be one more right to have. Redis gives up a transaction with a command in it that lacks its arguments; one with
        // nothing in it may as well be executed.
        if self.commands > 0 {
            self.command(&[b"ZADD"]);
        }
        self.command(&[b"EXEC"]);
    }

    /// Has all replies given back, in a [`Value::Array`], errors among them.
    pub fn keep_all(&mut self) {
        self.keeps_all = true;
    }

    /// Has the next script sent whole: those after it can rely on Redis to know it.
    pub fn whole(&mut self) {
        self.whole = true;
    }

    /// Adds the script; it must be the last command of the request, or come after it was sent whole.
    pub fn script(&mut self, script: &Script, keys: &[&[u8]], args: &[&[u8]]) {
        let mut digits = itoa::Buffer::new();
        let count = digits.format(keys.len()).as_bytes();
        let head: [&[u8]; 3] = if std::mem::take(&mut self.whole) {
            [b"EVAL", script.source.as_bytes(), count]
        } else {
            [b"EVALSHA", script.sha.as_bytes(), count]
        };
        let all = Chained { parts: [&head, keys, args], part: 0, at: 0 };
        resp::write_command(&mut self.buffer, all);
        self.commands += 1;
    }
}

/// The arguments of one command from three slices, without copying them together.
struct Chained<'a, 'b> {
    parts: [&'b [&'a [u8]]; 3],
    part: usize,
    at: usize,
}

impl<'a> Iterator for Chained<'a, '_> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let part = self.parts.get(self.part)?;
            if let Some(arg) = part.get(self.at) {
                self.at += 1;
                return Some(arg);
            }
            self.part += 1;
            self.at = 0;
        }
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.parts.iter().skip(self.part).map(|part| part.len()).sum::<usize>() - self.at;
        (left, Some(left))
    }
}
impl ExactSizeIterator for Chained<'_, '_> {}
