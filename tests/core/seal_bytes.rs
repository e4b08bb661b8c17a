//! The bytes of a seal: known answers of another library, every part that somebody could change, and random bytes.

use crate::support::id;
use delayqueue::core::error::Error;
use delayqueue::core::job::{JobId, JobOptions};
use delayqueue::core::keyring::{Address, Keyring, open};
use delayqueue::core::seal::{Seal, Unopened};

const PAYLOAD: &[u8] = br#"{"order":4711}"#;

pub fn keys(ids: &[&str], only_signs: bool) -> Keyring {
    let secrets: Vec<[u8; 32]> = ids.iter().map(|id| secret(id)).collect();
    Keyring::new(ids.iter().zip(&secrets).map(|(id, secret)| (id.as_bytes(), secret.as_slice())), only_signs).unwrap()
}

/// Each id has its own key, the same one in every test.
pub fn secret(id: &str) -> [u8; 32] {
    std::array::from_fn(|at| {
        id.bytes().fold(u8::try_from(at).unwrap(), |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))
    })
}

fn headers() -> Vec<(String, String)> {
    vec![("trace".into(), "00-é".into()), ("tenant".into(), String::new())]
}

fn at<'a>(prefix: &'a str, queue: &'a str, id: &'a JobId) -> Address<'a> {
    Address { prefix, queue, id }
}

fn sealed(keys: &Keyring, id: &JobId) -> (JobOptions, Vec<u8>) {
    let options = JobOptions { headers: headers(), priority: 7, ..JobOptions::default() };
    keys.seal(at("dq", "orders", id), &options, PAYLOAD).unwrap()
}

/// Opens it as the job `id` of the queue `orders`.
fn try_open(
    keys: Option<&Keyring>,
    id: &JobId,
    sealed: &(JobOptions, Vec<u8>),
) -> Result<(JobOptions, Vec<u8>), Unopened> {
    let (mut options, mut payload) = sealed.clone();
    match open(keys, at("dq", "orders", id), &mut options, &mut payload) {
        Ok(()) => Ok((options, payload)),
        Err(why) => {
            assert_eq!((&options, &payload), (&sealed.0, &sealed.1), "a job that is not opened stays as it is");
            Err(why)
        }
    }
}

#[test]
fn a_sealed_job_opens_to_the_same_payload_and_headers() {
    let a = id("a");
    for only_signs in [false, true] {
        let keys = keys(&["k1"], only_signs);
        for (headers, payload) in [(headers(), PAYLOAD), (Vec::new(), b"".as_slice()), (Vec::new(), &[0xff; 100_000])] {
            let options = JobOptions { headers: headers.clone(), ..JobOptions::default() };
            let sealed = keys.seal(at("dq", "orders", &a), &options, payload).unwrap();
            assert_eq!(sealed.0.headers.is_empty(), !only_signs || headers.is_empty());
            let (options, opened) = try_open(Some(&keys), &a, &sealed).unwrap();
            assert_eq!((options.headers, opened), (headers, payload.to_vec()));
        }
    }
}

#[test]
fn libsodium_and_hash_hmac_give_the_same_bytes() {
    let secret: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let keys = Keyring::new([(b"2030-01".as_slice(), secret.as_slice())], false).unwrap();
    let job = id("order-4711");
    let header = vec![("trace".to_owned(), "00-é".to_owned())];
    let opened = |algorithm: &str, tag: &str, headers: Vec<(String, String)>, payload: &[u8]| {
        let seal = Seal { algorithm: algorithm.into(), key: "2030-01".into(), tag: tag.into() };
        try_open(
            Some(&keys),
            &job,
            &(JobOptions { seal: Some(seal), headers, ..JobOptions::default() }, payload.to_vec()),
        )
    };
    // sodium_crypto_aead_xchacha20poly1305_ietf_encrypt() of libsodium, less the tag at the end.
    let stored = "404142434445464748494a4b4c4d4e4f5051525354555657d4390571d0e07913fb86e6ddca9c6592978a9de9d0f028b8054399207b2619a421c83313";
    let stored: Vec<u8> =
        (0..stored.len()).step_by(2).map(|at| u8::from_str_radix(&stored[at..at + 2], 16).unwrap()).collect();
    let (options, payload) = opened("xchacha20-poly1305", "cU8rVzn+g8H+4VWL/w7YYw==", Vec::new(), &stored).unwrap();
    assert_eq!((options.headers, payload.as_slice()), (header.clone(), PAYLOAD));
    // hash_hmac('sha256') of PHP.
    let (options, payload) =
        opened("hmac-sha256", "MxIPizGKqO8Jc0A7pTDOXuASFFU/DBS1Kcl2V9s2Lng=", header.clone(), PAYLOAD).unwrap();
    assert_eq!((options.headers, payload.as_slice()), (header, PAYLOAD));
}

