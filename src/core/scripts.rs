//! The only file that includes Lua. One script is one atomic transition of a job.

use once_cell::sync::Lazy;

/// A script of `lua/`, assembled: every line `--@include name` is replaced by `lua/lib/name.lua`.
#[derive(Debug)]
pub struct Script {
    pub name: &'static str,
    pub source: String,
    /// What EVALSHA wants: the SHA-1 of the source in lower-case hex.
    pub sha: String,
}

macro_rules! fragments {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../lua/lib/", $name, ".lua")))),*]
    };
}

const FRAGMENTS: &[(&str, &str)] = fragments![
    "clock", "discard", "head", "held", "history", "idle", "keys", "kick", "lease", "merge", "move", "next_due",
    "pick", "place", "probe", "promote", "reclaim", "record", "replay", "settle", "unlock", "wake",
];

impl Script {
    fn new(name: &'static str, text: &str) -> Self {
        let source = assemble(&overridden(name).unwrap_or_else(|| text.to_owned()));
        let sha = sha1_smol::Sha1::from(source.as_bytes()).digest().to_string();
        Self { name, source, sha }
    }
}

fn assemble(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        match line.trim_start().strip_prefix("--@include ") {
            Some(name) => {
                let name = name.trim();
                let known = FRAGMENTS.iter().find(|(known, _)| *known == name).map_or("", |(_, body)| body);
                let fragment = overridden(&format!("lib/{name}")).unwrap_or_else(|| known.to_owned());
                out.push_str(&assemble(&fragment));
            }
            // Comments are for readers of the files: Redis would parse them at each loading.
            None if line.trim_start().starts_with("--") => {}
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
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
    ACK = "ack", BURY = "bury", CANCEL = "cancel", FAIL = "fail", KICK = "kick", KICK_JOB = "kick_job", LEAVE = "leave",
    LIST = "list", PAUSE = "pause", PEEK = "peek", PURGE = "purge", PUSH = "push", PUSH_MANY = "push_many",
    RELEASE = "release", RESCHEDULE = "reschedule", RESERVE = "reserve", RESERVE_JOB = "reserve_job", RESUME = "resume",
    STATS = "stats", TAKE = "take", TOUCH = "touch", UPDATE = "update",
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
