//! Random operations on the real queue and on the model; any difference is a failure that names seed and step.

use super::job::Place;
use super::reference::{Push, Reference};
use crate::proxy::{Fault, Proxy};
use crate::support::*;
use delayqueue::core::clock;
use delayqueue::core::job::{Due, JobInfo, State};
use delayqueue::core::queue::{Held, Queue};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand::RngExt;
use std::time::Duration;

mod groups;
mod once;
mod others;
mod pushes;
mod regressions;
mod settling;

pub(super) struct Walk {
    rng: TestRng,
    clock: Clock,
    proxy: Proxy,
    pub(super) queue: Queue,
    /// The queue behind the proxy.
    behind: Queue,
    pub(super) raw: Raw,
    pub(super) model: Reference,
    /// Everything ever reserved, stale ones included.
    pub(super) held: Vec<Held>,
    /// Some jobs of each state, from the last look at all of them.
    pub(super) looked: Vec<JobInfo>,
    /// The jobs that a loop has leased last.
    batch: Vec<Held>,
    /// Out of ten pushes with options, how many may have another priority.
    priorities: u32,
    has_groups: bool,
    log: Vec<String>,
}

/// As many walks as the seeded mistakes need.
pub(super) const SEEDS: u8 = 40;
/// An environment variable: the seed of the first walk; else 0.
pub(super) const FIRST_SEED: &str = "DELAYQUEUE_FIRST_SEED";
const STEPS: usize = 700;

#[test]
fn jobs_are_never_lost_doubled_or_out_of_order() {
    walk_all(STEPS, false);
}

#[test]
fn groups_get_their_turns_within_their_limits() {
    walk_all(STEPS, true);
}

/// Walks of groups take three times as long: there are a third as many.
fn walk_all(steps: usize, has_groups: bool) {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let number = |name: &str| std::env::var(name).ok().and_then(|seed| seed.parse::<u8>().ok());
    let first = number(FIRST_SEED).unwrap_or(0);
    let many = number(MANY_SEEDS).unwrap_or(9) / if has_groups { 3 } else { 1 };
    for seed in first..first + many {
        walk(seed, steps, has_groups, &server, &clock);
    }
}

fn walk(seed: u8, steps: usize, has_groups: bool, server: &Server, clock: &Clock) {
    let mut walk = Walk::new(seed, has_groups, server, clock);
    for step in 0..steps {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            walk.step();
            walk.compare_keys();
            if step % 20 == 0 || step + 1 == steps {
                walk.note("compare answers".into());
                walk.compare_answers();
                walk.compare_keys();
            }
        }));
        if outcome.is_err() {
            let from = walk.log.len().saturating_sub(12);
            panic!("seed {seed}, step {step}; the last operations were:\n{}", walk.log[from..].join("\n"));
        }
    }
}

