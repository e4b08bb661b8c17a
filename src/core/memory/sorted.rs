//! The commands of sorted sets.

use super::answer::Answer;
use super::args::{Args, Outcome, at, int, options, refuse};
use super::state::State;
use super::zset::{LexEnd, ScoreEnd, Zset};

pub const ADD: &[&str; 5] = &["NX", "XX", "GT", "LT", "CH"];
pub const RANGE: &[&str] = &["BYSCORE", "BYLEX", "REV", "LIMIT", "WITHSCORES"];
pub const RANGE_BY_NAME: &[&str] = &["LIMIT"];
pub const RANGE_BY_SCORE: &[&str] = &["LIMIT", "WITHSCORES"];

fn double(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| !number.is_nan())
}

/// A number that a double cannot hold is none.
fn score_of(text: &[u8]) -> Outcome<f64> {
    let text = std::str::from_utf8(text).unwrap_or("x");
    let has = |kinds: &[char]| text.contains(kinds);
    let is_held = |number: &f64| match *number {
        number if number.is_infinite() => has(&['n', 'N']),
        0.0 => !text.split(['e', 'E']).next().unwrap_or("").contains(|digit| ('1'..='9').contains(&digit)),
        _ => true,
    };
    match double(text).filter(is_held) {
        Some(score) => Ok(score),
        None => refuse("value is not a valid float"),
    }
}

fn score_end(text: &[u8]) -> Outcome<ScoreEnd> {
    let (is_open, text) = text.strip_prefix(b"(").map_or((false, text), |text| (true, text));
    let text = std::str::from_utf8(text).unwrap_or("x").trim_ascii_start();
    match if text.is_empty() { Some(0.0) } else { double(text) } {
        Some(score) => Ok(ScoreEnd { score, is_open }),
        None => refuse("min or max is not a float"),
    }
}

fn lex_end(text: &[u8]) -> Outcome<LexEnd<'_>> {
    Ok(match text.split_first() {
        Some((b'[', member)) => LexEnd::Closed(member),
        Some((b'(', member)) => LexEnd::Open(member),
        Some((b'-', [])) => LexEnd::First,
        Some((b'+', [])) => LexEnd::Last,
        _ => return refuse("min or max not valid string range item"),
    })
}

pub fn add(state: &mut State, args: Args) -> Outcome {
    let is_option = |word: &&&[u8]| ADD.iter().any(|option| word.eq_ignore_ascii_case(option.as_bytes()));
    let given = args.iter().skip(1).take_while(is_option).count();
    let (words, pairs) = args.get(1..).unwrap_or_default().split_at(given);
    let has = |option: &str| words.iter().any(|word| word.eq_ignore_ascii_case(option.as_bytes()));
    let [nx, xx, gt, lt, ch] = ADD.map(has);
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return refuse("syntax error");
    }
    if nx && xx {
        return refuse("XX and NX options at the same time are not compatible");
    }
    if gt && lt || nx && (gt || lt) {
        return refuse("GT, LT, and/or NX options at the same time are not compatible");
    }
    // All scores are read before anything changes.
    let scores: Vec<f64> = pairs.iter().step_by(2).map(|text| score_of(text)).collect::<Outcome<_>>()?;
    let key = at(args, 0);
    if xx && state.store.get::<Zset>(key)?.is_none() {
        return Ok(Answer::Int(0));
    }
    let (zset, mut added, mut changed) = (state.store.make::<Zset>(key)?, 0, 0);
    for (score, member) in scores.into_iter().zip(pairs.iter().skip(1).step_by(2)) {
        match zset.score(member) {
            Some(_) if nx => {}
            Some(old) if gt && score <= old || lt && score >= old => {}
            None if xx => {}
            old => {
                changed += usize::from(old != Some(score));
                added += usize::from(zset.insert(member, score));
            }
        }
    }
    Ok(Answer::count(if ch { changed } else { added }))
}

pub fn remove(state: &mut State, args: Args) -> Outcome {
    let Some(zset) = state.store.get::<Zset>(at(args, 0))? else { return Ok(Answer::Int(0)) };
    Ok(Answer::count(args.iter().skip(1).filter(|member| zset.remove(member)).count()))
}

pub fn remove_by_score(state: &mut State, args: Args) -> Outcome {
    let (low, high) = (score_end(at(args, 1))?, score_end(at(args, 2))?);
    let Some(zset) = state.store.get::<Zset>(at(args, 0))? else { return Ok(Answer::Int(0)) };
    let gone: Vec<_> = zset.at(zset.by_score(low, high)).into_iter().map(|place| place.member.clone()).collect();
    Ok(Answer::count(gone.iter().filter(|member| zset.remove(member)).count()))
}

