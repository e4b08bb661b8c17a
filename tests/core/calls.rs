//! `leases` remembers the last reserve of each consumer for as long as its jobs may have to be given back, and no longer.

use crate::support::*;
use crate::worker_loop;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, State};
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Fetch, NoInterrupts, Queue};
use std::time::Duration;

/// How many fields `leases` has: leases and calls.
fn fields(queue: &Queue) -> i64 {
    shared().raw().int(&["HLEN", &key(queue, "leases")])
}

#[test]
fn nothing_is_left_of_a_reserve_however_its_job_ends() {
    type End = fn(&Queue);
    let ends: [(&str, End); 8] = [
        ("ack", |queue| queue.ack(&reserve(queue).unwrap().held()).unwrap()),
        ("release", |queue| {
            queue.release(&reserve(queue).unwrap().held(), Due::InMs(60_000), None, true).unwrap();
        }),
        ("fail", |queue| assert!(queue.fail(&reserve(queue).unwrap().held(), None).is_ok())),
        ("bury", |queue| queue.bury(&reserve(queue).unwrap().held(), None).unwrap()),
        ("give back", |queue| drop(queue.give_back(&[&reserve(queue).unwrap().receipt]).unwrap())),
        ("cancel", |queue| {
            let held = reserve(queue).unwrap();
            assert_eq!(queue.cancel(&[id("a")]), Ok(1));
            assert!(matches!(queue.fail(&held.held(), None), Err(Error::LeaseLost { .. })));
        }),
        ("purge", |queue| {
            reserve(queue).unwrap();
            assert_eq!(queue.purge(&[State::Reserved]), Ok(1));
        }),
        ("find nothing", |queue| {
            queue.ack(&reserve(queue).unwrap().held()).unwrap();
            assert_eq!(reserve(queue), None);
        }),
    ];
    for (name, end) in ends {
        let queue = fresh();
        queue.push(&job("a")).unwrap();
        end(&queue);
        assert_eq!(fields(&queue), 0, "{name}");
    }
}

/// The keeper has acknowledged the last job: the loop itself has nothing to send at its end.
#[test]
fn nothing_is_left_of_a_loop_that_ends() {
    let queue = fresh();
    push_many(&queue, &[job("a"), job("b")]);
    let mut feed = worker_loop::feed(&queue, 1, true);
    let delivery = worker_loop::next(&mut feed);
    feed.done(&delivery.ticket);
    until("the keeper acknowledges it", || queue.stats().unwrap().acked == 1);
    assert_eq!(fields(&queue), 1);
    feed.flush().unwrap();
    feed.return_rest().unwrap();
    assert_eq!(fields(&queue), 0);
}

/// One of three jobs of a reserve has a short TTR; its lease ends while the consumer still asks for the answer.
/// The keys of groups, in their order.
const GROUPS: [&str; 5] = ["grouped", "groups", "line", "limits", "spent"];

#[test]
fn a_lease_that_ends_does_not_take_away_what_a_repeat_gives_back() {
    let queue = fresh();
    let mut raw = shared().raw();
    let options = JobOptions { ttr_ms: 100, ..JobOptions::default() };
    push_many(&queue, &[NewJob { options, ..job("short") }, job("long1"), job("long2")]);
    let names = ["jobs", "waiting", "reserved", "leases", "meta", "history", "buried", "waiters"];
    let names =
        names.into_iter().chain(["prioritized", "prioritized_ready"]).chain(GROUPS).map(|name| key(&queue, name));
    let keys: Vec<String> = names.collect();
    let source = delayqueue::core::scripts::RESERVE.source.clone();
    let mut ask = |marks: &str| {
        let mut command = vec!["EVAL", &source, "15"];
        command.extend(keys.iter().map(String::as_str));
        command.extend(["0", "consumer", "1", "3", marks, "1000000", "", "0", ""]);
        raw.run(&command)
    };
    ask("");
    until("the short lease has ended", || states(&queue) == [0, 1, 2, 0]);
    ask("r");
    assert_eq!(states(&queue), [0, 2, 1, 0], "the two long ones are back, and the short one is leased alone");
    for long in ["long1", "long2"] {
        let found = queue.peek(&id(long)).unwrap().unwrap();
        assert_eq!((found.state, found.attempts), (State::Ready, 0));
    }
}

