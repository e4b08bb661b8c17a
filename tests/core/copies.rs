//! The log and the replicas of Redis: a script arrives there whole or not at all.

use crate::audit;
use crate::scene::{OPERATIONS, Scene, Setting};
use crate::support::*;
use std::path::{Path, PathBuf};

#[test]
fn a_replica_has_what_the_master_has_after_every_operation() {
    let master = Server::start(&["--repl-diskless-sync-delay", "0", "--port", "0"]);
    let (queue, mut raw) = (master.queue("q"), master.raw());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    raw.run(&["CONFIG", "SET", "port", &port]);
    let replica = Server::start(&["--replicaof", "127.0.0.1", &port]);
    let mut other = replica.raw();
    until("it is in step", || other.text(&["INFO", "replication"]).contains("master_link_status:up"));
    for setting in Setting::ALL {
        let scene = Scene::set(&master, &queue, setting);
        for (name, operation) in OPERATIONS {
            scene.restore(&mut raw);
            operation(&scene, &queue).unwrap();
            assert_eq!(raw.int(&["WAIT", "1", "10000"]), 1);
            assert_eq!(raw.text(&["DEBUG", "DIGEST"]), other.text(&["DEBUG", "DIGEST"]), "{name}, {setting:?}");
        }
    }
}

/// The log of a Redis that died is cut off anywhere: Redis loads from it a queue in which each job is in one place.
#[test]
fn a_log_that_is_cut_off_anywhere_is_a_sound_queue() {
    let (mut server, queue, mut raw) = Server::with_queue(&["--appendonly", "yes", "--aof-load-truncated", "yes"]);
    for round in 0..6 {
        let named = |name: &str| format!("{name}{round}");
        push_many(&queue, &(0..30).map(|n| delayed(&named(&format!("j{n:02}.")), n % 2)).collect::<Vec<_>>());
        push_many(&queue, &[prioritized(&named("u"), 5), prioritized(&named("v"), 2_000), job(&named("w"))]);
        let mut held = Vec::new();
        while held.len() < 15 {
            held.extend(reserve_many(&queue, 20)); // a job that timed out comes alone
        }
        queue.ack_many(&finished(&held[..5])).unwrap();
        queue.give_back(&receipts(&held[5..8])).unwrap();
        for job in &held[8..12] {
            let _ = queue.fail(&job.held(), Some(b"why")).unwrap();
        }
        queue.bury(&held[12].held(), None).unwrap();
        queue.cancel(&[held[13].id.clone(), id(&named("w"))]).unwrap();
        queue.release(&held[14].held(), delayqueue::core::job::Due::InMs(5), Some(9), true).unwrap();
        travel(61_000);
        queue.stats().unwrap();
        queue.kick(1, true).unwrap();
    }
    raw.run(&["CONFIG", "SET", "appendfsync", "always"]);
    queue.push(&job("last")).unwrap();
    server.kill();
    let log = log_file(server.dir.path());
    let whole = std::fs::read(&log).unwrap();
    for part in 1..=30 {
        let cut = whole.len() * part / 30 - usize::from(part < 30) * part * 7 % 50;
        std::fs::write(&log, &whole[..cut]).unwrap();
        server.restart();
        let (places, faults) = audit::examine(&mut server.raw(), &server.queue("q"));
        assert!(faults.is_empty(), "{cut} of {} bytes: {faults:?} {places:?}", whole.len());
        assert!(part < 30 || places.contains_key("last"));
        // And it goes on.
        let queue = server.queue("q");
        serve_all(&queue);
        queue.push(&job("new")).unwrap();
        assert!(queue.reserve_job(&id("new")).unwrap().is_some(), "{cut} of {} bytes", whole.len());
        server.kill();
    }
}

/// The append-only file: of Redis 6.2 a file, of newer ones the last in a folder.
fn log_file(dir: &Path) -> PathBuf {
    let Ok(files) = std::fs::read_dir(dir.join("appendonlydir")) else { return dir.join("appendonly.aof") };
    let mut paths = files.map(|file| file.unwrap().path());
    paths.find(|path| path.to_string_lossy().ends_with(".incr.aof")).expect("a log")
}