#[test]
fn a_change_of_any_byte_of_the_payload_is_noticed() {
    let a = id("a");
    for only_signs in [false, true] {
        let keys = keys(&["k1"], only_signs);
        let whole = sealed(&keys, &a);
        for place in 0..whole.1.len() {
            let mut changed = whole.clone();
            changed.1[place] ^= 1; // the nonce comes first
            assert_eq!(try_open(Some(&keys), &a, &changed), Err(Unopened::Forged("k1".into())), "byte {place}");
        }
        for length in 0..whole.1.len() {
            let cut = (whole.0.clone(), whole.1[..length].to_vec());
            assert_eq!(try_open(Some(&keys), &a, &cut), Err(Unopened::Forged("k1".into())), "cut off at {length}");
        }
        let longer = (whole.0.clone(), [whole.1.as_slice(), b"x"].concat());
        assert_eq!(try_open(Some(&keys), &a, &longer), Err(Unopened::Forged("k1".into())));
    }
}

#[test]
fn a_seal_that_was_changed_opens_nothing() {
    let a = id("a");
    for only_signs in [false, true] {
        let keys = keys(&["k1", "k2"], only_signs);
        let whole = sealed(&keys, &a);
        let with = |change: &dyn Fn(&mut Seal)| {
            let mut changed = whole.clone();
            change(changed.0.seal.as_mut().unwrap());
            try_open(Some(&keys), &a, &changed).unwrap_err()
        };
        let forged = |key: &str| Unopened::Forged(key.into());
        assert_eq!(with(&|seal| seal.key = "k2".into()), forged("k2"));
        assert_eq!(with(&|seal| seal.key = "k3".into()), Unopened::UnknownKey("k3".into()));
        assert_eq!(with(&|seal| seal.key = "\x1b[2J\n".into()), Unopened::UnknownKey("?".into()));
        assert_eq!(with(&|seal| seal.key = "k".repeat(65)), Unopened::UnknownKey("?".into()));
        for (word, other) in [("xchacha20-poly1305", true), ("hmac-sha256", false)] {
            if other == only_signs {
                assert_eq!(with(&|seal| seal.algorithm = word.into()), forged("k1"));
            }
        }
        assert_eq!(with(&|seal| seal.algorithm = "none".into()), Unopened::UnknownAlgorithm("k1".into()));
        for tag in
            ["", "AAAA", "not base64!", "AAAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        {
            assert_eq!(with(&|seal| seal.tag = tag.into()), forged("k1"), "{tag}");
        }
    }
}

#[test]
fn a_job_under_another_id_queue_or_prefix_does_not_open() {
    let (a, b) = (id("a"), id("b"));
    for only_signs in [false, true] {
        let keys = keys(&["k1"], only_signs);
        let (options, payload) = sealed(&keys, &a);
        for place in [at("dq", "orders", &b), at("dq", "order", &a), at("d", "orders", &a), at("dqo", "rders", &a)] {
            let found = open(Some(&keys), place, &mut options.clone(), &mut payload.clone());
            assert_eq!(found, Err(Unopened::Forged("k1".into())), "{place:?}");
        }
        assert_eq!(try_open(Some(&keys), &a, &(options, payload)).unwrap().1, PAYLOAD);
    }
}

#[test]
fn headers_that_somebody_put_beside_the_payload_are_not_believed() {
    let a = id("a");
    let forged = vec![("admin".to_owned(), "yes".to_owned())];
    let encrypting = keys(&["k1"], false);
    let (options, payload) = sealed(&encrypting, &a);
    let found = try_open(Some(&encrypting), &a, &(JobOptions { headers: forged.clone(), ..options }, payload)).unwrap();
    assert_eq!(found.0.headers, headers(), "those in the ciphertext");
    let signing = keys(&["k1"], true);
    let (options, payload) = sealed(&signing, &a);
    let swapped = options.headers.iter().rev().cloned().collect();
    for changed in [forged, Vec::new(), swapped, vec![("trace".into(), "00-étenant".into())]] {
        let changed = (JobOptions { headers: changed, ..options.clone() }, payload.clone());
        assert_eq!(try_open(Some(&signing), &a, &changed), Err(Unopened::Forged("k1".into())));
    }
}

#[test]
fn every_key_of_the_ring_opens_and_the_first_one_seals() {
    let a = id("a");
    for only_signs in [false, true] {
        let old = sealed(&keys(&["old"], only_signs), &a);
        let both = keys(&["new", "old"], only_signs);
        assert_eq!(try_open(Some(&both), &a, &old).unwrap().1, PAYLOAD);
        assert_eq!(try_open(Some(&keys(&["new"], only_signs)), &a, &old), Err(Unopened::UnknownKey("old".into())));
        // Keys also open jobs of the other way.
        assert_eq!(try_open(Some(&keys(&["old"], !only_signs)), &a, &old).unwrap().1, PAYLOAD);
        let new = sealed(&both, &a);
        assert_eq!(new.0.seal.as_ref().unwrap().key, "new");
        assert!(both.is_current(new.0.seal.as_ref().unwrap()));
        assert!(!both.is_current(old.0.seal.as_ref().unwrap()));
        assert!(!keys(&["new"], !only_signs).is_current(new.0.seal.as_ref().unwrap()));
    }
}

