//! Scripts: the same text that Redis would get, in a Lua 5.1 of our own, and what `redis.call` and `redis.pcall` are there.

use super::answer::{Answer, score_text};
use super::args::{Outcome, Refusal};
use super::commands;
use super::state::State;
use super::structs;
use super::values::{Word, reply, to_answer};
use mlua::{
    AppDataRefMut, HookTriggers, IntoLua, Lua, LuaOptions, LuaString, MultiValue, Result, StdLib, Value, VmState,
};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// As much memory as a script may take.
const MOST_BYTES: usize = 256 << 20;
/// A script that runs for longer is ended.
const LONGEST: Duration = Duration::from_secs(5);
/// It is looked for that after so many instructions.
const LOOK_EVERY: u32 = 1_000_000;

/// A command's error that ends its script.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
struct Refused {
    why: String,
    line: usize,
}

pub struct Scripts {
    lua: Lua,
    functions: FxHashMap<String, mlua::Function>,
}

impl Scripts {
    pub fn new(state: State) -> Result<Self> {
        let options = LuaOptions::new().catch_rust_panics(false);
        let lua = Lua::new_with(StdLib::TABLE | StdLib::STRING | StdLib::MATH, options)?;
        lua.set_app_data(state);
        let library = lua.create_table()?;
        library.set("call", lua.create_function(|lua, args| call(lua, &args, true))?)?;
        library.set("pcall", lua.create_function(|lua, args| call(lua, &args, false))?)?;
        library.set("error_reply", lua.create_function(|lua, why: LuaString| reply(lua, "err", &why))?)?;
        library.set("status_reply", lua.create_function(|lua, word: LuaString| reply(lua, "ok", &word))?)?;
        let sum = |_: &Lua, text: LuaString| Ok(sha1_smol::Sha1::from(&*text.as_bytes()).digest().to_string());
        library.set("sha1hex", lua.create_function(sum)?)?;
        lua.globals().set("redis", library)?;
        structs::install(&lua)?;
        watch(&lua, LOOK_EVERY)?;
        Ok(Self { lua, functions: FxHashMap::default() })
    }

    pub fn state(&self) -> Option<AppDataRefMut<'_, State>> {
        self.lua.try_app_data_mut().ok().flatten()
    }

    pub fn knows(&self, sha: &[u8]) -> bool {
        self.function(sha).is_some()
    }

    fn function(&self, sha: &[u8]) -> Option<&mlua::Function> {
        self.functions.get(std::str::from_utf8(sha).ok()?)
    }

    /// Compiles it; returns the name under which it is known.
    pub fn load(&mut self, source: &[u8]) -> Outcome<String> {
        let sha = sha1_smol::Sha1::from(source).digest().to_string();
        if !self.functions.contains_key(&sha) {
            let function =
                self.lua.load(source).set_name("@user_script").set_mode(mlua::chunk::ChunkMode::Text).into_function();
            let refused = |error: mlua::Error| {
                Refusal(format!("ERR Error compiling script (new function): {}", first_line(&error)))
            };
            self.functions.insert(sha.clone(), function.map_err(refused)?);
        }
        Ok(sha)
    }

    pub fn forget(&mut self) {
        self.functions.clear();
    }

    pub fn run(&self, sha: &[u8], keys: &[&[u8]], args: &[&[u8]]) -> Answer {
        let Some(function) = self.function(sha) else {
            return Answer::Error("NOSCRIPT No matching script. Please use EVAL.".into());
        };
        let run = || {
            // Lua 5.1 does not clear up where memory is short.
            if self.lua.used_memory() > MOST_BYTES / 2 {
                self.lua.gc_collect()?;
            }
            let globals = self.lua.globals();
            for (name, values) in [("KEYS", keys), ("ARGV", args)] {
                globals.raw_set(name, self.lua.create_sequence_from(values.iter().map(|value| Word(value)))?)?;
            }
            to_answer(&within(&self.lua, MOST_BYTES, || function.call(()))?, 0)
        };
        run().unwrap_or_else(|error| Answer::Error(reason(&error, &String::from_utf8_lossy(sha))))
    }
}

/// Does something while Lua may take so much memory; 0: any, which spares mlua a guard around each step that takes some.
fn within<T>(lua: &Lua, most_bytes: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = lua.set_memory_limit(most_bytes)?;
    let done = work();
    lua.set_memory_limit(before)?;
    done
}

/// Ends a script that runs for too long, also one that catches its errors.
fn watch(lua: &Lua, every: u32) -> Result<()> {
    lua.set_hook(HookTriggers::new().every_nth_instruction(every), move |lua, _| {
        let began = lua.try_app_data_ref::<State>().ok().flatten().and_then(|state| Some(state.script.as_ref()?.began));
        let is_over = began.is_some_and(|began| began.elapsed() > LONGEST);
        if is_over != (every == 1) {
            watch(lua, if is_over { 1 } else { LOOK_EVERY })?;
        }
        if is_over {
            let why = "BUSY the script ran for more than 5 seconds and was ended".to_owned();
            return Err(mlua::Error::external(Refused { why, line: line(lua, 0) }));
        }
        Ok(VmState::Continue)
    })
}

fn line(lua: &Lua, level: usize) -> usize {
    lua.inspect_stack(level, |debug| debug.current_line()).flatten().unwrap_or(1)
}

fn first_line(error: &mlua::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("syntax error: ").or_else(|| text.strip_prefix("runtime error: ")).unwrap_or(&text);
    text.lines().next().unwrap_or_default().to_owned()
}

fn reason(error: &mlua::Error, sha: &str) -> String {
    let refused = error.chain().find_map(|cause| cause.downcast_ref::<Refused>());
    match refused {
        Some(Refused { why, line }) => format!("{why} script: {sha}, on @user_script:{line}."),
        None => {
            let why = first_line(error);
            let line = why.strip_prefix("user_script:").and_then(|rest| rest.split(':').next()).unwrap_or("1");
            format!("ERR {why} script: {sha}, on @user_script:{line}.")
        }
    }
}

fn call(lua: &Lua, args: &MultiValue, raises: bool) -> Result<Value> {
    within(lua, 0, || match commanded(lua, args)? {
        Answer::Error(why) if raises => Err(mlua::Error::external(Refused { why, line: line(lua, 1) })),
        answer => answer.into_lua(lua),
    })
}

fn commanded(lua: &Lua, args: &MultiValue) -> Result<Answer> {
    if args.is_empty() {
        return Ok(Answer::Error("ERR Please specify at least one argument for this redis lib call".into()));
    }
    enum Given {
        Text(mlua::BorrowedBytes),
        Number(String),
    }
    let mut owned = Vec::with_capacity(args.len());
    for value in args {
        owned.push(match value {
            Value::String(text) => Given::Text(text.as_bytes()),
            Value::Integer(number) => Given::Number(itoa::Buffer::new().format(*number).to_owned()),
            Value::Number(number) => Given::Number(score_text(*number)),
            _ => {
                let why = "ERR Lua redis lib command arguments must be strings or integers";
                return Ok(Answer::Error(why.into()));
            }
        });
    }
    let words: Vec<&[u8]> = owned
        .iter()
        .map(|word| match word {
            Given::Text(text) => &**text,
            Given::Number(text) => text.as_bytes(),
        })
        .collect();
    match lua.try_app_data_mut::<State>() {
        Ok(Some(mut state)) => Ok(commands::run(&mut state, &words)),
        _ => Err(mlua::Error::runtime("the store is in use")),
    }
}
