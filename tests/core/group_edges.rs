//! Groups at their edges: limits that change, jobs that get the same time again, hundreds of priorities, jobs that are too late.

use crate::audit;
use crate::groups::{after, concurrency, group, ids, is_sound, of, of_priority, ordered, rate};
use crate::support::*;
use delayqueue::core::job::{Due, Extras, JobOptions, NewJob, OnDuplicate};
use delayqueue::core::traits::{Limit, OnExpiry, Traits};

#[test]
fn a_ready_job_is_found_behind_hundreds_of_priorities_whose_jobs_are_not_due() {
    let queue = fresh();
    let later: Vec<NewJob> = (0..150).map(|n| after(3_600_000, of_priority("a", &format!("later{n}"), n))).collect();
    push_many(&queue, &later);
    push_many(&queue, &[of("a", "ready"), after(3_600_000, of_priority("b", "b-later", 1)), of("b", "b-ready")]);
    assert_eq!(serve_all(&queue), ["ready", "b-ready"]);
}

#[test]
fn the_first_of_an_ordered_group_that_gets_the_same_time_again_waits_once() {
    for replaces in [false, true] {
        let queue = fresh();
        queue.limit_groups(Some(&group("o")), Some(&ordered())).unwrap();
        push_many(&queue, &["o1", "o2"].map(|id| of("o", id)));
        let at = Due::AtUs(queue.now_us().unwrap() + 60_000_000);
        queue.release(&reserve(&queue).unwrap().held(), at, None, true).unwrap();
        match replaces {
            true => drop(queue.push(&NewJob { on_duplicate: OnDuplicate::Replace, due: at, ..of("o", "o1") }).unwrap()),
            false => assert_eq!(queue.reschedule(&id("o1"), at, false), Ok(true)),
        }
        is_sound(&queue);
        assert_eq!(serve_all(&queue), ["o2"], "the group is open");
        queue.limit_groups(Some(&group("o")), None).unwrap();
        travel(60_000);
        assert_eq!(ids(&queue, 10), ["o1"], "once");
        is_sound(&queue);
        travel(-60_000);
    }
}

#[test]
fn a_group_whose_last_job_is_cancelled_leaves_the_line() {
    let queue = fresh();
    let mut raw = shared().raw();
    let ways: [&dyn Fn() -> u64; 3] =
        [&|| queue.cancel(&[id("b")]).unwrap(), &|| queue.cancel_group(&group("far"), false).unwrap(), &|| {
            queue.purge(&[]).unwrap()
        }];
    let mut places = || audit::list(&mut raw, &["ZRANGE", &key(&queue, "line"), "0", "-1"]).len();
    for remove in ways {
        push_many(&queue, &["a", "b"].map(|id| after(86_400_000, of("far", id))));
        assert_eq!(queue.cancel(&[id("a")]).unwrap(), 1);
        assert_eq!(places(), 1, "it has another job");
        assert_eq!(remove(), 1);
        assert_eq!(places(), 0, "nobody would look at it for a day");
        is_sound(&queue);
    }
    push_many(&queue, &[of("far", "again")]);
    assert_eq!(serve_all(&queue), ["again"]);
}

#[test]
fn a_rate_that_is_changed_closes_for_no_longer_than_itself() {
    let queue = fresh();
    let name = group("r");
    queue.limit_groups(Some(&name), Some(&rate(1, 86_400_000))).unwrap();
    queue.limit_queue(Some(&rate(1, 86_400_000))).unwrap();
    push_many(&queue, &["r1", "r2"].map(|id| of("r", id)));
    assert_eq!(ids(&queue, 10), ["r1"]);
    queue.limit_groups(Some(&name), Some(&rate(1, 30_000))).unwrap();
    queue.limit_queue(Some(&rate(1, 30_000))).unwrap();
    assert!(ids(&queue, 10).is_empty());
    travel(30_000);
    assert_eq!(ids(&queue, 10), ["r2"]);
}

#[test]
fn limits_of_all_others_that_are_taken_away_by_half_keep_nobody_out() {
    let queue = fresh();
    queue.limit_groups(None, Some(&concurrency(1))).unwrap();
    let jobs: Vec<NewJob> =
        (0..150).flat_map(|n| ["x", "y"].map(|letter| of(&format!("g{n:03}"), &format!("{letter}{n}")))).collect();
    push_many(&queue, &jobs);
    let held = reserve_many(&queue, 500);
    assert_eq!(held.len(), 150);
    // The client dies behind the first part.
    let script = delayqueue::core::scripts::LIMIT_GROUPS.source.clone();
    let names: Vec<String> = audit::NAMES.iter().take(15).map(|name| key(&queue, name)).collect();
    let mut command = vec!["EVAL", &script, "15"];
    command.extend(names.iter().map(String::as_str));
    command.extend(["0", "", "", ""]);
    assert!(format!("{:?}", shared().raw().run(&command)).contains("MORE"));
    ack_all(&queue, &held);
    assert_eq!(serve_all(&queue).len(), 150);
    queue.limit_groups(None, None).unwrap();
    assert_eq!(queue.limits().unwrap().others, None);
}

#[test]
fn expired_jobs_of_groups_do_not_cost_a_call_each() {
    let server = Server::start(&[]);
    let queue = server.queue("q");
    let traits = Traits::default().expires(Limit::AfterDueMs(10), OnExpiry::Drop).group(&group("g")).before(b"");
    let extras = Extras { traits, ..Extras::default() };
    let expiring =
        |n| NewJob { options: JobOptions { extras: extras.clone(), ..JobOptions::default() }, ..job(&format!("{n}")) };
    push_many(&queue, &(0..1000).map(expiring).collect::<Vec<_>>());
    queue.push(&of("f", "last")).unwrap();
    travel(1000);
    let mut raw = server.raw();
    raw.run(&["CONFIG", "RESETSTAT"]);
    assert_eq!(serve_all(&queue), ["last"]);
    assert!(raw.calls("evalsha") < 20, "{}", raw.calls("evalsha"));
}

#[test]
fn a_job_that_was_reserved_beyond_the_rate_gives_back_its_own_token_alone() {
    let queue = fresh();
    queue.limit_queue(Some(&rate(1, 60_000))).unwrap();
    push_many(&queue, &["a", "b"].map(job));
    assert_eq!(reserve(&queue).unwrap().id, id("a"));
    let beyond = queue.reserve_job(&id("b")).unwrap().unwrap();
    travel(1_000);
    queue.give_back(&[&beyond.receipt]).unwrap();
    assert!(reserve(&queue).is_none(), "the token of a is spent for a minute");
}
