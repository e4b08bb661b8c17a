//! A repeat must respect the work of other clients between the two tries. The tests call the scripts one by one.

use crate::audit;
use crate::support::*;
use delayqueue::core::job::{Due, NewJob, OnDuplicate};
use delayqueue::core::keys::Keys;
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::Queue;
use delayqueue::core::reply;
use delayqueue::core::scripts::{self, Script};

pub struct Scripts {
    pub raw: Raw,
    pub keys: Keys,
}

impl Scripts {
    pub fn of(queue: &Queue) -> Self {
        Self { raw: shared().raw(), keys: Keys::new("dq", queue.name(), 0) }
    }

    pub fn run(&mut self, script: &Script, keys: &[&[u8]], args: &[&[u8]]) -> redis::Value {
        let count = keys.len().to_string();
        let mut command = vec![b"EVAL".as_slice(), script.source.as_bytes(), count.as_bytes(), b"0"];
        command.splice(3..3, keys.iter().copied());
        command.extend(args);
        self.raw.run_bytes(&command)
    }

    /// The jobs that a consumer's first call gives. Each of them takes four values.
    fn reserve(&mut self, consumer: &str, is_repeat: bool) -> usize {
        let keys = self.keys.clone();
        let marks = if is_repeat { b"r".as_slice() } else { b"" };
        let args: [&[u8]; 8] = [consumer.as_bytes(), b"1", b"10", marks, b"1000000", b"", b"0", b""];
        match self.run(&scripts::RESERVE, &keys.all(), &args) {
            redis::Value::Array(values) => values.len().saturating_sub(3) / 4,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_repeated_reserve_takes_nothing_from_another_consumer() {
    let queue = fresh();
    let mut scripts = Scripts::of(&queue);
    push_many(&queue, &[job("a"), job("b")]);
    assert_eq!(scripts.reserve("first", false), 2);
    queue.cancel(&[id("a")]).unwrap();
    queue.push(&job("a")).unwrap();
    let held = reserve(&queue).unwrap();
    assert_eq!(scripts.reserve("first", true), 1, "b, which it has leased itself");
    queue.ack(&held.held()).unwrap();
}

#[test]
fn what_the_job_of_a_lost_reserve_was_asked_for_is_over() {
    let queue = fresh();
    let mut scripts = Scripts::of(&queue);
    queue.push(&job("a")).unwrap();
    let digest = || queue.peek(&id("a")).unwrap().unwrap().fingerprint.unwrap().digest;
    let before = digest();
    assert_eq!(scripts.reserve("first", false), 1);
    assert!(queue.reschedule(&id("a"), Due::InMs(60_000), true).unwrap());
    assert_ne!(digest(), before);
    assert_eq!(scripts.reserve("first", true), 1, "nobody had it: it is given back, and leased anew");
    assert_eq!(digest(), before);
}

/// Its answer was lost, and the consumer asks for other jobs then.
#[test]
fn a_buried_job_that_was_reserved_by_a_lost_call_is_buried_again() {
    let queue = fresh();
    let mut scripts = Scripts::of(&queue);
    queue.push(&job("a")).unwrap();
    queue.bury(&reserve(&queue).unwrap().held(), Some(b"why")).unwrap();
    let before = queue.peek(&id("a")).unwrap().unwrap();
    let keys = scripts.keys.clone();
    scripts.run(&scripts::RESERVE_JOB, &keys.all(), &[b"first", b"1", b"0", b"a"]);
    assert_eq!(states(&queue), [0, 0, 1, 0]);
    assert_eq!(queue.peek(&id("a")).unwrap().unwrap().due_at_us, before.due_at_us);
    assert_eq!(scripts.reserve("first", true), 0, "nobody has kicked it");
    assert_eq!(queue.peek(&id("a")).unwrap().unwrap(), before);
    let held = queue.reserve_job(&id("a")).unwrap().unwrap();
    assert_eq!(held.due_at_us, before.due_at_us);
    queue.release(&held.held(), Due::InMs(0), None, false).unwrap();
    assert!(reserve(&queue).is_some(), "who releases it wants it served");
}

#[test]
fn a_repeated_replacement_does_not_put_off_what_was_released_since() {
    let queue = fresh();
    let mut scripts = Scripts::of(&queue);
    queue.push(&prioritized("a", 5)).unwrap();
    let key = key(&queue, "jobs");
    let record = reply::bytes(scripts.raw.run(&["HGET", &key, "a"])).unwrap();
    let held = reserve(&queue).unwrap();
    queue.release(&held.held(), Due::InMs(0), None, true).unwrap();
    let keys = scripts.keys.clone();
    let args: [&[u8]; 8] = [b"1", b"", b"a", &record, b"60000000", b"replace", b"5", b""];
    assert_eq!(reply::Reply::new(scripts.run(&scripts::PUSH_ANY, &keys.all(), &args)).unwrap().word, "OK");
    let again = reserve(&queue).expect("it is ready");
    assert_eq!(again.attempts, 2);
    let replacing = NewJob { on_duplicate: OnDuplicate::Replace, ..prioritized("a", 5) };
    queue.push(&replacing).unwrap_err();
}

/// Nobody has served it: it is placed again, and has no past any more.
#[test]
fn a_repeated_replacement_of_a_job_that_was_moved_leaves_no_past_behind() {
    let queue = fresh();
    let mut scripts = Scripts::of(&queue);
    queue.push(&prioritized("a", 5)).unwrap();
    let record = reply::bytes(scripts.raw.run(&["HGET", &key(&queue, "jobs"), "a"])).unwrap();
    queue.reschedule(&id("a"), Due::AtUs(1_000), false).unwrap();
    let keys = scripts.keys.clone();
    let args: [&[u8]; 8] = [b"1", b"", b"a", &record, b"60000000", b"replace", b"5", b""];
    assert_eq!(reply::Reply::new(scripts.run(&scripts::PUSH_ANY, &keys.all(), &args)).unwrap().word, "OK");
    assert_eq!(states(&queue), [1, 0, 0, 0]);
    audit::places(&mut scripts.raw, &queue);
}

#[test]
fn an_update_of_a_job_that_others_have_changed_since_changes_nothing() {
    let queue = fresh();
    let mut scripts = Scripts::of(&queue);
    queue.push(&job("a")).unwrap();
    queue.update(&id("a"), Changes::new(b"first", &[("trace".into(), Some("1".into()))]), None, None).unwrap();
    let keys = scripts.keys.clone();
    let args: [&[u8]; 7] = [b"a", b"", b"no digest", b"", b"", b"", b"second"];
    let answer = reply::Reply::new(scripts.run(&scripts::UPDATE, &keys.all(), &args)).unwrap();
    assert_eq!(answer.word, "CHANGED");
    let info = queue.peek(&id("a")).unwrap().unwrap();
    assert_eq!((info.payload, info.options.headers.len()), (b"first".to_vec(), 1));
}
