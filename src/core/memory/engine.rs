//! One store with its scripts and its clients: the commands of connections, and those that run scripts.

use super::answer::Answer;
use super::args::{Args, Outcome, Refusal, at, int, refuse, wrong_number};
use super::commands;
use super::lua::Scripts;
use super::mailbox::Mailbox;
use super::state::{State, VERSION};
use std::sync::Arc;

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
        run(self, client, args).unwrap_or_else(|Refusal(why)| Answer::Error(why))
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
        self.with(State::begin_script);
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
            let many = self.with(|state| state.listen(client, channel));
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
