//! The list of workers, and the orders that come to them.

use crate::fork::{fork, wait_for};
use crate::support::*;
use crate::worker_loop;
use delayqueue::core::process;
use delayqueue::core::queue::{Queue, QueueConfig};
use delayqueue::core::registry::{Activity, Entry, Filter, LISTED_FOR, Order, Registry, WRITTEN_EVERY, Worker};
use delayqueue::core::worker::listing::Orders;
use std::sync::Arc;
use std::time::Duration;

const ID: &str = "0123456789abcdef";
const KEY: &str = "w:{#workers}:0123456789abcdef";
const INDEX: &str = "w:{#workers}:index";

pub fn entry(queues: &[String]) -> Entry {
    Entry {
        kind: "worker".into(),
        activity: Activity::Idle,
        queues: queues.to_vec(),
        job: None,
        up: Duration::from_secs(60),
    }
}

/// A server of its own: the list is that of a whole prefix.
struct List {
    server: Server,
    queue: Queue,
    registry: Registry,
}

impl List {
    fn new() -> Self {
        let server = Server::start(&[]);
        let queue = Queue::new(QueueConfig { prefix: "w".into(), ..config(server.dsn(), "q") });
        Self { registry: Registry::of(&queue), queue, server }
    }

    fn write(&self, id: &str) -> Option<Vec<Order>> {
        self.registry.write(id, &entry(&["q".into()]), true).unwrap()
    }

    fn tell(&self, order: Order) -> u64 {
        self.registry.tell(order, &Filter::default()).unwrap()
    }

    fn workers(&self) -> Vec<Worker> {
        self.registry.workers(&Filter::default()).unwrap()
    }
}

#[test]
fn a_killed_worker_is_out_of_the_list_within_30_s_and_one_late_writing_keeps_a_live_one_in() {
    assert!(LISTED_FOR <= Duration::from_secs(30));
    assert!(LISTED_FOR > WRITTEN_EVERY * 2);
}

#[test]
fn the_list_shows_what_a_worker_has_written_by_the_clock_of_redis() {
    let list = List::new();
    let running = Some(("q".to_owned(), "order-1".to_owned(), Duration::from_secs(5)));
    let queues = ["q".to_owned(), "other".to_owned()];
    let entry = Entry { activity: Activity::Working, job: running, ..entry(&queues) };
    assert_eq!(list.registry.write(ID, &entry, true).unwrap(), None);
    let mut raw = list.server.raw();
    list.queue.push(&job("now")).unwrap();
    let now_us = list.queue.peek(&id("now")).unwrap().unwrap().due_at_us;
    raw.run(&["PEXPIRE", KEY, "18000"]); // as if it had been written ten seconds ago
    let worker = list.workers().remove(0);
    assert_eq!((worker.host.as_str(), worker.pid), (process::host_and_pid().0, i64::from(std::process::id())));
    assert_eq!((worker.activity, &worker.queues), (Activity::Working, &queues.to_vec()));
    assert!(worker.memory.unwrap() > 1 << 20);
    let near = |at_us: i64, wanted_s: i64| assert!((now_us - at_us - wanted_s * 1_000_000).abs() < 2_000_000);
    near(worker.seen_at_us, 10);
    near(worker.started_at_us, 70);
    let job = worker.job.unwrap();
    near(job.since_us, 15);
    assert_eq!((job.queue.as_str(), job.id.as_str()), ("q", "order-1"));
}

#[test]
fn one_that_leaves_is_off_the_list_at_once_and_one_that_died_with_its_entry() {
    let list = List::new();
    let mut raw = list.server.raw();
    list.write(ID);
    list.write("f000000000000000");
    assert_eq!((list.workers().len(), raw.int(&["ZCARD", INDEX])), (2, 2));
    assert!(raw.int(&["PTTL", KEY]) <= LISTED_FOR.as_millis() as i64);
    list.registry.remove("f000000000000000").unwrap();
    assert_eq!((list.workers().len(), raw.int(&["ZCARD", INDEX])), (1, 1));
    raw.run(&["DEL", KEY]); // its time is over
    assert_eq!((list.workers(), raw.int(&["ZCARD", INDEX])), (Vec::new(), 0));
}

