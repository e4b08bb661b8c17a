//! A batch whose ids are generated goes in one round trip, and is what the script would have made of it.

use crate::audit;
use crate::denied::user_without;
use crate::proxy::{Cut, Fault, Proxy};
use crate::support::*;
use crate::transaction::{
    check_stored, connected, push_after_jumps, push_beside_foreign_keys, push_while_redis_refuses, server_ms, ways,
};
use crate::watched::is_sound;
use crate::written::believe;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobId, NewJob, State};
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::thread;
use std::time::Duration;

/// Jobs without ids, due in an hour.
fn anonymous(count: usize) -> Vec<NewJob> {
    let job = |n: usize| NewJob { id: None, payload: format!("payload {n}").into(), ..delayed("none", 3_600_000) };
    (0..count).map(job).collect()
}

/// What is stored are these jobs, once each, pushed between these times of Redis.
fn check(queue: &Queue, ids: &[JobId], jobs: &[NewJob], from: i64, to: i64) {
    assert_eq!(ids.len(), jobs.len());
    for (id, job) in ids.iter().zip(jobs) {
        check_stored(queue, &NewJob { id: Some(id.clone()), ..job.clone() }, from..=to, 1);
    }
}

/// A queue behind the proxy over whose connection the time was heard.
fn knowing(proxy: &Proxy, raw: &mut Raw) -> Queue {
    let queue = proxy.queue("q", Duration::from_secs(5));
    queue.queues().unwrap();
    believe(&queue, raw, 0);
    queue
}

#[test]
fn it_takes_one_round_trip_however_few_they_are_and_the_order_of_the_array_stays() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let at = server_ms(&mut raw) + 3_600_000;
    let (mut in_one, mut all) = (0, Vec::new());
    for count in [1, 2, 7, 8, 40, 500, 700].repeat(3) {
        let mut jobs = anonymous(count);
        jobs.iter_mut().for_each(|job| job.due = Due::AtMs(at));
        let (from, before) = (server_ms(&mut raw), ways(&mut raw));
        let ids = queue.push_many(&jobs).unwrap();
        let trips = count.div_ceil(500) as u64;
        in_one += u64::from(ways(&mut raw) == [before[0], before[1] + trips]); // on a busy machine a trip may bear out nothing
        check(&queue, &ids, &jobs, from, server_ms(&mut raw) + 2);
        all.extend(ids);
    }
    assert!(in_one >= 10, "{in_one} of 21 took transactions alone");
    assert!(all.is_sorted() && all.windows(2).all(|two| two[0] != two[1]), "each id comes after the one before");
    is_sound(&mut raw, &queue);
    travel(4_000_000);
    assert_eq!(serve_all(&queue), all.iter().map(ToString::to_string).collect::<Vec<_>>());
}

#[test]
fn what_is_due_soon_or_ranked_or_may_be_known_to_somebody_goes_another_way() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let soon = server_ms(&mut raw) + 2000;
    let odd: [&dyn Fn(&mut NewJob); 5] = [
        &|_| {}, // but this one
        &|job| job.due = Due::InMs(2999),
        &|job| job.due = Due::AtMs(soon),
        &|job| job.options = priority_options(5),
        &|job| job.id = Some(id("known")),
    ];
    for (number, change) in odd.into_iter().enumerate() {
        let mut jobs = anonymous(4);
        change(&mut jobs[3]);
        believe(&queue, &mut raw, 0);
        let before = ways(&mut raw);
        queue.push_many(&jobs).unwrap();
        let after = ways(&mut raw);
        // On a busy machine a script may be refused what was made for it, and be followed by another one.
        let is_by_script = (1..=2).contains(&(after[0] - before[0]));
        assert!(if number == 0 { after[1] > before[1] } else { is_by_script }, "{number}: {before:?} {after:?}");
    }
    is_sound(&mut raw, &queue);
}

