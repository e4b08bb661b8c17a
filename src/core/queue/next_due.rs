//! When a waiter looks again at a queue that has nothing for it.

use crate::core::error::Result;
use crate::core::reply::{self, Reply};
use std::time::Duration;

/// When there may be something to do in a queue that had nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NextDue {
    /// Reserve again after this long (`None`: nothing is coming).
    pub wait: Option<Duration>,
    pub is_paused: bool,
}

impl NextDue {
    /// From the answer of `reserve.lua` that leases nothing; `None`: a bounded part of the housekeeping is done.
    pub(super) fn read(reply: &mut Reply) -> Result<Option<Self>> {
        let is_paused = match reply.word.as_str() {
            "EMPTY" => false,
            "PAUSED" => true,
            "AGAIN" => return Ok(None),
            _ => return Err(reply::unexpected()),
        };
        Ok(Some(Self { wait: u64::try_from(reply.int()?).ok().map(Duration::from_micros), is_paused }))
    }
}

/// A little less than `longest`, different for each waiter, so that idle workers do not check in step.
pub(super) fn jittered(longest: Duration, waiter: &str) -> Duration {
    let seed = waiter.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    longest.mul_f64(0.85 + 0.15 * f64::from(seed % 1000) / 1000.0)
}
