//! A job that is due in a while is pushed by plain commands, and is what the script would have made of it.

use crate::audit;
use crate::denied::user_without;
use crate::made::batch;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobId, JobInfo, JobOptions, NewJob, OnDuplicate};
use delayqueue::core::queue::{NoInterrupts, Queue, QueueConfig};
use delayqueue::core::record;
use delayqueue::core::scripts;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A queue whose connection knows what time it is for Redis, which knows the scripts.
pub fn connected(server: &Server, name: &str) -> Queue {
    let queue = server.queue(name);
    queue.sibling("other").push_many(&[job("now")]).unwrap();
    queue.sibling("other").push(&job("soon")).unwrap();
    queue.sibling("other").push(&delayed("other", 3_600_000)).unwrap();
    queue
}

/// How many scripts ran and transactions ended since.
pub fn ways(raw: &mut Raw) -> [u64; 2] {
    [raw.calls("evalsha") + raw.calls("eval"), raw.calls("exec")]
}

pub fn server_us(raw: &mut Raw) -> i64 {
    let redis::Value::Array(time) = raw.run(&["TIME"]) else { panic!("no time") };
    let number = |at: usize| delayqueue::core::reply::int(time[at].clone()).unwrap();
    number(0) * 1_000_000 + number(1)
}

pub fn server_ms(raw: &mut Raw) -> i64 {
    server_us(raw) / 1000
}

/// What is stored of a job that was pushed between these times of Redis, with a stamp that may be so much earlier.
pub fn check_stored(queue: &Queue, job: &NewJob, pushed_ms: RangeInclusive<i64>, earlier_ms: i64) {
    let (from, to) = pushed_ms.into_inner();
    let info = queue.peek(job.id.as_ref().unwrap()).unwrap().unwrap();
    let due = match job.due {
        Due::InMs(0) => from - earlier_ms..=to, // that of its stamp
        Due::InMs(delay) => from + delay as i64..=to + delay as i64,
        Due::AtMs(at) => at..=at,
    };
    assert!(due.contains(&info.due_at_ms), "{due:?} {info:?}");
    assert!((from - earlier_ms..=to).contains(&info.created_at_ms), "{from}..={to} {info:?}");
    assert_eq!((&info.options, &info.payload), (&job.options, &job.payload));
}

#[test]
fn it_takes_no_script_and_is_due_when_it_should_be() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let now = server_ms(&mut raw);
    let options = JobOptions { ttr_ms: 500, ..JobOptions::default() };
    let jobs = [
        delayed("a", 3000),
        delayed("b", 3000),
        NewJob { options, ..delayed("c", 4000) },
        NewJob { due: Due::AtMs(now + 900_000), ..job("d") },
        NewJob { due: Due::AtMs(now + 900_000), ..job("e") },
    ];
    // The first of them may meet a clock that was read on a slow way; from then on it is known well.
    let before = (0..50).find_map(|n| {
        let before = ways(&mut raw);
        queue.sibling("other").push(&delayed(&format!("o{n}"), 3_600_000)).unwrap();
        (ways(&mut raw)[0] == before[0]).then(|| ways(&mut raw))
    });
    let before = before.expect("one of them needs no script");
    let mut scripts = 0;
    for job in &jobs {
        let (from, scripts_before) = (server_ms(&mut raw), ways(&mut raw)[0]);
        queue.push(job).unwrap();
        scripts += ways(&mut raw)[0] - scripts_before;
        let to = server_ms(&mut raw) + 1;
        check_stored(&queue, job, from..=to, 1);
    }
    assert_eq!(ways(&mut raw)[1] - before[1], jobs.len() as u64);
    assert!(scripts < jobs.len() as u64, "most need no script");
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
    travel(1_000_000);
    assert_eq!(serve_all(&queue), ["a", "b", "c", "d", "e"]);
}