#[test]
fn who_does_not_know_the_time_asks_for_it_along_with_a_few_jobs() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    queue.push_many(&[job("other")]).unwrap(); // Redis knows the script
    let scripts: Vec<u64> = (0..10)
        .map(|_| {
            let before = ways(&mut raw)[0];
            queue.push_many(&anonymous(3)).unwrap();
            ways(&mut raw)[0] - before
        })
        .collect();
    assert!(scripts[0] == 1 && scripts.contains(&0), "{scripts:?}");
    is_sound(&mut raw, &queue);
}

#[test]
fn when_the_clock_of_redis_jumps_due_times_are_put_right_before_push_many_returns() {
    push_after_jumps(2, |_, queue, raw| {
        let before = ways(raw);
        let jobs: Vec<NewJob> =
            anonymous(20).into_iter().map(|job| NewJob { due: Due::InMs(2_000_000), ..job }).collect();
        let ids = queue.push_many(&jobs).unwrap();
        assert_eq!(ways(raw), [before[0] + 20, before[1] + 1], "a transaction, and the script for each job");
        ids
    });
}

#[test]
fn when_the_clock_of_redis_was_set_back_one_batch_is_put_right_and_the_next_needs_not_be() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    believe(&queue, &mut raw, 3_600_000);
    queue.push_many(&anonymous(20)).unwrap();
    let needs_no_script = (0..20).any(|_| {
        let before = ways(&mut raw)[0];
        queue.push_many(&anonymous(20)).unwrap();
        ways(&mut raw)[0] == before
    });
    assert!(needs_no_script);
    is_sound(&mut raw, &queue);
}

#[test]
fn a_batch_of_one_is_put_right_too_and_one_after_a_script_flush() {
    push_after_jumps(2, |number, queue, raw| {
        if number == 1 {
            raw.run(&["SCRIPT", "FLUSH"]);
        }
        queue.push_many(&[NewJob { due: Due::InMs(2_000_000), ..anonymous(1).remove(0) }]).unwrap()
    });
}

#[test]
fn what_somebody_does_to_a_job_before_it_is_put_right_stays_so() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (direct, mut raw) = (server.queue("q"), server.raw());
    let ids = thread::scope(|scope| {
        let push = scope.spawn(|| {
            let queue = knowing(&proxy, &mut server.raw());
            believe(&queue, &mut server.raw(), 100_000);
            proxy.fail_at(b"EVAL", Fault::Delay(Duration::from_secs(2)));
            queue.push_many(&anonymous(10)).unwrap()
        });
        until("they are stored, and to be put right", || proxy.met() == 1);
        let ids: Vec<JobId> = direct.list(State::Delayed, 0, 10).unwrap().into_iter().map(|info| info.id).collect();
        assert_eq!(ids.len(), 10);
        assert_eq!(direct.cancel(&ids[1..2]), Ok(1));
        assert_eq!(direct.reschedule(&ids[2], Due::InMs(9_000_000)), Ok(true));
        assert!(direct.reserve_job(&ids[3]).unwrap().is_some());
        assert_eq!(direct.update(&ids[4], b"new"), Ok(true));
        assert_eq!(push.join().unwrap(), ids);
        ids
    });
    assert_eq!(states(&direct), [8, 0, 1, 0]);
    let now = server_ms(&mut raw);
    let due_in = |n: usize| direct.peek(&ids[n]).unwrap().unwrap().due_at_ms - now;
    assert!((8_000_000..=9_000_000).contains(&due_in(2)));
    for n in [0, 4, 9] {
        assert!((3_590_000..=3_600_000).contains(&due_in(n)), "{n}: due in {}", due_in(n));
    }
    assert_eq!(direct.peek(&ids[4]).unwrap().unwrap().payload, b"new");
    is_sound(&mut raw, &direct);
}

#[test]
fn a_batch_that_got_lost_is_repeated_and_there_once_and_with_the_right_times() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let mut raw = server.raw();
    let faults = [
        Fault::DropBefore,
        Fault::CutRequest(Cut::Half),
        Fault::DropReply,
        Fault::CutReply(Cut::Last),
        Fault::After(b"HTTP/1.1"),
    ];
    for ahead_ms in [0, -100_000, 100_000] {
        for fault in faults {
            let queue = knowing(&proxy, &mut raw);
            believe(&queue, &mut raw, ahead_ms);
            proxy.fail(fault, 1);
            let (jobs, from) = (anonymous(20), server_ms(&mut raw));
            let ids = queue.push_many(&jobs).unwrap();
            assert_eq!(proxy.heal(), 1);
            check(&queue, &ids, &jobs, from, server_ms(&mut raw) + 2);
            assert_eq!(queue.count(None), Ok(20), "{fault:?} {ahead_ms}");
            is_sound(&mut raw, &queue);
            queue.purge(&[]).unwrap();
        }
    }
}

