//! Sentinels name the master; it changes, and nobody says so.

use crate::acl;
use crate::load::{wait_for_deliveries, while_working};
use crate::machine::{lasted, stalls_since};
use crate::support::*;
use crate::topology::*;
use delayqueue::core::doctor::Level;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::queue::{NoInterrupts, Queue};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(2);

/// A master that stays where it is.
fn steady() -> &'static Watched {
    static STEADY: OnceLock<Watched> = OnceLock::new();
    STEADY.get_or_init(|| Watched::start(10_000))
}

fn queue(dsn: Dsn) -> Queue {
    queue_of(dsn, "q", DEADLINE)
}

/// The error of a push, which comes in time and shows no password.
fn refusal(dsn: Dsn) -> Error {
    let started = Instant::now();
    let error = queue(dsn).push(&job("a")).unwrap_err();
    assert!(
        started.elapsed() < DEADLINE + Duration::from_secs(1) + stalls_since(started),
        "{:?}: {error}",
        started.elapsed()
    );
    assert!(!format!("{error} {error:?}").contains("hunter"), "{error}");
    error
}

fn assert_has(error: &Error, words: &[&str]) {
    for word in words {
        assert!(error.to_string().contains(word), "'{word}' is missing: {error}");
    }
}

#[test]
fn a_queue_behind_sentinels_works_in_the_database_of_its_dsn() {
    let watched = steady();
    // Redis 6.2 opens all channels to a new user.
    let user = "ACL SETUSER app on >hunter4 ~dq:* resetchannels &dq:* +@all -@dangerous +info";
    order(&mut watched.servers[0].raw(), &user.split(' ').collect::<Vec<_>>());
    acl::set_user(&mut watched.sentinels[0].raw(), &acl::documented("dqsentinel"));
    let hosts = format!("127.0.0.1:{}", watched.sentinels[0].port);
    let text =
        format!("redis+sentinel://app:hunter4@{hosts}/{SERVICE}/3?sentinel_user=dqsentinel&sentinel_password=secret");
    let queue = queue_of(Dsn::parse(&text).unwrap(), "everything", Duration::from_secs(10));
    queue.push(&delayed("late", 3_600_000)).unwrap();
    push_many(&queue, &[job("a"), prioritized("b", 1)]);
    assert_eq!(queue.queues().unwrap(), ["everything"]);
    let held = reserve(&queue).unwrap();
    assert_eq!(held.id, id("b"));
    queue.touch(&held.held(), None).unwrap();
    queue.bury(&held.held(), None).unwrap();
    assert_eq!(queue.peek(&id("late")).unwrap().unwrap().id, id("late"));
    assert_eq!(serve_all(&queue), ["a"]);
    assert_eq!(states(&queue), [1, 0, 0, 1]);
    let checks = queue.doctor(false).unwrap();
    let role = checks.iter().find(|check| check.check == "role").unwrap();
    assert_eq!((role.level, role.message.as_str()), (Level::Ok, "master with 1 replica(s)"));
    let mut raw = watched.servers[0].raw();
    assert_eq!(raw.int(&["EXISTS", "dq:{everything}:jobs"]), 0, "it is not in database 0");
    order(&mut raw, &["SELECT", "3"]);
    assert_eq!(raw.int(&["EXISTS", "dq:{everything}:jobs"]), 1);
}

#[test]
fn a_service_that_no_sentinel_knows_is_named() {
    let watched = steady();
    let error = refusal(watched.dsn(":hunter2@", "nothing/0?sentinel_password=hunter3"));
    assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    let first = format!("127.0.0.1:{}", watched.sentinels[0].port);
    assert_has(&error, &["pushing job 'a' to queue 'q'", "'nothing'", "sentinel monitor", &first]);
}

#[test]
fn a_sentinel_that_refuses_the_login_is_named_with_the_options_to_check() {
    let watched = steady();
    let first = format!("127.0.0.1:{}", watched.sentinels[0].port);
    for tail in ["orders/0?sentinel_password=hunter9", "orders/0", "orders/0?sentinel_user=u&sentinel_password=hunter9"]
    {
        let started = Instant::now();
        let error = refusal(watched.dsn(":hunter2@", tail));
        assert!(matches!(error, Error::Authentication { .. }), "{error:?}");
        assert_has(&error, &["pushing job 'a'", &first, "Sentinel", "sentinel_user and sentinel_password"]);
        assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
    }
}

