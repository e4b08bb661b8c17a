//! The constructor's options array.

use super::convert::{self, ArrayKey};
use super::origin::{Origin, type_name};
use super::payload::{Encoding, Format};
use super::unwind::Outcome;
use super::{args, backoff, settings, times};
use crate::core::dsn::Dsn;
use crate::core::durability::Durability;
use crate::core::job::JobOptions;
use crate::core::keyring::Keyring;
use crate::core::nearest;
use crate::core::queue::{QueueConfig, check_prefix};
use ext_php_rs::types::{ZendHashTable, Zval};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// For the error that an unknown one gets.
const NAMES: [&str; 16] = [
    "prefix",
    "ttr",
    "maxAttempts",
    "priority",
    "backoff",
    "format",
    "maxPayload",
    "connectTimeout",
    "readTimeout",
    "durability",
    "replicas",
    "partitions",
    "capacity",
    "persistent",
    "keys",
    "signed",
];
const DEFAULT_MAX_PAYLOAD: usize = 1 << 20;
/// Redis takes no larger strings.
const LARGEST_PAYLOAD: usize = 512 << 20;
/// A worker asks each of them.
const MOST_PARTITIONS: u16 = 256;
/// More than any Redis has.
const MOST_REPLICAS: u32 = 255;
/// Longer than any connection attempt should take, and well within what sockets accept.
const LONGEST_TIMEOUT_MS: u64 = 3_600_000;

/// The options of the constructor that concern jobs.
#[derive(Clone)]
pub struct Defaults {
    pub options: JobOptions,
    pub encoding: Encoding,
}

impl Default for Defaults {
    fn default() -> Self {
        let encoding = Encoding { format: Format::Json, max_payload: DEFAULT_MAX_PAYLOAD };
        Self { options: JobOptions::default(), encoding }
    }
}

/// Everything the options say, with the defaults for the rest.
#[derive(Clone)]
pub struct QueueOptions {
    pub prefix: String,
    pub defaults: Defaults,
    pub connect_timeout: Duration,
    pub read_timeout: Duration,
    pub persistent: bool,
    pub partitions: u16,
    pub capacity: Option<u64>,
    pub durability: Option<Durability>,
    pub keyring: Option<Arc<Keyring>>,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            defaults: Defaults::default(),
            connect_timeout: Duration::from_secs(1),
            read_timeout: Duration::from_secs(2),
            persistent: true,
            partitions: 1,
            capacity: None,
            durability: None,
            keyring: None,
        }
    }
}

impl QueueOptions {
    pub fn config(&self, name: String, dsn: Arc<Dsn>) -> QueueConfig {
        QueueConfig {
            name,
            prefix: self.prefix.clone(),
            dsn,
            max_payload: self.defaults.encoding.max_payload,
            capacity: self.capacity,
            keyring: self.keyring.clone(),
            connect_timeout: self.connect_timeout,
            read_timeout: self.read_timeout,
            durability: self.durability,
            persistent: self.persistent,
        }
    }
}

