//! The commands of hashes.

use super::answer::Answer;
use super::args::{Args, Outcome, Refusal, at, int, options, refuse, wrong_number};
use super::state::State;
use super::store::Hash;

pub const SCAN: &[&str] = &["COUNT"];

fn tail<'a>(args: Args<'a>) -> Args<'a> {
    args.get(1..).unwrap_or_default()
}

pub fn len(state: &mut State, args: Args) -> Outcome {
    Ok(Answer::count(state.store.get::<Hash>(at(args, 0))?.map_or(0, |hash| hash.len())))
}

pub fn get(state: &mut State, args: Args) -> Outcome {
    let hash = state.store.get::<Hash>(at(args, 0))?;
    Ok(Answer::text_or_nil(hash.and_then(|hash| hash.get(at(args, 1)))))
}

pub fn get_many(state: &mut State, args: Args) -> Outcome {
    let hash = state.store.get::<Hash>(at(args, 0))?;
    let get = |field: &&[u8]| Answer::text_or_nil(hash.as_ref().and_then(|hash| hash.get(field)));
    Ok(Answer::List(tail(args).iter().map(get).collect()))
}

pub fn get_all(state: &mut State, args: Args) -> Outcome {
    let hash = state.store.get::<Hash>(at(args, 0))?;
    let pairs = hash.iter().flat_map(|hash| hash.all());
    Ok(Answer::Map(pairs.map(|(field, value)| (field.to_vec(), Answer::text(value))).collect()))
}

pub fn exists(state: &mut State, args: Args) -> Outcome {
    let hash = state.store.get::<Hash>(at(args, 0))?;
    Ok(Answer::count(usize::from(hash.is_some_and(|hash| hash.get(at(args, 1)).is_some()))))
}

pub fn set(state: &mut State, args: Args) -> Outcome {
    if args.len().is_multiple_of(2) {
        return Err(Refusal(wrong_number("HSET")));
    }
    let hash = state.store.make::<Hash>(at(args, 0))?;
    Ok(Answer::count(tail(args).chunks_exact(2).filter(|pair| hash.set(at(pair, 0), at(pair, 1))).count()))
}

pub fn set_new(state: &mut State, args: Args) -> Outcome {
    let hash = state.store.make::<Hash>(at(args, 0))?;
    let is_new = hash.get(at(args, 1)).is_none();
    Ok(Answer::count(usize::from(is_new && hash.set(at(args, 1), at(args, 2)))))
}

pub fn delete(state: &mut State, args: Args) -> Outcome {
    let Some(hash) = state.store.get::<Hash>(at(args, 0))? else { return Ok(Answer::Int(0)) };
    Ok(Answer::count(tail(args).iter().filter(|field| hash.remove(field)).count()))
}

pub fn increase(state: &mut State, args: Args) -> Outcome {
    let (field, by) = (at(args, 1), int(at(args, 2))?);
    let hash = state.store.make::<Hash>(at(args, 0))?;
    let before = match hash.get(field).map(int) {
        None => 0,
        Some(Ok(number)) => number,
        Some(Err(_)) => return refuse("hash value is not an integer"),
    };
    let Some(after) = before.checked_add(by) else { return refuse("increment or decrement would overflow") };
    hash.set(field, itoa::Buffer::new().format(after).as_bytes());
    Ok(Answer::Int(after))
}

pub fn scan(state: &mut State, args: Args) -> Outcome {
    let cursor = std::str::from_utf8(at(args, 1)).ok().and_then(|cursor| cursor.parse().ok());
    let Some(cursor) = cursor else { return refuse("invalid cursor") };
    let Some(hash) = state.store.get::<Hash>(at(args, 0))? else {
        return Ok(Answer::List(vec![Answer::text("0"), Answer::List(Vec::new())]));
    };
    let mut count = 10;
    options(SCAN, args.get(2..).unwrap_or_default(), |_, values| {
        count = usize::try_from(int(at(values, 0))?).unwrap_or(0);
        if count == 0 { refuse("syntax error") } else { Ok(()) }
    })?;
    let (next, found) = hash.scan(cursor, count);
    let pairs = found.into_iter().flat_map(|(field, value)| [Answer::text(field), Answer::text(value)]);
    Ok(Answer::List(vec![Answer::text(next.to_string()), Answer::List(pairs.collect())]))
}
