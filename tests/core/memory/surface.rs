//! What scripts and core ask of Redis, the store has.

use delayqueue::core::memory::options_of;
use delayqueue::core::scripts;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Command → options, of all that is sent.
type Asked = BTreeMap<String, BTreeSet<String>>;

fn is_word(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The words in capitals in `'…'` or `"…"` between this place and the end of the call.
fn words_until_end(text: &str, quote: char, close: char) -> Vec<String> {
    let mut depth = 1;
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find([quote, '(', ')', '[', ']', '\n']) {
        let found = rest[at..].chars().next().unwrap();
        rest = &rest[at + 1..];
        match found {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '\n' if close == ')' => break,
            quote if quote == found && found != '\n' => {
                let Some(end) = rest.find(quote) else { break };
                words.push(rest[..end].to_owned());
                rest = &rest[end + 1..];
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words
}

fn asked_by_scripts() -> Asked {
    let mut asked = Asked::new();
    for (script, _) in scripts::all() {
        for head in ["call('", "try('"] {
            for (at, _) in script.source.match_indices(head) {
                let words = words_until_end(&script.source[at + head.len() - 1..], '\'', ')');
                let (command, options) = words.split_first().unwrap();
                let options = options.iter().filter(|word| is_word(word)).cloned();
                asked.entry(command.clone()).or_default().extend(options);
            }
        }
    }
    asked
}

/// Each command of the core stands in `b"…"`, at the beginning of a list in brackets.
fn asked_by_core(folder: &Path, asked: &mut Asked) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("memory") && !path.ends_with("resolver") {
                asked_by_core(&path, asked);
            }
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("[ b", "[b");
        for (at, _) in flat.match_indices("[b\"") {
            let words = words_until_end(&flat[at + 2..], '"', ']');
            let Some((command, options)) = words.split_first().filter(|(command, _)| is_word(command)) else {
                continue;
            };
            asked.entry(command.clone()).or_default().extend(options.iter().filter(|word| is_word(word)).cloned());
        }
    }
}

#[test]
fn the_store_has_every_command_and_option_of_the_scripts_and_of_the_core() {
    let mut asked = asked_by_scripts();
    for (command, option) in
        [("ZADD", "NX"), ("ZRANGEBYSCORE", "WITHSCORES"), ("ZRANGEBYLEX", "LIMIT"), ("HSCAN", "COUNT")]
    {
        assert!(
            asked.get(command).is_some_and(|options| options.contains(option)),
            "it reads the scripts: {command} {option}"
        );
    }
    asked_by_core(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core"), &mut asked);
    for (command, option) in [("SET", "GET"), ("CONFIG", "GET"), ("ZRANGE", "BYSCORE"), ("EVALSHA", ""), ("HELLO", "")]
    {
        let options = asked.get(command).unwrap_or_else(|| panic!("it reads the core: {command}"));
        assert!(option.is_empty() || options.contains(option), "it reads the core: {command} {option}");
    }
    // Said to servers of other kinds, or with passwords, and words that stand at the beginning of a list of arguments.
    let elsewhere = ["ASKING", "AUTH", "SETNAME", "LOAD", "XX"];
    let mut missing = Vec::new();
    for (command, options) in asked.iter().filter(|(command, _)| !elsewhere.contains(&command.as_str())) {
        match options_of(command) {
            None => missing.push(command.clone()),
            // Those of connections have no options but the words behind them.
            Some([]) => {}
            Some(known) => missing.extend(
                options
                    .iter()
                    .filter(|option| !known.contains(&option.as_str()))
                    .map(|option| format!("{command} {option}")),
            ),
        }
    }
    assert!(missing.is_empty(), "src/core/memory does not have {missing:?}");
}

/// What scripts use beside Lua itself is what the store gives them.
#[test]
fn scripts_use_no_library_of_redis_that_the_store_does_not_have() {
    for (script, _) in scripts::all() {
        for library in ["redis", "struct", "cjson", "cmsgpack", "bit", "os"] {
            let head = format!("{library}.");
            for (at, _) in script.source.match_indices(&head) {
                let before = script.source[..at].chars().next_back().unwrap_or(' ');
                if before.is_ascii_alphanumeric() || before == '_' || before == '\'' {
                    continue;
                }
                let name: String =
                    script.source[at + head.len()..].chars().take_while(char::is_ascii_alphanumeric).collect();
                let known = ["redis.call", "redis.pcall", "struct.pack", "struct.unpack"];
                assert!(known.contains(&format!("{library}.{name}").as_str()), "{}: {library}.{name}", script.name);
                if library == "struct" {
                    // As structs.rs reads them.
                    let format = script.source[at..].split('\'').nth(1).unwrap();
                    let is_known = |byte: u8| byte == b'B' || byte == b'I' || (b'1'..=b'8').contains(&byte);
                    let numbers = format.strip_prefix('>').unwrap_or_else(|| panic!("{}: {format}", script.name));
                    assert!(numbers.bytes().all(is_known), "{}: {format}", script.name);
                }
            }
        }
    }
}
