//! Redis has no memory left and refuses to evict: pushing says so, everything that gets jobs done still works.

use crate::audit;
use crate::proxy::{Fault, Proxy};
use crate::scene::{Scene, Setting};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use std::collections::BTreeSet;
use std::time::Duration;

fn fill(raw: &mut Raw) {
    raw.run(&["CONFIG", "SET", "maxmemory", "1"]);
}

fn relieve(raw: &mut Raw) {
    raw.run(&["CONFIG", "SET", "maxmemory", "0"]);
}

#[test]
fn a_push_is_refused_and_changes_nothing() {
    let (server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in
            setting.operations().filter(|(name, _)| name.starts_with("push") && !name.contains("duplicate"))
        {
            scene.restore(&mut raw);
            let before = raw.text(&["DEBUG", "DIGEST"]);
            fill(&mut raw);
            let result = operation(&scene, &queue);
            relieve(&mut raw);
            assert!(matches!(result, Err(Error::QueueFull { .. })), "{name}: {result:?}");
            assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before, "{name}");
            operation(&scene, &queue).unwrap();
        }
    }
    let first = server.queue("never used before");
    fill(&mut raw);
    assert!(matches!(first.push(&job("a")), Err(Error::QueueFull { .. })));
    relieve(&mut raw);
    first.push(&job("a")).unwrap();
    assert!(queue.queues().unwrap().contains(&"never used before".to_owned()), "it is in the index nevertheless");
}

#[test]
fn a_push_tells_that_its_id_is_taken() {
    let (_server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    push_many(&queue, &[job("held"), job("ready")]);
    assert_eq!(reserve(&queue).unwrap().id, id("held"));
    fill(&mut raw);
    for name in ["held", "ready"] {
        queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..job(name) }).unwrap();
        let refused = queue.push(&job(name));
        assert!(matches!(refused, Err(Error::Duplicate { .. })), "{name}: {refused:?}");
    }
}

#[test]
fn every_operation_of_a_worker_and_an_operator_works() {
    let (server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    let mut wrong = Vec::new();
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in setting.operations() {
            if name.starts_with("push") || name.starts_with("update") {
                continue; // these need memory
            }
            scene.restore(&mut raw);
            operation(&scene, &queue).unwrap();
            let (expected, _) = audit::examine(&mut raw, &queue);
            scene.restore(&mut raw);
            fill(&mut raw);
            let result = operation(&scene, &queue);
            relieve(&mut raw);
            let (found, faults) = audit::examine(&mut raw, &queue);
            if result.is_err() || found != expected || !faults.is_empty() {
                wrong.push(format!("{name}, {setting:?}: {result:?} {faults:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_damaged_record_does_not_hold_up_a_full_redis() {
    let (_server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    push_many(&queue, &[job("a"), job("b")]);
    raw.run(&["HSET", &key(&queue, "jobs"), "a", "damaged"]);
    fill(&mut raw);
    assert_eq!(reserve(&queue).unwrap().id, id("b"));
    assert_eq!(queue.count(Some(State::Buried)).unwrap(), 1);
}

#[test]
fn a_queue_drains_while_memory_stays_full() {
    for priorities in [&[1024][..], &[1024, 5, 7_000]] {
        let (_server, queue, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
        let jobs: Vec<NewJob> = (0..900)
            .map(|n| {
                let options =
                    JobOptions { priority: priorities[n % priorities.len()], ttr_ms: 1_000, ..JobOptions::default() };
                NewJob { options, ..delayed(&format!("j{n}"), if n % 2 == 0 { 0 } else { 2_000 }) }
            })
            .collect();
        push_many(&queue, &jobs);
        fill(&mut raw);
        // Leases run out, with and without attempts left; some are acknowledged one by one, some at once.
        assert_eq!(reserve_many(&queue, 300).len(), 300);
        travel(1_001);
        let mut done = BTreeSet::new();
        for round in 0..5_000 {
            let held = reserve_many(&queue, 50);
            for (n, job) in held.iter().enumerate().take(40) {
                match (n + round) % 4 {
                    0 => queue.bury(&job.held(), Some(b"why")).unwrap(),
                    1 => queue.release(&job.held(), Due::InMs(0), None, false).unwrap(),
                    _ => {
                        queue.ack(&job.held()).unwrap();
                        done.insert(job.id.to_string());
                    }
                }
            }
            let rest = held.get(40..).unwrap_or_default();
            ack_all(&queue, rest);
            done.extend(rest.iter().map(|job| job.id.to_string()));
            if held.is_empty() {
                travel(2_000);
                queue.kick(1_000, true).unwrap();
            }
            if done.len() == 900 {
                break;
            }
        }
        assert_eq!(done.len(), 900);
        assert_eq!(states(&queue), [0, 0, 0, 0]);
        let refused = queue.push(&NewJob { on_duplicate: OnDuplicate::Keep, ..job("j1") });
        assert!(matches!(refused, Err(Error::QueueFull { .. })));
        delayqueue::core::clock::set_offset_ms(0);
    }
}

/// The first write of a repeated reserve gives jobs back: it needs memory, too.
#[test]
fn a_reserve_whose_answer_was_lost_is_repeated() {
    let (server, direct, mut raw) = Server::with_queue(&["--maxmemory-policy", "noeviction"]);
    let proxy = Proxy::before(&server);
    for priority in [1024, 5] {
        let queue = proxy.queue(direct.name(), Duration::from_secs(5));
        direct.push(&prioritized("a", priority)).unwrap();
        queue.count(None).unwrap();
        fill(&mut raw);
        proxy.fail(Fault::DropReply, 1);
        let held = reserve(&queue).expect("the same job");
        assert_eq!((held.id.to_string(), held.attempts), ("a".into(), 1));
        assert_eq!(proxy.heal(), 1);
        queue.ack(&held.held()).unwrap();
        relieve(&mut raw);
    }
}
