//! A Redis user who may not run some command a script needs: the operation fails, and no job is lost.

use crate::audit;
use crate::scene::{OPERATIONS, Scene, Setting};
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::queue::Queue;
use delayqueue::core::scripts;
use std::collections::BTreeSet;

/// Every Redis command any script runs.
pub fn commands() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (script, _) in scripts::all() {
        for call in ["call('", "try('"] {
            for (at, _) in script.source.match_indices(call) {
                let rest = &script.source[at + call.len()..];
                found.insert(rest[..rest.find('\'').unwrap()].to_lowercase());
            }
        }
    }
    found
}

pub fn as_user(server: &Server, user: &str) -> Dsn {
    Dsn { user: Some(user.into()), password: Some("secret".into()), ..server.dsn() }
}

/// The user `u`, who may do anything but these.
pub fn user_without(server: &Server, denied: &[&str]) -> Dsn {
    let may = ["ACL", "SETUSER", "u", "reset", "on", ">secret", "~*", "&*", "+@all"];
    server.raw().run(&[&may, denied].concat());
    as_user(server, "u")
}

/// The jobs an operation is there to remove: those may be gone after it failed half-way.
fn may_be_gone(operation: &str, id: &str) -> bool {
    let named: &[&str] = match operation {
        "ack" | "feed" => &["held"],
        "feed after four" => &["one", "two", "one!", "two!"],
        "feed from elsewhere" => &["old", "one"],
        "ack with a past" => &["old"],
        "ack one of four" => &["one"],
        "ack many" => &["one", "two", "held", "old!", "last"],
        "cancel waiting" => &["ready", "delayed!", "due!"],
        "cancel held" => &["held", "old!", "one"],
        "cancel buried" => &["buried", "buried!"],
        _ => return operation.starts_with("purge") || operation == "take",
    };
    named.contains(&id)
}

#[test]
fn no_job_is_lost_when_a_command_is_denied() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = server.queue("q");
    let limited = Queue::new(config(user_without(&server, &[]), "q"));
    let mut failed = 0;
    let mut wrong = Vec::new();
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in OPERATIONS {
            for command in commands() {
                scene.restore(&mut raw);
                raw.run(&["ACL", "SETUSER", "u", &format!("-{command}")]);
                let result = operation(&scene, &limited);
                raw.run(&["ACL", "SETUSER", "u", "+@all"]);
                let Err(error) = result else { continue };
                failed += 1;
                let case = format!("{name} without {command}, {setting:?}");
                // In a transaction nobody sees before it is done that the time was not told.
                let may_be_done = *name == "push many without ids" && command == "time";
                let is_said = match &error {
                    Error::Server { code, .. } => code == "NOPERM",
                    Error::Connection { ambiguous, .. } => *ambiguous && may_be_done,
                    _ => false,
                };
                if !is_said {
                    wrong.push(format!("{case}: {error}"));
                }
                if name.starts_with("push")
                    && let Err(error) = operation(&scene, &queue)
                {
                    wrong.push(format!("{case}: the retry failed: {error}"));
                }
                let done = Scene::drain(&queue);
                for id in scene.ids.difference(&done) {
                    if !may_be_gone(name, id) {
                        wrong.push(format!("{case}: lost '{id}'"));
                    }
                }
                if name.starts_with("push")
                    && !name.contains("repl")
                    && !name.contains("dupl")
                    && done.is_subset(&scene.ids)
                {
                    wrong.push(format!("{case}: the new job is lost"));
                }
                let (places, _) = audit::examine(&mut raw, &queue);
                let records = raw.int(&["HLEN", &audit::key(&queue, "jobs")]);
                if !places.is_empty() || records != 0 {
                    wrong.push(format!("{case}: left behind {records} records, {places:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} in {failed} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(failed > 500, "only {failed} cases failed at all");
}
