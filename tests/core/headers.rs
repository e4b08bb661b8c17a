//! The header of every script says exactly what its body does.

use crate::support::*;
use delayqueue::core::job::{Due, LeaseReceipt, NewJob, State};
use delayqueue::core::keys::Keys;
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::Fetch;
use delayqueue::core::scripts::{self, Script};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn lua_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lua")
}

/// Names of the Lua files in a directory, without their ending.
fn files(dir: &Path) -> BTreeSet<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".lua").map(str::to_owned)).collect()
}

/// The comment lines a script begins with, without their dashes.
fn header(text: &str) -> Vec<&str> {
    text.lines().map_while(|line| line.strip_prefix("--")).take_while(|line| !line.starts_with('@')).collect()
}

/// The assembled script without comments.
fn code(script: &Script) -> String {
    script.source.lines().map(|line| line.split("--").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The text behind each occurrence of `before`, up to the first character that `wanted` does not accept.
fn after<'a>(text: &'a str, before: &str, wanted: fn(char) -> bool) -> Vec<&'a str> {
    text.match_indices(before)
        .map(|(at, _)| {
            let rest = &text[at + before.len()..];
            &rest[..rest.find(|c| !wanted(c)).unwrap_or(rest.len())]
        })
        .collect()
}

fn numbers(text: &str, array: &str) -> BTreeSet<u32> {
    after(text, &format!("{array}["), |c| c.is_ascii_digit()).iter().filter_map(|digits| digits.parse().ok()).collect()
}

/// Quoted words in capitals that are neither a command nor an option of one, and whether each is an answer of its own, without a list.
fn status_words(code: &str) -> BTreeSet<(&str, bool)> {
    let options = ["WITHSCORES", "BYSCORE", "LIMIT", "COUNT", "NX", "XX", "LT", "GT", "CH"];
    let mut words = BTreeSet::new();
    for (at, _) in code.match_indices('\'') {
        let rest = &code[at + 1..];
        let word = &rest[..rest.find('\'').unwrap_or(0)];
        let is_word = word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
        let is_command = ["call(", "try("].iter().any(|call| code[..at].ends_with(call));
        if is_word && !is_command && !options.contains(&word) {
            words.insert((word, code[..at].ends_with("return ")));
        }
    }
    words
}

