//! A private redis-server, queues on it, and short words for frequent steps.

pub use crate::logins::*;
use crate::machine::{self, lasted};
use crate::process;
pub use crate::server_clock::Clock;
use delayqueue::core::clock;
use delayqueue::core::doctor::Check;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobId, JobOptions, LeaseReceipt, NewJob, OnDuplicate, Reserved, State};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{Finished, Interrupts, NoInterrupts, Queue, QueueConfig, Settled, Taken, reserve_from};
use delayqueue::core::resp;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A redis-server of our own on a unix socket; killed by pid when dropped, or with this process.
pub struct Server {
    child: Child,
    pub dir: tempfile::TempDir,
    options: Vec<String>,
    environment: Vec<(String, OsString)>,
}

/// An environment variable: how many walks the model takes, of groups a third; else few. Tests of many combinations take all of theirs with it.
pub const MANY_SEEDS: &str = "DELAYQUEUE_SEEDS";

/// The server under test: what the environment variable `REDIS_SERVER` says, else the one in PATH.
pub fn binary() -> OsString {
    std::env::var_os("REDIS_SERVER").filter(|path| !path.is_empty()).unwrap_or_else(|| "redis-server".into())
}

/// Whether the server under test is the oldest that is supported, Redis 6.2.
pub fn is_redis_6() -> bool {
    static IS_6: OnceLock<bool> = OnceLock::new();
    *IS_6.get_or_init(|| {
        let told = Command::new(binary()).arg("--version").output().expect("the server tells its version");
        String::from_utf8_lossy(&told.stdout).contains(" v=6.")
    })
}

/// Lets tests ask for digests. Redis 6.2 needs no option for it, and knows none.
fn debug_option() -> &'static [&'static str] {
    if is_redis_6() { &[] } else { &["--enable-debug-command", "yes"] }
}

/// A temporary folder for sockets, whose paths have room for 107 bytes: not every TMPDIR leaves enough of them.
pub fn short_dir() -> tempfile::TempDir {
    let usual = std::env::temp_dir();
    let base = if usual.as_os_str().len() <= 60 { usual } else { "/tmp".into() };
    tempfile::tempdir_in(base).unwrap()
}

impl Server {
    pub fn start_with_clock(clock: &Clock) -> Self {
        let shim = Clock::shim();
        let environment = vec![
            ("LD_PRELOAD".into(), shim.into_os_string()),
            ("DELAYQUEUE_TEST_CLOCK".into(), clock.file.path().as_os_str().to_owned()),
        ];
        Self::start_in(&[], environment)
    }

    pub fn start(options: &[&str]) -> Self {
        Self::start_in(options, Vec::new())
    }

    /// A server of the test's own, its queue `q`, and a plain connection.
    pub fn with_queue(options: &[&str]) -> (Self, Queue, Raw) {
        let server = Self::start(options);
        let (queue, raw) = (server.queue("q"), server.raw());
        (server, queue, raw)
    }

    fn start_in(options: &[&str], environment: Vec<(String, OsString)>) -> Self {
        machine::watch();
        let dir = short_dir();
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let child = Self::spawn(dir.path().to_path_buf(), &options, &environment);
        let server = Self { child, dir, options, environment };
        server.wait_until_up();
        server
    }

    fn spawn(dir: PathBuf, options: &[String], environment: &[(String, OsString)]) -> Child {
        let mut command = Command::new(binary());
        command
            .args(["--port", "0", "--unixsocket", "redis.sock", "--save", "", "--daemonize", "no"])
            .args(debug_option())
            .args(options)
            .current_dir(dir)
            .envs(environment.iter().cloned());
        process::start(command)
    }

    pub fn wait_until_up(&self) {
        let queue = self.queue("probe");
        until("redis-server answers", || queue.queues().is_ok());
    }

    pub fn socket(&self) -> String {
        self.dir.path().join("redis.sock").to_string_lossy().into_owned()
    }

