//! Queues with keys: nothing readable gets into Redis, nothing that was changed there reaches a handler.

use crate::proxy::{Fault, Proxy};
use crate::seal_bytes::keys;
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::{Queue, QueueConfig, SealedContent};
use delayqueue::core::reply;
use std::sync::Arc;
use std::time::Duration;

const SECRET: &str = "4711-very-secret-4711";

fn with_keys(queue: &Queue, ids: &[&str], only_signs: bool) -> Queue {
    Queue::new(QueueConfig { keyring: Some(Arc::new(keys(ids, only_signs))), ..config(shared().dsn(), queue.name()) })
}

/// A fresh queue without keys, and with them.
fn fresh_pair(only_signs: bool) -> (Queue, Queue) {
    let plain = fresh();
    let sealing = with_keys(&plain, &["k1"], only_signs);
    (plain, sealing)
}

fn secret_headers() -> Vec<(String, String)> {
    vec![("tenant".into(), SECRET.into())]
}

fn secret_job(name: &str) -> NewJob {
    let options = JobOptions { headers: secret_headers(), ..JobOptions::default() };
    NewJob { payload: SECRET.into(), options, ..job(name) }
}

fn record(queue: &Queue, name: &str) -> Vec<u8> {
    reply::bytes(shared().raw().run(&["HGET", &key(queue, "jobs"), name])).unwrap()
}

fn store(queue: &Queue, name: &str, record: &[u8]) {
    shared().raw().run_bytes(&[b"HSET", key(queue, "jobs").as_bytes(), name.as_bytes(), record]);
}

/// Where the text stands in the keys of this queue.
fn found_in_redis(queue: &Queue, text: &str) -> Vec<String> {
    let mut raw = shared().raw();
    let mut found = Vec::new();
    let redis::Value::Array(names) = raw.run(&["KEYS", &format!("*{{{}}}*", queue.name())]) else { panic!() };
    assert!(!names.is_empty());
    for name in names.into_iter().filter_map(reply::text) {
        let dump = reply::bytes(raw.run(&["DUMP", &name])).unwrap();
        let commands: &[&[&str]] = match raw.text(&["TYPE", &name]).as_str() {
            "hash" => &[&["HKEYS", &name], &["HVALS", &name]],
            _ => &[&["ZRANGE", &name, "0", "-1"]],
        };
        let values = commands.iter().flat_map(|command| reply::all(raw.run(command)).unwrap());
        let in_parts = values.filter_map(reply::bytes).collect::<Vec<_>>().concat();
        if [dump, in_parts].iter().any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes())) {
            found.push(name);
        }
    }
    found
}

fn buried_reason(queue: &Queue, name: &str) -> String {
    let info = queue.peek(&id(name)).unwrap().unwrap();
    assert_eq!(info.state, State::Buried);
    String::from_utf8(info.last_error.unwrap()).unwrap()
}

#[test]
fn every_way_of_writing_seals_and_every_way_of_reading_opens() {
    for only_signs in [false, true] {
        let (_, queue) = fresh_pair(only_signs);
        queue.push(&secret_job("one")).unwrap();
        push_many(
            &queue,
            &[
                secret_job("two"),
                NewJob {
                    id: Some(id("urgent")),
                    options: JobOptions { priority: 1, ..secret_job("x").options },
                    ..secret_job("x")
                },
            ],
        );
        queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..secret_job("one") }).unwrap();
        queue.push(&job("changed")).unwrap();
        let secret: Vec<_> = secret_headers().into_iter().map(|(name, text)| (name, Some(text))).collect();
        let changes = Changes::new(SECRET.as_bytes(), &secret);
        assert!(queue.update(&id("changed"), changes, None, None).unwrap());
        assert!(queue.update(&id("changed"), Changes { payload: None, ..changes }, None, None).unwrap());
        assert!(queue.update(&id("changed"), Changes::payload(SECRET.as_bytes()), None, None).unwrap());
        for info in queue.list(State::Ready, 0, 10).unwrap() {
            assert_eq!((info.payload, info.options.headers, info.seal_error), (SECRET.into(), secret_headers(), None));
        }
        let held = queue.reserve_job(&id("changed")).unwrap().unwrap();
        queue.update_held(&held.held(), Changes::payload(SECRET.as_bytes())).unwrap();
        queue.update_held(&held.held(), changes).unwrap();
        queue.update_held(&held.held(), Changes::default()).unwrap();
        assert_eq!(found_in_redis(&queue, SECRET).is_empty(), !only_signs);
        queue.release(&held.held(), Due::InMs(0), Some(9), true).unwrap();
        let jobs = reserve_many(&queue, 10);
        assert_eq!(jobs.iter().map(|job| job.id.to_string()).collect::<Vec<_>>(), ["urgent", "changed", "two", "one"]);
        for job in &jobs {
            assert_eq!((&*job.payload, &job.options.headers), (SECRET.as_bytes(), &secret_headers()));
        }
        assert_eq!(found_in_redis(&queue, SECRET).is_empty(), !only_signs);
        ack_all(&queue, &jobs);
    }
}

