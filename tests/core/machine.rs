//! How long this machine has stood still, so that tests which measure time can allow for it.

use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(5);

/// When a timer of this process was woken too late, and by how much.
static STALLS: Mutex<Vec<(Instant, Duration)>> = Mutex::new(Vec::new());

/// Begins to watch. Whatever a test measures began later, because each private server calls this.
pub fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        std::thread::spawn(|| {
            loop {
                let asleep = Instant::now();
                std::thread::sleep(TICK);
                let late = asleep.elapsed().saturating_sub(TICK);
                if late > TICK / 5 {
                    seen().push((Instant::now(), late));
                }
            }
        });
    });
}

/// How much longer than on a quiet machine something may take that began at this moment.
pub fn stalls_since(moment: Instant) -> Duration {
    let seen = seen();
    let first = seen.partition_point(|(at, _)| *at <= moment);
    seen.get(first..).unwrap_or_default().iter().map(|(_, late)| *late).sum()
}

/// The time since this moment, without the stalls.
pub fn lasted(moment: Instant) -> Duration {
    moment.elapsed().saturating_sub(stalls_since(moment))
}

fn seen() -> MutexGuard<'static, Vec<(Instant, Duration)>> {
    STALLS.lock().unwrap_or_else(PoisonError::into_inner)
}
