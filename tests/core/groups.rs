//! Groups: turns, order, limits and pauses, each on its own. The walk of `model` mixes them.

use crate::audit;
use crate::support::*;
use delayqueue::core::groups::{Group, GroupLimits, Rate};
use delayqueue::core::job::{Due, Extras, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::{Queue, Settled};
use delayqueue::core::traits::Traits;

pub fn group(name: &str) -> Group {
    Group::new(name).unwrap()
}

/// A job of a group.
pub fn of(name: &str, id_text: &str) -> NewJob {
    of_priority(name, id_text, 1024)
}

pub fn of_priority(name: &str, id_text: &str, priority: u32) -> NewJob {
    let traits = Traits::default().group(&group(name)).before(b"");
    let extras = Extras { traits, ..Extras::default() };
    NewJob { options: JobOptions { priority, extras, ..JobOptions::default() }, ..job(id_text) }
}

pub fn after(ms: u64, job: NewJob) -> NewJob {
    NewJob { due: Due::InMs(ms), ..job }
}

pub fn concurrency(most: u32) -> GroupLimits {
    GroupLimits { concurrency: Some(most), ..GroupLimits::default() }
}

pub fn rate(starts: u32, per_ms: u64) -> GroupLimits {
    GroupLimits { rate: Some(Rate { starts, per_us: per_ms * 1000 }), ..GroupLimits::default() }
}

pub fn ordered() -> GroupLimits {
    GroupLimits { ordered: true, ..GroupLimits::default() }
}

/// The ids that one reserve gives.
pub fn ids(queue: &Queue, max: usize) -> Vec<String> {
    reserve_many(queue, max).iter().map(|job| job.id.to_string()).collect()
}

pub fn is_sound(queue: &Queue) {
    let (_, faults) = audit::examine(&mut shared().raw(), queue);
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn groups_take_turns_whatever_one_of_them_has() {
    let queue = fresh();
    push_many(&queue, &["a1", "a2", "a3", "a4"].map(|id| of("a", id)));
    push_many(&queue, &[of("b", "b1"), of("b", "b2"), job("plain"), of("c", "c1")]);
    is_sound(&queue);
    assert_eq!(serve_all(&queue), ["a1", "b1", "plain", "c1", "a2", "b2", "a3", "a4"]);
    is_sound(&queue);
    push_many(&queue, &["a1", "a2", "a3", "a4"].map(|id| of("a", id)));
    push_many(&queue, &[of("b", "b1"), of("b", "b2"), job("plain"), of("c", "c1")]);
    assert_eq!(ids(&queue, 6), ["a1", "b1", "plain", "c1", "a2", "b2"], "in a batch as well");
    is_sound(&queue);
    assert_eq!(ids(&queue, 6), ["a3", "a4"]);
}

#[test]
fn the_first_job_of_a_tenant_is_the_second_served_behind_twenty_thousand() {
    let queue = fresh();
    for chunk in 0..40 {
        push_many(&queue, &(0..500).map(|n| of("noisy", &format!("n{chunk:03}-{n:03}"))).collect::<Vec<_>>());
    }
    queue.push(&of("quiet", "first")).unwrap();
    assert_eq!(served_few(&queue, 2), ["n000-000", "first"]);
    assert_eq!(queue.cancel_group(&group("noisy"), true).unwrap(), 19_999);
    assert_eq!(states(&queue), [0, 0, 0, 0]);
}

fn served_few(queue: &Queue, many: usize) -> Vec<String> {
    (0..many)
        .filter_map(|_| reserve(queue))
        .inspect(|job| queue.ack(&job.held()).unwrap())
        .map(|job| job.id.to_string())
        .collect()
}

#[test]
fn priority_orders_the_jobs_of_a_group_and_never_the_groups() {
    let queue = fresh();
    push_many(&queue, &[of("a", "a1"), of_priority("b", "b-low", 2000), of_priority("b", "b-high", 1)]);
    push_many(&queue, &[prioritized("urgent", 1), prioritized("late", 5000), of_priority("a", "a-high", 0)]);
    assert_eq!(serve_all(&queue), ["urgent", "a-high", "b-high", "a1", "b-low", "late"]);
    is_sound(&queue);
}

#[test]
fn a_group_is_never_served_early_and_its_due_jobs_are_found_behind_others() {
    let queue = fresh();
    push_many(
        &queue,
        &[after(60_000, of_priority("a", "later", 1)), after(30_000, of("a", "soon")), of_priority("a", "now", 3000)],
    );
    assert_eq!(serve_all(&queue), ["now"]);
    travel(30_000);
    assert_eq!(serve_all(&queue), ["soon"]);
    travel(60_000);
    assert_eq!(serve_all(&queue), ["later"]);
    is_sound(&queue);
}

#[test]
fn a_weight_is_that_many_jobs_a_turn() {
    let queue = fresh();
    queue.limit_groups(Some(&group("a")), Some(&GroupLimits { weight: 3, ..GroupLimits::default() })).unwrap();
    push_many(&queue, &["a1", "a2", "a3", "a4"].map(|id| of("a", id)));
    push_many(&queue, &[of("b", "b1"), of("b", "b2")]);
    assert_eq!(serve_all(&queue), ["a1", "a2", "a3", "b1", "a4", "b2"]);
    is_sound(&queue);
    assert_eq!(shared().raw().int(&["HLEN", &key(&queue, "limits")]), 1, "nothing is left of the turn");
}

#[test]
fn concurrency_counts_what_is_held_and_each_end_lets_the_next_in() {
    let queue = fresh();
    queue.limit_groups(None, Some(&concurrency(2))).unwrap();
    push_many(&queue, &["a1", "a2", "a3", "a4", "a5", "a6"].map(|id| of("a", id)));
    push_many(&queue, &["b1"].map(|id| of("b", id)));
    let held = reserve_many(&queue, 10);
    assert_eq!(held.iter().map(|job| job.id.to_string()).collect::<Vec<_>>(), ["a1", "b1", "a2"]);
    is_sound(&queue);
    assert!(ids(&queue, 10).is_empty());
    queue.ack(&held[0].held()).unwrap();
    assert_eq!(ids(&queue, 10), ["a3"]);
    queue.fail(&held[2].held(), None).unwrap();
    assert_eq!(ids(&queue, 10), ["a4"], "one that waits for its retry lets others pass");
    assert_eq!(queue.cancel(&[id("a3")]).unwrap(), 1);
    assert_eq!(ids(&queue, 10), ["a5"]);
    is_sound(&queue);
    queue.limit_groups(None, None).unwrap();
    assert_eq!(ids(&queue, 10), ["a6"], "without limits all are in line again");
    is_sound(&queue);
}

#[test]
fn an_ordered_group_waits_for_a_retry_and_serves_it_first() {
    let queue = fresh();
    queue.limit_groups(Some(&group("o")), Some(&ordered())).unwrap();
    push_many(&queue, &["o1", "o2", "o3"].map(|id| of("o", id)));
    let first = reserve(&queue).unwrap();
    assert!(reserve(&queue).is_none());
    queue.release(&first.held(), Due::InMs(30_000), None, true).unwrap();
    assert!(reserve(&queue).is_none(), "the group waits");
    is_sound(&queue);
    let info = queue.peek(&first.id).unwrap().unwrap();
    assert_eq!(info.state, State::Delayed, "and the job says until when");
    queue.push(&of_priority("o", "urgent", 0)).unwrap();
    travel(30_000);
    assert_eq!(serve_all(&queue), ["o1", "urgent", "o2", "o3"]);
    is_sound(&queue);
}

#[test]
fn whatever_ends_the_wait_of_an_ordered_group_opens_it() {
    type Act = (&'static str, fn(&Queue));
    let acts: [Act; 6] = [
        ("cancel", |queue| assert_eq!(queue.cancel(&[id("o1")]), Ok(1))),
        ("kick", |queue| assert_eq!(queue.kick_job(&id("o1"), false), Ok(true))),
        ("reschedule", |queue| assert_eq!(queue.reschedule(&id("o1"), Due::InMs(60_000), false), Ok(true))),
        ("replace", |queue| {
            queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..after(60_000, of("o", "o1")) }).unwrap();
        }),
        ("replace by one of another group", |queue| {
            queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, ..after(60_000, of("p", "o1")) }).unwrap();
        }),
        ("bury", |queue| queue.bury(&queue.reserve_job(&id("o1")).unwrap().unwrap().held(), None).unwrap()),
    ];
    for (name, act) in acts {
        let queue = fresh();
        queue.limit_groups(Some(&group("o")), Some(&ordered())).unwrap();
        push_many(&queue, &["o1", "o2"].map(|id| of("o", id)));
        queue.release(&reserve(&queue).unwrap().held(), Due::InMs(30_000), None, true).unwrap();
        assert!(reserve(&queue).is_none());
        act(&queue);
        is_sound(&queue);
        let next = if name == "kick" { vec!["o1", "o2"] } else { vec!["o2"] };
        assert_eq!(serve_all(&queue), next, "{name}");
        is_sound(&queue);
    }
}

