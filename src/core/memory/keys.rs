//! The commands of keys and texts.

use super::answer::Answer;
use super::args::{Args, Outcome, Refusal, at, int, options, refuse, wrong_number};
use super::state::State;
use super::store::Value;

pub const SET: &[&str] = &["PX", "GET"];

pub fn ping(_: &mut State, args: Args) -> Outcome {
    match args {
        [] => Ok(Answer::status("PONG")),
        [text] => Ok(Answer::text(text)),
        _ => Err(Refusal(wrong_number("PING"))),
    }
}

pub fn time(state: &mut State, _: Args) -> Outcome {
    let us = state.store.now_us;
    Ok(Answer::List([us / 1_000_000, us % 1_000_000].map(|number| Answer::text(number.to_string())).into()))
}

pub fn delete(state: &mut State, args: Args) -> Outcome {
    Ok(Answer::count(args.iter().filter(|key| state.store.remove(key).is_some()).count()))
}

pub fn exists(state: &mut State, args: Args) -> Outcome {
    Ok(Answer::count(args.iter().filter(|key| state.store.any(key).is_some()).count()))
}

pub fn time_to_live(state: &mut State, args: Args) -> Outcome {
    let now_ms = state.store.now_ms();
    Ok(Answer::Int(match state.store.end(at(args, 0)) {
        None => -2,
        Some(None) => -1,
        Some(Some(end)) => (*end - now_ms).max(0),
    }))
}

pub fn append(state: &mut State, args: Args) -> Outcome {
    let text = state.store.make::<Vec<u8>>(at(args, 0))?;
    text.extend_from_slice(at(args, 1));
    Ok(Answer::count(text.len()))
}

pub fn get_range(state: &mut State, args: Args) -> Outcome {
    let (from, to) = (int(at(args, 1))?, int(at(args, 2))?);
    let Some(text) = state.store.get::<Vec<u8>>(at(args, 0))? else { return Ok(Answer::text("")) };
    if from < 0 && to < 0 && from > to {
        return Ok(Answer::text(""));
    }
    let len = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let place = |index: i64| usize::try_from(if index < 0 { index.saturating_add(len) } else { index }).unwrap_or(0);
    Ok(Answer::text(text.get(place(from)..text.len().min(place(to).saturating_add(1))).unwrap_or_default()))
}

pub fn set(state: &mut State, args: Args) -> Outcome {
    let (mut lives, mut gives_old) = (None, false);
    options(SET, args.get(2..).unwrap_or_default(), |option, values| {
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
