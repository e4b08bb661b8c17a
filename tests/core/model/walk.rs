//! Random operations on the real queue and on the model; any difference is a failure that names seed and step.

use super::reference::{Place, Push, Reference, backoff};
use crate::support::*;
use delayqueue::core::error::Error;
use delayqueue::core::job::{Due, OnDuplicate, Receipt, State};
use delayqueue::core::queue::{Failed, Held, Look, Queue, Trip, new_slot};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand::RngExt;
use std::sync::Arc;

mod pushes;

pub(super) struct Walk {
    rng: TestRng,
    clock: Clock,
    pub(super) queue: Queue,
    pub(super) raw: Raw,
    pub(super) model: Reference,
    /// Everything ever reserved, stale ones included.
    pub(super) held: Vec<Held>,
    /// A loop: its slot, the number of its last call, and what that gave.
    slot: Arc<str>,
    calls: u32,
    batch: Vec<Receipt>,
    /// Many jobs have the default options, and are leased unseen.
    is_plain: bool,
    /// How many have been.
    unseen: usize,
    /// Large batches are pushed.
    is_bulky: bool,
    /// How many were added without a script.
    watched: u64,
    log: Vec<String>,
}

/// What only jobs with the default options have here.
const PLAIN_ATTEMPTS: u32 = 10;

pub fn steps(default: usize) -> usize {
    std::env::var("DELAYQUEUE_MODEL_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn jobs_are_never_lost_doubled_or_out_of_order() {
    let clock = Clock::new();
    let server = Server::start_with_clock(&clock);
    let (steps, mut unseen, mut watched) = (steps(2_600), 0, 0);
    for seed in 0..30 {
        let ranked = seed < 20 && seed % 2 == 1;
        let mut walk = Walk::new(seed, &server, &clock, ranked);
        for step in 0..steps {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                walk.step(ranked);
                if step % 20 == 0 || step + 1 == steps {
                    walk.compare_all();
                }
            }));
            if outcome.is_err() {
                let from = walk.log.len().saturating_sub(12);
                panic!("seed {seed}, step {step}; the last operations were:\n{}", walk.log[from..].join("\n"));
            }
        }
        unseen += walk.unseen;
        watched += walk.watched;
    }
    assert!(unseen > 0, "no job was leased unseen");
    assert!(watched > 0, "no batch was added without a script");
}

impl Walk {
    fn new(seed: u8, server: &Server, clock: &Clock, ranked: bool) -> Self {
        let queue = server.queue(&format!("model{seed}{ranked}"));
        Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
            clock: clock.clone(),
            raw: server.raw(),
            queue,
            model: Reference::default(),
            held: Vec::new(),
            slot: new_slot(),
            calls: 0,
            batch: Vec::new(),
            is_plain: (20..26).contains(&seed),
            unseen: 0,
            is_bulky: seed >= 26,
            watched: 0,
            log: Vec::new(),
        }
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

    fn due(&mut self) -> Due {
        match self.below(4) {
            0 => Due::InMs(0),
            1 => Due::AtMs(self.model.now - i64::from(self.below(100)) + 50),
            _ => Due::InMs(self.pick(&[1, 10, 100, 1_000, 4_000])),
        }
    }

    /// A reservation to settle: mostly a live one, sometimes a stale one.
    fn some_held(&mut self) -> Option<Held> {
        if self.held.is_empty() {
            return None;
        }
        let stale = self.below(16) == 0;
        let live: Vec<Held> = self
            .held
            .iter()
            .filter(|held| {
                stale
                    || self
                        .model
                        .jobs
                        .iter()
                        .any(|job| matches!(job.place, Place::Held { token, .. } if token == held.receipt.token))
            })
            .cloned()
            .collect();
        if live.is_empty() { None } else { Some(self.pick(&live)) }
    }

    fn advance(&mut self) {
        let ms = match self.below(20) {
            0 => 1_000,
            1 => 200,
            2..6 => 20,
            6..12 => 1,
            _ => 0,
        };
        let before = std::mem::replace(&mut self.model.now, self.clock.advance(ms));
        if (1..100).contains(&(self.model.now - before))
            && let Ok(mut connection) = self.queue.link().take()
        {
            connection.clock.forget(); // a jump by less than half of what a slow trip takes goes unnoticed
            self.queue.link().give_back(connection);
        }
    }

    fn step(&mut self, ranked: bool) {
        self.advance();
        let operation = self.below(100);
        if self.is_bulky && operation < 5 {
            return self.push_bulk();
        }
        let before = self.clock.now_ms();
        self.run(operation, ranked);
        assert_eq!(self.clock.now_ms(), before, "the clock ticked within an operation");
    }

