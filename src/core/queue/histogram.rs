//! How runs end, and how long they and others take: counts of times, in the buckets of `lua/lib/bucket.lua`: bucket `b` holds `ms + 1` in `2^(b/2) .. 2^((b+1)/2)`.

use std::collections::BTreeMap;
use std::time::Duration;

/// The end of a run that a queue counts, with the time that the run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    Acked,
    Failed,
    Released,
    Buried,
    TimedOut,
}

impl RunOutcome {
    pub const ALL: [Self; 5] = [Self::Acked, Self::Failed, Self::Released, Self::Buried, Self::TimedOut];

    /// The word used in Redis, in PHP and for Prometheus.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Acked => "acked",
            Self::Failed => "failed",
            Self::Released => "released",
            Self::Buried => "buried",
            Self::TimedOut => "timed_out",
        }
    }
}

/// The bucket of a time.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 90: the logarithm of a time")]
pub fn bucket_of(time: Duration) -> u32 {
    (2.0 * (time.as_secs_f64() * 1000.0 + 1.0).log2()).floor() as u32
}

/// Where a bucket begins, in milliseconds.
fn bound_ms(bucket: u32) -> f64 {
    (f64::from(bucket) / 2.0).exp2() - 1.0
}

/// How many times were how long.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram(BTreeMap<u32, u64>);

/// Quantiles of a histogram, in milliseconds; 0 when it is empty.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantiles {
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub count: u64,
}

impl FromIterator<(u32, i64)> for Histogram {
    /// The numbers of a bucket that is named several times are added up.
    fn from_iter<T: IntoIterator<Item = (u32, i64)>>(numbers: T) -> Self {
        let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
        for (bucket, many) in numbers {
            *sums.entry(bucket).or_default() += many;
        }
        let counts = sums.into_iter().filter_map(|(bucket, sum)| Some((bucket, u64::try_from(sum).ok()?)));
        Self(counts.filter(|(_, many)| *many > 0).collect())
    }
}

impl Histogram {
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// How many were shorter than `2^doublings − 1` milliseconds.
    #[must_use]
    pub fn count_below(&self, doublings: u32) -> u64 {
        self.0.range(..2 * doublings).map(|(_, many)| many).sum()
    }

    /// All of them together, each taken for the middle of its bucket, which is at most 22 % off from 30 ms on.
    #[must_use]
    pub fn estimated_sum_ms(&self) -> f64 {
        let middle_ms = |bucket| if bucket == 0 { 0.0 } else { f64::midpoint(bound_ms(bucket), bound_ms(bucket + 1)) };
        self.0.iter().fold(0.0, |sum, (bucket, many)| sum + middle_ms(*bucket) * *many as f64)
    }

    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        let count = self.count();
        let quantile = |share: f64| {
            let rank = share * count as f64;
            let mut below = 0.0;
            for (bucket, many) in &self.0 {
                if below + *many as f64 >= rank {
                    let within = ((rank - below) / *many as f64).clamp(0.0, 1.0);
                    let (low, high) = (bound_ms(*bucket), bound_ms(*bucket + 1));
                    return if *bucket == 0 { 0.0 } else { low + (high - low) * within };
                }
                below += *many as f64;
            }
            0.0
        };
        Quantiles { p50_ms: quantile(0.50), p95_ms: quantile(0.95), p99_ms: quantile(0.99), count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_the_right_bucket() {
        assert_eq!(Histogram::default().quantiles(), Quantiles::default());
        let quantiles = Histogram::from_iter([(0, 90), (6, 9), (20, 1)]).quantiles();
        assert_eq!((quantiles.p50_ms, quantiles.count), (0.0, 100));
        assert!((7.0..10.4).contains(&quantiles.p95_ms), "{quantiles:?}"); // 2^3 − 1 … 2^3.5 − 1
        assert!(quantiles.p99_ms < 10.4);
    }

    #[test]
    fn every_time_is_in_the_bucket_that_covers_it() {
        for us in (0..100).chain([999, 1000, 1001, 60_000_000, 86_400_000_000, 3_155_760_000_000_000]) {
            let (ms, bucket) = (us as f64 / 1000.0, bucket_of(Duration::from_micros(us)));
            assert!(bound_ms(bucket) <= ms && ms < bound_ms(bucket + 1), "{us} µs: {bucket}");
        }
    }

    #[test]
    fn what_is_below_a_doubling_is_counted_whole() {
        let histogram = Histogram::from_iter([(0, 1), (1, 2), (2, 4), (19, 8), (20, 16)]);
        assert_eq!([0, 1, 2, 10, 11].map(|doublings| histogram.count_below(doublings)), [0, 3, 7, 15, 31]);
    }

    /// `sum()` of no numbers is -0.0, which Prometheus pages would show.
    #[test]
    fn the_sum_of_nothing_is_a_plain_zero() {
        assert!(Histogram::default().estimated_sum_ms().is_sign_positive());
    }

    #[test]
    fn the_sum_is_near_the_true_one() {
        for ms in [1_u64, 7, 100, 1_500, 3_600_000] {
            let sum_ms = Histogram::from_iter([(bucket_of(Duration::from_millis(ms)), 1)]).estimated_sum_ms();
            assert!((sum_ms - ms as f64).abs() <= 0.25 * ms as f64 + 0.5, "{ms}: {sum_ms}");
        }
    }

    #[test]
    fn differences_are_added_to_what_they_differ_from() {
        let histogram = Histogram::from_iter([(3, 5), (3, -2), (7, 2), (9, 1), (9, -1)]);
        assert_eq!(histogram, Histogram::from_iter([(3, 3), (7, 2)]));
    }
}
