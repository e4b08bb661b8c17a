//! Nodes that fail, stand still, or are replaced; answers that get lost.

use super::*;
use crate::load::{wait_for_deliveries, while_working};
use crate::machine::{lasted, stalls_since};
use crate::network::{CALLS, arrange};
use crate::proxy::{Fault, Proxy};
use delayqueue::core::error::Error;
use delayqueue::core::job::{JobId, NewJob};
use delayqueue::core::queue::check_ready;

const INDEX: &str = "dq:queues";

#[test]
fn a_push_does_not_wait_for_the_node_of_the_index() {
    let cluster = Cluster::start(3, false, 60_000);
    let stopped = cluster.master_of(INDEX);
    let others: Vec<usize> = (0..3).filter(|n| *n != stopped).collect();
    let seed = cluster.dsn(others[0]);
    let known = queue_of(seed.clone(), &cluster.name_on(others[1]), DEADLINE);
    known.push(&job("before")).unwrap();
    cluster.nodes[stopped].signal(libc::SIGSTOP);
    let timed_push = |queue: &Queue, n: u32| {
        let started = Instant::now();
        queue.push(&job(&format!("j{n}"))).unwrap();
        lasted(started)
    };
    // Queues that are not in the index yet: the first over a connection that is open, the second has to connect.
    let mut names = Vec::new();
    for master in [others[1], others[0]] {
        let queue = queue_of(seed.clone(), &cluster.name_on(master), DEADLINE);
        names.push(queue.name().to_owned());
        let first = timed_push(&queue, 0);
        let mut next: Vec<Duration> = (1..200).map(|n| timed_push(&queue, n)).collect();
        next.sort_unstable();
        println!("index node stopped: first push {first:?}, next: median {:?}, longest {:?}", next[99], next[198]);
        assert!(first < Duration::from_secs(1), "{first:?}");
        assert!(next[99] < Duration::from_millis(20), "{:?}", next[99]);
    }
    cluster.nodes[stopped].signal(libc::SIGCONT);
    soon("a push enters the queue later", || {
        let again = Queue::new(QueueConfig { persistent: false, ..config(seed.clone(), &names[0]) });
        drop(again.push(&job("again")));
        again.queues().is_ok_and(|listed| listed.contains(&names[0]))
    });
}

#[test]
fn a_call_whose_answer_is_lost_has_its_effect_once() {
    // The node names the proxy as its address, so that the client reaches it only there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let cluster = Cluster::announcing(listener.local_addr().unwrap().port());
    let mut raw = cluster.nodes[0].raw();
    let proxy = Proxy::on(listener, cluster.nodes[0].socket(), &mut raw);
    let direct_dsn = cluster.nodes[0].plain_dsn();
    let through = Dsn::parse(&format!("redis+cluster://127.0.0.1:{}", proxy.port())).unwrap();
    for (number, (name, call, answer, expected)) in CALLS.iter().enumerate() {
        for fault in [Fault::DropBefore, Fault::DropReply] {
            let case = format!("{name}, {fault:?}");
            let queue_name = format!("q{number}.{}", u8::from(fault.executes()));
            let direct = queue_of(direct_dsn.clone(), &queue_name, Duration::from_secs(5));
            let held = arrange(&direct);
            let queue = queue_of(through.clone(), &queue_name, Duration::from_secs(5));
            proxy.fail(fault, 1);
            let found = call(&queue, &held);
            assert_eq!(proxy.heal(), 1, "{case}: it met the fault");
            match found {
                // How many there were died with the answer.
                Err(Error::Connection { ambiguous: true, .. }) if *name == "cancel" && fault.executes() => {}
                found => assert_eq!(found.as_deref(), Ok(*answer), "{case}"),
            }
            assert_eq!(states(&direct), *expected, "{case}");
            let (_, faults) = audit::examine(&mut raw, &direct);
            assert!(faults.is_empty(), "{case}: {faults:?}");
        }
    }
}