    fn note(&mut self, text: String) {
        self.log.push(format!("{:>8} {text}", self.model.now % 10_000_000));
    }

    /// A round trip of a loop: acknowledges all of its last batch, and leases the next into the same slot.
    fn trip(&mut self, ranked: bool) {
        let kind = if self.is_plain { self.below(4) } else { 9 };
        if kind < 2 {
            // What the short scripts do without a longer one lies together where many are pushed: here it is put first.
            let (since, spread) = (self.model.now - 50_000, self.pick(&[1, 1, 45_000]));
            let (many, ttr) = if kind == 0 { (8, 60_000) } else { (3, 3_000) };
            let new = |walk: &mut Self| {
                let due = Due::AtMs(since + i64::from(walk.below(spread)));
                Push { due, ttr, on_duplicate: OnDuplicate::Keep, ..walk.push_of(ranked, kind == 0) }
            };
            let batch = (0..many).map(|_| new(self)).collect();
            self.push(batch);
        }
        let max = match kind {
            0 => self.below(4) as usize + 2,
            1 => 1,
            _ => self.pick(&[1, 1, 2, 3, 10]),
        };
        let batch = std::mem::take(&mut self.batch);
        self.note(format!("trip {max}, acknowledging {batch:?}"));
        self.calls += 1;
        let (link, forgets) = (self.queue.link().clone(), kind == 1 || self.below(2) == 0);
        let may_be_unseen = kind == 0;
        let done = batch.iter().collect();
        let mut trip = Trip { call: self.calls, done, may_be_unseen, ..Trip::new(&self.slot, max) };
        let mut held = link.take().ok();
        if let Some(connection) = held.as_mut().filter(|_| forgets) {
            // What is special here is too frequent for the shortest scripts to be tried much.
            (connection.without_next, connection.without_unseen) = (0, 0);
        }
        let got = match self.queue.look(&mut held, &mut trip, None).unwrap() {
            Look::Jobs(jobs) => jobs,
            Look::Unseen(unseen) => {
                self.unseen += unseen.len();
                self.queue.see(&unseen).unwrap()
            }
            Look::Nothing(_) => Vec::new(),
        };
        held.into_iter().for_each(|connection| link.give_back(connection));
        let lost = trip.lost;
        let mut expected: Vec<u64> = batch.iter().map(|receipt| receipt.token).collect();
        expected.retain(|token| !self.model.ack(*token));
        assert_eq!(lost, expected, "what was not ours any more");
        self.batch = got.iter().map(|job| job.receipt.clone()).collect();
        let expected = self.model.reserve(max);
        self.compare_reserved(got, expected);
    }

