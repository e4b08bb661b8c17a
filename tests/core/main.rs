//! The core against a real redis-server, started privately for this run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

mod lifecycle;
mod model;
mod waiting;
mod worker;
