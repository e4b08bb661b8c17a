//! The wire format: requests are written here, replies are cut out of the stream here and parsed by the redis crate.

use redis::Value;

/// The deepest nesting accepted; ours is two.
const DEEPEST: usize = 8;

/// Appends one command.
pub fn write_command<'a>(out: &mut Vec<u8>, args: impl ExactSizeIterator<Item = &'a [u8]>) {
    write_header(out, b'*', args.len());
    for arg in args {
        write_header(out, b'$', arg.len());
        out.extend_from_slice(arg);
        out.extend_from_slice(b"\r\n");
    }
}

fn write_header(out: &mut Vec<u8>, kind: u8, length: usize) {
    if length < 10 {
        out.extend_from_slice(&[kind, b'0' + length as u8, b'\r', b'\n']);
        return;
    }
    if length < 100 {
        out.extend_from_slice(&[kind, b'0' + (length / 10) as u8, b'0' + (length % 10) as u8, b'\r', b'\n']);
        return;
    }
    out.push(kind);
    out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// How much a reply may be: what the command can answer, and a little more. The memory that it takes is not PHP's, so no limit of PHP's holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub bytes: usize,
    /// Each of them takes memory, however short it is.
    pub values: usize,
}

impl Bounds {
    /// A message to a subscriber.
    pub const MESSAGE: Self = Self { bytes: 64 << 10, values: 64 };
    /// Numbers, words, and pages of names.
    pub const SMALL: Self = Self { bytes: 16 << 20, values: 1 << 16 };
    /// Every slot may have nodes of its own.
    pub const SLOTS: Self = Self { bytes: 32 << 20, values: 1 << 20 };
    /// Records of jobs: one of the largest payload that `maxPayload` allows, 512 MiB.
    pub const RECORDS: Self = Self { bytes: 528 << 20, values: 1 << 16 };
}

/// The bytes are not a reply of Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Length of the complete reply at the start of `buffer`, `None` while more bytes are needed.
///
/// # Errors
/// [`Malformed`] as soon as the bytes cannot become a reply within these bounds.
pub fn frame_length(buffer: &[u8], bounds: Bounds) -> Result<Option<usize>, Malformed> {
    let mut scan = Scan { buffer, at: 0, limit: bounds.bytes, values: bounds.values };
    Ok(scan.frame(0)?.then_some(scan.at))
}

struct Scan<'a> {
    buffer: &'a [u8],
    at: usize,
    limit: usize,
    /// How many more may come.
    values: usize,
}