#[test]
fn a_closing_by_rate_limit_outlives_the_retry_of_an_ordered_group() {
    let queue = fresh();
    let name = group("o");
    queue.limit_groups(Some(&name), Some(&ordered())).unwrap();
    push_many(&queue, &["o1", "o2"].map(|id| of("o", id)));
    queue.release(&reserve(&queue).unwrap().held(), Due::InMs(30_000), None, true).unwrap();
    queue.rate_limit(60_000, Some(&name)).unwrap();
    queue.rate_limit(1_000, Some(&name)).unwrap();
    queue.cancel(&[id("o1")]).unwrap();
    travel(59_000);
    assert!(reserve(&queue).is_none(), "it never gets shorter");
    travel(60_000);
    assert_eq!(serve_all(&queue), ["o2"]);
}

#[test]
fn an_expired_lease_keeps_the_place_in_an_ordered_group() {
    let queue = fresh();
    queue.limit_groups(Some(&group("o")), Some(&ordered())).unwrap();
    push_many(&queue, &["o1", "o2"].map(|id| of("o", id)));
    reserve(&queue).unwrap();
    travel(61_000);
    assert_eq!(serve_all(&queue), ["o1", "o2"]);
    is_sound(&queue);
}

#[test]
fn a_rate_is_kept_across_batches_and_its_tokens_come_back_one_by_one() {
    let queue = fresh();
    queue.limit_groups(Some(&group("r")), Some(&GroupLimits { burst: Some(2), ..rate(1, 10_000) })).unwrap();
    push_many(&queue, &["r1", "r2", "r3", "r4"].map(|id| of("r", id)));
    assert_eq!(ids(&queue, 10), ["r1", "r2"]);
    assert!(ids(&queue, 10).is_empty());
    travel(9_900);
    assert!(ids(&queue, 10).is_empty());
    travel(200);
    let third = reserve_many(&queue, 10);
    assert_eq!(third.len(), 1);
    queue.give_back(&receipts(&third)).unwrap();
    assert_eq!(ids(&queue, 10), ["r3"], "a job that nobody has seen gives its token back");
    is_sound(&queue);
    queue.limit_groups(Some(&group("r")), None).unwrap();
    assert_eq!(ids(&queue, 10), ["r4"]);
}

