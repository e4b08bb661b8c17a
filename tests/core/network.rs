//! The network between us and Redis breaks in the middle of a call.

use crate::audit;
use crate::machine::stalls_since;
use crate::proxy::{Cut, Fault, Proxy};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, OnDuplicate};
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Failed, Fetch, Held, NoInterrupts, Queue, ReserveOutcome};
use std::time::{Duration, Instant};

pub type Call = fn(&Queue, &Held) -> Result<String, Error>;

fn word<T>(result: Result<T, Error>, word: &str) -> Result<String, Error> {
    result.map(|_| word.to_owned())
}

fn push_each(queue: &Queue, jobs: &[NewJob]) -> Result<String, Error> {
    let mut stored = Vec::new();
    queue.push_many(jobs, &mut stored)?;
    Ok(stored.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

/// A call, its answer, and how many jobs are delayed, ready, reserved and buried afterwards: of each there is one before.
pub const CALLS: &[(&str, Call, &str, [u64; 4])] = &[
    ("push", |queue, _| Ok(queue.push(&job("new"))?.to_string()), "new", [1, 2, 1, 1]),
    ("push late", |queue, _| Ok(queue.push(&delayed("new", 50_000))?.to_string()), "new", [2, 1, 1, 1]),
    (
        "push late again",
        |queue, _| {
            Ok(queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..delayed("delayed", 50_000) })?.to_string())
        },
        "delayed",
        [1, 1, 1, 1],
    ),
    ("push urgent", |queue, _| Ok(queue.push(&prioritized("new", 5))?.to_string()), "new", [1, 2, 1, 1]),
    (
        "push keeping",
        |queue, _| Ok(queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..job("ready") })?.to_string()),
        "ready",
        [1, 1, 1, 1],
    ),
    (
        "push replacing",
        |queue, _| {
            Ok(queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..delayed("ready", 50_000) })?.to_string())
        },
        "ready",
        [2, 0, 1, 1],
    ),
    (
        "push many",
        |queue, _| push_each(queue, &[job("new"), prioritized("urgent", 5), delayed("late", 50_000)]),
        "new urgent late",
        [2, 3, 1, 1],
    ),
    ("push batch", |queue, _| push_each(queue, &[job("new"), delayed("late", 50_000)]), "new late", [2, 2, 1, 1]),
    ("push anonymous", |queue, _| word(queue.push(&NewJob { id: None, ..job("any") }), "ok"), "ok", [1, 2, 1, 1]),
    (
        "reserve",
        |queue, _| {
            let jobs = queue.reserve(&[queue.name().to_owned()], 1, Some(Duration::ZERO), &mut NoInterrupts)?;
            Ok(jobs.iter().map(|job| format!("{} {}", job.id, job.attempts)).collect())
        },
        "ready 1",
        [1, 0, 2, 1],
    ),
    (
        "reserve job",
        |queue, _| Ok(queue.reserve_job(&id("delayed"))?.map_or("none".into(), |job| job.id.to_string())),
        "delayed",
        [0, 1, 2, 1],
    ),
    (
        "feed",
        |queue, held| {
            let mut fetch = Fetch { max: 1, done: vec![held.finished()], lost: Vec::new() };
            let ReserveOutcome::Jobs(jobs) = queue.reserve_now(&mut Connections::default(), &mut fetch, None)? else {
                return Ok("nothing".into());
            };
            Ok(format!("{} {} {:?}", jobs[0].id, jobs[0].attempts, fetch.lost))
        },
        "ready 1 []",
        [1, 0, 1, 1],
    ),
    ("ack", |queue, held| word(queue.ack(held), "ok"), "ok", [1, 1, 0, 1]),
    ("ack many", |queue, held| Ok(format!("{:?}", queue.ack_many(&[held.finished()])?)), "[Ours]", [1, 1, 0, 1]),
    ("release", |queue, held| word(queue.release(held, Due::InMs(0), None, true), "ok"), "ok", [1, 2, 0, 1]),
    ("release urgent", |queue, held| word(queue.release(held, Due::InMs(0), Some(5), true), "ok"), "ok", [1, 2, 0, 1]),
    ("give back", |queue, held| Ok(format!("{:?}", queue.give_back(&[&held.receipt])?)), "[Ours]", [1, 2, 0, 1]),
    (
        "fail",
        |queue, held| Ok(if queue.fail(held, None)? == Failed::Buried { "buried" } else { "retried" }.into()),
        "retried",
        [2, 1, 0, 1],
    ),
    ("bury", |queue, held| word(queue.bury(held, None), "ok"), "ok", [1, 1, 0, 2]),
    ("touch", |queue, held| word(queue.touch(held, None), "ok"), "ok", [1, 1, 1, 1]),
    ("cancel", |queue, _| Ok(queue.cancel(&[id("ready")])?.to_string()), "1", [1, 0, 1, 1]),
    ("kick job", |queue, _| Ok(queue.kick_job(&id("buried"), false)?.to_string()), "true", [1, 2, 1, 0]),
    ("kick delayed job", |queue, _| Ok(queue.kick_job(&id("delayed"), false)?.to_string()), "true", [0, 2, 1, 1]),
    (
        "reschedule",
        |queue, _| Ok(queue.reschedule(&id("delayed"), Due::InMs(0), false)?.to_string()),
        "true",
        [0, 2, 1, 1],
    ),
    ("renew", |queue, held| word(queue.renew(&[(&held.receipt, 60_000)]), "ok"), "ok", [1, 1, 1, 1]),
    (
        "update",
        |queue, _| Ok(queue.update(&id("ready"), Changes::payload(b"changed"), None, None)?.to_string()),
        "true",
        [1, 1, 1, 1],
    ),
    (
        "update held",
        |queue, held| word(queue.update_held(held, Changes::payload(b"changed")), "ok"),
        "ok",
        [1, 1, 1, 1],
    ),
    (
        "peek",
        |queue, _| Ok(queue.peek(&id("held"))?.map_or("none".into(), |info| info.id.to_string())),
        "held",
        [1, 1, 1, 1],
    ),
];

const HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n";

/// One job in each state.
pub fn arrange(queue: &Queue) -> Held {
    queue.push(&job("buried")).unwrap();
    queue.bury(&reserve(queue).unwrap().held(), None).unwrap();
    queue.push(&job("held")).unwrap();
    let held = reserve(queue).unwrap().held();
    queue.push(&job("ready")).unwrap();
    queue.push(&delayed("delayed", 3_600_000)).unwrap();
    held
}

fn check(server: &Server, queue: &Queue, expected: [u64; 4], case: &str) {
    let (places, faults) = audit::examine(&mut server.raw(), queue);
    assert!(faults.is_empty(), "{case}: {faults:?} {places:?}");
    assert_eq!(states(queue), expected, "{case}");
}

#[test]
fn a_call_that_breaks_once_is_repeated_and_has_its_effect_once() {
    let (server, proxy) = Proxy::with_server();
    let mut faults = vec![Fault::DropBefore, Fault::DropReply];
    for cut in [Cut::First, Cut::Half, Cut::Last] {
        faults.extend([Fault::CutRequest(cut), Fault::CutReply(cut)]);
    }
    for garbage in [HTTP, b"\0\0\0\0\0\0\0\0", b"*99999999999\r\n", b"$3\r\nabcdef\r\n"] {
        faults.extend([Fault::Instead(garbage), Fault::After(garbage)]);
    }
    for (number, (name, call, answer, expected)) in CALLS.iter().enumerate() {
        for (at, fault) in faults.iter().enumerate() {
            let case = format!("{name}, {fault:?}");
            let direct = server.queue(&format!("q{number}.{at}"));
            let held = arrange(&direct);
            let queue = proxy.queue(direct.name(), Duration::from_secs(5));
            proxy.fail(*fault, 1);
            let found = call(&queue, &held);
            assert_eq!(proxy.heal(), 1, "{case}: it met the fault");
            match found {
                // How many there were died with the answer.
                Err(Error::Connection { ambiguous: true, .. }) if *name == "cancel" && fault.executes() => {}
                found => assert_eq!(found.as_deref(), Ok(*answer), "{case}"),
            }
            check(&server, &direct, *expected, &case);
            assert_eq!(queue.peek(&id("nobody")), Ok(None), "{case}: the next call gets its own answer");
        }
    }
}

