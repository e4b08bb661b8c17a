//! `DelayQueue`: the class, its constructor, and the methods that concern the object itself.

use super::call::{Call, Outcome, method};
use super::class::{Class, Declaration, Kind, Method, Rejected, interned};
use super::convert;
use super::exceptions::At;
use super::groups;
use super::manage;
use super::new_job::{Defaults, Format};
use super::object::{Handlers, Inside, construct, creator, make};
use super::once;
use super::options::{self, Options};
use super::place::Place;
use super::prepared;
use super::produce;
use super::reserve;
use super::settings;
use super::worker;
use super::worker::events::Listeners;
use super::workers;
use crate::core::dsn::Dsn;
use crate::core::job::DEFAULT_PRIORITY;
use crate::core::partitions::Partitions;
use crate::core::queue::{Queue, QueueConfig, check_queue_name};
use ext_php_rs::types::Zval;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

/// The fields of a `DelayQueue` object.
pub struct DelayQueue {
    pub queue: Partitions,
    pub defaults: Defaults,
    /// All of them, for siblings.
    options: Options,
    /// Names to reserve from, in their order; empty: the queue's own. Never borrowed while PHP code runs.
    watch: RefCell<Vec<String>>,
    /// Set by `stop()`, taken by the wait that ends because of it.
    pub stop: Cell<bool>,
    pub listeners: Listeners,
}

static CLASS: Class = Class::new("DelayQueue");
static HANDLERS: OnceLock<Handlers> = OnceLock::new();

impl Inside for DelayQueue {
    const CONSTRUCTIBLE: bool = true;
    fn class() -> &'static Class {
        &CLASS
    }
    fn handlers() -> &'static OnceLock<Handlers> {
        &HANDLERS
    }
    fn held_values(&self) -> (*mut Zval, usize) {
        self.listeners.values()
    }
    fn debug_info(&self) -> Option<Zval> {
        let options = &self.defaults.options;
        let format = if self.defaults.encoding.format == Format::Raw { "raw" } else { "json" };
        Some(convert::map([
            ("name", convert::bytes(self.queue.name())),
            ("dsn", convert::bytes(self.queue.first().redacted_dsn())),
            ("prefix", convert::bytes(self.queue.first().prefix())),
            ("watch", convert::list(self.watched().iter().map(convert::bytes))),
            ("ttr", convert::float(convert::seconds(options.ttr_ms))),
            ("maxAttempts", convert::int(options.max_attempts)),
            ("backoff", convert::bytes(options.backoff.to_string())),
            ("priority", convert::int(options.priority)),
            ("format", convert::bytes(format)),
            ("sealed", convert::bool(self.queue.first().has_keys())),
        ]))
    }
}

impl DelayQueue {
    pub fn watched(&self) -> Vec<String> {
        let watch = self.watch.borrow();
        if watch.is_empty() { vec![self.queue.name().to_owned()] } else { watch.clone() }
    }
}

/// The parameters that describe a job, in the order of `new_job`.
macro_rules! job_parameters {
    () => {
        "mixed $payload, int|float|string|\\DateInterval|\\DateTimeInterface $delay = 0, ?string $id = null, \
         ?int $priority = null, int|float|string|\\DateInterval|null $ttr = null, ?int $maxAttempts = null, \
         ?\\DelayQueue\\Backoff $backoff = null, int|float|string|\\DateInterval|null $timeout = null, \
         \\DelayQueue\\OnDuplicate $onDuplicate = \\DelayQueue\\OnDuplicate::Fail, array $headers = [], \
         int|float|string|\\DateInterval|null $unique = null, \
         int|float|string|\\DateInterval|null $maxWait = null, \
         int|float|string|\\DateInterval|\\DateTimeInterface|null $expires = null, \
         \\DelayQueue\\OnExpiry $onExpiry = \\DelayQueue\\OnExpiry::Bury, \
         int|float|string|\\DateInterval|\\DateTimeInterface|null $retryUntil = null, ?string $group = null"
    };
}

