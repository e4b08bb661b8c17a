//! What a consume loop needs beyond the queue: jobs fetched and acknowledged in the same round trips ([`feed`]), also ahead
//! while others are being handled, and a thread that keeps leases alive and watches the clock while the embedding language is
//! busy ([`keeper`]).

mod ahead;
mod batch;
pub mod feed;
mod fetcher;
pub mod keeper;
pub mod lease;
mod source;

use super::thread;
