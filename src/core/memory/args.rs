//! The arguments of a command, and why one is refused.

use super::answer::Answer;
use super::store::WrongType;

/// Why a command is refused.
#[derive(Debug)]
pub struct Refusal(pub String);

impl From<WrongType> for Refusal {
    fn from(_: WrongType) -> Self {
        Self("WRONGTYPE Operation against a key holding the wrong kind of value".into())
    }
}

pub fn refuse<T>(why: &str) -> Outcome<T> {
    Err(Refusal(format!("ERR {why}")))
}

pub type Outcome<T = Answer> = Result<T, Refusal>;
/// Those of a command, without its name.
pub type Args<'a> = &'a [&'a [u8]];

pub fn wrong_number(name: &str) -> String {
    format!("ERR wrong number of arguments for '{}' command", name.to_ascii_lowercase())
}

/// One that is known to be there.
pub fn at<'a>(args: Args<'a>, index: usize) -> &'a [u8] {
    args.get(index).copied().unwrap_or_default()
}

/// A whole number as Redis reads it: in one way only.
pub fn int(text: &[u8]) -> Outcome<i64> {
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    match parsed.filter(|number| itoa::Buffer::new().format(*number).as_bytes() == text) {
        Some(number) => Ok(number),
        None => refuse("value is not an integer or out of range"),
    }
}

/// Reads the options at the end of a command, each with the values behind it. One that is not `known` is refused.
pub fn options<'a>(
    known: &[&'static str],
    args: Args<'a>,
    mut read: impl FnMut(&'static str, Args<'a>) -> Outcome<()>,
) -> Outcome<()> {
    let mut rest = args;
    while let Some((word, tail)) = rest.split_first() {
        let option = known.iter().find(|option| word.eq_ignore_ascii_case(option.as_bytes()));
        let Some(option) = option else { return refuse("syntax error") };
        let values = match *option {
            "LIMIT" => 2,
            "COUNT" | "PX" => 1,
            _ => 0,
        };
        let Some((values, tail)) = tail.split_at_checked(values) else { return refuse("syntax error") };
        read(option, values)?;
        rest = tail;
    }
    Ok(())
}
