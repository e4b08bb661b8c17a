//! What a debug build has beside this, for tests, is in `examples/serve_memory/commands.rs`.

use super::command::Command;

pub const COMMANDS: &[Command] = &[];
