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
    "debounce",
    "discard",
    "ends",
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
    "may_write",
    "mend_book",
    "merge",
    "moments",
    "next_due",
    "pause_end",
    "pick",
    "place",
    "promote",
    "recent",
    "reclaim",
    "record",
    "remove",
    "servable",
    "snapshot",
    "take_turns",
    "tokens",
    "turns",
    "undo_call",
    "wake",
];

impl Script {
    fn new(name: &'static str, text: &str) -> Self {
        let text = overridden(name).unwrap_or_else(|| text.to_owned());
        let mut source = String::with_capacity(text.len() * 2);
        assemble(&text, true, &mut Vec::new(), &mut source);
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

/// Appends `text` without comments and indentation, which Redis would read at each loading. A fragment that has been included where the whole
/// script sees it is not included again.
fn assemble(text: &str, is_outermost: bool, included: &mut Vec<String>, out: &mut String) {
    for line in text.lines() {
        let code = line.trim_start();
        let Some(name) = code.strip_prefix("--@include ").map(str::trim) else {
            if !code.is_empty() && !code.starts_with("--") {
                out.push_str(code);
                out.push('\n');
            }
            continue;
        };
        if included.iter().any(|known| known == name) {
            continue;
        }
        let is_outermost = is_outermost && code.len() == line.len();
        if is_outermost {
            included.push(name.to_owned());
        }
        let known = FRAGMENTS.iter().find(|(known, _)| *known == name).map_or("", |(_, body)| body);
        let fragment = overridden(&format!("lib/{name}")).unwrap_or_else(|| known.to_owned());
        assemble(&fragment, is_outermost, included, out);
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
}
