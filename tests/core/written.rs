//! A batch is written while the look is under way, by what Redis' clock is believed to say, and anew if that is wrong.

use crate::proxy::{Fault, Proxy};
use crate::support::*;
use crate::transaction::{check_stored, connected, server_ms, server_us, ways};
use crate::watched::{COUNT, is_sound, late};
use delayqueue::core::job::NewJob;
use delayqueue::core::queue::Queue;
use delayqueue::core::server_clock::Moment;
use std::thread;
use std::time::Duration;

/// Has the queue's connection believe that Redis' clock is so much ahead of what it says.
pub fn believe(queue: &Queue, raw: &mut Raw, ahead_ms: i64) {
    let mut connection = queue.link().take().unwrap();
    connection.clock.forget();
    let (asked, now) = (Moment::now(), server_ms(raw));
    connection.clock.hear(asked, Moment::now(), (now + ahead_ms) * 1000);
    queue.link().give_back(connection);
}

/// Pushes a batch, the times in which are Redis' own although the connection believes another one. Whether it took a script.
fn push_misled(queue: &Queue, raw: &mut Raw, jobs: &[NewJob], ahead_ms: i64) -> bool {
    believe(queue, raw, ahead_ms);
    let (before, from) = (ways(raw), server_ms(raw));
    queue.push_many(jobs).unwrap();
    let (after, to) = (ways(raw), server_ms(raw) + 2);
    assert_eq!(after[1], before[1] + 1, "a transaction, even if it was given up");
    jobs.iter().for_each(|job| check_stored(queue, job, from..=to, 1));
    is_sound(raw, queue);
    after[0] > before[0]
}

#[test]
fn what_was_written_by_a_wrong_time_is_written_anew() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    for ahead_ms in [-100_000, 100_000] {
        let soon: Vec<NewJob> = (0..COUNT).map(|n| delayed(&format!("{ahead_ms}.{n}"), 1500)).collect();
        assert!(!push_misled(&queue, &mut raw, &soon, ahead_ms));
    }
}

#[test]
fn what_was_sent_with_a_wrong_time_is_given_up_and_made_by_the_script() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    for ahead_ms in [-100_000, 100_000] {
        assert!(push_misled(&queue, &mut raw, &late(&format!("{ahead_ms}.")), ahead_ms));
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
    assert!(!push_misled(&queue, &mut raw, &late("a"), -100));
    assert_eq!(proxy.heal(), 2);
}

#[test]
fn what_was_written_by_the_right_time_is_sent_as_it_is() {
    let server = Server::start(&[]);
    let proxy = Proxy::before(&server);
    let (queue, mut raw) = (proxy.queue("q", Duration::from_secs(5)), server.raw());
    queue.push(&delayed("first", 5000)).unwrap();
    queue.push(&delayed("second", 5000)).unwrap(); // it is known what time it is
    // On a busy machine a look may take so long that it bears out nothing.
    let is_as_written = (0..20).any(|round| {
        proxy.fail_at(b"TIME", Fault::Delay(Duration::from_millis(100)));
        let mut connection = queue.link().take().unwrap();
        connection.looks = Default::default(); // though it takes so long
        queue.link().give_back(connection);
        let (jobs, before, from) = (late(&format!("{round}.")), ways(&mut raw), server_ms(&mut raw));
        queue.push_many(&jobs).unwrap();
        assert_eq!(ways(&mut raw), [before[0], before[1] + 1]);
        let pushed = queue.peek(jobs[0].id.as_ref().unwrap()).unwrap().unwrap().created_at_ms;
        pushed < from + 50 // before the look was there
    });
    assert!(is_as_written);
    is_sound(&mut raw, &queue);
}

#[test]
fn a_batch_comes_after_what_was_pushed_before_it_though_an_answer_has_lain_unread() {
    let server = Server::start(&[]);
    let (queue, mut raw) = (connected(&server, "q"), server.raw());
    let mut connection = queue.link().take().unwrap();
    connection.clock.forget();
    let (asked, now_us) = (Moment::now(), server_us(&mut raw));
    thread::sleep(Duration::from_millis(12));
    connection.clock.hear(asked, Moment::now(), now_us);
    queue.link().give_back(connection);
    queue.push(&job("x")).unwrap();
    queue.push_many(&(0..COUNT).map(|n| job(&format!("b{n}"))).collect::<Vec<_>>()).unwrap();
    assert_eq!(serve_all(&queue).iter().position(|id| id == "x"), Some(0));
}

#[test]
fn a_look_that_cannot_be_sent_is_repeated_while_redis_restarts() {
    let mut server = Server::start(&[]);
    let queue = connected(&server, "q");
    queue.push_many(&late("a")).unwrap();
    server.kill();
    let restarted = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        server.restart();
        server
    });
    assert_eq!(queue.push_many(&late("b")).map(|ids| ids.len()), Ok(COUNT));
    drop(restarted.join().unwrap());
}
