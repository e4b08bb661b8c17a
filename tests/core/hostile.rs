//! Servers that answer without an end, or more than a command can answer: every operation ends in its time all the same, and says what is true.

use crate::groups::group;
use crate::machine::stalls_since;
use crate::new_jobs::once;
use crate::proxy::message;
use crate::support::*;
use crate::worker_loop;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, LeaseReceipt, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{Flow, Interrupts, NoInterrupts, Queue, QueueConfig};
use delayqueue::core::scripts;
use delayqueue::core::worker::feed::Fetched;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(2);
pub const HELLO: &[u8] =
    b"%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$4\r\nrole\r\n$6\r\nmaster\r\n";
const AGAIN: &[u8] = b"*2\r\n$5\r\nAGAIN\r\n$0\r\n\r\n";

/// Answers one request, and says whether the connection goes on.
type Answer = dyn Fn(&mut TcpStream, &[u8]) -> std::io::Result<()> + Send + Sync;

/// A queue on a server that lets everybody log in, and answers so to everything else.
fn queue_on(answer: impl Fn(&mut TcpStream, &[u8]) -> std::io::Result<()> + Send + Sync + 'static) -> Queue {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let dsn = Dsn::parse(&format!("redis://127.0.0.1:{}", listener.local_addr().unwrap().port())).unwrap();
    let answer: Arc<Answer> = Arc::new(answer);
    std::thread::spawn(move || {
        for mut client in listener.incoming().map(Result::unwrap) {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || {
                let mut buffer = Vec::new();
                while let Some(request) = message(&mut client, &mut buffer) {
                    let is_hello = request.windows(5).any(|word| word == b"HELLO");
                    let sent = if is_hello { client.write_all(HELLO) } else { answer(&mut client, &request) };
                    if sent.is_err() {
                        return;
                    }
                }
            });
        }
    });
    Queue::new(QueueConfig { persistent: false, read_timeout: LIMIT, ..config(dsn, "q") })
}

fn always(bytes: &'static [u8]) -> Queue {
    queue_on(move |client, _| client.write_all(bytes))
}

fn is_for(request: &[u8], script: &scripts::Script) -> bool {
    request.windows(40).any(|word| word == script.sha.as_bytes())
}

fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

type Call = fn(&Queue) -> Result<(), Error>;

const CALLS: &[(&str, Call)] = &[
    ("push", |queue| queue.push(&job("a")).map(drop)),
    ("reserve", |queue| queue.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).map(drop)),
    ("reserve two queues", |queue| {
        queue.reserve(&["q".into(), "p".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).map(drop)
    }),
    ("reserve job", |queue| queue.reserve_job(&id("a")).map(drop)),
    ("peek", |queue| queue.peek(&id("a")).map(drop)),
    ("list", |queue| queue.list(State::Ready, 0, 1000).map(drop)),
    ("count", |queue| queue.count(None).map(drop)),
    ("purge", |queue| queue.purge(&[]).map(drop)),
    ("reschedule", |queue| queue.reschedule(&id("a"), Due::InMs(0), false).map(drop)),
    ("take", |queue| queue.take(None, 10).map(drop)),
    ("forget", |queue| queue.forget().map(drop)),
    ("kick", |queue| queue.kick(10, false).map(drop)),
    ("kick job", |queue| queue.kick_job(&id("a"), false).map(drop)),
    ("push once replacing", |queue| {
        queue.push_once(&[once("r", NewJob { on_duplicate: OnDuplicate::Replace, ..job("a") })]).map(drop)
    }),
    ("cancel a group", |queue| queue.cancel_group(&group("g"), false).map(drop)),
    ("look at a group", |queue| queue.group_stats(&group("g")).map(drop)),
    ("list a group", |queue| queue.list_group(&group("g"), State::Ready, 0, 10).map(drop)),
];

