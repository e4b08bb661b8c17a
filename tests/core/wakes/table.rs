//! The transitions that bring a moment forward, by the scripts that make them.

use super::before::*;
use crate::groups::{after, concurrency, group, of, rate};
use crate::new_jobs::{once, replacing};
use crate::support::*;
use delayqueue::core::groups::GroupLimits;
use delayqueue::core::job::{Due, NewJob, Reserved, State};
use delayqueue::core::pool::Connections;
use delayqueue::core::queue::{Fetch, OnceJob, Queue};
use delayqueue::core::scripts;

/// A script; a transition that it makes; the queue before, with the jobs that are held; and the transition.
pub type Turn = (&'static str, &'static str, fn(&Queue) -> Vec<Reserved>, fn(&Queue, &[Reserved]));

pub const TURNS: &[Turn] = &[
    ("push", "a ready job", nothing, |queue, _| {
        queue.push(&job("a")).unwrap();
    }),
    ("push", "a job that is due soon", one_later, |queue, _| {
        queue.push(&delayed("a", 2_000)).unwrap();
    }),
    ("push", "a job whose moment has passed", nothing, |queue, _| {
        queue.push(&NewJob { due: Due::AtUs(1), ..job("a") }).unwrap();
    }),
    ("push", "a job of a group", nothing, |queue, _| {
        queue.push(&of("g", "a")).unwrap();
    }),
    ("push_any", "a job of another priority", nothing, |queue, _| {
        queue.push(&prioritized("a", 5)).unwrap();
    }),
    ("push_any", "a ready job in place of a later one", one_later, |queue, _| {
        queue.push(&replacing(job("later"))).unwrap();
    }),
    ("push_any", "a later job in place of the one that holds up its group", held_up, |queue, _| {
        queue.push(&replacing(after(7_200_000, of("g", "first")))).unwrap();
    }),
    ("push_any", "a job of no group in place of it", held_up, |queue, _| {
        push_many(queue, &[replacing(delayed("first", 7_200_000))]);
    }),
    ("push_any", "try_push() in place of it", held_up, |queue, _| {
        queue.try_push(replacing(after(7_200_000, of("g", "first")))).unwrap();
    }),
    ("push_once", "a ready job", nothing, |queue, _| {
        queue.push_once(&[once("r", job("a"))]).unwrap();
    }),
    ("push_once", "a later job in place of the one that holds up its group", held_up, |queue, _| {
        queue.push_once(&[once("r", replacing(after(7_200_000, of("g", "first"))))]).unwrap();
    }),
    ("push_once", "a buried job in place of it", held_up, |queue, _| {
        let buried = OnceJob { is_buried: true, ..once("r", replacing(of("g", "first"))) };
        queue.push_once(&[buried]).unwrap();
    }),
    ("release", "a held job", one_held, |queue, held| {
        queue.release(&held[0].held(), Due::InMs(2_000), None, true).unwrap();
    }),
    ("release", "a held job of a full group, for later", full_group, |queue, held| {
        queue.release(&held[0].held(), LATER, None, true).unwrap();
    }),
    ("release", "a held job of a full queue, for later", full_queue, |queue, held| {
        queue.release(&held[0].held(), LATER, None, true).unwrap();
    }),
    ("release", "a job that nobody has seen, with its token", spent_queue, |queue, held| {
        queue.give_back(&receipts(held)).unwrap();
    }),
    ("fail", "a held job", one_held, |queue, held| {
        queue.fail(&held[0].held(), None).unwrap();
    }),
    ("fail", "a held job of a full group", full_group, |queue, held| {
        queue.fail(&held[0].held(), None).unwrap();
    }),
    ("ack", "a held job of a full group", full_group, |queue, held| queue.ack(&held[0].held()).unwrap()),
    ("ack", "a held job of a full queue", full_queue, |queue, held| queue.ack(&held[0].held()).unwrap()),
    ("ack", "a given job of a group that waits for its first", first_is_due_soon, |queue, held| {
        queue.ack(&held[0].held()).unwrap();
    }),
    ("bury", "a held job of a full group", full_group, |queue, held| queue.bury(&held[0].held(), None).unwrap()),
    ("bury", "a held job of a full queue", full_queue, |queue, held| queue.bury(&held[0].held(), None).unwrap()),
    ("touch", "a lease that gets shorter", one_held, |queue, held| {
        queue.touch(&held[0].held(), Some(1_000)).unwrap();
    }),
    ("reserve", "an acknowledgement of two groups, with a job of one of them", two_full_groups, |queue, held| {
        let mut fetch = Fetch { max: 1, done: finished(held), ..Fetch::default() };
        queue.reserve_now(&mut Connections::default(), &mut fetch, None).unwrap();
    }),
    ("reserve", "a repeat that takes fewer jobs than the call whose answer was lost", two_lost, |queue, _| {
        run(queue, &scripts::RESERVE, &["me@here:1", "7", "1", "r", "1000000", "", "0", ""]);
    }),
    ("reserve_job", "a lease that ends soon", short_later, |queue, _| {
        queue.reserve_job(&id("later")).unwrap().unwrap();
    }),
    ("reserve_job", "a repeat that takes no job of the call whose answer was lost", two_lost, |queue, _| {
        run(queue, &scripts::RESERVE_JOB, &["me@here:1", "7", "1", "nowhere"]);
    }),
    ("reschedule", "a later job", one_later, |queue, _| {
        assert!(queue.reschedule(&id("later"), Due::InMs(1_000), false).unwrap());
    }),
    ("reschedule", "the job that holds up its group, to a later moment", held_up, |queue, _| {
        assert!(queue.reschedule(&id("first"), Due::InMs(7_200_000), false).unwrap());
    }),
    ("kick", "a buried job", one_buried, |queue, _| assert_eq!(queue.kick(1, true).unwrap(), 1)),
    ("kick_job", "a later job", one_later, |queue, _| assert!(queue.kick_job(&id("later"), true).unwrap())),
    ("cancel", "a held job of a full group", full_group, |queue, _| {
        queue.cancel(&[id("held")]).unwrap();
    }),
    ("cancel", "a held job of a full queue", full_queue, |queue, _| {
        queue.cancel(&[id("held")]).unwrap();
    }),
    ("cancel", "the job that holds up its group", held_up, |queue, _| {
        queue.cancel(&[id("first")]).unwrap();
    }),
    ("cancel_group", "a group that fills the queue", full_queue, |queue, _| {
        queue.push(&job("other")).unwrap();
        queue.cancel_group(&group("g"), true).unwrap();
    }),
    ("purge", "the delayed job that holds up its group", held_up, |queue, _| {
        queue.purge(&[State::Delayed]).unwrap();
    }),
    ("purge", "the held jobs of a full group", full_group, |queue, _| {
        queue.purge(&[State::Reserved]).unwrap();
    }),
    ("pause", "a pause that gets shorter", paused, |queue, _| queue.pause(Some(1_000), None).unwrap()),
    ("pause", "the pause of a group that gets shorter", paused_group, |queue, _| {
        queue.pause(Some(1_000), Some(&group("g"))).unwrap();
    }),
    ("resume", "a queue", paused, |queue, _| queue.resume(None).unwrap()),
    ("resume", "a group", paused_group, |queue, _| queue.resume(Some(&group("g"))).unwrap()),
    ("limit_groups", "a faster rate", spent_group, |queue, _| {
        queue.limit_groups(None, Some(&rate(1, 3_000))).unwrap();
    }),
    ("limit_groups", "a faster rate of one group", spent_group, |queue, _| {
        queue.limit_groups(Some(&group("g")), Some(&rate(1, 3_000))).unwrap();
    }),
    ("limit_groups", "a larger burst", spent_group, |queue, _| {
        queue.limit_groups(None, Some(&GroupLimits { burst: Some(2), ..rate(1, 3_600_000) })).unwrap();
    }),
    ("limit_groups", "no rate", spent_group, |queue, _| queue.limit_groups(None, None).unwrap()),
    ("limit_groups", "a higher concurrency", full_group, |queue, _| {
        queue.limit_groups(None, Some(&concurrency(2))).unwrap();
    }),
    ("limit_groups", "a higher concurrency of one group", full_group, |queue, _| {
        queue.limit_groups(Some(&group("g")), Some(&concurrency(2))).unwrap();
    }),
    ("limit_groups", "no order", held_up, |queue, _| queue.limit_groups(None, Some(&concurrency(1))).unwrap()),
    ("limit_queue", "a faster rate", spent_queue, |queue, _| queue.limit_queue(Some(&rate(1, 3_000))).unwrap()),
    ("limit_queue", "a larger burst", spent_queue, |queue, _| {
        queue.limit_queue(Some(&GroupLimits { burst: Some(2), ..rate(1, 3_600_000) })).unwrap();
    }),
    ("limit_queue", "no rate", spent_queue, |queue, _| queue.limit_queue(None).unwrap()),
    ("limit_queue", "a higher concurrency", full_queue, |queue, _| queue.limit_queue(Some(&concurrency(2))).unwrap()),
    ("repair", "a job whose lease is gone", one_without_lease, |queue, _| {
        queue.doctor(true).unwrap();
    }),
    ("repair", "a job that is not in the book of its group", one_without_entry, |queue, _| {
        queue.doctor(true).unwrap();
    }),
];

/// Scripts that bring no moment forward, and why.
pub const OTHERS: &[(&str, &str)] = &[
    ("forget", "there is no job"),
    ("group_stats", "looks; a lease that it takes back has ended at a moment that waiters know"),
    ("groups", "looks"),
    ("leave", "changes no moment: it hands over the look of a waiter, see below"),
    ("list", "looks, as group_stats"),
    ("list_group", "looks, as group_stats"),
    ("peek", "looks, as group_stats"),
    ("rate_limit", "closes for longer, never for shorter"),
    ("stats", "looks, as group_stats"),
    ("take", "takes a job that holds up its group only behind all that are due before it"),
    ("update", "changes neither time nor priority nor group"),
];