#[test]
fn the_limit_of_a_payload_is_that_of_the_readable_one() {
    let name = fresh().name().to_owned();
    let keyring = Some(Arc::new(keys(&["k1"], false)));
    let queue = Queue::new(QueueConfig { max_payload: 100, keyring, ..config(shared().dsn(), &name) });
    queue.push(&NewJob { payload: vec![b'x'; 100], ..secret_job("a") }).unwrap();
    assert!(record(&queue, "a").len() > 200);
    let too_large = Err(Error::PayloadTooLarge { size: 101, limit: 100 });
    assert_eq!(queue.push(&NewJob { payload: vec![b'x'; 101], ..secret_job("b") }), too_large);
    assert_eq!(reserve(&queue).unwrap().payload, vec![b'x'; 100]);
}

#[test]
fn a_repeated_push_finds_its_own_bytes() {
    let (server, proxy) = Proxy::with_server();
    let keyring = || Some(Arc::new(keys(&["k1"], false)));
    let read_timeout = Duration::from_secs(5);
    let queue =
        Queue::new(QueueConfig { persistent: false, read_timeout, keyring: keyring(), ..config(proxy.dsn(), "q") });
    let direct = Queue::new(QueueConfig { keyring: keyring(), ..config(server.dsn(), "q") });
    for (n, priority) in [1024, 5].into_iter().enumerate() {
        let [first, second] = ["first", "second"].map(|name| format!("{name} {n}"));
        let with_priority = |name: &str| NewJob { id: Some(id(name)), ..prioritized("x", priority) };
        proxy.fail(Fault::DropReply, 1);
        queue.push(&with_priority(&first)).unwrap();
        proxy.heal();
        proxy.fail(Fault::DropReply, 1);
        push_many(&queue, &[with_priority(&second)]);
        proxy.heal();
    }
    assert_eq!(direct.count(None).unwrap(), 4);
    proxy.fail(Fault::DropReply, 1);
    assert!(queue.update(&id("first 0"), Changes::payload(b"new"), None, None).unwrap());
    proxy.heal();
    assert_eq!(direct.peek(&id("first 0")).unwrap().unwrap().payload, b"new");
}

#[test]
fn a_job_that_cannot_be_opened_is_buried_with_a_reason_and_the_next_one_served() {
    for only_signs in [false, true] {
        let (plain, queue) = fresh_pair(only_signs);
        let others = with_keys(&queue, &["k9"], only_signs);
        let at = |name: &str| format!("job '{name}' of queue '{}' cannot be opened: ", queue.name());
        queue.push(&secret_job("tampered")).unwrap();
        let mut bytes = record(&queue, "tampered");
        *bytes.last_mut().unwrap() ^= 1;
        store(&queue, "tampered", &bytes);
        others.push(&secret_job("unknown key")).unwrap();
        plain.push(&secret_job("plain")).unwrap();
        push_many(&queue, &[secret_job("swapped a"), secret_job("swapped b")]);
        let [a, b] = ["swapped a", "swapped b"].map(|name| record(&queue, name));
        store(&queue, "swapped a", &b);
        store(&queue, "swapped b", &a);
        queue.push(&secret_job("good")).unwrap();

        let jobs = reserve_many(&queue, 3);
        assert_eq!(jobs.iter().map(|job| job.id.to_string()).collect::<Vec<_>>(), ["good"]);
        assert_eq!((jobs[0].attempts, states(&queue)), (1, [0, 0, 1, 5]));
        let forged = "payload, headers, id or queue are not those that were sealed with key 'k1'";
        for name in ["tampered", "swapped a", "swapped b"] {
            assert_eq!(buried_reason(&queue, name), at(name) + forged);
        }
        assert_eq!(buried_reason(&queue, "plain"), at("plain") + "it is not sealed, and this queue object has keys");
        let unknown = "it is sealed with key 'k9', which is not among the keys of this queue object";
        assert_eq!(buried_reason(&queue, "unknown key"), at("unknown key") + unknown);
        assert_eq!(queue.reserve_job(&id("plain")).unwrap(), None, "one job by its id is not delivered either");
        assert_eq!(queue.peek(&id("plain")).unwrap().unwrap().buries, 2);

        queue.release(&jobs[0].held(), Due::InMs(0), None, false).unwrap();
        assert!(reserve(&plain).is_none());
        assert_eq!(
            buried_reason(&plain, "good"),
            at("good") + "it is sealed with key 'k1', and this queue object has no keys"
        );
        // Nothing is lost by it.
        assert!(queue.kick_job(&id("good"), true).unwrap());
        assert_eq!(reserve(&queue).unwrap().payload, SECRET.as_bytes());
        assert!(others.kick_job(&id("unknown key"), true).unwrap());
        assert_eq!(reserve(&others).unwrap().id, id("unknown key"));
    }
}

