//! Why a job failed, as it is stored with it: short, and safe to print.

use super::exceptions::{message_bytes, throwable_property};
use super::origin::Origin;
use super::unwind::Outcome;
use super::{args, convert, sys};
use ext_php_rs::types::{ZendHashTable, ZendObject, Zval};

/// Longest text kept, in bytes.
const MAX_BYTES: usize = 2000;
/// As much of it for class and message, so that there is room for the place.
const HEAD_BYTES: usize = 1000;
/// As much of an exception by which it was caused.
const CAUSE_BYTES: usize = 200;
const MOST_CAUSES: usize = 3;
const MOST_FRAMES: usize = 8;
/// Classes of the PHP package that stand between the loop and the handler, and say nothing of the handler's mistake.
const BETWEEN: [&[u8]; 7] = [
    br"DelayQueue\Console\Worker\JobLog",
    br"DelayQueue\Flow\Follow",
    br"DelayQueue\Middleware\Pipeline",
    br"DelayQueue\Worker\Caller",
    br"DelayQueue\Worker\HandlerObject",
    br"DelayQueue\Worker\TaskRouter",
    br"DelayQueue\Worker\Tasks",
];

/// `Throwable|string`
pub fn read(value: &Zval, origin: Origin<'_>) -> Outcome<Vec<u8>> {
    match throwable(value) {
        Some(object) => Ok(of_throwable(object)),
        None => Ok(bounded(&args::bytes(value, origin)?)),
    }
}

fn throwable(value: &Zval) -> Option<&ZendObject> {
    value.object().filter(|object| sys::is_a(object, "Throwable"))
}

/// `RuntimeException: no such file`, then lines that say where: its place, what it was caused by, and the top of the trace without arguments, down to
/// the handler.
pub fn of_throwable(object: &ZendObject) -> Vec<u8> {
    let mut text = headline(object);
    add_line(&mut text, &place(object));
    let mut cause = previous(object);
    for _ in 0..MOST_CAUSES {
        let Some(thrown) = cause.as_ref().and_then(Zval::object) else { break };
        let mut line = b"caused by ".to_vec();
        line.extend_from_slice(&bounded_to(&words(thrown), CAUSE_BYTES));
        line.push(b' ');
        line.extend_from_slice(&place(thrown));
        add_line(&mut text, &line);
        cause = previous(thrown);
    }
    let trace = throwable_property(object, "trace");
    let frames = trace.array().into_iter().flat_map(convert::entries);
    let mut frames = frames.map_while(|(_, frame)| frame.array()).take_while(|frame| !is_loop(frame)).peekable();
    let mut number = 0;
    while let Some(frame) = frames.next().filter(|_| number < MOST_FRAMES) {
        if is_between(frame) {
            continue;
        }
        let is_called_between = frames.peek().is_some_and(|caller| is_between(caller));
        if !add_line(&mut text, &frame_line(number, frame, is_called_between)) {
            break;
        }
        number += 1;
    }
    bounded(&text)
}

/// The end of the handler's part of a trace.
fn is_loop(frame: &ZendHashTable) -> bool {
    part(frame, "class") == b"DelayQueue" && matches!(part(frame, "function"), b"consume" | b"drain")
}

fn is_between(frame: &ZendHashTable) -> bool {
    BETWEEN.contains(&part(frame, "class"))
}

fn part<'a>(frame: &'a ZendHashTable, key: &str) -> &'a [u8] {
    frame.get(key).and_then(Zval::zend_str).map_or(&b""[..], |text| text.as_bytes())
}

/// `RuntimeException: no such file`
pub fn headline(object: &ZendObject) -> Vec<u8> {
    bounded_to(&words(object), HEAD_BYTES)
}

fn words(object: &ZendObject) -> Vec<u8> {
    // SAFETY: a live object has a class with a name.
    let name = unsafe { (*object.ce).name.as_ref() }.map_or(&b""[..], |name| name.as_bytes());
    let mut text = class_name(name).to_vec();
    let message = message_bytes(object);
    if !message.is_empty() {
        text.extend_from_slice(b": ");
        text.extend_from_slice(&message);
    }
    // Before anything is cut: of half a login nobody knows that it is one.
    without_passwords(&String::from_utf8_lossy(&text)).into_bytes()
}