#[test]
fn a_call_that_never_gets_through_ends_in_time_and_says_that_it_may_have_been_done() {
    let server = Server::start(&[]);
    let limit = Duration::from_millis(700);
    let names: Vec<&str> =
        "push, push late, push many, push urgent, reserve, feed, ack, release, fail, bury, touch, cancel, \
        kick job, reserve job"
            .split(", ")
            .collect();
    std::thread::scope(|scope| {
        for (number, (name, call, _, expected)) in
            CALLS.iter().enumerate().filter(|(_, (name, ..))| names.contains(name))
        {
            let server = &server;
            scope.spawn(move || {
                let proxy = Proxy::before(server);
                let slow = Fault::Slow(Duration::from_millis(200));
                for (at, fault) in [
                    Fault::DropBefore,
                    Fault::DropReply,
                    Fault::CutReply(Cut::Half),
                    Fault::CutRequest(Cut::Half),
                    Fault::Instead(HTTP),
                    Fault::Hold,
                    Fault::Blackhole,
                    slow,
                ]
                .into_iter()
                .enumerate()
                {
                    let case = format!("{name}, {fault:?}");
                    let direct = server.queue(&format!("q{number}.{at}"));
                    let held = arrange(&direct);
                    let queue = proxy.queue(direct.name(), limit);
                    until("it is connected", || queue.peek(&id("held")).is_ok());
                    proxy.fail(fault, u32::MAX);
                    let started = Instant::now();
                    let found = call(&queue, &held);
                    let took = started.elapsed();
                    assert!(proxy.heal() >= 1, "{case}: it met the fault");
                    assert!(matches!(found, Err(Error::Connection { ambiguous: true, .. })), "{case}: {found:?}");
                    assert!(took < limit + Duration::from_secs(1) + stalls_since(started), "{case}: took {took:?}");
                    // What a try had sent may have reached the proxy when it was healed already.
                    let is_done = fault.executes() || states(&direct) != [1, 1, 1, 1];
                    check(server, &direct, if is_done { *expected } else { [1, 1, 1, 1] }, &case);
                    // The next call over a new connection gets its own answer.
                    for name in ["held", "buried", "nobody"] {
                        let mut answer = queue.peek(&id(name));
                        until("the next call is answered", || {
                            if answer.is_err() {
                                answer = queue.peek(&id(name));
                            }
                            answer.is_ok()
                        });
                        assert_eq!(answer, direct.peek(&id(name)), "{case}");
                    }
                }
            });
        }
    });
}

#[test]
fn an_operation_that_must_not_be_done_twice_is_not_repeated() {
    let (server, proxy) = Proxy::with_server();
    for (number, fault) in [Fault::DropBefore, Fault::DropReply, Fault::CutReply(Cut::Half)].into_iter().enumerate() {
        let direct = server.queue(&format!("k{number}"));
        arrange(&direct);
        let queue = proxy.queue(direct.name(), Duration::from_secs(5));
        for call in [|queue: &Queue| queue.kick(1, false).map(|_| ()), |queue: &Queue| queue.take(None, 1).map(|_| ())]
        {
            proxy.fail(fault, 1);
            let found = call(&queue);
            assert_eq!(proxy.heal(), 1);
            assert!(matches!(found, Err(Error::Connection { ambiguous: true, .. })), "{fault:?}: {found:?}");
        }
        let expected = if fault.executes() { [1, 1, 1, 0] } else { [1, 1, 1, 1] };
        check(&server, &direct, expected, &format!("{fault:?}"));
    }
}

#[test]
fn a_reply_that_nobody_asked_for_is_never_taken_for_another() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(5)));
    for n in 0..20 {
        let name = format!("j{n}");
        proxy.fail(Fault::Append(b"*1\r\n$2\r\nOK\r\n"), 1);
        queue.push(&job(&name)).unwrap();
        assert_eq!(proxy.heal(), 1);
        let info = queue.peek(&id(&name)).unwrap().expect("its own answer");
        assert_eq!(info.payload, format!("payload of {name}").into_bytes());
    }
    assert_eq!(states(&direct), [0, 20, 0, 0]);
}