/// Operations that no housekeeping keeps from an answer.
const SHORT_CALLS: &[(&str, Call)] = &[
    ("push many", |queue| queue.push_many(&[job("a"), job("b")], &mut Vec::new())),
    ("cancel", |queue| queue.cancel(&[id("a")]).map(drop)),
    ("acknowledge", |queue| queue.ack_many(&[done(&receipt())]).map(drop)),
    ("renew", |queue| queue.renew(&[(&receipt(), 1000)]).map(drop)),
    ("limit groups", |queue| queue.limit_groups(None, None)),
    ("limits", |queue| queue.limits().map(drop)),
    ("groups", |queue| queue.groups(10, b"").map(drop)),
    ("stats", |queue| queue.stats().map(drop)),
    ("count due", |queue| queue.count_due(&[1]).map(drop)),
    ("now", |queue| queue.now_us().map(drop)),
    ("receipts", |queue| queue.receipts(0, b"", 10).map(drop)),
];

fn receipt() -> LeaseReceipt {
    LeaseReceipt { id: id("a"), lease: b"- 1 1 c".as_slice().into() }
}

/// Makes all these calls at the same time.
fn at_once(queue: &Queue, names: &[&str], check: impl Fn(&str, Error) + Sync) {
    std::thread::scope(|scope| {
        for (name, call) in CALLS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
            let check = &check;
            scope.spawn(move || check(name, failure(name, queue, *call)));
        }
    });
}

/// The error, which has to come in time.
fn failure(name: &str, queue: &Queue, call: Call) -> Error {
    let started = Instant::now();
    let error = call(queue).expect_err(name);
    let took = started.elapsed();
    assert!(took < LIMIT + LIMIT + stalls_since(started), "{name}: took {took:?}");
    error
}

#[test]
fn messages_without_end_do_not_hold_an_operation() {
    let flood = b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n".repeat(1000);
    let queue = queue_on(move |client, _| {
        loop {
            client.write_all(&flood)?;
        }
    });
    at_once(&queue, &[], |name, error| {
        assert!(
            matches!(error, Error::Connection { .. }) && error.to_string().contains("timed out"),
            "{name}: {error}"
        );
    });
}

#[test]
fn housekeeping_without_end_is_an_error_in_time_and_never_an_empty_queue() {
    let names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).filter(|name| *name != "push").collect();
    at_once(&always(AGAIN), &names, |name, error| {
        assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{name}: {error:?}");
        assert!(error.to_string().contains("queue") && error.to_string().contains("try again"), "{name}: {error}");
    });
}

#[test]
fn a_reserve_that_waits_goes_on_with_housekeeping_until_its_own_time_is_over() {
    let (queue, time) = (always(AGAIN), LIMIT + LIMIT / 4);
    let started = Instant::now();
    assert_eq!(queue.reserve(&["q".into()], 1, Some(time), &mut NoInterrupts), Ok(Vec::new()));
    let took = started.elapsed();
    assert!((time..time + LIMIT * 3 + stalls_since(started)).contains(&took), "{took:?}");
}

#[test]
fn a_wait_during_housekeeping_without_end_does_not_keep_redis_busy() {
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, begun) = (Arc::clone(&asked), Instant::now());
    let queue = queue_on(move |client, _| {
        count.fetch_add(usize::from(begun.elapsed() > Duration::from_secs(3)), Ordering::SeqCst);
        client.write_all(AGAIN)
    });
    let _ = queue.reserve(&["q".into()], 1, None, &mut EndsAt(begun + Duration::from_secs(5)));
    let asked = asked.load(Ordering::SeqCst);
    assert!((10..500).contains(&asked), "{asked} requests");
}

#[test]
fn a_loop_that_does_not_wait_asks_again_after_housekeeping_that_takes_long() {
    let started = Instant::now();
    let found = worker_loop::feed(&always(AGAIN), 1, true).next(Some(Duration::ZERO), &mut NoInterrupts);
    assert!(matches!(found, Ok(Fetched::Unfinished)), "{found:?}");
    assert!(started.elapsed() < LIMIT + LIMIT + stalls_since(started), "{:?}", started.elapsed());
}

/// As a worker that is told to end.
struct EndsAt(Instant);

impl Interrupts for EndsAt {
    fn poll(&mut self) -> Flow {
        if Instant::now() < self.0 { Flow::Continue } else { Flow::Return }
    }

    /// A signal would end the sleep.
    fn tick_at(&self) -> Option<Instant> {
        Some(self.0)
    }
}

