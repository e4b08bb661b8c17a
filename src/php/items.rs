//! The items of an `iterable`: an array, or a `Traversable` that is read as its items are wanted.

use super::call::Call;
use super::origin::Origin;
use super::unwind::{Outcome, Unwind, guard, throw_error};
use super::{convert, sys};
use ext_php_rs::ffi::zend_object_iterator;
use ext_php_rs::types::Zval;

/// A Traversable is sent in pieces of this size, as it is read.
const CHUNK: usize = 500;

/// Reads the first argument: an array is checked as a whole before anything of it is sent; a Traversable is read, checked and sent chunk by
/// chunk. `check` gets each item and its position.
pub fn each_chunk<T>(
    call: &Call,
    check: impl Fn(&Zval, usize) -> Outcome<T>,
    mut send: impl FnMut(Vec<T>) -> Outcome<()>,
) -> Outcome<()> {
    let given = call.required(1, |value, _| Ok(value))?;
    // A reference of our own keeps an item while jsonSerialize() methods run.
    let check = |item: &Zval, index| check(&item.dereference().shallow_clone(), index);
    let mut send = |checked: Vec<T>| if checked.is_empty() { Ok(()) } else { send(checked) };
    if let Some(table) = given.array() {
        let checked = convert::entries(table).enumerate().map(|(index, (_, item))| check(item, index));
        return send(checked.collect::<Outcome<_>>()?);
    }
    let mut items = Items::new(given).unwrap_or_else(|| Err(Origin::Argument(1).wrong_type("iterable", given)))?;
    let mut index = 0;
    loop {
        let mut checked = Vec::with_capacity(CHUNK);
        while checked.len() < CHUNK
            && let Some(item) = items.next()?
        {
            checked.push(check(&item, index)?);
            index += 1;
        }
        let is_last = checked.len() < CHUNK;
        send(checked)?;
        if is_last {
            return Ok(());
        }
    }
}

/// A `Traversable`, one item after the other. After a fatal error in it nothing of it is touched any more.
struct Items {
    iterator: *mut zend_object_iterator,
    started: bool,
}

impl Items {
    /// `None`: not traversable.
    fn new(value: &Zval) -> Option<Outcome<Self>> {
        let object = value.object()?;
        let ce = object.get_class_entry();
        let get_iterator = ce.get_iterator?;
        let raw = std::ptr::from_ref(ce).cast_mut();
        let mut holder = value.shallow_clone();
        // SAFETY: the class says how to iterate its objects; the iterator keeps the object alive.
        let made = guard(|| unsafe { get_iterator(raw, &raw mut holder, 0) });
        Some(match made {
            Ok(iterator) if !iterator.is_null() => Ok(Self { iterator, started: false }),
            Ok(_) => Err(throw_error("The iterator could not be made")),
            Err(fault) => Err(fault),
        })
    }

    fn next(&mut self) -> Outcome<Option<Zval>> {
        let step = self.step();
        if matches!(step, Err(Unwind::Bailout)) {
            self.iterator = std::ptr::null_mut();
        }
        step
    }

    fn step(&mut self) -> Outcome<Option<Zval>> {
        let iterator = self.iterator;
        let started = std::mem::replace(&mut self.started, true);
        // SAFETY: the iterator is live; optional functions are checked.
        unsafe {
            let functions = &*(*iterator).funcs;
            if started {
                (*iterator).index += 1;
                if let Some(forward) = functions.move_forward {
                    guard(|| forward(iterator))?;
                }
            } else {
                (*iterator).index = 0;
                if let Some(rewind) = functions.rewind {
                    guard(|| rewind(iterator))?;
                }
            }
            let Some(valid) = functions.valid else { return Ok(None) };
            if guard(|| valid(iterator))? != 0 {
                return Ok(None);
            }
            let Some(current) = functions.get_current_data else { return Ok(None) };
            let value = guard(|| current(iterator))?;
            Ok(value.as_ref().map(|value| value.dereference().shallow_clone()))
        }
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        if !self.iterator.is_null() {
            // SAFETY: made by `get_iterator`, destroyed once. Destructors of the user's may run in here.
            let _ = guard(|| unsafe { sys::zend_iterator_dtor(self.iterator) });
        }
    }
}
