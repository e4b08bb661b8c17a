//! Slots that move, and slots that nobody serves.

use super::*;
use crate::acl;
use crate::load::{wait_for_deliveries, while_working};
use crate::new_jobs::{once, unique};
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, NewJob, OnDuplicate};
use delayqueue::core::queue::PushOnce;

#[test]
fn a_slot_that_has_moved_is_followed_once() {
    let cluster = Cluster::shared();
    let queue = cluster.queue(&cluster.name_on(1));
    push_many(&queue, &[job("a"), delayed("late", 3_600_000)]);
    let held = reserve(&queue).unwrap();
    cluster.migrate(slot(&queue), 1, 2);
    let redirections = || {
        let info = cluster.nodes[1].raw().text(&["INFO", "errorstats"]);
        let line = info.lines().find_map(|line| line.strip_prefix("errorstat_MOVED:count=").map(str::to_owned));
        line.map_or(0, |count| count.trim().parse::<u32>().unwrap())
    };
    let before = redirections();
    queue.ack(&held.held()).unwrap();
    for n in 0..20 {
        queue.push(&job(&format!("j{n}"))).unwrap();
    }
    assert_eq!(redirections() - before, 1);
    assert_eq!(serve_all(&queue).len(), 20);
    assert_eq!(states(&queue), [1, 0, 0, 0]);
    let mut raw = cluster.nodes[2].raw();
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_slot_moves_while_a_producer_and_workers_use_it() {
    let cluster = Cluster::shared();
    let queue = cluster.queue(&cluster.name_on(0));
    let slot = slot(&queue);
    let (closed, mut log) = while_working(&queue, |log| {
        cluster.open(slot, 0, 1);
        std::thread::sleep(Duration::from_millis(200));
        let mut moved = 0;
        until("all keys are at the new node", || {
            let now = cluster.move_keys(slot, 0, 1);
            moved += now;
            now == 0 && moved > 0
        });
        std::thread::sleep(Duration::from_millis(200));
        cluster.close(slot, 1);
        let closed = Instant::now();
        wait_for_deliveries(log, 100);
        closed
    });
    let lost = log.close("moved slot", &queue, closed);
    assert!(log.errors.is_empty(), "{:?}", log.errors);
    assert_eq!((lost.len(), log.doubled()), (0, 0), "{lost:?}");
    let (_, faults) = audit::examine(&mut cluster.nodes[1].raw(), &queue);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_slot_that_stays_on_its_way_is_an_error_that_passes() {
    let cluster = Cluster::shared();
    let queue = queue_of(cluster.dsn(0), &cluster.name_on(0), Duration::from_millis(300));
    queue.push(&job("a")).unwrap();
    cluster.open(slot(&queue), 0, 2);
    let refused = queue.push(&job("b")).unwrap_err();
    assert!(matches!(&refused, Error::Server { code, .. } if code == "TRYAGAIN"), "{refused:?}");
    assert!(refused.is_retryable());
    cluster.move_keys(slot(&queue), 0, 2);
    assert!(queue.push(&job("b")).unwrap_err().is_retryable());
    cluster.close(slot(&queue), 2);
    queue.push(&job("b")).unwrap();
    assert_eq!(serve_all(&queue), ["a", "b"]);
}

/// Some keys are at the new node, the others at the old one.
#[test]
fn due_jobs_are_counted_while_a_slot_is_on_its_way() {
    let cluster = Cluster::shared();
    let queue = cluster.queue(&cluster.name_on(0));
    push_many(&queue, &[delayed("a", 60_000), NewJob { due: Due::InMs(60_000), ..prioritized("b", 1) }]);
    let count = || queue.count_due(&[i64::MIN, i64::MAX]).unwrap();
    cluster.open(slot(&queue), 0, 2);
    assert_eq!(count(), [0, 2]);
    let port = cluster.nodes[2].port.to_string();
    let waiting = key(&queue, "waiting");
    order(&mut cluster.nodes[0].raw(), &["MIGRATE", "127.0.0.1", &port, &waiting, "0", "5000"]);
    assert_eq!(count(), [0, 2]);
    cluster.move_keys(slot(&queue), 0, 2);
    assert_eq!(count(), [0, 2]);
    cluster.close(slot(&queue), 2);
    assert_eq!(count(), [0, 2]);
}

#[test]
fn jobs_arrive_once_while_their_slot_moves() {
    let cluster = Cluster::shared();
    let queue = cluster.queue(&cluster.name_on(0));
    let batch = |from: usize| -> Vec<_> {
        (from..from + 50)
            .map(|n| once(&format!("r{n}"), unique(&format!("j{n}"), 600_000, OnDuplicate::Keep)))
            .collect()
    };
    let (slot, stop) = (slot(&queue), AtomicBool::new(false));
    assert_eq!(queue.push_once(&batch(0)).unwrap().added, 50);
    let pushed = std::thread::scope(|scope| {
        let pushing = scope.spawn(|| {
            let mut pushed = 50;
            while !stop.load(Ordering::Relaxed) {
                // As an outbox does: again, until it is there.
                while queue.push_once(&batch(pushed)).is_err() {}
                pushed += 50;
            }
            pushed
        });
        for (from, to) in [(0, 1), (1, 2)] {
            cluster.open(slot, from, to);
            std::thread::sleep(Duration::from_millis(50));
            until("all keys are at the new node", || cluster.move_keys(slot, from, to) == 0);
            cluster.close(slot, to);
        }
        stop.store(true, Ordering::Relaxed);
        pushing.join().unwrap()
    });
    for from in (0..pushed).step_by(50) {
        assert_eq!(queue.push_once(&batch(from)).unwrap().known, 50);
    }
    assert_eq!(queue.count(None).unwrap(), pushed as u64);
    assert_eq!(queue.receipts(0, b"", usize::MAX).unwrap().len(), pushed);
    assert_eq!(queue.taken_ids().unwrap().len(), pushed);
    let (_, faults) = audit::examine(&mut cluster.nodes[2].raw(), &queue);
    assert!(faults.is_empty(), "{faults:?}");
    // Over a connection that does not know of the move yet, and while the keys are on their way.
    let names = [b"r1".to_vec(), b"j1".to_vec()];
    cluster.migrate(slot, 2, 0);
    assert_eq!(queue.forget_receipts(&names).unwrap(), 2);
    cluster.open(slot, 0, 1);
    cluster.move_keys(slot, 0, 1);
    assert_eq!(queue.receipts(0, b"r2", 1).unwrap().len(), 1);
    assert_eq!(queue.forget_receipts(&[b"r2".to_vec(), b"j2".to_vec()]).unwrap(), 2);
    let (known, unknown) = ((b"r3".as_slice(), Some(&id("j3"))), (b"none".as_slice(), None));
    assert_eq!(queue.has_receipts(&[known, unknown]).unwrap(), [(true, true), (false, false)]);
    cluster.close(slot, 1);
    assert_eq!(queue.push_once(&batch(0)).unwrap(), PushOnce { added: 0, kept: 2, known: 48 }, "the jobs are there");
}

#[test]
fn a_slot_without_a_node_is_an_error_that_passes() {
    let cluster = Cluster::shared();
    let name = cluster.name_on(1);
    let queue = queue_of(cluster.dsn(0), &name, Duration::from_millis(300));
    queue.push(&job("a")).unwrap();
    let number = slot(&queue).to_string();
    order(&mut cluster.nodes[1].raw(), &["CLUSTER", "DELSLOTS", &number]);
    let refused = queue.push(&job("b")).unwrap_err();
    // Either the node says it of the request, or one of them when it is asked for all slots.
    let is_said =
        ["CLUSTERDOWN", &format!("serves slot {number}")].iter().any(|words| refused.to_string().contains(words));
    assert!(is_said && refused.is_retryable(), "{refused:?}");
    std::thread::scope(|scope| {
        let push = scope.spawn(|| cluster.queue(&name).push(&job("c")));
        std::thread::sleep(Duration::from_millis(300));
        order(&mut cluster.nodes[1].raw(), &["CLUSTER", "ADDSLOTS", &number]);
        push.join().unwrap().unwrap();
    });
    assert_eq!(serve_all(&cluster.queue(&name)), ["a", "c"]);
}

#[test]
fn a_waiter_hears_of_a_push_after_its_slot_has_moved() {
    let cluster = Cluster::shared();
    let queue = cluster.queue(&cluster.name_on(2));
    let woken = waiting(&queue, &[queue.name().to_owned()], 3);
    let mut at = 2;
    for (n, delay_ms) in [0, 400, 0].into_iter().enumerate() {
        let mut raw = cluster.nodes[at].raw();
        until("it waits", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 1);
        let to = (at + 1) % 3;
        cluster.migrate(slot(&queue), at, to);
        at = to;
        let pushed = Instant::now();
        cluster.queue(queue.name()).push(&delayed(&format!("j{n}"), delay_ms)).unwrap();
        let (id, came) = woken.recv_timeout(Duration::from_secs(10)).unwrap();
        println!("waiter of a moved slot: woken {:?} after a push due in {delay_ms} ms", came - pushed);
        assert_eq!(id, format!("j{n}"));
        let delay = Duration::from_millis(delay_ms);
        assert!((delay..delay + PROMPT).contains(&(came - pushed)), "{:?}", came - pushed);
    }
}

/// A queue under a prefix of its own, and so with an index in another slot, that gives up soon.
fn under(prefix: &str, dsn: &Dsn, name: &str) -> Queue {
    let read_timeout = Duration::from_millis(500);
    let prefix = prefix.to_owned();
    Queue::new(QueueConfig { persistent: false, read_timeout, prefix, ..config(dsn.clone(), name) })
}

/// Lists a queue, then moves the keys of the index to another node, and leaves its slot open for the time of `work`.
fn with_index_on_its_way(cluster: &Cluster, prefix: &str, name: &str, work: impl FnOnce()) {
    let mut n = 0;
    soon("the queue is listed", || {
        let queue = under(prefix, &cluster.dsn(0), name);
        n += 1;
        queue.push(&job(&format!("j{n}"))).is_ok() && queue.queues().unwrap() == [name]
    });
    let index = format!("{prefix}:queues");
    let (slot, from) = (slot_of(index.as_bytes()), cluster.master_of(&index));
    let to = (from + 1) % 3;
    cluster.open(slot, from, to);
    assert_eq!(cluster.move_keys(slot, from, to), 1);
    work();
    cluster.close(slot, to);
}

#[test]
fn a_key_that_is_at_the_new_node_already_is_asked_for_there() {
    let cluster = Cluster::shared();
    let name = cluster.name_on(0);
    let queue = under("asked", &cluster.dsn(0), &name);
    with_index_on_its_way(cluster, "asked", &name, || {
        assert_eq!(queue.queues().unwrap(), [name.as_str()]);
        assert_eq!(queue.queues().unwrap(), [name.as_str()]);
    });
    assert_eq!(queue.queues().unwrap(), [name.as_str()]);
}

#[test]
fn a_user_follows_slots_with_the_documented_rights_and_not_with_fewer() {
    let cluster = Cluster::shared();
    let rights = ["+cluster|slots", "+asking"];
    let text = include_str!("../../../docs/acl.md").replace("\\|", "|");
    assert!(text.contains(&format!("| a cluster | `{}` |", rights.join(" "))));
    let login = "dqclustered:secret@127.0.0.1";
    let dsn = Dsn::parse(&format!("redis+cluster://{login}:{}", cluster.nodes[0].port)).unwrap();
    for (prefix, missing) in [("acl-all", None), ("acl-map", Some(rights[0])), ("acl-ask", Some(rights[1]))] {
        let mut user = acl::documented("dqworker");
        user[2] = "dqclustered".into();
        user.extend([format!("~{prefix}:*"), format!("&{prefix}:*")]);
        user.extend(rights.iter().filter(|right| Some(**right) != missing).map(ToString::to_string));
        cluster.nodes.iter().for_each(|node| acl::set_user(&mut node.raw(), &user));
        let name = cluster.name_on(1);
        let queue = || under(prefix, &dsn, &name);
        if missing == Some(rights[0]) {
            // In a thread of its own, which knows nothing of this cluster yet.
            let error =
                std::thread::scope(|scope| scope.spawn(|| queue().push(&job("a"))).join().unwrap().unwrap_err());
            assert!(matches!(&error, Error::Server { code, .. } if code == "NOPERM"), "{error:?}");
            // Redis 6.2 names no subcommand.
            let named = if is_redis_6() { "'cluster'" } else { "cluster|slots" };
            assert!(error.to_string().contains(named), "{error}");
            continue;
        }
        queue().push(&job("a")).unwrap();
        with_index_on_its_way(cluster, prefix, &name, || {
            let listed = queue().queues();
            assert_eq!(listed.is_ok(), missing.is_none(), "{listed:?}");
        });
    }
}
