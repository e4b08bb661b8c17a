//! A delay queue on Redis, as a PHP extension.
//!
//! Arrows point one way: `php/ → src/php → src/core → lua/`.
//!
//! * `lua/` — one file is one atomic transition of a job.
//! * [`core`] — names the keys, runs the scripts, types their replies, waits. Knows no PHP.
//! * `php` — converts values, throws exceptions. Knows no Redis command.

pub mod core;
#[cfg(feature = "php")]
mod php;
