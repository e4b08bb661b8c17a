//! Commands with which tests look behind the scenes of a store, and break things in it. They are in debug builds only.

use super::answer::{Answer, score_text};
use super::args::{Args, Outcome, at, int, refuse};
use super::command::{Command, Does};
use super::state::State;
use super::store::{Hash, Value};
use super::zset::Zset;

macro_rules! looks {
    ($($name:literal $words:literal $does:ident => $run:expr;)*) => {
        &[$(Command { name: $name, words: $words, does: Does::$does, options: &[], run: $run }),*]
    };
}

pub const COMMANDS: &[Command] = looks! {
    "KEYS" 2 Read => |state, args| {
        Ok(Answer::List(state.store.names().iter().filter(|name| matches(at(args, 0), name)).map(Answer::text).collect()))
    };
    "DBSIZE" 1 Read => |state, _| Ok(Answer::count(state.store.names().len()));
    "FLUSHALL" -1 Less => |state, _| {
        state.store.clear();
        state.seen.other.clear();
        Ok(Answer::OK)
    };
    "FLUSHDB" -1 Less => |state, _| {
        state.store.clear();
        Ok(Answer::OK)
    };
    "HKEYS" 2 Read => |state, args| hash(state, args, |field, _| Answer::text(field));
    "HVALS" 2 Read => |state, args| hash(state, args, |_, value| Answer::text(value));
    "RPUSH" -3 More => |state, args| {
        let list = state.store.make::<Vec<Vec<u8>>>(at(args, 0))?;
        list.extend(args.iter().skip(1).map(|value| value.to_vec()));
        Ok(Answer::count(list.len()))
    };
    "LLEN" 2 Read => |state, args| Ok(Answer::count(state.store.get::<Vec<Vec<u8>>>(at(args, 0))?.map_or(0, |list| list.len())));
    "LRANGE" 4 Read => |state, args| {
        let list = state.store.get::<Vec<Vec<u8>>>(at(args, 0))?;
        Ok(Answer::List(list.into_iter().flatten().map(|value| Answer::text(&*value)).collect()))
    };
    "RENAME" 3 Less => |state, args| {
        let Some(value) = state.store.remove(at(args, 0)) else { return refuse("no such key") };
        state.store.put(at(args, 1), value, None);
        Ok(Answer::OK)
    };
    "PEXPIRE" 3 Less => |state, args| {
        let (now_ms, ms) = (state.store.now_ms(), int(at(args, 1))?);
        let end = state.store.end(at(args, 0));
        let is_there = end.is_some();
        end.into_iter().for_each(|end| *end = Some(now_ms.saturating_add(ms)));
        Ok(Answer::count(usize::from(is_there)))
    };
    "COPY" -5 Less => |state, args| {
        let Some(value) = state.store.any(at(args, 0)).cloned() else { return Ok(Answer::Int(0)) };
        let is_own = (int(at(args, 3))? == 1) == state.seen.has_selected;
        let target = if is_own { &mut state.store } else { &mut state.seen.other };
        target.put(at(args, 1), value, None);
        Ok(Answer::Int(1))
    };
    "SELECT" 2 Read => |state, args| {
        if (int(at(args, 0))? == 1) != state.seen.has_selected {
            std::mem::swap(&mut state.store, &mut state.seen.other);
            state.store.now_us = state.seen.other.now_us;
            state.seen.has_selected = !state.seen.has_selected;
        }
        Ok(Answer::OK)
    };
    "DEBUG" -2 Read => digest;
    "CLIENT" -2 Read => |_, _| Ok(Answer::OK);
    "CONFIG" -2 Read => configure;
};

fn hash(state: &mut State, args: Args, part: fn(&[u8], &[u8]) -> Answer) -> Outcome {
    let hash = state.store.get::<Hash>(at(args, 0))?;
    Ok(Answer::List(hash.iter().flat_map(|hash| hash.all()).map(|(field, value)| part(field, value)).collect()))
}

/// `CONFIG GET`, which says nothing, `CONFIG SET` and `CONFIG RESETSTAT`.
fn configure(state: &mut State, args: Args) -> Outcome {
    match at(args, 0).to_ascii_uppercase().as_slice() {
        b"GET" => return Ok(Answer::Map(Vec::new())),
        b"RESETSTAT" => {
            state.seen.calls.clear();
            return Ok(Answer::OK);
        }
        _ => {}
    }
    if at(args, 1) != b"maxmemory" {
        return refuse("Unknown option or number of arguments for CONFIG SET");
    }
    state.most_bytes = usize::try_from(int(at(args, 2))?).unwrap_or(0);
    Ok(Answer::OK)
}

/// `*` and `?` are all that anybody asks with.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, text) || text.split_first().is_some_and(|(_, text)| matches(pattern, text))
        }
        (Some((b'?', rest)), Some((_, text))) => matches(rest, text),
        (Some((one, rest)), Some((other, text))) => one == other && matches(rest, text),
        _ => false,
    }
}

/// `DEBUG DIGEST` and `DEBUG DIGEST-VALUE`, which tests compare with earlier ones.
fn digest(state: &mut State, args: Args) -> Outcome {
    let sum = |text: &[u8]| sha1_smol::Sha1::from(text).digest().to_string();
    match at(args, 0).to_ascii_uppercase().as_slice() {
        b"DIGEST-VALUE" => {
            let of = |key: &&[u8]| Answer::text(sum(&content(state, key)));
            Ok(Answer::List(args.iter().skip(1).map(of).collect()))
        }
        b"DIGEST" => {
            let names = state.store.names();
            let all: Vec<u8> = names.iter().flat_map(|name| [name.to_vec(), content(state, name)].concat()).collect();
            Ok(Answer::text(sum(&all)))
        }
        #[expect(clippy::panic, reason = "as a fault of ours would")]
        b"PANIC" => panic!("a panic inside a command"),
        _ => refuse("DEBUG subcommand not supported"),
    }
}

fn content(state: &mut State, key: &[u8]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    if let Ok(Some(hash)) = state.store.get::<Hash>(key) {
        parts.extend(hash.all().flat_map(|(field, value)| [field.to_vec(), value.to_vec()]));
    } else if let Ok(Some(zset)) = state.store.get::<Zset>(key) {
        let places = zset.at(0..zset.len()).into_iter();
        parts.extend(places.flat_map(|place| [place.member.to_vec(), score_text(place.score).into_bytes()]));
    } else {
        match state.store.any(key) {
            Some(Value::Text(text)) => parts.push(text.clone()),
            Some(Value::List(values)) => parts.extend(values.iter().cloned()),
            _ => {}
        }
    }
    parts.iter().flat_map(|part| [&(part.len() as u64).to_be_bytes(), part.as_slice()].concat()).collect()
}
