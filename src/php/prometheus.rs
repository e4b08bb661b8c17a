//! Numbers of queues as Prometheus' text exposition format, version 0.0.4.

use crate::core::queue::{Histogram, RunOutcome, Stats};
use crate::core::registry::Activity;
use std::fmt::Write;

/// The buckets of all histograms end at 2^n − 1 ms, up to nearly five hours: there the counts in Redis have a bound as well.
const DOUBLINGS: std::ops::RangeInclusive<u32> = 1..=24;

/// One page of any number of queues. The format wants all lines of a metric in one group, under one HELP and one TYPE.
pub fn page(queues: &[(&str, &Stats)]) -> String {
    let mut page = Page { text: String::new() };
    page.family("build_info", "gauge", "1, with the version of the extension that wrote this page.");
    page.line("build_info", &[("version", env!("CARGO_PKG_VERSION"))], "1");
    page.family("jobs", "gauge", "Jobs by state.");
    for (queue, stats) in queues {
        let counts = [
            ("delayed", stats.delayed),
            ("ready", stats.ready),
            ("reserved", stats.reserved),
            ("buried", stats.buried),
        ];
        for (state, count) in counts {
            page.line("jobs", &[("queue", queue), ("state", state)], &count.to_string());
        }
    }
    let blocked = "Ready jobs of groups that may not be served now.";
    page.each("jobs_blocked", blocked, queues, |stats| Some(stats.blocked.to_string()));
    page.counters(queues);
    let seconds = |us: f64| (us / 1_000_000.0).to_string();
    page.each(
        "oldest_ready_age_seconds",
        "How long the oldest ready job that is not blocked has been due.",
        queues,
        |stats| stats.oldest_ready_age_us.map(|age_us| seconds(age_us as f64)),
    );
    page.each("next_due_timestamp_seconds", "When the next delayed job falls due.", queues, |stats| {
        stats.next_due_at_us.map(|due_us| seconds(due_us as f64))
    });
    page.each("paused", "1 while the queue is paused.", queues, |stats| Some(u8::from(stats.paused).to_string()));
    page.workers(queues);
    page.family("lateness_seconds", "histogram", "Time from due to reserved, since the queue was made.");
    for (queue, stats) in queues {
        page.histogram("lateness_seconds", &[("queue", queue)], &stats.ever.lateness());
    }
    page.family("wait_seconds", "histogram", "Time from first due to reserved, since the queue was made.");
    for (queue, stats) in queues {
        page.histogram("wait_seconds", &[("queue", queue)], &stats.ever.wait());
    }
    page.family("run_seconds", "histogram", "Run time of handlers by outcome, since the queue was made.");
    for (queue, stats) in queues {
        for outcome in RunOutcome::ALL {
            let labels = [("queue", *queue), ("outcome", outcome.word())];
            page.histogram("run_seconds", &labels, &stats.ever.run(outcome));
        }
    }
    page.text
}

struct Page {
    text: String,
}

impl Page {
    fn counters(&mut self, queues: &[(&str, &Stats)]) {
        type Count = fn(&Stats) -> u64;
        let counters: [(&str, &str, Count); 6] = [
            ("pushed_total", "Jobs pushed since the queue was made.", |stats| stats.pushed),
            ("acked_total", "Jobs acknowledged since the queue was made.", |stats| stats.acked),
            ("failed_total", "Failed attempts since the queue was made.", |stats| stats.failed),
            ("timed_out_total", "Leases that expired since the queue was made.", |stats| stats.timed_out),
            ("cancelled_total", "Jobs cancelled since the queue was made.", |stats| stats.cancelled),
            ("expired_total", "Jobs that were too late to be run since the queue was made.", |stats| stats.expired),
        ];
        for (name, help, count) in counters {
            self.family(name, "counter", help);
            for (queue, stats) in queues {
                self.line(name, &[("queue", queue)], &count(stats).to_string());
            }
        }
    }

    fn workers(&mut self, queues: &[(&str, &Stats)]) {
        let counts: Vec<_> = queues.iter().filter_map(|(queue, stats)| Some((queue, stats.workers?))).collect();
        if !counts.is_empty() {
            self.family("workers", "gauge", "Workers that serve the queue, by state.");
        }
        for (queue, mut count) in counts {
            for activity in Activity::ALL {
                self.line("workers", &[("queue", queue), ("state", activity.word())], &count.of(activity).to_string());
            }
        }
    }

    /// A gauge of those queues that have it.
    fn each(&mut self, name: &str, help: &str, queues: &[(&str, &Stats)], value: impl Fn(&Stats) -> Option<String>) {
        let found: Vec<_> = queues.iter().filter_map(|(queue, stats)| Some((queue, value(stats)?))).collect();
        if !found.is_empty() {
            self.family(name, "gauge", help);
        }
        for (queue, value) in found {
            self.line(name, &[("queue", queue)], &value);
        }
    }

    /// An empty histogram has no buckets, and one that counts something has all of them. Leaving out only some is wrong: a sum over queues
    /// would add up other queues at each bound, and `+Inf` alone would have the first jobs count as the slowest.
    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        let (bucket, count) = (format!("{name}_bucket"), histogram.count().to_string());
        if histogram.count() > 0 {
            for doublings in DOUBLINGS {
                let end = (((1_u64 << doublings) - 1) as f64 / 1000.0).to_string();
                let labels = [labels, &[("le", &end)]].concat();
                self.line(&bucket, &labels, &histogram.count_below(doublings).to_string());
            }
            self.line(&bucket, &[labels, &[("le", "+Inf")]].concat(), &count);
        }
        self.line(&format!("{name}_sum"), labels, &(histogram.estimated_sum_ms() / 1000.0).to_string());
        self.line(&format!("{name}_count"), labels, &count);
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP delayqueue_{name} {help}\n# TYPE delayqueue_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        let labels: Vec<String> = labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escape(text))).collect();
        let _ = writeln!(self.text, "delayqueue_{name}{{{}}} {value}", labels.join(","));
    }
}

/// Label values escape backslash, quote and newline.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
