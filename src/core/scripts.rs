//! The only file that includes Lua. One script is one atomic transition of a job.

use once_cell::sync::Lazy;

/// A script of `lua/`, assembled: every line `--@include name` is replaced by `lua/lib/name.lua`.
#[derive(Debug)]
pub struct Script {
    pub name: &'static str,
    pub source: String,
    /// The argument of EVALSHA: the SHA-1 of the source in lower-case hex.
    pub sha: String,
}

macro_rules! fragments {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../lua/lib/", $name, ".lua")))),*]
    };
}

const FRAGMENTS: &[(&str, &str)] = fragments![
    "acknowledge",
    "after",
    "allow_when_full",
    "asked",
    "back",
    "book",
    "bucket",
    "bury",
    "call_of",
    "cap",
    "check_group_types",
    "check_schema",
    "check_types",
    "clock",
    "count_runs",
    "debounce",
    "discard",
    "done",
    "due_at",
    "ends",
    "examine",
    "expire",
    "forget_calls",
    "give_back",
    "history",
    "idle",
    "keys",
    "kick",
    "lease",
    "lend",
    "less",
    "let_in",
    "limits",
    "look_behind",
    "look_closer",
    "mark_rarely",
    "may_write",
    "mend_book",
    "merge",
    "moments",
    "move",
    "next_due",
    "options",
    "pause_end",
    "pick",
    "pick_rarely",
    "place",
    "promote",
    "rarely",
    "recent",
    "reclaim",
    "record",
    "remove",
    "reserve_end",
    "servable",
    "snapshot",
    "take_back",
    "take_rarely",
    "take_turns",
    "tokens",
    "turns",
    "undo_call",
    "waits_for",
    "wake",
];

impl Script {
    fn new(name: &'static str, text: &str) -> Self {
        let text = overridden(name).unwrap_or_else(|| text.to_owned());
        let mut source = String::with_capacity(text.len() * 2);
        assemble(&text, 0, &mut Vec::new(), &mut source);
        let sha = sha1_smol::Sha1::from(source.as_bytes()).digest().to_string();
        Self { name, source, sha }
    }

    /// Whether the answer has records of jobs, which may be large.
    #[must_use]
    pub fn answers_with_records(&self) -> bool {
        matches!(self.name, "list" | "list_group" | "peek" | "reserve" | "reserve_job" | "take")
    }

    /// Whether its change would be missed, so that it is waited for where a queue asks for that (`durability.rs`). A lost release, say, only makes a
    /// job wait for the end of its lease.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        matches!(self.name, "push" | "push_any" | "push_once" | "ack" | "cancel" | "reschedule" | "update")
    }

    /// Whether its keys are those of all scripts, and the two of receipts.
    #[must_use]
    pub fn names_receipts(&self) -> bool {
        matches!(self.name, "forget" | "push_once")
    }
}

/// Appends `text` without comments and indentation, which Redis would read at each loading. `included` has the fragments that the block around a
/// line has seen, and how far each is indented: a fragment is not included where it has been seen. A line that is indented less ends the block.
fn assemble(text: &str, indent: usize, included: &mut Vec<(usize, String)>, out: &mut String) {
    for line in text.lines() {
        let code = line.trim_start();
        let indent = indent + line.len() - code.len();
        let include = code.strip_prefix("--@include ").map(str::trim);
        if code.is_empty() || code.starts_with("--") && include.is_none() {
            continue;
        }
        included.retain(|(depth, _)| *depth <= indent);
        let Some(name) = include else {
            out.push_str(code);
            out.push('\n');
            continue;
        };
        if included.iter().any(|(_, known)| known == name) {
            continue;
        }
        included.push((indent, name.to_owned()));
        let known = FRAGMENTS.iter().find(|(known, _)| *known == name).map_or("", |(_, body)| body);
        let fragment = overridden(&format!("lib/{name}")).unwrap_or_else(|| known.to_owned());
        assemble(&fragment, indent, included, out);
    }
}

/// Debug builds take scripts from the folder in `DELAYQUEUE_LUA_DIR`, for trying changes and for the mutation test.
#[cfg(debug_assertions)]
fn overridden(name: &str) -> Option<String> {
    let dir = std::env::var_os("DELAYQUEUE_LUA_DIR")?;
    std::fs::read_to_string(std::path::Path::new(&dir).join(format!("{name}.lua"))).ok()
}

#[cfg(not(debug_assertions))]
fn overridden(_: &str) -> Option<String> {
    None
}

macro_rules! scripts {
    ($($constant:ident = $name:literal),* $(,)?) => {
        $(
            #[doc = concat!("`lua/", $name, ".lua`")]
            pub static $constant: Lazy<Script> = Lazy::new(|| Script::new($name, include_str!(concat!("../../lua/", $name, ".lua"))));
        )*
        /// All scripts with their unassembled text, for tests and for loading them ahead.
        #[must_use]
        pub fn all() -> Vec<(&'static Script, &'static str)> {
            vec![$((&*$constant, include_str!(concat!("../../lua/", $name, ".lua")))),*]
        }
    };
}

scripts! {
    ACK = "ack", BURY = "bury", CANCEL = "cancel", CANCEL_GROUP = "cancel_group", FAIL = "fail", FORGET = "forget", GROUPS = "groups", GROUP_STATS = "group_stats", KICK = "kick", KICK_JOB = "kick_job", LEAVE = "leave", LIMIT_GROUPS = "limit_groups", LIMIT_QUEUE = "limit_queue", LIST = "list", LIST_GROUP = "list_group", PAUSE = "pause", PEEK = "peek", PURGE = "purge", PUSH = "push", PUSH_ANY = "push_any", PUSH_ONCE = "push_once", RATE_LIMIT = "rate_limit", RELEASE = "release", REPAIR = "repair", RESCHEDULE = "reschedule", RESERVE = "reserve", RESERVE_JOB = "reserve_job", RESUME = "resume", STATS = "stats", TAKE = "take", TOUCH = "touch", UPDATE = "update",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_include_names_a_fragment() {
        for (_, text) in all() {
            for name in text.lines().filter_map(|line| line.trim_start().strip_prefix("--@include ")) {
                assert!(FRAGMENTS.iter().any(|(known, _)| *known == name.trim()), "{name}");
            }
        }
        for (script, _) in all() {
            assert!(!script.source.contains("--@include"), "{}", script.name);
            assert_eq!(script.sha.len(), 40);
        }
    }

    /// A fragment that a script includes in several branches belongs in front of them, or makes the script longer to load.
    #[test]
    fn no_script_defines_a_function_twice() {
        for (script, _) in all() {
            let names =
                script.source.lines().filter_map(|line| line.strip_prefix("local function ")?.split('(').next());
            let mut seen = std::collections::HashSet::new();
            let twice: Vec<&str> = names.filter(|name| !seen.insert(*name)).collect();
            assert!(twice.is_empty(), "{} defines {twice:?} twice", script.name);
        }
    }
}