/// The engine ends the name of an anonymous class with NUL and the place of its declaration.
fn class_name(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// `in /srv/shop/Files.php:12`
fn place(object: &ZendObject) -> Vec<u8> {
    let file = throwable_property(object, "file");
    let line = throwable_property(object, "line").long().unwrap_or(0);
    [&b"in "[..], file.zend_str().map_or(&b"?"[..], |file| file.as_bytes()), format!(":{line}").as_bytes()].concat()
}

fn previous(object: &ZendObject) -> Option<Zval> {
    Some(throwable_property(object, "previous")).filter(|value| value.is_object())
}

/// `#0 /srv/shop/Shop.php(31): Files->read()`, as PHP prints it but for the arguments.
fn frame_line(number: usize, frame: &ZendHashTable, is_called_between: bool) -> Vec<u8> {
    let place = match frame.get("line").and_then(Zval::long) {
        Some(line) if !is_called_between => [part(frame, "file"), format!("({line})").as_bytes()].concat(),
        _ => b"[internal function]".to_vec(),
    };
    let number = format!("#{number} ");
    let class = class_name(part(frame, "class"));
    [number.as_bytes(), &place, b": ", class, part(frame, "type"), part(frame, "function"), b"()"].concat()
}

/// Whether there was room for it.
fn add_line(text: &mut Vec<u8>, line: &[u8]) -> bool {
    let has_room = text.len() + 1 + line.len() <= MAX_BYTES;
    if has_room {
        text.push(b'\n');
        text.extend_from_slice(line);
    }
    has_room
}

/// PHP's words for a fatal error, less the traces of an uncaught exception: they show arguments. PHP names the causes of an exception before it.
pub fn of_fatal_error(text: &[u8]) -> Vec<u8> {
    let text = without_passwords(&String::from_utf8_lossy(text));
    let (uncaught, text) = text.strip_prefix("Uncaught ").map_or(("", text.as_str()), |thrown| ("Uncaught ", thrown));
    let mut thrown = text.rsplit("\n\nNext ").map(|one| one.split("\nStack trace:").next().unwrap_or_default());
    let head = format!("{uncaught}{}", thrown.next().unwrap_or_default());
    let mut reason = bounded_to(head.as_bytes(), HEAD_BYTES);
    for cause in thrown.take(MOST_CAUSES) {
        add_line(&mut reason, &bounded_to(format!("caused by {cause}").as_bytes(), CAUSE_BYTES));
    }
    reason
}

/// Messages of clients of databases and the like may have a URL with a login, or a query with a password. Hides rather too much than too little.
fn without_passwords(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        clean.push_str(before);
        rest = after;
        let user_ends = after.find([':', '/', '@', ' ', '\n']).unwrap_or(after.len());
        let Some((user, login)) = after.split_at_checked(user_ends) else { continue };
        if let Some(length) = login.strip_prefix(':').and_then(password_length) {
            clean.push_str(user);
            clean.push_str(":***");
            rest = login.get(1 + length..).unwrap_or_default();
        }
    }
    clean.push_str(rest);
    without_named_passwords(&clean)
}

/// How long the password is at the start of a text that follows `scheme://user:`, if it is one. Not everybody encodes an `@` or a space in it.
fn password_length(text: &str) -> Option<usize> {
    let line = text.split('\n').next().unwrap_or_default();
    let (password, behind) = line.split_once('@')?;
    if password.contains(' ') {
        // The place of a server, and then words with an @: "http://host:80 says: ask admin@host".
        let digits = password.bytes().take_while(u8::is_ascii_digit).count();
        let is_port = digits > 0 && password.as_bytes().get(digits).is_some_and(|byte| !byte.is_ascii_alphanumeric());
        if is_port || password.contains("://") {
            return None;
        }
    }
    let word = behind.split([' ', '\t']).next().unwrap_or_default();
    let word = word.split("://").next().unwrap_or_default();
    Some(password.len() + word.rfind('@').map_or(0, |at| at + 1))
}

/// `sentinel_password=…` and its like.
fn without_named_passwords(text: &str) -> String {
    const NAME: &str = "password=";
    let mut clean = String::with_capacity(text.len());
    let (mut rest, lower) = (text, text.to_ascii_lowercase());
    while let Some(at) = lower.get(text.len() - rest.len()..).and_then(|lower| lower.find(NAME)) {
        let (before, value) = rest.split_at_checked(at + NAME.len()).unwrap_or((rest, ""));
        clean.push_str(before);
        let ends = value.find([' ', '\t', '\n', '&', '\'', '"']).unwrap_or(value.len());
        clean.push_str(if ends > 0 { "***" } else { "" });
        rest = value.get(ends..).unwrap_or_default();
    }
    clean.push_str(rest);
    clean
}

/// The message alone, without passwords.
pub fn message(object: &ZendObject) -> Vec<u8> {
    bounded(without_passwords(&String::from_utf8_lossy(&message_bytes(object))).as_bytes())
}

/// Valid UTF-8, without NUL, at most [`MAX_BYTES`], cut between characters.
pub fn bounded(text: &[u8]) -> Vec<u8> {
    bounded_to(text, MAX_BYTES)
}

fn bounded_to(text: &[u8], most: usize) -> Vec<u8> {
    // No byte of the input makes less than one of the output: the bytes beyond cannot be kept.
    let head = text.get(..most + 4).unwrap_or(text);
    let clean = String::from_utf8_lossy(head).replace('\0', "\\0");
    let mut end = clean.len().min(most);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.as_bytes().get(..end).unwrap_or_default().to_vec()
}