#[test]
fn a_master_that_refuses_the_login_is_named() {
    let watched = steady();
    let error = refusal(watched.dsn(":hunter9@", "orders/0?sentinel_password=hunter3"));
    assert!(matches!(error, Error::Authentication { .. }), "{error:?}");
    assert_has(&error, &[&format!("127.0.0.1:{}", watched.servers[0].port), "check user and password"]);
}

#[test]
fn a_redis_that_is_no_sentinel_is_named() {
    let master = lone_master();
    let error = refusal(Dsn::parse(&format!("redis+sentinel://127.0.0.1:{}/orders", master.port)).unwrap());
    assert_has(&error, &[&format!("127.0.0.1:{}", master.port), "no Sentinel", "26379"]);
}

#[test]
fn no_sentinel_there_at_all_is_an_error_that_names_them() {
    let error = refusal(Dsn::parse("redis+sentinel://127.0.0.1:1,127.0.0.1:2/orders").unwrap());
    assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    assert_has(&error, &["127.0.0.1:1", "127.0.0.1:2", "connection refused"]);
}

#[test]
fn a_replica_that_is_named_master_is_not_written_to() {
    let master = lone_master();
    let replica = replica_of(&master);
    let oracle = Oracle::naming(replica.port);
    let error = refusal(oracle.dsn());
    assert!(matches!(error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    assert_has(&error, &[&format!("127.0.0.1:{}", replica.port), "is a replica"]);
    // It is made master while a push is on its way.
    std::thread::scope(|scope| {
        let push = scope.spawn(|| queue(oracle.dsn()).push(&job("b")));
        std::thread::sleep(Duration::from_millis(300));
        order(&mut replica.raw(), &["REPLICAOF", "NO", "ONE"]);
        push.join().unwrap().unwrap();
    });
}

#[test]
fn a_silent_sentinel_costs_nothing_while_another_answers() {
    let watched = steady();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = silent.local_addr().unwrap().port();
    let text = format!(
        "redis+sentinel://:hunter2@127.0.0.1:1,127.0.0.1:{mute},127.0.0.1:{}/{SERVICE}?sentinel_password=hunter3",
        watched.sentinels[1].port
    );
    let queue = queue_of(Dsn::parse(&text).unwrap(), "one-answers", DEADLINE);
    let started = Instant::now();
    queue.push(&job("a")).unwrap();
    assert!(started.elapsed() < Duration::from_secs(1) + stalls_since(started), "{:?}", started.elapsed());
}

#[test]
fn a_connection_that_lives_on_hears_of_another_master_within_a_second() {
    let (one, two) = (lone_master(), lone_master());
    let oracle = Oracle::naming(one.port);
    let queue = queue(oracle.dsn());
    queue.push(&job("first")).unwrap();
    for n in 0..50 {
        queue.push(&job(&format!("j{n}"))).unwrap();
    }
    assert!(oracle.asked() <= 2, "it is not asked for each push: {}", oracle.asked());
    oracle.name(two.port);
    let switched = Instant::now();
    let mut there = two.raw();
    let mut n = 50;
    soon("pushes go to the other master", || {
        queue.push(&job(&format!("j{n}"))).unwrap();
        n += 1;
        there.int(&["EXISTS", "dq:{q}:jobs"]) == 1
    });
    assert!(switched.elapsed() < Duration::from_millis(2_500) + stalls_since(switched), "{:?}", switched.elapsed());
}

#[test]
fn a_waiter_goes_to_another_master_without_being_told() {
    let (one, two) = (lone_master(), lone_master());
    let oracle = Oracle::naming(one.port);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let jobs = queue(oracle.dsn()).reserve(&["q".into()], 1, Some(Duration::from_secs(30)), &mut NoInterrupts);
            (jobs.unwrap().len(), Instant::now())
        });
        let (mut here, mut there) = (one.raw(), two.raw());
        until("it waits", || here.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        oracle.name(two.port);
        let switched = Instant::now();
        until("it waits at the other", || there.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        assert!(switched.elapsed() < Duration::from_millis(2_500) + stalls_since(switched), "{:?}", switched.elapsed());
        let pushed = Instant::now();
        queue(oracle.dsn()).push(&job("a")).unwrap();
        let (many, at) = waiter.join().unwrap();
        assert_eq!(many, 1);
        assert!(at - pushed < Duration::from_secs(3) + stalls_since(pushed), "{:?}", at - pushed);
    });
}