#[test]
fn a_group_can_be_paused_and_resumed() {
    let (queue, name) = (fresh(), group("p"));
    push_many(&queue, &[of("p", "p1"), of("other", "q1")]);
    queue.pause(None, Some(&name)).unwrap();
    assert!(queue.is_paused(Some(&name)).unwrap() && !queue.is_paused(None).unwrap());
    assert_eq!(serve_all(&queue), ["q1"]);
    let stats = queue.group_stats(&name).unwrap();
    assert_eq!((stats.waiting, stats.is_paused, stats.closed_until_us), (1, true, None));
    assert_eq!((queue.stats().unwrap().ready, queue.stats().unwrap().blocked), (1, 1));
    assert_eq!(queue.stats().unwrap().oldest_ready_age_us, None, "a tenant that is closed on purpose rings no bell");
    queue.resume(Some(&name)).unwrap();
    assert_eq!(queue.stats().unwrap().blocked, 0);
    assert_eq!(serve_all(&queue), ["p1"]);
    queue.pause(Some(5_000), Some(&name)).unwrap();
    queue.push(&of("p", "p2")).unwrap();
    assert!(reserve(&queue).is_none());
    travel(5_000);
    assert_eq!(serve_all(&queue), ["p2"]);
    is_sound(&queue);
}

#[test]
fn the_queue_has_limits_of_its_own() {
    let queue = fresh();
    queue.limit_queue(Some(&concurrency(2))).unwrap();
    push_many(&queue, &[job("a"), of("g", "b"), job("c"), prioritized("d", 5)]);
    let held = reserve_many(&queue, 10);
    assert_eq!(held.len(), 2);
    assert!(ids(&queue, 10).is_empty());
    queue.ack(&held[0].held()).unwrap();
    assert_eq!(ids(&queue, 10).len(), 1);
    queue.limit_queue(Some(&rate(1, 10_000))).unwrap();
    assert_eq!(ids(&queue, 10).len(), 1);
    queue.push(&job("e")).unwrap();
    assert!(ids(&queue, 10).is_empty());
    travel(10_000);
    assert_eq!(ids(&queue, 10), ["e"]);
    queue.limit_queue(None).unwrap();
    is_sound(&queue);
}

