//! A batch that is added by a transaction over watched keys is what the script would have made of it, or is left to the script.

use crate::audit;
use crate::denied::user_without;
use crate::made::batch;
use crate::proxy::{Cut, Fault, Proxy};
use crate::support::*;
use crate::transaction::{check_stored, connected, push_after_jumps, server_ms, ways};
use crate::written::believe;
use delayqueue::core::error::Error;
use delayqueue::core::job::NewJob;
use delayqueue::core::queue::{NoInterrupts, Queue, QueueConfig};
use delayqueue::core::server_clock::Moment;
use std::thread;
use std::time::Duration;

pub const COUNT: usize = 40;

/// Jobs that are due in an hour.
pub fn late(prefix: &str) -> Vec<NewJob> {
    (0..COUNT).map(|n| delayed(&format!("{prefix}{n:02}"), 3_600_000)).collect()
}

pub fn is_sound(raw: &mut Raw, queue: &Queue) {
    let (_, faults) = audit::examine(raw, queue);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn it_takes_no_script_and_is_what_the_script_would_make() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let at = server_ms(&mut raw) + 600_000;
    let mut in_transactions = 0;
    for round in 0..20 {
        let jobs: Vec<NewJob> =
            ["a", "b", "c"].iter().flat_map(|part| batch(&format!("r{round:02}.{part}"), at)).collect();
        let (from, before) = (server_ms(&mut raw), ways(&mut raw));
        let ids = queue.push_many(&jobs).unwrap();
        let after = ways(&mut raw);
        let is_transaction = after == [before[0], before[1] + 1]; // or this machine is busy
        in_transactions += u64::from(is_transaction);
        let to = server_ms(&mut raw) + 2;
        assert_eq!(ids, jobs.iter().map(|job| job.id.clone().unwrap()).collect::<Vec<_>>());
        jobs.iter().filter(|_| is_transaction).for_each(|job| check_stored(&queue, job, from..=to, 1));
    }
    assert!(in_transactions > 0, "some were added without a script");
    is_sound(&mut raw, &queue);
    travel(800_000);
    let number = |id: &str| id[id.len() - 2..].parse::<usize>().unwrap();
    let due_then: Vec<String> = serve_all(&queue).into_iter().filter(|id| number(id) % 5 == 3).collect();
    assert_eq!(due_then.len(), 20 * 9);
    assert!(due_then.is_sorted(), "in the order of pushes: {due_then:?}");
}

#[test]
fn it_can_be_turned_off() {
    let server = Server::start(&[]);
    let (mut raw, before) = (server.raw(), server.raw().calls("watch"));
    let queue = Queue::new(QueueConfig { ask_first: false, ..config(server.dsn(), "q") });
    queue.push_many(&late("a")).unwrap();
    assert_eq!((raw.calls("watch"), queue.count(None)), (before, Ok(COUNT as u64)));
}

#[test]
fn one_taken_id_refuses_all_and_the_connection_goes_on() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    queue.push(&delayed("b27", 9000)).unwrap();
    for round in 0..2 {
        let before = raw.text(&["DEBUG", "DIGEST"]);
        let found = queue.push_many(&late("b"));
        assert!(matches!(&found, Err(Error::Duplicate { id, .. }) if id == "b27"), "{found:?}");
        assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before);
        queue.push(&delayed(&format!("after{round}"), 5000)).unwrap();
    }
    let stranger = Queue::new(QueueConfig { persistent: false, ..config(server.dsn(), "q") });
    let begun = raw.calls("multi");
    assert!(matches!(stranger.push_many(&late("b")), Err(Error::Duplicate { .. })));
    assert_eq!(raw.calls("multi"), begun + 1, "the look, and no question for the time");
    let transactions = raw.calls("exec");
    queue.push_many(&late("c")).unwrap();
    assert_eq!(raw.calls("exec"), transactions + 1, "what was watched before does not matter");
    assert_eq!(queue.count(None), Ok(1 + 2 + COUNT as u64));
}

/// Pushes jobs; what happens between the look and the transaction is up to `meanwhile`. How many scripts and transactions it took.
pub fn interrupted(
    server: &Server,
    jobs: &[NewJob],
    meanwhile: impl FnOnce(&Proxy),
) -> (Result<Vec<delayqueue::core::job::JobId>, Error>, [u64; 2]) {
    let proxy = Proxy::before(server);
    let queue = proxy.queue("q", Duration::from_secs(5));
    let mut raw = server.raw();
    proxy.fail_at(b"HMGET", Fault::Late);
    thread::scope(|scope| {
        let push = scope.spawn(|| {
            believe(&queue, &mut server.raw(), 0); // the connection is this thread's
            queue.push_many(jobs)
        });
        until("it has looked", || proxy.met() == 1);
        let before = ways(&mut raw);
        meanwhile(&proxy);
        if proxy.met() == 1 {
            proxy.heal();
        }
        let pushed = push.join().unwrap();
        let after = ways(&mut raw);
        (pushed, [after[0] - before[0], after[1] - before[1]])
    })
}

