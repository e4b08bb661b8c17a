//! A Redis user without the right to a command that a script needs: the operation fails, and no job is lost.

use crate::audit;
use crate::scene::{Operation, Scene, Setting, takes, takes_all};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::queue::Queue;
use delayqueue::core::scripts;
use std::collections::{BTreeMap, BTreeSet};

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

/// The jobs an operation is there to remove: those may be gone after it failed half-way.
fn may_be_gone(operation: &str, id: &str) -> bool {
    let named: &[&str] = match operation {
        "ack" | "feed" => &["held"],
        "feed after four" => &["one", "two", "one!", "two!"],
        "ack with a past" => &["old"],
        "ack one of four" => &["one"],
        "ack many" => &["one", "two", "held", "old!", "last"],
        "cancel waiting" => &["ready", "delayed!", "due!"],
        "cancel held" => &["held", "old!", "one"],
        "cancel buried" => &["buried", "buried!"],
        "feed of groups" => &["in+", "head+"],
        "ack of a full group" => &["in+"],
        "ack many of groups" => &["head+", "in+", "held", "w1+"],
        "cancel the first" => &["first+"],
        "cancel held in a group" => &["head+", "closed+"],
        "cancel a group" => &["first+", "second+"],
        "cancel a group with what is held" => return id.ends_with('!'),
        _ => return operation.starts_with("purge") || operation == "take",
    };
    named.contains(&id)
}

/// Where each job is; those whose ids are made anew each time by their number.
fn places(raw: &mut Raw, scene: &Scene, queue: &Queue) -> BTreeMap<String, &'static str> {
    let (places, _) = audit::examine(raw, queue);
    let is_named = |id: &String| scene.ids.contains(id) || id.starts_with("new");
    let named =
        |(at, (id, place)): (usize, (String, _))| (if is_named(&id) { id } else { format!("made {at}") }, place);
    let (named_ones, made): (Vec<_>, Vec<_>) = places.into_iter().partition(|(id, _)| is_named(id));
    named_ones.into_iter().chain(made).enumerate().map(named).collect()
}

/// The faults of one case: an operation by a user who may not run this command.
fn examine(
    scene: &Scene,
    name: &str,
    operation: Operation,
    queue: &Queue,
    raw: &mut Raw,
    error: &Error,
) -> Vec<String> {
    let mut wrong = Vec::new();
    if !matches!(error, Error::Server { code, .. } if code == "NOPERM") {
        wrong.push(error.to_string());
    }
    if name.starts_with("push")
        && let Err(error) = operation(scene, queue)
    {
        wrong.push(format!("the retry failed: {error}"));
    }
    let done = Scene::drain(queue);
    let lost = scene.ids.difference(&done).filter(|id| !may_be_gone(name, id));
    wrong.extend(lost.map(|id| format!("lost '{id}'")));
    let adds = name.starts_with("push") && !name.contains("repl") && !name.contains("dupl");
    if adds && done.is_subset(&scene.ids) {
        wrong.push("the new job is lost".into());
    }
    let (places, _) = audit::examine(raw, queue);
    let records = raw.int(&["HLEN", &audit::key(queue, "jobs")]);
    if !places.is_empty() || records != 0 {
        wrong.push(format!("left behind {records} records, {places:?}"));
    }
    wrong
}

#[test]
fn nothing_is_lost_or_reported_done_that_is_not_when_a_command_is_denied() {
    let server = Server::start(&[]);
    let mut raw = server.raw();
    let queue = server.queue("q");
    let limited = Queue::new(config(user_without(&server, &[]), "q"));
    let (mut failed, mut passed, mut wrong, mut case) = (0, 0, Vec::new(), 0);
    for setting in Setting::ALL {
        let scene = Scene::set(&server, &queue, setting);
        for (name, operation) in setting.operations() {
            scene.restore(&mut raw);
            let before = places(&mut raw, &scene, &queue);
            raw.run(&["CONFIG", "RESETSTAT"]);
            operation(&scene, &limited).unwrap();
            let stats = raw.text(&["INFO", "commandstats"]);
            let expected = places(&mut raw, &scene, &queue);
            // A right to a command that is not run is not missed.
            for command in commands().iter().filter(|command| stats.contains(&format!("cmdstat_{command}:"))) {
                case += 1;
                if !takes(case) {
                    continue;
                }
                scene.restore(&mut raw);
                raw.run(&["ACL", "SETUSER", "u", &format!("-{command}")]);
                let result = operation(&scene, &limited);
                raw.run(&["ACL", "SETUSER", "u", "+@all"]);
                let found = match &result {
                    Err(error) => {
                        failed += 1;
                        examine(&scene, name, *operation, &queue, &mut raw, error)
                    }
                    Ok(()) => {
                        passed += 1;
                        let found = places(&mut raw, &scene, &queue);
                        // Looking leaves to a writer what it may not write itself.
                        let only_looks = ["peek", "list", "stats", "group stats", "list a group"].contains(name)
                            && command == "zrem";
                        let is_done = found == if only_looks { before.clone() } else { expected.clone() };
                        if is_done { Vec::new() } else { vec![format!("done, but {found:?}, not {expected:?}")] }
                    }
                };
                wrong.extend(found.into_iter().map(|what| format!("{name} without {command}, {setting:?}: {what}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} in {failed} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(failed > if takes_all() { 500 } else { 125 }, "only {failed} cases failed at all, {passed} passed");
}