#[test]
fn a_replica_takes_over_as_planned_and_when_its_master_is_killed() {
    let mut cluster = Cluster::start(3, true, 1_000);
    let planned = queue_of(cluster.dsn(0), &cluster.name_on(1), DEADLINE);
    let (switched, mut log) = while_working(&planned, |log| {
        let mut replica = cluster.nodes[4].raw();
        order(&mut replica, &["CLUSTER", "FAILOVER"]);
        soon("the replica is master", || fact(&mut replica, "role") == "master");
        let switched = Instant::now();
        wait_for_deliveries(log, 100);
        switched
    });
    let lost = log.close("planned failover in a cluster", &planned, switched);
    assert!(log.errors.is_empty(), "{:?}", log.errors);
    assert_eq!((lost.len(), log.doubled()), (0, 0), "{lost:?}");

    // The one that the DSN names: what the others told is enough.
    let killed = queue_of(cluster.dsn(0), &cluster.name_on(0), DEADLINE);
    let (switched, mut log) = while_working(&killed, |log| {
        cluster.nodes[0].kill();
        let mut replica = cluster.nodes[3].raw();
        soon("the replica is master", || fact(&mut replica, "role") == "master");
        let switched = Instant::now();
        wait_for_deliveries(log, 100);
        switched
    });
    let lost = log.close("killed master in a cluster", &killed, switched);
    log.assert_next_to_nothing_lost(&lost, DEADLINE);
}

#[test]
fn an_idle_waiter_lives_through_every_kind_of_failover() {
    let mut cluster = Cluster::start(3, true, 1_000);
    let mut resumed = Vec::new();
    for (n, kind) in ["planned", "frozen", "killed"].into_iter().enumerate() {
        let queue = queue_of(cluster.dsn(2), &cluster.name_on(n), DEADLINE);
        let woken = waiting(&queue, &[queue.name().to_owned()], 1);
        let mut raw = cluster.nodes[n].raw();
        until("it waits", || raw.int(&["ZCARD", &key(&queue, "waiters")]) == 1);
        let mut replica = cluster.nodes[n + 3].raw();
        match kind {
            "planned" => order(&mut replica, &["CLUSTER", "FAILOVER"]),
            "frozen" => cluster.nodes[n].signal(libc::SIGSTOP),
            _ => cluster.nodes[n].kill(),
        }
        soon("the replica is master", || fact(&mut replica, "role") == "master");
        let switched = Instant::now();
        let new = queue_of(cluster.dsn(2), queue.name(), Duration::from_secs(10));
        new.push(&job("a")).unwrap();
        assert_eq!(woken.recv_timeout(Duration::from_secs(20)).unwrap().0, "a");
        println!("idle waiter in a cluster, {kind}: got a job {:?} after the switch", switched.elapsed());
        resumed.push((kind, switched.elapsed()));
        if kind == "frozen" {
            cluster.nodes[n].signal(libc::SIGCONT);
            soon("it is a replica now", || fact(&mut cluster.nodes[n].raw(), "role") == "slave");
        }
    }
    for (kind, took) in resumed {
        // A frozen master says nothing: the waiter notices with its check of every five seconds.
        let limit = if kind == "frozen" { Duration::from_secs(5) + DEADLINE } else { Duration::from_secs(2) };
        assert!(took < limit + Duration::from_secs(1), "{kind}: {took:?}");
    }
}

#[test]
fn a_node_that_is_away_does_not_keep_a_worker_from_queues_of_others() {
    let mut cluster = Cluster::start(3, false, 60_000);
    let names: Vec<String> = (0..3).map(|n| cluster.name_on(n)).collect();
    let queues: Vec<Queue> = names.iter().map(|name| queue_of(cluster.dsn(2), name, DEADLINE)).collect();
    let woken = waiting(&queues[0], &names, 4);
    let mut raw = cluster.nodes[2].raw();
    until("it waits", || raw.int(&["ZCARD", &key(&queues[2], "waiters")]) == 1);
    cluster.nodes[0].kill();
    for n in 0..4 {
        let pushed = Instant::now();
        queues[1 + n % 2].push(&job(&format!("j{n}"))).unwrap();
        let (id, at) = woken.recv_timeout(Duration::from_secs(20)).unwrap();
        println!("a node is away: job of another after {:?}", at - pushed);
        assert_eq!(id, format!("j{n}"));
        assert!(at - pushed < 3 * DEADLINE + stalls_since(pushed), "{:?}", at - pushed);
    }
}

#[test]
fn a_worker_is_ready_while_a_node_is_away_and_not_when_all_are() {
    let mut cluster = Cluster::start(3, false, 60_000);
    let queue = queue_of(cluster.dsn(2), "q", DEADLINE);
    let parts: Vec<Queue> = (0..64).map(|number| queue.partition("q", number)).collect();
    check_ready(&parts).unwrap();
    cluster.nodes[0].kill();
    let started = Instant::now();
    check_ready(&parts).unwrap();
    assert!(started.elapsed() < 3 * DEADLINE + stalls_since(started), "{:?}", started.elapsed());
    cluster.nodes[1].kill();
    cluster.nodes[2].kill();
    assert!(check_ready(&parts).unwrap_err().is_retryable());
}

