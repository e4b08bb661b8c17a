//! The further rights of the documentation's table, each for its purpose.

use super::places::Place;
use super::{anew, documented, extra, set_user};
use crate::new_jobs::{at_most, once};
use crate::registry::entry;
use crate::support::*;
use crate::topology::*;
use crate::worker_loop;
use delayqueue::core::clock;
use delayqueue::core::doctor::{Check, Level};
use delayqueue::core::durability::Durability;
use delayqueue::core::error::Error;
use delayqueue::core::install::install_scripts;
use delayqueue::core::job::{JobOptions, NewJob, OnDuplicate};
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{Queue, QueueConfig};
use delayqueue::core::registry::{Filter, Headcount, Order, Registry};
use std::sync::Arc;
use std::time::Duration;

/// A user with the documented rights and these, which is to be the worker where nothing else is said.
fn allow(place: &mut Place, user: &str, more: &[String]) -> Queue {
    let line = [place.line(user), more.to_vec()].concat();
    place.begin(&line);
    Queue::new(QueueConfig { persistent: false, ..config(place.dsn(user), "q") })
}

fn without(rights: &[String], right: &str) -> Vec<String> {
    rights.iter().filter(|other| *other != right).cloned().collect()
}

fn is_denied(error: &Error) -> bool {
    matches!(error, Error::Server { code, .. } if code == "NOPERM")
}

#[test]
fn a_producer_that_replaces_jobs_needs_the_rights_for_that() {
    let rights = extra("a producer that replaces jobs (`onDuplicate: replace`)");
    assert_eq!(rights.len(), 2);
    for place in [Place::one_server, Place::cluster] {
        let mut place = place();
        for (user, held) in [("dqproducer", "+hdel"), ("dqhardened", "+hincrby")] {
            let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..job("a") };
            for rights in [rights.clone(), without(&rights, held)] {
                let queue = allow(&mut place, user, &rights);
                install_scripts(Queue::new(config(place.admin(), "q")).client()).unwrap();
                queue.push(&replacing).unwrap();
                match queue.push(&replacing) {
                    Ok(_) => assert!(rights.len() == 2, "{user} does not need {held}"),
                    Err(error) => assert!(rights.len() == 1 && is_denied(&error), "{error}"),
                }
            }
        }
    }
}

#[test]
fn a_debounce_that_runs_and_replacing_once_need_their_rights_besides() {
    let replacing = extra("a producer that replaces jobs (`onDuplicate: replace`)");
    let debouncing = extra("one that replaces with `maxWait`, besides: it reads the job that it replaces");
    let taking_back = extra("one that replaces by `pushOnce()`, besides: it takes back jobs whose lease is over");
    type Push = fn(&Queue) -> Result<(), Error>;
    let cases: [(&[String], Push); 2] = [
        (&debouncing, |queue| queue.push(&at_most(delayed("a", 60_000), 90_000)).map(drop)),
        (&taking_back, |queue| queue.push_once(&[once("r", at_most(job("a"), 90_000))]).map(drop)),
    ];
    for place in [Place::one_server, Place::cluster] {
        let mut place = place();
        for (besides, push) in cases {
            let all = [replacing.clone(), besides.to_vec()].concat();
            let missing = all.iter().map(|right| without(&all, right));
            for rights in std::iter::once(all.clone()).chain(missing) {
                let queue = allow(&mut place, "dqproducer", &rights);
                let admin = Queue::new(config(place.admin(), "q"));
                let short = JobOptions { ttr_ms: 100, ..JobOptions::default() };
                push_many(&admin, &[at_most(delayed("a", 60_000), 90_000), NewJob { options: short, ..job("over") }]);
                reserve(&admin).unwrap();
                travel(200);
                match push(&queue) {
                    Ok(()) => assert_eq!(rights, all, "it needs no more"),
                    Err(error) => assert!(rights != all && is_denied(&error), "{rights:?}: {error}"),
                }
                clock::set_offset_ms(0);
            }
        }
    }
}

#[test]
fn a_producer_that_cancels_needs_its_rights_besides() {
    let all = extra("`cancel()` of an outbox, for its producers and its relay");
    for place in [Place::one_server, Place::cluster] {
        let mut place = place();
        let missing = all.iter().map(|right| without(&all, right));
        for rights in std::iter::once(all.clone()).chain(missing) {
            let queue = allow(&mut place, "dqproducer", &rights);
            queue.push_once(&[once("r", job("a"))]).unwrap();
            queue.push(&delayed("b", 60_000)).unwrap();
            let cancel = |id: &str| queue.peek(&self::id(id)).and_then(|_| queue.cancel(&[self::id(id)]));
            match cancel("a").and_then(|_| cancel("b")) {
                Ok(_) => assert_eq!(rights, all, "it needs no more"),
                Err(error) => assert!(rights != all && is_denied(&error), "{rights:?}: {error}"),
            }
        }
    }
}

