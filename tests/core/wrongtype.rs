//! Somebody else wrote under one of our keys: the operation says so and changes nothing.

use crate::audit;
use crate::scene::{OPERATIONS, Scene, Setting};
use crate::support::*;
use delayqueue::core::error::Error;

const KEYS: [&str; 10] =
    ["jobs", "waiting", "reserved", "ledger", "history", "buried", "waiters", "later", "ready", "ripe"];

#[test]
fn an_operation_that_meets_a_foreign_key_changes_nothing() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (server.queue("q"), server.raw());
    let (mut wrong, mut met) = (Vec::new(), 0);
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in OPERATIONS {
            scene.restore(&mut raw);
            if let Err(error) = operation(&scene, &queue) {
                wrong.push(format!("{name}: fails without a reason: {error}"));
            }
            for key in KEYS {
                scene.restore(&mut raw);
                raw.run(&["SET", &audit::key(&queue, key), "foreign"]);
                let before = raw.text(&["DEBUG", "DIGEST"]);
                match operation(&scene, &queue) {
                    Ok(()) => {}
                    Err(Error::Server { code, .. }) if code == "WRONGTYPE" => {
                        met += 1;
                        if raw.text(&["DEBUG", "DIGEST"]) != before {
                            wrong.push(format!("{name}, foreign {key}, {setting:?}: changed something"));
                        }
                    }
                    Err(other) => wrong.push(format!("{name}, foreign {key}, {setting:?}: {other}")),
                }
                assert!(queue.queues().is_ok(), "the connection stays usable");
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {met}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(met > 300, "only {met} cases met the foreign key");
}
