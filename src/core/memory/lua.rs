//! Scripts: the same text that Redis would get, in a Lua 5.1 of our own, and what `redis.call` and `redis.pcall` are there.

use super::answer::{Answer, score_text};
use super::commands::{self, Outcome, Refusal};
use super::engine::State;
use super::structs;
use mlua::{AppDataRefMut, HookTriggers, Lua, LuaOptions, LuaString, MultiValue, Result, StdLib, Value, VmState};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// As much memory as Lua may take.
const MOST_BYTES: usize = 256 << 20;
/// A script that runs for longer is ended.
const LONGEST: Duration = Duration::from_secs(5);
/// It is looked for that after so many instructions.
const LOOK_EVERY: u32 = 1_000_000;
/// Lists in lists that a script answers.
const DEEPEST: usize = 100;

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
        lua.set_memory_limit(MOST_BYTES)?;
        lua.set_app_data(state);
        let library = lua.create_table()?;
        library.set("call", lua.create_function(|lua, args| call(lua, &args, true))?)?;
        library.set("pcall", lua.create_function(|lua, args| call(lua, &args, false))?)?;
        library.set("error_reply", lua.create_function(|lua, why: LuaString| reply(lua, "err", &why))?)?;
        library.set("status_reply", lua.create_function(|lua, word: LuaString| reply(lua, "ok", &word))?)?;
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
            let globals = self.lua.globals();
            for (name, values) in [("KEYS", keys), ("ARGV", args)] {
                let table = self.lua.create_table_with_capacity(values.len(), 0)?;
                for value in values {
                    table.raw_push(self.lua.create_string(value)?)?;
                }
                globals.raw_set(name, table)?;
            }
            to_answer(&function.call(())?, 0)
        };
        run().unwrap_or_else(|error| Answer::Error(reason(&error, &String::from_utf8_lossy(sha))))
    }
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

fn reply(lua: &Lua, kind: &str, text: &LuaString) -> Result<Value> {
    let table = lua.create_table()?;
    table.raw_set(kind, text)?;
    Ok(Value::Table(table))
}

fn call(lua: &Lua, args: &MultiValue, raises: bool) -> Result<Value> {
    match commanded(lua, args)? {
        Answer::Error(why) if raises => Err(mlua::Error::external(Refused { why, line: line(lua, 1) })),
        answer => to_lua(lua, answer),
    }
}

fn commanded(lua: &Lua, args: &MultiValue) -> Result<Answer> {
    if args.is_empty() {
        return Ok(Answer::Error("ERR Please specify at least one argument for this redis lib call".into()));
    }
    enum Word {
        Text(mlua::BorrowedBytes),
        Number(String),
    }
    let mut owned = Vec::with_capacity(args.len());
    for value in args {
        owned.push(match value {
            Value::String(text) => Word::Text(text.as_bytes()),
            Value::Integer(number) => Word::Number(itoa::Buffer::new().format(*number).to_owned()),
            Value::Number(number) => Word::Number(score_text(*number)),
            _ => {
                let why = "ERR Lua redis lib command arguments must be strings or integers";
                return Ok(Answer::Error(why.into()));
            }
        });
    }
    let words: Vec<&[u8]> = owned
        .iter()
        .map(|word| match word {
            Word::Text(text) => &**text,
            Word::Number(text) => text.as_bytes(),
        })
        .collect();
    match lua.try_app_data_mut::<State>() {
        Ok(Some(mut state)) => Ok(commands::run(&mut state, &words)),
        _ => Err(mlua::Error::runtime("the store is in use")),
    }
}

/// As scripts see it, in RESP2.
fn to_lua(lua: &Lua, answer: Answer) -> Result<Value> {
    Ok(match answer {
        #[expect(clippy::cast_precision_loss, reason = "a number of Lua 5.1 is a double")]
        Answer::Int(number) => Value::Number(number as f64),
        Answer::Text(bytes) => Value::String(lua.create_string(bytes)?),
        Answer::Double(number) => Value::String(lua.create_string(score_text(number))?),
        Answer::Nil => Value::Boolean(false),
        Answer::Status(word) => reply(lua, "ok", &lua.create_string(word.as_bytes())?)?,
        Answer::Error(why) => reply(lua, "err", &lua.create_string(why)?)?,
        Answer::List(answers) | Answer::Push(answers) => {
            let table = lua.create_table_with_capacity(answers.len(), 0)?;
            for answer in answers {
                table.raw_push(to_lua(lua, answer)?)?;
            }
            Value::Table(table)
        }
        Answer::Map(pairs) | Answer::Scored(pairs) => {
            let table = lua.create_table_with_capacity(2 * pairs.len(), 0)?;
            for (name, value) in pairs {
                table.raw_push(lua.create_string(name)?)?;
                table.raw_push(to_lua(lua, value)?)?;
            }
            Value::Table(table)
        }
    })
}

/// What a script returns.
fn to_answer(value: &Value, depth: usize) -> Result<Answer> {
    if depth > DEEPEST {
        return Err(mlua::Error::runtime("reached lua stack limit"));
    }
    Ok(match value {
        Value::Integer(number) => Answer::Int(*number),
        #[expect(clippy::cast_possible_truncation, reason = "as Redis does")]
        Value::Number(number) => Answer::Int(*number as i64),
        Value::String(text) => Answer::text(text.as_bytes()),
        Value::Boolean(true) => Answer::Int(1),
        Value::Table(table) => {
            if let Value::String(why) = table.raw_get("err")? {
                return Ok(Answer::Error(why.to_string_lossy()));
            }
            if let Value::String(word) = table.raw_get("ok")? {
                return Ok(Answer::Status(word.to_string_lossy().into()));
            }
            let mut answers = Vec::with_capacity(table.raw_len());
            for at in 1.. {
                match table.raw_get::<Value>(at)? {
                    Value::Nil => break,
                    value => answers.push(to_answer(&value, depth + 1)?),
                }
            }
            Answer::List(answers)
        }
        _ => Answer::Nil,
    })
}
