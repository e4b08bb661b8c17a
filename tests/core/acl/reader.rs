//! A user that looks at everything and can change nothing.

use super::anew;
use super::places::Place;
use super::scenario::Errors;
use crate::groups::{group, of};
use crate::new_jobs::{once, unique};
use crate::registry::entry;
use crate::support::*;
use delayqueue::core::groups::GroupLimits;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{Queue, QueueConfig};
use delayqueue::core::registry::{Filter, Registry};

/// Jobs of each state, with and without groups. Time has passed: a lease and a pause are over, and nobody has noticed.
fn fill(admin: &Queue) {
    let short = JobOptions { ttr_ms: 1_000, ..JobOptions::default() };
    push_many(admin, &[job("buried"), NewJob { options: short, ..job("over") }, job("held"), of("g", "held in g")]);
    admin.reserve_job(&id("over")).unwrap();
    travel(1_001);
    admin.pause(Some(1), None).unwrap();
    travel(2);
    for held in ["held", "held in g"] {
        admin.reserve_job(&id(held)).unwrap();
    }
    let buried = admin.reserve_job(&id("buried")).unwrap().unwrap();
    admin.bury(&buried.held(), None).unwrap();
    push_many(admin, &[job("a"), delayed("b", 60_000), prioritized("c", 5), prioritized("d", 2_000)]);
    push_many(admin, &[of("g", "e"), of("g", "f"), of("paused", "h")]);
    admin.push(&NewJob { due: Due::InMs(60_000), ..prioritized("later", 5) }).unwrap();
    admin.push_once(&[once("r", unique("o", 60_000, OnDuplicate::Keep))]).unwrap();
    let limits = GroupLimits { concurrency: Some(2), ..GroupLimits::default() };
    admin.limit_groups(Some(&group("g")), Some(&limits)).unwrap();
    admin.pause(None, Some(&group("paused"))).unwrap();
    Registry::of(admin).write("0123456789abcdef", &entry(&["q".to_owned()]), true).unwrap();
}

fn look(queue: &Queue, errors: &mut Errors) {
    let parts = Partitions::new(queue, 1);
    for state in [State::Delayed, State::Ready, State::Reserved, State::Buried] {
        for job in errors.get(queue.list(state, 0, 10)).unwrap_or_default() {
            errors.get(queue.list_from(state, Some(&job.place()), 0, 10));
        }
        errors.get(queue.peek_state(state));
        errors.get(parts.list_from(state, None, 2, 1));
        errors.get(queue.count(Some(state)));
        if state != State::Buried {
            errors.get(queue.list_group(&group("g"), state, 0, 10));
        }
    }
    for id_text in ["a", "b", "c", "e", "held", "held in g", "over", "buried", "missing"] {
        errors.get(queue.peek(&id(id_text)));
    }
    errors.get(queue.count(None));
    errors.get(queue.count_due(&[0]));
    errors.get(queue.now_us());
    errors.get(queue.queues());
    errors.get(queue.known_partitions());
    errors.get(queue.receipts(0, b"", 10));
    errors.get(queue.taken_ids());
    errors.get(queue.groups(10, b""));
    errors.get(queue.group_stats(&group("g")));
    errors.get(queue.group_stats(&group("paused")));
    errors.get(queue.limits());
    errors.get(queue.is_paused(None));
    errors.get(Registry::of(queue).workers(&Filter::default()));
    if let Some(stats) = errors.get(parts.stats()) {
        assert_eq!((stats.blocked, stats.buried), (1, 1), "it sees them");
    }
}

fn refused(place: &mut Place, line: &[String]) -> Vec<String> {
    anew(|| {
        place.begin(line);
        delayqueue::core::clock::set_offset_ms(0);
        let queue = Queue::new(QueueConfig { persistent: false, ..config(place.dsn("dqreader"), "q") });
        fill(&Queue::new(config(place.admin(), "q")));
        let mut errors = Errors::default();
        look(&queue, &mut errors);
        errors.0.iter().map(ToString::to_string).collect()
    })
}

#[test]
fn the_documented_reader_sees_everything_and_has_exactly_the_rights_for_that() {
    for place in [Place::one_server, Place::cluster] {
        let mut place = place();
        let line = place.line("dqreader");
        let all = refused(&mut place, &line);
        assert!(all.is_empty(), "the reader lacks a right: {all:#?}");
        // Only a slot that moves asks for +asking.
        for right in line.iter().filter(|word| word.starts_with('+') && *word != "+asking") {
            let fewer: Vec<String> = line.iter().filter(|word| *word != right).cloned().collect();
            assert!(!refused(&mut place, &fewer).is_empty(), "the reader does not need {right}");
        }
    }
}

#[test]
fn the_reader_may_run_no_command_that_writes() {
    let mut place = Place::one_server();
    let line = place.line("dqreader");
    let redis::Value::Array(writes) = place.raw().run(&["ACL", "CAT", "write"]) else { panic!("no list of commands") };
    for write in writes {
        let redis::Value::BulkString(name) = write else { panic!("{write:?}") };
        let right = format!("+{}", String::from_utf8_lossy(&name));
        assert!(!line.contains(&right), "{right}");
    }
    place.begin(&line);
    let admin = Queue::new(config(place.admin(), "q"));
    push_many(&admin, &[job("a"), of("g", "b")]);
    let queue = Queue::new(QueueConfig { persistent: false, ..config(place.dsn("dqreader"), "q") });
    let refusals = [
        queue.push(&job("c")).map(drop),
        queue.cancel(&[id("a")]).map(drop),
        queue.purge(&[]).map(drop),
        queue.pause(None, None),
        queue.limit_groups(None, Some(&GroupLimits::default())),
        queue.cancel_group(&group("g"), true).map(drop),
        queue.take(None, 2).map(drop),
    ];
    for refusal in refusals {
        assert!(refusal.unwrap_err().to_string().contains("NOPERM"));
    }
    assert_eq!(admin.count(None).unwrap(), 2);
}