pub fn len(state: &mut State, args: Args) -> Outcome {
    Ok(Answer::count(state.store.get::<Zset>(at(args, 0))?.map_or(0, |zset| zset.len())))
}

pub fn score(state: &mut State, args: Args) -> Outcome {
    let zset = state.store.get::<Zset>(at(args, 0))?;
    Ok(zset.and_then(|zset| zset.score(at(args, 1))).map_or(Answer::Nil, Answer::Double))
}

pub fn scores(state: &mut State, args: Args) -> Outcome {
    let zset = state.store.get::<Zset>(at(args, 0))?;
    let score = |member: &&[u8]| zset.as_ref().and_then(|zset| zset.score(member)).map_or(Answer::Nil, Answer::Double);
    Ok(Answer::List(args.iter().skip(1).map(score).collect()))
}

pub fn rank(state: &mut State, args: Args) -> Outcome {
    let zset = state.store.get::<Zset>(at(args, 0))?;
    Ok(zset.and_then(|zset| zset.rank(at(args, 1))).map_or(Answer::Nil, Answer::count))
}

pub fn count(state: &mut State, args: Args) -> Outcome {
    let (low, high) = (score_end(at(args, 1))?, score_end(at(args, 2))?);
    Ok(Answer::count(state.store.get::<Zset>(at(args, 0))?.map_or(0, |zset| zset.by_score(low, high).len())))
}

pub fn count_names(state: &mut State, args: Args) -> Outcome {
    let (low, high) = (lex_end(at(args, 1))?, lex_end(at(args, 2))?);
    Ok(Answer::count(state.store.get::<Zset>(at(args, 0))?.map_or(0, |zset| zset.by_name(low, high).len())))
}

/// What both ends of a range are.
enum By<'a> {
    Score(ScoreEnd, ScoreEnd),
    Name(LexEnd<'a>, LexEnd<'a>),
    Rank(i64, i64),
}

/// `kind`: what the name of the command says already.
pub fn range(state: &mut State, args: Args, kind: Option<&'static str>) -> Outcome {
    let known = match kind {
        None => RANGE,
        Some("BYLEX") => RANGE_BY_NAME,
        Some(_) => RANGE_BY_SCORE,
    };
    let (mut given, mut limit) = (Vec::new(), None);
    options(known, args.get(3..).unwrap_or_default(), |option, values| {
        if option == "LIMIT" {
            limit = Some((int(at(values, 0))?, int(at(values, 1))?));
        }
        // What has been said is not said again, nor otherwise.
        let is_said =
            |other: &&str| *other == option && option == "REV" || other.starts_with("BY") && option.starts_with("BY");
        if given.iter().any(is_said) {
            return refuse("syntax error");
        }
        given.push(option);
        Ok(())
    })?;
    let has = |option: &str| kind == Some(option) || given.contains(&option);
    let (by_score, by_lex, is_back, with_scores) = (has("BYSCORE"), has("BYLEX"), has("REV"), has("WITHSCORES"));
    let (skip, most) = limit.unwrap_or((0, -1)); // below zero: as many as there are
    if limit.is_some() && !by_score && !by_lex {
        return refuse("syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
    }
    if with_scores && by_lex {
        return refuse("syntax error, WITHSCORES not supported in combination with BYLEX");
    }
    let (low, high) =
        if is_back && (by_score || by_lex) { (at(args, 2), at(args, 1)) } else { (at(args, 1), at(args, 2)) };
    let by = match (by_score, by_lex) {
        (true, _) => By::Score(score_end(low)?, score_end(high)?),
        (_, true) => By::Name(lex_end(low)?, lex_end(high)?),
        _ => By::Rank(int(low)?, int(high)?),
    };
    let Some(zset) = state.store.get::<Zset>(at(args, 0))? else { return Ok(Answer::List(Vec::new())) };
    let found = match by {
        By::Score(low, high) => zset.by_score(low, high),
        By::Name(low, high) => zset.by_name(low, high),
        By::Rank(first, last) if is_back => {
            let found = zset.by_rank(first, last);
            zset.len() - found.end..zset.len() - found.start
        }
        By::Rank(first, last) => zset.by_rank(first, last),
    };
    let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(found.len());
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(found.len() - skip);
    let found = match is_back {
        true => found.end - skip - most..found.end - skip,
        false => found.start + skip..found.start + skip + most,
    };
    let mut places = zset.at(found);
    if is_back {
        places.reverse();
    }
    Ok(match with_scores {
        true => Answer::Scored(
            places.into_iter().map(|place| (place.member.to_vec(), Answer::Double(place.score))).collect(),
        ),
        false => Answer::List(places.into_iter().map(|place| Answer::text(&place.member)).collect()),
    })
}
