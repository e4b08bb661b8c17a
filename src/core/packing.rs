//! The bytes of a payload in Redis: as they came, or, for JSON, with its punctuation in one byte each. Memory is what waiting jobs
//! cost, and a fifth of an order is `":"` and `","`.
//!
//! JSON has no bytes below 0x20 but white space, and none of that as `json_encode()` prints it (RFC 8259, section 7), so these
//! are free to stand for something. LZ4 takes three times the instructions for a message of 200 bytes, and saves half as much.

use std::borrow::Cow;
use std::ops::Range;

/// The payload follows as it came: only before one that begins with this byte or the next.
const PLAIN: u8 = 1;
/// The payload follows with tokens in it.
const PACKED: u8 = 2;
/// Stands for the first token.
const FIRST: u8 = 3;

/// What a byte from [`FIRST`] on stands for: never to be changed, only to be followed by another list with another mark. In
/// groups that begin alike; what another one of its group begins with comes after that.
#[rustfmt::skip]
const TOKENS: [&[u8]; 29] = [
    b"\":\"", b"\":null,\"", b"\":true,\"", b"\":null", b"\":true", b"\":false,", b"\":false",
    b"\":[{\"", b"\":{\"", b"\":[\"", b"\":[", b"\":",
    b"\",\"",
    b"\"},{\"", b"\"}],\"", b"\"},\"", b"\"}}", b"\"}]", b"\"}",
    b"\"],\"", b"\"]",
    b"},{\"", b"}],\"", b"},\"", b"}}", b"}]",
    b"],\"",
    b",\"",
    b"{\"",
];

/// A token as one number that is quickly compared and written.
#[derive(Clone, Copy)]
struct Word {
    bytes: [u8; 8],
    mask: u64,
    length: usize,
}

const WORDS: [Word; TOKENS.len()] = words();

#[allow(clippy::indexing_slicing)] // by the compiler
const fn words() -> [Word; TOKENS.len()] {
    let mut words = [Word { bytes: [0; 8], mask: 0, length: 0 }; TOKENS.len()];
    let mut n = 0;
    while n < TOKENS.len() {
        let mut at = 0;
        while at < TOKENS[n].len() {
            words[n].bytes[at] = TOKENS[n][at];
            at += 1;
        }
        words[n].mask = u64::MAX >> (64 - 8 * TOKENS[n].len());
        words[n].length = TOKENS[n].len();
        n += 1;
    }
    words
}

/// The payload as it is stored. The same bytes give the same.
#[must_use]
pub fn pack(payload: &[u8], compress: bool) -> Cow<'_, [u8]> {
    if let Some(packed) = if compress { shorter(payload) } else { None } {
        return Cow::Owned(packed);
    }
    match payload.first() {
        Some(&(PLAIN | PACKED)) => Cow::Owned([&[PLAIN], payload].concat()),
        _ => Cow::Borrowed(payload),
    }
}

/// The payload of what [`pack`] gave; `None` when it is damaged.
#[must_use]
pub fn unpack(stored: &[u8]) -> Option<Cow<'_, [u8]>> {
    let packed = match stored.split_first() {
        Some((&PLAIN, payload)) => return Some(Cow::Borrowed(payload)),
        Some((&PACKED, packed)) => packed,
        _ => return Some(Cow::Borrowed(stored)),
    };
    let mut payload = Vec::with_capacity(packed.len() * 3 / 2);
    let mut rest = packed;
    while let Some(at) = rest.iter().position(|byte| *byte < b' ') {
        let (text, after) = rest.split_at(at);
        let (token, after) = after.split_first()?;
        let word = WORDS.get(usize::from(token.checked_sub(FIRST)?))?;
        payload.extend_from_slice(text);
        payload.extend_from_slice(&word.bytes);
        payload.truncate(payload.len() - word.bytes.len() + word.length);
        rest = after;
    }
    payload.extend_from_slice(rest);
    Some(Cow::Owned(payload))
}