#[test]
fn a_record_in_another_queue_is_not_opened_there() {
    let (_, queue) = fresh_pair(false);
    let other = queue.sibling(&format!("{}-other", queue.name()));
    queue.push(&secret_job("a")).unwrap();
    other.push(&secret_job("a")).unwrap();
    store(&other, "a", &record(&queue, "a"));
    assert!(reserve(&other).is_none());
    assert!(buried_reason(&other, "a").contains(other.name()));
    assert_eq!(reserve(&queue).unwrap().id, id("a"));
}

#[test]
fn a_damaged_seal_is_a_seal_all_the_same() {
    for member in ["null", "7", "{}", r#"{"key":7}"#, r#"{"alg":"hmac-sha256","key":"k1"}"#] {
        let (plain, queue) = fresh_pair(true);
        for reader in [&plain, &queue] {
            queue.push(&secret_job("a")).unwrap();
            let json = format!(r#"{{"sealed":{member}}}"#);
            let length = u16::try_from(12 + json.len()).unwrap().to_be_bytes();
            let head = &record(&queue, "a")[..7];
            let fixed = [60_000_u32, 10, 1024].map(u32::to_be_bytes).concat();
            store(&queue, "a", &[head, &length, &fixed, json.as_bytes(), SECRET.as_bytes()].concat());
            assert!(reserve(reader).is_none(), "{member}");
            assert_eq!(queue.cancel(&[id("a")]).unwrap(), 1);
        }
    }
}

#[test]
fn one_without_the_keys_sees_what_is_stored_and_why_it_is_not_opened() {
    let (plain, queue) = fresh_pair(false);
    queue.push(&secret_job("a")).unwrap();
    let info = plain.peek(&id("a")).unwrap().unwrap();
    assert!(record(&queue, "a").ends_with(&info.payload));
    assert_eq!((info.options.headers.len(), info.options.seal.unwrap().key), (0, "k1".to_owned()));
    assert_eq!(info.seal_error.unwrap().to_string(), "it is sealed with key 'k1', and this queue object has no keys");
    let info = plain.list(State::Ready, 0, 10).unwrap().remove(0);
    assert!(info.seal_error.is_some());
}

#[test]
fn one_without_the_keys_cannot_break_a_job_by_updating_it() {
    for only_signs in [false, true] {
        let (plain, queue) = fresh_pair(only_signs);
        queue.push(&secret_job("a")).unwrap();
        let before = record(&queue, "a");
        for queue in [&plain, &with_keys(&queue, &["k9"], only_signs)] {
            for changes in [Changes::payload(b"plain"), Changes::new(b"plain", &[("a".into(), None)])] {
                let error = queue.update(&id("a"), changes, None, None).unwrap_err();
                assert!(matches!(error, Error::Seal { .. }), "the headers to keep are unknown: {error}");
            }
        }
        assert_eq!(record(&queue, "a"), before);
    }
}

#[test]
fn the_classic_consumer_takes_what_it_can_open_and_buries_the_rest() {
    for only_signs in [false, true] {
        let (plain, queue) = fresh_pair(only_signs);
        for n in 1..=3_u8 {
            plain.push(&secret_job(&format!("plain {n}"))).unwrap();
            queue.push(&NewJob { payload: vec![n], ..secret_job(&format!("good {n}")) }).unwrap();
        }
        queue.push(&NewJob { payload: vec![4], ..delayed("later", 60_000) }).unwrap();
        assert_eq!(payloads(queue.take(None, 2).unwrap()), [[1], [2]]);
        assert_eq!(payloads(queue.take(Some(i64::MAX / 1_000), 10).unwrap()), [[3], [4]]);
        assert_eq!(states(&queue), [0, 0, 0, 3]);
        assert_eq!(queue.stats().unwrap().acked, 4);
        queue.push(&secret_job("a")).unwrap();
        queue.pause(None, None).unwrap();
        assert_eq!(queue.take(None, 2).unwrap(), []);
        queue.resume(None).unwrap();
        let taken = plain.take(None, 1).unwrap();
        assert!(taken[0].is_sealed, "it is gone, so its bytes come all the same, and with a word");
    }
}

#[test]
fn resealing_moves_a_job_to_the_first_key_and_keeps_all_else() {
    for only_signs in [false, true] {
        let (plain, old) = fresh_pair(only_signs);
        let new = with_keys(&old, &["k2", "k1"], only_signs);
        let only_new = with_keys(&old, &["k2"], only_signs);
        push_many(
            &old,
            &[
                secret_job("ready"),
                NewJob { due: Due::InMs(60_000), ..secret_job("delayed") },
                secret_job("buried"),
                secret_job("held"),
            ],
        );
        plain.push(&secret_job("plain")).unwrap();
        for name in ["ready", "delayed", "buried"] {
            let held = old.reserve_job(&id(name)).unwrap().unwrap();
            match name {
                "buried" => old.bury(&held.held(), Some(b"why")).unwrap(),
                _ => old
                    .release(&held.held(), Due::InMs(if name == "ready" { 0 } else { 60_000 }), Some(77), true)
                    .unwrap(),
            }
        }
        let held = old.reserve_job(&id("held")).unwrap().unwrap();
        for name in ["ready", "delayed", "buried", "plain"] {
            let before = new.peek(&id(name)).unwrap().unwrap();
            assert!(new.reseal(&id(name), true).unwrap(), "{name}");
            let bytes = record(&new, name);
            assert!(!new.reseal(&id(name), true).unwrap(), "{name}");
            assert_eq!(record(&new, name), bytes, "twice changes nothing");
            let mut after = only_new.peek(&id(name)).unwrap().unwrap();
            assert_eq!((after.seal_error.take(), after.payload.as_slice()), (None, SECRET.as_bytes()));
            assert_eq!(after.options.seal.take().unwrap().key, "k2");
            let mut before = before;
            (before.options.seal, before.seal_error) = (None, None);
            (before.fingerprint, after.fingerprint) = (None, None);
            assert_eq!(after, before, "{name}");
        }
        assert!(!new.reseal(&id("held"), true).unwrap());
        assert!(!new.reseal(&id("missing"), true).unwrap());
        assert!(!plain.reseal(&id("ready"), true).unwrap(), "there is no first key");
        old.ack(&held.held()).unwrap();

        plain.push(&secret_job("smuggled in")).unwrap();
        assert!(matches!(new.reseal(&id("smuggled in"), false), Err(Error::Seal { .. })));
        let lost = with_keys(&old, &["k3"], only_signs);
        let error = lost.reseal(&id("ready"), true).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("job 'ready' of queue '{}' cannot be opened", old.name())),
            "{error}"
        );
    }
}

