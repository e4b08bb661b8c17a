//! Names of the classes for the code, made of the stub by `stub.php`: a static for each of them, the properties of objects, the cases of enums.

use super::sys;
use crate::core::job::State;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendObject, ZendStr, Zval};
use ext_php_rs::zend::ClassEntry;
use std::sync::atomic::{AtomicPtr, Ordering};

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// The properties of an object of ours, by their names.
pub trait Properties {
    /// In the order of the slots.
    const NAMES: &'static [&'static str];
    fn class() -> &'static Class;
    fn into_slots(self) -> Vec<Zval>;
}

/// The cases of an enum of ours.
pub trait Case: Copy + 'static {
    const ALL: &'static [Self];
    fn class() -> &'static Class;
    fn name(self) -> &'static str;
}

/// A class of ours; known to the engine once it is registered.
pub struct Class {
    pub name: &'static str,
    entry: AtomicPtr<ClassEntry>,
}

impl Class {
    pub const fn new(name: &'static str) -> Self {
        Self { name, entry: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The class entry; null before registration.
    pub fn entry(&self) -> *mut ClassEntry {
        self.entry.load(Ordering::Acquire)
    }

    /// As the engine knows it.
    pub fn set_entry(&self, entry: *mut ClassEntry) {
        self.entry.store(entry, Ordering::Release);
    }

    /// Whether the value is an instance.
    pub fn owns(&self, object: &ZendObject) -> bool {
        // SAFETY: a registered class entry lives until the module shuts down.
        unsafe { self.entry().as_ref() }.is_some_and(|ce| object.instance_of(ce))
    }
}

/// The case that a value is.
pub fn case<C: Case>(value: &Zval) -> Option<C> {
    let object = value.object().filter(|object| C::class().owns(object))?;
    // SAFETY: cases of a backed enum have two slots, name and value, and live as long as the request.
    let name = unsafe { sys::slot(std::ptr::from_ref(object).cast_mut(), 0).as_ref() }?.str()?;
    C::ALL.iter().find(|case| case.name() == name).copied()
}

/// The object of a case.
pub fn case_object<C: Case>(case: C) -> Zval {
    let mut out = Zval::new();
    let name = ZendStr::new(case.name(), false);
    // SAFETY: the enum is registered and has the case; `set_object` counts the reference.
    unsafe {
        let object = ffi::zend_enum_get_case(C::class().entry(), name.as_ptr().cast_mut());
        if let Some(object) = object.as_mut() {
            out.set_object(object);
        }
    }
    out
}

pub fn state_object(state: State) -> Zval {
    case_object(match state {
        State::Delayed => cases::State::Delayed,
        State::Ready => cases::State::Ready,
        State::Reserved => cases::State::Reserved,
        State::Buried => cases::State::Buried,
    })
}