/// The payload with tokens, if that is shorter and can be.
fn shorter(payload: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(1 + payload.len());
    packed.push(PACKED);
    let mut rest = payload;
    while let Some(at) = rest.iter().position(|byte| IS_SPECIAL.get(usize::from(*byte)) == Some(&true)) {
        let (text, after) = rest.split_at(at);
        let (byte, after) = after.split_first()?;
        packed.extend_from_slice(text);
        rest = match token_at(*byte, after) {
            Some((token, length)) => {
                packed.push(token);
                after.get(length - 1..)?
            }
            None if *byte < b' ' => return None,
            None => {
                packed.push(*byte);
                after
            }
        };
    }
    packed.extend_from_slice(rest);
    (packed.len() < payload.len()).then_some(packed)
}

/// Bytes that a token may begin with, or that cannot be in what is packed.
#[allow(clippy::indexing_slicing)] // by the compiler
const IS_SPECIAL: [bool; 256] = {
    let mut is_special = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_special[byte] = matches!(byte as u8, b'"' | b'}' | b']' | b',' | b'{' | 0..b' ');
        byte += 1;
    }
    is_special
};

/// The longest token that begins with this byte and the ones after it: what stands for it, and its length.
fn token_at(byte: u8, after: &[u8]) -> Option<(u8, usize)> {
    let group: Range<usize> = match (byte, after.first()) {
        (b'"', Some(b':')) => 0..12,
        (b'"', Some(b',')) => 12..13,
        (b'"', Some(b'}')) => 13..19,
        (b'"', Some(b']')) => 19..21,
        (b'}', _) => 21..26,
        (b']', _) => 26..27,
        (b',', _) => 27..28,
        (b'{', _) => 28..29,
        _ => return None,
    };
    let mut next = [0; 8];
    match after.first_chunk::<8>() {
        Some(chunk) => next = *chunk,
        None => next.iter_mut().zip(after).for_each(|(to, from)| *to = *from),
    }
    let bytes = u64::from_le_bytes(next) << 8 | u64::from(byte);
    let is_next = |word: &&Word| bytes & word.mask == u64::from_le_bytes(word.bytes);
    let found = WORDS.get(group.clone())?.iter().position(|word| is_next(&word))?;
    Some((FIRST + u8::try_from(group.start + found).ok()?, WORDS.get(group.start + found)?.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ORDER: &[u8] = br#"{"event":"order.close","id":"904411702","total":129.9,"paid":false,"note":null,"items":[{"sku":"A-1","qty":2},{"sku":"B-2","qty":1}]}"#;

    #[test]
    fn every_token_is_found_where_it_begins_and_is_the_longest() {
        for (byte, token) in (FIRST..).zip(TOKENS) {
            assert_eq!(
                token_at(token[0], &token[1..]),
                Some((byte, token.len())),
                "{}",
                String::from_utf8_lossy(token)
            );
        }
        assert_eq!(TOKENS.len(), usize::from(b' ' - FIRST));
    }

    #[test]
    fn an_order_is_stored_by_a_fifth_shorter_and_comes_back() {
        let stored = pack(ORDER, true);
        assert!(stored.len() * 5 <= ORDER.len() * 4, "{} of {}", stored.len(), ORDER.len());
        assert_eq!(unpack(&stored).unwrap(), ORDER);
    }

    #[test]
    fn what_would_not_be_shorter_or_is_not_json_or_shall_not_be_packed_stays() {
        let cases =
            [(ORDER, false), (b"1", true), (b"{}", true), (b"text", true), (b"{\n\"a\":\"b\",\"c\":\"d\"}", true)];
        for (payload, compress) in cases {
            assert!(matches!(pack(payload, compress), Cow::Borrowed(stored) if stored == payload));
        }
    }

    #[test]
    fn a_payload_that_begins_like_a_packed_one_is_not_taken_for_one() {
        for payload in [&[PACKED, FIRST][..], &[PLAIN], &[PACKED], &[]] {
            assert_eq!(unpack(&pack(payload, true)).unwrap(), payload);
        }
    }

    #[test]
    fn damage_is_none() {
        for byte in 0..FIRST {
            assert_eq!(unpack(&[PACKED, b'a', byte]), None);
        }
    }

    proptest! {
        #[test]
        fn every_payload_comes_back(payload in "[\\x01-\\x04]?([{}\\[\\]\":,a0é\\n]|null|true|false){0,60}", compress: bool) {
            let stored = pack(payload.as_bytes(), compress);
            prop_assert!(stored.len() <= payload.len() + 1);
            prop_assert_eq!(unpack(&stored).unwrap(), payload.as_bytes());
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = unpack(&bytes);
        }
    }
}
