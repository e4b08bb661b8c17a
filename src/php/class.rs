//! Registers classes, interfaces, enums and functions as the stub declares them (`stub.rs`).
//!
//! `ext-php-rs`' macros know no union types, no typed properties, no `static` and no enum-case defaults, so the
//! argument tables are made here; the engine gets the same as from a class of `php-src`.

use super::object::Class;
use super::sys;
use ext_php_rs::ffi::{self, zend_class_entry, zend_function_entry, zend_internal_arg_info, zend_object, zend_type};
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::{ClassEntry, ExecuteData};
use std::ffi::{CStr, CString};

pub type Handler = unsafe extern "C" fn(*mut ExecuteData, *mut Zval);
pub type Create = unsafe extern "C" fn(*mut zend_class_entry) -> *mut zend_object;

/// The engine's bits for the types that are no classes.
pub mod types {
    use crate::php::sys;
    use ext_php_rs::ffi;

    pub const NULL: u32 = 1 << ffi::IS_NULL;
    pub const BOOL: u32 = ffi::MAY_BE_BOOL;
    pub const INT: u32 = 1 << ffi::IS_LONG;
    pub const FLOAT: u32 = 1 << ffi::IS_DOUBLE;
    pub const STRING: u32 = 1 << ffi::IS_STRING;
    pub const ARRAY: u32 = 1 << ffi::IS_ARRAY;
    pub const ITERABLE: u32 = ffi::_ZEND_TYPE_ITERABLE_BIT;
    pub const MIXED: u32 = ffi::MAY_BE_ANY;
    pub const CALLABLE: u32 = sys::MAY_BE_CALLABLE;
    pub const VOID: u32 = 1 << ffi::IS_VOID;
    pub const STATIC: u32 = sys::MAY_BE_STATIC;
    pub const VARIADIC: u32 = ffi::_ZEND_IS_VARIADIC_BIT;
}

/// Everything there is to say about a class.
pub struct Declaration {
    pub class: &'static Class,
    pub kind: ClassKind,
    pub parent: Option<&'static str>,
    pub interfaces: &'static [&'static str],
    pub constants: &'static [(&'static str, Constant)],
    /// Names and values.
    pub cases: &'static [(&'static str, &'static str)],
    pub properties: &'static [Property],
    pub methods: &'static [Method],
    /// How instances are made; `None`: as the parent does, or as plain objects.
    pub create: Option<Create>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    Interface,
    Enum,
    Open,
    Final,
}

pub enum Constant {
    Int(i64),
    Text(&'static str),
}

pub struct Property {
    pub name: &'static str,
    pub mask: u32,
    /// Class names, `|` between them.
    pub classes: Option<&'static CStr>,
    pub is_readonly: bool,
    pub initial: Initial,
}

pub enum Initial {
    Undefined,
    Null,
    False,
    EmptyText,
    EmptyArray,
}

/// A method, or a function, whose name has its namespace.
pub struct Method {
    pub name: &'static CStr,
    /// `None` in an interface.
    pub handler: Option<Handler>,
    pub is_static: bool,
    /// The first row is the return type.
    pub arguments: &'static [Argument],
    /// The numbers, from 0, of the parameters that traces must not show.
    pub sensitive: &'static [u32],
}

/// A row of the table that the engine has of a method or a function.
#[repr(transparent)]
pub struct Argument(zend_internal_arg_info);
// SAFETY: its pointers lead to constants.
unsafe impl Sync for Argument {}

impl Argument {
    /// The number of required parameters stands in place of a name.
    pub const fn returned(required: usize, mask: u32, classes: Option<&'static CStr>) -> Self {
        let name = std::ptr::without_provenance(required);
        Self(zend_internal_arg_info { name, type_: argument_type(mask, classes), default_value: std::ptr::null() })
    }