#[test]
fn an_update_between_the_steps_of_another_is_not_undone() {
    for only_signs in [false, true] {
        let (_, queue) = fresh_pair(only_signs);
        let rings = [["k1", "k2"], ["k2", "k1"]].map(|ids| with_keys(&queue, &ids, only_signs));
        queue.push(&job("a")).unwrap();
        // Also dropped when an assertion fails.
        let running = Arc::new(());
        std::thread::scope(|scope| {
            let _until_here = Arc::clone(&running);
            for ring in &rings {
                scope.spawn(|| {
                    while Arc::strong_count(&running) > 1 {
                        let _ = ring.reseal(&id("a"), false);
                    }
                });
            }
            for n in 0..300 {
                let text = n.to_string();
                let headers = [("n".to_owned(), text.clone())];
                let changes = headers.clone().map(|(name, text)| (name, Some(text)));
                let changes = Changes::new(text.as_bytes(), &changes);
                while let Err(error) = rings[0].update(&id("a"), changes, None, None) {
                    assert!(error.to_string().contains("DQBUSY"), "{error}");
                }
                let info = rings[0].peek(&id("a")).unwrap().unwrap();
                assert_eq!((info.payload, info.options.headers), (text.into_bytes(), headers.to_vec()));
            }
        });
    }
}

#[test]
fn a_sealed_job_can_be_moved_by_one_who_has_no_keys() {
    for only_signs in [false, true] {
        let (plain, queue) = fresh_pair(only_signs);
        queue.push(&secret_job("a")).unwrap();
        let seen = plain.peek(&id("a")).unwrap().unwrap();
        plain.cancel(&[id("a")]).unwrap();
        plain.push(&job("a")).unwrap();
        let held = reserve(&plain).unwrap().held();
        let seal = seen.options.seal.as_ref().unwrap();
        plain
            .update_held_to_sealed(
                &held,
                SealedContent { payload: &seen.payload, headers: &seen.options.headers, seal },
            )
            .unwrap();
        plain.release(&held, Due::InMs(0), None, false).unwrap();
        let job = reserve(&queue).unwrap();
        assert_eq!((job.payload, job.options.headers), (SECRET.into(), secret_headers()));
    }
}
