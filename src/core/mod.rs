//! The queue itself: pure Rust over the Redis protocol, without any PHP.
//!
//! Read in this order: [`job`] (what a job is), [`queue`] (what can be done with it), [`keys`] and [`scripts`] (what that is
//! in Redis), [`link`] and [`connection`] (how it gets there).

pub mod backoff;
pub mod clock;
pub mod connection;
pub mod dsn;
pub mod duration;
pub mod error;
pub mod input;
pub mod job;
pub mod keys;
pub mod link;
pub mod packing;
pub mod pool;
pub mod process;
pub mod queue;
pub mod record;
pub mod reply;
pub mod request;
pub mod resp;
pub mod scripts;
pub mod server_clock;
pub mod slot;
mod thread;
pub mod transport;
pub mod worker;
