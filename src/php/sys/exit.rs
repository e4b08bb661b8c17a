//! The engine does not tell `exit()` from the end of a script: this notes it.

use super::find_function;
use ext_php_rs::ffi::{self, zend_execute_data, zval};
use std::ffi::c_int;
use std::sync::OnceLock;

unsafe extern "C" {
    fn zend_get_user_opcode_handler(opcode: u8) -> Option<OpcodeHandler>;
    fn zend_set_user_opcode_handler(opcode: u8, handler: Option<OpcodeHandler>) -> c_int;
}

/// Called when the program calls `exit()`, before anything is undone.
static EXIT_HOOK: OnceLock<fn()> = OnceLock::new();
/// How the engine, or an extension before ours, goes on.
static EXIT_FUNCTION: OnceLock<Function> = OnceLock::new();
static EXIT_OPCODE: OnceLock<OpcodeHandler> = OnceLock::new();

type Function = unsafe extern "C" fn(*mut zend_execute_data, *mut zval);
type OpcodeHandler = unsafe extern "C" fn(*mut zend_execute_data) -> c_int;

/// MINIT: the hook may only note the fact. The engine itself does not tell `exit()` from the end of a script.
pub fn on_exit(hook: fn()) {
    const OPCODE_OF_EXIT: u8 = 79;
    const EXIT_IS_A_FUNCTION: bool = ffi::ZEND_MODULE_API_NO >= 20_240_924;
    let _ = EXIT_HOOK.set(hook);
    // SAFETY: the module is starting, and no request runs. A function that is found is an internal one, of the engine's.
    unsafe {
        if EXIT_IS_A_FUNCTION {
            let table = (*ffi::ext_php_rs_compiler_globals()).function_table;
            if let Some(function) = find_function(table, "exit").as_mut()
                && let Some(before) = function.internal_function.handler.replace(exit_function)
            {
                let _ = EXIT_FUNCTION.set(before);
            }
        } else {
            if let Some(before) = zend_get_user_opcode_handler(OPCODE_OF_EXIT) {
                let _ = EXIT_OPCODE.set(before);
            }
            zend_set_user_opcode_handler(OPCODE_OF_EXIT, Some(exit_opcode));
        }
    }
}

unsafe extern "C" fn exit_function(frame: *mut zend_execute_data, out: *mut zval) {
    EXIT_HOOK.get().into_iter().for_each(|hook| hook());
    if let Some(before) = EXIT_FUNCTION.get() {
        // SAFETY: called as the engine has called us.
        unsafe { before(frame, out) };
    }
}

unsafe extern "C" fn exit_opcode(frame: *mut zend_execute_data) -> c_int {
    const DO_AS_EVER: c_int = 2;
    EXIT_HOOK.get().into_iter().for_each(|hook| hook());
    match EXIT_OPCODE.get() {
        // SAFETY: called as the engine has called us.
        Some(before) => unsafe { before(frame) },
        None => DO_AS_EVER,
    }
}
