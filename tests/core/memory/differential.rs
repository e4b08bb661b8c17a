//! Random commands, sent to Redis and to a store in memory: both answer the same and hold the same. `DELAYQUEUE_COMMANDS=100000` sends so many.

use super::commands::{Commands, KEYS};
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use redis::Value;

/// Environment variables: how many commands are sent, and the seed of chance.
const COMMANDS: &str = "DELAYQUEUE_COMMANDS";
const FIRST_SEED: &str = "DELAYQUEUE_FIRST_SEED";

/// Redis gives fields in any order; and a moment may pass between two answers.
fn comparable(words: &[Vec<u8>], value: Value) -> Value {
    let name = words[0].to_ascii_uppercase();
    match (name.as_slice(), value) {
        (b"HGETALL", Value::Map(mut pairs)) => {
            pairs.sort_by_key(|pair| format!("{pair:?}"));
            Value::Map(pairs)
        }
        (b"HGETALL", Value::Array(flat)) => pairs(flat),
        (b"HSCAN", Value::Array(mut parts)) => match parts.pop() {
            Some(Value::Array(flat)) => Value::Array(vec![Value::Array(parts), pairs(flat)]),
            other => Value::Array(parts.into_iter().chain(other).collect()),
        },
        (b"PTTL", Value::Int(ms)) if ms > 0 => Value::Int(ms / 5_000_000),
        (_, value) => without_signs(value),
    }
}

/// Redis loses the sign of -0 when it stores a set in another way; and C leaves open which whole number 2^63 of a script becomes.
fn without_signs(value: Value) -> Value {
    match value {
        Value::BulkString(text) if text == b"-0" => Value::BulkString(b"0".to_vec()),
        Value::Int(i64::MIN) => Value::Int(i64::MAX),
        Value::Array(values) => Value::Array(values.into_iter().map(without_signs).collect()),
        value => value,
    }
}

fn pairs(flat: Vec<Value>) -> Value {
    let mut pairs: Vec<Value> = flat.chunks(2).map(|pair| Value::Array(pair.to_vec())).collect();
    pairs.sort_by_key(|pair| format!("{pair:?}"));
    Value::Array(pairs)
}

fn shown(words: &[Vec<u8>]) -> String {
    words.iter().map(|word| format!("{:?}", String::from_utf8_lossy(word))).collect::<Vec<_>>().join(" ")
}

/// As a script calls it; the numbers of its line are not compared.
fn in_script(words: &[Vec<u8>], catches: bool) -> Vec<Vec<u8>> {
    let call = if catches { "return redis.pcall(unpack(ARGV))" } else { "return redis.call(unpack(ARGV))" };
    [b"EVAL".to_vec(), call.into(), "0".into()].into_iter().chain(words.iter().cloned()).collect()
}

#[test]
fn redis_and_memory_answer_alike() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<usize>().ok());
    let many = number(COMMANDS).unwrap_or(4_000);
    let seed = number(FIRST_SEED).and_then(|seed| u8::try_from(seed).ok()).unwrap_or(0);
    let server = Server::start(&[]);
    let (mut redis, mut memory) = (server.raw(), Raw::open(&Dsn::parse("memory://differential").unwrap()));
    let mut commands = Commands::of_seed(seed);
    let mut log: Vec<String> = Vec::new();
    let differ = |redis: &mut Raw, memory: &mut Raw, log: &mut Vec<String>, words: &[Vec<u8>], sent: &[Vec<u8>]| {
        let sent: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
        log.push(shown(words));
        let (wanted, found) = (redis.run_bytes(&sent), memory.run_bytes(&sent));
        let (wanted, found) = (comparable(words, wanted), comparable(words, found));
        let from = log.len().saturating_sub(8);
        assert_eq!(
            found,
            wanted,
            "memory beside Redis, seed {seed}, after {} commands:\n{}",
            log.len(),
            log[from..].join("\n")
        );
    };
    for n in 0..many {
        let words = commands.command();
        let sent = match commands.below(6) {
            0 => in_script(&words, true),
            1 => in_script(&words, false),
            _ => words.clone(),
        };
        differ(&mut redis, &mut memory, &mut log, &words, &sent);
        if n % 200 == 199 || n + 1 == many {
            for key in KEYS {
                for look in [
                    &["TYPE", key][..],
                    &["HGETALL", key],
                    &["ZRANGE", key, "0", "-1", "WITHSCORES"],
                    &["GET", key],
                    &["PTTL", key],
                ] {
                    let words: Vec<Vec<u8>> = look.iter().map(|word| word.as_bytes().to_vec()).collect();
                    differ(&mut redis, &mut memory, &mut log, &words, &words);
                }
                if commands.below(6) == 0 {
                    let words = vec![b"DEL".to_vec(), key.into()];
                    differ(&mut redis, &mut memory, &mut log, &words, &words);
                }
            }
        }
    }
    println!("{} commands were answered alike", log.len());
}
