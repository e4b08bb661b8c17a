//! The core against a real redis-server, started privately for this run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod audit;
mod scene;
mod support;

mod headers;
mod lifecycle;
mod table;
mod waiting;
mod wrongtype;
