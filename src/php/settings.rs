//! Settings that no argument gives: the ini setting, else the environment, else the default.

use super::call::Outcome;
use super::exceptions::{At, throw_value_error};
use super::ini;
use super::place::{Place, active_function};
use super::sys;
use crate::core::dsn::Dsn;
use crate::core::error::{Error, Result};
use crate::core::queue::check_prefix;
use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::Arc;

const DEFAULT_DSN: &str = "redis://127.0.0.1:6379/0";
/// The DSN that chooses `DelayQueue\InMemory\InMemoryQueue` of the PHP package.
pub const IN_MEMORY: &str = "memory://";
const DEFAULT_PREFIX: &str = "dq";

/// Where Redis is: the second argument of the constructor, else as above.
pub fn dsn(argument: Option<Cow<'_, [u8]>>) -> Outcome<Arc<Dsn>> {
    match argument {
        Some(bytes) => of_redis(&bytes).at(Place::Argument(2)),
        None => find(ini::dsn(), "delayqueue.dsn", c"DELAYQUEUE_DSN", DEFAULT_DSN, of_redis),
    }
}

fn of_redis(text: &[u8]) -> Result<Arc<Dsn>> {
    if text == IN_MEMORY.as_bytes() {
        let must =
            "must name a Redis: with memory://, DelayQueue\\Queues::open() of the PHP package gives an InMemoryQueue";
        return Err(Error::Invalid(must.into()));
    }
    Dsn::shared(text)
}

/// The beginning of all keys, where no option says it.
pub fn prefix() -> Outcome<String> {
    find(ini::prefix(), "delayqueue.prefix", c"DELAYQUEUE_PREFIX", DEFAULT_PREFIX, check_prefix)
}

/// Reads the first one that is set. The error of one that cannot be read says where it stands.
fn find<T>(
    ini: Option<String>,
    ini_name: &str,
    variable: &CStr,
    default: &str,
    read: fn(&[u8]) -> Result<T>,
) -> Outcome<T> {
    let of_ini = ini.map(|text| (text.into_bytes(), format!("ini setting {ini_name}")));
    let of_environment =
        || environment(variable).map(|bytes| (bytes, format!("environment variable {}", variable.to_string_lossy())));
    let (value, source) = of_ini.or_else(of_environment).unwrap_or_else(|| (default.into(), String::from("default")));
    read(&value).map_err(|error| match error {
        Error::Invalid(must) => throw_value_error(&format!("{}(): The {source} {must}", active_function())),
        other => other.into(),
    })
}

/// The environment, then `$_ENV` and `$_SERVER`, which is all that a reader of `.env` files may have written to. An empty one counts as not set.
fn environment(variable: &CStr) -> Option<Vec<u8>> {
    let name = variable.to_str().unwrap_or_default();
    let set = |value: &Vec<u8>| !value.is_empty();
    sys::environment(variable)
        .filter(set)
        .or_else(|| ["_ENV", "_SERVER"].into_iter().filter_map(|array| sys::superglobal(array, name)).find(set))
}
