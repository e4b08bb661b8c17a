//! Classes of ours, and their objects with a Rust value inside: how these are made, found again and freed. Knows no class by its name.

use super::sys;
use super::unwind::{Outcome, Unwind, guard, throw_error};
use ext_php_rs::ffi::{self, zend_class_entry, zend_function, zend_object, zend_object_handlers};
use ext_php_rs::types::{ZendObject, Zval};
use ext_php_rs::zend::ClassEntry;
use std::ffi::c_int;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

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

/// The properties of an object of ours, by their names.
pub trait Properties {
    /// In the order of the slots.
    const NAMES: &'static [&'static str];
    fn class() -> &'static Class;
    fn into_slots(self) -> Vec<Zval>;
}

/// A Rust type that lives in PHP objects.
pub trait Inside: Sized + 'static {
    /// One table of handlers per type.
    fn handlers() -> &'static OnceLock<Handlers>;
    /// Whether PHP may say `new`.
    const CONSTRUCTIBLE: bool = false;
    /// Values of PHP's that it holds, so that the engine can collect cycles through them.
    fn held_values(&self) -> (*mut Zval, usize) {
        (std::ptr::null_mut(), 0)
    }
    /// The array that `var_dump()` shows; `None`: the properties.
    fn debug_info(&self) -> Option<Zval> {
        None
    }
    /// The answer to `==`.
    fn equals(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// The inside of objects that are nothing but their properties, and that PHP neither makes nor copies.
pub struct Plain;

impl Inside for Plain {
    fn handlers() -> &'static OnceLock<Handlers> {
        static HANDLERS: OnceLock<Handlers> = OnceLock::new();
        &HANDLERS
    }
}

/// A handler table; immutable once made.
pub struct Handlers(zend_object_handlers);
// SAFETY: function pointers and an offset, never written after they were made.
unsafe impl Send for Handlers {}
// SAFETY: as above.
unsafe impl Sync for Handlers {}

/// The object as it lies in memory: the value before the engine's part, whose property slots come last.
#[repr(C)]
struct Holder<T> {
    value: Option<T>,
    std: zend_object,
}

/// The `create_object` of a class whose objects hold a `T`.
///
/// # Safety
/// Only for the engine.
pub unsafe extern "C" fn create<T: Inside>(ce: *mut zend_class_entry) -> *mut zend_object {
    allocate::<T>(ce, None)
}

fn allocate<T: Inside>(ce: *mut zend_class_entry, value: Option<T>) -> *mut zend_object {
    // SAFETY: the engine's allocator returns room for the holder and the class' property slots, or does not return.
    unsafe {
        let holder = ffi::ext_php_rs_zend_object_alloc(size_of::<Holder<T>>(), ce).cast::<Holder<T>>();
        (&raw mut (*holder).value).write(value);
        let object = &raw mut (*holder).std;
        ffi::zend_object_std_init(object, ce);
        ffi::object_properties_init(object, ce);
        (*object).handlers = &raw const T::handlers().get_or_init(make_handlers::<T>).0;
        object
    }
}

fn make_handlers<T: Inside>() -> Handlers {
    // SAFETY: the standard handlers are a constant of the engine.
    let mut handlers = unsafe { ffi::std_object_handlers };
    handlers.offset = c_int::try_from(offset_of!(Holder<T>, std)).unwrap_or(0);
    handlers.free_obj = Some(free::<T>);
    handlers.clone_obj = None;
    handlers.compare = Some(compare::<T>);
    handlers.get_gc = Some(get_gc::<T>);
    handlers.get_debug_info = Some(get_debug_info::<T>);
    if !T::CONSTRUCTIBLE {
        handlers.get_constructor = Some(refuse_constructor);
    }
    Handlers(handlers)
}

/// The holder around an engine object.
///
/// # Safety
/// `object` was made by [`allocate`] for the same `T`.
unsafe fn holder<T: Inside>(object: *mut zend_object) -> *mut Holder<T> {
    // SAFETY: the caller vouches that `object` is the `std` field of a holder.
    unsafe { object.byte_sub(offset_of!(Holder<T>, std)).cast() }
}

unsafe extern "C" fn free<T: Inside>(object: *mut zend_object) {
    // SAFETY: this handler is only in the table of `T`'s objects; the engine calls it once.
    unsafe {
        let value = (*holder::<T>(object)).value.take();
        // A panic must not unwind into the engine. The value is gone either way.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
        ffi::zend_object_std_dtor(object);
    }
}

/// The declared properties are slots that the engine finds itself where there is nothing else to tell.
unsafe extern "C" fn get_gc<T: Inside>(
    object: *mut zend_object,
    table: *mut *mut Zval,
    count: *mut c_int,
) -> *mut ffi::HashTable {
    // SAFETY: this handler is only in the table of `T`'s objects.
    let held = unsafe { (*holder::<T>(object)).value.as_ref() }.map_or((std::ptr::null_mut(), 0), T::held_values);
    // SAFETY: the engine passes room for both results, or asks its own handler.
    unsafe {
        if held.1 == 0 {
            return sys::zend_std_get_gc(object, table, count);
        }
        *table = held.0;
        *count = c_int::try_from(held.1).unwrap_or(0);
    }
    std::ptr::null_mut()
}

