//! A lease slot that Redis may still hold is not used again.

use crate::proxy::Fault;
use crate::support::until;
use crate::worker_loop::{N, Worker, name};
use std::time::Duration;

#[test]
fn a_slot_is_not_used_again_after_its_acknowledgements_were_given_up() {
    let mut worker = Worker::new(Duration::from_millis(800), 1_000, 100);
    let first = worker.get_ahead_and_break(Fault::Blackhole, 1_000);
    worker.feed.done(&first.ticket).unwrap();
    worker.handle(N - 1);
    worker.try_next().unwrap_err();
    until("the leases end", || {
        worker.feed.give_up_ended();
        !worker.feed.take_lost().is_empty()
    });
    worker.proxy.heal();
    worker.try_next().unwrap();
}

#[test]
fn a_slot_is_not_used_again_after_a_job_in_it_could_not_be_given_back() {
    let mut worker = Worker::new(Duration::from_millis(800), 60_000, 100);
    worker.handle(2);
    worker.proxy.fail(Fault::Blackhole, 1_000);
    worker.feed.return_rest().unwrap_err();
    worker.proxy.heal();
    worker.handle(2 * N);
    assert!(!worker.ids.contains(&name(2)), "its lease lasts");
}