#[test]
fn a_signal_ends_a_wait_during_housekeeping_or_messages_without_end() {
    let flood = b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n".repeat(1000);
    let flooding = queue_on(move |client, request| {
        let is_subscription = request.windows(9).any(|word| word == b"SUBSCRIBE");
        if !is_for(request, &scripts::RESERVE) {
            return if is_subscription { Ok(()) } else { client.write_all(b"+PONG\r\n") };
        }
        client.write_all(b"*3\r\n$5\r\nEMPTY\r\n$0\r\n\r\n$2\r\n-1\r\n")?;
        client.write_all(&flood)
    });
    for queue in [always(AGAIN), flooding] {
        let (started, end) = (Instant::now(), Duration::from_millis(500));
        let _ = queue.reserve(&["q".into()], 1, None, &mut EndsAt(started + end));
        assert!(started.elapsed() < end + LIMIT * 3 + stalls_since(started), "{:?}", started.elapsed());
    }
}

#[test]
fn an_answer_that_no_script_gives_is_an_error_that_names_the_queue() {
    let answers = ["*2\r\n$4\r\nWHAT\r\n$1\r\n?\r\n", "*1\r\n$2\r\nOK\r\n", "*0\r\n", ":1\r\n", "_\r\n"];
    let mut nameless = Vec::new();
    for answer in answers {
        let queue = always(answer.as_bytes());
        for (name, call) in CALLS.iter().chain(SHORT_CALLS) {
            let text = call(&queue).map_or_else(|error| error.to_string(), |()| "queue 'q'".into());
            if !text.contains("queue 'q'") && !text.contains("from 'q'") {
                nameless.push(format!("{name} of {answer:?}: {text}"));
            }
        }
    }
    assert!(nameless.is_empty(), "{}", nameless.join("\n"));
}

#[test]
fn a_ready_job_is_no_answer_to_a_fetch() {
    let queue = always(b"*2\r\n$5\r\nREADY\r\n$0\r\n\r\n");
    let error = queue.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts).unwrap_err();
    assert!(matches!(&error, Error::Server { code, .. } if code == "DQREPLY"), "{error:?}");
    assert!(error.to_string().starts_with("reserving from queue 'q': "), "{error}");
}

/// Each of five hundred is buried by a call of its own.
#[test]
fn unreadable_records_are_set_aside_for_as_long_as_one_operation_may_take() {
    let jobs: String = (0..500).map(|n| bulk(&format!("j{n}")) + &bulk("- 1 1 c") + &bulk("?") + &bulk("")).collect();
    let leased = format!("*2003\r\n{}{}{}{jobs}", bulk("JOBS"), bulk(""), bulk("1"));
    let queue = queue_on(move |client, request| {
        if is_for(request, &scripts::RESERVE) {
            return client.write_all(leased.as_bytes());
        }
        std::thread::sleep(Duration::from_millis(10));
        client.write_all(b"*1\r\n$2\r\nOK\r\n")
    });
    let reserve = CALLS.iter().find(|(name, _)| *name == "reserve").unwrap().1;
    let error = failure("reserve", &queue, reserve);
    assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
}

#[test]
fn more_than_a_command_can_answer_is_refused_before_it_is_read() {
    std::thread::scope(|scope| {
        for (answer, name) in [
            (&b"$600000000\r\n"[..], "peek"),
            (b"$20000000\r\n", "push"),
            (b"$20000000\r\n", "count"),
            (b"*2000000\r\n:1\r\n", "reserve"),
            (b"*2000000\r\n:1\r\n", "list"),
            (b"%1000000000\r\n", "purge"),
        ] {
            scope.spawn(move || {
                let tries = Arc::new(AtomicUsize::new(0));
                let count = Arc::clone(&tries);
                let queue = queue_on(move |client, _| {
                    count.fetch_add(1, Ordering::SeqCst);
                    client.write_all(answer)?;
                    std::thread::sleep(LIMIT); // the rest is on its way
                    Ok(())
                });
                at_once(&queue, &[name], |_, _| {});
                assert!(tries.load(Ordering::SeqCst) > 1, "{name}: it waited for the rest of {answer:?}");
            });
        }
    });
}
