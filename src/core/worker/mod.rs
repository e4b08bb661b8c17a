//! What a consume loop needs beyond the queue: jobs fetched and acknowledged in the same round trips ([`feed`]), and a thread
//! that keeps leases alive and watches the clock while the embedding language is busy ([`keeper`]).

pub mod feed;
pub mod keeper;
pub mod lease;