#[test]
fn the_same_id_with_another_key_opens_nothing() {
    let a = id("a");
    for only_signs in [false, true] {
        let job = sealed(&keys(&["k1"], only_signs), &a);
        let other = Keyring::new([(b"k1".as_slice(), secret("another").as_slice())], only_signs).unwrap();
        assert_eq!(try_open(Some(&other), &a, &job), Err(Unopened::Forged("k1".into())));
    }
}

#[test]
fn plain_jobs_need_no_keys_and_sealed_ones_do() {
    let a = id("a");
    let plain = (JobOptions::default(), PAYLOAD.to_vec());
    assert_eq!(try_open(None, &a, &plain).unwrap(), plain);
    for only_signs in [false, true] {
        let keys = keys(&["k1"], only_signs);
        assert_eq!(try_open(Some(&keys), &a, &plain), Err(Unopened::Plain));
        assert_eq!(try_open(None, &a, &sealed(&keys, &a)), Err(Unopened::NoKeys("k1".into())));
    }
}

#[test]
fn each_sealing_makes_another_nonce() {
    let keys = keys(&["k1"], false);
    let a = id("a");
    let nonces: std::collections::HashSet<Vec<u8>> = (0..1000).map(|_| sealed(&keys, &a).1[..24].to_vec()).collect();
    assert_eq!(nonces.len(), 1000);
}

#[test]
fn keys_are_checked_and_never_repeated_in_words() {
    let bytes = [b'K'; 32];
    let words = |keys: &[(&[u8], &[u8])]| match Keyring::new(keys.iter().copied(), false) {
        Err(Error::Invalid(words)) => words,
        Err(other) => panic!("{other}"),
        Ok(_) => "fine".into(),
    };
    assert_eq!(words(&[]), "must not be empty");
    for key_id in [b"".as_slice(), b"a b", b"\xff", &[b'a'; 65], &bytes[..0], b"a\n"] {
        assert_eq!(words(&[(key_id, &bytes)]), "must have key ids of 1 to 64 bytes of [A-Za-z0-9_.-]");
    }
    let base64 = "base64:S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0s=";
    for good in [bytes.as_slice(), base64.as_bytes(), b"base64:789abcdef0123456789abcdef"] {
        assert_eq!(words(&[(b"A-z_0.9", good)]), "fine", "{}", String::from_utf8_lossy(good));
    }
    for bad in [
        &bytes[..31],
        &[b'K'; 33],
        b"",
        b"base64:",
        b"base64:S0tL",
        &base64.as_bytes()[7..],
        base64.trim_end_matches('=').as_bytes(),
    ] {
        let found = words(&[(b"k1", bad)]);
        assert_eq!(found, "must have keys of 32 bytes, or \"base64:\" and these in base64, that of \"k1\" is not");
    }
    assert_eq!(words(&[(b"k1", &bytes), (b"k1", &bytes)]), "must have different key ids, \"k1\" is there twice");
    let ring = Keyring::new([(b"k1".as_slice(), base64.as_bytes())], false).unwrap();
    let same = Keyring::new([(b"k1".as_slice(), bytes.as_slice())], false).unwrap();
    let a = id("a");
    assert_eq!(try_open(Some(&same), &a, &sealed(&ring, &a)).unwrap().1, PAYLOAD);
}

proptest::proptest! {
    #[test]
    fn opening_random_bytes_never_panics(
        payload in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        tag in proptest::collection::vec(proptest::num::u8::ANY, 0..40),
        algorithm in "xchacha20-poly1305|hmac-sha256|.*",
        key in "k1|.*",
    ) {
        use base64::prelude::{BASE64_STANDARD, Engine};
        let keys = keys(&["k1"], false);
        for tag in [BASE64_STANDARD.encode(&tag), String::from_utf8_lossy(&tag).into_owned()] {
            let seal = Seal { algorithm: algorithm.clone(), key: key.clone(), tag };
            let job = (JobOptions { seal: Some(seal), ..JobOptions::default() }, payload.clone());
            assert!(try_open(Some(&keys), &id("a"), &job).is_err());
        }
    }

    /// A holder of the key may have sealed anything: the bytes behind the cipher are not believed either.
    #[test]
    fn opened_bytes_that_are_no_headers_never_panic(text in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
        use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305, XNonce};
        use base64::prelude::{BASE64_STANDARD, Engine};
        let a = id("a");
        let mut data = b"delayqueue seal 1".to_vec();
        for part in ["dq", "orders", "a", "xchacha20-poly1305", "k1"] {
            data.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            data.extend(part.as_bytes());
        }
        let mut stored = text.clone();
        let cipher = XChaCha20Poly1305::new(&secret("k1").into());
        let tag = cipher.encrypt_inout_detached(&XNonce::default(), &data, stored.as_mut_slice().into()).unwrap();
        let seal = Seal { algorithm: "xchacha20-poly1305".into(), key: "k1".into(), tag: BASE64_STANDARD.encode(tag) };
        let job = (JobOptions { seal: Some(seal), ..JobOptions::default() }, [vec![0; 24], stored].concat());
        let found = try_open(Some(&keys(&["k1"], false)), &a, &job);
        let has_none = text.starts_with(&[0, 0, 0, 0]);
        assert!(found.is_ok() || !has_none, "{text:?}");
    }
}