impl Walk {
    fn new(seed: u8, has_groups: bool, server: &Server, clock: &Clock) -> Self {
        let name = format!("model{seed}{}", if has_groups { "groups" } else { "" });
        let proxy = Proxy::before(server);
        clock::set_offset_ms(0);
        let mut walk = Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
            clock: clock.clone(),
            raw: server.raw(),
            queue: server.queue(&name),
            behind: proxy.queue(&name, Duration::from_secs(10)),
            proxy,
            model: Reference::default(),
            held: Vec::new(),
            looked: Vec::new(),
            batch: Vec::new(),
            priorities: [1, 10, 0][usize::from(seed) % 3],
            has_groups,
            log: Vec::new(),
        };
        walk.set_clock(1_800_000_000_000_123);
        walk
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.rng.random_range(0..limit)
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(u32::try_from(choices.len()).unwrap()) as usize].clone()
    }

    fn id(&mut self) -> String {
        // Few ids: duplicates, and operations on jobs in every state.
        format!("j{}", self.below(40))
    }

    fn has_priorities(&mut self) -> bool {
        self.below(10) < self.priorities
    }

    fn due(&mut self) -> Due {
        match self.below(4) {
            0 => Due::InMs(0),
            1 => Due::AtUs(self.model.now + 1000 * (50 - i64::from(self.below(100)))),
            _ => Due::InMs(self.pick(&[1, 10, 100, 1_000, 4_000])),
        }
    }

    /// Stops Redis' clock, so that scripts see this time.
    fn set_clock(&mut self, now_us: i64) {
        self.clock.stand_still_at(now_us - clock::offset_ms() * 1000);
        self.model.now = now_us;
        self.model.latest = self.model.latest.max(now_us);
    }

    fn advance(&mut self) {
        let us = match self.below(100) {
            0 => -self.pick(&[1, 10_000, 2_000_000]),
            1..4 => 1_000_000,
            4..8 => 200_000,
            8..25 => 20_000,
            25..45 => i64::from(self.below(3_000)),
            45..75 => 1,
            _ => 0,
        };
        if self.below(100) == 0 {
            // Time travel as tests of applications do it.
            let offset_ms = self.pick(&[0, 5_000, -3_000]);
            clock::set_offset_ms(offset_ms);
        }
        self.set_clock(self.model.now + us);
    }

    fn note(&mut self, text: String) {
        self.log.push(format!("{:>10} {text}", self.model.now % 10_000_000_000));
    }

    /// The queue; if the answer is to be lost, behind a proxy that loses the next one.
    fn queue(&mut self, is_lost: bool) -> Queue {
        if !is_lost {
            self.proxy.heal();
            return self.queue.clone();
        }
        self.note("  (and the answer is lost)".into());
        self.proxy.fail(Fault::DropReply, 1);
        self.behind.clone()
    }

    /// A reservation to settle: mostly a live one, sometimes a stale one, of a job that another worker may hold by now.
    fn some_held(&mut self) -> Option<Held> {
        let wanted = self.below(16);
        let choices: Vec<Held> = {
            let lease_of = |held: &Held| match self.model.jobs.iter().find(|job| job.id == held.id().to_string())?.place
            {
                Place::Held { token, .. } => Some(token),
                _ => None,
            };
            let is_wanted = |held: &&Held| match wanted {
                0 => true,
                1 => lease_of(held).is_some_and(|token| token != held.receipt.token()),
                _ => lease_of(held) == Some(held.receipt.token()),
            };
            self.held.iter().filter(is_wanted).cloned().collect()
        };
        if choices.is_empty() { None } else { Some(self.pick(&choices)) }
    }

    /// One, or now and then a few, of which some may be named twice.
    fn some_of_held(&mut self) -> Vec<Held> {
        let more = if self.below(3) == 0 { 3 } else { 0 };
        (0..=more).filter_map(|_| self.some_held()).collect()
    }

    fn step(&mut self) {
        self.advance();
        let is_lost = self.below(40) == 0;
        if self.has_groups && self.below(12) == 0 {
            return self.step_of_groups(is_lost);
        }
        match self.below(1000) {
            0..3 => self.push_bulk(),
            3..220 => {
                let count = if self.below(3) == 0 { self.below(6) + 2 } else { 1 };
                let batch: Vec<Push> = (0..count).map(|_| self.new_push()).collect();
                self.push(&batch, is_lost);
            }
            220..340 => self.trip(is_lost),
            340..490 => {
                let max = self.pick(&[1, 1, 2, 3, 10, 50]);
                self.reserve(max, is_lost);
            }
            490..500 => self.wait(is_lost),
            500..520 => self.ack_failed(is_lost),
            520..610 => {
                let many = self.some_of_held();
                self.ack(&many, is_lost);
            }
            610..660 => self.release(is_lost),
            660..680 => self.give_back(is_lost),
            680..740 => self.fail(is_lost),
            740..770 => self.bury(is_lost),
            770..785 => self.touch(is_lost),
            785..800 => self.push_once(is_lost),
            800..815 => self.renew(is_lost),
            815..830 => self.update_held(is_lost),
            830..855 => {
                let ids = (0..=self.below(3)).map(|_| self.id()).collect();
                self.cancel(ids, is_lost);
            }
            855..885 => self.reschedule(is_lost),
            885..905 => self.update(is_lost),
            905..920 => self.kick(is_lost),
            920..940 => {
                let (name, resets) = (self.id(), self.below(2) == 0);
                self.kick_job(&name, resets, is_lost);
            }
            940..965 => {
                let (name, is_lost) = (self.id(), self.below(8) == 0);
                self.reserve_job(&name, is_lost);
            }
            965..972 => self.take(is_lost),
            972..976 => self.push_once(is_lost),
            976..978 => self.forget_receipts(is_lost),
            978..980 => self.forget(is_lost),
            980..986 => self.pause(is_lost),
            986..996 => self.resume(is_lost),
            _ => {
                let state = self.pick(&State::ALL);
                self.purge(state, is_lost);
            }
        }
    }
}