#[test]
fn a_waiter_is_patient_with_a_master_that_is_not_there_yet() {
    let (one, two) = (lone_master(), lone_master());
    let oracle = Oracle::naming(one.port);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let queue = queue_of(oracle.dsn(), "q", Duration::from_secs(10));
            queue.reserve(&["q".into()], 1, Some(Duration::from_secs(30)), &mut NoInterrupts).unwrap().len()
        });
        let (mut here, mut there) = (one.raw(), two.raw());
        until("it waits", || here.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        let asked = oracle.asked();
        oracle.name(1); // nobody listens there
        until("it has looked for the new master", || oracle.asked() > asked + 3);
        oracle.name(two.port);
        until("it waits there", || there.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        queue(oracle.dsn()).push(&job("a")).unwrap();
        assert_eq!(waiter.join().unwrap(), 1);
    });
}

#[test]
fn a_refusal_of_a_demoted_master_has_the_sentinels_asked_at_once() {
    let two = lone_master();
    let one = replica_of(&two);
    order(&mut one.raw(), &["REPLICAOF", "NO", "ONE"]);
    let oracle = Oracle::naming(one.port);
    let queue = queue(oracle.dsn());
    let mut least = [Duration::MAX; 2];
    for n in 0..6 {
        queue.push(&job(&format!("j{n}"))).unwrap();
        // The old master takes no writes any more, in ways that Redis has.
        oracle.name(two.port);
        if n % 2 == 0 {
            order(&mut one.raw(), &["REPLICAOF", "127.0.0.1", &two.port.to_string()]);
        } else {
            order(&mut one.raw(), &["CONFIG", "SET", "min-replicas-to-write", "1"]);
        }
        let started = Instant::now();
        queue.push(&job(&format!("k{n}"))).unwrap();
        least[n % 2] = least[n % 2].min(lasted(started));
        assert_eq!(two.raw().int(&["HEXISTS", "dq:{q}:jobs", &format!("k{n}")]), 1);
        order(&mut one.raw(), &["CONFIG", "SET", "min-replicas-to-write", "0"]);
        order(&mut one.raw(), &["REPLICAOF", "NO", "ONE"]);
        oracle.name(one.port);
        std::thread::sleep(Duration::from_millis(1_050)); // what it knows is old by then
    }
    // Not each time: others may use the machine.
    assert!(least.iter().all(|least| *least < Duration::from_millis(900)), "{least:?}");
}

