//! What the client makes of a batch before it sends it to the script is what the script would have made.

use crate::audit;
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::transaction::{self, check_stored, push_after_jumps, server_ms, ways};
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, JobOptions, NewJob};
use delayqueue::core::queue::Queue;
use std::time::Duration;

/// A queue whose connection sends batches made, over which nobody looks first.
fn connected(server: &Server, name: &str) -> Queue {
    let queue = transaction::connected(server, name);
    have_batches_made(&queue);
    queue
}

/// However long batches took before.
pub fn have_batches_made(queue: &Queue) {
    let mut connection = queue.link().take().unwrap();
    connection.looks.deny();
    connection.makes = Default::default();
    queue.link().give_back(connection);
}

/// A batch with all that the client can make.
pub fn batch(prefix: &str, at: i64) -> Vec<NewJob> {
    let options = JobOptions { ttr_ms: 500, ..JobOptions::default() };
    let mut jobs: Vec<NewJob> = (0..16).map(|n| job(&format!("{prefix}{n:02}"))).collect();
    for (n, job) in jobs.iter_mut().enumerate() {
        job.due = [Due::InMs(0), Due::InMs(1), Due::InMs(900_000), Due::AtMs(at), Due::AtMs(5)][n % 5];
        if n % 3 == 0 {
            job.options = options.clone();
        }
    }
    jobs
}

#[test]
fn a_batch_that_is_made_before_it_is_sent_is_what_the_script_would_make() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let at = server_ms(&mut raw) + 600_000;
    let mut made = 0;
    for round in 0..20 {
        let jobs = batch(&format!("r{round:02}."), at);
        have_batches_made(&queue);
        let (from, commands) = (server_ms(&mut raw), raw.calls("hset") + raw.calls("zcard"));
        queue.push_many(&jobs).unwrap();
        let to = server_ms(&mut raw) + 2;
        made += u64::from(raw.calls("hset") + raw.calls("zcard") == commands + 2); // the script would make it three
        jobs.iter().for_each(|job| check_stored(&queue, job, from..=to, 1));
        if round == 0 {
            queue.push(&NewJob { due: Due::AtMs(at), ..job("r00.99") }).unwrap(); // later than the batch, due with it
        }
    }
    assert!(made > 0, "some were made by the client");
    let (_, faults) = audit::examine(&mut raw, &queue);
    assert!(faults.is_empty(), "{faults:?}");
    travel(800_000);
    let served: Vec<String> = reserve_many(&queue, 500).iter().map(|job| job.id.to_string()).collect();
    let is_due_then =
        |id: &&String| id.ends_with("99") || id.split('.').nth(1).unwrap().parse::<u32>().unwrap() % 5 == 3;
    let due_then: Vec<&String> = served.iter().filter(is_due_then).collect();
    assert_eq!(due_then.len(), 61);
    assert!(due_then.is_sorted(), "in the order of pushes: {due_then:?}");
}

#[test]
fn a_batch_that_is_made_is_refused_as_a_whole() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    queue.push(&delayed("b07", 9000)).unwrap();
    for _ in 0..20 {
        let before = raw.text(&["DEBUG", "DIGEST"]);
        let found = queue.push_many(&batch("b", 5));
        assert!(matches!(&found, Err(Error::Duplicate { id, .. }) if id == "b07"), "{found:?}");
        assert_eq!(raw.text(&["DEBUG", "DIGEST"]), before);
    }
}

#[test]
fn a_batch_that_is_made_by_a_wrong_clock_is_made_by_the_script() {
    push_after_jumps(2, |number, queue, raw| {
        let jobs: Vec<NewJob> = (0..16).map(|n| delayed(&format!("{number}.{n}"), 2_000_000)).collect();
        have_batches_made(queue);
        let before = ways(raw)[0];
        let ids = queue.push_many(&jobs).unwrap();
        assert_eq!(ways(raw)[0], before + 2, "refused, and made by the script");
        ids
    });
}

#[test]
fn a_question_for_the_time_that_is_not_answered_has_changed_nothing() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let queue = proxy.queue("q", Duration::from_millis(300));
    queue.queues().unwrap();
    have_batches_made(&queue);
    proxy.fail_at(b"TIME", Fault::Blackhole);
    let found = queue.push_many(&batch("a", 5));
    assert!(matches!(found, Err(Error::Connection { ambiguous: false, .. })), "{found:?}");
    assert_eq!((proxy.heal(), server.queue("q").count(None)), (1, Ok(0)));
}
