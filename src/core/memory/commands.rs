//! The commands of Redis that scripts and the core send: their table and their arguments. `engine.rs` has those of connections and scripts.

use super::answer::Answer;
use super::engine::State;
use super::store::{Value, WrongType};
use super::{hashes, keys, served, sorted};

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

/// What a command may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Read,
    /// It writes, and needs no memory for that.
    Less,
    /// A full store refuses it.
    More,
}

pub struct Command {
    pub name: &'static str,
    /// How many words it has with its name; below zero: at least so many.
    pub words: isize,
    pub does: Does,
    /// The words that it knows beside its values.
    pub options: &'static [&'static str],
    pub run: fn(&mut State, Args) -> Outcome,
}

const RANGE: &[&str] = &["BYSCORE", "BYLEX", "REV", "LIMIT", "WITHSCORES"];

macro_rules! commands {
    ($($name:literal $words:literal $does:ident $options:expr => $run:expr;)*) => {
        &[$(Command { name: $name, words: $words, does: Does::$does, options: $options, run: $run }),*]
    };
}

pub const COMMANDS: &[Command] = commands! {
    "APPEND" 3 More &[] => keys::append;
    "CONFIG" -2 Read &["GET"] => |_, _| Ok(Answer::Map(Vec::new()));
    "DEL" -2 Less &[] => keys::delete;
    "EXISTS" -2 Read &[] => keys::exists;
    "GET" 2 Read &[] => |state, args| Ok(Answer::text_or_nil(state.store.get::<Vec<u8>>(at(args, 0))?));
    "GETRANGE" 4 Read &[] => keys::get_range;
    "HDEL" -3 Less &[] => hashes::delete;
    "HEXISTS" 3 Read &[] => hashes::exists;
    "HGET" 3 Read &[] => hashes::get;
    "HGETALL" 2 Read &[] => hashes::get_all;
    "HINCRBY" 4 More &[] => hashes::increase;
    "HLEN" 2 Read &[] => hashes::len;
    "HMGET" -3 Read &[] => hashes::get_many;
    "HSCAN" -3 Read &["COUNT"] => hashes::scan;
    "HSET" -4 More &[] => hashes::set;
    "HSETNX" 4 More &[] => hashes::set_new;
    "INFO" -1 Read &[] => |state, _| Ok(Answer::text(state.info()));
    "PING" -1 Read &[] => keys::ping;
    "PTTL" 2 Read &[] => keys::time_to_live;
    "PUBLISH" 3 Read &[] => |state, args| Ok(Answer::count(state.publish(at(args, 0), at(args, 1))));
    "SET" -3 More &["PX", "GET"] => keys::set;
    "TIME" 1 Read &[] => keys::time;
    "TYPE" 2 Read &[] => |state, args| Ok(Answer::status(state.store.any(at(args, 0)).map_or("none", Value::kind)));
    "UNLINK" -2 Less &[] => keys::delete;
    "WAIT" 3 Read &[] => |_, args| Ok(Answer::Int(int(at(args, 0))?));
    "WAITAOF" 4 Read &[] => |_, args| Ok(Answer::List(vec![Answer::Int(int(at(args, 0))?), Answer::Int(int(at(args, 1))?)]));
    "ZADD" -4 More &["NX", "XX", "GT", "LT", "CH"] => sorted::add;
    "ZCARD" 2 Read &[] => sorted::len;
    "ZCOUNT" 4 Read &[] => sorted::count;
    "ZLEXCOUNT" 4 Read &[] => sorted::count_names;
    "ZMSCORE" -3 Read &[] => sorted::scores;
    "ZRANGE" -4 Read RANGE => |state, args| sorted::range(state, args, None);
    "ZRANGEBYLEX" -4 Read &["LIMIT"] => |state, args| sorted::range(state, args, Some("BYLEX"));
    "ZRANGEBYSCORE" -4 Read &["LIMIT", "WITHSCORES"] => |state, args| sorted::range(state, args, Some("BYSCORE"));
    "ZRANK" 3 Read &[] => sorted::rank;
    "ZREM" -3 Less &[] => sorted::remove;
    "ZREMRANGEBYSCORE" 4 Less &[] => sorted::remove_by_score;
    "ZSCORE" 3 Read &[] => sorted::score;
};

fn find(name: &[u8]) -> Option<&'static Command> {
    served::COMMANDS.iter().chain(COMMANDS).find(|command| name.eq_ignore_ascii_case(command.name.as_bytes()))
}

/// Carries a command out, as Redis would: of a script where one runs.
pub fn run(state: &mut State, words: &[&[u8]]) -> Answer {
    let Some((name, args)) = words.split_first() else { return Answer::Error("ERR empty command".into()) };
    let Some(command) = find(name) else {
        return Answer::Error(if state.script.is_some() {
            "ERR Unknown Redis command called from script".into()
        } else {
            unknown(name, args)
        });
    };
    state.seen.count(command.name);
    if !fits(words.len(), command.words) {
        return Answer::Error(match state.script {
            Some(_) => "ERR Wrong number of args calling Redis command from script".into(),
            None => wrong_number(command.name),
        });
    }
    if command.does == Does::More && state.refuses_more() {
        return Answer::Error("OOM command not allowed when used memory > 'maxmemory'.".into());
    }
    let writes = command.does != Does::Read;
    if writes && let Some(script) = &mut state.script {
        script.has_written = true;
    }
    let answer = (command.run)(state, args).unwrap_or_else(|Refusal(why)| Answer::Error(why));
    if writes {
        state.store.settle(at(args, 0));
    }
    answer
}

fn fits(words: usize, needed: isize) -> bool {
    if needed < 0 { words >= needed.unsigned_abs() } else { words == needed.unsigned_abs() }
}

pub fn wrong_number(name: &str) -> String {
    format!("ERR wrong number of arguments for '{}' command", name.to_ascii_lowercase())
}

fn unknown(name: &[u8], args: Args) -> String {
    let mut text = format!("ERR unknown command '{}', with args beginning with: ", shown(name));
    let begin = text.len();
    for arg in args {
        if text.len() - begin >= 128 {
            break;
        }
        text.push_str(&format!("'{}' ", shown(arg)));
    }
    text
}

fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(word.get(..128).unwrap_or(word)).into_owned()
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

/// Reads the options at the end of a command, which must know them, each with the values behind it.
pub fn options<'a>(
    name: &str,
    args: Args<'a>,
    mut read: impl FnMut(&'static str, Args<'a>) -> Outcome<()>,
) -> Outcome<()> {
    let mut rest = args;
    while let Some((word, tail)) = rest.split_first() {
        let known = find(name.as_bytes())
            .and_then(|command| command.options.iter().find(|option| word.eq_ignore_ascii_case(option.as_bytes())));
        let Some(option) = known else { return refuse("syntax error") };
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
