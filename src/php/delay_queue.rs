//! `DelayQueue`: the class, its constructor, and the methods that concern the object itself.

use super::call::Call;
use super::callbacks::Listeners;
use super::classes::properties;
use super::enlisted::Enlistment;
use super::object::{Handlers, Inside, Plain, construct as fill, make};
use super::options::{self, Defaults, QueueOptions};
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, backoff, convert};
use crate::core::dsn::Dsn;
use crate::core::durability::Durability;
pub use crate::core::job::DEFAULT_PRIORITY;
use crate::core::partitions::Partitions;
use crate::core::queue::Queue;
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::{Rc, Weak};
use std::sync::{Arc, OnceLock};

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The fields of a `DelayQueue` object.
pub struct DelayQueue {
    pub queue: Partitions,
    pub defaults: Defaults,
    /// All of them, for siblings.
    options: QueueOptions,
    /// Names to reserve from, in their order; empty: the queue's own. Never borrowed while PHP code runs.
    watch: RefCell<Vec<String>>,
    /// Set by `stop()`, taken by the wait that ends because of it.
    pub stop: Cell<bool>,
    pub listeners: Listeners,
    /// A loop of the program's own that takes its jobs from here.
    pub enlisted: RefCell<Weak<Enlistment>>,
}

impl Inside for DelayQueue {
    const CONSTRUCTIBLE: bool = true;
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
    fn held_values(&self) -> (*mut Zval, usize) {
        self.listeners.values()
    }
    fn debug_info(&self) -> Option<Zval> {
        let options = &self.defaults.options;
        Some(convert::map([
            ("name", convert::bytes(self.queue.name())),
            ("dsn", convert::bytes(self.queue.first().redacted_dsn())),
            ("prefix", convert::bytes(self.queue.first().prefix())),
            ("watch", convert::list(self.watched().iter().map(convert::bytes))),
            ("ttr", convert::float(convert::seconds(options.ttr_ms))),
            ("maxAttempts", convert::int(options.max_attempts)),
            ("backoff", convert::bytes(options.backoff.clone().unwrap_or_default().to_string())),
            ("priority", convert::int(options.priority)),
            ("format", convert::bytes(self.defaults.encoding.format.name())),
            ("sealed", convert::bool(self.queue.first().has_keys())),
        ]))
    }
}

impl DelayQueue {
    /// Whether nobody without its keys can read a payload.
    pub fn hides_payloads(&self) -> bool {
        self.options.keyring.as_ref().is_some_and(|keys| !keys.only_signs())
    }

    /// `None` once it has ended.
    pub fn enlistment(&self) -> Option<Rc<Enlistment>> {
        self.enlisted.borrow().upgrade().filter(|enlisted| enlisted.orders().is_some())
    }

    pub fn watched(&self) -> Vec<String> {
        let watch = self.watch.borrow();
        if watch.is_empty() { vec![self.queue.name().to_owned()] } else { watch.clone() }
    }
}

/// Opens nothing: the first command does.
pub fn construct(call: &Call) -> Outcome<Zval> {
    let name = call.optional(1, args::queue_name)?.unwrap_or_else(|| String::from("default"));
    let dsn = super::settings::dsn(call.nullable(2, args::bytes)?)?;
    let options = read_options(call, 3, QueueOptions::default())?;
    fill(call.object()?, open(name, dsn, options))?;
    Ok(convert::null())
}

/// As if it had been constructed with the DSN of this one, and with its options but for those that are given.
pub fn sibling(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let name = call.required(1, args::queue_name)?;
    let options = read_options(call, 2, this.options.clone())?;
    let dsn = Arc::clone(&this.queue.first().client().key().dsn);
    make(open(name, dsn, options), properties::DelayQueue {})
}

fn read_options(call: &Call, number: u32, others: QueueOptions) -> Outcome<QueueOptions> {
    match call.arg(number) {
        None => options::read(None, number, others),
        Some(given) => match given.array() {
            Some(table) => options::read(Some(table), number, others),
            None => Err(Origin::Argument(number).wrong_type("array", given)),
        },
    }
}

fn open(name: String, dsn: Arc<Dsn>, options: QueueOptions) -> DelayQueue {
    let queue = Queue::new(options.config(name, dsn));
    DelayQueue {
        queue: Partitions::new(&queue, options.partitions),
        defaults: options.defaults.clone(),
        options,
        watch: RefCell::default(),
        stop: Cell::new(false),
        listeners: Listeners::default(),
        enlisted: RefCell::default(),
    }
}

/// Without names the object's own queue is watched again.
pub fn watch(this: &DelayQueue, call: &Call) -> Outcome<Zval> {
    let mut names = call.each(1, args::queue_name)?;
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    this.watch.replace(names);
    call.this_value()
}

pub fn stop(this: &DelayQueue) -> Outcome<Zval> {
    this.stop.set(true);
    Ok(convert::null())
}

pub fn close(this: &DelayQueue) -> Outcome<Zval> {
    this.queue.close();
    Ok(convert::null())
}

pub fn name(this: &DelayQueue) -> Outcome<Zval> {
    Ok(convert::bytes(this.queue.name()))
}

/// What the constructor was told, without its secrets.
pub fn settings(this: &DelayQueue) -> Outcome<Zval> {
    let (options, jobs) = (&this.options, &this.defaults.options);
    let keys = options.keyring.as_ref();
    let (durability, replicas) = match options.durability {
        None => ("memory", 0),
        Some(Durability::Replica(needed)) => ("replica", needed),
        Some(Durability::Disk) => ("disk", 0),
    };
    let settings = properties::QueueSettings {
        dsn: convert::bytes(this.queue.first().redacted_dsn()),
        prefix: convert::bytes(this.queue.first().prefix()),
        format: convert::bytes(this.defaults.encoding.format.name()),
        max_payload: convert::int(this.defaults.encoding.max_payload),
        is_sealed: convert::bool(keys.is_some()),
        is_signed: convert::bool(keys.is_some_and(|keys| keys.only_signs())),
        partitions: convert::int(options.partitions),
        capacity: convert::nullable(options.capacity, convert::int),
        durability: convert::bytes(durability),
        replicas: convert::int(replicas),
        priority: convert::int(jobs.priority),
        ttr: convert::float(convert::seconds(jobs.ttr_ms)),
        max_attempts: convert::int(jobs.max_attempts),
        backoff: backoff::object(jobs.backoff.clone().unwrap_or_default())?,
    };
    make(Plain, settings)
}
