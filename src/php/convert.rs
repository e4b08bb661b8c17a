//! Rust values as PHP values, and PHP arrays byte by byte: their keys may be any bytes.

use super::sys;
use crate::core::job::Due;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};

/// Milliseconds as PHP's seconds.
pub fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

/// Unix milliseconds as PHP's Unix seconds.
pub fn unix_seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

/// Unix microseconds as PHP's Unix seconds.
pub fn unix_seconds_of_us(us: i64) -> f64 {
    us as f64 / 1_000_000.0
}

pub fn bytes(value: impl AsRef<[u8]>) -> Zval {
    let mut out = Zval::new();
    out.set_zend_string(ZendStr::new(value.as_ref(), false));
    out
}

/// Counters end at PHP's largest int.
pub fn int(value: impl TryInto<i64>) -> Zval {
    let mut out = Zval::new();
    out.set_long(value.try_into().unwrap_or(i64::MAX));
    out
}

pub fn float(value: f64) -> Zval {
    let mut out = Zval::new();
    out.set_double(value);
    out
}

pub fn bool(value: bool) -> Zval {
    let mut out = Zval::new();
    out.set_bool(value);
    out
}

pub fn null() -> Zval {
    Zval::new()
}

/// A delay in seconds, or null; and a moment in Unix seconds, or null.
pub fn due(due: Due) -> (Zval, Zval) {
    match due {
        Due::InMs(ms) => (float(seconds(ms)), null()),
        Due::AtUs(us) => (null(), float(unix_seconds_of_us(us))),
    }
}

pub fn nullable<T>(value: Option<T>, convert: impl FnOnce(T) -> Zval) -> Zval {
    value.map_or_else(null, convert)
}

/// A list; the values move into it.
pub fn list(values: impl IntoIterator<Item = Zval>) -> Zval {
    let mut table = ZendHashTable::new();
    for mut value in values {
        // SAFETY: the table is new and ours; it takes over the value, which therefore is not dropped here.
        unsafe { ffi::zend_hash_next_index_insert(&raw mut *table, &raw mut value) };
        std::mem::forget(value);
    }
    let mut out = Zval::new();
    out.set_hashtable(table);
    out
}

/// An array with string keys. A name that PHP takes for a number becomes such a key, as in an array literal.
pub fn map<K: AsRef<[u8]>>(entries: impl IntoIterator<Item = (K, Zval)>) -> Zval {
    let mut table = ZendHashTable::new();
    for (key, mut value) in entries {
        let key = key.as_ref();
        let number = std::str::from_utf8(key).ok().and_then(|key| key.parse::<i64>().ok());
        let number = number.filter(|number| number.to_string().as_bytes() == key);
        // SAFETY: as in `list`; the key is passed with its length and copied.
        unsafe {
            match number {
                Some(number) => ffi::zend_hash_index_update(&raw mut *table, number.cast_unsigned(), &raw mut value),
                None => ffi::zend_hash_str_update(&raw mut *table, key.as_ptr().cast(), key.len(), &raw mut value),
            };
        }
        std::mem::forget(value);
    }
    let mut out = Zval::new();
    out.set_hashtable(table);
    out
}

/// `array<string,string>`
pub fn texts(entries: &[(String, String)]) -> Zval {
    map(entries.iter().map(|(name, text)| (name, bytes(text))))
}

/// A key of a PHP array.
#[derive(Debug)]
pub enum ArrayKey<'a> {
    Int(i64),
    Text(&'a [u8]),
}

impl std::fmt::Display for ArrayKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Text(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
        }
    }
}

/// The entries in their order. The array must stay alive and unchanged meanwhile: hold a reference to it.
pub struct Entries<'a> {
    table: &'a ZendHashTable,
    position: u32,
}

pub fn entries(table: &ZendHashTable) -> Entries<'_> {
    Entries { table, position: 0 }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (ArrayKey<'a>, &'a Zval);

    fn next(&mut self) -> Option<Self::Item> {
        let table = std::ptr::from_ref(self.table).cast_mut();
        // SAFETY: the table is live; these functions only read it, and return null behind its end.
        unsafe {
            let value = ffi::zend_hash_get_current_data_ex(table, &raw mut self.position).as_ref()?;
            let (mut text, mut number) = (std::ptr::null_mut(), 0);
            sys::zend_hash_get_current_key_ex(table, &raw mut text, &raw mut number, &raw const self.position);
            let key = text.as_ref().map_or(ArrayKey::Int(number), |text| ArrayKey::Text(text.as_bytes()));
            ffi::zend_hash_move_forward_ex(table, &raw mut self.position);
            Some((key, value.dereference()))
        }
    }
}
