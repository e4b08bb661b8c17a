//! Keys that another program deleted: the queue goes on, and doctor() finds and repairs the jobs that lie in no state.

use crate::audit;
use crate::foreign::{all, faults, serve};
use crate::groups::of;
use crate::scene::{Scene, Setting};
use crate::support::*;
use delayqueue::core::doctor::{Check, Level};
use delayqueue::core::error::Error;
use delayqueue::core::job::NewJob;
use delayqueue::core::queue::Queue;

#[test]
fn a_deleted_key_neither_stops_the_queue_nor_sends_it_round_in_circles() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for name_of_key in audit::NAMES {
            for (name, operation) in setting.operations() {
                scene.restore(&mut raw);
                raw.run(&["DEL", &key(&queue, name_of_key)]);
                match operation(&scene, &queue) {
                    Ok(()) | Err(Error::Duplicate { .. }) => {}
                    Err(error) => panic!("{name} without {name_of_key}: {error}"),
                }
            }
            scene.restore(&mut raw);
            raw.run(&["DEL", &key(&queue, name_of_key)]);
            let done = Scene::drain(&queue);
            let lost = scene.ids.difference(&done).count();
            match name_of_key {
                "jobs" => assert!(done.is_empty()),
                "waiting" | "reserved" | "buried" | "prioritized" => assert!(!done.is_empty(), "without {name_of_key}"),
                // These bring the jobs of groups to a reserve, or, as the lease does, make room for them. A repair does the same.
                "grouped" | "groups" | "line" | "leases" if setting == Setting::Grouped => assert!(!done.is_empty()),
                _ => assert_eq!(lost, 0, "without {name_of_key}"),
            }
            queue.push(&job("afterwards")).unwrap();
            queue.push(&prioritized("urgent afterwards", 5)).unwrap();
            queue.push(&of("new", "of a group")).unwrap();
            let served = serve(&queue);
            assert!(
                served.is_superset(&all(&["afterwards", "urgent afterwards", "of a group"])),
                "without {name_of_key}: {served:?}"
            );
        }
    }
}

fn jobs_check(queue: &Queue, repair: bool) -> Check {
    queue.doctor(repair).unwrap().into_iter().find(|check| check.check == "jobs").unwrap()
}

#[test]
fn leases_that_nobody_looks_at_and_jobs_without_a_lease_are_found_by_doctor() {
    let (_server, queue, mut raw) = Server::with_queue(&[]);
    let leases = |repair| queue.doctor(repair).unwrap().into_iter().find(|check| check.check == "leases").unwrap();
    queue.push(&job("a")).unwrap();
    reserve(&queue).unwrap();
    assert_eq!(leases(false).level, Level::Ok);
    travel(120_001);
    let found = leases(false);
    assert!(
        found.level == Level::Warn && found.message.contains("1 leases of queue 'q' ended over a minute"),
        "{found:?}"
    );
    assert_eq!(leases(false).level, Level::Ok, "doctor() has looked itself");
    reserve(&queue).unwrap();
    raw.run(&["DEL", &key(&queue, "leases")]);
    let found = leases(false);
    assert!(
        found.level == Level::Error && found.message.contains("1 reserved jobs of queue 'q' have no lease"),
        "{found:?}"
    );
    assert_eq!(leases(true).level, Level::Ok);
    assert_eq!(states(&queue), [0, 1, 0, 0]);
}

#[test]
fn jobs_whose_place_was_deleted_are_found_by_doctor_and_repaired() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    for setting in [Setting::Prioritized, Setting::Tidy, Setting::Grouped] {
        let scene = Scene::set(&server, &queue, setting);
        for name_of_key in audit::NAMES.into_iter().filter(|name| *name != "jobs") {
            scene.restore(&mut raw);
            raw.run(&["DEL", &key(&queue, name_of_key)]);
            let is_lost = match name_of_key {
                "prioritized" => setting == Setting::Prioritized,
                "grouped" => setting == Setting::Grouped,
                name => ["waiting", "reserved", "buried"].contains(&name),
            };
            let found = jobs_check(&queue, false);
            if is_lost {
                assert_eq!(found.level, Level::Error, "without {name_of_key}: {}", found.message);
                assert!(found.message.contains("doctor --repair"), "{}", found.message);
            }
            // The leases tell the old places of jobs that were held.
            let is_buried = is_lost && name_of_key != "reserved";
            let repaired = jobs_check(&queue, true);
            assert_eq!(repaired.level, if is_buried { Level::Warn } else { Level::Ok }, "{}", repaired.message);
            assert_eq!(jobs_check(&queue, false).level, Level::Ok, "without {name_of_key}, repaired");
            let done = Scene::drain(&queue);
            let lost: Vec<_> = scene.ids.difference(&done).collect();
            assert!(lost.is_empty(), "without {name_of_key}, {setting:?}: {lost:?}");
        }
        // All of them at once.
        scene.restore(&mut raw);
        for name_of_key in audit::NAMES.into_iter().filter(|name| *name != "jobs") {
            raw.run(&["DEL", &key(&queue, name_of_key)]);
        }
        jobs_check(&queue, true);
        assert_eq!(states(&queue), [0, 0, 0, scene.ids.len() as u64], "their due times are lost");
        assert_eq!(faults(&mut raw, &queue), Vec::<String>::new());
        assert_eq!(Scene::drain(&queue), scene.ids);
    }
}

#[test]
fn a_repair_changes_nothing_of_a_healthy_queue() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let scene = Scene::set(&server, &queue, Setting::Tidy);
    scene.restore(&mut raw);
    let many: Vec<NewJob> = (0..1_000).map(|n| delayed(&format!("many{n}"), 3_600_000)).collect();
    push_many(&queue, &many);
    let before = raw.text(&["DEBUG", "DIGEST"]);
    assert_eq!(jobs_check(&queue, true).message, "every job of queue 'q' lies in one state");
    assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before);
}