#[test]
fn what_is_due_soon_or_ranked_is_left_to_a_script() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let soon = server_ms(&mut raw) + 1000;
    for job in [
        job("a"),
        delayed("b", 2999),
        NewJob { due: Due::AtMs(soon), ..job("c") },
        NewJob { due: Due::InMs(5000), ..prioritized("d", 5) },
        NewJob { on_duplicate: OnDuplicate::Replace, ..delayed("e", 5000) },
    ] {
        let before = ways(&mut raw);
        queue.push(&job).unwrap();
        let after = ways(&mut raw);
        assert_eq!(after[0], before[0] + 1, "{:?}", job.id);
        let may_ask = matches!(job.due, Due::AtMs(_)); // if more than two seconds have passed
        assert!(after[1] == before[1] || may_ask, "{:?}", job.id);
    }
}

#[test]
fn a_taken_id_is_refused_and_nothing_is_left_of_the_try() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    queue.push(&delayed("a", 5000)).unwrap();
    let before = raw.text(&["DEBUG", "DIGEST"]);
    assert!(matches!(queue.push(&delayed("a", 9000)), Err(Error::Duplicate { .. })));
    let keep = NewJob { on_duplicate: OnDuplicate::Keep, ..delayed("a", 9000) };
    assert_eq!(queue.push(&keep), Ok(id("a")));
    assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before);
}