#[test]
fn writers_take_those_off_the_index_that_nobody_looked_for() {
    let list = List::new();
    let mut raw = list.server.raw();
    let (dead, now) = ("d000000000000000", std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap());
    raw.run(&["ZADD", INDEX, &(now.as_secs() - 86_500).to_string(), dead]);
    raw.run(&["ZADD", INDEX, &(now.as_secs() - 86_300).to_string(), "slow"]);
    list.write(ID);
    assert!(matches!(raw.run(&["ZSCORE", INDEX, dead]), redis::Value::Nil));
    assert_eq!(raw.int(&["ZCARD", INDEX]), 2);
}

#[test]
fn orders_of_two_operators_come_once_and_in_their_order() {
    let list = List::new();
    list.write(ID);
    assert_eq!(list.write(ID), Some(Vec::new()));
    assert_eq!((list.tell(Order::Pause), list.tell(Order::Stop), list.tell(Order::Pause)), (1, 1, 1));
    let told = vec![Order::Pause, Order::Stop, Order::Pause];
    assert_eq!(list.workers()[0].orders, told);
    assert_eq!(list.write(ID), Some(told));
    assert_eq!((list.write(ID), list.workers()[0].orders.len()), (Some(Vec::new()), 0));
    assert_eq!(list.write("f000000000000000"), None, "one that starts later is not told");
}

/// Operators and a worker at the same time: each order is heard exactly once.
#[test]
fn no_order_is_lost_between_writers() {
    const ORDERS: usize = 300;
    let list = List::new();
    list.write(ID);
    let mut heard = 0;
    std::thread::scope(|scope| {
        let operators =
            [(); 2].map(|()| scope.spawn(|| (0..ORDERS).for_each(|_| assert_eq!(list.tell(Order::Pause), 1))));
        while !operators.iter().all(|operator| operator.is_finished()) {
            heard += list.write(ID).unwrap().len();
        }
    });
    heard += list.write(ID).unwrap().len();
    assert_eq!(heard, 2 * ORDERS);
}

#[test]
fn an_order_goes_to_those_that_are_meant() {
    let list = List::new();
    list.write(ID);
    let host = process::host_and_pid().0;
    let pid = i64::from(std::process::id());
    let tell = |filter: Filter<'_>| list.registry.tell(Order::Resume, &filter).unwrap();
    assert_eq!(tell(Filter { host: Some(host), ..Filter::default() }), 1);
    assert_eq!(tell(Filter { host: Some(host), pid: Some(pid), queue: Some("q") }), 1);
    assert_eq!(tell(Filter { host: Some("elsewhere"), ..Filter::default() }), 0);
    assert_eq!(tell(Filter { host: Some(host), pid: Some(1), ..Filter::default() }), 0);
    assert_eq!(tell(Filter { queue: Some("other"), ..Filter::default() }), 0);
    assert_eq!(list.workers()[0].orders.len(), 2);
}

