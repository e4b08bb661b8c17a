//! What is known of a command before it runs.

use super::args::{Args, Outcome};
use super::state::State;

/// What a command may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Read,
    /// It writes, and needs no memory for that.
    Less,
    /// A full store refuses it.
    More,
}

pub struct Command {
    pub name: &'static str,
    /// How many words it has with its name; below zero: at least so many.
    pub words: isize,
    pub does: Does,
    /// The words that it knows beside its values.
    pub options: &'static [&'static str],
    pub run: fn(&mut State, Args) -> Outcome,
}
