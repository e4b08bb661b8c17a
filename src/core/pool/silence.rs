//! Servers that did not answer a moment ago. Each call of a web page would wait for the whole connectTimeout while Redis hangs: a call
//! that asks such a server again within a second fails at once. A server that refuses a connection answers, and fast: it is not here.

use crate::core::connection::{Connection, Fault};
use crate::core::dsn::{Server, Target};
use crate::core::process::Generation;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const REMEMBERED: Duration = Duration::from_secs(1);

struct Silence {
    /// Where it is, and whether it is to speak TLS.
    server: (Target, bool),
    why: String,
    /// How long the try took that met it.
    waited: Duration,
    ended: Instant,
    /// The deadline of the operation that tried.
    operation: Instant,
    process: Generation,
}

static SILENCES: Mutex<Vec<Silence>> = Mutex::new(Vec::new());

/// Only tries to lock: a forked child may find it locked for ever.
fn with<T>(work: impl FnOnce(&mut Vec<Silence>) -> Option<T>) -> Option<T> {
    let mut silences = SILENCES.try_lock().ok()?;
    silences.retain(|silence| silence.process.is_current() && silence.ended.elapsed() < REMEMBERED);
    work(&mut silences)
}

/// Opens a connection within that time, unless the server kept silent for as long a moment ago. The operation that met the silence
/// goes on trying: it may be waiting for a server that restarts.
///
/// # Errors
/// As [`Connection::open`].
pub(super) fn open(
    at: &Arc<Server>,
    time: Duration,
    read_timeout: Duration,
    operation: Instant,
) -> Result<Connection, Fault> {
    let (server, now) = ((at.target.clone(), at.login.tls.is_some()), Instant::now());
    if let Some(why) = with(|silences| {
        let silence = silences.iter().find(|silence| {
            silence.server == server && silence.operation != operation && time <= silence.waited.mul_f64(1.1)
        })?;
        Some(format!("{} (tried {:.1} s ago)", silence.why, silence.ended.elapsed().as_secs_f64()))
    }) {
        return Err(Fault::Unsent(why));
    }
    let opened = Connection::open(at, time, read_timeout);
    with(|silences| {
        match &opened {
            Ok(_) => silences.retain(|silence| silence.server != server),
            Err(Fault::Unsent(why)) if now.elapsed() >= time => {
                let (why, waited, ended, process) = (why.clone(), now.elapsed(), Instant::now(), Generation::current());
                silences.push(Silence { server, why, waited, ended, operation, process });
            }
            Err(_) => {}
        }
        Some(())
    });
    opened
}
