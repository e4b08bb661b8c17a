//! Every engine symbol that `ext-php-rs` does not declare, and the few raw reads of engine structures.
//! Nothing else in the binding says `extern "C"` about the engine.

pub mod exit;
pub mod pcntl;
pub mod signals;

use ext_php_rs::ffi::{
    self, zend_class_entry, zend_execute_data, zend_function, zend_object, zend_string, zend_type, zval,
};
use ext_php_rs::types::{ZendHashTable, ZendObject, Zval};
use ext_php_rs::zend::ModuleEntry;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicBool, Ordering};

/// An argument's type names its class as a C string: from PHP 8.3 on that is a bit of its own.
pub const TYPE_IS_CLASS_TEXT: u32 =
    if ffi::ZEND_MODULE_API_NO >= 20_230_831 { 1 << 23 } else { ffi::_ZEND_TYPE_NAME_BIT };
pub const MAY_BE_STATIC: u32 = 1 << 15;
pub const MAY_BE_CALLABLE: u32 = 1 << 12;
pub const ACC_PUBLIC: u32 = 1;
pub const ACC_STATIC: u32 = 1 << 4;
pub const ACC_FINAL: u32 = 1 << 5;
pub const ACC_ABSTRACT: u32 = 1 << 6;
pub const ACC_READONLY: u32 = 1 << 7;
pub const CALL_HAS_EXTRA_NAMED_PARAMS: u32 = 1 << 27;
const ATTRIBUTE_PERSISTENT: u32 = 1;

unsafe extern "C" {
    // arrays
    /// Writes the text or the number, as the key is one or the other.
    pub fn zend_hash_get_current_key_ex(
        table: *const ZendHashTable,
        text: *mut *mut zend_string,
        number: *mut i64,
        position: *const u32,
    ) -> c_int;
    /// One for all, which is never written to.
    pub static zend_empty_array: ZendHashTable;
    // classes
    pub fn zend_declare_typed_property(
        ce: *mut zend_class_entry,
        name: *mut zend_string,
        default: *mut zval,
        access: c_int,
        doc: *mut zend_string,
        ty: zend_type,
    ) -> *mut c_void;
    pub fn zend_update_property(
        scope: *mut zend_class_entry,
        object: *mut zend_object,
        name: *const c_char,
        len: usize,
        value: *mut zval,
    );
    pub fn zend_read_property(
        scope: *mut zend_class_entry,
        object: *mut zend_object,
        name: *const c_char,
        len: usize,
        silent: bool,
        room: *mut zval,
    ) -> *mut zval;
    pub fn zend_register_functions(
        scope: *mut zend_class_entry,
        functions: *const ffi::zend_function_entry,
        table: *mut ZendHashTable,
        kind: c_int,
    ) -> c_int;
    pub fn zend_class_implements(ce: *mut zend_class_entry, count: c_int, ...);
    pub fn zend_type_to_string(ty: zend_type) -> *mut zend_string;
    fn zend_add_attribute(
        attributes: *mut *mut ZendHashTable,
        name: *mut zend_string,
        argc: u32,
        flags: u32,
        offset: u32,
        line: u32,
    ) -> *mut c_void;
    // arguments and their errors
    pub fn zend_parse_arg_long_slow(arg: *const zval, dest: *mut i64, num: u32) -> bool;
    pub fn zend_parse_arg_long_weak(arg: *const zval, dest: *mut i64, num: u32) -> bool;
    pub fn zend_parse_arg_double_slow(arg: *const zval, dest: *mut f64, num: u32) -> bool;
    pub fn zend_parse_arg_double_weak(arg: *const zval, dest: *mut f64, num: u32) -> bool;
    pub fn zend_parse_arg_bool_slow(arg: *const zval, dest: *mut bool, num: u32) -> bool;
    pub fn zend_parse_arg_bool_weak(arg: *const zval, dest: *mut bool, num: u32) -> bool;
    pub fn zend_parse_arg_str_slow(arg: *mut zval, dest: *mut *mut zend_string, num: u32) -> bool;
    pub fn zend_parse_arg_str_weak(arg: *mut zval, dest: *mut *mut zend_string, num: u32) -> bool;
    pub fn zend_parse_arg_number_slow(arg: *mut zval, dest: *mut *mut zval, num: u32) -> bool;
    pub fn zend_argument_type_error(num: u32, format: *const c_char, ...);
    pub fn zend_type_error(format: *const c_char, ...);
    pub fn zend_wrong_parameters_none_error();
    pub fn zend_wrong_parameters_count_error(min: u32, max: u32);
    pub fn zend_unexpected_extra_named_error();
    pub fn zend_zval_type_name(arg: *const zval) -> *const c_char;
    pub fn get_active_function_or_method_name() -> *mut zend_string;
    pub fn zend_is_callable_ex(
        callable: *mut zval,
        object: *mut zend_object,
        flags: u32,
        name: *mut *mut zend_string,
        cache: *mut c_void,
        error: *mut *mut c_char,
    ) -> bool;
    /// Lets go of a function that the engine has made for the call.
    pub fn zend_release_fcall_info_cache(cache: *mut ffi::zend_fcall_info_cache);
    fn zend_is_graceful_exit(exception: *const zend_object) -> bool;
    fn zend_memory_usage(real: bool) -> usize;
    pub fn zend_std_get_gc(object: *mut zend_object, table: *mut *mut zval, count: *mut c_int) -> *mut ffi::HashTable;
    pub fn zend_std_get_debug_info(object: *mut zend_object, is_temporary: *mut c_int) -> *mut ffi::HashTable;
    fn sapi_getenv(name: *const c_char, len: usize) -> *mut c_char;
    // json
    pub fn php_json_decode_ex(out: *mut zval, text: *const c_char, len: usize, options: i64, depth: i64) -> c_int;
    // ini and phpinfo
    pub fn display_ini_entries(module: *mut ModuleEntry);
    pub fn zend_unregister_ini_entries(module: c_int);
    pub fn zend_ini_string_ex(name: *const c_char, len: usize, orig: c_int, exists: *mut bool) -> *const c_char;
    // iterators
    pub fn zend_iterator_dtor(iterator: *mut ffi::zend_object_iterator);
}