impl Scan<'_> {
    /// Moves past one frame; false while it is incomplete.
    fn frame(&mut self, depth: usize) -> Result<bool, Malformed> {
        if depth > DEEPEST || self.at > self.limit {
            return Err(Malformed);
        }
        let Some(kind) = self.buffer.get(self.at).copied() else { return Ok(false) };
        match kind {
            b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(' => Ok(self.line()?.is_some()),
            b'$' | b'=' | b'!' => match self.length()? {
                None => Ok(false),
                Some(None) => Ok(true),
                Some(Some(length)) => self.skip(length.checked_add(2).ok_or(Malformed)?),
            },
            b'*' | b'~' | b'>' => self.children(depth, 1),
            b'%' => self.children(depth, 2),
            _ => Err(Malformed),
        }
    }

    fn children(&mut self, depth: usize, each: usize) -> Result<bool, Malformed> {
        match self.length()? {
            None => Ok(false),
            Some(None) => Ok(true),
            Some(Some(count)) => {
                let count = count.checked_mul(each).ok_or(Malformed)?;
                self.values = self.values.checked_sub(count).ok_or(Malformed)?;
                for _ in 0..count {
                    if !self.frame(depth + 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn skip(&mut self, length: usize) -> Result<bool, Malformed> {
        let end = self.at.checked_add(length).ok_or(Malformed)?;
        if end > self.limit {
            return Err(Malformed);
        }
        if self.buffer.len() < end {
            return Ok(false);
        }
        if self.buffer.get(end - 2..end) != Some(b"\r\n") {
            return Err(Malformed);
        }
        self.at = end;
        Ok(true)
    }

    /// The rest of the line after the kind byte; `None` while it is incomplete.
    fn line(&mut self) -> Result<Option<&[u8]>, Malformed> {
        let rest = self.buffer.get(self.at + 1..).unwrap_or_default();
        match rest.iter().position(|b| *b == b'\n') {
            None if rest.len() > 64 * 1024 => Err(Malformed),
            None => Ok(None),
            Some(end) if end > 0 && rest.get(end - 1) == Some(&b'\r') => {
                self.at += end + 2;
                Ok(rest.get(..end - 1))
            }
            Some(_) => Err(Malformed),
        }
    }

    /// A length line: outer `None` incomplete, inner `None` for −1 (null).
    fn length(&mut self) -> Result<Option<Option<usize>>, Malformed> {
        let limit = self.limit;
        let Some(digits) = self.line()? else { return Ok(None) };
        if digits == b"-1" {
            return Ok(Some(None));
        }
        let is_number = !digits.is_empty() && digits.len() <= 10 && digits.iter().all(u8::is_ascii_digit);
        if !is_number {
            return Err(Malformed);
        }
        let length = digits.iter().fold(0_usize, |length, digit| length * 10 + usize::from(digit.wrapping_sub(b'0')));
        if length > limit { Err(Malformed) } else { Ok(Some(Some(length))) }
    }
}

/// Parses one complete frame.
///
/// # Errors
/// [`Malformed`] when the redis crate cannot read it.
pub fn parse(frame: &[u8]) -> Result<Value, Malformed> {
    let mut plain = Plain { rest: frame };
    match plain.value(0) {
        Some(value) if plain.rest.is_empty() => Ok(value),
        _ => redis::parse_redis_value(frame).map_err(|_| Malformed),
    }
}

/// The words of one complete command, as [`write_command`] writes it.
///
/// # Errors
/// [`Malformed`] when it is something else.
pub fn words(frame: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    let mut plain = Plain { rest: frame };
    let words = plain.kind(b'*').and_then(|()| plain.several(|plain| plain.kind(b'$').and_then(|()| plain.text())));
    words.ok_or(Malformed)
}

/// The kinds of replies that scripts and HELLO give, read without the crate's general parser, which costs a worker more
/// than all the rest of its round trip. Anything else is left to that.
struct Plain<'a> {
    rest: &'a [u8],
}

impl<'a> Plain<'a> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        let (kind, rest) = self.rest.split_first()?;
        self.rest = rest;
        match kind {
            b':' => {
                let line = self.line()?;
                small_int(line).or_else(|| std::str::from_utf8(line).ok()?.parse().ok()).map(Value::Int)
            }
            b'$' => self.text().map(|bytes| Value::BulkString(bytes.to_vec())),
            b'*' if depth < DEEPEST => self.several(|plain| plain.value(depth + 1)).map(Value::Array),
            b'_' => self.take(2).map(|_| Value::Nil),
            b'%' if depth < DEEPEST => {
                self.several(|plain| Some((plain.value(depth + 1)?, plain.value(depth + 1)?))).map(Value::Map)
            }
            _ => None,
        }
    }

    fn kind(&mut self, wanted: u8) -> Option<()> {
        (self.take(1)? == [wanted]).then_some(())
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        self.take(2)?;
        Some(bytes)
    }

    fn several<T>(&mut self, mut next: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.length()?;
        // No more room than the frame could fill: each value takes four bytes at least.
        let mut values = Vec::with_capacity(count.min(self.rest.len() / 4 + 1));
        for _ in 0..count {
            values.push(next(self)?);
        }
        Some(values)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| *byte == b'\r')?;
        let line = self.take(end)?;
        self.take(2)?;
        Some(line)
    }

    fn length(&mut self) -> Option<usize> {
        let digits = self.line()?;
        if digits.is_empty() || digits.len() > 10 {
            return None;
        }
        digits
            .iter()
            .try_fold(0_usize, |length, digit| digit.is_ascii_digit().then(|| length * 10 + usize::from(*digit - b'0')))
    }
}

/// A number without a sign and too short to overflow: counts, tokens, times.
#[must_use]
pub fn small_int(digits: &[u8]) -> Option<i64> {
    let value = |digit: &u8| digit.is_ascii_digit().then(|| i64::from(*digit - b'0'));
    let fits = !digits.is_empty() && digits.len() <= 18;
    fits.then(|| digits.iter().try_fold(0, |number, digit| Some(number * 10 + value(digit)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Bounds = Bounds { bytes: 1 << 20, values: 1 << 16 };

    #[test]
    fn commands_are_arrays_of_bulk_strings() {
        let mut out = Vec::new();
        write_command(&mut out, [b"SET".as_slice(), b"", b"a\r\n\0b", &[b'x'; 10]].into_iter());
        assert_eq!(out, b"*4\r\n$3\r\nSET\r\n$0\r\n\r\n$5\r\na\r\n\0b\r\n$10\r\nxxxxxxxxxx\r\n");
    }

    #[test]
    fn a_frame_is_complete_only_at_its_last_byte() {
        for frame in [
            b"+OK\r\n".as_slice(),
            b"-ERR no\r\n",
            b":42\r\n",
            b"$-1\r\n",
            b"$0\r\n\r\n",
            b"$3\r\na\nb\r\n",
            b"*-1\r\n",
            b"*0\r\n",
            b"_\r\n",
            b"*2\r\n$1\r\na\r\n*1\r\n:1\r\n",
            b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n",
            b"%1\r\n+a\r\n:1\r\n",
        ] {
            for cut in 0..frame.len() {
                assert_eq!(frame_length(&frame[..cut], LIMIT), Ok(None), "{frame:?} cut at {cut}");
            }
            let mut more = frame.to_vec();
            more.extend_from_slice(b"+next\r\n");
            assert_eq!(frame_length(&more, LIMIT), Ok(Some(frame.len())));
            assert!(parse(frame).is_ok());
        }
    }

    #[test]
    fn what_is_no_redis_is_refused_early() {
        for bytes in [
            b"HTTP/1.1 400".as_slice(),
            b"SSH-2.0",
            b"\0\0\0\0",
            b"$x\r\n",
            b"$-5\r\n",
            b"+a\n",
            b"$3\r\nabcde",
            b"$99999999999\r\n",
            b"$no number, and longer than any number that fits\r\n",
        ] {
            assert_eq!(frame_length(bytes, LIMIT), Err(Malformed), "{bytes:?}");
        }
        let deep = b"*1\r\n".repeat(100);
        assert_eq!(frame_length(&deep, LIMIT), Err(Malformed));
    }

    #[test]
    fn more_than_a_command_can_answer_is_refused_as_soon_as_it_is_announced() {
        let few = Bounds { bytes: 100, values: 5 };
        for fits in [b"*5\r\n".as_slice(), b"%2\r\n", b"*2\r\n*1\r\n:1\r\n*2\r\n", b"$80\r\n", b"*1\r\n*4\r\n"] {
            assert_eq!(frame_length(fits, few), Ok(None), "{fits:?}");
        }
        for too_much in [b"*6\r\n".as_slice(), b"%3\r\n", b"*3\r\n:1\r\n*3\r\n", b"$99\r\n", b"*999999999\r\n"] {
            assert_eq!(frame_length(too_much, few), Err(Malformed), "{too_much:?}");
        }
        let lines = [b"*4\r\n".to_vec(), [b":", "1".repeat(40).as_bytes(), b"\r\n"].concat().repeat(4)].concat();
        assert_eq!(frame_length(&lines, few), Err(Malformed), "one line after another");
    }

    fn values() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::Int),
            proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::BulkString),
        ];
        leaf.prop_recursive(4, 40, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
                proptest::collection::vec((inner.clone(), inner), 0..4).prop_map(Value::Map),
            ]
        })
    }

    fn write_value(out: &mut Vec<u8>, value: &Value) {
        match value {
            Value::Int(number) => out.extend_from_slice(format!(":{number}\r\n").as_bytes()),
            Value::BulkString(bytes) => {
                write_header(out, b'$', bytes.len());
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            Value::Array(values) => {
                write_header(out, b'*', values.len());
                values.iter().for_each(|value| write_value(out, value));
            }
            Value::Map(fields) => {
                write_header(out, b'%', fields.len());
                fields.iter().flat_map(|(name, value)| [name, value]).for_each(|value| write_value(out, value));
            }
            _ => unreachable!("not made by the strategy"),
        }
    }

    proptest::proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            if let Ok(Some(length)) = frame_length(&bytes, LIMIT) {
                let _ = parse(&bytes[..length]);
            }
        }

        #[test]
        fn what_is_read_without_the_crate_is_what_the_crate_reads(value in values()) {
            let mut frame = Vec::new();
            write_value(&mut frame, &value);
            proptest::prop_assert_eq!(frame_length(&frame, LIMIT), Ok(Some(frame.len())));
            proptest::prop_assert_eq!(&Plain { rest: &frame }.value(0), &Some(value));
            proptest::prop_assert_eq!(parse(&frame).unwrap(), redis::parse_redis_value(&frame).unwrap());
        }
    }
}
