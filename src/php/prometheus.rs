//! Counts as Prometheus' text exposition format, version 0.0.4.

use crate::core::queue::Stats;
use std::fmt::Write;

/// Everything of one queue. The pages of several queues may not simply be joined: HELP and TYPE would repeat.
pub fn text(queue: &str, stats: &Stats) -> String {
    let label = format!("queue=\"{}\"", escape(queue));
    let mut page = Page { text: String::new(), label };
    page.family("jobs", "gauge", "Jobs by state.");
    for (state, count) in
        [("delayed", stats.delayed), ("ready", stats.ready), ("reserved", stats.reserved), ("buried", stats.buried)]
    {
        page.sample("jobs", &format!(",state=\"{state}\""), &count.to_string());
    }
    for (name, help, count) in [
        ("pushed_total", "Jobs pushed since the queue was made.", stats.pushed),
        ("acked_total", "Jobs acknowledged since the queue was made.", stats.acked),
        ("failed_total", "Failed attempts since the queue was made.", stats.failed),
        ("timed_out_total", "Leases that expired since the queue was made.", stats.timed_out),
        ("cancelled_total", "Jobs cancelled since the queue was made.", stats.cancelled),
    ] {
        page.family(name, "counter", help);
        page.sample(name, "", &count.to_string());
    }
    if let Some(age_us) = stats.oldest_ready_age_us {
        page.family("oldest_ready_age_seconds", "gauge", "How long the oldest ready job has been due.");
        page.sample("oldest_ready_age_seconds", "", &(age_us as f64 / 1_000_000.0).to_string());
    }
    if let Some(due_us) = stats.next_due_at_us {
        page.family("next_due_timestamp_seconds", "gauge", "When the next delayed job falls due.");
        page.sample("next_due_timestamp_seconds", "", &(due_us as f64 / 1_000_000.0).to_string());
    }
    page.family("paused", "gauge", "1 while the queue is paused.");
    page.sample("paused", "", if stats.paused { "1" } else { "0" });
    page.family("lateness_seconds", "summary", "Time from due to reserved.");
    let late = stats.lateness();
    for (quantile, ms) in [("0.5", late.p50_ms), ("0.95", late.p95_ms), ("0.99", late.p99_ms)] {
        // Without observations a quantile is not a number.
        let value = if late.count == 0 { String::from("NaN") } else { (ms / 1000.0).to_string() };
        page.sample("lateness_seconds", &format!(",quantile=\"{quantile}\""), &value);
    }
    page.sample("lateness_seconds_count", "", &late.count.to_string());
    page.text
}

struct Page {
    text: String,
    label: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP delayqueue_{name} {help}\n# TYPE delayqueue_{name} {kind}");
    }

    fn sample(&mut self, name: &str, more_labels: &str, value: &str) {
        let _ = writeln!(self.text, "delayqueue_{name}{{{}{more_labels}}} {value}", self.label);
    }
}

/// Label values escape backslash, quote and newline.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