/// The options of argument `number`; those that are not given are those of `options`.
pub fn read(table: Option<&ZendHashTable>, number: u32, mut options: QueueOptions) -> Outcome<QueueOptions> {
    let (mut keys, mut only_signs, mut replicas) = (None, None, None);
    for (key, value) in table.into_iter().flat_map(convert::entries) {
        let unknown = |key: &ArrayKey<'_>| {
            let hint = nearest::hint(&key.to_string(), &NAMES);
            Origin::Argument(number).unknown("option", key, &hint)
        };
        let ArrayKey::Text(name) = key else { return Err(unknown(&key)) };
        let Ok(name) = std::str::from_utf8(name) else { return Err(unknown(&key)) };
        let origin = Origin::Option(name);
        match name {
            "prefix" => {
                options.prefix = check_prefix(&args::bytes(value, origin)?).map_err(|error| origin.throw(error))?
            }
            "ttr" => options.defaults.options.ttr_ms = times::ttr(value, origin)?,
            "maxAttempts" => {
                options.defaults.options.max_attempts = args::max_attempts(value, origin)?;
            }
            "priority" => options.defaults.options.priority = args::priority(value, origin)?,
            "backoff" => options.defaults.options.backoff = Some(backoff::argument(value, origin)?),
            "format" => {
                options.defaults.encoding.format = match args::bytes(value, origin)?.as_ref() {
                    b"json" => Format::Json,
                    b"raw" => Format::Raw,
                    _ => return Err(origin.value_error("must be \"json\" or \"raw\"")),
                };
            }
            "maxPayload" => {
                options.defaults.encoding.max_payload = match usize::try_from(args::int(value, origin)?) {
                    Ok(size) if (1..=LARGEST_PAYLOAD).contains(&size) => size,
                    _ => return Err(origin.value_error(&format!("must be between 1 and {LARGEST_PAYLOAD}"))),
                };
            }
            "connectTimeout" => options.connect_timeout = timeout(value, origin)?,
            "readTimeout" => options.read_timeout = timeout(value, origin)?,
            "durability" => {
                options.durability = match args::bytes(value, origin)?.as_ref() {
                    b"memory" => None,
                    // A number that is not given stays.
                    b"replica" if matches!(options.durability, Some(Durability::Replica(_))) => options.durability,
                    b"replica" => Some(Durability::Replica(1)),
                    b"disk" => Some(Durability::Disk),
                    _ => return Err(origin.value_error("must be \"memory\", \"replica\" or \"disk\"")),
                };
            }
            "replicas" => replicas = Some(args::u32_in(1, MOST_REPLICAS)(value, origin)?),
            "partitions" => {
                options.partitions = match u16::try_from(args::int(value, origin)?) {
                    Ok(count) if (1..=MOST_PARTITIONS).contains(&count) => count,
                    _ => return Err(origin.value_error(&format!("must be between 1 and {MOST_PARTITIONS}"))),
                };
            }
            "capacity" => {
                options.capacity = match value.is_null() {
                    true => None,
                    false => match u64::try_from(args::int(value, origin)?) {
                        Ok(most) if most >= 1 => Some(most),
                        _ => return Err(origin.value_error("must be greater than or equal to 1")),
                    },
                };
            }
            "persistent" => options.persistent = args::bool(value, origin)?,
            "keys" => match value.array() {
                Some(table) => keys = Some(table),
                None => return Err(origin.type_error("array", value)),
            },
            "signed" => only_signs = Some(args::bool(value, origin)?),
            _ => return Err(unknown(&key)),
        }
    }
    if let Some(needed) = replicas {
        if !matches!(options.durability, Some(Durability::Replica(_))) {
            return Err(Origin::Option("replicas").value_error("must not be given without durability \"replica\""));
        }
        options.durability = Some(Durability::Replica(needed));
    }
    let signs = only_signs.or_else(|| Some(options.keyring.as_ref()?.only_signs())).unwrap_or(false);
    match (keys, &options.keyring) {
        (Some(table), _) => options.keyring = Some(Arc::new(keyring(table, signs)?)),
        (None, Some(keys)) if keys.only_signs() != signs => {
            options.keyring = Some(Arc::new(keys.that_only_signs(signs)))
        }
        (None, None) if signs => {
            return Err(Origin::Option("signed").value_error("must not be true without the option \"keys\""));
        }
        _ => {}
    }
    if options.prefix.is_empty() {
        options.prefix = settings::prefix()?;
    }
    Ok(options)
}

/// Keys by their ids. PHP makes an int of an id such as `2030`.
fn keyring(table: &ZendHashTable, only_signs: bool) -> Outcome<Keyring> {
    let origin = Origin::Option("keys");
    let mut keys = Vec::with_capacity(table.len());
    for (key, value) in convert::entries(table) {
        let id = match key {
            ArrayKey::Int(number) => Cow::Owned(number.to_string().into_bytes()),
            ArrayKey::Text(bytes) => Cow::Borrowed(bytes),
        };
        let Some(secret) = value.zend_str() else {
            return Err(origin.type_error_saying(&format!("must be an array of strings, {} given", type_name(value))));
        };
        keys.push((id, secret.as_bytes()));
    }
    Keyring::new(keys.iter().map(|(id, secret)| (id.as_ref(), *secret)), only_signs)
        .map_err(|error| origin.throw(error))
}

fn timeout(value: &Zval, origin: Origin<'_>) -> Outcome<Duration> {
    let ms = args::seconds(value, origin)?;
    if (1..=LONGEST_TIMEOUT_MS).contains(&ms) {
        Ok(Duration::from_millis(ms))
    } else {
        Err(origin.value_error("must be between 0.001 and 3600 seconds"))
    }
}
