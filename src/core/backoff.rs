//! The delay before the next attempt: a pure function of the attempt, stored with the job.

use super::duration;
use super::error::{Error, Result};

/// How long a failed job waits. All times in milliseconds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Backoff {
    Fixed {
        delay_ms: u64,
    },
    /// `step·n + base` after the n-th attempt.
    Linear {
        step_ms: u64,
        base_ms: u64,
    },
    /// One delay per attempt; the last one repeats.
    Stages {
        delays_ms: Vec<u64>,
    },
    /// `base·factor^(n-1)`, at most `max`, plus or minus up to `jitter` of it.
    Exponential {
        base_ms: u64,
        factor: f64,
        max_ms: u64,
        jitter: f64,
    },
}

/// More stages than anybody needs; they are stored with every job.
pub const MAX_STAGES: usize = 255;

impl std::fmt::Display for Backoff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let delay = |ms: &u64| duration::text(*ms);
        match self {
            Self::Fixed { delay_ms } => write!(f, "fixed {}", delay(delay_ms)),
            Self::Linear { step_ms, base_ms } => write!(f, "linear {} {}", delay(step_ms), delay(base_ms)),
            Self::Stages { delays_ms } => {
                write!(f, "stages {}", delays_ms.iter().map(delay).collect::<Vec<_>>().join(" "))
            }
            Self::Exponential { base_ms, factor, max_ms, jitter } => {
                write!(f, "exponential {} {factor} {} {jitter}", delay(base_ms), delay(max_ms))
            }
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::Exponential { base_ms: 5_000, factor: 2.0, max_ms: 3_600_000, jitter: 0.1 }
    }
}

impl Backoff {
    /// Milliseconds before attempt `attempt + 1`, jitter left out. Attempts count from 1.
    #[must_use]
    pub fn delay_after_ms(&self, attempt: u32) -> u64 {
        let nth = u64::from(attempt.max(1));
        let delay = match self {
            Self::Fixed { delay_ms } => *delay_ms,
            Self::Linear { step_ms, base_ms } => step_ms.saturating_mul(nth).saturating_add(*base_ms),
            Self::Stages { delays_ms } => {
                let index = usize::try_from(nth - 1).unwrap_or(usize::MAX).min(delays_ms.len().saturating_sub(1));
                delays_ms.get(index).copied().unwrap_or(0)
            }
            Self::Exponential { base_ms, factor, max_ms, .. } => {
                let raw = *base_ms as f64 * factor.powf((nth - 1) as f64);
                if raw >= *max_ms as f64 { *max_ms } else { raw.ceil() as u64 }
            }
        };
        delay.min(duration::MAX_MS)
    }

    /// The delay with jitter applied; `unit` is a random number in `0.0..1.0`.
    #[must_use]
    pub fn jittered_after_ms(&self, attempt: u32, unit: f64) -> u64 {
        let delay = self.delay_after_ms(attempt);
        match self {
            Self::Exponential { jitter, .. } => {
                let spread = delay as f64 * jitter * (2.0 * unit - 1.0);
                (delay as f64 + spread).max(0.0).ceil() as u64
            }
            _ => delay,
        }
    }

