//! What the core does for one job without Redis: `cargo bench --no-default-features --bench core`.
//!
//! The smallest of many samples is the number to compare; the slowest ones are the machine's other work.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use delayqueue::core::backoff::Backoff;
use delayqueue::core::duration;
use delayqueue::core::job::{JobId, JobOptions};
use delayqueue::core::packing;
use delayqueue::core::record::{self, Record};
use delayqueue::core::resp;
use divan::{Bencher, black_box};

const PAYLOAD: &[u8] = br#"{"event":"order.close","order_id":"ord-000000000001","user_id":100001,"amount":"129.90","currency":"CNY","items":[{"sku":"SKU-88412","qty":2},{"sku":"SKU-10233","qty":1}],"create_time":1700000000,"shop":"shop-17"}"#;
const ID: &[u8] = b"ord-000000000001";

fn main() {
    divan::main();
}

fn stages() -> JobOptions {
    JobOptions { backoff: Backoff::Stages { delays_ms: vec![15_000, 180_000, 600_000] }, ..JobOptions::default() }
}

/// A record as Redis holds it: stamp, due time, options unless they are the default ones, payload.
fn stored(options: &JobOptions) -> Vec<u8> {
    let (block, flags) = record::encode_options(options);
    let (payload, pushed_ms) = (packing::pack(PAYLOAD, false), 1_700_000_000_000);
    let [mark, rest] = payload.parts();
    let head = record::Head::new(record::stamp(pushed_ms * 1000, 0, flags), pushed_ms + 900_000);
    [head.as_bytes(), &block, mark, rest].concat()
}

/// The answer to a reserve: the first token, one deadline for all, the ids, the records.
fn answer(jobs: usize) -> Vec<u8> {
    let record = stored(&JobOptions::default());
    let mut out = b"*8\r\n$4\r\nJOBS\r\n:1700000000000\r\n*0\r\n*1\r\n:7\r\n*1\r\n:1700000060000\r\n".to_vec();
    for list in [vec![ID; jobs], vec![record.as_slice(); jobs]] {
        resp::write_command(&mut out, list.into_iter());
    }
    out.extend_from_slice(b"*0\r\n");
    out
}

#[divan::bench]
fn write_a_push_request(bencher: Bencher) {
    let args: [&[u8]; 9] = [
        b"EVALSHA",
        &[b'a'; 40],
        b"3",
        b"dq:{orders}:waiting",
        b"dq:{orders}:jobs",
        b"dq:{orders}:waiters",
        ID,
        PAYLOAD,
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

#[divan::bench(args = [false, true])]
fn pack_a_payload(compress: bool) -> Vec<u8> {
    packing::pack(black_box(PAYLOAD), compress).parts().concat()
}

#[divan::bench(args = [false, true])]
fn unpack_a_payload(bencher: Bencher, compress: bool) {
    let stored = packing::pack(PAYLOAD, compress).parts().concat();
    bencher.with_inputs(|| stored.clone()).bench_local_values(|stored| packing::unpack(stored, 0).unwrap());
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
