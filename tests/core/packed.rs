//! Payloads are kept shorter than they came, and every operation gives them as they came.

use crate::support::*;
use delayqueue::core::job::{Due, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{Queue, QueueConfig};

const ORDER: &str =
    r#"{"event":"order.close","order":"904411702","items":[{"sku":"A-1","qty":2},{"sku":"B-2","qty":1}],"paid":false}"#;

fn order(name: &str) -> NewJob {
    NewJob { payload: ORDER.into(), ..job(name) }
}

fn stored(queue: &Queue, name: &str) -> Vec<u8> {
    let value = shared().raw().run(&["HGET", &format!("dq:{{{}}}:jobs", queue.name()), name]);
    let redis::Value::BulkString(record) = value else { panic!("no record: {value:?}") };
    record
}

fn with(queue: &Queue, compress: bool) -> Queue {
    Queue::new(QueueConfig { compress, ..config(shared().dsn(), queue.name()) })
}

#[test]
fn every_way_in_packs_and_every_way_out_unpacks() {
    let queue = fresh();
    let options = JobOptions { ttr_ms: 500, ..JobOptions::default() };
    queue.push(&order("now")).unwrap();
    queue.push(&NewJob { due: Due::InMs(3_600_000), ..order("late") }).unwrap();
    queue.push(&NewJob { options, ..order("options") }).unwrap();
    queue.push(&NewJob { options: priority_options(7), ..order("ranked") }).unwrap();
    queue.push_many(&[order("many"), NewJob { due: Due::InMs(5000), ..order("later") }]).unwrap();
    queue.push(&job("replaced")).unwrap();
    queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..order("replaced") }).unwrap();
    queue.push(&job("updated")).unwrap();
    assert!(queue.update(&id("updated"), ORDER.as_bytes()).unwrap());
    let names = ["now", "late", "options", "ranked", "many", "later", "replaced", "updated"];
    for name in names {
        let record = stored(&queue, name);
        let options = if ["options", "ranked"].contains(&name) { 60 } else { 0 };
        assert!(record.len() < 10 + ORDER.len() * 4 / 5 + options, "{name}: {} bytes", record.len());
        assert!(!String::from_utf8_lossy(&record).contains(r#"":""#), "{name}");
        assert_eq!(queue.peek(&id(name)).unwrap().unwrap().payload, ORDER.as_bytes(), "{name}");
    }
    assert_eq!(queue.peek_state(State::Delayed).unwrap().unwrap().payload, ORDER.as_bytes());
    assert!(queue.list(State::Ready, 0, 10).unwrap().iter().all(|info| info.payload == ORDER.as_bytes()));
    assert_eq!(queue.reserve_job(&id("late")).unwrap().unwrap().payload, ORDER.as_bytes());
    assert_eq!(queue.take(None, 1).unwrap(), [ORDER.as_bytes()]);
    let reserved = reserve_many(&queue, 10);
    assert_eq!(reserved.len(), 5);
    assert!(reserved.iter().all(|job| job.payload == ORDER.as_bytes()));
}

#[test]
fn queues_that_pack_and_queues_that_do_not_read_each_other() {
    let queue = fresh();
    let plain = with(&queue, false);
    plain.push(&order("plain")).unwrap();
    queue.push(&order("packed")).unwrap();
    let inner = &ORDER.as_bytes()[2..ORDER.len() - 1];
    assert!(stored(&queue, "plain").ends_with(inner));
    assert!(stored(&queue, "packed").len() < stored(&queue, "plain").len());
    for reader in [&queue, &plain] {
        for name in ["plain", "packed"] {
            assert_eq!(reader.peek(&id(name)).unwrap().unwrap().payload, ORDER.as_bytes());
        }
    }
    assert!(plain.update(&id("packed"), ORDER.as_bytes()).unwrap());
    assert!(stored(&queue, "packed").ends_with(inner));
}

/// With three bytes before it and one behind it in memory, this fits into 224, a step of the allocator; the next is 256.
#[test]
fn an_order_of_213_bytes_takes_220_until_it_falls_due() {
    let order = r#"{"event":"order.close","order_id":"ord-000000000001","user_id":100001,"amount":"129.90","currency":"CNY","items":[{"sku":"SKU-88412","qty":2},{"sku":"SKU-10233","qty":1}],"create_time":1700000000,"shop":"shop-17"}"#;
    assert_eq!(order.len(), 213);
    let queue = with(&fresh(), false);
    let new = |name: &str, ms| NewJob { payload: order.into(), ..delayed(name, ms) };
    queue.push(&new("now", 0)).unwrap();
    queue.push(&new("soon", 900_000)).unwrap();
    queue.push_many(&[new("many", 3_600_000), new("more", 1)]).unwrap();
    queue.push_many(&(0..20).map(|n| new(&format!("made{n}"), 16_000_000)).collect::<Vec<_>>()).unwrap();
    for name in ["now", "soon", "many", "more", "made0", "made19"] {
        assert!(stored(&queue, name).len() <= 220, "{name}: {} bytes", stored(&queue, name).len());
        assert_eq!(queue.peek(&id(name)).unwrap().unwrap().payload, order.as_bytes());
    }
    assert!(queue.update(&id("soon"), order.as_bytes()).unwrap());
    assert!(queue.reschedule(&id("soon"), Due::InMs(1_000_000)).unwrap());
    assert!(stored(&queue, "soon").len() <= 220);
}

#[test]
fn a_payload_that_looks_packed_is_what_it_was() {
    let queue = fresh();
    for compress in [true, false] {
        for payload in [&b"\x02\x03"[..], b"\x01", b"\x02\x00", b"\x03", b"\x04a", b"{\"}", b"{\"\"}", b""] {
            let queue = with(&queue, compress);
            queue.push(&NewJob { payload: payload.into(), ..job("a") }).unwrap();
            let held = reserve(&queue).unwrap();
            assert_eq!(held.payload, payload);
            queue.ack(&held.held()).unwrap();
        }
    }
}

#[test]
fn a_damaged_one_is_set_aside() {
    let queue = fresh();
    queue.push(&order("a")).unwrap();
    let mut record = stored(&queue, "a");
    record.push(0);
    let key = format!("dq:{{{}}}:jobs", queue.name());
    shared().raw().run_bytes(&[b"HSET", key.as_bytes(), b"a", &record]);
    assert_eq!(reserve(&queue), None);
    let buried = queue.peek_state(State::Buried).unwrap().unwrap();
    assert_eq!((buried.last_error.as_deref(), buried.payload), (Some(&b"corrupt record"[..]), record));
}