#[test]
fn a_batch_of_acknowledgements_lets_each_group_in_once() {
    let queue = fresh();
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    push_many(&queue, &["a1", "a2"].map(|id| of("a", id)));
    push_many(&queue, &["b1", "b2"].map(|id| of("b", id)));
    let held = reserve_many(&queue, 10);
    assert_eq!(ack_each(&queue, &held), [Settled::Ours; 2]);
    assert_eq!(ids(&queue, 10), ["a2", "b2"]);
    is_sound(&queue);
}

#[test]
fn the_jobs_of_a_group_are_listed_in_its_order() {
    let (queue, name) = (fresh(), group("g"));
    push_many(&queue, &[of("g", "2"), of_priority("g", "1", 5), after(60_000, of_priority("g", "4", 5)), of("f", "x")]);
    push_many(&queue, &[after(60_000, of("g", "5")), of("g", "3")]);
    let listed = |state, offset, limit| -> Vec<String> {
        queue.list_group(&name, state, offset, limit).unwrap().iter().map(|info| info.id.to_string()).collect()
    };
    assert_eq!(listed(State::Ready, 0, 100), ["1", "2", "3"]);
    assert_eq!(listed(State::Ready, 1, 1), ["2"]);
    assert_eq!(listed(State::Delayed, 0, 100), ["4", "5"]);
    reserve_many(&queue, 2);
    assert_eq!(listed(State::Reserved, 0, 100), ["1"]);
    assert_eq!(queue.groups(10, b"").unwrap(), [b"f", b"g"]);
    assert_eq!(queue.groups(10, b"f").unwrap(), [b"g"]);
    let all: Vec<String> = queue.list(State::Delayed, 0, 10).unwrap().iter().map(|info| info.id.to_string()).collect();
    assert_eq!(all, ["4", "5"]);
}

#[test]
fn a_group_is_cancelled_without_what_is_held_or_with_it() {
    let (queue, name) = (fresh(), group("g"));
    push_many(&queue, &[of("g", "1"), of("g", "2"), after(60_000, of("g", "3")), of("f", "x")]);
    reserve(&queue).unwrap();
    assert_eq!(queue.cancel_group(&name, false).unwrap(), 2);
    assert_eq!(queue.cancel_group(&name, true).unwrap(), 1);
    assert_eq!(serve_all(&queue), ["x"]);
    is_sound(&queue);
}

#[test]
fn limits_are_told_as_they_were_set() {
    let queue = fresh();
    queue.limit_groups(None, Some(&concurrency(2))).unwrap();
    queue.limit_groups(Some(&group("a")), Some(&ordered())).unwrap();
    queue.limit_queue(Some(&rate(5, 1000))).unwrap();
    let limits = queue.limits().unwrap();
    assert_eq!((limits.others, limits.queue), (Some(concurrency(2)), Some(rate(5, 1000))));
    assert_eq!(limits.groups, [(group("a"), GroupLimits { concurrency: Some(1), ..ordered() })]);
}

#[test]
fn a_queue_whose_groups_and_limits_are_gone_has_no_key_of_them() {
    let queue = fresh();
    queue.limit_groups(Some(&group("a")), Some(&GroupLimits { weight: 2, ..rate(1, 60_000) })).unwrap();
    push_many(&queue, &["a1", "a2"].map(|id| of("a", id)));
    travel(1);
    assert_eq!(serve_all(&queue), ["a1"]);
    travel(60_000);
    assert_eq!(serve_all(&queue), ["a2"]);
    queue.limit_groups(Some(&group("a")), None).unwrap();
    for name in ["grouped", "groups", "line", "limits"] {
        assert_eq!(shared().raw().int(&["EXISTS", &key(&queue, name)]), 0, "{name}");
    }
}

#[test]
fn reserve_job_passes_over_limits_and_counts_against_them() {
    let queue = fresh();
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    push_many(&queue, &["a1", "a2"].map(|id| of("a", id)));
    let held = queue.reserve_job(&id("a2")).unwrap().unwrap();
    assert!(reserve(&queue).is_none());
    assert!(queue.reserve_job(&id("a1")).unwrap().is_some());
    is_sound(&queue);
    queue.ack(&held.held()).unwrap();
    is_sound(&queue);
}
