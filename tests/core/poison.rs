//! Jobs that kill their workers: what an expired lease costs them and the jobs that were leased along with them.

use crate::support::*;
use delayqueue::core::groups::GroupLimits;
use delayqueue::core::job::{Due, JobOptions, NewJob, State};
use delayqueue::core::queue::RunOutcome;

/// A worker dies of a job again and again: its neighbours lose no attempt, and the job has one run that does not count, behind others.
#[test]
fn a_poisoned_job_is_buried_alone() {
    for priority in [1024, 5] {
        let queue = fresh();
        let options = JobOptions { max_attempts: 3, ttr_ms: 1_000, ..priority_options(priority) };
        let names: Vec<String> = (0..20).map(|n| format!("{n:02}")).collect();
        push_many(
            &queue,
            &names.iter().map(|name| NewJob { options: options.clone(), ..job(name) }).collect::<Vec<_>>(),
        );
        let (mut done, mut crashes) = (Vec::new(), 0);
        while queue.count(None).unwrap() > queue.count(Some(State::Buried)).unwrap() {
            // Jobs are handled one after the other until the worker dies of one; those that are done are acknowledged.
            for job in reserve_many(&queue, 16) {
                if job.id == id("07") {
                    crashes += 1;
                    travel(1_001);
                    break;
                }
                assert_eq!(job.attempts, 1, "attempts of '{}'", job.id);
                queue.ack(&job.held()).unwrap();
                done.push(job.id.to_string());
            }
        }
        delayqueue::core::clock::set_offset_ms(0);
        assert_eq!(crashes, 4, "priority {priority}");
        done.sort();
        assert_eq!(done, names.iter().filter(|name| *name != "07").cloned().collect::<Vec<_>>());
        let buried = queue.list(State::Buried, 0, 10).unwrap();
        assert_eq!((buried.len(), &buried[0].id, buried[0].attempts), (1, &id("07"), 3));
    }
}

/// Of jobs that are leased together the handler of the first one runs, and perhaps no other.
#[test]
fn a_worker_that_dies_with_a_batch_costs_its_first_job_an_attempt() {
    for limits in [None, Some(GroupLimits { concurrency: Some(9), ..GroupLimits::default() })] {
        let queue = fresh();
        if let Some(limits) = limits {
            queue.limit_queue(Some(&limits)).unwrap();
        }
        let with = |name: &str, priority| NewJob {
            options: JobOptions { max_attempts: 3, ttr_ms: 1_000, ..priority_options(priority) },
            ..job(name)
        };
        push_many(&queue, &[with("a", 5), with("b", 1024), with("c", 1024), with("d", 2000)]);
        let first = reserve_many(&queue, 1);
        queue.release(&first[0].held(), Due::InMs(0), None, true).unwrap();
        assert_eq!(reserve_many(&queue, 4).len(), 4);
        let pasts = || {
            let jobs = queue.list(State::Ready, 0, 10).unwrap();
            jobs.iter().map(|job| (job.id.to_string(), job.attempts, job.timeouts)).collect::<Vec<_>>()
        };
        let past = |name: &str, attempts, timeouts| (name.to_owned(), attempts, timeouts);
        travel(1_001);
        assert_eq!(pasts(), [past("a", 2, 1), past("b", 0, 1), past("c", 0, 1), past("d", 0, 1)], "{limits:?}");
        let stats = queue.stats().unwrap();
        assert_eq!((stats.timed_out, stats.ever.run(RunOutcome::TimedOut).count()), (4, 1), "leases, and runs");
        // From now on each has its worker to itself, and its attempts count.
        for name in ["a", "b", "c"] {
            assert_eq!(reserve_many(&queue, 4).iter().map(|job| job.id.to_string()).collect::<Vec<_>>(), [name]);
        }
        travel(2_002);
        assert_eq!(pasts(), [past("b", 1, 2), past("c", 1, 2), past("d", 0, 1)], "{limits:?}");
        assert_eq!(queue.list(State::Buried, 0, 10).unwrap()[0].id, id("a"), "its third attempt was the last one");
        delayqueue::core::clock::set_offset_ms(0);
    }
}

#[test]
fn a_job_on_its_last_attempt_is_leased_alone() {
    for priority in [1024, 5] {
        let queue = fresh();
        let with = |name: &str, max_attempts| NewJob {
            options: JobOptions { max_attempts, ..priority_options(priority) },
            ..job(name)
        };
        push_many(&queue, &[with("a", 2), with("b", 1), with("c", 1), with("d", 0), with("e", 2)]);
        let batches = std::iter::repeat_with(|| reserve_many(&queue, 10)).take_while(|jobs| !jobs.is_empty());
        let batches: Vec<Vec<String>> =
            batches.map(|jobs| jobs.iter().map(|job| job.id.to_string()).collect()).collect();
        assert_eq!(batches, [vec!["a"], vec!["b"], vec!["c"], vec!["d", "e"]], "priority {priority}");
    }
}
