//! What the core does for one job without Redis: `cargo bench --no-default-features --bench core`.
//!
//! The smallest of many samples is the number to compare; the slowest ones are the machine's other work.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use delayqueue::core::backoff::Backoff;
use delayqueue::core::duration;
use delayqueue::core::job::{JobId, JobOptions};
use delayqueue::core::record::{self, Entry, Record};
use delayqueue::core::resp;
use divan::{Bencher, black_box};

const PAYLOAD: &[u8] = &[b'p'; 213];
const ID: &[u8] = b"ord-000000000001";

fn main() {
    divan::main();
}

fn stages() -> JobOptions {
    JobOptions { backoff: Backoff::Stages { delays_ms: vec![15_000, 180_000, 600_000] }, ..JobOptions::default() }
}

/// A record as Redis holds it: stamp, options unless they are the default ones, payload.
fn stored(options: &JobOptions) -> Vec<u8> {
    let (block, flags) = record::encode_options(options);
    let flag = if flags == b"0" { 0 } else { 2 };
    [&[0x01, 0x23, 0x45, 0x67, 0x89, 0xab, flag], block.as_slice(), PAYLOAD].concat()
}

/// One lease as `lua/reserve.lua` answers it.
fn leased() -> Vec<u8> {
    let length = u8::try_from(ID.len()).unwrap();
    [[0; 23].as_slice(), &[length], ID].concat()
}

/// The answer to a reserve: `JOBS`, the time, nothing lost, and three values per job.
fn answer(jobs: usize) -> Vec<u8> {
    let (entry, record) = (leased(), stored(&JobOptions::default()));
    let mut out = format!("*{}\r\n$4\r\nJOBS\r\n$13\r\n1700000000000\r\n*0\r\n", 3 + 3 * jobs).into_bytes();
    for value in std::iter::repeat_n([entry.as_slice(), &record, b""], jobs).flatten() {
        out.extend_from_slice(format!("${}\r\n", value.len()).as_bytes());
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    out
}

#[divan::bench]
fn write_a_push_request(bencher: Bencher) {
    let args: [&[u8]; 11] = [
        b"EVALSHA",
        &[b'a'; 40],
        b"3",
        b"dq:{orders}:jobs",
        b"dq:{orders}:waiting",
        b"dq:{orders}:waiters",
        b"0",
        ID,
        PAYLOAD,
        b"0",
        b"900000",
    ];
    let mut buffer = Vec::with_capacity(1024);
    bencher.bench_local(|| {
        buffer.clear();
        resp::write_command(&mut buffer, black_box(&args).iter().copied());
        buffer.len()
    });
}

#[divan::bench(args = [1, 16, 64])]
fn cut_and_parse_the_answer_to_a_reserve(bencher: Bencher, jobs: usize) {
    let bytes = answer(jobs);
    bencher.bench_local(|| {
        let length = resp::frame_length(black_box(&bytes), usize::MAX).unwrap().unwrap();
        resp::parse(&bytes[..length]).unwrap()
    });
}

#[divan::bench]
fn encode_default_options() -> (Vec<u8>, &'static [u8]) {
    record::encode_options(black_box(&JobOptions::default()))
}

#[divan::bench]
fn encode_options_with_stages(bencher: Bencher) {
    let options = stages();
    bencher.bench_local(|| record::encode_options(black_box(&options)));
}

#[divan::bench]
fn decode_a_record(bencher: Bencher) {
    let bytes = stored(&JobOptions::default());
    bencher.bench_local(|| Record::decode(black_box(&bytes)).unwrap());
}

#[divan::bench]
fn decode_a_record_with_options(bencher: Bencher) {
    let bytes = stored(&stages());
    bencher.bench_local(|| Record::decode(black_box(&bytes)).unwrap());
}

#[divan::bench]
fn decode_a_lease(bencher: Bencher) {
    let bytes = leased();
    bencher.bench_local(|| Entry::decode(black_box(&bytes)).unwrap());
}

#[divan::bench(args = ["900", "500ms", "15m", "2h30m", "PT15M"])]
fn parse_a_duration(text: &str) -> u64 {
    duration::parse(black_box(text)).unwrap()
}

#[divan::bench]
fn delay_after_the_fifth_attempt() -> u64 {
    Backoff::default().jittered_after_ms(black_box(5), black_box(0.5))
}

#[divan::bench]
fn decode_a_backoff() -> Backoff {
    Backoff::decode(black_box("s15000,180000,600000")).unwrap()
}

#[divan::bench]
fn make_an_id() -> JobId {
    JobId::generate()
}

#[divan::bench]
fn check_an_id() -> JobId {
    JobId::new(black_box(ID)).unwrap()
}
