//! A cluster: queues on several nodes, slots that move, nodes that fail.

mod faults;
mod moving;

use crate::audit;
use crate::machine::stalls_since;
use crate::support::*;
use crate::tls;
use crate::topology::*;
use delayqueue::core::doctor::Level;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::keys::Keys;
use delayqueue::core::partitions::Partitions;
use delayqueue::core::queue::{Flow, Interrupts, NoInterrupts, Queue, QueueConfig};
use delayqueue::core::resolver::slot_of;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(2);
/// Longer than a wake-up takes on a busy machine, shorter than a waiter's own check.
const PROMPT: Duration = Duration::from_millis(500);

fn slot(queue: &Queue) -> u16 {
    slot_of(queue.name().as_bytes())
}

/// A queue over connections of its own, which end with it.
fn own(cluster: &Cluster, name: &str) -> Queue {
    Queue::new(QueueConfig { persistent: false, ..config(cluster.dsn(0), name) })
}

/// A waiting thread reports each job and its moment, one message a job, until it has so many.
fn waiting(queue: &Queue, names: &[String], many: usize) -> mpsc::Receiver<(String, Instant)> {
    let (sender, receiver) = mpsc::channel();
    let (queue, names) = (queue.clone(), names.to_vec());
    std::thread::spawn(move || {
        for _ in 0..many {
            let jobs = loop {
                match queue.reserve(&names, 1, Some(Duration::from_secs(60)), &mut NoInterrupts) {
                    Ok(jobs) => break jobs,
                    Err(error) => assert!(error.is_retryable(), "{error}"),
                }
            };
            let now = Instant::now();
            queue.sibling(&jobs[0].queue).ack(&jobs[0].held()).unwrap();
            let _ = sender.send((jobs[0].id.to_string(), now));
        }
    });
    receiver
}

/// Calls by which a waiter asks for jobs, or looks whether there are any.
fn looks(raw: &mut Raw) -> u64 {
    raw.calls("evalsha") + raw.calls("eval") + raw.calls("time")
}

#[test]
fn queues_on_all_nodes_work_and_are_listed() {
    let cluster = Cluster::shared();
    let names: Vec<String> = (0..3).map(|n| cluster.name_on(n)).collect();
    for (n, name) in names.iter().enumerate() {
        let queue = cluster.queue(name);
        queue.push(&delayed("late", 3_600_000)).unwrap();
        push_many(&queue, &[job("a"), prioritized("b", 1)]);
        let held = reserve(&queue).unwrap();
        assert_eq!(held.id, id("b"));
        queue.bury(&held.held(), None).unwrap();
        assert_eq!(queue.peek(&id("late")).unwrap().unwrap().id, id("late"));
        assert_eq!(serve_all(&queue), ["a"]);
        assert_eq!(queue.kick(5, false).unwrap(), 1);
        assert_eq!(states(&queue), [1, 1, 0, 0]);
        let mut raw = cluster.nodes[n].raw();
        assert_eq!(raw.int(&["EXISTS", &key(&queue, "jobs")]), 1, "it is where it belongs");
        let (_, faults) = audit::examine(&mut raw, &queue);
        assert!(faults.is_empty(), "{faults:?}");
        let checks = queue.doctor(true).unwrap();
        assert!(checks.iter().all(|check| check.level != Level::Error), "{checks:?}");
        assert!(checks.iter().any(|check| check.message.contains("master with 0 replica(s)")), "{checks:?}");
        assert_eq!(queue.purge(&delayqueue::core::job::State::ALL).unwrap(), 2);
    }
    // Names are written beside pushes, which do not wait for them for long.
    let mut again = 0;
    soon("all names are listed", || {
        let listed = cluster.queue("any").queues().unwrap();
        let missing: Vec<&String> = names.iter().filter(|name| !listed.contains(name)).collect();
        again += 1;
        missing.iter().for_each(|name| drop(own(cluster, name).push(&delayed(&format!("again{again}"), 1_000_000))));
        missing.is_empty()
    });
}

