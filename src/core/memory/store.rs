//! Keys and their values.

use super::zset::Zset;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Fields in the order in which they came, as Redis has them while they are few; the last one takes the place of one that goes.
#[derive(Debug, Clone, Default)]
pub struct Hash {
    fields: IndexMap<Box<[u8]>, Vec<u8>, FxBuildHasher>,
    bytes: usize,
}

/// A field and its value.
pub type Pair<'a> = (&'a [u8], &'a [u8]);

/// What a field takes beside its name and its value.
const FIELD: usize = 96;

impl Hash {
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.fields.get(name).map(Vec::as_slice)
    }

    /// True: it was not there.
    pub fn set(&mut self, name: &[u8], value: &[u8]) -> bool {
        self.bytes += value.len();
        if let Some(known) = self.fields.get_mut(name) {
            self.bytes -= known.len();
            value.clone_into(known);
            return false;
        }
        self.bytes += name.len() + FIELD;
        self.fields.insert(name.into(), value.to_vec());
        true
    }

    pub fn remove(&mut self, name: &[u8]) -> bool {
        let Some(value) = self.fields.swap_remove(name) else { return false };
        self.bytes -= name.len() + value.len() + FIELD;
        true
    }

    pub fn all(&self) -> impl Iterator<Item = Pair<'_>> {
        self.fields.iter().map(|(name, value)| (&**name, value.as_slice()))
    }

    /// So many fields, and the next cursor, which says how many are left; 0 begins, too. It goes from the last field to the first, so that one which
    /// is there all the time is met: only a field that has been met takes the place of another one.
    pub fn scan(&self, cursor: usize, count: usize) -> (usize, Vec<Pair<'_>>) {
        let end = if cursor == 0 { self.len() } else { cursor.min(self.len()) };
        let next = end.saturating_sub(count);
        let found = self.fields.get_range(next..end).into_iter().flatten();
        (next, found.map(|(name, value)| (&**name, value.as_slice())).collect())
    }
}

#[derive(Debug, Clone)]
pub enum Value {
    Text(Vec<u8>),
    Hash(Hash),
    Zset(Zset),
    /// No script and no client makes one: programs of others may.
    List(Vec<Vec<u8>>),
}

impl Value {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Hash(_) => "hash",
            Self::Zset(_) => "zset",
            Self::List(_) => "list",
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Hash(hash) => hash.bytes,
            Self::Zset(zset) => zset.bytes(),
            Self::List(values) => values.iter().map(Vec::len).sum(),
        }
    }

    /// A key without members is none.
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Hash(hash) => hash.len() == 0,
            Self::Zset(zset) => zset.len() == 0,
            Self::List(values) => values.is_empty(),
        }
    }
}

/// A type of values.
pub trait Kind: Default {
    fn of(value: &mut Value) -> Option<&mut Self>;
    fn wrap(self) -> Value;
}

macro_rules! kinds {
    ($($type:ty => $variant:ident),*) => {$(
        impl Kind for $type {
            fn of(value: &mut Value) -> Option<&mut Self> {
                if let Value::$variant(own) = value { Some(own) } else { None }
            }
            fn wrap(self) -> Value {
                Value::$variant(self)
            }
        }
    )*};
}
kinds!(Vec<u8> => Text, Hash => Hash, Zset => Zset, Vec<Vec<u8>> => List);

/// The key has a value of another type.
#[derive(Debug, Clone, Copy)]
pub struct WrongType;

#[derive(Debug)]
struct Slot {
    value: Value,
    /// As they were counted last.
    bytes: usize,
    ends_ms: Option<i64>,
}

/// What a key takes beside its name and its value.
const KEY: usize = 128;

/// One database.
#[derive(Debug, Default)]
pub struct Store {
    keys: FxHashMap<Box<[u8]>, Slot>,
    /// All keys together, about.
    bytes: usize,
    /// The time of the command, or script, that runs.
    pub now_us: i64,
}

impl Store {
    pub fn now_ms(&self) -> i64 {
        self.now_us / 1000
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn slot(&mut self, key: &[u8]) -> Option<&mut Slot> {
        let now_ms = self.now_ms();
        if self.keys.get(key)?.ends_ms.is_some_and(|end| end < now_ms) {
            self.remove(key);
        }
        self.keys.get_mut(key)
    }

    pub fn any(&mut self, key: &[u8]) -> Option<&Value> {
        self.slot(key).map(|slot| &slot.value)
    }

    /// The value of that type, if there is one. The caller who changes it calls [`Self::settle`].
    pub fn get<T: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut T>, WrongType> {
        self.slot(key).map(|slot| T::of(&mut slot.value).ok_or(WrongType)).transpose()
    }

    /// As [`Self::get`]; makes it if it is not there.
    pub fn make<T: Kind>(&mut self, key: &[u8]) -> Result<&mut T, WrongType> {
        if self.slot(key).is_none() {
            self.put(key, T::default().wrap(), None);
        }
        self.get(key)?.ok_or(WrongType)
    }

    /// Counts what a change has made of a key.
    pub fn settle(&mut self, key: &[u8]) {
        let Some(slot) = self.keys.get_mut(key) else { return };
        let bytes = slot.value.bytes();
        self.bytes = self.bytes + bytes - slot.bytes;
        slot.bytes = bytes;
        if slot.value.is_empty() {
            self.remove(key);
        }
    }

    pub fn remove(&mut self, key: &[u8]) -> Option<Value> {
        let slot = self.keys.remove(key)?;
        self.bytes -= slot.bytes + key.len() + KEY;
        let is_over = slot.ends_ms.is_some_and(|end| end < self.now_ms());
        (!is_over).then_some(slot.value)
    }

    pub fn put(&mut self, key: &[u8], value: Value, ends_ms: Option<i64>) {
        self.remove(key);
        let bytes = value.bytes();
        self.bytes += bytes + key.len() + KEY;
        self.keys.insert(key.into(), Slot { value, bytes, ends_ms });
    }

    /// `None`: there is no such key.
    pub fn end(&mut self, key: &[u8]) -> Option<&mut Option<i64>> {
        self.slot(key).map(|slot| &mut slot.ends_ms)
    }

    pub fn clear(&mut self) {
        (self.keys, self.bytes) = (FxHashMap::default(), 0);
    }

    /// Sorted.
    #[cfg(debug_assertions)]
    pub fn names(&mut self) -> Vec<Box<[u8]>> {
        let now_ms = self.now_ms();
        let all = self.keys.iter().filter(|(_, slot)| slot.ends_ms.is_none_or(|end| end >= now_ms));
        let mut names: Vec<Box<[u8]>> = all.map(|(key, _)| key.clone()).collect();
        names.sort_unstable();
        names
    }
}
