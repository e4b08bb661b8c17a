//! Walks PHP arrays byte-safely: keys may be any bytes.

use super::sys;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, Zval};

/// A key of a PHP array.
#[derive(Debug)]
pub enum Key<'a> {
    Int(i64),
    Text(&'a [u8]),
}

impl std::fmt::Display for Key<'_> {
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
    type Item = (Key<'a>, &'a Zval);

    fn next(&mut self) -> Option<Self::Item> {
        let table = std::ptr::from_ref(self.table).cast_mut();
        // SAFETY: the table is live; these functions only read it, and return null behind its end.
        unsafe {
            let value = ffi::zend_hash_get_current_data_ex(table, &raw mut self.position).as_ref()?;
            let (mut text, mut number) = (std::ptr::null_mut(), 0);
            sys::zend_hash_get_current_key_ex(table, &raw mut text, &raw mut number, &raw const self.position);
            let key = text.as_ref().map_or(Key::Int(number), |text| Key::Text(text.as_bytes()));
            ffi::zend_hash_move_forward_ex(table, &raw mut self.position);
            Some((key, value.dereference()))
        }
    }
}