/// Whether the object is nothing but what its class of PHP or of an extension hides, and PHP says that it cannot be serialized.
pub fn keeps_nothing(object: &ZendObject) -> bool {
    const INTERNAL_CLASS: c_char = 1;
    let mut class = object.ce;
    // SAFETY: the class of a live object and its parents are live; the handlers belong to the object.
    unsafe {
        // An anonymous class has the flag, too.
        while let Some(ce) = class.as_ref()
            && ce.type_ != INTERNAL_CLASS
        {
            class = ce.__bindgen_anon_1.parent;
        }
        let is_hidden = class.as_ref().is_some_and(|ce| ce.ce_flags & ffi::ZEND_ACC_NOT_SERIALIZABLE != 0);
        is_hidden && object.get_properties().is_ok_and(|properties| properties.is_empty())
    }
}

/// The value of a property, where the table of properties only points at it.
pub fn pointed_at(value: &Zval) -> &Zval {
    const INDIRECT: u32 = 12;
    // SAFETY: such an entry points into its live object.
    unsafe {
        match value.u1.type_info & 0xff {
            INDIRECT => value.value.zv.as_ref().map_or(value, Zval::dereference),
            _ => value,
        }
    }
}

/// Whether an exception, `exit()` included, is on its way.
pub fn exception_pending() -> bool {
    // SAFETY: the executor globals of this thread live as long as the thread serves PHP.
    unsafe { !(*ffi::ext_php_rs_executor_globals()).exception.is_null() }
}

/// The exception that is on its way, unless it is only what `exit()` looks like.
pub fn pending_throwable() -> Option<&'static ZendObject> {
    // SAFETY: a pending exception is live until it is taken.
    unsafe { (*ffi::ext_php_rs_executor_globals()).exception.as_ref() }.filter(|exception| is_a(exception, "Throwable"))
}

/// Whether the pending exception is the end of a suspended fiber that the engine destroys.
pub fn fiber_is_destroyed() -> bool {
    // SAFETY: see `exception_pending`; a pending exception is a live object.
    unsafe {
        let exception = (*ffi::ext_php_rs_executor_globals()).exception;
        !exception.is_null() && zend_is_graceful_exit(exception)
    }
}

/// Bytes that PHP's allocator holds, as `memory_get_usage(true)` says.
pub fn memory_usage() -> u64 {
    // SAFETY: reads a counter.
    unsafe { zend_memory_usage(true) as u64 }
}

/// The status that `exit()` was called with.
pub fn exit_status() -> i32 {
    // SAFETY: see `exception_pending`.
    unsafe { (*ffi::ext_php_rs_executor_globals()).exit_status }
}

