//! The header of every script says exactly what its body does.

use crate::leases::{edit_head, lease, old, prime};
use crate::made::have_batches_made;
use crate::support::*;
use delayqueue::core::job::{Due, NewJob};
use delayqueue::core::keys::Keys;
use delayqueue::core::queue::NoInterrupts;
use delayqueue::core::scripts::{self, Script};
use delayqueue::core::worker::feed::{Feed, Fetched};
use std::collections::BTreeSet;
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

/// What follows each occurrence of `before`, up to the first character that `wanted` does not accept.
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

/// Quoted words in capitals that are neither a command nor an option of one.
fn status_words(code: &str) -> BTreeSet<&str> {
    let options = ["WITHSCORES", "LIMIT", "XX", "INCR"];
    let mut words = BTreeSet::new();
    for (at, _) in code.match_indices('\'') {
        let rest = &code[at + 1..];
        let word = &rest[..rest.find('\'').unwrap_or(0)];
        let is_word = word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
        let is_command = ["call(", "try("].iter().any(|call| code[..at].ends_with(call));
        if is_word && !is_command && !options.contains(&word) {
            words.insert(word);
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
fn the_documented_keys_are_the_used_ones() {
    for (script, text) in scripts::all() {
        let (head, used) = (header(text).join("\n"), numbers(&code(script), "KEYS"));
        if head.contains("\n KEYS    all") {
            assert!(text.contains("--@include keys"), "{}", script.name);
            assert_eq!(used, (1..=10).collect(), "{}", script.name);
        } else {
            assert!(!text.contains("--@include keys"), "{}", script.name);
            assert_eq!(numbers(&head, "KEYS"), used, "{}", script.name);
        }
    }
}

#[test]
fn keys_are_sent_in_the_order_the_headers_give() {
    let keys = Keys::new("dq", "q");
    let slots = |name: &str| -> Vec<String> {
        match name {
            "push" => keys.push().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
            "reserve" => keys.reserve().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
            "reserve_next" => keys.reserve_next().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
            "reserve_unseen" => {
                keys.reserve_unseen().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect()
            }
            "disown" => keys.disown().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
            "ack" => keys.ack().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
            _ => keys.all().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
        }
    };
    for (script, text) in scripts::all() {
        let head = header(text).join("\n");
        for (at, _) in head.match_indices("KEYS[") {
            let (number, rest) = head[at + 5..].split_once(']').unwrap();
            let name = rest.split_whitespace().next().unwrap();
            let sent = &slots(script.name)[number.parse::<usize>().unwrap() - 1];
            assert!(sent.ends_with(&format!(":{name}")), "{}: KEYS[{number}] is {sent}, not {name}", script.name);
        }
    }
    let names: Vec<String> = slots("all").iter().map(|key| key.rsplit(':').next().unwrap().to_owned()).collect();
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
        let documented: BTreeSet<&str> = after(&returns, "{\"", |c| c.is_ascii_uppercase()).into_iter().collect();
        assert_eq!(documented, status_words(&body), "{}: {returns}", script.name);
        for error in after(&body, "error_reply('", |c| c.is_ascii_uppercase()) {
            assert!(returns.contains(&format!("error {error}")), "{}: {error} is not documented", script.name);
        }
        assert!(paragraph(&head, "Cost").len() > " Cost    ".len(), "{}: no cost", script.name);
    }
}

#[test]
fn no_script_holds_redis_for_long_or_makes_a_key_expire() {
    let forbidden = [
        "KEYS",
        "SCAN",
        "SSCAN",
        "HSCAN",
        "ZSCAN",
        "HGETALL",
        "HKEYS",
        "HVALS",
        "SMEMBERS",
        "EXPIRE",
        "PEXPIRE",
        "EXPIREAT",
        "PEXPIREAT",
        "SETEX",
        "PSETEX",
        "GETEX",
        "SORT",
        "FLUSHALL",
        "FLUSHDB",
        "DEL",
        "UNLINK",
    ];
    for (script, _) in scripts::all() {
        let body = code(script);
        for command in after(&body, "call('", |c| c != '\'').into_iter().chain(after(&body, "try('", |c| c != '\'')) {
            assert!(!forbidden.contains(&command), "{} calls {command}", script.name);
        }
        assert!(!body.contains("math.random"), "{}: its seed is the same in every call", script.name);
        assert!(!body.contains("0, -1)"), "{} reads a whole key", script.name);
    }
}

#[test]
fn arguments_are_only_spread_from_lists_of_bounded_length() {
    // Lua takes at most about 8000: two per job of a batch of 500 is far below.
    let bounded = [
        "fields",
        "write",
        "names", // the ledger's counters: about a hundred
        "ids",
        "old",
        "members",
        "records",
        "picked",
        "gone",
        "of_ready",
        "to_ready",
        "to_ripe", // two per job of a batch
        "done",
        "done, 2, many + 1", // the jobs of one slot
        "open",              // the ids of one cancel
        "ARGV, 8, 2 * count + 7",
        "ARGV, 2 * count + 8", // two per job of a batch
    ];
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
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let mut count = |action: &mut dyn FnMut()| -> i64 {
        raw.run(&["CONFIG", "RESETSTAT"]);
        action();
        let stats = raw.text(&["INFO", "commandstats"]);
        let around = ["evalsha", "eval", "config|resetstat", "info", "hello"];
        let lines = stats.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(":calls="));
        lines
            .filter(|(name, _)| !around.contains(name))
            .map(|(_, rest)| rest.split(',').next().unwrap().parse::<i64>().unwrap())
            .sum()
    };
    queue.push(&job("first")).unwrap(); // also enters the index of queues
    assert_eq!(count(&mut || drop(queue.push(&job("a")).unwrap())), documented_commands("push")[0]);
    queue.push_many(&[old("b"), old("c"), old("d")]).unwrap();
    let [made, each] = documented_commands("push_many")[..] else { panic!("two numbers") };
    assert_eq!(count(&mut || drop(queue.push_many(&[job("e"), job("f")]).unwrap())), each);
    let mut batches = (0..50).map(|batch| {
        have_batches_made(&queue);
        let jobs: Vec<NewJob> = (0..16).map(|n| job(&format!("{batch}.{n}"))).collect();
        count(&mut || drop(queue.sibling("many").push_many(&jobs).unwrap()))
    });
    assert!(
        batches.any(|found| found == made),
        "some are there within a millisecond, when it is known what time it is"
    );
    let mut held = Vec::new();
    let [used, new, more] = documented_commands("reserve")[..] else { panic!("three numbers") };
    assert_eq!(count(&mut || held = reserve_many(&queue, 1)), new + more, "nothing is known yet");
    assert_eq!(count(&mut || queue.ack(&held[0].held()).unwrap()), documented_commands("ack")[0]);
    for (most, used) in [(1, documented_commands("reserve_next")[0]), (2, used)] {
        let queue = queue.sibling(&format!("loop of {most}").replace(' ', "-"));
        let mut feed = Feed::new(vec![queue.clone()], most, None);
        queue.push_many(&[old("a"), old("b"), old("c"), old("d")]).unwrap();
        let mut next = || match feed.next(None, &mut NoInterrupts).unwrap() {
            Fetched::Job(delivery) => feed.done(&delivery.ticket).unwrap(),
            other => panic!("{other:?}"),
        };
        (0..most).for_each(|_| next());
        assert_eq!(count(&mut next), used, "fetching {most} acknowledges");
    }
    let [used, new_slot, more] = documented_commands("reserve_unseen")[..] else { panic!("three numbers") };
    let (queue_unseen, mut beside) = (queue.sibling("unseen"), server.raw());
    prime(&queue_unseen, &mut beside);
    queue_unseen.push_many(&["a", "b", "c", "d", "e", "f"].map(old)).unwrap();
    let mut unseen = |done| drop(lease(&mut beside, &queue_unseen, "s", 2, done).unwrap());
    assert_eq!(count(&mut || unseen(None)), new_slot, "as late as those before");
    assert_eq!(count(&mut || unseen(Some((2, 2)))), used);
    edit_head(&mut server.raw(), &queue_unseen, |head| head[19] = 3);
    assert_eq!(count(&mut || unseen(Some((4, 2)))), used + more);
    queue.push_many(&[old("g"), old("h"), old("i"), old("j")]).unwrap();
    assert_eq!(count(&mut || held = reserve_many(&queue, 1)), new);
    assert_eq!(count(&mut || queue.ack(&held[0].held()).unwrap()), documented_commands("ack")[0]);
    assert_eq!(count(&mut || held = reserve_many(&queue, 5)), new);
    assert_eq!(count(&mut || queue.ack(&held[0].held()).unwrap()), documented_commands("ack")[0], "one of five");
    queue.release(&held[1].held(), Due::InMs(0), None).unwrap();
    let again = queue.reserve_job(&held[1].id).unwrap().unwrap();
    assert_eq!(count(&mut || queue.ack(&again.held()).unwrap()), documented_commands("ack")[1]);
}