/// Pushes jobs with a delay of 2000 s right after the clock of Redis has jumped, of which the connection knew what time it was;
/// they must be due that long after the jump.
pub fn push_after_jumps(late_ms: i64, mut push: impl FnMut(usize, &Queue, &mut Raw) -> Vec<JobId>) {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    for (number, jump_ms) in [5000, 1_000_000].into_iter().enumerate() {
        queue.sibling("other").push(&delayed(&format!("other{number}"), 5000)).unwrap();
        let now = clock.advance(jump_ms);
        for id in push(number, &queue, &mut raw) {
            let due = queue.peek(&id).unwrap().unwrap().due_at_ms;
            let expected = now..=clock.now_ms() + late_ms;
            assert!(expected.contains(&(due - 2_000_000)), "{due} after a jump of {jump_ms} from {now}");
        }
    }
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn when_the_clock_of_redis_jumps_the_due_time_is_put_right_before_push_returns() {
    push_after_jumps(1, |number, queue, raw| {
        let before = ways(raw);
        let id = queue.push(&delayed(&format!("j{number}"), 2_000_000)).unwrap();
        assert_eq!(ways(raw), [before[0] + 1, before[1] + 1], "a transaction, and the script that put it right");
        vec![id]
    });
}

#[test]
fn what_cannot_be_put_right_is_reported_as_possibly_done() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let mut raw = server.raw();
    let queue = Queue::new(config(user_without(&server, &[]), "q"));
    queue.push(&job("now")).unwrap();
    queue.push(&delayed("first", 5000)).unwrap();
    raw.run(&["ACL", "SETUSER", "u", "-eval", "-evalsha"]);
    clock.advance(3_600_000);
    let found = queue.push(&delayed("a", 5000));
    assert!(matches!(&found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    assert_eq!(server.queue("q").count(None), Ok(3));
}

/// Puts a job right that a transaction stored under this record.
fn put_right(raw: &mut Raw, queue: &Queue, record: &[u8]) -> String {
    let [waiting, jobs, waiters] = ["waiting", "jobs", "waiters"].map(|name| audit::key(queue, name));
    let head =
        ["EVAL", &scripts::PUSH.source, "3", &waiting, &jobs, &waiters, "a", "payload of a", "20000", "0", "0", "", ""];
    let mut args: Vec<&[u8]> = head.iter().map(|arg| arg.as_bytes()).collect();
    args.push(record::head(record));
    let answer = match raw.run_bytes(&args) {
        redis::Value::Array(mut words) => words.remove(0),
        word => word,
    };
    delayqueue::core::reply::text(answer).unwrap()
}

#[test]
fn what_happened_to_a_job_before_it_is_put_right_stays_so() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    type Happening<'a> = (&'a str, &'a dyn Fn() -> bool, [u64; 4]);
    let happenings: [Happening<'_>; 8] = [
        ("nothing", &|| true, [1, 0, 0, 0]),
        ("reserved", &|| queue.reserve_job(&id("a")).unwrap().is_some(), [0, 0, 1, 0]),
        (
            "released",
            &|| {
                let held = queue.reserve_job(&id("a")).unwrap().unwrap();
                queue.release(&held.held(), Due::InMs(0), None).is_ok()
            },
            [0, 1, 0, 0],
        ),
        ("cancelled", &|| queue.cancel(&[id("a")]) == Ok(1), [0, 0, 0, 0]),
        ("updated", &|| queue.update(&id("a"), b"new") == Ok(true), [1, 0, 0, 0]),
        ("put off", &|| queue.reschedule(&id("a"), Due::InMs(30_000_000)) == Ok(true), [1, 0, 0, 0]),
        ("rescheduled", &|| queue.reschedule(&id("a"), Due::InMs(0)) == Ok(true), [0, 1, 0, 0]),
        (
            "cancelled, and pushed by somebody else",
            &|| queue.cancel(&[id("a")]) == Ok(1) && queue.push(&job("a")).is_ok(),
            [0, 1, 0, 0],
        ),
    ];
    let far = |ms: u64| happenings.iter().map(move |happening| (ms, happening));
    for (delay_ms, (what, happen, expected)) in far(5000).chain(far(20_000_000)) {
        queue.purge(&[]).unwrap();
        queue.push(&delayed("a", delay_ms)).unwrap();
        let redis::Value::BulkString(record) = raw.run(&["HGET", &audit::key(&queue, "jobs"), "a"]) else { panic!() };
        assert!(happen(), "{what}");
        let before = queue.peek(&id("a")).unwrap();
        assert_eq!(put_right(&mut raw, &queue, &record), "OK", "{what}");
        let is_put_right = ["nothing", "updated"].contains(what);
        assert_eq!(states(&queue), *expected, "{what}");
        let after = queue.peek(&id("a")).unwrap();
        let seen = |info: &JobInfo| (info.payload.clone(), if is_put_right { 0 } else { info.due_at_ms });
        assert_eq!(after.as_ref().map(seen), before.as_ref().map(seen), "{what}");
        let (_, faults) = audit::examine(&mut raw, &queue);
        assert!(faults.is_empty(), "{what}: {faults:?}");
    }
}

#[test]
fn who_loses_the_right_to_transactions_pushes_nevertheless() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = Queue::new(QueueConfig { persistent: false, ..config(user_without(&server, &[]), "q") });
    queue.push(&job("now")).unwrap();
    queue.push(&delayed("first", 5000)).unwrap();
    for (n, denied) in ["-multi", "-exec", "-@transaction"].into_iter().enumerate() {
        queue.push(&delayed(&format!("known{n}"), 5000)).unwrap();
        raw.run(&["ACL", "SETUSER", "u", denied]);
        let name = format!("a{n}");
        queue.push(&delayed(&name, 5000)).unwrap();
        assert!(queue.peek(&id(&name)).unwrap().is_some(), "{denied}");
        queue.push(&delayed(&format!("after{n}"), 5000)).unwrap();
        raw.run(&["ACL", "SETUSER", "u", "+@transaction"]);
        queue.close();
        queue.push(&delayed(&format!("again{n}"), 5000)).unwrap();
    }
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
}

/// A queue of the user `u`, who pushes in transactions by now.
fn of_a_user(server: &Server) -> Queue {
    let queue = Queue::new(config(user_without(server, &[]), "q"));
    queue.push(&delayed("first", 5000)).unwrap();
    queue.push(&delayed("second", 5000)).unwrap();
    queue
}

