//! The commands of Redis that scripts and the core send. `engine.rs` has those of connections and scripts.

use super::answer::Answer;
use super::args::{Args, Refusal, at, int, wrong_number};
use super::command::{Command, Does};
use super::state::State;
use super::store::Value;
use super::{hashes, keys, served, sorted};

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
    "HSCAN" -3 Read hashes::SCAN => hashes::scan;
    "HSET" -4 More &[] => hashes::set;
    "HSETNX" 4 More &[] => hashes::set_new;
    "INFO" -1 Read &[] => |state, _| Ok(Answer::text(state.info()));
    "PING" -1 Read &[] => keys::ping;
    "PTTL" 2 Read &[] => keys::time_to_live;
    "PUBLISH" 3 Read &[] => |state, args| Ok(Answer::count(state.publish(at(args, 0), at(args, 1))));
    "SET" -3 More keys::SET => keys::set;
    "TIME" 1 Read &[] => keys::time;
    "TYPE" 2 Read &[] => |state, args| Ok(Answer::status(state.store.any(at(args, 0)).map_or("none", Value::kind)));
    "UNLINK" -2 Less &[] => keys::delete;
    "WAIT" 3 Read &[] => |_, args| Ok(Answer::Int(int(at(args, 0))?));
    "WAITAOF" 4 Read &[] => |_, args| Ok(Answer::List(vec![Answer::Int(int(at(args, 0))?), Answer::Int(int(at(args, 1))?)]));
    "ZADD" -4 More sorted::ADD => sorted::add;
    "ZCARD" 2 Read &[] => sorted::len;
    "ZCOUNT" 4 Read &[] => sorted::count;
    "ZLEXCOUNT" 4 Read &[] => sorted::count_names;
    "ZMSCORE" -3 Read &[] => sorted::scores;
    "ZRANGE" -4 Read sorted::RANGE => |state, args| sorted::range(state, args, None);
    "ZRANGEBYLEX" -4 Read sorted::RANGE_BY_NAME => |state, args| sorted::range(state, args, Some("BYLEX"));
    "ZRANGEBYSCORE" -4 Read sorted::RANGE_BY_SCORE => |state, args| sorted::range(state, args, Some("BYSCORE"));
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
