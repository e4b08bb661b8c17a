//! Everything that reads bytes from outside gets random ones, and good ones with damage: it never panics, never hangs, and reads what it has
//! written. `PROPTEST_CASES=1000000 cargo test --no-default-features --test core -- fuzz` does so for longer.

use delayqueue::core::backoff::{Backoff, MAX_STAGES};
use delayqueue::core::dsn::{Dsn, Login, Server, Target, Topology};
use delayqueue::core::duration;
use delayqueue::core::job::{Extras, JobId, JobOptions, LeaseReceipt, State};
use delayqueue::core::record::{History, Record, encode_head, stored_options};
use delayqueue::core::reply::{self, Reply};
use delayqueue::core::resolver::{Redirection, slot_of};
use delayqueue::core::resp::{Bounds, frame_length, parse, write_command};
use delayqueue::core::seal::Seal;
use delayqueue::core::worker::lease::Lease;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use redis::Value;
use std::sync::Arc;
use std::time::Instant;

const LIMIT: Bounds = Bounds { bytes: 1 << 20, values: 1 << 16 };
const PASSWORD: &str = "hunter2-and-more";

/// Damage to bytes on their way.
#[derive(Debug, Clone)]
enum Damage {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, Index),
    Cut(Index),
    Repeat(Index, u8),
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let index = any::<Index>;
    let bytes = b"*-:9%@/?,[]\0\xff=&# {\"P+".chunks(1);
    let words = [&b"\r\n"[..], b"$-1\r\n", b"99999999999999999999", b"e308", b"ms"];
    let pieces = select(bytes.chain(words).collect::<Vec<&[u8]>>());
    vec(
        prop_oneof![
            (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
            (index(), pieces).prop_map(|(at, piece)| Damage::Insert(at, piece.to_vec())),
            (index(), vec(any::<u8>(), 1..5)).prop_map(|(at, piece)| Damage::Insert(at, piece)),
            (index(), index()).prop_map(|(from, to)| Damage::Remove(from, to)),
            index().prop_map(Damage::Cut),
            (index(), any::<u8>()).prop_map(|(at, times)| Damage::Repeat(at, times)),
        ],
        0..5,
    )
}

fn damaged(mut bytes: Vec<u8>, damage: &[Damage]) -> Vec<u8> {
    for each in damage {
        let at = |index: &Index| index.index(bytes.len() + 1);
        match each {
            Damage::Set(index, byte) => {
                let at = at(index);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Damage::Insert(index, piece) => {
                let at = at(index);
                bytes.splice(at..at, piece.iter().copied());
            }
            Damage::Remove(one, other) => {
                let (from, to) = (at(one).min(at(other)), at(one).max(at(other)));
                bytes.drain(from..to);
            }
            Damage::Cut(index) => bytes.truncate(at(index)),
            Damage::Repeat(index, times) => {
                let at = at(index);
                let piece = bytes[at..(at + 4).min(bytes.len())].repeat(usize::from(*times));
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// One of these with damage, or random bytes.
fn bytes_like(good: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (select(good), damage()).prop_map(|(bytes, damage)| damaged(bytes, &damage)),
        1 => vec(any::<u8>(), 0..120),
    ]
}

fn text_like(good: &[&str]) -> impl Strategy<Value = String> + use<> {
    bytes_like(good.iter().map(|text| text.as_bytes().to_vec()).collect())
        .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn delay() -> impl Strategy<Value = u64> {
    prop_oneof![0..=duration::MAX_MS, 0..100_000_u64]
}

fn backoffs() -> impl Strategy<Value = Backoff> {
    prop_oneof![
        delay().prop_map(|delay_ms| Backoff::Fixed { delay_ms }),
        (delay(), delay()).prop_map(|(step_ms, base_ms)| Backoff::Linear { step_ms, base_ms }),
        vec(delay(), 1..=MAX_STAGES).prop_map(|delays_ms| Backoff::Stages { delays_ms }),
        (delay(), 1.0..1e300_f64, delay(), 0.0..=1.0_f64)
            .prop_map(|(base_ms, factor, max_ms, jitter)| Backoff::Exponential { base_ms, factor, max_ms, jitter }),
    ]
}

fn options() -> impl Strategy<Value = JobOptions> {
    let headers = proptest::collection::btree_map("[A-Za-z0-9._-]{1,20}", any::<String>(), 0..5);
    let unknown = proptest::collection::btree_map("x[a-z]{1,8}", any::<i64>(), 0..3);
    let seal = (any::<String>(), any::<String>(), any::<String>());
    let seal = proptest::option::of(seal.prop_map(|(algorithm, key, tag)| Seal { algorithm, key, tag }));
    (
        any::<u32>(),
        100..=2_592_000_000_u64,
        any::<u32>(),
        delay(),
        proptest::option::of(backoffs()),
        headers,
        unknown,
        seal,
    )
        .prop_map(|(priority, ttr_ms, max_attempts, timeout_ms, backoff, headers, unknown, seal)| JobOptions {
            priority,
            ttr_ms,
            max_attempts,
            timeout_ms,
            backoff,
            headers: headers.into_iter().collect(),
            extras: Extras {
                members: unknown.into_iter().map(|(name, value)| (name, value.into())).collect(),
                ..Extras::default()
            },
            seal,
        })
}

fn values() -> impl Strategy<Value = Value> {
    let words = select(vec![
        "OK",
        "JOBS",
        "EMPTY",
        "PAUSED",
        "AGAIN",
        "0",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "",
    ]);
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::Int),
        words.prop_map(|word| Value::BulkString(word.into())),
        vec(any::<u8>(), 0..60).prop_map(Value::BulkString),
        any::<f64>().prop_map(Value::Double),
        Just(Value::Nil),
        Just(Value::Okay),
    ];
    leaf.prop_recursive(3, 60, 12, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..12).prop_map(Value::Array),
            vec((inner.clone(), inner), 0..3).prop_map(Value::Map)
        ]
    })
}