#[test]
fn durability_needs_the_right_to_wait_behind_sentinels_too() {
    let mut place = Place::behind_sentinels();
    for (rights, is_enough) in [(extra("the option `durability: replica`"), true), (Vec::new(), false)] {
        for user in ["dqworker", "dqproducer", "dqhardened"] {
            allow(&mut place, user, &rights);
            let admin = Queue::new(config(place.admin(), "q"));
            install_scripts(admin.client()).unwrap();
            let durability = Some(Durability::Replica(1));
            let queue = Queue::new(QueueConfig { persistent: false, durability, ..config(place.dsn(user), "q") });
            match queue.push(&job("a")) {
                Ok(_) => assert!(is_enough, "{user}"),
                Err(error) => {
                    assert!(matches!(&error, Error::Connection { ambiguous: true, .. }), "{error:?}");
                    assert!(!is_enough && error.to_string().contains("NOPERM"), "{user}: {error}");
                }
            }
            assert_eq!(admin.count(None).unwrap(), 1);
        }
    }
}

#[test]
fn durability_disk_needs_its_right_where_redis_has_the_command() {
    let rights = extra("the option `durability: disk` (Redis 7.2)");
    let server = Server::start(&["--appendonly", "yes"]);
    let mut raw = server.raw();
    if matches!(raw.run(&["COMMAND", "INFO", "WAITAOF"]), redis::Value::Array(found) if found == [redis::Value::Nil]) {
        let line = [vec!["ACL", "SETUSER", "u"], rights.iter().map(String::as_str).collect()].concat();
        assert!(matches!(raw.run(&line), redis::Value::ServerError(_)), "a Redis that lacks it refuses the line");
        return;
    }
    for rights in [rights, Vec::new()] {
        set_user(&mut raw, &[documented("dqworker"), rights.clone()].concat());
        let durability = Some(Durability::Disk);
        let dsn = as_user(&server, "dqworker");
        let queue = Queue::new(QueueConfig { persistent: false, durability, ..config(dsn, "q") });
        assert_eq!(queue.push(&NewJob { id: None, ..job("a") }).is_ok(), !rights.is_empty());
    }
}

fn counted(queue: &Queue) -> Option<Headcount> {
    Partitions::new(queue, 1).stats().unwrap().workers
}

#[test]
fn looking_at_workers_and_telling_them_need_rights_of_their_own() {
    let (looking, telling) = (
        extra("`workers()`, and the workers in `stats()`, which are null otherwise"),
        extra("`tellWorkers()`, besides"),
    );
    let (all, none) = ([looking.clone(), telling.clone()].concat(), Filter::default());
    for place in [Place::one_server, Place::behind_sentinels, Place::cluster] {
        let mut place = place();
        let queue = allow(&mut place, "dqworker", &all);
        let registry = Registry::of(&queue);
        registry.write("0123456789abcdef", &entry(&["q".to_owned()]), true).unwrap();
        assert_eq!(registry.workers(&none).unwrap().len(), 1);
        assert_eq!(counted(&queue).map(|count| count.idle), Some(1));
        assert_eq!(registry.tell(Order::Stop, &none).unwrap(), 1);
        assert_eq!(registry.write("0123456789abcdef", &entry(&[]), true).unwrap(), Some(vec![Order::Stop]));
        let registry = Registry::of(&allow(&mut place, "dqworker", &looking));
        registry.workers(&none).unwrap();
        registry.write("0123456789abcdef", &entry(&[]), true).unwrap();
        assert!(is_denied(&registry.tell(Order::Stop, &none).unwrap_err()));
        for right in &looking {
            let queue = allow(&mut place, "dqworker", &without(&all, right));
            let registry = Registry::of(&queue);
            registry.write("0123456789abcdef", &entry(&[]), true).unwrap();
            let error = registry.workers(&none).unwrap_err();
            assert!(is_denied(&error), "{right}: {error}");
            assert!(error.to_string().starts_with("looking at the list of workers: NOPERM"), "{error}");
            assert_eq!(counted(&queue), None, "{right}");
        }
    }
}

/// With the rights that a worker had before there was a list.
#[test]
fn a_worker_that_may_not_enter_itself_works_all_the_same() {
    let mut place = Place::one_server();
    let line: Vec<String> =
        place.line("dqworker").into_iter().filter(|word| word != "+set" && word != "+del").collect();
    place.begin(&line);
    let queue = Queue::new(QueueConfig { persistent: false, ..config(place.dsn("dqworker"), "q") });
    let mut feed = worker_loop::feed(&queue, 1, true);
    feed.enlist(Arc::default(), true);
    queue.push(&job("a")).unwrap();
    until("it has tried", || !place.log().is_empty());
    let delivery = worker_loop::next(&mut feed);
    feed.done(&delivery.ticket);
    feed.flush().unwrap();
    feed.sign_off();
    assert_eq!(queue.stats().unwrap().acked, 1);
}

fn about<'a>(checks: &'a [Check], what: &str) -> Vec<&'a Check> {
    checks.iter().filter(|check| check.check == what).collect()
}

