//! `struct.pack` and `struct.unpack`, as Redis offers them to scripts: whole numbers without a sign, which are all that ours use.

use mlua::{Lua, LuaString, MultiValue, Result, Value};

fn wrong(what: &str) -> mlua::Error {
    mlua::Error::runtime(what)
}

/// How many bytes each number of a format takes, and whether the first of them is the highest.
fn widths(format: &[u8]) -> Result<(bool, Vec<usize>)> {
    let (mut is_big, mut widths, mut rest) = (false, Vec::new(), format.iter().peekable());
    while let Some(kind) = rest.next() {
        widths.push(match kind {
            b'>' | b'<' => {
                is_big = *kind == b'>';
                continue;
            }
            b'B' => 1,
            b'H' => 2,
            b'I' => {
                let mut width = None;
                while let Some(digit) = rest.next_if(|byte| byte.is_ascii_digit()) {
                    width = Some(width.unwrap_or(0) * 10 + usize::from(*digit - b'0'));
                    if width > Some(8) {
                        return Err(wrong("integral size is larger than 8"));
                    }
                }
                width.unwrap_or(4)
            }
            _ => return Err(wrong(&format!("invalid format option '{}'", char::from(*kind)))),
        });
    }
    Ok((is_big, widths))
}

fn number_of(lua: &Lua, value: Option<Value>) -> Result<u64> {
    let number = value.map(|value| lua.coerce_number(value)).transpose()?.flatten();
    let number = number.ok_or_else(|| wrong("bad argument to 'pack' (number expected)"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as C does")]
    Ok(if number < 0.0 { number as i64 as u64 } else { number as u64 })
}

fn pack(lua: &Lua, args: MultiValue) -> Result<LuaString> {
    let mut args = args.into_iter();
    let Some(Value::String(format)) = args.next() else {
        return Err(wrong("bad argument #1 to 'pack' (string expected)"));
    };
    let (is_big, widths) = widths(&format.as_bytes())?;
    let mut out = Vec::with_capacity(widths.iter().sum());
    for width in widths {
        let bytes = number_of(lua, args.next())?.to_be_bytes();
        let bytes = bytes.get(8 - width..).unwrap_or_default();
        if is_big { out.extend_from_slice(bytes) } else { out.extend(bytes.iter().rev()) }
    }
    lua.create_string(out)
}

/// The numbers, and where the next one would begin.
fn unpack(_: &Lua, (format, data, from): (LuaString, LuaString, Option<usize>)) -> Result<MultiValue> {
    let (is_big, widths) = widths(&format.as_bytes())?;
    let (data, mut at) = (data.as_bytes(), from.unwrap_or(1).saturating_sub(1));
    let mut out = MultiValue::with_capacity(widths.len() + 1);
    #[expect(clippy::cast_precision_loss, reason = "a number of Lua 5.1 is a double")]
    for width in widths {
        let bytes = data.get(at..at.saturating_add(width)).ok_or_else(|| wrong("data string too short"))?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let number = if is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) };
        at += width;
        out.push_back(Value::Number(number as f64));
    }
    #[expect(clippy::cast_precision_loss, reason = "as above")]
    out.push_back(Value::Number((at + 1) as f64));
    Ok(out)
}

pub fn install(lua: &Lua) -> Result<()> {
    let library = lua.create_table()?;
    library.set("pack", lua.create_function(pack)?)?;
    library.set("unpack", lua.create_function(unpack)?)?;
    lua.globals().set("struct", library)
}
