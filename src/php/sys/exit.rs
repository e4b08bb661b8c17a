//! The engine does not tell `exit()` from the end of a script: this notes it.

use super::find_function;
use ext_php_rs::ffi::{self, zend_execute_data, zval};
use std::ffi::c_int;
use std::sync::{Mutex, OnceLock, PoisonError};

unsafe extern "C" {
    fn zend_get_user_opcode_handler(opcode: u8) -> Option<OpcodeHandler>;
    fn zend_set_user_opcode_handler(opcode: u8, handler: Option<OpcodeHandler>) -> c_int;
}

/// Called when the program calls `exit()`, before anything is undone.
static EXIT_HOOK: OnceLock<fn()> = OnceLock::new();
/// How the engine, or an extension before ours, goes on. A program that embeds PHP may start another engine after the first.
static EXIT_FUNCTION: Mutex<Option<Function>> = Mutex::new(None);
static EXIT_OPCODE: Mutex<Option<OpcodeHandler>> = Mutex::new(None);

const OPCODE_OF_EXIT: u8 = 79;
const EXIT_IS_A_FUNCTION: bool = ffi::ZEND_MODULE_API_NO >= 20_240_924;

type Function = unsafe extern "C" fn(*mut zend_execute_data, *mut zval);
type OpcodeHandler = unsafe extern "C" fn(*mut zend_execute_data) -> c_int;

/// MINIT: the hook may only note the fact. The engine itself does not tell `exit()` from the end of a script.
pub fn on_exit(hook: fn()) {
    let _ = EXIT_HOOK.set(hook);
    // SAFETY: the module is starting, and no request runs. A function that is found is an internal one, of the engine's.
    unsafe {
        if EXIT_IS_A_FUNCTION {
            let table = (*ffi::ext_php_rs_compiler_globals()).function_table;
            if let Some(function) = find_function(table, "exit").as_mut()
                && let Some(before) = function.internal_function.handler.replace(exit_function)
            {
                set(&EXIT_FUNCTION, Some(before));
            }
        } else {
            set(&EXIT_OPCODE, zend_get_user_opcode_handler(OPCODE_OF_EXIT));
            zend_set_user_opcode_handler(OPCODE_OF_EXIT, Some(exit_opcode));
        }
    }
}

/// MSHUTDOWN: the table of functions goes with its engine, that of the opcodes stays for the next one.
pub fn let_go_of_exit() {
    if !EXIT_IS_A_FUNCTION {
        // SAFETY: the module is ending, and no request runs.
        unsafe { zend_set_user_opcode_handler(OPCODE_OF_EXIT, get(&EXIT_OPCODE)) };
    }
}

fn set<T>(kept: &Mutex<Option<T>>, what: Option<T>) {
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

fn get<T: Copy>(kept: &Mutex<Option<T>>) -> Option<T> {
    *kept.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn exit_function(frame: *mut zend_execute_data, out: *mut zval) {
    EXIT_HOOK.get().into_iter().for_each(|hook| hook());
    if let Some(before) = get(&EXIT_FUNCTION) {
        // SAFETY: called as the engine has called us.
        unsafe { before(frame, out) };
    }
}

unsafe extern "C" fn exit_opcode(frame: *mut zend_execute_data) -> c_int {
    const DO_AS_EVER: c_int = 2;
    EXIT_HOOK.get().into_iter().for_each(|hook| hook());
    match get(&EXIT_OPCODE) {
        // SAFETY: called as the engine has called us.
        Some(before) => unsafe { before(frame) },
        None => DO_AS_EVER,
    }
}