#[test]
fn doctor_needs_no_right_but_says_of_each_check_which_rights_would_tell_more() {
    let info = extra("most findings of `doctor()`, which are unknown otherwise");
    let all = [info.clone(), extra("all findings of `doctor()`")].concat();
    assert_eq!((info.len(), all.len()), (1, 3));
    for (place, servers) in [(Place::one_server as fn() -> Place, 1), (Place::behind_sentinels, 1), (Place::cluster, 3)]
    {
        let mut place = place();
        let told = allow(&mut place, "dqworker", &all).doctor(false).unwrap();
        for what in ["settings", "scripts", "version", "persistence", "role"] {
            let found = about(&told, what);
            assert_eq!(found.len(), servers, "{what}: {told:?}");
            assert!(found.iter().all(|check| !check.message.contains("unknown")), "{found:?}");
        }
        let told = allow(&mut place, "dqworker", &info).doctor(false).unwrap();
        for (what, level, right) in [
            (
                "settings",
                Level::Warn,
                "unknown: this user has no right to look at appendfsync, min-replicas-to-write and others; give it +config|get",
            ),
            ("scripts", Level::Ok, "+script|exists"),
        ] {
            let found = about(&told, what);
            assert_eq!(found.len(), servers);
            assert!(found.iter().all(|check| check.level == level && check.message.contains(right)), "{found:?}");
        }
        let told = allow(&mut place, "dqworker", &without(&all, &info[0])).doctor(false).unwrap();
        let unknown = told
            .iter()
            .filter(|check| check.message.contains("unknown: this user has no right to look; give it +info"));
        assert_eq!(unknown.count(), 8 * servers, "{told:?}");
        for what in ["settings", "scripts", "clock", "schema", "leases", "jobs"] {
            assert!(about(&told, what).iter().all(|check| !check.message.contains("unknown")), "{told:?}");
        }
        let told = Partitions::new(&allow(&mut place, "dqproducer", &[]), 1).doctor(false).unwrap();
        for what in ["version", "leases", "jobs"] {
            let found = about(&told, what);
            assert!(!found.is_empty(), "{told:?}");
            assert!(
                found.iter().all(|check| check.level == Level::Warn && check.message.contains("unknown")),
                "{found:?}"
            );
        }
        let repair = extra("`doctor(repair: true)`");
        allow(&mut place, "dqworker", &[info.clone(), repair].concat()).doctor(true).unwrap();
        assert!(is_denied(&allow(&mut place, "dqworker", &info).doctor(true).unwrap_err()));
    }
}

#[test]
fn the_user_of_the_sentinels_has_exactly_the_rights_it_needs() {
    let watched = Watched::start_with(60_000, 1);
    let tail = format!("{SERVICE}/0?sentinel_user=dqsentinel&sentinel_password=secret");
    let doctor = extra("`doctor()`, for the user of the Sentinels");
    let mut raw = watched.sentinels[0].raw();
    let mut try_with = |line: &[String]| {
        set_user(&mut raw, line);
        anew(|| {
            let queue = queue_of(watched.dsn(":hunter2@", &tail), "q", Duration::from_secs(2));
            queue.push(&NewJob { id: None, ..job("a") })?;
            let checks = queue.doctor(false)?;
            Ok::<String, Error>(about(&checks, "sentinel")[0].message.clone())
        })
    };
    let line = documented("dqsentinel");
    let with_doctor = [line.clone(), doctor.clone()].concat();
    assert!(try_with(&with_doctor).unwrap().contains("1 Sentinel(s) watch"));
    assert!(try_with(&line).unwrap().contains("NOPERM"));
    for right in line.iter().filter(|word| word.starts_with('+')) {
        let error = try_with(&without(&with_doctor, right)).unwrap_err();
        assert!(error.to_string().contains("sentinel_user"), "{right}: {error}");
    }
}

#[test]
fn forgetting_a_queue_needs_the_right_to_delete_keys() {
    for place in [Place::one_server, Place::cluster] {
        let mut place = place();
        for rights in [extra("`forget()`"), Vec::new()] {
            let queue = allow(&mut place, "dqworker", &rights);
            let partitions = Partitions::new(&queue, 2);
            partitions.push_many(vec![job("a"), job("b"), job("c")], &mut Vec::new()).unwrap();
            partitions.sum(None, "jobs deleted", |part| part.purge(&[])).unwrap();
            match partitions.forget() {
                Ok(is_forgotten) => assert!(is_forgotten && !rights.is_empty()),
                Err(error) => assert!(rights.is_empty() && is_denied(&error), "{error}"),
            }
            assert_eq!(partitions.first().queues().unwrap().is_empty(), !rights.is_empty());
        }
    }
}

#[test]
fn naming_a_key_of_a_wrong_type_needs_the_right_to_ask() {
    let mut place = Place::one_server();
    let rights = extra("to be told which key another program, or a newer version, has given a wrong type");
    for rights in [rights, Vec::new()] {
        let queue = allow(&mut place, "dqworker", &rights);
        order(place.raw(), &["SET", "dq:{q}:waiting", "1"]);
        let error = queue.push(&job("a")).unwrap_err().to_string();
        assert!(error.contains("WRONGTYPE"), "{error}");
        assert_eq!(error.contains("'dq:{q}:waiting' holds a string"), !rights.is_empty(), "{error}");
    }
}
