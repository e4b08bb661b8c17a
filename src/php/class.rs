//! Registers classes, interfaces and enums from declarations written as PHP writes them.
//!
//! `ext-php-rs`' macros know no union types, no typed properties, no `static` and no enum-case defaults, so the
//! argument tables are made here; the engine gets the same as from a class of `php-src`.

use super::signature::{Signature, Type, parse_method, parse_property};
use super::sys;
use ext_php_rs::ffi::{self, zend_class_entry, zend_function_entry, zend_internal_arg_info, zend_object, zend_type};
use ext_php_rs::types::{ZendObject, ZendStr, Zval};
use ext_php_rs::zend::{ClassEntry, ExecuteData};
use std::borrow::Cow;
use std::ffi::{CString, c_char};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

pub type Handler = unsafe extern "C" fn(*mut ExecuteData, *mut Zval);
pub type Create = unsafe extern "C" fn(*mut zend_class_entry) -> *mut zend_object;

/// A method: its PHP declaration and the code behind it; `None` in an interface.
pub struct Method {
    pub declaration: Cow<'static, str>,
    pub handler: Option<Handler>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Interface,
    Open,
    Final,
}

/// Everything there is to say about a class.
pub struct Declaration<'a> {
    pub kind: Kind,
    pub parent: Option<&'static str>,
    pub interfaces: &'static [&'static str],
    pub properties: &'static [&'static str],
    pub methods: &'a [Method],
    /// How instances are made; `None`: as the parent does, or as plain objects.
    pub create: Option<Create>,
}

/// A class of ours; known to the engine once [`Class::register`] ran.
pub struct Class {
    pub name: &'static str,
    entry: AtomicPtr<ClassEntry>,
}

/// A declaration that the engine would not take: a bug of ours, caught when the module is loaded.
#[derive(Debug)]
pub struct Rejected;

