//! A random walk over all operations, compared step by step with a small model, on a clock that the test owns.

mod compare;
mod compare_groups;
mod groups;
mod job;
mod late;
mod mutants;
mod pushing;
mod reference;
mod serving;
mod times;
mod walk;
