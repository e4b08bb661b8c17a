//! Names of the classes for the code, made of the stub by `stub.php`: a static for each of them, the properties of objects, the cases of enums.

use super::object::{Class, Properties};
use super::sys;
use crate::core::job::State;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendStr, Zval};

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// The cases of an enum of ours.
pub trait Case: Copy + 'static {
    const ALL: &'static [Self];
    fn class() -> &'static Class;
    fn name(self) -> &'static str;
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