#[test]
fn pushes_go_on_while_all_sentinels_are_away() {
    let watched = Watched::start_with(60_000, 2);
    let queue = watched.queue("q", DEADLINE);
    queue.push(&job("before")).unwrap();
    let push_for = |seconds: u64, what: &str| {
        let (end, mut longest, mut n) = (Instant::now() + Duration::from_secs(seconds), Duration::ZERO, 0);
        while Instant::now() < end {
            let started = Instant::now();
            queue.push(&job(&format!("{what}{n}"))).unwrap();
            longest = longest.max(lasted(started));
            n += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        println!("sentinels {what}: {n} pushes in {seconds} s, the longest took {longest:?}");
        assert!(longest < Duration::from_secs(1), "{what}: {longest:?}");
        assert!(n > 100, "{what}: {n}");
    };
    watched.sentinels.iter().for_each(|sentinel| sentinel.signal(libc::SIGSTOP));
    push_for(3, "frozen");
    watched.sentinels.iter().for_each(|sentinel| sentinel.signal(libc::SIGCONT));
    let Watched { servers: _servers, sentinels } = watched;
    drop(sentinels);
    push_for(3, "dead");
}

/// A load that works while the master is replaced.
fn work_through(kind: &str) {
    let mut watched = Watched::start(500);
    let queue = watched.queue("q", DEADLINE);
    let (switched, mut log) = while_working(&queue, |log| {
        match kind {
            "killed" => watched.servers[0].kill(),
            _ => watched.servers[0].signal(libc::SIGSTOP),
        }
        let switched = watched.wait_for_switch();
        wait_for_deliveries(log, 50);
        switched
    });
    let lost = log.close(&format!("{kind} master"), &queue, switched);
    log.assert_next_to_nothing_lost(&lost, DEADLINE);
}

#[test]
fn a_killed_master_is_replaced_and_loses_next_to_nothing() {
    work_through("killed");
}

#[test]
fn a_frozen_master_is_replaced_and_loses_next_to_nothing() {
    work_through("frozen");
}

#[test]
fn a_planned_failover_is_noticed_within_a_second() {
    let watched = Watched::start(2_000);
    let queue = watched.queue("q", DEADLINE);
    let (switched, mut log) = while_working(&queue, |log| {
        order(&mut watched.sentinels[0].raw(), &["SENTINEL", "FAILOVER", SERVICE]);
        let switched = watched.wait_for_switch();
        std::thread::sleep(Duration::from_millis(1_500));
        wait_for_deliveries(log, 50);
        switched
    });
    let lost = log.close("planned failover", &queue, switched);
    // Without replication that is waited for, the old master takes pushes until the client asks again.
    let last = lost.iter().map(|(_, at)| at.saturating_duration_since(switched)).max().unwrap_or_default();
    println!("planned failover: the old master took its last push {last:?} after the switch");
    let limit = Duration::from_millis(1_500) + stalls_since(switched);
    let too_late: Vec<_> = lost.iter().filter(|(_, at)| *at > switched + limit).collect();
    assert!(too_late.is_empty(), "{too_late:?}");
}

/// A waiter that sleeps while the master is replaced, and is woken there.
fn wait_through(kind: &str) {
    let mut watched = Watched::start(500);
    let queue = watched.queue("q", DEADLINE);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut errors = Vec::new();
            loop {
                match queue.reserve(&["q".into()], 1, Some(Duration::from_secs(60)), &mut NoInterrupts) {
                    Ok(jobs) => return (jobs.len(), Instant::now(), errors),
                    Err(error) => errors.push(error),
                }
            }
        });
        let mut raw = watched.servers[0].raw();
        until("it waits", || raw.int(&["ZCARD", "dq:{q}:waiters"]) == 1);
        match kind {
            "killed" => watched.servers[0].kill(),
            "frozen" => watched.servers[0].signal(libc::SIGSTOP),
            _ => order(&mut watched.sentinels[0].raw(), &["SENTINEL", "FAILOVER", SERVICE]),
        }
        let switched = watched.wait_for_switch();
        let mut raw = watched.servers[1].raw();
        let listens = |raw: &mut Raw| raw.text(&["CLIENT", "LIST", "TYPE", "pubsub"]).contains("name=delayqueue");
        soon("it waits at the new master", || listens(&mut raw));
        let resumed = lasted(switched);
        let pushed = Instant::now();
        queue.push(&job("a")).unwrap();
        let (many, at, errors) = waiter.join().unwrap();
        println!("idle waiter, {kind}: waits again after {resumed:?}, woken within {:?}; {errors:?}", at - pushed);
        assert!(resumed < Duration::from_secs(3), "{kind}: {resumed:?}");
        assert_eq!(many, 1);
        assert!(at - pushed < Duration::from_secs(3) + stalls_since(pushed), "{kind}: {:?}", at - pushed);
        assert!(errors.iter().all(Error::is_retryable), "{errors:?}");
    });
}

#[test]
fn an_idle_waiter_lives_through_every_kind_of_failover() {
    std::thread::scope(|scope| {
        for kind in ["killed", "frozen", "planned"] {
            scope.spawn(move || wait_through(kind));
        }
    });
}
