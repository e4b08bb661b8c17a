//! One store with its scripts and its clients: the commands of connections, and those that run scripts.

use super::answer::Answer;
use super::commands::{self, Args, Outcome, at, int, refuse, wrong_number};
use super::lua::Scripts;
use super::mailbox::Mailbox;
use super::served::Seen;
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
const VERSION: &str = "8.0.0";

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

    /// Whether a command that needs memory is refused: in a script only until its first write.
    pub fn refuses_more(&self) -> bool {
        self.script.as_ref().map_or_else(|| self.is_full(), |script| script.is_full && !script.has_written)
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

/// All of it, with the Lua that has the state.
pub struct Engine {
    scripts: Scripts,
}

impl Engine {
    /// # Errors
    /// When there is no memory for Lua.
    pub fn new(state: State) -> mlua::Result<Self> {
        Ok(Self { scripts: Scripts::new(state)? })
    }

    /// `None`: a script left the state in use, which none can.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.scripts.state().map(|mut state| work(&mut state))
    }

    /// Carries a command out.
    pub fn run(&mut self, client: &Arc<Mailbox>, words: &[&[u8]], now_us: i64) -> Answer {
        let Some((name, args)) = words.split_first() else { return Answer::Error("ERR empty command".into()) };
        self.with(|state| state.store.now_us = now_us);
        let own = OF_CONNECTIONS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known.as_bytes()));
        let Some((name, least, run)) = own else {
            return self.with(|state| commands::run(state, words)).unwrap_or_else(in_use);
        };
        self.with(|state| state.seen.count(name));
        if args.len() < *least {
            return Answer::Error(wrong_number(name));
        }
        run(self, client, args).unwrap_or_else(|commands::Refusal(why)| Answer::Error(why))
    }

    fn eval(&mut self, has_source: bool, args: Args) -> Outcome {
        let rest = args.get(2..).unwrap_or_default();
        let (keys, values) = match usize::try_from(int(at(args, 1))?) {
            Err(_) => return refuse("Number of keys can't be negative"),
            Ok(count) => match rest.split_at_checked(count) {
                Some(parts) => parts,
                None => return refuse("Number of keys can't be greater than number of args"),
            },
        };
        let loaded;
        let sha = if has_source {
            loaded = self.scripts.load(at(args, 0))?;
            loaded.as_bytes()
        } else {
            at(args, 0)
        };
        self.with(|state| {
            state.script = Some(Script { began: Instant::now(), is_full: state.is_full(), has_written: false });
        });
        let answer = self.scripts.run(sha, keys, values);
        self.with(|state| state.script = None);
        Ok(answer)
    }

    fn script(&mut self, args: Args) -> Outcome {
        let rest = args.get(1..).unwrap_or_default();
        Ok(match at(args, 0).to_ascii_uppercase().as_slice() {
            b"LOAD" => Answer::text(self.scripts.load(at(rest, 0))?),
            b"EXISTS" => {
                Answer::List(rest.iter().map(|sha| Answer::count(usize::from(self.scripts.knows(sha)))).collect())
            }
            b"FLUSH" => {
                self.scripts.forget();
                Answer::OK
            }
            other => {
                return refuse(&format!("unknown subcommand '{}'. Try SCRIPT HELP.", String::from_utf8_lossy(other)));
            }
        })
    }

    /// The confirmations are messages, one for each channel: the last one is the answer.
    fn subscribe(&mut self, client: &Arc<Mailbox>, channels: Args) -> Outcome {
        let mut last = Answer::Nil;
        for channel in channels {
            let many = self.with(|state| {
                let listeners = state.channels.entry((*channel).into()).or_default();
                if !listeners.iter().any(|known| known.id == client.id) {
                    listeners.push(Arc::clone(client));
                }
                let is_own = |listeners: &&Vec<Arc<Mailbox>>| listeners.iter().any(|known| known.id == client.id);
                state.channels.values().filter(is_own).count()
            });
            let confirmation = [Answer::text("subscribe"), Answer::text(channel), Answer::count(many.unwrap_or(0))];
            match std::mem::replace(&mut last, Answer::Push(confirmation.into())) {
                Answer::Nil => {}
                before => client.answer(&before),
            }
        }
        Ok(last)
    }
}

fn in_use() -> Answer {
    Answer::Error("ERR the store is in use".into())
}

type OfConnection = fn(&mut Engine, &Arc<Mailbox>, Args) -> Outcome;

/// The commands that no script may call, and how many words each of them needs behind its name.
pub const OF_CONNECTIONS: [(&str, usize, OfConnection); 6] = [
    ("EVALSHA", 2, |engine, _, args| engine.eval(false, args)),
    ("EVAL", 2, |engine, _, args| engine.eval(true, args)),
    ("SCRIPT", 1, |engine, _, args| engine.script(args)),
    ("SUBSCRIBE", 1, Engine::subscribe),
    ("HELLO", 0, |_, _, _| Ok(hello())),
    ("SELECT", 1, |_, _, args| match int(at(args, 0))? {
        0 => Ok(Answer::OK),
        _ => refuse("DB index is out of range"),
    }),
];

/// What a client wants to know.
fn hello() -> Answer {
    let known = [("server", "redis"), ("version", VERSION), ("role", "master")];
    Answer::Map(known.map(|(name, value)| (name.into(), Answer::text(value))).into())
}
