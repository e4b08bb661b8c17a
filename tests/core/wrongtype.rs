//! Another program, or a newer version, wrote under one of our keys: the operation says which, and changes nothing.

use crate::audit;
use crate::scene::{Scene, Setting, takes, takes_all};
use crate::support::*;
use delayqueue::core::doctor::Level;
use delayqueue::core::error::Error;
use delayqueue::core::queue::Queue;

/// Of what the operation may not change when it fails. Jobs that are done may be gone, and a number for a lease be used up. A group may stand in
/// line too early.
fn digest(raw: &mut Raw, queue: &Queue, operation: &str) -> redis::Value {
    let names: &[&str] = match operation.split(' ').next() {
        Some("ack" | "feed") => &["waiting", "buried", "prioritized", "prioritized_ready", "grouped"],
        Some("reserve") => &[
            "jobs",
            "waiting",
            "reserved",
            "leases",
            "history",
            "buried",
            "prioritized",
            "prioritized_ready",
            "grouped",
            "groups",
        ],
        _ => &audit::NAMES,
    };
    let keys: Vec<String> = names.iter().filter(|name| **name != "line").map(|name| key(queue, name)).collect();
    raw.run(&[vec!["DEBUG", "DIGEST-VALUE"], keys.iter().map(String::as_str).collect()].concat())
}

#[test]
fn an_operation_that_meets_a_foreign_key_names_it_and_changes_nothing() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let (mut wrong, mut met, mut case_number) = (Vec::new(), 0, 0);
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in setting.operations() {
            scene.restore(&mut raw);
            if let Err(error) = operation(&scene, &queue) {
                wrong.push(format!("{name}: fails without a reason: {error}"));
            }
            for key_name in audit::NAMES {
                case_number += 1;
                if !takes(case_number) {
                    continue;
                }
                scene.restore(&mut raw);
                let foreign = key(&queue, key_name);
                raw.run(&["SET", &foreign, "foreign"]);
                let before = digest(&mut raw, &queue, name);
                let case = format!("{name}, foreign {key_name}, {setting:?}");
                match operation(&scene, &queue) {
                    Ok(()) => {}
                    Err(Error::Server { code, message, .. }) if code == "WRONGTYPE" => {
                        met += 1;
                        if digest(&mut raw, &queue, name) != before {
                            wrong.push(format!("{case}: changed something"));
                        }
                        if !message.contains(&format!("key '{foreign}' holds a string")) {
                            wrong.push(format!("{case}: says {message}"));
                        }
                    }
                    Err(other) => wrong.push(format!("{case}: {other}")),
                }
                assert!(queue.queues().is_ok(), "the connection stays usable");
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {met}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(met > if takes_all() { 300 } else { 75 }, "only {met} cases met the foreign key");
}

/// Its marker is a list where `waiting` was. Operations that prove a lease find none, and those that read a single key show it as it is.
#[test]
fn every_operation_on_a_queue_of_a_newer_schema_says_so_and_changes_nothing() {
    const WITHOUT_A_LOOK: [&str; 9] =
        ["ack", "fail", "bury", "touch", "renew", "receipts", "taken", "forget receipts", "limits"];
    let (server, queue, mut raw) = Server::with_queue(&[]);
    let mut refused = 0;
    for setting in [Setting::Plain, Setting::Grouped] {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in setting.operations() {
            raw.run(&["FLUSHDB"]);
            raw.run(&["RPUSH", &key(&queue, "waiting"), "schema 2"]);
            match operation(&scene, &queue) {
                Err(Error::Server { code, message, .. }) if code == "DQSCHEMA" && message.contains("newer") => {
                    refused += 1
                }
                Ok(()) if *name == "repair" => {} // what it finds says so
                Ok(()) if WITHOUT_A_LOOK.iter().any(|word| name.starts_with(word)) => {}
                other => panic!("{name}: {other:?}"),
            }
            let ours: Vec<&str> =
                audit::NAMES.into_iter().filter(|name| raw.int(&["EXISTS", &key(&queue, name)]) == 1).collect();
            assert_eq!(ours, ["waiting"], "{name}");
        }
    }
    assert!(refused > 100, "only {refused} operations were refused");
    raw.run(&["HSET", &key(&queue, "jobs"), "a", "of the newer version"]);
    let before = raw.text(&["DEBUG", "DIGEST"]);
    queue.push(&job("a")).unwrap_err();
    queue.reserve_job(&id("a")).unwrap_err();
    assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before);
    let schema = queue.doctor(false).unwrap().into_iter().find(|check| check.check == "schema").unwrap();
    assert!(schema.level == Level::Error && schema.message.contains("newer version"), "{}", schema.message);
}
