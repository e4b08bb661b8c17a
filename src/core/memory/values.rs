//! What commands answer, as values of Lua in RESP2; and what scripts return, as answers.

use super::answer::{Answer, score_text};
use mlua::{IntoLua, Lua, LuaString, Result, Value};

/// Lists in lists that a script answers.
const DEEPEST: usize = 100;

/// A status or an error, as `redis.status_reply` and `redis.error_reply` make them.
pub fn reply(lua: &Lua, kind: &str, text: &LuaString) -> Result<Value> {
    let table = lua.create_table()?;
    table.raw_set(kind, text)?;
    Ok(Value::Table(table))
}

/// As scripts see it. Lists are made value by value: Lua holds no more than 8,000 that are not in a table yet.
impl IntoLua for Answer {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Ok(match self {
            #[expect(clippy::cast_precision_loss, reason = "a number of Lua 5.1 is a double")]
            Self::Int(number) => Value::Number(number as f64),
            Self::Text(bytes) => Value::String(lua.create_string(bytes)?),
            Self::Double(number) => Value::String(lua.create_string(score_text(number))?),
            Self::Nil => Value::Boolean(false),
            Self::Status(word) => reply(lua, "ok", &lua.create_string(word.as_bytes())?)?,
            Self::Error(why) => reply(lua, "err", &lua.create_string(why)?)?,
            Self::List(answers) | Self::Push(answers) => Value::Table(lua.create_sequence_from(answers)?),
            Self::Map(pairs) | Self::Scored(pairs) => {
                let flat = pairs.into_iter().flat_map(|(name, value)| [Self::Text(name), value]);
                Value::Table(lua.create_sequence_from(flat)?)
            }
        })
    }
}

/// A key or an argument of a script.
pub struct Word<'a>(pub &'a [u8]);

impl IntoLua for Word<'_> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_string(self.0).map(Value::String)
    }
}

/// What a script returns.
pub fn to_answer(value: &Value, depth: usize) -> Result<Answer> {
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