/// For `var_dump()`, `print_r()` and debuggers.
unsafe extern "C" fn get_debug_info<T: Inside>(
    object: *mut zend_object,
    is_temporary: *mut c_int,
) -> *mut ffi::HashTable {
    // SAFETY: this handler is only in the table of `T`'s objects.
    let value = unsafe { (*holder::<T>(object)).value.as_ref() };
    let shown = catch_unwind(AssertUnwindSafe(|| value.and_then(T::debug_info)));
    // SAFETY: the array is new, and the engine, which takes it over, frees it. Otherwise its own handler is asked.
    unsafe {
        match shown {
            Ok(Some(array)) if array.is_array() => {
                let table = array.value.arr;
                std::mem::forget(array);
                *is_temporary = 1;
                table
            }
            _ => sys::zend_std_get_debug_info(object, is_temporary),
        }
    }
}

unsafe extern "C" fn compare<T: Inside>(left: *mut Zval, right: *mut Zval) -> c_int {
    const UNCOMPARABLE: c_int = 1;
    // SAFETY: the engine passes two live values, at least one of them an object with this handler.
    let (left_value, right_value) = unsafe { (&*left, &*right) };
    match (inside::<T>(left_value), inside::<T>(right_value)) {
        (Some(a), Some(b)) => c_int::from(!a.equals(b)),
        (None, None) | (Some(_), None) | (None, Some(_)) => {
            if left_value.is_object() && right_value.is_object() {
                return UNCOMPARABLE;
            }
            // SAFETY: as above; comparing with a scalar is the engine's business.
            unsafe { ffi::zend_std_compare_objects(left, right) }
        }
    }
}

unsafe extern "C" fn refuse_constructor(object: *mut zend_object) -> *mut zend_function {
    // SAFETY: the engine passes a live object.
    throw_error(&format!("Cannot directly construct {}", unsafe { class_name(object) }));
    std::ptr::null_mut()
}

/// The name of an object's class.
///
/// # Safety
/// The object is live.
pub unsafe fn class_name<'a>(object: *const zend_object) -> &'a str {
    // SAFETY: the caller vouches for the object; its class outlives it.
    unsafe { (*object).ce.as_ref() }.and_then(ext_php_rs::zend::ClassEntry::name).unwrap_or("object")
}

/// The `T` inside a PHP value, if it is an object that holds one and whose constructor ran.
pub fn inside<T: Inside>(value: &Zval) -> Option<&T> {
    value.dereference().object().and_then(inside_object::<T>)
}

/// See [`inside`].
pub fn inside_object<T: Inside>(object: &ZendObject) -> Option<&T> {
    let handlers = &raw const T::handlers().get()?.0;
    if !std::ptr::eq(object.handlers, handlers) {
        return None;
    }
    // SAFETY: only `allocate::<T>` gives out objects with these handlers.
    unsafe { (*holder::<T>(std::ptr::from_ref(object).cast_mut())).value.as_ref() }
}

/// Puts in the value a constructor made. A second construction is refused: the first value may be in use.
pub fn construct<T: Inside>(object: *mut ZendObject, value: T) -> Outcome<()> {
    // SAFETY: `$this` of a constructor is live, and was made by `allocate::<T>`.
    let place = unsafe { &mut (*holder::<T>(object)).value };
    if place.is_some() {
        // SAFETY: as above.
        let class = unsafe { class_name(object) };
        return Err(throw_error(&format!("Cannot call the constructor of {class} twice")));
    }
    *place = Some(value);
    Ok(())
}

/// A new object of the class that has these properties, around `value`.
pub fn make<T: Inside, P: Properties>(value: T, properties: P) -> Outcome<Zval> {
    let made = unfilled(P::class(), value)?;
    if let Some(object) = made.object() {
        let object = std::ptr::from_ref(object).cast_mut();
        for (index, mut property) in properties.into_slots().into_iter().enumerate() {
            property.u2.extra = 0;
            // SAFETY: the object is new and ours, and its class declares these properties in this order.
            unsafe { sys::slot(object, index).write(property) };
        }
    }
    Ok(made)
}

/// A new object whose properties have no values yet.
pub fn unfilled<T: Inside>(class: &Class, value: T) -> Outcome<Zval> {
    if class.entry().is_null() {
        return Err(Unwind::Thrown);
    }
    let mut out = Zval::new();
    out.value.obj = allocate::<T>(class.entry(), Some(value));
    out.u1.type_info = ffi::IS_OBJECT_EX;
    Ok(out)
}

/// A new object of a class that PHP makes by itself, without a call of its constructor.
pub fn plain(class: *mut zend_class_entry) -> Outcome<Zval> {
    // SAFETY: a registered class lives as long as the process.
    let Some(class) = (unsafe { class.as_ref() }) else { return Err(throw_error("A class of PHP is missing")) };
    let mut out = Zval::new();
    let mut fresh = guard(|| class.new())?;
    out.set_object(&mut fresh);
    Ok(out)
}

/// The value of a property of an object of the class that has these.
pub fn property<'a, P: Properties>(object: &'a ZendObject, name: &str) -> Option<&'a Zval> {
    let index = P::NAMES.iter().position(|known| *known == name).filter(|_| P::class().owns(object))?;
    // SAFETY: a live object of the final class has a slot for each of its properties.
    unsafe { sys::slot(std::ptr::from_ref(object).cast_mut(), index).as_ref() }
}