#[test]
fn a_wake_up_that_comes_together_with_a_reply_is_heard() {
    let (_server, proxy) = Proxy::with_server();
    let queue = proxy.queue("q", Duration::from_secs(5));
    proxy.fail(Fault::Append(b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"), 6);
    let started = Instant::now();
    assert_eq!(queue.reserve(&["q".into()], 1, Some(Duration::from_millis(700)), &mut NoInterrupts), Ok(Vec::new()));
    assert!(started.elapsed() >= Duration::from_millis(700));
    assert_eq!(proxy.heal(), 6, "it looked again each time");
}

#[test]
fn an_error_instead_of_a_reply_is_reported_and_the_connection_goes_on() {
    let (_server, proxy) = Proxy::with_server();
    let queue = proxy.queue("q", Duration::from_secs(5));
    proxy.fail(Fault::Instead(b"-ERR what is this\r\n"), 1);
    let found = queue.push(&job("a"));
    assert!(matches!(&found, Err(Error::Server { code, .. }) if code == "ERR"), "{found:?}");
    queue.push(&job("a")).unwrap();
    proxy.fail(Fault::Instead(b"-LOADING Redis is loading the dataset in memory\r\n"), 3);
    queue.push(&job("b")).unwrap();
    assert_eq!(proxy.heal(), 3);
    assert_eq!(states(&queue), [0, 2, 0, 0]);
}

#[test]
fn a_byte_now_and_then_does_not_start_the_deadline_anew() {
    let (_server, proxy) = Proxy::with_server();
    let queue = proxy.queue("q", Duration::from_millis(1_000));
    // The first byte comes at once, the second after 900 ms: the third may not be waited for in full.
    proxy.fail(Fault::Slow(Duration::from_millis(900)), u32::MAX);
    let started = Instant::now();
    let found = queue.push(&job("a"));
    assert!(matches!(found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    assert!(started.elapsed() < Duration::from_millis(1_600) + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn a_large_reply_that_trickles_meets_the_total_deadline() {
    let (server, proxy) = Proxy::with_server();
    let direct = server.queue("q");
    direct.push(&NewJob { payload: vec![b'x'; 65_536], ..job("a") }).unwrap();
    let queue = proxy.queue("q", Duration::from_millis(400));
    proxy.fail(Fault::Slow(Duration::from_millis(5)), 1);
    let started = Instant::now();
    let found = queue.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts);
    assert!(matches!(found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    let took = started.elapsed();
    let limit = Duration::from_millis(1_500) + stalls_since(started);
    assert!((Duration::from_millis(390)..limit).contains(&took), "{took:?}");
}

#[test]
fn a_login_that_is_never_answered_meets_the_connect_timeout_and_is_not_ambiguous() {
    let (_server, proxy) = Proxy::with_server();
    let queue = proxy.queue("q", Duration::from_millis(200));
    proxy.fail(Fault::MuteLogin, 1);
    let started = Instant::now();
    let found = queue.push(&job("a"));
    assert!(matches!(found, Err(Error::Connection { ambiguous: false, .. })), "{found:?}");
    assert!(started.elapsed() < Duration::from_millis(1_200) + stalls_since(started), "{:?}", started.elapsed());
    proxy.heal();
    proxy.queue("q", Duration::from_secs(5)).push(&job("a")).unwrap();
}

#[test]
fn the_retry_of_a_push_is_no_duplicate_but_the_job_of_another_is() {
    let (server, proxy) = Proxy::with_server();
    let (direct, queue) = (server.queue("q"), proxy.queue("q", Duration::from_secs(5)));
    // Another process pushed the same id before: our lost first try changed nothing, and the retry says so.
    direct.push(&NewJob { payload: b"theirs".to_vec(), ..job("a") }).unwrap();
    for fault in [Fault::DropReply, Fault::DropBefore] {
        proxy.fail(fault, 1);
        assert!(matches!(queue.push(&job("a")), Err(Error::Duplicate { .. })));
        proxy.heal();
        proxy.fail(fault, 1);
        assert!(matches!(queue.push_many(&[job("b"), job("a")], &mut Vec::new()), Err(Error::Duplicate { .. })));
        proxy.heal();
    }
    assert_eq!(states(&direct), [0, 1, 0, 0]);
    assert_eq!(direct.peek(&id("a")).unwrap().unwrap().payload, b"theirs");
}

#[test]
fn a_kick_or_purge_whose_answer_was_lost_claims_nothing_that_it_cannot_know() {
    let (server, proxy) = Proxy::with_server();
    let is_unknown = |result: Result<String, Error>| matches!(result, Err(Error::Connection { ambiguous: true, .. }));
    for fault in [Fault::DropBefore, Fault::DropReply] {
        let direct = server.queue(&format!("{fault:?}"));
        let queue = proxy.queue(direct.name(), Duration::from_secs(5));
        let meeting_it = |call: &dyn Fn() -> Result<String, Error>| {
            proxy.fail(fault, 1);
            let result = call();
            assert_eq!(proxy.heal(), 1, "{fault:?}: it met the fault");
            result
        };
        let kick = |name: &str| queue.kick_job(&id(name), false).map(|kicked| kicked.to_string());
        assert!(is_unknown(meeting_it(&|| kick("missing"))), "{fault:?}");
        assert_eq!(kick("missing").unwrap(), "false");
        direct.push(&delayed("a", 60_000)).unwrap();
        assert_eq!(meeting_it(&|| kick("a")).unwrap(), "true", "{fault:?}");
        push_many(&direct, &[delayed("b", 60_000), job("c")]);
        assert!(is_unknown(meeting_it(&|| queue.purge(&[]).map(|many| many.to_string()))), "{fault:?}");
        assert_eq!(states(&direct), [0; 4], "{fault:?}: the jobs are gone");
        push_many(&direct, &[job("a"), job("b")]);
        assert_eq!(queue.purge(&[]).unwrap(), 2);
    }
}
