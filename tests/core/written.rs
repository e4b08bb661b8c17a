//! A batch is written while the look is under way, by what Redis' clock is believed to say, and anew if that is wrong.

use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::transaction::{check_stored, connected, server_ms, ways};
use crate::watched::{is_sound, late};
use delayqueue::core::queue::Queue;
use delayqueue::core::server_clock::Moment;
use std::time::Duration;

/// Has the queue's connection believe that Redis' clock is so much ahead of what it says.
pub fn believe(queue: &Queue, raw: &mut Raw, ahead_ms: i64) {
    let mut connection = queue.link().take().unwrap();
    connection.clock.forget();
    let (asked, now) = (Moment::now(), server_ms(raw));
    connection.clock.hear(asked, Moment::now(), (now + ahead_ms) * 1000);
    queue.link().give_back(connection);
}

/// Pushes a batch, the times in which are Redis' own although the connection believes another one.
fn push_misled(queue: &Queue, raw: &mut Raw, prefix: &str, ahead_ms: i64) {
    believe(queue, raw, ahead_ms);
    let (jobs, before, from) = (late(prefix), ways(raw), server_ms(raw));
    queue.push_many(&jobs).unwrap();
    assert_eq!(ways(raw), [before[0], before[1] + 1], "a transaction and no script");
    let to = server_ms(raw) + 2;
    jobs.iter().for_each(|job| check_stored(queue, job, from..=to, 0));
    is_sound(raw, queue);
}

#[test]
fn what_was_written_by_a_wrong_time_is_written_anew() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    for ahead_ms in [-100, 100] {
        push_misled(&queue, &mut raw, &format!("{ahead_ms}."), ahead_ms);
    }
}

#[test]
fn a_look_that_was_lost_bears_out_no_time() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (queue, mut raw) = (proxy.queue("q", Duration::from_secs(5)), server.raw());
    queue.queues().unwrap();
    // So long a trip could have begun at the time that is believed.
    proxy.fail_twice_at(b"HMGET", Fault::DropBefore, Fault::Delay(Duration::from_millis(400)));
    push_misled(&queue, &mut raw, "a", -100);
    assert_eq!(proxy.heal(), 2);
}
