//! A model test that no mistake can fail is worthless: every seeded mistake in the Lua must be found by the walk,
//! or by the tests that are named.

mod groups;
mod look;
mod manage;
mod push;
mod reserve;
mod settle;
mod wait;

use super::walk;
use crate::support::MANY_SEEDS;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// File, its text, the mistake in its place.
type Mutant = (&'static str, &'static str, &'static str);

const BY_THE_WALK: &[&[Mutant]] =
    &[look::BY_THE_WALK, manage::BY_THE_WALK, push::BY_THE_WALK, reserve::BY_THE_WALK, settle::BY_THE_WALK];
/// Mistakes that the walk cannot see: waiting, faults, foreign hands, limits.
const BY_OTHERS: &[&[(Mutant, &str)]] = &[
    groups::BY_OTHERS,
    look::BY_OTHERS,
    manage::BY_OTHERS,
    push::BY_OTHERS,
    reserve::BY_OTHERS,
    settle::BY_OTHERS,
    wait::BY_OTHERS,
];

const WALK: &str = "model::walk::jobs_are_never_lost_doubled_or_out_of_order";
const WALK_WITH_GROUPS: &str = "model::walk::groups_get_their_turns_within_their_limits";

#[test]
fn every_seeded_mistake_is_found() {
    let of_groups = groups::BY_THE_WALK.iter().map(|mutant| (*mutant, WALK_WITH_GROUPS));
    every_one_is_found(BY_THE_WALK.concat().into_iter().map(|mutant| (mutant, WALK)).chain(of_groups).collect());
}

#[test]
fn every_seeded_mistake_that_no_walk_can_find_is_found_by_others() {
    every_one_is_found(BY_OTHERS.concat());
}

/// With `DELAYQUEUE_MUTANTS_OF="peek.lua lib/move.lua"` only those of these files.
fn every_one_is_found(mut mutants: Vec<(Mutant, &str)>) {
    if let Ok(files) = std::env::var("DELAYQUEUE_MUTANTS_OF") {
        mutants.retain(|((file, ..), _)| files.split(' ').any(|known| known == *file));
    }
    let unchanged = ("push.lua", "local call", "local call");
    assert!(survives(&unchanged, "model::walk::regressions", 0), "tests must pass on unchanged scripts");
    let (next, survivors) = (Mutex::new(mutants.iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some((mutant, test)) = { next.lock().unwrap().next() } {
            // A walk goes some of all ways: a mistake that it has missed gets as many others.
            if survives(mutant, test, 0) && survives(mutant, test, walk::SEEDS) {
                survivors.lock().unwrap().push(format!("{mutant:?} by {test}"));
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "{} of {} not found: {survivors:#?}", survivors.len(), mutants.len());
}

fn survives((file, from, to): &Mutant, test: &str, first_seed: u8) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("lib")).unwrap();
    for folder in ["", "lib"] {
        for entry in std::fs::read_dir(source.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::copy(&path, dir.path().join(folder).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    let path = dir.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has changed: '{from}' is not in it");
    std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(test)
        .env("DELAYQUEUE_LUA_DIR", dir.path())
        .env(MANY_SEEDS, walk::SEEDS.to_string())
        .env(walk::FIRST_SEED, first_seed.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(600);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        if Instant::now() > end {
            child.kill().unwrap(); // it goes round in circles: that is found, too
            child.wait().unwrap();
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
