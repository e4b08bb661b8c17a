//! The core against a real redis-server, started privately for this run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod acl;
mod audit;
mod oom;
mod scene;
mod support;

mod denied;
mod headers;
mod lifecycle;
mod model;
mod table;
mod waiting;
mod worker;
mod wrongtype;
