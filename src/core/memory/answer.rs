//! Answers of commands, as bytes for a connection (RESP3). Scripts get theirs in `lua.rs`.

use std::borrow::Cow;

/// What a command answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Status(Cow<'static, str>),
    Int(i64),
    Text(Vec<u8>),
    Nil,
    Double(f64),
    List(Vec<Answer>),
    /// Names and values: flat where a script asks.
    Map(Vec<(Vec<u8>, Answer)>),
    /// Members with their scores: flat where a script asks.
    Scored(Vec<(Vec<u8>, Answer)>),
    /// The code and the rest.
    Error(String),
    /// A message instead of an answer.
    Push(Vec<Answer>),
}

impl Answer {
    pub const OK: Self = Self::status("OK");

    pub const fn status(word: &'static str) -> Self {
        Self::Status(Cow::Borrowed(word))
    }

    pub fn text(text: impl AsRef<[u8]>) -> Self {
        Self::Text(text.as_ref().to_vec())
    }

    pub fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    pub fn text_or_nil(text: Option<impl AsRef<[u8]>>) -> Self {
        text.map_or(Self::Nil, Self::text)
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Status(word) => line(out, b'+', word.as_bytes()),
            Self::Error(message) => line(out, b'-', message.replace(['\r', '\n'], " ").as_bytes()),
            Self::Int(number) => line(out, b':', itoa::Buffer::new().format(*number).as_bytes()),
            Self::Nil => out.extend_from_slice(b"_\r\n"),
            Self::Double(number) => line(out, b',', score_text(*number).as_bytes()),
            Self::Text(bytes) => bulk(out, bytes),
            Self::List(answers) => several(out, b'*', answers),
            Self::Push(answers) => several(out, b'>', answers),
            Self::Map(pairs) => {
                header(out, b'%', pairs.len());
                for (name, value) in pairs {
                    bulk(out, name);
                    value.write(out);
                }
            }
            Self::Scored(pairs) => {
                header(out, b'*', pairs.len());
                for (member, score) in pairs {
                    header(out, b'*', 2);
                    bulk(out, member);
                    score.write(out);
                }
            }
        }
    }
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn header(out: &mut Vec<u8>, kind: u8, length: usize) {
    line(out, kind, itoa::Buffer::new().format(length).as_bytes());
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    header(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn several(out: &mut Vec<u8>, kind: u8, answers: &[Answer]) {
    header(out, kind, answers.len());
    answers.iter().for_each(|answer| answer.write(out));
}

/// A score as text: `%.17g` of C, which asks the locale that PHP may have set.
pub fn score_text(score: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    if score.fract() == 0.0 && score.abs() < 1e17 {
        return itoa::Buffer::new().format(score as i64).to_owned();
    }
    if !score.is_finite() {
        return if score > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{score:.16e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(-4..17).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), exponent.abs());
    }
    let places = usize::try_from(16 - exponent).unwrap_or(0);
    trim(&format!("{score:.places$}"))
}
