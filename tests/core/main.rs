//! The core against a real redis-server, started privately for this run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod acl;
mod audit;
mod network;
mod oom;
mod order;
mod proxy;
mod refusals;
mod scene;
mod storms;
mod support;

mod denied;
mod foreign;
mod fork;
mod headers;
mod lifecycle;
mod model;
mod table;
mod tls;
mod waiting;
mod worker;
mod wrongtype;