/// The paragraph of a header that begins with a word, its continuation lines included.
fn paragraph(header: &[&str], word: &str) -> String {
    let mut lines = header.iter().skip_while(|line| line.split_whitespace().next() != Some(word));
    let first = lines.next().copied().unwrap_or_default();
    let more = lines.take_while(|line| line.starts_with("       "));
    std::iter::once(first).chain(more.copied()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_line_names_the_file_and_says_what_it_does() {
    for (script, text) in scripts::all() {
        let first = header(text)[0];
        let what = first.strip_prefix(&format!(" {}.lua: ", script.name));
        assert!(what.is_some_and(|what| what.len() > 10), "{}: {first}", script.name);
    }
    for name in files(&lua_dir().join("lib")) {
        let text = std::fs::read_to_string(lua_dir().join("lib").join(format!("{name}.lua"))).unwrap();
        let what = text.strip_prefix(&format!("-- lib/{name}.lua: "));
        assert!(what.is_some_and(|what| what.lines().next().unwrap().len() > 10), "lib/{name}.lua");
    }
}

#[test]
fn every_file_is_known_and_every_fragment_is_used() {
    let known: BTreeSet<String> = scripts::all().iter().map(|(script, _)| script.name.to_owned()).collect();
    assert_eq!(files(&lua_dir()), known);
    for name in files(&lua_dir().join("lib")) {
        let text = std::fs::read_to_string(lua_dir().join("lib").join(format!("{name}.lua"))).unwrap();
        let first = text.lines().find(|line| !line.trim_start().starts_with("--")).unwrap();
        assert!(scripts::all().iter().any(|(script, _)| script.source.contains(first)), "nothing includes lib/{name}");
    }
}

#[test]
fn jobs_leave_reserved_and_the_queue_in_two_fragments() {
    let [ends, done] =
        ["ends", "done"].map(|name| std::fs::read_to_string(lua_dir().join(format!("lib/{name}.lua"))).unwrap());
    // The consumers' calls are in `leases`, too; the empty member is none, and the long one stays for no longer than the script runs.
    let others = ["'HDEL', leases, '\\n'", "'ZREM', reserved, '')", "'ZREM', reserved, long)"];
    for end in ["'HDEL', jobs", "'HDEL', leases", "'ZREM', reserved"] {
        assert!(ends.contains(end) && done.contains(end));
        for dir in [lua_dir(), lua_dir().join("lib")] {
            for name in files(&dir).into_iter().filter(|name| name != "ends" && name != "done") {
                let text = std::fs::read_to_string(dir.join(format!("{name}.lua"))).unwrap();
                let found: Vec<&str> = text.lines().filter(|line| line.contains(end)).collect();
                assert!(found.iter().all(|line| others.iter().any(|other| line.contains(other))), "{name}: {found:?}");
            }
        }
    }
}

#[test]
fn the_protocol_names_the_scripts_that_take_back_jobs_whose_lease_is_over() {
    let protocol = std::fs::read_to_string(lua_dir().join("README.md")).unwrap();
    let (_, rest) = protocol.split_once("**Expired leases.**").unwrap();
    let (list, _) = rest.split_once("first take back").unwrap();
    let named: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    let all = scripts::all();
    let takes_back = |script: &Script| script.source.contains("local function take_back(");
    let expected = all.iter().map(|(script, _)| *script).filter(|script| takes_back(script)).map(|script| script.name);
    assert_eq!(named, expected.collect());
}

#[test]
fn the_documented_keys_are_the_used_ones() {
    for (script, text) in scripts::all() {
        let (head, used) = (header(text).join("\n"), numbers(&code(script), "KEYS"));
        let last = head.contains("\n KEYS    all").then_some(15);
        assert_eq!(last.is_some(), script.source.contains("limits, spent = KEYS[11]"), "{}", script.name);
        let documented: BTreeSet<u32> = (1..=last.unwrap_or(0)).chain(numbers(&head, "KEYS")).collect();
        assert_eq!(documented, used, "{}", script.name);
    }
}

#[test]
fn keys_are_sent_in_the_order_the_headers_give() {
    let keys = Keys::new("dq", "q", 0);
    let sent = |name: &str| -> Vec<String> {
        let keys = match name {
            "push" => keys.push().to_vec(),
            "ack" => keys.ack().to_vec(),
            "push_any" => keys.all_and_recent().to_vec(),
            "push_once" | "forget" => keys.every().to_vec(),
            _ => keys.all().to_vec(),
        };
        keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect()
    };
    for (script, text) in scripts::all() {
        let (head, sent) = (header(text).join("\n"), sent(script.name));
        assert_eq!(sent.len() as u32, *numbers(&code(script), "KEYS").last().unwrap(), "{}", script.name);
        let types: BTreeMap<String, &str> =
            keys.typed().map(|(key, kind)| (String::from_utf8_lossy(key).into_owned(), kind)).collect();
        for (at, _) in head.match_indices("KEYS[") {
            let (number, rest) = head[at + 5..].split_once(']').unwrap();
            let Ok(number) = number.parse::<usize>() else { continue };
            let mut words = rest.split_whitespace();
            let (name, kind, key) = (words.next().unwrap(), words.next().unwrap(), &sent[number - 1]);
            assert!(key.ends_with(&format!(":{name}")), "{}: KEYS[{number}] is {key}, not {name}", script.name);
            assert_eq!(kind.to_lowercase(), types[key], "{}: KEYS[{number}]", script.name);
        }
    }
    let names: Vec<String> = sent("all").iter().map(|key| key.rsplit(':').next().unwrap().to_owned()).collect();
    let fragment = std::fs::read_to_string(lua_dir().join("lib/keys.lua")).unwrap();
    let locals: Vec<&str> = fragment
        .lines()
        .filter_map(|line| line.strip_prefix("local ")?.split(" = ").next())
        .flat_map(|names| names.split(", "))
        .collect();
    assert_eq!(locals, names);
}

#[test]
fn the_documented_arguments_are_the_used_ones() {
    for (script, text) in scripts::all() {
        let (head, body) = (header(text).join("\n"), code(script));
        let used = numbers(&body, "ARGV");
        let loops =
            body.contains("#ARGV") || after(&body, "ARGV[", |c| c != ']').iter().any(|at| at.parse::<u32>().is_err());
        let open = after(&head, "ARGV[", |c| c != ']').iter().find_map(|at| at.strip_suffix('…')?.parse::<u32>().ok());
        assert_eq!(open.is_some(), loops, "{}: an open end is documented where arguments are walked", script.name);
        let documented: BTreeSet<u32> =
            numbers(&head, "ARGV").into_iter().filter(|number| Some(*number) != open).collect();
        let single: BTreeSet<u32> =
            used.iter().copied().filter(|number| open.is_none_or(|open| *number < open)).collect();
        assert_eq!(documented, single, "{}", script.name);
        let numbers: Vec<u32> = documented.into_iter().chain(open).collect();
        assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>(), "{}: no gaps", script.name);
    }
}

#[test]
fn the_documented_answers_are_the_given_ones() {
    for (script, text) in scripts::all() {
        let (head, body) = (header(text), code(script));
        let returns = paragraph(&head, "Returns");
        let quoted = returns.match_indices('"').zip(after(&returns, "\"", |c| c.is_ascii_uppercase()));
        let documented: BTreeSet<(&str, bool)> = quoted
            .filter(|(_, word)| !word.is_empty())
            .map(|((at, _), word)| (word, !returns[..at].ends_with('{')))
            .collect();
        assert_eq!(documented, status_words(&body), "{}: {returns}", script.name);
        for error in after(&body, "error_reply('", |c| c.is_ascii_uppercase()) {
            assert!(returns.contains(&format!("error {error}")), "{}: {error} is not documented", script.name);
        }
        assert!(paragraph(&head, "Cost").len() > " Cost    ".len(), "{}: no cost", script.name);
    }
}

#[test]
fn no_script_holds_redis_for_long_or_makes_a_key_expire() {
    let forbidden: Vec<&str> =
        "KEYS SCAN SSCAN HSCAN ZSCAN HGETALL HKEYS HVALS SMEMBERS EXPIRE PEXPIRE EXPIREAT PEXPIREAT \
        SETEX PSETEX GETEX SORT FLUSHALL FLUSHDB DEL UNLINK"
            .split(' ')
            .collect();
    // Some hundred counters; with COUNT; keys that are empty, but for the counters.
    let bounded = [("stats", "HGETALL"), ("reserve", "HGETALL"), ("repair", "HSCAN"), ("forget", "UNLINK")];
    for (script, _) in scripts::all() {
        let body = code(script);
        for command in after(&body, "call('", |c| c != '\'').into_iter().chain(after(&body, "try('", |c| c != '\'')) {
            let is_bounded = bounded.contains(&(script.name, command));
            assert!(!forbidden.contains(&command) || is_bounded, "{} calls {command}", script.name);
        }
        assert!(!body.contains("math.random"), "{}: its seed is the same in every call", script.name);
        assert!(!body.contains("0, -1)"), "{} reads a whole key", script.name);
        assert!(after(&body, "HGETALL'", |c| c != ')').iter().all(|key| *key == ", meta"), "{}", script.name);
    }
}

#[test]
fn arguments_are_only_spread_from_lists_of_bounded_length() {
    // Lua takes at most about 8000: two per job of a batch of 500 is far below.
    let bounded: Vec<&str> =
        "ids places waited records renewed changes ten done entries deadlines new_leases aged names both \
        held words gone past theirs their_ids stands overdrawn KEYS"
            .split(' ')
            .chain(["ARGV, 2"]) // of one cancel
            .collect();
    for (script, _) in scripts::all() {
        let body = code(script).replace("struct.unpack(", "");
        for list in after(&body, "unpack(", |c| c != ')') {
            assert!(bounded.contains(&list), "{}: unpack({list})", script.name);
        }
    }
}

/// The numbers of commands that the cost line of a script counts.
fn documented_commands(name: &str) -> Vec<i64> {
    let (_, text) = scripts::all().into_iter().find(|(script, _)| script.name == name).unwrap();
    let cost = paragraph(&header(text), "Cost").replace(['\n', ','], " ");
    let words: Vec<&str> = cost.split_whitespace().collect();
    let is_counted = |at: usize| words[at].parse::<i64>().is_ok();
    (0..words.len()).filter(|at| is_counted(*at)).map(|at| words[at].parse().unwrap()).collect()
}

#[test]
fn the_hot_paths_run_no_more_commands_than_their_headers_count() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let mut count = |action: &mut dyn FnMut()| -> i64 {
        raw.run(&["CONFIG", "RESETSTAT"]);
        action();
        let stats = raw.text(&["INFO", "commandstats"]);
        let around = ["evalsha", "eval", "config|resetstat", "config", "info", "hello"];
        let lines = stats.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(":calls="));
        lines
            .filter(|(name, _)| !around.contains(name))
            .map(|(_, rest)| rest.split(',').next().unwrap().parse::<i64>().unwrap())
            .sum()
    };
    queue.push(&job("first")).unwrap(); // also enters the index of queues
    let [push, soon, passed] = documented_commands("push")[..] else { panic!("three numbers") };
    assert_eq!(count(&mut || drop(queue.push(&job("a")).unwrap())), push + soon);
    assert_eq!(count(&mut || drop(queue.push(&delayed("later", 60_000)).unwrap())), push);
    let at = |name: &str, at_us| NewJob { due: Due::AtUs(at_us), ..job(name) };
    let moments = server.queue("moments");
    moments.push(&job("first")).unwrap();
    assert_eq!(count(&mut || drop(moments.push(&at("later", i64::MAX / 1024)).unwrap())), push + 1);
    assert_eq!(count(&mut || drop(moments.push(&at("past", 1)).unwrap())), push + 1 + soon + passed);
    let several = ["b", "c", "d", "e", "f"].map(job);
    assert_eq!(count(&mut || drop(push_many(&queue, &several))), push + 5 + soon);
    let [lease, acknowledge, aged, bucket, history, longer, read, 8, long, snapshot, 1] =
        documented_commands("reserve")[..]
    else {
        panic!("eleven numbers")
    };
    let mut held = Vec::new();
    travel(100_000); // all are late by about the same
    // The first reserve of a connection looks at the snapshots, and finds no counter to copy.
    assert_eq!(count(&mut || held = reserve_many(&queue, 1)), lease + bucket + snapshot - 2);
    let one = held[0].held();
    assert_eq!(count(&mut || queue.ack(&one).unwrap()), documented_commands("ack")[0]);
    assert_eq!(count(&mut || held = reserve_many(&queue, 4)), lease + bucket, "many as one");
    let finished = finished(&held);
    assert_eq!(count(&mut || drop(queue.ack_many(&finished).unwrap())), documented_commands("ack")[0], "many as one");
    let held = reserve(&queue).unwrap();
    queue.release(&held.held(), Due::InMs(0), None, true).unwrap();
    let held = reserve(&queue).unwrap();
    let fetch = |receipts: &[&LeaseReceipt]| {
        let mut fetch =
            Fetch { max: 1, done: receipts.iter().map(|receipt| done(receipt)).collect(), lost: Vec::new() };
        let mut connections = Connections::default();
        queue.reserve_now(&mut connections, &mut fetch, None).unwrap();
        queue.client().give_back(connections);
    };
    queue.purge(&[State::Ready]).unwrap();
    push_many(&queue, &["g", "h"].map(job));
    assert_eq!(count(&mut || fetch(&[&held.receipt])), lease + acknowledge + bucket);
    let held = queue.reserve_job(&id("h")).unwrap().unwrap();
    queue.purge(&[State::Ready]).unwrap();
    queue.release(&held.held(), Due::InMs(0), None, true).unwrap();
    assert_eq!(count(&mut || fetch(&[])), lease + bucket + history + longer);
    push_many(&queue, &["k", "l", "m", "n", "o", "p", "q", "r", "s"].map(job));
    queue.purge(&[State::Reserved]).unwrap();
    travel(200_000);
    assert_eq!(count(&mut || assert_eq!(reserve_many(&queue, 50).len(), 9)), lease + bucket + read + long);
    queue.push(&job("back")).unwrap();
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(0), None, true).unwrap();
    let held = reserve(&queue).unwrap();
    queue.push(&job("next")).unwrap();
    assert_eq!(count(&mut || fetch(&[&held.receipt])), lease + acknowledge + aged + bucket);
}
