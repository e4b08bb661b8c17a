//! Groups of the scene: one that is ordered and waits for a retry, one whose first job is held, one that is full, one that is paused, and such with
//! a rate and a weight.

use super::{Operation, Scene, feed, lease_kept};
use crate::groups::{group, of, of_priority};
use crate::new_jobs::{once, unique};
use crate::support::*;
use delayqueue::core::groups::{GroupLimits, Rate};
use delayqueue::core::job::{Due, Extras, JobOptions, NewJob, OnDuplicate, State};
use delayqueue::core::queue::Changes;
use delayqueue::core::queue::Queue;
use delayqueue::core::traits::Traits;

pub fn in_group(name: &str, options: JobOptions) -> JobOptions {
    JobOptions {
        extras: Extras { traits: Traits::default().group(&group(name)).before(b""), ..Extras::default() },
        ..options
    }
}

const NONE: GroupLimits = GroupLimits { concurrency: None, rate: None, burst: None, weight: 1, ordered: false };
const ORDERED: GroupLimits = GroupLimits { concurrency: Some(1), ordered: true, ..NONE };
const ONE: GroupLimits = GroupLimits { concurrency: Some(1), ..NONE };
const RATE: GroupLimits = GroupLimits { rate: Some(Rate { starts: 2, per_us: 2_000_000 }), burst: Some(1), ..NONE };

/// The jobs of each group, and its limits.
const GROUPS: [(&str, &[&str], GroupLimits); 6] = [
    ("waiting", &["first+", "second+"], ORDERED),
    ("ordered", &["head+", "tail+"], ORDERED),
    ("full", &["in+", "next+"], ONE),
    ("paused", &["closed+"], NONE),
    ("rated", &["rated+", "spaced+"], RATE),
    ("weighty", &["w1+", "w2+", "w3+"], GroupLimits { weight: 3, ..NONE }),
];

impl Scene {
    pub(super) fn add_groups(&mut self, queue: &Queue) {
        for (name, ids, limits) in GROUPS {
            queue.limit_groups(Some(&group(name)), Some(&limits)).unwrap();
            for id in ids {
                self.ids.insert((*id).to_owned());
                let options = JobOptions { ttr_ms: 600_000, ..of(name, id).options };
                queue.push(&NewJob { options, ..job(id) }).unwrap();
            }
        }
        queue.pause(None, Some(&group("paused"))).unwrap();
        let held = reserve_many(queue, 5);
        self.held.extend(held.into_iter().map(|job| (job.id.to_string(), job)));
        let first = self.held.remove("first+").unwrap();
        queue.release(&first.held(), Due::InMs(3_600_000), None, true).unwrap();
        assert!(["head+", "in+", "rated+", "w1+"].iter().all(|name| self.held.contains_key(*name)));
        assert_eq!(queue.stats().unwrap().blocked, 5);
    }
}

fn replacing(job: NewJob) -> NewJob {
    NewJob { on_duplicate: OnDuplicate::Replace, ..job }
}