    fn run(&mut self, operation: u32, ranked: bool) {
        match operation {
            0..22 => {
                let count = if self.below(3) == 0 { self.below(6) + 2 } else { 1 };
                let batch: Vec<Push> = (0..count).map(|_| self.new_push(ranked)).collect();
                self.push(batch);
            }
            22..34 => self.trip(ranked),
            34..50 => {
                let max = self.pick(&[1, 1, 2, 3, 10]);
                self.note(format!("reserve {max}"));
                let got = reserve_many(&self.queue, max);
                let expected = self.model.reserve(max);
                self.compare_reserved(got, expected);
            }
            50..62 => {
                let Some(first) = self.some_held() else { return };
                let mut many = vec![first];
                if self.below(3) == 0 {
                    many.extend((0..3).filter_map(|_| self.some_held()).collect::<Vec<_>>());
                }
                self.note(format!("ack {many:?}"));
                let expected: Vec<bool> = many.iter().map(|held| self.model.ack(held.receipt.token)).collect();
                if let [one] = many.as_slice() {
                    assert_eq!(is_ours(self.queue.ack(one)), expected[0]);
                } else {
                    assert_eq!(self.queue.ack_many(&many).unwrap(), expected);
                }
            }
            62..67 => {
                let Some(held) = self.some_held() else { return };
                let (due, priority) =
                    (self.due(), if ranked { self.pick(&[None, Some(3), Some(1024), Some(9_999)]) } else { None });
                self.note(format!("release {held:?} {due:?} {priority:?}"));
                let expected = self.model.release(held.receipt.token, due, priority);
                assert_eq!(is_ours(self.queue.release(&held, due, priority)), expected);
            }
            67..74 => {
                let Some(held) = self.some_held() else { return };
                self.note(format!("fail {held:?}"));
                let got = self.queue.fail(&held, Some(b"boom"));
                let delay_ms = match got {
                    Ok(Failed::Retried { due_at_ms }) if held.options.backoff != backoff() => {
                        u64::try_from(due_at_ms - self.model.due(Due::InMs(1)) + 1).unwrap() // at random
                    }
                    _ => backoff().delay_after_ms(held.attempts),
                };
                let expected = self.model.fail(held.receipt.token, delay_ms, "boom");
                match (got, expected) {
                    (Ok(Failed::Buried), Some(true)) | (Err(Error::LeaseLost { .. }), None) => {}
                    (Ok(Failed::Retried { due_at_ms }), Some(false)) => {
                        let id = held.id.to_string();
                        assert_eq!(due_at_ms, self.model.find(&id).unwrap().due);
                    }
                    (got, expected) => panic!("fail gave {got:?}, expected {expected:?}"),
                }
            }
            74..77 => {
                let Some(held) = self.some_held() else { return };
                self.note(format!("bury {held:?}"));
                let expected = self.model.bury(held.receipt.token, "why");
                assert_eq!(is_ours(self.queue.bury(&held, Some(b"why"))), expected);
            }
            77..80 => {
                let Some(held) = self.some_held() else { return };
                let ttr = self.pick(&[None, Some(100), Some(5_000)]);
                self.note(format!("touch {held:?} {ttr:?}"));
                let expected = self.model.touch(held.receipt.token, ttr);
                let got = self.queue.touch(&held, ttr.map(|ttr| u64::try_from(ttr).unwrap()));
                assert_eq!(got.ok(), expected);
            }
            80..83 => {
                let ids: Vec<String> = (0..=self.below(3)).map(|_| self.id()).collect();
                self.note(format!("cancel {ids:?}"));
                let expected = self.model.cancel(&ids);
                assert_eq!(self.queue.cancel(&ids.iter().map(|text| id(text)).collect::<Vec<_>>()).unwrap(), expected);
            }
            83..86 => {
                let (name, due) = (self.id(), self.due());
                self.note(format!("reschedule {name} {due:?}"));
                let expected = self.model.reschedule(&name, due);
                assert_eq!(self.queue.reschedule(&id(&name), due).unwrap(), expected);
            }
            86..88 => {
                let name = self.id();
                self.note(format!("update {name}"));
                let expected = self.model.update(&name, b"updated");
                assert_eq!(self.queue.update(&id(&name), b"updated").unwrap(), expected);
            }
            88..90 => {
                let (max, reset) = (self.below(5) as usize + 1, self.below(2) == 0);
                self.note(format!("kick {max} {reset}"));
                let expected = self.model.kick(max, reset);
                assert_eq!(self.queue.kick(max as u64, reset).unwrap(), expected);
            }
            90..92 => {
                let (name, reset) = (self.id(), self.below(2) == 0);
                self.note(format!("kick_job {name} {reset}"));
                let expected = self.model.kick_job(&name, reset);
                assert_eq!(self.queue.kick_job(&id(&name), reset).unwrap(), expected);
            }
            92..95 => {
                let name = self.id();
                self.note(format!("reserve_job {name}"));
                let got = self.queue.reserve_job(&id(&name)).unwrap();
                let expected = self.model.reserve_job(&name);
                self.compare_reserved(got.into_iter().collect(), expected.into_iter().collect());
            }
            95..97 => {
                let (ahead, limit) = (self.pick(&[0, 0, 50]), self.below(3) as usize + 1);
                self.note(format!("take {ahead} {limit}"));
                let latest = self.model.now + ahead;
                let expected = self.model.take(latest, limit);
                let asked = if ahead == 0 { None } else { Some(latest) };
                assert_eq!(self.queue.take(asked, limit).unwrap(), expected);
            }
            97 => {
                let for_ms = self.pick(&[None, Some(30)]);
                self.note(format!("pause {for_ms:?}"));
                self.queue.pause(for_ms).unwrap();
                self.model.paused_until =
                    Some(for_ms.map_or(i64::MAX, |ms| self.model.now + 1 + i64::try_from(ms).unwrap()));
            }
            98 => {
                self.note("resume".into());
                self.queue.resume().unwrap();
                self.model.paused_until = None;
            }
            _ => {
                if self.below(4) == 0 {
                    let state = self.pick(&State::ALL);
                    self.note(format!("purge {state:?}"));
                    let expected = self.model.purge(state);
                    assert_eq!(self.queue.purge(&[state]).unwrap(), expected);
                }
            }
        }
    }
}

fn is_ours(result: Result<(), Error>) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::LeaseLost { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}
