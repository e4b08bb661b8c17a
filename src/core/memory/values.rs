//! What commands answer, as values of Lua in RESP2; and what scripts return, as answers.

use super::answer::{Answer, score_text};
use mlua::{Lua, LuaString, Result, Value};

/// Lists in lists that a script answers.
const DEEPEST: usize = 100;

/// A status or an error, as `redis.status_reply` and `redis.error_reply` make them.
pub fn reply(lua: &Lua, kind: &str, text: &LuaString) -> Result<Value> {
    let table = lua.create_table()?;
    table.raw_set(kind, text)?;
    Ok(Value::Table(table))
}

/// As scripts see it.
pub fn to_lua(lua: &Lua, answer: Answer) -> Result<Value> {
    Ok(match answer {
        #[expect(clippy::cast_precision_loss, reason = "a number of Lua 5.1 is a double")]
        Answer::Int(number) => Value::Number(number as f64),
        Answer::Text(bytes) => Value::String(lua.create_string(bytes)?),
        Answer::Double(number) => Value::String(lua.create_string(score_text(number))?),
        Answer::Nil => Value::Boolean(false),
        Answer::Status(word) => reply(lua, "ok", &lua.create_string(word.as_bytes())?)?,
        Answer::Error(why) => reply(lua, "err", &lua.create_string(why)?)?,
        Answer::List(answers) | Answer::Push(answers) => {
            let values = answers.into_iter().map(|answer| to_lua(lua, answer)).collect::<Result<Vec<_>>>()?;
            Value::Table(lua.create_sequence_from(values)?)
        }
        Answer::Map(pairs) | Answer::Scored(pairs) => {
            let flat = pairs.into_iter().flat_map(|(name, value)| [Answer::Text(name), value]);
            to_lua(lua, Answer::List(flat.collect()))?
        }
    })
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