#[test]
fn one_seed_that_answers_is_enough() {
    let cluster = Cluster::shared();
    let dsn = format!("redis+cluster://127.0.0.1:1,127.0.0.1:{}", cluster.nodes[2].port);
    let queue = queue_of(Dsn::parse(&dsn).unwrap(), &cluster.name_on(0), DEADLINE);
    let started = Instant::now();
    queue.push(&job("a")).unwrap();
    assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn a_single_server_is_not_taken_for_a_cluster() {
    let master = lone_master();
    let dsn = Dsn::parse(&format!("redis+cluster://127.0.0.1:{}", master.port)).unwrap();
    let started = Instant::now();
    let error = queue_of(dsn, "q", DEADLINE).push(&job("a")).unwrap_err().to_string();
    for words in ["pushing job 'a'", &format!("127.0.0.1:{}", master.port), "no node of a cluster", "use redis://"] {
        assert!(error.contains(words), "'{words}' is missing: {error}");
    }
    assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn a_node_of_a_cluster_is_not_taken_for_a_single_server() {
    let cluster = Cluster::shared();
    let dsn = Dsn::parse(&format!("redis://127.0.0.1:{}", cluster.nodes[1].port)).unwrap();
    let started = Instant::now();
    let error = queue_of(dsn, &cluster.name_on(0), DEADLINE).push(&job("a")).unwrap_err().to_string();
    assert!(error.contains("pushing job 'a'") && error.contains("use redis+cluster://"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn a_waiter_for_queues_on_three_nodes_sleeps_and_is_woken_by_each() {
    let cluster = Cluster::shared();
    let names: Vec<String> = (0..3).map(|n| cluster.name_on(n)).collect();
    let queues: Vec<Queue> = names.iter().map(|name| cluster.queue(name)).collect();
    let woken = waiting(&queues[0], &names, 6);
    let mut raws: Vec<Raw> = cluster.nodes.iter().map(Node::raw).collect();
    let mut longest = Duration::ZERO;
    for round in 0..2 {
        for n in [2, 0, 1] {
            for (queue, raw) in queues.iter().zip(&mut raws) {
                until("it waits", || raw.int(&["ZCARD", &key(queue, "waiters")]) == 1);
            }
            let pushed = Instant::now();
            let name = format!("j{round}{n}");
            if round == 0 {
                queues[n].push(&job(&name)).unwrap();
            } else {
                queues[n].push(&delayed(&name, 300)).unwrap();
            }
            let (id, at) = woken.recv_timeout(Duration::from_secs(10)).unwrap();
            let late = (at - pushed).saturating_sub(Duration::from_millis(300 * round));
            longest = longest.max(late);
            assert_eq!(id, name);
            assert!(at - pushed >= Duration::from_millis(300 * round), "early");
        }
    }
    println!("waiter for three nodes: woken {longest:?} after the push or the due time at the latest");
    assert!(longest < PROMPT, "{longest:?}");
}

#[test]
fn a_waiter_for_queues_on_three_nodes_does_not_poll() {
    let cluster = Cluster::start(3, false, 60_000);
    let names: Vec<String> = (0..3).map(|n| cluster.name_on(n)).collect();
    let woken = waiting(&cluster.queue(&names[0]), &names, 1);
    let mut raws: Vec<Raw> = cluster.nodes.iter().map(Node::raw).collect();
    for (name, raw) in names.iter().zip(&mut raws) {
        until("it waits", || raw.int(&["ZCARD", &key(&cluster.queue(name), "waiters")]) == 1);
    }
    let before: Vec<u64> = raws.iter_mut().map(looks).collect();
    std::thread::sleep(Duration::from_secs(3));
    let after: Vec<u64> = raws.iter_mut().map(looks).collect();
    assert_eq!(before, after);
    cluster.queue(&names[1]).push(&job("a")).unwrap();
    assert_eq!(woken.recv_timeout(Duration::from_secs(10)).unwrap().0, "a");
}

#[test]
fn tls_is_spoken_to_every_node() {
    let files = tls::Files::new();
    let cluster = Cluster::over_tls(&|name| files.path(name));
    let text = format!("rediss+cluster://127.0.0.1:{}?ca={}", cluster.nodes[0].port, files.path("ca.crt"));
    let dsn = Dsn::parse(&text).unwrap();
    for master in 0..2 {
        let queue = queue_of(dsn.clone(), &cluster.name_on(master), DEADLINE);
        queue.push(&job("a")).unwrap();
        cluster.migrate(slot(&queue), master, 1 - master);
        assert_eq!(serve_all(&queue), ["a"]);
    }
    let plain = Dsn::parse(&dsn.redacted().replace("rediss", "redis")).unwrap();
    let error = queue_of(plain, "q", DEADLINE).push(&job("a")).unwrap_err();
    assert!(error.to_string().contains("use rediss://"), "{error}");
}