    /// Reads what [`Backoff`] prints: `fixed 5s`, `linear 2m 1m`, `stages 15s 3m 10m` or `exponential 5s 2 1h 0.1`; delays alone
    /// are stages. Parts left out at the end are as in the functions of that name.
    ///
    /// # Errors
    /// [`Error::Invalid`], to follow a name.
    pub fn parse(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split([' ', ',', '\t', '\n', '\r']).filter(|word| !word.is_empty()).collect();
        let delay = |word: &str| {
            duration::parse(word).map_err(|error| match error {
                Error::Invalid(must) => Error::Invalid(format!("has the delay \"{word}\", which {must}")),
                other => other,
            })
        };
        let delay_or = |word: Option<&&str>, default_ms: u64| word.map_or(Ok(default_ms), |word| delay(word));
        let number_or = |word: Option<&&str>, default: f64, range: std::ops::RangeInclusive<f64>| {
            let number = word.map_or(Some(default), |word| word.parse::<f64>().ok());
            number.filter(|number| range.contains(number)).ok_or_else(|| {
                Error::Invalid(format!("has the number \"{}\", which is out of range", word.unwrap_or(&"")))
            })
        };
        match words.as_slice() {
            ["fixed", length] => Ok(Self::Fixed { delay_ms: delay(length)? }),
            ["linear", step, rest @ ..] if rest.len() <= 1 => {
                Ok(Self::Linear { step_ms: delay(step)?, base_ms: delay_or(rest.first(), 0)? })
            }
            ["exponential", base, rest @ ..] if rest.len() <= 3 => Ok(Self::Exponential {
                base_ms: delay(base)?,
                factor: number_or(rest.first(), 2.0, 1.0..=f64::MAX)?,
                max_ms: delay_or(rest.get(1), 3_600_000)?,
                jitter: number_or(rest.get(2), 0.1, 0.0..=1.0)?,
            }),
            ["stages", list @ ..] | list => {
                if list.is_empty() {
                    return Err(Error::Invalid("must not be empty".into()));
                }
                if list.len() > MAX_STAGES {
                    return Err(Error::Invalid(format!("must have at most {MAX_STAGES} delays")));
                }
                Ok(Self::Stages { delays_ms: list.iter().map(|word| delay(word)).collect::<Result<_>>()? })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_gives_the_n_times_two_plus_one_schedule() {
        let backoff = Backoff::Linear { step_ms: 120_000, base_ms: 60_000 };
        let minutes: Vec<u64> = (1..=3).map(|n| backoff.delay_after_ms(n) / 60_000).collect();
        assert_eq!(minutes, [3, 5, 7]);
    }

    #[test]
    fn stages_repeat_the_last_one() {
        let backoff = Backoff::Stages { delays_ms: vec![15, 180, 600] };
        let delays: Vec<u64> = (1..=5).map(|n| backoff.delay_after_ms(n)).collect();
        assert_eq!(delays, [15, 180, 600, 600, 600]);
    }

    #[test]
    fn exponential_never_exceeds_its_cap() {
        let backoff = Backoff::default();
        assert_eq!(backoff.delay_after_ms(1), 5_000);
        assert_eq!(backoff.delay_after_ms(2), 10_000);
        assert_eq!(backoff.delay_after_ms(11), 3_600_000);
        assert_eq!(backoff.delay_after_ms(u32::MAX), 3_600_000);
    }

    #[test]
    fn jitter_stays_within_its_share() {
        let backoff = Backoff::default();
        assert_eq!(backoff.jittered_after_ms(1, 0.0), 4_500);
        assert_eq!(backoff.jittered_after_ms(1, 0.5), 5_000);
        assert!(backoff.jittered_after_ms(1, 0.999_999) <= 5_500);
    }

    #[test]
    fn every_kind_is_read_as_it_was_printed() {
        for backoff in [
            Backoff::default(),
            Backoff::Fixed { delay_ms: 0 },
            Backoff::Linear { step_ms: 1, base_ms: 2 },
            Backoff::Stages { delays_ms: vec![1, 2, 3] },
            Backoff::Exponential { base_ms: 1, factor: 1.5, max_ms: 9, jitter: 0.0 },
        ] {
            assert_eq!(Backoff::parse(&backoff.to_string()), Ok(backoff));
        }
        assert_eq!(Backoff::parse("15s, 3m"), Ok(Backoff::Stages { delays_ms: vec![15_000, 180_000] }));
        assert_eq!(Backoff::parse("linear 2m"), Ok(Backoff::Linear { step_ms: 120_000, base_ms: 0 }));
        assert_eq!(Backoff::parse("exponential 5s"), Ok(Backoff::default()));
        for text in
            ["", "stages", "fixed", "fixed 1s 2s", "linear", "exponential 5s 0.5", "exponential 5s 2 1h 2", "sometimes"]
        {
            assert!(Backoff::parse(text).is_err(), "{text}");
        }
    }
}