#[test]
fn who_may_not_ask_for_the_time_any_more_is_told_that_it_may_have_been_done() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = of_a_user(&server);
    raw.run(&["ACL", "SETUSER", "u", "-time"]);
    let found = queue.push(&delayed("a", 5000));
    assert!(matches!(found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    raw.run(&["ACL", "SETUSER", "u", "+time"]);
    assert!(queue.peek(&id("a")).unwrap().is_some());
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn what_cannot_be_undone_is_reported_as_possibly_done() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = of_a_user(&server);
    raw.run(&["SET", &audit::key(&queue, "waiting"), "foreign"]);
    raw.run(&["ACL", "SETUSER", "u", "-hdel"]);
    let found = queue.push(&delayed("a", 5000));
    assert!(matches!(&found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
}

/// Pushes while something else lies under a key of the queue, and while nothing does.
pub fn push_beside_foreign_keys(jobs: u64, push: impl Fn(&Queue) -> Result<(), Error>) {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    for name in ["waiting", "jobs"] {
        raw.run(&["SET", &audit::key(&queue, name), "foreign"]);
        queue.push(&job("a")).unwrap_err(); // it is in the index of queues
        let before = raw.text(&["DEBUG", "DIGEST"]);
        let found = push(&queue);
        assert!(matches!(&found, Err(Error::Server { code, .. }) if code == "WRONGTYPE"), "{found:?}");
        assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before, "foreign {name}");
        raw.run(&["DEL", &audit::key(&queue, name)]);
        push(&queue).unwrap();
        assert_eq!(queue.purge(&[]), Ok(jobs));
    }
}

#[test]
fn a_foreign_key_is_reported_and_nothing_is_left_of_the_try() {
    push_beside_foreign_keys(1, |queue| queue.push(&delayed("a", 5000)).map(|_| ()));
}

/// Pushes while Redis has no memory left, while it misses replicas, and while nothing is wrong.
pub fn push_while_redis_refuses(jobs: u64, push: impl Fn(&Queue) -> Result<(), Error>) {
    let server = Server::start(&["--maxmemory-policy", "noeviction"]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    queue.push(&delayed("first", 5000)).unwrap();
    raw.run(&["CONFIG", "SET", "maxmemory", "1"]);
    let found = push(&queue);
    raw.run(&["CONFIG", "SET", "maxmemory", "0"]);
    assert!(matches!(&found, Err(Error::QueueFull { message, .. }) if message.contains("used memory")), "{found:?}");
    raw.run(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    let found = push(&queue);
    raw.run(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    assert!(matches!(&found, Err(Error::Server { code, .. }) if code == "NOREPLICAS"), "{found:?}");
    assert_eq!(states(&queue), [1, 0, 0, 0]);
    push(&queue).unwrap();
    assert_eq!(states(&queue), [1 + jobs, 0, 0, 0]);
}

#[test]
fn a_refusal_says_why_and_the_connection_goes_on() {
    push_while_redis_refuses(1, |queue| queue.push(&delayed("a", 5000)).map(|_| ()));
}

#[test]
fn a_user_who_may_not_use_transactions_pushes_by_script() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = Queue::new(config(user_without(&server, &["-multi"]), "q"));
    for name in ["a", "b", "c"] {
        queue.push(&delayed(name, 5000)).unwrap();
    }
    queue.push_many(&batch("many", 5)).unwrap();
    let redis::Value::Array(denied) = raw.run(&["ACL", "LOG"]) else { panic!("no log") };
    let entry = format!("{denied:?}");
    let is_seldom = (1..4).any(|n| entry.contains(&format!("'\"count\"'), int({n})")));
    assert!(
        denied.len() == 1 && entry.contains("multi") && is_seldom,
        "a push, a look, and a question for the time: {entry}"
    );
    assert_eq!(queue.count(None), Ok(19));
}

#[test]
fn an_idle_consumer_gets_it_when_it_falls_due() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let consumer = server.queue("q");
    let thread = std::thread::spawn(move || {
        let timeout = Some(Duration::from_secs(20));
        let job = consumer.reserve(&["q".to_owned()], 1, timeout, &mut NoInterrupts).unwrap().remove(0);
        (server_ms(&mut server.raw()), job.due_at_ms)
    });
    until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
    queue.push(&delayed("a", 3000)).unwrap();
    let (got, due) = thread.join().unwrap();
    assert!((due..due + 1000).contains(&got), "due at {due}, delivered at {got}");
}
