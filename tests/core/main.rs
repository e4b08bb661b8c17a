//! The core against a real redis-server, started privately for this run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod audit;
mod load;
mod names;
mod process;
mod proxy;
mod scene;
mod seal_bytes;
mod server_clock;
mod support;
mod topology;
mod worker_loop;

mod acl;
mod bounds;
mod calls;
mod clocks;
mod cluster;
mod connect;
mod copies;
mod deleted_keys;
mod denied;
mod doctor;
mod duplicates;
mod durability;
mod foreign;
mod forget;
mod fork;
mod fuzz;
mod headers;
mod idle_check;
mod keeping;
mod lifecycle;
mod managing;
mod model;
mod network;
mod oom;
mod options;
mod order;
mod partitions;
mod refusals;
mod registry;
mod repeats;
mod sealed;
mod sentinel;
mod stats;
mod storms;
mod table;
mod tls;
mod tls_everywhere;
mod waiting;
mod wakes;
mod worker;
mod worker_faults;
mod wrongtype;
