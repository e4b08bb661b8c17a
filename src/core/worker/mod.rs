//! The parts of a consume loop beyond the queue: jobs fetched and acknowledged in the same round trips ([`feed`]), and a thread that
//! keeps leases alive, acknowledges in time, watches the clock and tells operators of the loop while the embedding language is busy ([`keeper`]).

pub mod alarm;
mod done;
mod duty;
mod ears;
pub mod feed;
pub mod keeper;
pub mod lease;
pub mod listing;
mod renewals;
pub mod watch;