/// The bytes of a record, a lease and a history as they may stand in Redis.
fn stored() -> impl Strategy<Value = Vec<Value>> {
    let record = (options(), vec(any::<u8>(), 0..40), damage())
        .prop_map(|(options, payload, damage)| damaged([encode_head(&options, 1), payload].concat(), &damage));
    let lease = bytes_like(vec![b"17 1763827313123456 7f3a".to_vec(), b"9007199254740993 9.2e18 c +".to_vec()]);
    let history = prop_oneof![vec(Just(0xff), 0..40), vec(any::<u8>(), 0..40)];
    vec((vec(any::<u8>(), 0..20), lease, record, history), 0..4).prop_map(|jobs| {
        jobs.into_iter()
            .flat_map(|(id, lease, record, history)| [id, lease, record, history].map(Value::BulkString))
            .collect()
    })
}

/// As many as `PROPTEST_CASES` says; by default few, because these tests run with all the others.
fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64);
    // A finding becomes a test of its own instead of a file.
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_record_is_read_as_it_was_written(options in options(), created in 0..(1_i64 << 47), payload in vec(any::<u8>(), 0..100)) {
        let bytes = [encode_head(&options, created), payload.clone()].concat();
        let read = Record::decode(bytes).unwrap();
        prop_assert_eq!((read.created_at_ms, read.payload), (created, payload));
        prop_assert_eq!(read.options, options);
    }

    #[test]
    fn a_damaged_record_is_read_or_refused(options in options(), payload in vec(any::<u8>(), 0..50), damage in damage()) {
        let bytes = damaged([encode_head(&options, 1), payload].concat(), &damage);
        let _ = History::decode(&bytes);
        // Damage may also set the flag of traits, so that the options can be read and the record cannot.
        prop_assert!(stored_options(&bytes).is_some() || Record::decode(bytes.clone()).is_none());
        if let Some(read) = Record::decode(bytes) {
            let backoff = read.options.backoff.unwrap_or_default();
            let _ = (backoff.delay_after_ms(u32::MAX), backoff.jittered_after_ms(7, 0.9));
        }
    }

    #[test]
    fn random_stored_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..120)) {
        let _ = (History::decode(&bytes), stored_options(&bytes).map(<[u8]>::len), Record::decode(bytes));
    }

    #[test]
    fn a_lease_is_any_bytes(lease in bytes_like(vec![b"17 1763827313123456 7f3a".to_vec(), b"1e30 -5 x +".to_vec()])) {
        let receipt = LeaseReceipt { id: JobId::from_redis(&lease), lease: lease.into() };
        let _ = (receipt.token(), receipt.due_at_us());
    }

    #[test]
    fn a_reply_of_jobs_is_read_or_refused(jobs in stored(), time in any::<i64>(), damaged in any::<Index>(), with in values(), is_damaged in any::<bool>()) {
        let mut all = vec![Value::BulkString(b"JOBS".to_vec()), Value::Int(time)];
        all.extend(jobs);
        if is_damaged {
            let at = damaged.index(all.len());
            all[at] = with;
        }
        if let Ok(reply) = Reply::new(Value::Array(all))
            && let Ok(leased) = reply.leased(&Arc::from("q"), Instant::now())
        {
            for job in &leased.jobs {
                let _ = Lease::of(job).until();
            }
        }
    }

    #[test]
    fn a_reply_of_looking_is_read_or_refused(jobs in stored(), due in values(), until in values()) {
        for state in State::ALL {
            let mut all = vec![Value::BulkString(b"JOB".to_vec())];
            all.extend(jobs.chunks(4).next().into_iter().flatten().enumerate().filter(|(at, _)| *at != 1).map(|(_, value)| value.clone()));
            all.extend([due.clone(), until.clone()]);
            let _ = Reply::new(Value::Array(all)).map(|mut reply| reply.info("q", state).is_ok());
        }
    }

    #[test]
    fn any_reply_is_read_or_refused(value in values()) {
        let _ = (reply::first_score(&value), reply::time_us(&value), reply::all(value.clone()).is_ok());
        let _ = (reply::text(value.clone()), reply::bytes(value.clone()), reply::int(value.clone()));
        let take: [fn(&mut Reply) -> bool; 5] = [
            |reply| reply.text().is_ok(),
            |reply| reply.bytes().is_ok(),
            |reply| reply.int().is_ok(),
            |reply| reply.optional_int().is_ok(),
            |reply| reply.positions().is_ok(),
        ];
        for each in take {
            if let Ok(mut reply) = Reply::new(value.clone()) {
                while !reply.is_at_end() {
                    each(&mut reply);
                }
            }
        }
        let _ = Reply::new(value).map(Reply::rest);
    }

    #[test]
    fn a_damaged_frame_is_read_or_refused(args in vec(vec(any::<u8>(), 0..40), 1..6), damage in damage()) {
        let mut frame = Vec::new();
        write_command(&mut frame, args.iter().map(Vec::as_slice));
        let read = parse(&frame).unwrap();
        prop_assert_eq!(read, Value::Array(args.into_iter().map(Value::BulkString).collect()));
        let frame = damaged(frame, &damage);
        // A reply that arrives piece by piece is refused at once, or complete at one place.
        let mut complete = None;
        for end in 0..=frame.len() {
            match frame_length(&frame[..end], LIMIT) {
                Ok(None) => prop_assert_eq!(complete, None),
                Ok(Some(length)) => {
                    prop_assert!(length <= end && *complete.get_or_insert(length) == length);
                    let _ = parse(&frame[..length]);
                }
                Err(_) => break,
            }
        }
    }

    #[test]
    fn a_duration_is_read_or_refused(text in text_like(&["2h30m", "PT15M", "1.5", "500ms", "1d", "P1DT2H", "1 hour", "1e3", "-5s", "P1Y2M"])) {
        if let Ok(ms) = duration::parse(&text) {
            prop_assert!(ms <= duration::MAX_MS, "{text} is {ms} ms");
        }
    }

    #[test]
    fn a_duration_is_read_as_it_was_printed(ms in delay(), seconds in any::<f64>()) {
        prop_assert_eq!(duration::parse(&duration::text(ms)), Ok(ms));
        if let Ok(read) = duration::from_seconds(seconds) {
            prop_assert!(read <= duration::MAX_MS && read as f64 >= seconds * 1000.0 - 1e-2);
        }
    }

    #[test]
    fn a_backoff_is_read_as_it_was_printed(backoff in backoffs(), attempt in any::<u32>(), unit in 0.0..1.0_f64) {
        prop_assert_eq!(&Backoff::parse(&backoff.to_string()).unwrap(), &backoff);
        let _ = (backoff.delay_after_ms(attempt), backoff.jittered_after_ms(attempt, unit));
    }

    #[test]
    fn a_damaged_backoff_is_read_or_refused(text in text_like(&["exponential 5s 2 1h 0.1", "15s 3m 10m", "linear 2m 1m", "fixed 7s"])) {
        if let Ok(backoff) = Backoff::parse(&text) {
            for attempt in [0, 1, 2, 1000, u32::MAX] {
                let _ = (backoff.delay_after_ms(attempt), backoff.jittered_after_ms(attempt, 0.999));
            }
        }
    }

    #[test]
    fn a_dsn_is_read_as_it_was_written(
        user in "[ -~]{1,12}",
        password in "[ -~é]{6,20}",
        host in "h[a-z0-9-]{0,10}[a-z0-9]",
        port in 1..=65535_u16,
        database in 0..=15_u32,
    ) {
        let part = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let text = format!("redis://{}:{}@{host}:{port}/{database}", part(&user), part(&password));
        let dsn = Dsn::parse(&text).unwrap();
        let Topology::Server(server) = &dsn.topology else { panic!("{text}") };
        prop_assert_eq!(&server.target, &Target::Tcp { host, port });
        prop_assert_eq!((server.login.user.as_ref(), server.login.password.as_ref()), (Some(&user), Some(&password)));
        let shown = format!("{dsn:?} {server:?}").replace(&user, "");
        prop_assert!(!shown.contains(&password), "{shown}");
    }

    #[test]
    fn a_damaged_dsn_is_read_or_refused_and_never_shows_its_password(before in text_like(&["redis", "rediss", "redis+sentinel", "valkey+cluster", "redis+unix"]), after in text_like(&[
        "h:6379/0?ca=/x",
        "h1:26379,h2,[::1]:7/orders/2?sentinel_user=u&sentinel_password=p",
        "h1,h2:1",
        "/run/redis.sock?db=3",
    ])) {
        let text = format!("{before}://app:{PASSWORD}@{after}");
        match Dsn::parse(&text) {
            Ok(dsn) => prop_assert!(!format!("{dsn:?} {}", dsn.redacted()).contains(PASSWORD), "{text}: {dsn:?}"),
            Err(error) => prop_assert!(!error.to_string().contains(PASSWORD), "{text}: {error}"),
        }
    }

    #[test]
    fn a_damaged_redirection_is_read_or_ignored(code in select(vec!["MOVED", "ASK", "ERR"]), details in text_like(&["3999 10.0.0.2:6381", "16383 [::1]:6381", "0 :1", "1 host.example:65535"])) {
        let asked = Server { target: Target::Tcp { host: "h".into(), port: 1 }, login: Login::default() };
        let _ = Redirection::read(code, &details, &asked);
        prop_assert!(slot_of(details.as_bytes()) < 16384);
    }

    #[test]
    fn an_id_is_refused_or_kept_byte_for_byte(bytes in vec(any::<u8>(), 0..260)) {
        if let Ok(id) = JobId::new(&bytes) {
            prop_assert_eq!(id.as_bytes(), &bytes[..]);
        }
        let _ = format!("{} {:?}", JobId::from_redis(&bytes), JobId::from_redis(&bytes));
    }
}

#[test]
fn positions_and_counts_at_the_end_of_their_range_are_read_or_refused() {
    let positions = Value::BulkString(format!("{} 0 3 {}", i64::MIN, u64::MAX).into());
    let mut reply = Reply::new(Value::Array(vec![Value::Okay, positions])).unwrap();
    assert_eq!(reply.positions().unwrap(), [2, usize::MAX - 1]);
    let history = Value::BulkString(vec![0xff; 20]);
    let looked =
        [Value::BulkString(b"a".to_vec()), Value::BulkString(vec![0; 7]), history, Value::Int(1), Value::Int(1)];
    let all = std::iter::once(Value::Okay).chain(looked).collect();
    assert_eq!(Reply::new(Value::Array(all)).unwrap().info("q", State::Reserved).unwrap().attempts, u32::MAX);
}
