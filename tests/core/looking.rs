//! Looking at a queue needs no right to write, and goes on where Redis refuses writes.

use crate::scene::{Scene, Setting};
use crate::support::*;
use delayqueue::core::doctor::Level;
use delayqueue::core::error::Error;
use delayqueue::core::job::State;
use delayqueue::core::queue::Queue;

/// Every look at the queue, and the state that it sees each job in.
fn look(queue: &Queue, scene: &Scene) {
    let stats = queue.stats().unwrap();
    assert_eq!(stats.delayed + stats.ready + stats.reserved + stats.buried, scene.ids.len() as u64);
    assert_eq!(queue.count(None).unwrap(), scene.ids.len() as u64);
    assert_eq!(queue.peek(&id("expired")).unwrap().unwrap().state, State::Reserved, "no writer has looked");
    for state in State::ALL {
        assert_eq!(queue.count(Some(state)).unwrap(), queue.list(state, 0, 100).unwrap().len() as u64, "{state:?}");
    }
    let checks = queue.examine(false).unwrap();
    assert!(checks.iter().all(|check| check.level != Level::Error), "{checks:?}");
}

#[test]
fn looks_answer_where_redis_refuses_writes() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    for setting in [Setting::Plain, Setting::Prioritized, Setting::Grouped] {
        let scene = Scene::set(&server, &queue, setting);
        scene.restore(&mut raw);
        queue.list(State::Ready, 0, 1).unwrap(); // what fell due is promoted
        scene.restore(&mut raw);
        raw.run(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
        queue.push(&job("refused")).unwrap_err();
        look(&queue, &scene);
        raw.run(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    }
}

#[test]
fn looks_answer_a_user_who_may_not_write() {
    let (server, queue, mut raw) = Server::with_queue(&[]);
    for setting in [Setting::Plain, Setting::Prioritized, Setting::Grouped] {
        let scene = Scene::set(&server, &queue, setting);
        scene.restore(&mut raw);
        let viewer = Queue::new(config(user_without(&server, &["-@write"]), "q"));
        assert!(matches!(viewer.push(&job("refused")), Err(Error::Server { code, .. }) if code == "NOPERM"));
        look(&viewer, &scene);
    }
}
