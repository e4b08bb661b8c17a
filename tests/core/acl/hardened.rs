//! A user that may run scripts and may not send any.

use super::places::Place;
use super::{anew, documented, set_user};
use crate::support::*;
use crate::topology::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::install::install_scripts;
use delayqueue::core::queue::{Queue, QueueConfig};
use delayqueue::core::scripts;
use std::time::Duration;

fn own(dsn: Dsn) -> Queue {
    Queue::new(QueueConfig { persistent: false, ..config(dsn, "q") })
}

/// The error of a user whose scripts are not there.
fn assert_missing(error: &Error) {
    assert!(matches!(error, Error::Server { code, .. } if code == "NOSCRIPT") && error.is_retryable(), "{error:?}");
    for words in ["queue 'q'", "scripts are not installed", "run 'delayqueue install-scripts'"] {
        assert!(error.to_string().contains(words), "'{words}' is missing: {error}");
    }
}

#[test]
fn without_installed_scripts_a_push_says_what_to_do_and_with_them_it_works() {
    for place in [Place::one_server, Place::behind_sentinels, Place::cluster] {
        let mut place = place();
        let line = place.line("dqhardened");
        place.begin(&line);
        let (admin, queue) = (own(place.admin()), own(place.dsn("dqhardened")));
        assert_missing(&queue.push(&job("a")).unwrap_err());
        assert_missing(&queue.push(&prioritized("a", 1)).unwrap_err());
        assert_eq!(admin.count(None).unwrap(), 0);
        let servers = install_scripts(admin.client()).unwrap();
        order(place.raw(), &["CONFIG", "RESETSTAT"]);
        for n in 0..9 {
            queue.sibling(&format!("q{n}")).push(&job("a")).unwrap();
        }
        queue.push_many(&[job("a"), prioritized("b", 1)], &mut Vec::new()).unwrap();
        assert_eq!(place.raw().calls("eval"), 0, "no script was sent");
        assert_eq!(servers, if admin.client().has_slots() { 3 } else { 1 });
        let unharmed = own(place.dsn("dqhardened")).reserve(
            &["q".into()],
            1,
            Some(Duration::ZERO),
            &mut delayqueue::core::queue::NoInterrupts,
        );
        assert!(matches!(unharmed, Err(Error::Server { code, .. }) if code == "NOPERM"));
    }
}

#[test]
fn the_documented_installer_has_exactly_the_rights_it_needs() {
    for place in [Place::one_server, Place::behind_sentinels, Place::cluster] {
        let mut place = place();
        let mut line = place.line("dqinstaller");
        line.retain(|right| right != "+asking"); // no key of a slot is touched
        place.begin(&line);
        install_scripts(own(place.admin()).client()).unwrap();
        let rights: Vec<String> = line.iter().filter(|word| word.starts_with('+')).cloned().collect();
        install_scripts(own(place.dsn("dqinstaller")).client()).unwrap();
        for right in &rights {
            place.begin(&line.iter().filter(|word| *word != right).cloned().collect::<Vec<_>>());
            let error = anew(|| install_scripts(own(place.dsn("dqinstaller")).client()).unwrap_err());
            assert!(
                error.to_string().starts_with("installing scripts") && error.to_string().contains("NOPERM"),
                "{right}: {error}"
            );
        }
        place.begin(&line);
        own(place.dsn("dqinstaller")).push(&job("a")).unwrap_err();
    }
}

/// As Redis does: a replica is not told of scripts, and may be told by hand.
#[test]
fn a_replica_that_takes_over_has_the_scripts_only_if_they_were_installed_there_too() {
    for there_too in [false, true] {
        let master = lone_master();
        let replica = replica_of(&master);
        for node in [&master, &replica] {
            set_user(&mut node.raw(), &documented("dqhardened"));
        }
        let oracle = Oracle::naming(master.port);
        let dsn = format!("redis+sentinel://dqhardened:secret@127.0.0.1:{}/{SERVICE}", oracle.port);
        let queue = own(Dsn::parse(&dsn).unwrap());
        assert_eq!(install_scripts(own(oracle.dsn()).client()).unwrap(), 1);
        queue.push(&job("a")).unwrap();
        let sha = &scripts::PUSH.sha;
        soon("the replica has the job", || replica.raw().int(&["HEXISTS", "dq:{q}:jobs", "a"]) == 1);
        // Redis 6.2 hands SCRIPT LOAD on to its replicas.
        let is_there = is_redis_6();
        let known = replica.raw().run(&["SCRIPT", "EXISTS", sha]);
        assert_eq!(known, redis::Value::Array(vec![redis::Value::Int(is_there.into())]));
        if there_too {
            install_scripts(own(replica.plain_dsn()).client()).unwrap();
        }
        order(&mut replica.raw(), &["REPLICAOF", "NO", "ONE"]);
        oracle.name(replica.port);
        order(&mut master.raw(), &["CONFIG", "SET", "min-replicas-to-write", "1"]); // which has the client look for the new one
        if there_too || is_there {
            queue.push(&job("b")).unwrap();
        } else {
            assert_missing(&queue.push(&job("b")).unwrap_err());
            anew(|| install_scripts(own(oracle.dsn()).client()).unwrap());
            queue.push(&job("b")).unwrap();
        }
        assert_eq!(replica.raw().int(&["HLEN", "dq:{q}:jobs"]), 2);
    }
}
