//! The bytes of a payload in Redis. Memory is what waiting jobs cost, so an object leaves out what it begins and ends with, and JSON may
//! have its punctuation in one byte each: a fifth of an order is `":"` and `","`.
//!
//! JSON has no bytes below 0x20 but white space, and none of that as `json_encode()` prints it (RFC 8259, section 7), so these
//! are free to stand for something. A payload of any bytes comes back as it was.

use std::borrow::Cow;

/// The payload follows as it came: only before one that begins like a marked one, or like what a later version may write.
const PLAIN: u8 = 1;
/// The payload follows with tokens in it.
const PACKED: u8 = 2;
/// What is between `{"` and `"}` follows.
const QUOTED: u8 = 3;
/// What is between `{"` and `}` follows.
const BRACED: u8 = 4;
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

/// A payload as it is stored. In parts, since it is copied to where it goes anyway.
#[derive(Debug)]
pub struct Packed<'a> {
    mark: &'static [u8],
    rest: Cow<'a, [u8]>,
}

impl Packed<'_> {
    /// What is stored is these, one behind the other.
    #[must_use]
    pub fn parts(&self) -> [&[u8]; 2] {
        [self.mark, &self.rest]
    }

    fn len(&self) -> usize {
        self.mark.len() + self.rest.len()
    }
}

/// The payload as it is stored. The same bytes give the same.
#[must_use]
pub fn pack(payload: &[u8], compress: bool) -> Packed<'_> {
    let framed = framed(payload);
    let packed = if compress { with_tokens(payload) } else { None };
    packed.filter(|packed| packed.len() < framed.len()).unwrap_or(framed)
}

/// The payload of what [`pack`] gave, which stands behind so many other bytes; `None` when it is damaged. One without tokens stays in
/// these bytes.
#[must_use]
pub fn unpack(mut bytes: Vec<u8>, at: usize) -> Option<Vec<u8>> {
    let (head, before, after): (usize, &[u8], &[u8]) = match bytes.get(at..)? {
        [PACKED, packed @ ..] => return without_tokens(packed),
        [PLAIN, ..] => (at + 1, b"", b""),
        [QUOTED, ..] => (at + 1, b"{\"", b"\"}"),
        [BRACED, ..] => (at + 1, b"{\"", b"}"),
        _ => (at, b"", b""),
    };
    drop(bytes.splice(..head, before.iter().copied()));
    bytes.extend_from_slice(after);
    Some(bytes)
}

/// The payload without what its mark says.
fn framed(payload: &[u8]) -> Packed<'_> {
    let (mark, rest): (&[u8], _) = match payload {
        [b'{', b'"', between @ .., b'"', b'}'] => (&[QUOTED], between),
        [b'{', b'"', between @ .., b'}'] => (&[BRACED], between),
        [PLAIN..b' ', ..] => (&[PLAIN], payload),
        _ => (&[], payload),
    };
    Packed { mark, rest: Cow::Borrowed(rest) }
}

fn without_tokens(packed: &[u8]) -> Option<Vec<u8>> {
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
    Some(payload)
}

/// The payload with tokens, if it can have any.
fn with_tokens(payload: &[u8]) -> Option<Packed<'static>> {
    let mut packed = Vec::with_capacity(payload.len());
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
    Some(Packed { mark: &[PACKED], rest: Cow::Owned(packed) })
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

    fn stored(payload: &[u8], compress: bool) -> Vec<u8> {
        pack(payload, compress).parts().concat()
    }

    #[test]
    fn an_order_is_stored_by_a_fifth_shorter_and_comes_back() {
        let stored = stored(ORDER, true);
        assert!(stored.len() * 5 <= ORDER.len() * 4, "{} of {}", stored.len(), ORDER.len());
        assert_eq!(unpack(stored, 0).unwrap(), ORDER);
    }

    #[test]
    fn what_would_not_be_shorter_or_is_not_json_or_shall_not_be_packed_has_no_tokens() {
        let cases: [(&[u8], bool, &[u8]); 7] = [
            (b"1", true, b"1"),
            (b"{}", true, b"{}"),
            (b"text", true, b"text"),
            (b"{\n\"a\":\"b\",\"c\":\"d\"}", true, b"{\n\"a\":\"b\",\"c\":\"d\"}"),
            (b"[\"a\",\"b\"]", false, b"[\"a\",\"b\"]"),
            (br#"{"a":"b"}"#, false, b"\x03a\":\"b"),
            (br#"{"a":[1]}"#, true, b"\x04a\":[1]"),
        ];
        for (payload, compress, expected) in cases {
            assert_eq!(stored(payload, compress), expected);
        }
    }

    #[test]
    fn an_object_leaves_out_what_it_begins_and_ends_with_however_short_it_is() {
        let cases: [(&[u8], &[u8]); 8] = [
            (b"{\"", b"{\""),
            (b"{\"}", b"\x04"),
            (b"{\"\"}", b"\x03"),
            (b"{\"\"\"}", b"\x03\""),
            (b"{\"}}", b"\x04}"),
            (b"{\"\x03\"}", b"\x03\x03"),
            (b"{\"a\"} ", b"{\"a\"} "),
            (b"{ \"a\":\"\"}", b"{ \"a\":\"\"}"),
        ];
        for (payload, expected) in cases {
            assert_eq!(stored(payload, false), expected);
            assert_eq!(unpack(expected.to_vec(), 0).unwrap(), payload);
        }
    }

    #[test]
    fn a_payload_that_begins_like_a_marked_one_is_not_taken_for_one() {
        for payload in [&[PACKED, FIRST][..], &[PLAIN], &[PACKED], &[QUOTED], b"\x04a", b"\n", b"\x1f", &[0], &[]] {
            for compress in [true, false] {
                assert_eq!(unpack(stored(payload, compress), 0).unwrap(), payload);
            }
        }
    }

    #[test]
    fn damage_is_none() {
        for byte in 0..FIRST {
            assert_eq!(unpack(vec![PACKED, b'a', byte], 0), None);
        }
        assert_eq!(unpack(vec![PLAIN], 2), None, "it ends before the payload");
    }

    proptest! {
        #[test]
        fn every_payload_comes_back(payload in "[\\x01-\\x05]?(\\{\")?([{}\\[\\]\":,a0é\\n]|null|true|false){0,60}(\"?\\})?", before in 0..20_usize, compress: bool) {
            let stored = stored(payload.as_bytes(), compress);
            prop_assert!(stored.len() <= payload.len() + 1);
            let bytes = [vec![b'x'; before], stored].concat();
            prop_assert_eq!(unpack(bytes, before).unwrap(), payload.as_bytes());
        }

        #[test]
        fn any_bytes_come_back(payload in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'{'), Just(b'"'), Just(b'}')], 0..8), compress: bool) {
            prop_assert_eq!(unpack(stored(&payload, compress), 0).unwrap(), payload);
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), at in 0..90_usize) {
            let _ = unpack(bytes, at);
        }
    }
}
