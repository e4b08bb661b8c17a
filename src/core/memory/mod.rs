//! Redis in this process, for tests of applications: the DSN `memory://name`. A store with the commands that scripts and the core use, and the scripts
//! themselves in a Lua 5.1. A connection is a [`Stream`]: what is written to it runs at once, in the thread that writes.

mod answer;
mod args;
mod command;
mod commands;
mod engine;
mod hashes;
mod keys;
mod lua;
mod mailbox;
#[cfg_attr(debug_assertions, path = "../../../examples/serve_memory/seen.rs")]
mod seen;
#[cfg_attr(debug_assertions, path = "../../../examples/serve_memory/commands.rs")]
mod served;
mod sorted;
mod state;
mod store;
mod structs;
mod values;
mod zset;

use super::pool;
use super::process::{self, Generation};
use super::resp::{self, Bounds, Malformed};
use answer::Answer;
use engine::Engine;
use mailbox::Mailbox;
use state::State;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The options that a command of Redis has here beside its values; `None`: it does not exist here.
#[must_use]
pub fn options_of(command: &str) -> Option<&'static [&'static str]> {
    if engine::OF_CONNECTIONS.iter().any(|(name, ..)| *name == command) {
        return Some(&[]);
    }
    commands::COMMANDS.iter().find(|known| known.name == command).map(|known| known.options)
}

/// A panic inside a command poisons it: then it answers errors, until it is forgotten.
type Shared = Arc<Mutex<Engine>>;

/// The stores of this process, by their names. They last as long as it does.
static STORES: Mutex<Vec<(String, Generation, Shared)>> = Mutex::new(Vec::new());

fn shared(name: &str) -> io::Result<Shared> {
    let own = Generation::current();
    // A thread of the parent may have held it when this process was forked.
    let end = Instant::now() + Duration::from_secs(1);
    let mut stores = loop {
        match STORES.try_lock() {
            Ok(stores) => break stores,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if Instant::now() > end => return Err(of_parent()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    };
    match stores.iter().find(|(known, ..)| known == name) {
        Some((_, process, store)) if *process == own => Ok(Arc::clone(store)),
        Some(_) => Err(of_parent()),
        None => {
            let store = Arc::new(Mutex::new(new_engine()?));
            stores.push((name.to_owned(), own, Arc::clone(&store)));
            Ok(store)
        }
    }
}

fn new_engine() -> io::Result<Engine> {
    Engine::new(State::default())
        .map_err(|error| io::Error::other(format!("there is no memory for its scripts ({error})")))
}

fn of_parent() -> io::Error {
    io::Error::other(
        "its jobs are in the memory of the process that forked this one: give the child a name of its own, such as memory://child, or use Redis",
    )
}

/// Deletes all that a store holds; one that failed works again.
///
/// # Errors
/// In a process that was forked since the store was made.
pub fn forget(name: &str) -> io::Result<()> {
    pool::forget_memory(name);
    let store = shared(name)?;
    match store.lock() {
        Ok(engine) => engine.with(|state| state.store.clear()).unwrap_or_default(),
        Err(poisoned) => {
            *poisoned.into_inner() = new_engine()?;
            store.clear_poison();
        }
    }
    Ok(())
}

/// Whether this thread is the only one of the embedding language that has the store.
#[must_use]
pub fn is_own(name: &str) -> bool {
    let thread = thread::current().id();
    shared(name)
        .is_ok_and(|store| store.lock().is_ok_and(|engine| engine.with(|state| state.is_of(thread)) == Some(true)))
}

/// One client.
pub struct Stream {
    store: Shared,
    mailbox: Arc<Mailbox>,
    /// The start of a command whose end has not come yet.
    partial: Vec<u8>,
    owner: Generation,
}

impl Stream {
    /// `most_bytes`: how much memory the store may take from now on; 0: any.
    ///
    /// # Errors
    /// In a process that was forked since the store was made; and where the system has no descriptors left.
    pub fn open(name: &str, most_bytes: Option<usize>) -> io::Result<Self> {
        let (store, mailbox) = (shared(name)?, Arc::new(Mailbox::new()?));
        let thread = (!process::is_own_thread()).then(|| thread::current().id());
        if let Ok(engine) = store.lock() {
            engine.with(|state| {
                state.most_bytes = most_bytes.unwrap_or(state.most_bytes);
                state.enter(&mailbox, thread);
            });
        }
        Ok(Self { store, mailbox, partial: Vec::new(), owner: Generation::current() })
    }

    /// How long a read may wait for a message.
    ///
    /// # Errors
    /// When the socket refuses the option.
    pub fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.mailbox.ear.set_read_timeout(Some(timeout))
    }

    /// Whether there is something to read.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        self.mailbox.has_unread()
    }

    fn run(&self, words: &[&[u8]]) -> Answer {
        let run = || Some(self.store.lock().ok()?.run(&self.mailbox, words, now_us()));
        let failed = || "ERR the store has failed: DelayQueue\\Testing::forgetMemory() makes it new".to_owned();
        catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or_else(|| Answer::Error(failed()))
    }
}

/// By the function that Redis asks, too: tests put another one in its place.
fn now_us() -> i64 {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: memory of ours.
    unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
    time.tv_sec * 1_000_000 + time.tv_usec
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Another thread of the parent may have had the store when this process was forked.
        if self.owner.is_current() {
            let engine = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            engine.with(|state| state.leave(&self.mailbox));
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.partial);
        let mut rest = if all.is_empty() {
            bytes
        } else {
            all.extend_from_slice(bytes);
            &all
        };
        while let Some((words, length)) = read_command(rest).unwrap_or_else(|Malformed| {
            self.mailbox.answer(&Answer::Error("ERR Protocol error: this is no command".into()));
            rest = &[];
            None
        }) {
            self.mailbox.answer(&self.run(&words));
            rest = rest.get(length..).unwrap_or_default();
        }
        self.partial = rest.to_vec();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.mailbox.read(room)
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.mailbox.ear.as_raw_fd()
    }
}

type Words<'a> = Vec<&'a [u8]>;

/// The command at the start of `bytes`, and how long it is; `None` while more bytes are needed.
fn read_command(bytes: &[u8]) -> Result<Option<(Words<'_>, usize)>, Malformed> {
    let Some(length) = resp::frame_length(bytes, Bounds { values: 1 << 24, ..Bounds::RECORDS })? else {
        return Ok(None);
    };
    Ok(Some((resp::words(bytes.get(..length).unwrap_or_default())?, length)))
}