#[test]
fn what_cannot_be_put_right_is_reported_as_possibly_done() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let mut raw = server.raw();
    let queue = Queue::new(delayqueue::core::queue::QueueConfig {
        persistent: false,
        ..config(user_without(&server, &[]), "q")
    });
    queue.push(&job("now")).unwrap();
    queue.push(&delayed("first", 5000)).unwrap();
    raw.run(&["ACL", "SETUSER", "u", "-eval", "-evalsha"]);
    clock.advance(3_600_000);
    let found = queue.push_many(&anonymous(3));
    assert!(matches!(&found, Err(Error::Connection { ambiguous: true, .. })), "{found:?}");
    assert_eq!(server.queue("q").count(None), Ok(2 + 3));
}

#[test]
fn a_job_that_cannot_be_put_right_with_the_others_is_reported() {
    let server = Server::start(&[]);
    let (proxy, mut raw) = (Proxy::before(&server), server.raw());
    let queue = knowing(&proxy, &mut raw);
    believe(&queue, &mut raw, 100_000);
    proxy.fail_twice_at(b"EVAL", Fault::Delay(Duration::ZERO), Fault::Instead(b"-ERR not today\r\n"));
    let found = queue.push_many(&anonymous(3));
    assert!(
        matches!(&found, Err(Error::Connection { ambiguous: true, message, .. }) if message.contains(": ERR not today")),
        "{found:?}"
    );
    assert_eq!((proxy.heal(), queue.count(None)), (2, Ok(3)));
}

#[test]
fn it_enters_the_queue_into_the_index() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = server.queue("q");
    assert_eq!(queue.queues(), Ok(Vec::new()));
    believe(&queue, &mut raw, 0);
    queue.push_many(&anonymous(3)).unwrap();
    assert_eq!(queue.queues(), Ok(vec!["q".to_owned()]));
}

#[test]
fn who_loses_a_right_pushes_nevertheless() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    for (number, denied) in ["-multi", "-exec", "-@transaction", "-time"].into_iter().enumerate() {
        let queue = Queue::new(config(user_without(&server, &[]), &format!("q{number}")));
        queue.push(&job("now")).unwrap();
        queue.push(&delayed("first", 5000)).unwrap();
        believe(&queue, &mut raw, 100_000); // what is executed without a transaction has the wrong times
        raw.run(&["ACL", "SETUSER", "u", denied]);
        let (jobs, from) = (anonymous(20), server_ms(&mut raw));
        let pushed = queue.push_many(&jobs);
        let to = server_ms(&mut raw) + 2;
        raw.run(&["ACL", "SETUSER", "u", "+@all"]);
        if denied == "-time" {
            // Every script asks for it.
            assert!(matches!(pushed, Err(Error::Connection { ambiguous: true, .. })), "{pushed:?}");
        } else {
            check(&queue, &pushed.unwrap(), &jobs, from, to);
        }
        assert_eq!(queue.count(None), Ok(22), "{denied}");
        queue.push_many(&anonymous(20)).unwrap();
        is_sound(&mut raw, &queue);
        queue.close();
    }
}

