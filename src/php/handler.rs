//! Handlers of `consume()` and `drain()`: callables that can be called with a job and the queue. One that cannot would fail each job at each attempt.

use super::callbacks::callable;
use super::classes;
use super::origin::Origin;
use super::sys;
use super::unwind::Outcome;
use ext_php_rs::ffi::{self, zend_class_entry, zend_fcall_info_cache, zend_function};
use ext_php_rs::types::Zval;
use std::ffi::CStr;
use std::ptr::null_mut;

const USER_FUNCTION: u8 = 2;
const SEND_BY_REFERENCE: u32 = 1;

/// A callable that takes a job, or a list of jobs, and this queue object.
pub fn handler(value: &Zval, origin: Origin<'_>, queue: &Zval, takes_list: bool) -> Outcome<Zval> {
    let handler = callable(value, origin)?;
    let queue_class = queue.object().map_or(null_mut(), |object| object.ce);
    let first = if takes_list { null_mut() } else { classes::JOB.entry() };
    let jobs = if takes_list { "a list of jobs" } else { "a job" };
    match problem(&handler, [first, queue_class]) {
        Some(why) => Err(origin.type_error_saying(&format!("must take {jobs}, and a queue: {why}"))),
        None => Ok(handler),
    }
}

/// Why the callable cannot be called with objects of these classes; null: with an array.
fn problem(callable: &Zval, given: [*mut zend_class_entry; 2]) -> Option<String> {
    // SAFETY: all pointers of the cache are null, which it allows.
    let mut cache: zend_fcall_info_cache = unsafe { std::mem::zeroed() };
    let cache_pointer: *mut zend_fcall_info_cache = &raw mut cache;
    // SAFETY: the engine looks at a live value and writes into the cache, which it clears again.
    unsafe {
        let callable = std::ptr::from_ref(callable).cast_mut();
        if !sys::zend_is_callable_ex(callable, null_mut(), 0, null_mut(), cache_pointer.cast(), null_mut()) {
            return None; // it has just been one
        }
        let found = cache.function_handler.as_ref().and_then(|function| problem_of(function, given));
        sys::zend_release_fcall_info_cache(cache_pointer);
        found
    }
}

fn problem_of(function: &zend_function, given: [*mut zend_class_entry; 2]) -> Option<String> {
    // SAFETY: every kind of function begins with these fields.
    let common = unsafe { &function.common };
    if common.fn_flags & ffi::ZEND_ACC_CALL_VIA_TRAMPOLINE != 0 {
        return None; // __call() takes everything
    }
    let (required, count) = (common.required_num_args as usize, common.num_args as usize);
    let is_variadic = common.fn_flags & ffi::ZEND_ACC_VARIADIC != 0;
    if required > given.len() {
        return Some(format!("it needs {required} arguments, and gets {}", given.len()));
    }
    // SAFETY: as above.
    let is_user = unsafe { function.type_ } == USER_FUNCTION;
    // A closure of a magic method has none, and takes everything.
    if !is_user && !is_variadic && count == 1 {
        return Some(format!("it takes 1 argument, and gets {}", given.len()));
    }
    let rows = count + usize::from(is_variadic);
    given.into_iter().enumerate().find_map(|(number, class)| {
        let at = if number < rows { number } else { rows.checked_sub(1).filter(|_| is_variadic)? };
        // SAFETY: a function has so many rows, a variadic one last; both kinds of rows have the type at one place.
        let row = unsafe { &*common.arg_info.add(at) };
        let name = if is_user {
            // SAFETY: the name of a parameter lives as long as its function.
            unsafe { row.name.as_ref() }.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned())
        } else {
            // SAFETY: as above; rows of internal functions have C strings.
            Some(unsafe { CStr::from_ptr(row.name.cast()) }.to_string_lossy().into_owned())
        };
        let name = name.unwrap_or_default();
        let mode = (row.type_.type_mask >> ffi::_ZEND_SEND_MODE_SHIFT) & 3;
        if mode == SEND_BY_REFERENCE {
            return Some(format!("the parameter ${name} of it is taken by reference"));
        }
        let declared = type_text(row);
        let scope = common.scope;
        (!accepts(&declared, class, scope)).then(|| {
            let gets = match number {
                0 if class.is_null() => "an array",
                0 => "a DelayQueue\\JobInterface",
                _ => "a DelayQueue\\QueueInterface",
            };
            format!("the parameter {declared} ${name} of it gets {gets}")
        })
    })
}

/// Empty where the parameter has no type.
fn type_text(row: &ffi::zend_arg_info) -> String {
    // SAFETY: the type belongs to the function; the string, if there is one, is new and ours to release.
    unsafe {
        let text = sys::zend_type_to_string(row.type_);
        let Some(owned) = text.as_ref().map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()) else {
            return String::new();
        };
        ffi::ext_php_rs_zend_string_release(text);
        owned
    }
}

/// Whether a type, as PHP prints it, takes an object of the class, or an array where there is none: `self|(A&B)|null`.
fn accepts(declared: &str, class: *mut zend_class_entry, scope: *mut zend_class_entry) -> bool {
    if class.is_null() {
        let takes = |name: &str| matches!(name, "array" | "iterable" | "mixed" | "Traversable|array");
        return declared.is_empty() || declared.trim_start_matches('?').split('|').any(takes);
    }
    let one = |name: &str| match name.to_ascii_lowercase().as_str() {
        "mixed" | "object" => true,
        "self" => is_below(class, scope),
        // SAFETY: the scope of a method is a live class, whose parent is linked once it can be called.
        "parent" => is_below(class, unsafe { scope.as_ref().map_or(null_mut(), |ce| ce.__bindgen_anon_1.parent) }),
        name => is_below(class, sys::find_class(name)),
    };
    let all = |names: &str| names.trim_matches(['(', ')']).split('&').all(one);
    declared.is_empty() || declared.trim_start_matches('?').split('|').any(all)
}

fn is_below(class: *mut zend_class_entry, above: *mut zend_class_entry) -> bool {
    // SAFETY: classes that the engine knows are live.
    unsafe { class.as_ref().zip(above.as_ref()).is_some_and(|(class, above)| class.instance_of(above)) }
}
