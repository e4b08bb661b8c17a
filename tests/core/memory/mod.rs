//! The store of `memory://`: the same answers as Redis, and what is its own.

mod commands;
mod differential;
mod faults;
mod large;
mod served;
mod surface;
mod waiting;
