//! The queue itself: pure Rust over the Redis protocol, without any PHP.
//!
//! Read in this order: [`job`] (a job and its options), [`queue`] (the operations), [`keys`] and [`scripts`] (the same in Redis),
//! [`client`], [`resolver`] and [`connection`] (the way there).

pub mod backoff;
pub mod client;
pub mod clock;
pub mod connection;
pub mod doctor;
pub mod dsn;
pub mod durability;
pub mod duration;
pub mod error;
pub mod groups;
pub mod install;
pub mod job;
pub mod keyring;
pub mod keys;
pub mod memory;
pub mod nearest;
pub mod partitions;
pub mod pool;
pub mod process;
pub mod queue;
pub mod record;
pub mod registry;
pub mod reply;
pub mod resolver;
pub mod resp;
pub mod scripts;
pub mod seal;
pub mod traits;
pub mod transport;
pub mod worker;
