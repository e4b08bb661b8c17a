//! The commands of Redis that scripts and the core send: their table, their arguments, and those of keys and texts. `hashes.rs` and `sorted.rs` have
//! the others, `engine.rs` those of connections and scripts.

use super::answer::Answer;
use super::engine::State;
use super::store::{Value, WrongType};
use super::{hashes, sorted};

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

/// In the order of their names.
pub const COMMANDS: &[Command] = commands! {
    "APPEND" 3 More &[] => append;
    "CONFIG" -2 Read &["GET"] => config;
    "DEL" -2 Less &[] => delete;
    "EXISTS" -2 Read &[] => exists;
    "GET" 2 Read &[] => |state, args| Ok(Answer::text_or_nil(state.store.get::<Vec<u8>>(at(args, 0))?));
    "GETRANGE" 4 Read &[] => get_range;
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
    "PING" -1 Read &[] => ping;
    "PTTL" 2 Read &[] => time_to_live;
    "PUBLISH" 3 Read &[] => |state, args| Ok(Answer::count(state.publish(at(args, 0), at(args, 1))));
    "SET" -3 More &["PX", "GET"] => set;
    "TIME" 1 Read &[] => time;
    "TYPE" 2 Read &[] => |state, args| Ok(Answer::status(state.store.any(at(args, 0)).map_or("none", Value::kind)));
    "UNLINK" -2 Less &[] => delete;
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

pub fn find(name: &[u8]) -> Option<&'static Command> {
    let mut upper = [0u8; 24];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name);
    upper.make_ascii_uppercase();
    let found = COMMANDS.binary_search_by(|command| command.name.as_bytes().cmp(upper)).ok();
    #[cfg(debug_assertions)]
    let found = found.and_then(|at| COMMANDS.get(at)).or_else(|| super::served::find(upper));
    #[cfg(not(debug_assertions))]
    let found = found.and_then(|at| COMMANDS.get(at));
    found
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
    #[cfg(debug_assertions)]
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

pub fn unknown(name: &[u8], args: Args) -> String {
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

fn ping(_: &mut State, args: Args) -> Outcome {
    match args {
        [] => Ok(Answer::status("PONG")),
        [text] => Ok(Answer::text(text)),
        _ => Err(Refusal(wrong_number("PING"))),
    }
}

fn time(state: &mut State, _: Args) -> Outcome {
    let us = state.store.now_us;
    Ok(Answer::List([us / 1_000_000, us % 1_000_000].map(|number| Answer::text(number.to_string())).into()))
}

fn delete(state: &mut State, args: Args) -> Outcome {
    Ok(Answer::count(args.iter().filter(|key| state.store.remove(key).is_some()).count()))
}

fn exists(state: &mut State, args: Args) -> Outcome {
    Ok(Answer::count(args.iter().filter(|key| state.store.any(key).is_some()).count()))
}

fn time_to_live(state: &mut State, args: Args) -> Outcome {
    let now_ms = state.store.now_ms();
    Ok(Answer::Int(match state.store.end(at(args, 0)) {
        None => -2,
        Some(None) => -1,
        Some(Some(end)) => (*end - now_ms).max(0),
    }))
}

fn append(state: &mut State, args: Args) -> Outcome {
    let text = state.store.make::<Vec<u8>>(at(args, 0))?;
    text.extend_from_slice(at(args, 1));
    Ok(Answer::count(text.len()))
}

fn get_range(state: &mut State, args: Args) -> Outcome {
    let (from, to) = (int(at(args, 1))?, int(at(args, 2))?);
    let Some(text) = state.store.get::<Vec<u8>>(at(args, 0))? else { return Ok(Answer::text("")) };
    if from < 0 && to < 0 && from > to {
        return Ok(Answer::text(""));
    }
    let len = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let place = |index: i64| usize::try_from(if index < 0 { index.saturating_add(len) } else { index }).unwrap_or(0);
    Ok(Answer::text(text.get(place(from)..text.len().min(place(to).saturating_add(1))).unwrap_or_default()))
}

fn set(state: &mut State, args: Args) -> Outcome {
    let (mut lives, mut gives_old) = (None, false);
    options("SET", args.get(2..).unwrap_or_default(), |option, values| {
        match option {
            "GET" => gives_old = true,
            _ => lives = Some(at(values, 0)),
        }
        Ok(())
    })?;
    let ends_ms = match lives.map(int).transpose()? {
        None => None,
        Some(ms @ 1..) => Some(state.store.now_ms().saturating_add(ms)),
        Some(_) => return refuse("invalid expire time in 'set' command"),
    };
    let key = at(args, 0);
    let answer = if gives_old { Answer::text_or_nil(state.store.get::<Vec<u8>>(key)?) } else { Answer::OK };
    state.store.put(key, Value::Text(at(args, 1).to_vec()), ends_ms);
    Ok(answer)
}

/// Nothing can be set here.
fn config(state: &mut State, args: Args) -> Outcome {
    #[cfg(debug_assertions)]
    if !at(args, 0).eq_ignore_ascii_case(b"GET") {
        return super::served::configure(state, args);
    }
    let _ = (state, args);
    Ok(Answer::Map(Vec::new()))
}
