//! The bytes of a payload in Redis: as they came, or, for JSON, with its punctuation in one byte each. Memory is what waiting jobs
//! cost, and a fifth of an order is `":"` and `","`.
//!
//! JSON has no bytes below 0x20 but white space, and none of that as `json_encode()` prints it (RFC 8259, section 7), so these
//! are free to stand for something.

use std::borrow::Cow;

/// The payload follows as it came: only before one that begins like a packed one, or like what a later version may write.
const PLAIN: u8 = 1;
/// The payload follows with tokens in it.
const PACKED: u8 = 2;
/// The longest token.
const WIDTH: usize = 8;

/// What a byte stands for.
#[derive(Clone, Copy)]
struct Token {
    /// With zeros behind it: to write all of it costs less than to choose.
    text: [u8; WIDTH],
    length: usize,
}

impl Token {
    #[allow(clippy::indexing_slicing)] // by the compiler
    const fn new(text: &[u8]) -> Self {
        let mut token = Self { text: [0; WIDTH], length: text.len() };
        let mut at = 0;
        while at < text.len() {
            token.text[at] = text[at];
            at += 1;
        }
        token
    }
}

macro_rules! tokens {
    ($($byte:literal $($text:literal)+;)+) => {
        const TOKENS: &[Token] = &[$(Token::new(&[$($text),+])),+];

        /// The token that these bytes begin with: what stands for it, and its length.
        fn token_at(bytes: &[u8]) -> Option<(u8, usize)> {
            match bytes {
                $([$($text),+, ..] => Some(($byte, [$($text),+].len())),)+
                _ => None,
            }
        }
    };
}

// Never to be changed, only to be followed by another list with another mark. What is the beginning of another one comes after it.
#[rustfmt::skip]
tokens! {
    3 b'"' b':' b'"';
    4 b'"' b':' b'n' b'u' b'l' b'l' b',' b'"';
    5 b'"' b':' b'n' b'u' b'l' b'l';
    6 b'"' b':' b't' b'r' b'u' b'e' b',' b'"';
    7 b'"' b':' b't' b'r' b'u' b'e';
    8 b'"' b':' b'f' b'a' b'l' b's' b'e' b',';
    9 b'"' b':' b'f' b'a' b'l' b's' b'e';
    10 b'"' b':' b'[' b'{' b'"';
    11 b'"' b':' b'[' b'"';
    12 b'"' b':' b'[';
    13 b'"' b':' b'{' b'"';
    14 b'"' b':';
    15 b'"' b',' b'"';
    16 b'"' b'}' b',' b'{' b'"';
    17 b'"' b'}' b',' b'"';
    18 b'"' b'}' b']' b',' b'"';
    19 b'"' b'}' b']';
    20 b'"' b'}' b'}';
    21 b'"' b'}';
    22 b'"' b']' b',' b'"';
    23 b'"' b']';
    24 b'}' b',' b'{' b'"';
    25 b'}' b',' b'"';
    26 b'}' b']' b',' b'"';
    27 b'}' b']';
    28 b'}' b'}';
    29 b']' b',' b'"';
    30 b',' b'"';
    31 b'{' b'"';
}

/// The byte that stands for the first token.
const FIRST: u8 = 3;

/// The payload as it is stored. The same bytes give the same.
#[must_use]
pub fn pack(payload: &[u8], compress: bool) -> Cow<'_, [u8]> {
    if let Some(packed) = if compress { shorter(payload) } else { None } {
        return Cow::Owned(packed);
    }
    match payload.first() {
        Some(PLAIN..b' ') => Cow::Owned([&[PLAIN], payload].concat()),
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
        let (byte, after) = after.split_first()?;
        let token = TOKENS.get(usize::from(byte.checked_sub(FIRST)?))?;
        payload.extend_from_slice(text);
        payload.extend_from_slice(&token.text);
        payload.truncate(payload.len() - WIDTH + token.length);
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
        packed.extend_from_slice(text);
        rest = match token_at(after) {
            Some((byte, length)) => {
                packed.push(byte);
                after.get(length..)?
            }
            None => {
                let (byte, after) = after.split_first().filter(|(byte, _)| **byte >= b' ')?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ORDER: &[u8] = br#"{"event":"order.close","id":"904411702","total":129.9,"paid":false,"note":null,"items":[{"sku":"A-1","qty":2},{"sku":"B-2","qty":1}]}"#;

    #[test]
    fn every_token_is_found_where_it_begins_and_is_the_longest() {
        for (byte, token) in (FIRST..).zip(TOKENS) {
            let text = &token.text[..token.length];
            assert_eq!(token_at(text), Some((byte, token.length)), "{}", String::from_utf8_lossy(text));
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
        for payload in [&[PACKED, FIRST][..], &[PLAIN], &[PACKED], b"\n", b"\x1f", &[0], &[]] {
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
