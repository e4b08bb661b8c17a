//! Where a value came from, so that errors can say so as php-src does.

use super::convert::ArrayKey;
use super::exceptions::{Invalid, throw_invalid};
use super::sys;
use super::unwind::{Unwind, c_text};
use ext_php_rs::ffi;
use ext_php_rs::types::Zval;
use std::ffi::CStr;

/// The origin of a value.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// Argument number, from 1.
    Argument(u32),
    /// A key of the options array.
    Option(&'a str),
    /// The first argument, or the item at this position in it.
    First(Option<usize>),
    /// An argument that was given by this name to a method that takes any.
    Name(&'a str),
    /// A key of the first argument, or of that item in it.
    Key(Option<usize>, &'a str),
    /// A key, as above, whose value may be null.
    NullableKey(Option<usize>, &'a str),
    /// An element, by its key, of a list of delays.
    Delay(&'a ArrayKey<'a>),
}

impl Origin<'_> {
    /// The beginning of an error's words: which item of a list it is.
    pub fn context(self) -> String {
        match self {
            Self::Key(Some(index), _) | Self::NullableKey(Some(index), _) => format!("item {index}: "),
            _ => String::new(),
        }
    }

    /// Scalars of arguments follow the caller's `strict_types`; values in arrays are always coerced.
    pub fn is_strict(self) -> bool {
        matches!(self, Self::Argument(_)) && sys::caller_is_strict()
    }

    /// An `InvalidArgument`: `DelayQueue::push(): Argument #2 ($delay) {must}`
    pub fn value_error(self, must: &str) -> Unwind {
        let (parameter, item, key) = match self {
            Self::Argument(number) => (parameter_name(number), None, None),
            Self::Option(key) => (String::from("options"), None, Some(key.to_owned())),
            Self::First(index) => (parameter_name(1), index, None),
            Self::Name(name) => (name.to_owned(), None, None),
            Self::Key(index, key) | Self::NullableKey(index, key) => (parameter_name(1), index, Some(key.to_owned())),
            Self::Delay(key) => (parameter_name(1), None, Some(key.to_string())),
        };
        throw_invalid(&self.words(), Invalid { parameter: &parameter, item, key: key.as_deref(), reason: must })
    }

    /// An array has a key that means nothing; `kind`: "key", "option".
    pub fn unknown(self, kind: &str, key: &ArrayKey<'_>, hint: &str) -> Unwind {
        let (number, item) = match self {
            Self::Argument(number) => (number, None),
            Self::First(index) => (1, index),
            _ => (1, None),
        };
        let (parameter, key) = (parameter_name(number), key.to_string());
        let reason = format!("has the unknown {kind} \"{key}\"{hint}");
        throw_invalid(&self.words(), Invalid { parameter: &parameter, item, key: Some(&key), reason: &reason })
    }

    /// `DelayQueue::push(): Argument #2 ($delay) must be of type {expected}, array given`
    pub fn type_error(self, expected: &str, given: &Zval) -> Unwind {
        let words = format!("must be of type {expected}, {} given", type_name(given));
        self.type_error_saying(&words)
    }

    /// A TypeError in words of the caller's.
    pub fn type_error_saying(self, words: &str) -> Unwind {
        let text = c_text(words.as_bytes());
        // SAFETY: as in `value_error`.
        unsafe {
            match self {
                Self::Argument(number) => sys::zend_argument_type_error(number, c"%s".as_ptr(), text.as_ptr()),
                _ => {
                    let text = c_text(format!("{} {words}", self.words()).as_bytes());
                    sys::zend_type_error(c"%s".as_ptr(), text.as_ptr());
                }
            }
        }
        Unwind::Thrown
    }

    /// A TypeError with the parameter's declared type; `expected` serves where there is no declaration.
    pub fn wrong_type(self, expected: &str, given: &Zval) -> Unwind {
        match self {
            Self::Argument(number) => self.type_error(&declared_type(number), given),
            Self::NullableKey(..) if expected.contains('|') => self.type_error(&format!("{expected}|null"), given),
            Self::NullableKey(..) => self.type_error(&format!("?{expected}"), given),
            _ => self.type_error(expected, given),
        }
    }

    fn words(self) -> String {
        let first = |index: Option<usize>| match index {
            Some(index) => format!("{} item {index}", Origin::Argument(1).words()),
            None => Origin::Argument(1).words(),
        };
        match self {
            Self::Argument(number) => match parameter_name(number).as_str() {
                "" => format!("{}(): Argument #{number}", active_function()),
                name => format!("{}(): Argument #{number} (${name})", active_function()),
            },
            Self::Option(key) => format!("{}(): Option \"{key}\"", active_function()),
            Self::First(index) => first(index),
            Self::Name(name) => format!("{}(): Argument (${name})", active_function()),
            Self::Key(index, key) | Self::NullableKey(index, key) => format!("{}: \"{key}\"", first(index)),
            Self::Delay(key) => format!("{} element {key}", first(None)),
        }
    }
}

/// The name of the running method: `DelayQueue::push`.
pub fn active_function() -> String {
    // SAFETY: the engine returns a new string that is ours to release.
    unsafe {
        let name = sys::get_active_function_or_method_name();
        let Some(text) = name.as_ref() else { return String::from("DelayQueue") };
        let owned = String::from_utf8_lossy(text.as_bytes()).into_owned();
        ffi::ext_php_rs_zend_string_release(name);
        owned
    }
}

/// Its name in an error message, as `get_debug_type()` gives it.
pub fn type_name(value: &Zval) -> String {
    // SAFETY: the engine returns a string that lives at least as long as the value.
    let name = unsafe { CStr::from_ptr(sys::zend_zval_type_name(value)) };
    name.to_string_lossy().into_owned()
}

/// The type of parameter `number`, as the running method declares it.
fn declared_type(number: u32) -> String {
    let table = parameters();
    let index = usize::try_from(number).unwrap_or(1).clamp(1, table.len().max(1)) - 1;
    let Some(row) = table.get(index) else { return String::from("mixed") };
    // SAFETY: the type belongs to the running function; the string is new and ours to release.
    unsafe {
        let text = sys::zend_type_to_string(row.type_);
        let owned = text.as_ref().map_or(String::new(), |t| String::from_utf8_lossy(t.as_bytes()).into_owned());
        ffi::ext_php_rs_zend_string_release(text);
        owned
    }
}

/// The name of parameter `number`; the engine names none that a variadic one collects.
fn parameter_name(number: u32) -> String {
    // SAFETY: a function of ours runs.
    let named = unsafe { (*(*sys::current_frame()).func).internal_function.num_args };
    let row =
        usize::try_from(number).ok().filter(|_| number <= named).and_then(|n| parameters().get(n.checked_sub(1)?));
    // SAFETY: names of parameters are constants.
    row.map_or_else(String::new, |row| unsafe { CStr::from_ptr(row.name) }.to_string_lossy().into_owned())
}

/// The parameters of the running method, a variadic one last.
fn parameters() -> &'static [ffi::zend_internal_arg_info] {
    // SAFETY: a method of ours runs, whose table lives as long as the process; a variadic row lies behind the counted ones.
    unsafe {
        let function = &(*(*sys::current_frame()).func).internal_function;
        let variadic = function.fn_flags & ffi::ZEND_ACC_VARIADIC != 0;
        let count = usize::try_from(function.num_args).unwrap_or(0) + usize::from(variadic);
        std::slice::from_raw_parts(function.arg_info, count)
    }
}