#[test]
fn entries_of_others_are_passed_over_and_long_texts_cut() {
    let list = List::new();
    let mut raw = list.server.raw();
    let long = "x".repeat(1000);
    let whole = format!(
        r#"{{"host":"{long}","pid":7,"version":"{long}","state":"idle","queues":["a b","fine",7],"job":{{"id":"{long}","ms":-5}},"memory":"much","up_ms":9e99,"listed_ms":28000,"new":1}}"#
    );
    for (id, value) in [
        ("1", "no json"),
        ("2", "\nstop"),
        ("3", "[]"),
        ("4", r#"{"host":"h","pid":"x","state":"idle","queues":[],"version":"1","up_ms":1,"listed_ms":1}"#),
        ("5", r#"{"host":"h","pid":1,"state":"unheard-of","queues":[],"version":"1","up_ms":1,"listed_ms":1}"#),
        ("6", &whole),
        ("7", &whole.replace("9e99", "9223372036854775807")),
    ] {
        raw.run(&["SET", &format!("w:{{#workers}}:{id}"), &format!("{value}\nabscond\nstop")]);
        raw.run(&["ZADD", INDEX, "9999999999", id]);
    }
    raw.run(&["ZADD", INDEX, "9999999999", &long]);
    let workers = list.workers();
    assert_eq!(workers.len(), 1, "{workers:?}");
    let worker = &workers[0];
    assert_eq!((worker.host.len(), worker.version.len(), worker.job.as_ref().unwrap().id.len()), (64, 32, 200));
    assert_eq!((&worker.queues, worker.memory, &worker.orders), (&vec!["fine".to_owned()], None, &vec![Order::Stop]));
    raw.run(&["DEL", INDEX]);
    raw.run(&["SET", INDEX, "1"]);
    assert!(list.registry.workers(&Filter::default()).unwrap_err().to_string().contains("WRONGTYPE"));
}

#[test]
fn a_loop_is_listed_with_the_job_it_runs_and_hears_orders() {
    let list = List::new();
    let mut feed = worker_loop::feed(&list.queue, 1, true);
    let orders = Arc::<Orders>::default();
    feed.enlist(Arc::clone(&orders), true);
    until("it is listed", || list.workers().len() == 1);
    list.queue.push(&job("a")).unwrap();
    let delivery = worker_loop::next(&mut feed);
    feed.keeper().begins(&delivery.ticket);
    until("it is working", || list.workers()[0].activity == Activity::Working);
    assert_eq!(list.workers()[0].job.as_ref().unwrap().id, "a");
    feed.keeper().has_ended();
    feed.done(&delivery.ticket);
    until("it is idle again", || list.workers()[0].activity == Activity::Idle);
    list.tell(Order::Pause);
    list.tell(Order::Restart);
    // Not twelve seconds: a job that runs for long has the entry written anew.
    feed.keeper().begins(&delivery.ticket);
    until("it hears them", || orders.end() == Some(Order::Restart));
    assert!(orders.is_paused());
    until("and says so", || list.workers()[0].activity == Activity::Stopping);
    let child = fork(|| {
        feed.sign_off();
    });
    assert_eq!((wait_for(child), list.workers().len()), (0, 1), "a child does not speak for its parent");
    feed.sign_off();
    assert_eq!(list.workers(), Vec::new());
}

#[test]
fn a_stop_counts_more_than_a_restart() {
    let orders = Orders::default();
    assert_eq!((orders.end(), orders.is_paused()), (None, false));
    [Order::Stop, Order::Restart, Order::Pause, Order::Resume].into_iter().for_each(|order| orders.take(order));
    assert_eq!((orders.end(), orders.is_paused()), (Some(Order::Stop), false));
}

#[test]
fn a_short_loop_costs_redis_nothing() {
    let list = List::new();
    let mut feed = worker_loop::feed(&list.queue, 1, true);
    feed.enlist(Arc::default(), true);
    feed.sign_off();
    drop(feed);
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(list.server.raw().calls("set"), 0);
}

#[test]
fn an_entry_that_was_flushed_is_back_with_the_next_writing() {
    let list = List::new();
    let mut feed = worker_loop::feed(&list.queue, 1, true);
    feed.enlist(Arc::default(), true);
    until("it is listed", || list.workers().len() == 1);
    list.server.raw().run(&["FLUSHALL"]);
    list.queue.push(&job("a")).unwrap();
    let delivery = worker_loop::next(&mut feed);
    feed.keeper().begins(&delivery.ticket); // writes anew after a second
    until("it is listed again", || list.workers().len() == 1);
}

#[test]
fn an_entry_that_is_not_understood_stays_and_one_that_has_ended_leaves_the_index() {
    let list = List::new();
    list.write(ID);
    list.write("f000000000000000");
    let mut raw = list.server.raw();
    raw.run(&["SET", KEY, r#"{"host": "web1", "state": "of a newer version"}"#]);
    raw.run(&["DEL", &KEY.replace(ID, "f000000000000000")]);
    assert!(list.workers().is_empty());
    let index = KEY.replace(ID, "index");
    assert_eq!(raw.text(&["ZCARD", &index]), "1", "only the one that has ended is off");
    assert!(list.write(ID).is_some());
    assert_eq!(list.workers().len(), 1);
}