/// A node may be busy for a moment: however many partitions there are, an operation has its time.
#[test]
fn a_queue_of_many_partitions_is_as_patient_with_a_slow_node_as_one_of_few() {
    let cluster = Cluster::start(3, false, 60_000);
    let queue = queue_of(cluster.dsn(0), "q", DEADLINE);
    let partitions = Partitions::new(&queue, 64);
    let ask = || partitions.reserve(&["q".into()], 1, Some(Duration::ZERO), &mut NoInterrupts);
    assert!(ask().unwrap().is_none());
    for node in &cluster.nodes {
        node.signal(libc::SIGSTOP);
        std::thread::scope(|scope| {
            let asked = scope.spawn(ask);
            std::thread::sleep(Duration::from_millis(300));
            node.signal(libc::SIGCONT);
            assert!(asked.join().unwrap().unwrap().is_none());
        });
    }
}

/// Several partitions lie on the node that is away; it is waited for once.
#[test]
fn a_node_that_is_away_does_not_keep_a_change_from_the_partitions_of_others() {
    let mut cluster = Cluster::start(3, false, 60_000);
    let partitions = Partitions::new(&queue_of(cluster.dsn(1), "q", DEADLINE), 12);
    let ids: Vec<JobId> = (0..60).map(|n| id(&format!("j{n}"))).collect();
    let jobs: Vec<NewJob> = ids.iter().map(|id| delayed(&id.to_string(), 600_000)).collect();
    partitions.push_many(jobs, &mut Vec::new()).unwrap();
    cluster.nodes[0].kill();
    let started = Instant::now();
    let error = partitions.cancel(&ids).unwrap_err();
    let took = lasted(started);
    println!("a node is away: cancelled in {took:?}, {error}");
    assert!(matches!(error, Error::Connection { ambiguous: true, .. }), "{error:?}");
    assert!(error.to_string().contains("jobs cancelled: "), "{error}");
    assert!(took < 3 * DEADLINE, "{took:?}");
    assert!(!partitions.cancel(&ids).unwrap_err().is_ambiguous(), "of the others none is left");
}

/// A process that is asked to end must be gone within five seconds, also if it waits on several nodes that say nothing.
#[test]
fn a_waiter_leaves_frozen_nodes_within_the_time_of_one_operation() {
    struct Leave(Arc<AtomicBool>);
    impl Interrupts for Leave {
        fn poll(&mut self) -> Flow {
            if self.0.load(Ordering::Relaxed) { Flow::Return } else { Flow::Continue }
        }
        fn tick_at(&self) -> Option<Instant> {
            Some(Instant::now() + Duration::from_millis(20))
        }
    }
    let cluster = Cluster::start(3, false, 60_000);
    let queue = queue_of(cluster.dsn(0), "q", DEADLINE);
    let partitions = Partitions::new(&queue, 16);
    let leaves = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let mut interrupts = Leave(Arc::clone(&leaves));
        let waiter = scope.spawn(move || partitions.reserve(&["q".into()], 1, None, &mut interrupts));
        let waiters = |n: usize, raw: &mut Raw| audit::list(raw, &["KEYS", "*:waiters"]).len() == n;
        let many: Vec<usize> = (0..3)
            .map(|n| (0..16).filter(|part| cluster.master_of(Keys::new("dq", "q", *part).tag()) == n).count())
            .collect();
        for (node, many) in cluster.nodes.iter().zip(many) {
            let mut raw = node.raw();
            until("it waits", || waiters(many, &mut raw));
        }
        std::thread::sleep(Duration::from_millis(100));
        cluster.nodes.iter().for_each(|node| node.signal(libc::SIGSTOP));
        let asked = Instant::now();
        leaves.store(true, Ordering::Relaxed);
        let left = waiter.join().unwrap();
        let took = lasted(asked);
        cluster.nodes.iter().for_each(|node| node.signal(libc::SIGCONT));
        println!("left after {took:?}");
        assert!(left.unwrap().is_none());
        assert!(took < DEADLINE + Duration::from_millis(700), "{took:?}");
    });
}