#[test]
fn a_reserve_whose_acknowledgements_are_all_lost_works_in_a_full_redis() {
    let (_server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    push_many(&queue, &[job("a"), job("b")]);
    let lost = reserve(&queue).unwrap();
    queue.cancel(&[id("a")]).unwrap();
    raw.run(&["CONFIG", "SET", "maxmemory", "1"]);
    let mut fetch = Fetch { max: 1, done: vec![done(&lost.receipt)], lost: Vec::new() };
    let outcome = queue.reserve_now(&mut Connections::default(), &mut fetch, None);
    raw.run(&["CONFIG", "SET", "maxmemory", "0"]);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(fetch.lost, [0]);
}

/// A waiter of two queues gets a job of the first one: a push to the second must not rely on it.
#[test]
fn a_waiter_that_got_a_job_is_registered_nowhere() {
    let (high, low) = (fresh(), fresh());
    let watch = [high.name().to_owned(), low.name().to_owned()];
    let waiting = high.clone();
    let thread = std::thread::spawn(move || {
        waiting.reserve(&watch, 1, Some(Duration::from_secs(20)), &mut NoInterrupts).unwrap()
    });
    let mut raw = shared().raw();
    let mut waiters = |queue: &Queue| raw.int(&["ZCARD", &key(queue, "waiters")]);
    until("it waits", || waiters(&high) + waiters(&low) == 2);
    high.push(&job("a")).unwrap();
    assert_eq!(thread.join().unwrap().len(), 1);
    assert_eq!((waiters(&high), waiters(&low)), (0, 0));
}

/// Two look whether there is a job, and one wants it: it gets it, whichever of them hears of the push.
#[test]
fn looking_whether_a_job_is_ready_uses_no_wake_up_of_others() {
    let queue = fresh();
    let watch = [queue.name().to_owned()];
    let limit = Some(Duration::from_secs(20));
    let (looking, wanting) = (queue.clone(), queue.clone());
    let mut threads = Vec::new();
    for _ in 0..3 {
        let (looking, watch) = (looking.clone(), watch.clone());
        threads.push(std::thread::spawn(move || looking.wait(&watch, limit, &mut NoInterrupts).unwrap()));
    }
    let wanting = std::thread::spawn(move || wanting.reserve(&watch, 1, limit, &mut NoInterrupts).unwrap().remove(0));
    let mut raw = shared().raw();
    until("all wait", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 4);
    queue.push(&job("a")).unwrap();
    let got = wanting.join().unwrap();
    assert!(got.reserved_at_us - got.due_at_us < 2_000_000, "not only with its own check after 4 to 5 seconds");
    queue.push(&job("for those who still look")).unwrap();
    threads.into_iter().for_each(|thread| assert!(thread.join().unwrap()));
}

/// One queue cannot be asked, since a key of it is foreign: the leases of the other queue are kept all the same.
#[test]
fn a_queue_that_cannot_be_reached_costs_the_others_no_leases() {
    let (broken, sound) = (fresh(), fresh());
    let options = JobOptions { ttr_ms: 1_500, ..JobOptions::default() };
    for queue in [&broken, &sound] {
        queue.push(&NewJob { options: options.clone(), ..job("a") }).unwrap();
    }
    let mut keeper = worker_loop::keeper();
    for queue in [&broken, &sound] {
        let held = reserve(queue).unwrap();
        keeper.keep(queue, vec![delayqueue::core::worker::lease::Lease::of(&held)]);
    }
    let mut raw = shared().raw();
    raw.run(&["SET", &key(&broken, "reserved"), "foreign"]);
    let ends = || sound.peek(&id("a")).unwrap().unwrap().lease_until_us.expect("its lease is kept");
    let first = ends();
    until("it was renewed several times", || ends() > first + 2_000_000);
    assert_eq!(states(&sound), [0, 0, 1, 0]);
}

#[test]
fn what_one_take_gives_is_bounded_in_bytes_and_all_of_it_comes() {
    let queue = fresh();
    let large = |n: usize| NewJob { payload: vec![b'x'; 1_000_000], due: Due::AtUs(n as i64), ..job(&format!("{n}")) };
    for n in 0..9 {
        queue.push(&large(n)).unwrap();
    }
    let mut raw = shared().raw();
    let script = delayqueue::core::scripts::TAKE.source.clone();
    let names = ["jobs", "waiting", "reserved", "leases", "meta", "history", "buried", "waiters"];
    let keys: Vec<String> = names
        .into_iter()
        .chain(["prioritized", "prioritized_ready"])
        .chain(GROUPS)
        .map(|name| key(&queue, name))
        .collect();
    let mut command = vec!["EVAL", &script, "15"];
    command.extend(keys.iter().map(String::as_str));
    command.extend(["0", "", "500", "2500000"]);
    let redis::Value::Array(answer) = raw.run(&command) else { panic!("no list") };
    assert_eq!(answer.len(), 2 + 2, "two of a megabyte each");
    assert_eq!(queue.take(None, 100).unwrap().len(), 7, "the rest in several calls");
    assert_eq!(states(&queue), [0, 0, 0, 0]);
}