#[test]
fn what_changes_after_the_look_is_seen() {
    let server = Server::start(&[]);
    let (direct, mut raw) = (server.queue("q"), server.raw());
    direct.push(&delayed("old", 5_000_000)).unwrap();

    let (pushed, _) = interrupted(&server, &late("a"), |_| drop(direct.push(&delayed("a39", 5_000_000)).unwrap()));
    assert!(matches!(&pushed, Err(Error::Duplicate { id, .. }) if id == "a39"), "{pushed:?}");
    assert_eq!(direct.count(None), Ok(2), "none of the others was added");
    is_sound(&mut raw, &direct);

    let (pushed, ways) = interrupted(&server, &late("b"), |_| assert_eq!(direct.cancel(&[id("old")]), Ok(1)));
    assert!(
        pushed.unwrap().len() == COUNT && ways[0] >= 2 && ways[1] == 1,
        "something unrelated: the script adds them"
    );
    assert_eq!(direct.count(None), Ok(1 + COUNT as u64));

    let (pushed, ways) = interrupted(&server, &late("c"), |_| {});
    assert_eq!((pushed.unwrap().len(), ways), (COUNT, [0, 1]), "nothing");
    assert_eq!(direct.count(None), Ok(1 + 2 * COUNT as u64));
    is_sound(&mut raw, &direct);
}

#[test]
fn a_batch_whose_transaction_was_not_answered_is_known_again_however_long_ago_the_look_was() {
    let server = Server::start(&[]);
    let (direct, mut raw) = (server.queue("q"), server.raw());
    for (number, fault) in [Fault::DropReply, Fault::DropBefore].into_iter().enumerate() {
        let (pushed, ways) = interrupted(&server, &late(&format!("a{number}.")), |proxy| {
            thread::sleep(Duration::from_millis(400)); // more than the margin of a repeat
            proxy.fail(fault, 1);
        });
        assert_eq!(pushed.as_ref().map(Vec::len), Ok(COUNT), "{pushed:?}");
        assert_eq!(ways, [1, u64::from(fault.executes())], "the script repeats it");
        assert_eq!(direct.count(None), Ok((COUNT * (number + 1)) as u64));
    }
    is_sound(&mut raw, &direct);
}

#[test]
fn a_repeat_that_takes_long_knows_the_batch_again() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (queue, mut raw) = (proxy.queue("q", Duration::from_secs(5)), server.raw());
    queue.queues().unwrap();
    proxy.fail_twice(Fault::DropReply, Fault::Delay(Duration::from_millis(400))); // more than the margin of other repeats
    assert_eq!(queue.push_many(&late("a")).as_ref().map(Vec::len), Ok(COUNT));
    assert_eq!((proxy.heal(), queue.count(None)), (2, Ok(COUNT as u64)));
    is_sound(&mut raw, &queue);
}

#[test]
fn what_is_pushed_after_a_batch_is_stamped_later() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let asked = Moment::now();
    thread::sleep(Duration::from_millis(80));
    let answered = Moment::now();
    let last = (0..20).find_map(|round| {
        let jobs: Vec<NewJob> = (0..440).map(|n| delayed(&format!("{round}.{n}"), 3_600_000)).collect();
        let before = ways(&mut raw)[0];
        queue.push_many(&jobs).unwrap();
        (ways(&mut raw)[0] == before).then(|| format!("{round}.439")) // stamped by the client
    });
    let stamped_us = queue.peek(&id(&last.unwrap())).unwrap().unwrap().created_at_ms * 1000;
    let mut connection = queue.link().take().unwrap();
    connection.clock.forget();
    connection.clock.hear(asked, answered, stamped_us - 79_000); // it took so long that a stamp might lie before those
    assert!(connection.clock.claim(1).unwrap().stamp_us >= stamped_us);
}

#[test]
fn the_time_is_that_of_redis_even_right_after_its_clock_was_set() {
    push_after_jumps(2, |number, queue, raw| {
        let jobs: Vec<NewJob> = (0..COUNT).map(|n| delayed(&format!("{number}.{n}"), 2_000_000)).collect();
        let before = ways(raw);
        let ids = queue.push_many(&jobs).unwrap();
        assert_eq!(ways(raw)[1], before[1] + 1, "a transaction was given up, or executed");
        ids
    });
}

/// A consumer that waits for a job which is due at once, and gets it when it is pushed.
fn waits_and_gets(queue: &Queue) {
    let jobs = queue.reserve(&["q".to_owned()], 1, Some(Duration::from_secs(20)), &mut NoInterrupts).unwrap();
    assert_eq!(jobs.len(), 1);
}

