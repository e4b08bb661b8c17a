//! The core against a real redis-server, started privately for this run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod audit;
mod leases;
mod names;
mod proxy;
mod scene;
mod support;
mod worker_loop;

mod acl;
mod ahead;
mod connect;
mod denied;
mod due;
mod foreign;
mod fork;
mod fresh;
mod glance;
mod headers;
mod lifecycle;
mod made;
mod model;
mod network;
mod oom;
mod order;
mod packed;
mod refusals;
mod sealed;
mod slots;
mod spin;
mod storms;
mod strays;
mod table;
mod tls;
mod transaction;
mod unseen;
mod unwatched;
mod waiting;
mod watched;
mod worker;
mod written;
mod wrongtype;