    /// `default` is PHP's own text.
    pub const fn parameter(
        name: &'static CStr,
        mask: u32,
        classes: Option<&'static CStr>,
        default: Option<&'static CStr>,
    ) -> Self {
        let default_value = match default {
            Some(text) => text.as_ptr(),
            None => std::ptr::null(),
        };
        Self(zend_internal_arg_info { name: name.as_ptr(), type_: argument_type(mask, classes), default_value })
    }
}

/// In argument tables classes are C strings; the engine turns them into names itself when it registers the method.
const fn argument_type(mask: u32, classes: Option<&'static CStr>) -> zend_type {
    match classes {
        None => zend_type { ptr: std::ptr::null_mut(), type_mask: mask },
        Some(names) => zend_type { ptr: names.as_ptr().cast_mut().cast(), type_mask: mask | sys::TYPE_IS_CLASS_TEXT },
    }
}

/// A declaration that the engine would not take: a bug of ours, caught when the module is loaded.
#[derive(Debug)]
pub struct Rejected;

/// Must run in the module's startup function.
pub fn register(declaration: &Declaration) -> Result<(), Rejected> {
    let ce = match declaration.kind {
        ClassKind::Enum => register_enum(declaration)?,
        _ => register_class(declaration)?,
    };
    for (name, value) in declaration.constants {
        declare_constant(ce, name, value);
    }
    declaration.class.set_entry(ce);
    Ok(())
}

/// Must run in the module's startup function.
pub fn register_functions(functions: &[Method]) -> Result<(), Rejected> {
    let mut table = method_table(functions)?;
    for entry in &mut table {
        entry.flags = 0;
    }
    let persistent = i32::try_from(ffi::MODULE_PERSISTENT).map_err(|_| Rejected)?;
    // SAFETY: the engine copies the table, whose names and arguments are constants.
    let done =
        unsafe { sys::zend_register_functions(std::ptr::null_mut(), table.as_ptr(), std::ptr::null_mut(), persistent) };
    if done == 0 { Ok(()) } else { Err(Rejected) }
}

fn register_class(declaration: &Declaration) -> Result<*mut ClassEntry, Rejected> {
    // SAFETY: an all-zero class entry is what `INIT_CLASS_ENTRY` starts from.
    let mut template: zend_class_entry = unsafe { std::mem::zeroed() };
    template.name = ZendStr::new_interned(declaration.class.name, true).into_raw();
    let methods = method_table(declaration.methods)?;
    template.info.internal.builtin_functions = methods.as_ptr();
    let parent = match declaration.parent {
        Some(name) => non_null(sys::find_class(name))?,
        None => std::ptr::null_mut(),
    };
    // SAFETY: the template is complete, the parent registered, and the engine copies what it keeps.
    let ce = unsafe {
        match declaration.kind {
            ClassKind::Interface => ffi::zend_register_internal_interface(&raw mut template),
            _ => ffi::zend_register_internal_class_ex(&raw mut template, parent),
        }
    };
    let ce = non_null(ce)?;
    // SAFETY: the engine has read the method table for the last time; it must not keep a pointer into it.
    unsafe { (*ce).info.internal.builtin_functions = std::ptr::null() };
    for name in declaration.interfaces {
        // SAFETY: both classes are registered.
        unsafe { sys::zend_class_implements(ce, 1, non_null(sys::find_class(name))?) };
    }
    for property in declaration.properties {
        declare_property(ce, property)?;
    }
    for method in declaration.methods {
        mark_sensitive_parameters(ce, method)?;
    }
    // SAFETY: nothing else can see the class before the module has started.
    unsafe {
        if declaration.kind == ClassKind::Final {
            (*ce).ce_flags |= sys::ACC_FINAL | ffi::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
        }
        if let Some(create) = declaration.create {
            (*ce).ce_flags |= ffi::ZEND_ACC_NOT_SERIALIZABLE;
            (*ce).__bindgen_anon_2.create_object = Some(create);
        }
    }
    Ok(ce)
}

fn register_enum(declaration: &Declaration) -> Result<*mut ClassEntry, Rejected> {
    let name = CString::new(declaration.class.name).map_err(|_| Rejected)?;
    let string = u8::try_from(ffi::IS_STRING).map_err(|_| Rejected)?;
    // SAFETY: the engine copies the name; the enum has no methods of its own.
    let ce = non_null(unsafe { ffi::zend_register_internal_enum(name.as_ptr(), string, std::ptr::null()) })?;
    // SAFETY: the class is new. Enums that PHP compiles are final, too.
    unsafe { (*ce).ce_flags |= sys::ACC_FINAL };
    for (case, value) in declaration.cases {
        let mut value = interned(value);
        // SAFETY: names and values are interned for the life of the process.
        unsafe { ffi::zend_enum_add_case(ce, ZendStr::new_interned(case, true).into_raw(), &raw mut value) };
    }
    Ok(ce)
}

fn declare_constant(ce: *mut zend_class_entry, name: &str, value: &Constant) {
    let mut value = match value {
        Constant::Int(number) => {
            let mut value = Zval::new();
            value.set_long(*number);
            value
        }
        Constant::Text(text) => interned(text),
    };
    let name = ZendStr::new_interned(name, true).into_raw();
    let public = i32::try_from(sys::ACC_PUBLIC).unwrap_or(1);
    // SAFETY: the class is registered; the value is a scalar or interned and is copied.
    unsafe { ffi::zend_declare_class_constant_ex(ce, name, &raw mut value, public, std::ptr::null_mut()) };
    std::mem::forget(value);
}

/// A string that outlives requests.
fn interned(text: &str) -> Zval {
    let mut value = Zval::new();
    value.value.str_ = ZendStr::new_interned(text, true).into_raw();
    value.u1.type_info = ffi::IS_INTERNED_STRING_EX;
    value
}

fn non_null<T>(pointer: *mut T) -> Result<*mut T, Rejected> {
    if pointer.is_null() { Err(Rejected) } else { Ok(pointer) }
}

#[allow(clippy::needless_update)] // PHP 8.2 has all members of an entry named here, later ones have more.
fn method_table(methods: &[Method]) -> Result<Vec<zend_function_entry>, Rejected> {
    let mut table = Vec::with_capacity(methods.len() + 1);
    for method in methods {
        let is_static = if method.is_static { sys::ACC_STATIC } else { 0 };
        let is_abstract = if method.handler.is_none() { sys::ACC_ABSTRACT } else { 0 };
        table.push(zend_function_entry {
            fname: method.name.as_ptr(),
            handler: method.handler,
            arg_info: method.arguments.as_ptr().cast(),
            num_args: u32::try_from(method.arguments.len().saturating_sub(1)).map_err(|_| Rejected)?,
            flags: sys::ACC_PUBLIC | is_static | is_abstract,
            // SAFETY: PHP 8.4 has more members; in all of them zero means none.
            ..unsafe { std::mem::zeroed() }
        });
    }
    // SAFETY: an all-zero entry ends the table.
    table.push(unsafe { std::mem::zeroed() });
    Ok(table)
}

fn declare_property(ce: *mut zend_class_entry, property: &Property) -> Result<(), Rejected> {
    let mut initial = Zval::new();
    match property.initial {
        Initial::Undefined => initial.u1.type_info = ffi::IS_UNDEF,
        Initial::Null => {}
        Initial::False => initial.set_bool(false),
        Initial::EmptyText => initial = interned(""),
        Initial::EmptyArray => {
            initial.value.arr = (&raw const sys::zend_empty_array).cast_mut();
            initial.u1.type_info = ffi::IS_ARRAY;
        }
    }
    let ty = property_type(property)?;
    let access = sys::ACC_PUBLIC | if property.is_readonly { sys::ACC_READONLY } else { 0 };
    let access = i32::try_from(access).map_err(|_| Rejected)?;
    let name = ZendStr::new_interned(property.name, true).into_raw();
    // SAFETY: the class is being registered; name, type and default live as long as the process.
    unsafe { sys::zend_declare_typed_property(ce, name, &raw mut initial, access, std::ptr::null_mut(), ty) };
    std::mem::forget(initial);
    Ok(())
}

/// Of a property the engine wants class names as interned strings, several of them in a list of types.
fn property_type(property: &Property) -> Result<zend_type, Rejected> {
    let mask = property.mask;
    let Some(names) = property.classes else { return Ok(zend_type { ptr: std::ptr::null_mut(), type_mask: mask }) };
    let name = |name: &str| zend_type {
        ptr: ZendStr::new_interned(name, true).into_raw().cast(),
        type_mask: ffi::_ZEND_TYPE_NAME_BIT,
    };
    let types: Vec<zend_type> = names.to_str().map_err(|_| Rejected)?.split('|').map(name).collect();
    Ok(match types.as_slice() {
        [one] => zend_type { ptr: one.ptr, type_mask: mask | one.type_mask },
        many => zend_type { ptr: sys::type_list(many).ok_or(Rejected)?, type_mask: mask | sys::TYPE_UNION },
    })
}

fn mark_sensitive_parameters(ce: *mut zend_class_entry, method: &Method) -> Result<(), Rejected> {
    for index in method.sensitive {
        let name = method.name.to_str().map_err(|_| Rejected)?.to_ascii_lowercase();
        // SAFETY: the method was registered a moment ago, and no request is running.
        unsafe {
            let function = sys::find_function(&raw const (*ce).function_table, &name);
            sys::mark_sensitive(non_null(function)?, *index);
        }
    }
    Ok(())
}