/// Interfaces have most of them, too: see `interfaces`.
pub static METHODS: [Method; 59] = [
    method!(
        "__construct(string $queue = 'default', #[\\SensitiveParameter] ?string $dsn = null, \
         #[\\SensitiveParameter] array $options = [])",
        create
    ),
    method!("sibling(string $queue, #[\\SensitiveParameter] array $options = []): static", sibling),
    method!(concat!("push(", job_parameters!(), "): string"), produce::push),
    method!(concat!("tryPush(", job_parameters!(), "): ?string"), produce::try_push),
    method!("pushMany(iterable $jobs): array", produce::push_many),
    method!("pushOnce(iterable $jobs): \\DelayQueue\\PushOnce", once::push_once),
    method!(concat!("prepare(", job_parameters!(), "): \\DelayQueue\\PreparedJob"), prepared::prepare),
    method!(
        "receipts(int|float|string|\\DateInterval $olderThan = 0, string $prefix = '', int $limit = 1000): array",
        once::receipts
    ),
    method!("takenIds(): array", once::taken_ids),
    method!("forgetReceipts(string ...$names): int", once::forget_receipts),
    method!("producer(string $member, int|float $score, array $message): bool", produce::producer),
    method!("consumer(int|float|null $maxScore = null, int $limit = 10): array", reserve::consumer),
    method!("watch(string ...$queues): static", watch),
    method!("reserve(int|float|null $timeout = 0): ?\\DelayQueue\\Job", reserve::reserve),
    method!("reserveMany(int $max, int|float|null $timeout = 0): array", reserve::reserve_many),
    method!("reserveJob(string $id): ?\\DelayQueue\\Job", reserve::reserve_job),
    method!("wait(int|float|null $timeout = null): bool", reserve::wait),
    method!("ackMany(\\DelayQueue\\JobInterface ...$jobs): int", reserve::ack_many),
    method!(
        "consume(callable $handler, int|float $idleTimeout = 5, int $maxJobs = 0, \
         int|float|string|\\DateInterval $maxTime = 0, int|string $memoryLimit = 0, bool $stopWhenEmpty = false, \
         int $prefetch = 1, int|float|string|\\DateInterval $timeout = 0, \
         int|float|string|\\DateInterval $graceTimeout = 5, bool $heartbeat = true, \
         bool $throwOnCancel = false, \
         int|float|string|\\DateInterval $shutdownTimeout = 0): \\DelayQueue\\StopReason",
        worker::consume
    ),
    method!("drain(callable $handler, int $limit = 0): int", worker::drain),
    method!("stop(): void", stop),
    method!("on(\\DelayQueue\\Event $event, callable $listener): static", worker::on),
    method!("peek(string $id): ?\\DelayQueue\\JobInfo", manage::peek),
    method!("cancel(string ...$ids): int", manage::cancel),
    method!(
        "reschedule(string $id, int|float|string|\\DateInterval|\\DateTimeInterface $delay): bool",
        manage::reschedule
    ),
    method!("update(string $id, mixed $payload, ?array $headers = null): bool", manage::update),
    method!("reseal(string $id, bool $plain = true): bool", manage::reseal),
    method!("kickJob(string $id, bool $resetAttempts = true): bool", manage::kick_job),
    method!("peekReady(): ?\\DelayQueue\\JobInfo", manage::peek_ready),
    method!("peekDelayed(): ?\\DelayQueue\\JobInfo", manage::peek_delayed),
    method!("peekBuried(): ?\\DelayQueue\\JobInfo", manage::peek_buried),
    method!(
        "list(\\DelayQueue\\State $state, int $offset = 0, int $limit = 100, \
         ?\\DelayQueue\\JobInfo $after = null, ?string $group = null): array",
        manage::list
    ),
    method!("count(?\\DelayQueue\\State $state = null): int", manage::count),
    method!("countDue(\\DateTimeInterface ...$until): array", manage::count_due),
    method!("kick(int $max = 1, bool $resetAttempts = true): int", manage::kick),
    method!("pause(int|float|string|\\DateInterval|null $for = null, ?string $group = null): void", groups::pause),
    method!("resume(?string $group = null): void", groups::resume),
    method!("isPaused(?string $group = null): bool", groups::is_paused),
    method!("rateLimit(int|float|string|\\DateInterval $for, ?string $group = null): void", groups::rate_limit),
    method!(
        "limitGroups(?string $group = null, ?\\DelayQueue\\GroupLimits $limits = null): void",
        groups::limit_groups
    ),
    method!(
        "limitQueue(?int $concurrency = null, ?string $rate = null, ?int $burst = null): void",
        groups::limit_queue
    ),
    method!("limits(): array", groups::limits),
    method!("groups(int $limit = 100, string $after = ''): array", groups::groups),
    method!("groupStats(string $group): \\DelayQueue\\GroupStats", groups::group_stats),
    method!("cancelGroup(string $group, bool $reserved = false): int", groups::cancel_group),
    method!("purge(\\DelayQueue\\State ...$states): int", manage::purge),
    method!("forget(): bool", manage::forget),
    method!("stats(): \\DelayQueue\\Stats", manage::stats),
    method!("now(): float", manage::now),
    method!("queues(): array", manage::queues),
    method!("partitions(): int", manage::partitions),
    method!("workers(?string $host = null, ?int $pid = null, ?string $queue = null): array", workers::workers),
    method!(
        "tellWorkers(\\DelayQueue\\WorkerOrder $order, ?string $host = null, ?int $pid = null, \
         ?string $queue = null): int",
        workers::tell_workers
    ),
    method!("doctor(bool $repair = false): array", manage::doctor),
    method!("installScripts(): int", manage::install_scripts),
    method!("close(): void", close),
    method!("name(): string", name),
    method!("dsn(): string", dsn),
    method!("prefix(): string", prefix),
];

