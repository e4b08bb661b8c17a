//! Another program wrote under one of our keys: the operation says which, and changes nothing.

use crate::audit;
use crate::scene::{Scene, Setting};
use crate::support::*;
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
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let (mut wrong, mut met) = (Vec::new(), 0);
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in setting.operations() {
            scene.restore(&mut raw);
            if let Err(error) = operation(&scene, &queue) {
                wrong.push(format!("{name}: fails without a reason: {error}"));
            }
            for key_name in audit::NAMES {
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
    assert!(met > 300, "only {met} cases met the foreign key");
}
