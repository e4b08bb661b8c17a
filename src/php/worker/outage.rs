//! A Redis that goes away, and the leases that are lost with it.

use super::callable::discard;
use super::events::Event;
use super::run::Loop;
use crate::core::error::Error;
use crate::core::queue::{random_unit, rest};
use crate::php::call::Outcome;
use crate::php::exceptions;
use std::time::Duration;

/// Pauses between attempts to reach a lost Redis.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const LONGEST_RETRY: Duration = Duration::from_secs(2);

impl Loop<'_> {
    /// Redis is away, or refuses for the moment: wait and ask again. Anything else ends the loop; so does an outage where
    /// the loop is to return when nothing is there.
    pub(super) fn away(&mut self, error: Error) -> Outcome<()> {
        if !error.is_retryable() || self.options.stop_when_empty {
            return Err(error.into());
        }
        let pause = match self.away {
            Some(pause) => (pause * 2).min(LONGEST_RETRY),
            None => {
                let exception = exceptions::object_of(error);
                self.emit(Event::ConnectionLost, None, Some(&exception))?;
                discard(exception)?;
                FIRST_RETRY
            }
        };
        self.away = Some(pause);
        self.feed.give_up_ended();
        self.report_lost()?;
        let mut interrupts = self.interrupts(false);
        let flow = rest(pause.mul_f64(0.5 + 0.5 * random_unit()), &mut interrupts);
        self.left(interrupts.php, flow)
    }

    /// Redis answers again.
    pub(super) fn back(&mut self) -> Outcome<()> {
        if self.away.take().is_some() {
            self.emit(Event::ConnectionRestored, None, None)?;
        }
        Ok(())
    }

    /// The thread that keeps the leases was still waiting for Redis to confirm these when the loop ended: they may run again.
    pub(super) fn report_unanswered(&mut self) -> Outcome<()> {
        for (_, job) in std::mem::take(&mut self.unacknowledged) {
            self.emit(Event::LeaseLost, Some(&job), None)?;
            discard(job)?;
        }
        Ok(())
    }

    pub(super) fn report_lost(&mut self) -> Outcome<()> {
        for key in self.feed.take_lost() {
            let job = self.unacknowledged.remove(&key);
            self.emit(Event::LeaseLost, job.as_ref(), None)?;
            discard(job)?;
        }
        let acknowledged = self.feed.take_acknowledged();
        if self.unacknowledged.is_empty() {
            return Ok(());
        }
        discard(acknowledged.iter().filter_map(|key| self.unacknowledged.remove(key)).collect::<Vec<_>>())
    }
}
