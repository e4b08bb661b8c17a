//! The counters of tasks, beside the list of workers.

use crate::support::*;
use delayqueue::core::registry::{Registry, TaskCount, TaskCounts};
use std::time::Duration;

fn counts(names: impl IntoIterator<Item = String>) -> TaskCounts {
    names.into_iter().map(|name| (name, TaskCount::of_run(Duration::from_micros(3), false))).collect()
}

#[test]
fn what_loops_have_counted_adds_up() {
    let server = Server::start(&[]);
    let registry = Registry::of(&server.queue("q"));
    assert_eq!(registry.tasks().unwrap(), TaskCounts::new());
    registry.count_tasks(&counts(["a".to_owned(), "b\\c".to_owned()])).unwrap();
    let failed = TaskCounts::from([("a".to_owned(), TaskCount::of_run(Duration::from_micros(4), true))]);
    Registry::of(&server.queue("other")).count_tasks(&failed).unwrap();
    let expected = [("a", (2, 1, 7)), ("b\\c", (1, 0, 3))];
    let expected =
        expected.map(|(name, (runs, failures, ran_us))| (name.to_owned(), TaskCount { runs, failures, ran_us }));
    assert_eq!(registry.tasks().unwrap(), TaskCounts::from(expected));
}

#[test]
fn names_beyond_two_hundred_count_as_others_and_known_ones_go_on() {
    let server = Server::start(&[]);
    let registry = Registry::of(&server.queue("q"));
    for _ in 0..2 {
        registry.count_tasks(&counts((0..150).map(|n| format!("{n:03}")))).unwrap();
    }
    registry.count_tasks(&counts((100..300).map(|n| format!("{n:03}")))).unwrap();
    let tasks = registry.tasks().unwrap();
    assert_eq!((tasks.len(), tasks["others"].runs, tasks["120"].runs), (201, 100, 3));
    assert_eq!(tasks.values().map(|count| count.runs).sum::<u64>(), 500);
}