/// The process is to end with this status, although `exit()` was called with another one.
pub fn set_exit_status(status: i32) {
    // SAFETY: writes a number that the engine reads when the process ends.
    unsafe { (*ffi::ext_php_rs_executor_globals()).exit_status = status };
}

/// Whether an error ends the request.
pub fn has_fatal_error() -> bool {
    let fatal = ffi::E_ERROR | ffi::E_CORE_ERROR | ffi::E_COMPILE_ERROR | ffi::E_USER_ERROR | ffi::E_RECOVERABLE_ERROR;
    u32::try_from(ext_php_rs::zend::ProcessGlobals::get().last_error_type).unwrap_or(0) & fatal != 0
}

/// PHP's words for the error that ends the request, if one does.
pub fn fatal_error_message() -> Option<Vec<u8>> {
    if !has_fatal_error() {
        return None;
    }
    let globals = ext_php_rs::zend::ProcessGlobals::get();
    // SAFETY: the string, if there is one, belongs to the globals, which are locked for reading.
    unsafe { globals.last_error_message.as_ref() }.map(|text| text.as_bytes().to_vec())
}

/// A variable of the environment, as `getenv()` finds it: one that the server gave this request, or one of the process.
pub fn environment(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: the name ends with NUL and is passed with its length; the text that comes back is ours to free.
    let of_server = unsafe {
        let text = sapi_getenv(name.as_ptr(), name.count_bytes());
        let copy = (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes().to_vec());
        if copy.is_some() {
            ffi::_efree(text.cast());
        }
        copy
    };
    of_server.or_else(|| std::env::var_os(OsStr::from_bytes(name.to_bytes())).map(OsString::into_vec))
}

/// An element of a superglobal array such as `$_ENV`, if the array is there and the element a string. PHP fills `$_SERVER` and `$_ENV` when the
/// first script is compiled that names them; before that they hold nothing that [`environment`] does not find.
pub fn superglobal(array: &str, name: &str) -> Option<Vec<u8>> {
    // SAFETY: the executor globals of this thread live as long as the thread serves PHP; the bytes are copied at once.
    let symbols = unsafe { &(*ffi::ext_php_rs_executor_globals()).symbol_table };
    let value = symbols.get(array)?.dereference().array()?.get(name)?;
    value.dereference().zend_str().map(|text| text.as_bytes().to_vec())
}

/// Whether the calling code declared `strict_types=1`.
pub fn caller_is_strict() -> bool {
    // SAFETY: frames and functions are only read, and each pointer is checked before.
    unsafe {
        let frame = (*ffi::ext_php_rs_executor_globals()).current_execute_data;
        let Some(caller) = frame.as_ref().and_then(|f| f.prev_execute_data.as_ref()) else { return false };
        caller.func.as_ref().is_some_and(|f| f.common.fn_flags & ffi::ZEND_ACC_STRICT_TYPES != 0)
    }
}

/// The next step after reading the engine's interrupt flag.
pub enum Interrupt {
    None,
    /// The time limit has passed: the engine raises its fatal error as soon as it runs again.
    TimedOut,
    /// Handlers (asynchronous signals) ought to run now.
    Handlers(unsafe extern "C" fn(*mut zend_execute_data)),
}

/// Takes the interrupt flag, except when the time limit has passed.
pub fn take_interrupt() -> Interrupt {
    // SAFETY: both flags are `zend_atomic_bool`, a lock-free one-byte atomic with the layout of `AtomicBool`.
    unsafe {
        let eg = ffi::ext_php_rs_executor_globals();
        let flag = &*(&raw const (*eg).vm_interrupt).cast::<AtomicBool>();
        if !flag.load(Ordering::SeqCst) {
            return Interrupt::None;
        }
        if (*(&raw const (*eg).timed_out).cast::<AtomicBool>()).load(Ordering::SeqCst) {
            return Interrupt::TimedOut;
        }
        flag.store(false, Ordering::SeqCst);
        match ffi::zend_interrupt_function {
            Some(function) => Interrupt::Handlers(function),
            None => Interrupt::None,
        }
    }
}

/// The frame that is running.
pub fn current_frame() -> *mut zend_execute_data {
    // SAFETY: see `exception_pending`.
    unsafe { (*ffi::ext_php_rs_executor_globals()).current_execute_data }
}

/// Whether `frame` is `caller`, or was called from there; a fiber counts as called by the frame that started or resumed it.
pub fn is_called_from(mut frame: *const zend_execute_data, caller: *const zend_execute_data) -> bool {
    while !frame.is_null() {
        if std::ptr::eq(frame, caller) {
            return true;
        }
        // SAFETY: frames that are being executed, as the engine links them.
        frame = unsafe { (*frame).prev_execute_data };
    }
    false
}