pub const OPERATIONS: &[(&str, Operation)] = &[
    ("push to a group", |_, queue| queue.push(&of("g", "new")).map(|_| ())),
    ("push to a full group", |_, queue| queue.push(&NewJob { due: Due::InMs(500), ..of("full", "new") }).map(|_| ())),
    ("push many to groups", |_, queue| {
        queue.push_many(&[of("g", "new1"), of_priority("ordered", "new2", 5), of("another", "new3")], &mut vec![])
    }),
    ("push many, some to groups", |_, queue| {
        queue.push_many(&[job("new1"), of("g", "new2"), prioritized("new3", 5)], &mut vec![])
    }),
    ("push to a group for a moment", |_, queue| {
        queue.push(&NewJob { due: Due::AtUs(1), ..of("g", "new") }).map(|_| ())
    }),
    ("push unique to a group", |_, queue| {
        let new = unique("new", 60_000, OnDuplicate::Keep);
        queue.push(&NewJob { options: of("g", "new").options, ..new }).map(|_| ())
    }),
    ("push once to a group", |_, queue| {
        queue.push_once(&[once("r1", of("g", "new")), once("r2", of("full", "new2"))]).map(|_| ())
    }),
    ("push replacing the first", |_, queue| queue.push(&replacing(of("waiting", "first+"))).map(|_| ())),
    ("push replacing into another group", |_, queue| queue.push(&replacing(of("g", "second+"))).map(|_| ())),
    ("push replacing into a group", |_, queue| queue.push(&replacing(of("g", "delayed"))).map(|_| ())),
    ("push replacing out of a group", |_, queue| queue.push(&replacing(prioritized("tail+", 5))).map(|_| ())),
    ("feed of groups", |scene, queue| feed(queue, &["in+", "head+"].map(|name| scene.receipt(name)))),
    ("ack of a full group", |scene, queue| lease_kept(queue.ack(&scene.held("in+")))),
    ("ack many of groups", |scene, queue| {
        let receipts = ["head+", "in+", "held", "w1+"].map(|name| scene.receipt(name));
        queue.ack_many(&receipts.each_ref().map(done)).map(|_| ())
    }),
    ("fail in order", |scene, queue| lease_kept(queue.fail(&scene.held("head+"), Some(b"boom")).map(|_| ()))),
    ("release in order", |scene, queue| lease_kept(queue.release(&scene.held("head+"), Due::InMs(9_000), None, true))),
    ("release of a full group", |scene, queue| {
        lease_kept(queue.release(&scene.held("in+"), Due::InMs(9_000), None, true))
    }),
    ("give back to groups", |scene, queue| {
        let receipts = ["in+", "head+", "rated+", "w1+", "held"].map(|name| scene.receipt(name));
        queue.give_back(&receipts.each_ref()).map(|_| ())
    }),
    ("bury in order", |scene, queue| lease_kept(queue.bury(&scene.held("head+"), Some(b"boom")))),
    ("touch in a group", |scene, queue| lease_kept(queue.touch(&scene.held("in+"), None).map(|_| ()))),
    ("cancel the first", |_, queue| queue.cancel(&[id("first+")]).map(|_| ())),
    ("cancel held in a group", |_, queue| queue.cancel(&["head+", "closed+"].map(id)).map(|_| ())),
    ("kick the first", |_, queue| queue.kick_job(&id("first+"), false).map(|_| ())),
    ("reschedule the first", |_, queue| queue.reschedule(&id("first+"), Due::InMs(500), false).map(|_| ())),
    ("reserve the first", |_, queue| queue.reserve_job(&id("first+")).map(|_| ())),
    ("reserve a closed job", |_, queue| queue.reserve_job(&id("closed+")).map(|_| ())),
    ("update in a group", |_, queue| {
        queue.update(&id("second+"), Changes::payload(b"changed"), None, None).map(|_| ())
    }),
    ("cancel a group", |_, queue| queue.cancel_group(&group("waiting"), false).map(|_| ())),
    ("cancel a group with what is held", |_, queue| queue.cancel_group(&group("g"), true).map(|_| ())),
    ("limit a group", |_, queue| queue.limit_groups(Some(&group("g")), Some(&ONE))),
    ("limit all groups", |_, queue| queue.limit_groups(None, Some(&ONE))),
    ("forget limits", |_, queue| queue.limit_groups(Some(&group("full")), None)),
    ("limit the queue", |_, queue| queue.limit_queue(Some(&GroupLimits { concurrency: Some(40), ..NONE }))),
    ("forget limits of the queue", |_, queue| queue.limit_queue(None)),
    ("limits", |_, queue| queue.limits().map(|_| ())),
    ("limit the rate of a group", |_, queue| queue.rate_limit(3_000, Some(&group("g")))),
    ("limit the rate", |_, queue| queue.rate_limit(3_000, None)),
    ("pause a group", |_, queue| queue.pause(Some(3_000), Some(&group("g")))),
    ("resume a group", |_, queue| queue.resume(Some(&group("paused")))),
    ("group stats", |_, queue| queue.group_stats(&group("waiting")).map(|_| ())),
    ("groups", |_, queue| queue.groups(10, b"").map(|_| ())),
    ("list a group", |_, queue| queue.list_group(&group("g"), State::Ready, 0, 10).map(|_| ())),
];