#[test]
fn what_was_stored_without_a_transaction_and_cannot_be_made_sure_is_reported_as_possibly_done() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let only_plain = ["-@all", "+evalsha", "+eval", "+zadd", "+hset"];
    for (number, denied) in [&["-multi", "-eval", "-evalsha"][..], &only_plain].into_iter().enumerate() {
        let queue = Queue::new(config(user_without(&server, &[]), &format!("q{number}")));
        queue.push(&job("now")).unwrap();
        queue.push(&delayed("first", 5000)).unwrap();
        raw.run(&[&["ACL", "SETUSER", "u"], denied].concat());
        let found = queue.push_many(&anonymous(20));
        raw.run(&["ACL", "SETUSER", "u", "+@all"]);
        assert!(matches!(&found, Err(Error::Connection { ambiguous: true, .. })), "{denied:?}: {found:?}");
        assert_eq!(raw.int(&["HLEN", &audit::key(&queue, "jobs")]), 22, "{denied:?}");
        queue.close();
    }
}

#[test]
fn a_script_that_got_lost_after_a_refused_transaction_knows_its_jobs_again() {
    let server = Server::start(&[]);
    let (proxy, mut raw) = (Proxy::before(&server), server.raw());
    let queue = knowing(&proxy, &mut raw);
    // The connection to what is no master any more ends, and nobody has heard the time over the next one.
    proxy.fail_twice(Fault::Instead(b"-READONLY You can't write against a read only replica.\r\n"), Fault::DropReply);
    assert_eq!(queue.push_many(&anonymous(20)).as_ref().map(Vec::len), Ok(20));
    assert_eq!((proxy.heal(), queue.count(None)), (2, Ok(20)));
    is_sound(&mut raw, &queue);
}

#[test]
fn what_somebody_does_to_a_job_before_a_lost_batch_is_repeated_stays_so() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (direct, mut raw) = (server.queue("q"), server.raw());
    thread::scope(|scope| {
        let push = scope.spawn(|| {
            let queue = knowing(&proxy, &mut server.raw());
            proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_secs(2)));
            queue.push_many(&anonymous(10)).unwrap()
        });
        until("it got lost and is repeated", || proxy.met() == 2);
        let ids: Vec<JobId> = direct.list(State::Delayed, 0, 10).unwrap().into_iter().map(|info| info.id).collect();
        assert_eq!(direct.update(&ids[3], b"new"), Ok(true));
        assert_eq!(direct.cancel(&ids[5..6]), Ok(1));
        assert_eq!(push.join().unwrap(), ids);
        assert_eq!(direct.peek(&ids[3]).unwrap().unwrap().payload, b"new");
        assert!(direct.peek(&ids[5]).unwrap().is_none());
    });
    assert_eq!(direct.count(None), Ok(9));
    is_sound(&mut raw, &direct);
}

#[test]
fn scripts_that_redis_forgets_meanwhile_do_not_matter_when_times_are_put_right() {
    let server = Server::start(&[]);
    let (proxy, mut raw) = (Proxy::before(&server), server.raw());
    let queue = knowing(&proxy, &mut raw);
    believe(&queue, &mut raw, 100_000);
    raw.run(&["SCRIPT", "FLUSH"]);
    assert_eq!(queue.push_many(&anonymous(20)).as_ref().map(Vec::len), Ok(20));
    is_sound(&mut raw, &queue);
}

#[test]
fn a_foreign_key_is_reported_and_nothing_is_left_of_the_try() {
    push_beside_foreign_keys(20, |queue| queue.push_many(&anonymous(20)).map(|_| ()));
}

#[test]
fn a_refusal_says_why_and_the_connection_goes_on() {
    push_while_redis_refuses(20, |queue| queue.push_many(&anonymous(20)).map(|_| ()));
}

#[test]
fn an_idle_consumer_gets_it_when_it_falls_due() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let consumer = server.queue("q");
    let thread = thread::spawn(move || {
        let timeout = Some(Duration::from_secs(20));
        let job = consumer.reserve(&["q".to_owned()], 1, timeout, &mut NoInterrupts).unwrap().remove(0);
        (server_ms(&mut server.raw()), job.due_at_ms)
    });
    until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
    let before = ways(&mut raw)[1];
    queue.push_many(&[NewJob { due: Due::InMs(3000), ..anonymous(1).remove(0) }]).unwrap();
    assert_eq!(ways(&mut raw)[1], before + 1, "a transaction, which wakes nobody");
    let (got, due) = thread.join().unwrap();
    assert!((due..due + 1000).contains(&got), "due at {due}, delivered at {got}");
}
