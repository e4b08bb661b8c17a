//! Large keys: their answers beside those of Redis, and a look through a hash while it changes.

use super::faults::raw;
use crate::support::*;
use std::collections::BTreeSet;

/// So many that places and fields lie in several lists.
const MANY: u64 = 3_000;

/// Numbers below a limit in an order that looks like none, always the same.
fn mixed(n: u64, limit: u64) -> u64 {
    (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) % limit
}

#[test]
fn a_large_sorted_set_answers_as_that_of_redis_while_it_grows_and_shrinks() {
    let server = Server::start(&[]);
    let (mut redis, mut memory) = (server.raw(), raw("memory://large"));
    let mut alike = |command: &[String]| {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let (wanted, found) = (redis.run(&words), memory.run(&words));
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{command:?}");
    };
    let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let looks = |alike: &mut dyn FnMut(&[String])| {
        for n in 0..40 {
            let (low, high) = (mixed(n, 500), mixed(n, 500) + mixed(n + 9, 300));
            alike(&words(format!("ZRANK z member-{}", mixed(n, MANY))));
            alike(&words(format!("ZCOUNT z ({low} {high}")));
            alike(&words(format!("ZRANGEBYSCORE z {low} +inf WITHSCORES LIMIT {} 300", mixed(n, 900))));
            alike(&words(format!("ZRANGE z {high} ({low} BYSCORE REV LIMIT 7 300")));
            alike(&words(format!("ZRANGE z {} {}", mixed(n, MANY), mixed(n + 1, MANY))));
        }
    };
    for n in 0..MANY {
        alike(&words(format!("ZADD z {} member-{}", mixed(n, 500), mixed(n, MANY))));
    }
    looks(&mut alike);
    for n in 0..MANY / 2 {
        alike(&words(format!("ZADD z {} member-{}", mixed(n + 7, 500), mixed(n * 3, MANY))));
        alike(&words(format!("ZREM z member-{}", mixed(n * 2, MANY))));
    }
    looks(&mut alike);
    for score in 0..500 {
        alike(&words(format!("ZREMRANGEBYSCORE z -inf {score}")));
        alike(&words("ZRANGE z 0 0 WITHSCORES".to_owned()));
    }
    alike(&words("EXISTS z".to_owned()));
}

#[test]
fn a_script_is_given_as_many_values_as_by_redis() {
    let server = Server::start(&[]);
    let script = "for n = 1, 20000 do redis.call('ZADD', KEYS[1], n, n) end \
        return {#ARGV, #redis.call('ZRANGE', KEYS[1], 0, -1), #redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}";
    let mut command = vec!["EVAL", script, "1", "z"];
    command.extend(["x"; 10_000]);
    let (wanted, found) = (server.raw().run(&command), raw("memory://given").run(&command));
    assert_eq!(format!("{wanted:?}"), "array([int(10000), int(20000), int(40000)])");
    assert_eq!(found, wanted);
}

#[test]
fn a_look_through_a_hash_meets_each_field_that_is_there_all_the_time() {
    let mut memory = raw("memory://scanned");
    for n in 0..MANY {
        memory.run(&["HSET", "h", &format!("stays-{n}"), "x", &format!("goes-{n}"), "x"]);
    }
    let (mut cursor, mut met, mut gone) = ("0".to_owned(), BTreeSet::new(), 0);
    loop {
        let redis::Value::Array(answer) = memory.run(&["HSCAN", "h", &cursor, "COUNT", "70"]) else { panic!() };
        let [next, redis::Value::Array(found)] = &answer[..] else { panic!("{answer:?}") };
        met.extend(found.iter().step_by(2).map(|field| format!("{field:?}")));
        for n in gone..MANY.min(gone + 60) {
            memory.run(&["HDEL", "h", &format!("goes-{}", mixed(n, MANY))]);
            memory.run(&["HSET", "h", &format!("comes-{n}"), "x"]);
        }
        gone += 60;
        cursor = delayqueue::core::reply::text(next.clone()).unwrap();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(met.iter().filter(|field| field.contains("stays-")).count() as u64, MANY);
}
