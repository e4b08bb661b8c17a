//! `struct.pack` and `struct.unpack`, as Redis offers them to scripts: whole numbers without a sign, the highest byte first, which are all that ours use.

use mlua::{Lua, LuaString, MultiValue, Result, Value};

fn wrong(what: &str) -> mlua::Error {
    mlua::Error::runtime(what)
}

/// How many bytes each number of a format takes: `>`, then `B` or `I2` to `I8` for each.
fn widths(format: &[u8]) -> Result<Vec<usize>> {
    let unknown = || wrong("invalid format option");
    let mut rest = format.strip_prefix(b">").ok_or_else(unknown)?.iter();
    let mut widths = Vec::new();
    while let Some(kind) = rest.next() {
        widths.push(match kind {
            b'B' => 1,
            b'I' => match rest.next() {
                Some(digit @ b'1'..=b'8') => usize::from(digit - b'0'),
                _ => return Err(unknown()),
            },
            _ => return Err(unknown()),
        });
    }
    Ok(widths)
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
    let mut out = Vec::new();
    for width in widths(&format.as_bytes())? {
        let bytes = number_of(lua, args.next())?.to_be_bytes();
        out.extend_from_slice(bytes.get(8 - width..).unwrap_or_default());
    }
    lua.create_string(out)
}

/// The numbers, and where the next one would begin.
fn unpack(_: &Lua, (format, data, from): (LuaString, LuaString, Option<usize>)) -> Result<MultiValue> {
    let widths = widths(&format.as_bytes())?;
    let (data, mut at) = (data.as_bytes(), from.unwrap_or(1).saturating_sub(1));
    let mut out = MultiValue::with_capacity(widths.len() + 1);
    #[expect(clippy::cast_precision_loss, reason = "a number of Lua 5.1 is a double")]
    for width in widths {
        let bytes = data.get(at..at.saturating_add(width)).ok_or_else(|| wrong("data string too short"))?;
        let number = bytes.iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
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
