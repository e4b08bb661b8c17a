//! One call of a method of ours: its arguments, its `$this`, and the way out of it.

use super::object::{Inside, class_name, inside_object};
use super::origin::Origin;
use super::unwind::{Outcome, Unwind, internal_error, throw_error};
use super::{args, sys};
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, ZendObject, Zval};
use ext_php_rs::zend::{ExecuteData, bailout};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The arguments and `$this` of a running method.
pub struct Call {
    frame: *mut ExecuteData,
}

impl Call {
    /// Argument `number` (from 1), or `None` where it was left out.
    pub fn arg(&self, number: u32) -> Option<&Zval> {
        if number == 0 || number > self.given() {
            return None;
        }
        // SAFETY: the frame is the one that runs, and it holds as many arguments as were given.
        let value = unsafe { (*self.frame).zend_call_arg(usize::try_from(number - 1).ok()?) }?;
        // SAFETY: a slot of the frame always has a type.
        if unsafe { value.u1.type_info } == ffi::IS_UNDEF { None } else { Some(value.dereference()) }
    }

    /// As [`Call::arg`], `None` also for `null`.
    pub fn non_null(&self, number: u32) -> Option<&Zval> {
        self.arg(number).filter(|value| !value.is_null())
    }

    /// How many arguments were given.
    pub fn given(&self) -> u32 {
        // SAFETY: the frame is the one that runs.
        unsafe { (*self.frame).This.u2.num_args }
    }

    pub fn required<'a, T>(&'a self, number: u32, read: impl FnOnce(&'a Zval, Origin<'a>) -> Outcome<T>) -> Outcome<T> {
        match self.arg(number) {
            Some(value) => read(value, Origin::Argument(number)),
            None => Err(Origin::Argument(number).wrong_type("mixed", &Zval::new())),
        }
    }

    /// `None` where it was left out.
    pub fn optional<'a, T>(
        &'a self,
        number: u32,
        read: impl FnOnce(&'a Zval, Origin<'a>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        self.arg(number).map(|value| read(value, Origin::Argument(number))).transpose()
    }

    /// `None` where it was left out, and for null.
    pub fn nullable<'a, T>(
        &'a self,
        number: u32,
        read: impl FnOnce(&'a Zval, Origin<'a>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        self.non_null(number).map(|value| read(value, Origin::Argument(number))).transpose()
    }

    /// The arguments that a variadic parameter takes by any name.
    pub fn named(&self) -> Option<&ZendHashTable> {
        // SAFETY: the frame is the one that runs; with this flag it has such a table.
        unsafe {
            let has_some = (*self.frame).This.u1.type_info & sys::CALL_HAS_EXTRA_NAMED_PARAMS != 0;
            (*self.frame).extra_named_params.as_ref().filter(|_| has_some)
        }
    }

    /// The variadic arguments from `first` on, which have no names.
    pub fn each<'a, T>(&'a self, first: u32, read: impl Fn(&'a Zval, Origin<'a>) -> Outcome<T>) -> Outcome<Vec<T>> {
        if self.named().is_some() {
            // SAFETY: throws into the running frame.
            unsafe { sys::zend_unexpected_extra_named_error() };
            return Err(Unwind::Thrown);
        }
        (first..=self.given()).filter_map(|number| self.optional(number, &read).transpose()).collect()
    }

    /// `bool $x = default`
    pub fn bool_or(&self, number: u32, default: bool) -> Outcome<bool> {
        Ok(self.optional(number, args::bool)?.unwrap_or(default))
    }

    /// The object the method was called on.
    pub fn object(&self) -> Outcome<*mut ZendObject> {
        // SAFETY: the frame is the one that runs; `This` is a plain value in it.
        match unsafe { (*self.frame).This.object() } {
            Some(object) => Ok(std::ptr::from_ref(object).cast_mut()),
            None => Err(throw_error("The method needs an object")),
        }
    }

    /// What a method takes as its `$this`. The frame keeps the object alive for as long as the call runs.
    pub fn this<T: This>(&self) -> Outcome<&T> {
        // SAFETY: see `object`.
        T::of(unsafe { &*self.object()? })
    }

    /// `$this` as a value, for methods that return it.
    pub fn this_value(&self) -> Outcome<Zval> {
        let object = self.object()?;
        let mut out = Zval::new();
        // SAFETY: see `object`; `set_object` counts the new reference.
        out.set_object(unsafe { &mut *object });
        Ok(out)
    }

    /// Wrong argument counts are answered as the engine answers them.
    fn check_count(&self) -> Outcome<()> {
        // SAFETY: the frame is the one that runs, and its function is an internal one.
        let function = unsafe { &(*(*self.frame).func).internal_function };
        let variadic = function.fn_flags & ffi::ZEND_ACC_VARIADIC != 0;
        let given = self.given();
        if given >= function.required_num_args && (variadic || given <= function.num_args) {
            return Ok(());
        }
        // SAFETY: as above; u32::MAX means "any number" to the engine.
        unsafe {
            if function.num_args == 0 && !variadic {
                sys::zend_wrong_parameters_none_error();
            } else {
                let max = if variadic { u32::MAX } else { function.num_args };
                sys::zend_wrong_parameters_count_error(function.required_num_args, max);
            }
        }
        Err(Unwind::Thrown)
    }
}

/// What a method of ours takes as its `$this`: the object, or the Rust value inside.
pub trait This {
    fn of(object: &ZendObject) -> Outcome<&Self>;
}

impl This for ZendObject {
    fn of(object: &ZendObject) -> Outcome<&Self> {
        Ok(object)
    }
}

impl<T: Inside> This for T {
    fn of(object: &ZendObject) -> Outcome<&Self> {
        inside_object(object).ok_or_else(|| {
            // SAFETY: the object is live.
            let class = unsafe { class_name(object) };
            throw_error(&format!("The {class} object was not constructed"))
        })
    }
}

/// The body of every method handler: check, run, hand over the result or the fault.
///
/// # Safety
/// Only for the engine: `frame` is the running frame of an internal method, `out` its return value.
pub unsafe fn enter(frame: *mut ExecuteData, out: *mut Zval, body: fn(&Call) -> Outcome<Zval>) {
    let call = Call { frame };
    let result = catch_unwind(AssertUnwindSafe(|| call.check_count().and_then(|()| body(&call))));
    match result {
        // SAFETY: the engine initialised the return value to null, so nothing is overwritten.
        Ok(Ok(value)) => unsafe { out.write(value) },
        Ok(Err(Unwind::Thrown)) => {}
        // SAFETY: everything owned by this call was dropped when `body` returned.
        Ok(Err(Unwind::Bailout)) => unsafe { bailout() },
        Err(_) => {
            internal_error();
        }
    }
}

/// The function that the engine calls for a method. Its body gets the value inside `$this` unless it is static or a constructor, and the call
/// where it has parameters.
macro_rules! handler {
    (@passed $call:ident this) => {
        $call.this()?
    };
    (@passed $call:ident call) => {
        $call
    };
    ($($body:ident)::+ ($($passed:ident),*)) => {{
        unsafe extern "C" fn handler(frame: *mut ext_php_rs::zend::ExecuteData, out: *mut ext_php_rs::types::Zval) {
            // SAFETY: the engine calls handlers with the running frame.
            unsafe { $crate::php::call::enter(frame, out, |_call| $($body)::+($(handler!(@passed _call $passed)),*)) }
        }
        handler
    }};
}
pub(super) use handler;