/// A class by its name, also while the module starts, when `EG(class_table)` is not set yet.
pub fn find_class(name: &str) -> *mut zend_class_entry {
    // SAFETY: the compiler's class table lives as long as the module; the name is passed with its length.
    unsafe {
        let table = (*ffi::ext_php_rs_compiler_globals()).class_table;
        ffi::zend_hash_str_find_ptr_lc(table, name.as_ptr().cast(), name.len()).cast()
    }
}

/// Whether an object is one of this class, or of a class below it.
pub fn is_a(object: &ZendObject, class: &str) -> bool {
    // SAFETY: classes of the engine and of its extensions live as long as the process.
    unsafe { find_class(class).as_ref() }.is_some_and(|ce| object.instance_of(ce))
}

/// A function or method by its lower-case name, or null.
pub fn find_function(table: *const ZendHashTable, name: &str) -> *mut zend_function {
    if table.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the table is one of the engine's; the name is passed with its length.
    unsafe { ffi::zend_hash_str_find_ptr_lc(table, name.as_ptr().cast(), name.len()).cast() }
}

/// The global functions of this request.
pub fn function_table() -> *const ZendHashTable {
    // SAFETY: see `exception_pending`.
    unsafe { (*ffi::ext_php_rs_executor_globals()).function_table }
}

/// Marks parameter `index` (from 0) as one that traces must not show.
///
/// # Safety
/// `function` is a registered internal function, and no request is running yet.
pub unsafe fn mark_sensitive(function: *mut zend_function, index: u32) {
    let name = ext_php_rs::types::ZendStr::new_interned("SensitiveParameter", true);
    // SAFETY: the caller vouches for the function; an interned persistent name outlives it.
    unsafe {
        let attributes = &raw mut (*function).internal_function.attributes;
        zend_add_attribute(attributes, name.into_raw(), 0, ATTRIBUTE_PERSISTENT, index + 1, 0);
    }
}

/// A type that is a list of types, one of which a value has to have.
pub const TYPE_UNION: u32 = 1 << 22 | 1 << 18;

/// The list, in memory that the engine frees with the class. `None`: there is none left.
pub fn type_list(types: &[zend_type]) -> Option<*mut c_void> {
    #[repr(C)]
    struct Head {
        count: u32,
        types: [zend_type; 0],
    }
    let count = u32::try_from(types.len()).ok()?;
    // SAFETY: room for the head and for all types behind it, each of which is written once.
    unsafe {
        let list = libc::malloc(size_of::<Head>() + size_of_val(types)).cast::<Head>();
        let head = list.as_mut()?;
        head.count = count;
        std::ptr::copy_nonoverlapping(types.as_ptr(), head.types.as_mut_ptr(), types.len());
        Some(list.cast())
    }
}

/// Whether a property has no value yet.
pub fn is_undefined(slot: &Zval) -> bool {
    // SAFETY: every slot has a type.
    unsafe { slot.u1.type_info == ffi::IS_UNDEF }
}

/// The declared property slot `index` of an object.
///
/// # Safety
/// The object is live and its class declares more than `index` properties.
pub unsafe fn slot(object: *mut ZendObject, index: usize) -> *mut Zval {
    // SAFETY: declared properties lie behind one another from `properties_table` on.
    unsafe { (&raw mut (*object).properties_table).cast::<Zval>().add(index) }
}

/// Keeps the code of this extension in memory: PHP lets go of a module that it has refused, and calls it once more.
pub fn stay_loaded() {
    // SAFETY: dladdr fills room of ours with the name of the file that has this function; that file is open already.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(stay_loaded as *const c_void, &raw mut found) != 0 {
            libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Whether a program of the user runs here, not a request that a server handles.
pub fn is_command_line() -> bool {
    // SAFETY: the SAPI module and its name outlive the request.
    let name = unsafe { CStr::from_ptr((*ffi::ext_php_rs_sapi_module()).name) };
    matches!(name.to_bytes(), b"cli" | b"phpdbg" | b"embed")
}

/// Whether text for `phpinfo()` goes to a terminal rather than a browser.
pub fn phpinfo_is_text() -> bool {
    // SAFETY: the SAPI module outlives the request.
    unsafe { (*ffi::ext_php_rs_sapi_module()).phpinfo_as_text != 0 }
}