    pub fn dsn(&self) -> Dsn {
        Dsn::parse(&format!("redis+unix://{}", self.socket())).unwrap()
    }

    pub fn queue(&self, name: &str) -> Queue {
        Queue::new(config(self.dsn(), name))
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn restart(&mut self) {
        self.launch();
        self.wait_until_up();
    }

    /// Starts it again without waiting until it answers.
    pub fn launch(&mut self) {
        self.child = Self::spawn(self.dir.path().to_path_buf(), &self.options, &self.environment);
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a signal to a child of ours that was not waited for yet.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

    /// A queue whose calls give up after this long.
    pub fn hasty_queue(&self, name: &str, read_timeout: Duration) -> Queue {
        Queue::new(QueueConfig { read_timeout, ..config(self.dsn(), name) })
    }

    /// A plain connection for looking behind the scenes.
    pub fn raw(&self) -> Raw {
        Raw::open(&self.dsn())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plain commands, for looking behind the scenes and breaking things.
pub struct Raw(delayqueue::core::connection::Connection);

impl Raw {
    pub fn open(dsn: &Dsn) -> Self {
        let timeout = Duration::from_secs(10);
        Self(delayqueue::core::connection::Connection::open(&server_of(dsn), timeout, timeout).unwrap())
    }

    pub fn run(&mut self, args: &[&str]) -> redis::Value {
        let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
        self.run_bytes(&args)
    }

    pub fn run_bytes(&mut self, args: &[&[u8]]) -> redis::Value {
        let mut request = Vec::new();
        resp::write_command(&mut request, args.iter().copied());
        // Tests read whole keys.
        let bounds = resp::Bounds { bytes: 1 << 30, values: 1 << 24 };
        self.0.exchange(&request, 1, bounds, Instant::now() + Duration::from_secs(10)).unwrap().remove(0)
    }

    pub fn int(&mut self, args: &[&str]) -> i64 {
        delayqueue::core::reply::int(self.run(args)).unwrap()
    }

    /// How often a command was called, by Redis' own count.
    pub fn calls(&mut self, command: &str) -> u64 {
        let stats = self.text(&["INFO", "commandstats"]);
        let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{command}:")));
        line.map_or(0, |line| line.split("calls=").nth(1).unwrap().split(',').next().unwrap().parse().unwrap())
    }

    pub fn text(&mut self, args: &[&str]) -> String {
        delayqueue::core::reply::text(self.run(args)).expect("a text")
    }
}

pub fn config(dsn: Dsn, name: &str) -> QueueConfig {
    QueueConfig {
        name: name.into(),
        prefix: "dq".into(),
        dsn: dsn.into(),
        max_payload: 1 << 20,
        durability: None,
        capacity: None,
        keyring: None,
        connect_timeout: Duration::from_secs(30),
        read_timeout: Duration::from_secs(60),
        persistent: true,
    }
}

/// The server that most tests share; each uses queues of its own.
pub fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&[]))
}

/// A queue that no other test uses.
pub fn fresh() -> Queue {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    shared().queue(&format!("q{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

pub fn id(text: &str) -> JobId {
    JobId::new(text).unwrap()
}

pub fn job(id_text: &str) -> NewJob {
    NewJob {
        id: Some(id(id_text)),
        payload: format!("payload of {id_text}").into_bytes(),
        due: Due::InMs(0),
        options: JobOptions::default(),
        on_duplicate: OnDuplicate::Fail,
        unique_ms: None,
    }
}

pub fn delayed(id_text: &str, ms: u64) -> NewJob {
    NewJob { due: Due::InMs(ms), ..job(id_text) }
}

pub fn prioritized(id_text: &str, priority: u32) -> NewJob {
    NewJob { options: priority_options(priority), ..job(id_text) }
}

pub fn priority_options(priority: u32) -> JobOptions {
    JobOptions { priority, ..JobOptions::default() }
}

/// Pushes all of them.
pub fn push_many(queue: &Queue, jobs: &[NewJob]) -> Vec<JobId> {
    let mut stored = Vec::new();
    queue.push_many(jobs, &mut stored).unwrap();
    stored
}

/// Operations of a queue as users have it: with all its partitions, which is one here.
pub trait Whole {
    fn itself(&self) -> &Queue;

    fn doctor(&self, repair: bool) -> Result<Vec<Check>, Error> {
        Partitions::new(self.itself(), 1).doctor(repair)
    }

    /// Jobs of the first of these queues that has any, waiting for so long.
    fn reserve(
        &self,
        watch: &[String],
        max: usize,
        timeout: Option<Duration>,
        interrupts: &mut dyn Interrupts,
    ) -> Result<Vec<Reserved>, Error> {
        let queues: Vec<Queue> = watch.iter().map(|name| self.itself().sibling(name)).collect();
        Ok(reserve_from(&queues, max, timeout, interrupts)?.map(|(_, jobs)| jobs).unwrap_or_default())
    }

    /// Waits for a ready job and takes none.
    fn wait(
        &self,
        watch: &[String],
        timeout: Option<Duration>,
        interrupts: &mut dyn Interrupts,
    ) -> Result<bool, Error> {
        let queues: Vec<Queue> = watch.iter().map(|name| self.itself().sibling(name)).collect();
        Ok(reserve_from(&queues, 0, timeout, interrupts)?.is_some())
    }
}

impl Whole for Queue {
    fn itself(&self) -> &Queue {
        self
    }
}

/// Reserves at once; `None` when nothing is ready.
pub fn reserve(queue: &Queue) -> Option<Reserved> {
    reserve_many(queue, 1).pop()
}

pub fn reserve_many(queue: &Queue, max: usize) -> Vec<Reserved> {
    queue.reserve(&[queue.name().to_owned()], max, Some(Duration::ZERO), &mut NoInterrupts).unwrap()
}

/// Acknowledges all of them; fails when one is not ours any more.
pub fn ack_all(queue: &Queue, jobs: &[Reserved]) {
    assert!(ack_each(queue, jobs).iter().all(|settled| *settled == Settled::Ours));
}

pub fn ack_each(queue: &Queue, jobs: &[Reserved]) -> Vec<Settled> {
    queue.ack_many(&finished(jobs)).unwrap()
}

/// They have just been done.
pub fn finished(jobs: &[Reserved]) -> Vec<Finished<'_>> {
    jobs.iter().map(|job| done(&job.receipt)).collect()
}

/// It has just been done.
pub fn done(receipt: &LeaseReceipt) -> Finished<'_> {
    Finished { receipt, ran: Duration::ZERO }
}

pub fn receipts(jobs: &[Reserved]) -> Vec<&LeaseReceipt> {
    jobs.iter().map(|job| &job.receipt).collect()
}

/// The payloads of jobs that the classic consumer has taken.
pub fn payloads(taken: Vec<Taken>) -> Vec<Vec<u8>> {
    taken.into_iter().map(|one| one.payload).collect()
}

/// Ids in the order in which they are served, acknowledged on the way.
pub fn serve_all(queue: &Queue) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some(job) = reserve(queue) {
        queue.ack(&job.held()).unwrap();
        ids.push(job.id.to_string());
    }
    ids
}

pub fn states(queue: &Queue) -> [u64; 4] {
    State::ALL.map(|state| queue.count(Some(state)).unwrap())
}

/// The name of a key of a queue.
pub fn key(queue: &Queue, name: &str) -> String {
    format!("{}:{{{}}}:{name}", queue.prefix(), queue.name())
}

/// Moves this thread's clock forward.
pub fn travel(ms: i64) {
    clock::set_offset_ms(clock::offset_ms() + ms);
}

/// Waits for a condition, failing loudly after half a minute.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    while !condition() {
        assert!(lasted(started) < Duration::from_secs(30), "did not happen in time: {what}");
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    }
}
