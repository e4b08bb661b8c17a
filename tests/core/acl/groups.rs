//! Operations on groups, and the rights that users need for them.

use super::extra;
use super::places::Place;
use super::scenario::Errors;
use crate::groups::{group, of, of_priority};
use crate::new_jobs::once;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::groups::{GroupLimits, Rate};
use delayqueue::core::job::{Due, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{NoInterrupts, Queue, QueueConfig};
use std::time::Duration;

/// All that a worker does with groups.
pub fn consume(queue: &Queue, errors: &mut Errors) {
    let limits = GroupLimits {
        concurrency: Some(2),
        rate: Some(Rate { starts: 5, per_us: 1_000_000 }),
        weight: 2,
        ..GroupLimits::default()
    };
    let ordered = GroupLimits { concurrency: Some(1), ordered: true, ..GroupLimits::default() };
    errors.get(queue.limit_groups(Some(&group("g")), Some(&limits)));
    errors.get(queue.limit_groups(None, Some(&ordered)));
    errors.get(queue.limit_queue(Some(&GroupLimits {
        concurrency: Some(5),
        rate: limits.rate,
        ..GroupLimits::default()
    })));
    let jobs: Vec<NewJob> =
        (0..6).flat_map(|n| [of("g", &format!("g{n}")), of_priority("h", &format!("h{n}"), n)]).collect();
    errors.get(queue.push_many(&jobs, &mut Vec::new()));
    errors.get(queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..of("h", "g5") }));
    let watch = [queue.name().to_owned()];
    for turn in 0..6 {
        let held = errors.get(queue.reserve(&watch, 3, Some(Duration::ZERO), &mut NoInterrupts)).unwrap_or_default();
        for (n, job) in held.iter().enumerate() {
            match (n + turn) % 4 {
                0 => errors.get(queue.ack(&job.held())),
                1 => errors.get(queue.fail(&job.held(), Some(b"boom"))).map(|_| ()),
                2 => errors.get(queue.give_back(&[&job.receipt])).map(|_| ()),
                _ => errors.get(queue.release(&job.held(), Due::InMs(0), None, true)).map(|_| ()),
            };
        }
        travel(10_000);
    }
    errors.get(queue.rate_limit(1, Some(&group("g"))));
    errors.get(queue.rate_limit(1, None));
    errors.get(queue.pause(None, Some(&group("h"))));
    errors.get(queue.stats());
    errors.get(queue.resume(Some(&group("h"))));
    errors.get(queue.resume(None));
    errors.get(queue.groups(10, b""));
    errors.get(queue.group_stats(&group("g")));
    errors.get(queue.list_group(&group("g"), State::Ready, 0, 10));
    errors.get(queue.list(State::Delayed, 0, 10));
    errors.get(queue.push(&of("k", "k1")));
    errors.get(queue.push(&of("k", "k2")));
    errors.get(queue.reserve_job(&id("k1")));
    travel(61_000);
    errors.get(queue.peek(&id("k1")));
    errors.get(queue.reschedule(&id("k1"), Due::InMs(0), false));
    errors.get(queue.kick_job(&id("k1"), false));
    errors.get(queue.take(None, 3));
    for name in ["g", "h", "k"] {
        errors.get(queue.cancel_group(&group(name), true));
    }
    errors.get(queue.limit_groups(Some(&group("g")), None));
    errors.get(queue.limit_groups(None, None));
    errors.get(queue.limit_queue(None));
    errors.get(queue.reserve(&watch, 3, Some(Duration::ZERO), &mut NoInterrupts));
    errors.get(queue.purge(&[]));
}

fn is_denied<T: std::fmt::Debug>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Server { code, .. }) if code == "NOPERM")
}

/// The queue as a user with these rights has it, and as an administrator has it, who has limited its groups.
fn limited(place: &mut Place, user: &str, more: &[String]) -> (Queue, Queue) {
    let line = [place.line(user), more.to_vec()].concat();
    place.begin(&line);
    let admin = Queue::new(config(place.admin(), "q"));
    let ordered = GroupLimits { concurrency: Some(1), ordered: true, ..GroupLimits::default() };
    admin.limit_groups(None, Some(&ordered)).unwrap();
    (Queue::new(QueueConfig { persistent: false, ..config(place.dsn(user), "q") }), admin)
}

#[test]
fn a_producer_may_push_into_limited_groups_and_close_them_and_change_none_of_their_limits() {
    let mut place = Place::one_server();
    let (producer, admin) = limited(&mut place, "dqproducer", &[]);
    producer.push(&of("g", "a")).unwrap();
    producer.push(&NewJob { due: Due::InMs(60_000), ..of("g", "b") }).unwrap();
    producer.push_once(&[once("r", of("h", "c"))]).unwrap();
    assert_eq!(reserve_many(&admin, 10).len(), 2, "limits hold");
    let before = admin.limits().unwrap();
    let limits = GroupLimits { concurrency: Some(9), ..GroupLimits::default() };
    assert!(is_denied(producer.limit_groups(Some(&group("g")), Some(&limits))));
    assert!(is_denied(producer.limit_groups(None, None)));
    assert!(is_denied(producer.cancel_group(&group("g"), true)));
    assert!(is_denied(producer.groups(10, b"")));
    assert!(is_denied(producer.group_stats(&group("g"))));
    assert!(is_denied(producer.limits()));
    assert!(is_denied(producer.rate_limit(1_000, None)));
    assert_eq!(admin.limits().unwrap(), before);
    producer.rate_limit(1_000, Some(&group("g"))).unwrap();
    producer.pause(None, Some(&group("h"))).unwrap();
    producer.pause(None, Some(&group("i"))).unwrap();
    producer.resume(Some(&group("i"))).unwrap();
    producer.limit_queue(Some(&limits)).unwrap();
    assert!(admin.is_paused(Some(&group("g"))).unwrap() && admin.is_paused(Some(&group("h"))).unwrap());
    assert!(!admin.is_paused(Some(&group("i"))).unwrap());
    assert_eq!(admin.limits().unwrap().queue, Some(limits));
}

#[test]
fn replacing_jobs_of_groups_and_looking_at_limits_need_their_rights_besides() {
    let replacing = extra("a producer that replaces jobs (`onDuplicate: replace`)");
    let besides = extra("one that replaces jobs of groups, besides: it reads the group that the job had");
    let all = [replacing, besides].concat();
    let missing = all.iter().map(|right| all.iter().filter(|other| *other != right).cloned().collect::<Vec<_>>());
    let mut place = Place::one_server();
    for rights in std::iter::once(all.clone()).chain(missing) {
        for (old, new) in [(of("g", "a"), of("g", "a")), (of("g", "a"), of("h", "a")), (of("g", "a"), job("a"))] {
            let (producer, admin) = limited(&mut place, "dqproducer", &rights);
            admin.push(&old).unwrap();
            let replaced = producer.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..new });
            assert_eq!(replaced.is_ok(), rights == all, "{rights:?}: {replaced:?}");
        }
    }
    for (rights, is_enough) in [(extra("`limits()`, and `dump --limits`"), true), (Vec::new(), false)] {
        let (worker, _) = limited(&mut place, "dqworker", &rights);
        assert_eq!(worker.limits().is_ok(), is_enough);
        assert!(is_enough || is_denied(worker.limits()));
    }
}