#[test]
fn who_waits_is_woken_whether_he_was_there_before_the_look_or_came_after_it() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let soon = |prefix: &str| (0..COUNT).map(|n| job(&format!("{prefix}{n}"))).collect::<Vec<_>>();
    let is_waiting = |raw: &mut Raw| raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1;

    let (queue, consumer) = (connected(&server, "q"), server.queue("q"));
    let waiter = thread::spawn(move || waits_and_gets(&consumer));
    until("it waits", || is_waiting(&mut raw));
    let before = (ways(&mut raw)[1], raw.calls("publish"));
    queue.push_many(&late("late")).unwrap();
    assert_eq!((ways(&mut raw)[1], raw.calls("publish")), (before.0 + 1, before.1), "nobody need be woken");
    queue.push_many(&soon("a")).unwrap();
    assert_eq!(raw.calls("publish"), before.1 + 1);
    waiter.join().unwrap();
    queue.purge(&[]).unwrap();

    let published = raw.calls("publish");
    let mut waiter = None;
    let (pushed, ways) = interrupted(&server, &soon("b"), |_| {
        let consumer = server.queue("q");
        waiter = Some(thread::spawn(move || waits_and_gets(&consumer)));
        until("it waits", || is_waiting(&mut raw));
    });
    pushed.unwrap();
    assert_eq!(ways[1], 1, "a transaction that was not executed");
    assert_eq!(raw.calls("publish"), published + 1);
    waiter.unwrap().join().unwrap();
}

#[test]
fn no_record_is_stored_by_itself_if_there_is_no_transaction() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    for (number, denied) in ["-multi", "-@transaction", "-watch", "-exec", "-hset"].into_iter().enumerate() {
        let queue = Queue::new(config(user_without(&server, &[]), &format!("q{number}")));
        queue.push(&delayed("b27", 9000)).unwrap();
        queue.push_many(&late("first")).unwrap();
        believe(&queue, &mut raw, 0); // so that records are sent before it is known what Redis says to it
        let before = raw.text(&["DEBUG", "DIGEST"]);
        raw.run(&["ACL", "SETUSER", "u", denied]);
        let found = queue.push_many(&late("b"));
        assert!(matches!(&found, Err(Error::Duplicate { id, .. }) if id == "b27"), "{denied}: {found:?}");
        assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before, "{denied}");
        if denied != "-hset" {
            queue.push_many(&late("free")).unwrap();
        }
        raw.run(&["ACL", "SETUSER", "u", "+@all"]);
        queue.push_many(&late("after")).unwrap();
        is_sound(&mut raw, &queue);
        queue.close();
    }
}

#[test]
fn what_was_sent_before_the_answer_came_is_given_up_with_a_connection_that_breaks() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (direct, mut raw) = (server.queue("q"), server.raw());
    let mut added = 0;
    for command in [b"TIME".as_slice(), b"HMGET", b"MULTI", b"HSET", b"ZADD", b"EXEC"] {
        for fault in [Fault::DropBefore, Fault::DropReply, Fault::CutRequest(Cut::Half), Fault::After(b"HTTP/1.1")] {
            let queue = proxy.queue("q", Duration::from_secs(5));
            queue.push(&job(&format!("now{added}"))).unwrap();
            believe(&queue, &mut raw, 0);
            proxy.fail_at(command, fault);
            queue.push_many(&late(&format!("{added}."))).unwrap();
            assert_eq!(proxy.heal(), 1, "{} {fault:?}", String::from_utf8_lossy(command));
            added += COUNT as u64 + 1;
            assert_eq!(direct.count(None), Ok(added), "{} {fault:?}", String::from_utf8_lossy(command));
        }
    }
    is_sound(&mut raw, &direct);
}

#[test]
fn what_changes_again_and_again_is_not_watched_for_long() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (queue, mut raw) = (proxy.queue("q", Duration::from_secs(5)), server.raw());
    queue.queues().unwrap();
    for n in 0..10 {
        proxy.fail(Fault::After(b"_\r\n"), 1); // as if the transaction had not been executed
        let many: Vec<NewJob> = (0..500).map(|at| delayed(&format!("{n}.{at}"), 3_600_000)).collect();
        let found = queue.push_many(&many);
        assert_eq!(matches!(found, Err(Error::Duplicate { .. })), n < 3, "{n}: {found:?}");
        proxy.heal();
    }
    assert_eq!(raw.calls("watch"), 3);
}

#[test]
fn a_redis_that_is_far_away_is_not_asked_first_for_long() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (queue, mut raw) = (proxy.queue("q", Duration::from_secs(5)), server.raw());
    queue.queues().unwrap();
    let watches = |raw: &mut Raw| raw.calls("watch");
    for n in 0..10 {
        proxy.fail_at(b"HMGET", Fault::Slow(Duration::from_millis(1)));
        queue.push_many(&late(&n.to_string())).unwrap();
    }
    assert_eq!(watches(&mut raw), 3);
    assert_eq!(queue.count(None), Ok(10 * COUNT as u64));
    let taken = proxy.queue("q", Duration::from_secs(5));
    for _ in 0..10 {
        assert!(matches!(taken.push_many(&late("0")), Err(Error::Duplicate { .. })));
    }
    assert_eq!(watches(&mut raw), 6, "looks that find a taken id do not pay");
    let few: Vec<NewJob> = (0..7).map(|n| delayed(&format!("few{n}"), 5000)).collect();
    server.queue("r").push_many(&few).unwrap();
    assert_eq!(watches(&mut raw), 6, "too few to be worth it");
}