pub fn register() -> Result<(), Rejected> {
    CLASS.register(&Declaration {
        kind: Kind::Final,
        parent: None,
        interfaces: &["DelayQueue\\QueueInterface"],
        properties: &[],
        methods: &METHODS,
        create: Some(creator::<DelayQueue>()),
    })?;
    CLASS.constant("DEFAULT_PRIORITY", convert::int(DEFAULT_PRIORITY));
    CLASS.constant("VERSION", interned(env!("CARGO_PKG_VERSION")));
    Ok(())
}

/// Opens nothing: the first command does.
fn create(call: &Call) -> Outcome<Zval> {
    let name = match call.optional_bytes(1)? {
        Some(bytes) => check_queue_name(&bytes).at(Place::Argument(1))?,
        None => String::from("default"),
    };
    let dsn = settings::dsn(call.nullable_bytes(2)?)?;
    let options = read_options(call, 3, Options::default())?;
    construct(call.object()?, open(name, dsn, options))?;
    Ok(convert::null())
}

/// As if it had been constructed with the DSN of this one, and with its options but for those that are given.
fn sibling(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let name = check_queue_name(&call.bytes(1)?).at(Place::Argument(1))?;
    let options = read_options(call, 2, this.options.clone())?;
    let dsn = Arc::clone(&this.queue.first().client().key().dsn);
    make(open(name, dsn, options), Vec::new())
}

fn read_options(call: &Call, number: u32, others: Options) -> Outcome<Options> {
    match call.arg(number) {
        None => options::read(None, number, others),
        Some(given) => match given.array() {
            Some(table) => options::read(Some(table), number, others),
            None => Err(call.type_error(number, given)),
        },
    }
}

fn open(name: String, dsn: Arc<Dsn>, options: Options) -> DelayQueue {
    let queue = Queue::new(QueueConfig {
        name,
        prefix: options.prefix.clone(),
        dsn,
        max_payload: options.defaults.encoding.max_payload,
        capacity: options.capacity,
        keyring: options.keyring.clone(),
        connect_timeout: options.connect_timeout,
        read_timeout: options.read_timeout,
        durability: options.durability,
        persistent: options.persistent,
    });
    DelayQueue {
        queue: Partitions::new(&queue, options.partitions),
        defaults: options.defaults.clone(),
        options,
        watch: RefCell::default(),
        stop: Cell::new(false),
        listeners: Listeners::default(),
    }
}

/// Without names the object's own queue is watched again.
fn watch(call: &Call) -> Outcome<Zval> {
    let this = call.this::<DelayQueue>()?;
    let mut names = Vec::new();
    for number in call.rest(1) {
        let name = check_queue_name(&call.bytes(number)?).at(Place::Argument(number))?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    this.watch.replace(names);
    call.this_value()
}

fn stop(call: &Call) -> Outcome<Zval> {
    call.this::<DelayQueue>()?.stop.set(true);
    Ok(convert::null())
}

fn close(call: &Call) -> Outcome<Zval> {
    call.this::<DelayQueue>()?.queue.close();
    Ok(convert::null())
}

fn name(call: &Call) -> Outcome<Zval> {
    Ok(convert::bytes(call.this::<DelayQueue>()?.queue.name()))
}

/// Without the password.
fn dsn(call: &Call) -> Outcome<Zval> {
    Ok(convert::bytes(call.this::<DelayQueue>()?.queue.first().redacted_dsn()))
}

fn prefix(call: &Call) -> Outcome<Zval> {
    Ok(convert::bytes(call.this::<DelayQueue>()?.queue.first().prefix()))
}