impl Class {
    pub const fn new(name: &'static str) -> Self {
        Self { name, entry: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The class entry; null before registration.
    pub fn entry(&self) -> *mut ClassEntry {
        self.entry.load(Ordering::Acquire)
    }

    /// Whether the value is an instance.
    pub fn owns(&self, object: &ZendObject) -> bool {
        // SAFETY: a registered class entry lives until the module shuts down.
        unsafe { self.entry().as_ref() }.is_some_and(|ce| object.instance_of(ce))
    }

    /// Must run in the module's startup function.
    pub fn register(&self, declaration: &Declaration<'_>) -> Result<(), Rejected> {
        // SAFETY: an all-zero class entry is what `INIT_CLASS_ENTRY` starts from.
        let mut template: zend_class_entry = unsafe { std::mem::zeroed() };
        template.name = ZendStr::new_interned(self.name, true).into_raw();
        let methods = method_table(declaration.methods)?;
        template.info.internal.builtin_functions = methods.as_ptr();
        let parent = match declaration.parent {
            Some(name) => non_null(sys::find_class(name))?,
            None => std::ptr::null_mut(),
        };
        // SAFETY: the template is complete, the parent registered, and the engine copies what it keeps.
        let ce = unsafe {
            match declaration.kind {
                Kind::Interface => ffi::zend_register_internal_interface(&raw mut template),
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
        for text in declaration.properties {
            declare_property(ce, text)?;
        }
        for method in declaration.methods {
            mark_sensitive_parameters(ce, method)?;
        }
        // SAFETY: nothing else can see the class before the module has started.
        unsafe {
            if declaration.kind == Kind::Final {
                (*ce).ce_flags |= sys::ACC_FINAL | ffi::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
            }
            if let Some(create) = declaration.create {
                (*ce).ce_flags |= ffi::ZEND_ACC_NOT_SERIALIZABLE;
                (*ce).__bindgen_anon_2.create_object = Some(create);
            }
        }
        self.entry.store(ce, Ordering::Release);
        Ok(())
    }

    /// A backed enum; cases as (name, value).
    pub fn register_enum(&self, cases: &[(&'static str, &'static str)]) -> Result<(), Rejected> {
        let name = CString::new(self.name).map_err(|_| Rejected)?;
        let string = u8::try_from(ffi::IS_STRING).map_err(|_| Rejected)?;
        // SAFETY: the engine copies the name; the enum has no methods of its own.
        let ce = non_null(unsafe { ffi::zend_register_internal_enum(name.as_ptr(), string, std::ptr::null()) })?;
        // SAFETY: the class is new. Enums that PHP compiles are final, too.
        unsafe { (*ce).ce_flags |= sys::ACC_FINAL };
        for (case, value) in cases {
            let mut value = interned(value);
            // SAFETY: names and values are interned for the life of the process.
            unsafe { ffi::zend_enum_add_case(ce, ZendStr::new_interned(case, true).into_raw(), &raw mut value) };
        }
        self.entry.store(ce, Ordering::Release);
        Ok(())
    }

    /// A public constant.
    pub fn constant(&self, name: &str, mut value: Zval) {
        let name = ZendStr::new_interned(name, true).into_raw();
        let public = i32::try_from(sys::ACC_PUBLIC).unwrap_or(1);
        // SAFETY: the class is registered; the value is a scalar or interned and is copied.
        unsafe {
            ffi::zend_declare_class_constant_ex(self.entry(), name, &raw mut value, public, std::ptr::null_mut());
        }
        std::mem::forget(value);
    }
}

/// A string that outlives requests.
pub fn interned(text: &str) -> Zval {
    let mut value = Zval::new();
    value.value.str_ = ZendStr::new_interned(text, true).into_raw();
    value.u1.type_info = ffi::IS_INTERNED_STRING_EX;
    value
}

fn non_null<T>(pointer: *mut T) -> Result<*mut T, Rejected> {
    if pointer.is_null() { Err(Rejected) } else { Ok(pointer) }
}

/// Data into which the engine keeps pointers for as long as the module lives.
enum Kept {
    Text(#[expect(dead_code, reason = "held for the engine")] CString),
    Table(#[expect(dead_code, reason = "held for the engine")] Box<[zend_internal_arg_info]>),
}
// SAFETY: written while the module starts, in one thread, and only read by the engine afterwards.
unsafe impl Send for Kept {}
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

fn keep(what: Kept) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

fn keep_text(text: &str) -> Result<*const c_char, Rejected> {
    let text = CString::new(text).map_err(|_| Rejected)?;
    let pointer = text.as_ptr();
    keep(Kept::Text(text));
    Ok(pointer)
}

#[allow(clippy::needless_update)] // PHP 8.2 has all members of an entry named here, later ones have more.
fn method_table(methods: &[Method]) -> Result<Vec<zend_function_entry>, Rejected> {
    let mut table = Vec::with_capacity(methods.len() + 1);
    for method in methods {
        let signature = parse_method(&method.declaration).ok_or(Rejected)?;
        let is_static = if signature.is_static { sys::ACC_STATIC } else { 0 };
        let is_abstract = if method.handler.is_none() { sys::ACC_ABSTRACT } else { 0 };
        let count = u32::try_from(signature.parameters.len()).map_err(|_| Rejected)?;
        table.push(zend_function_entry {
            fname: keep_text(&signature.name)?,
            handler: method.handler,
            arg_info: argument_table(&signature)?,
            num_args: count,
            flags: sys::ACC_PUBLIC | is_static | is_abstract,
            // SAFETY: PHP 8.4 has more members; in all of them zero means none.
            ..unsafe { std::mem::zeroed() }
        });
    }
    // SAFETY: an all-zero entry ends the table.
    table.push(unsafe { std::mem::zeroed() });
    Ok(table)
}

/// The first row is the return type with the number of required parameters in place of a name.
fn argument_table(signature: &Signature) -> Result<*const zend_internal_arg_info, Rejected> {
    let required = signature.parameters.iter().take_while(|p| p.default.is_none() && !p.variadic).count();
    let mut rows = vec![zend_internal_arg_info {
        name: std::ptr::without_provenance(required),
        type_: argument_type(signature.returns.as_ref().unwrap_or(&Type::default()))?,
        default_value: std::ptr::null(),
    }];
    for parameter in &signature.parameters {
        let mut type_ = argument_type(&parameter.ty)?;
        if parameter.variadic {
            type_.type_mask |= ffi::_ZEND_IS_VARIADIC_BIT;
        }
        let default_value = match &parameter.default {
            Some(text) => keep_text(text)?,
            None => std::ptr::null(),
        };
        rows.push(zend_internal_arg_info { name: keep_text(&parameter.name)?, type_, default_value });
    }
    let table = rows.into_boxed_slice();
    let pointer = table.as_ptr();
    keep(Kept::Table(table));
    Ok(pointer)
}

/// In argument tables classes are C strings; the engine turns them into names itself when it registers the method.
fn argument_type(ty: &Type) -> Result<zend_type, Rejected> {
    if ty.classes.is_empty() {
        return Ok(zend_type { ptr: std::ptr::null_mut(), type_mask: ty.mask });
    }
    Ok(zend_type { ptr: keep_text(&ty.classes)?.cast_mut().cast(), type_mask: ty.mask | sys::TYPE_IS_CLASS_TEXT })
}

/// Of a property the engine wants the class name as an interned string.
fn property_type(ty: &Type) -> zend_type {
    if ty.classes.is_empty() {
        return zend_type { ptr: std::ptr::null_mut(), type_mask: ty.mask };
    }
    let name = ZendStr::new_interned(&ty.classes, true).into_raw();
    zend_type { ptr: name.cast(), type_mask: ty.mask | ffi::_ZEND_TYPE_NAME_BIT }
}

fn declare_property(ce: *mut zend_class_entry, text: &str) -> Result<(), Rejected> {
    let property = parse_property(text).ok_or(Rejected)?;
    let mut default = match property.default.as_deref() {
        None => {
            let mut undefined = Zval::new();
            undefined.u1.type_info = ffi::IS_UNDEF;
            undefined
        }
        Some("false") => {
            let mut value = Zval::new();
            value.set_bool(false);
            value
        }
        Some("''") => interned(""),
        Some("[]") => {
            let mut empty = Zval::new();
            empty.value.arr = (&raw const sys::zend_empty_array).cast_mut();
            empty.u1.type_info = ffi::IS_ARRAY;
            empty
        }
        Some(_) => return Err(Rejected),
    };
    let access = sys::ACC_PUBLIC | if property.readonly { sys::ACC_READONLY } else { 0 };
    let access = i32::try_from(access).map_err(|_| Rejected)?;
    let name = ZendStr::new_interned(&property.name, true).into_raw();
    // SAFETY: the class is being registered; name, type and default live as long as the process.
    unsafe {
        let ty = property_type(&property.ty);
        sys::zend_declare_typed_property(ce, name, &raw mut default, access, std::ptr::null_mut(), ty);
    }
    std::mem::forget(default);
    Ok(())
}

fn mark_sensitive_parameters(ce: *mut zend_class_entry, method: &Method) -> Result<(), Rejected> {
    let signature = parse_method(&method.declaration).ok_or(Rejected)?;
    for (index, parameter) in signature.parameters.iter().enumerate().filter(|(_, p)| p.sensitive) {
        let index = u32::try_from(index).map_err(|_| Rejected)?;
        debug_assert!(!parameter.name.is_empty());
        // SAFETY: the method was registered a moment ago, and no request is running.
        unsafe {
            let function = sys::find_function(&raw const (*ce).function_table, &signature.name.to_ascii_lowercase());
            sys::mark_sensitive(non_null(function)?, index);
        }
    }
    Ok(())
}
