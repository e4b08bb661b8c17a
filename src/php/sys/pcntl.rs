//! Notes the calls of PHP's functions that change signals and alarms of the process.

use super::{find_function, function_table};
use ext_php_rs::ffi::{zend_execute_data, zval};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

type Function = unsafe extern "C" fn(*mut zend_execute_data, *mut zval);

/// What is done around such a call.
pub struct Around {
    pub before: fn(),
    /// Whether it was about the alarm.
    pub after: fn(bool),
}

const ALARM: usize = 1;
const NAMES: [&str; 4] = ["pcntl_signal", "pcntl_alarm", "pcntl_sigprocmask", "pcntl_async_signals"];
const OURS: [Function; 4] = [noted::<0>, noted::<1>, noted::<2>, noted::<3>];
/// The functions in whose place ours are.
static THEIRS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
static AROUND: OnceLock<Around> = OnceLock::new();

/// RINIT: pcntl may have been loaded after this extension. An engine that starts once more in this process has forgotten it.
pub fn note_calls(around: Around) {
    AROUND.get_or_init(|| around);
    for ((name, ours), theirs) in NAMES.into_iter().zip(OURS).zip(&THEIRS) {
        // SAFETY: a function that is found is an internal one, which lives as long as its module; none of them runs while a request begins.
        unsafe {
            if let Some(function) = find_function(function_table(), name).as_mut()
                && let Some(found) = function.internal_function.handler
                && found as usize != ours as usize
            {
                theirs.store(found as usize, Ordering::SeqCst);
                function.internal_function.handler = Some(ours);
            }
        }
    }
}

unsafe extern "C" fn noted<const INDEX: usize>(frame: *mut zend_execute_data, out: *mut zval) {
    let around = AROUND.get();
    around.into_iter().for_each(|around| (around.before)());
    let theirs = THEIRS.get(INDEX).map_or(0, |theirs| theirs.load(Ordering::SeqCst));
    // SAFETY: the address of the engine's handler of this function, called as the engine has called us.
    unsafe {
        if let Some(theirs) = std::mem::transmute::<usize, Option<Function>>(theirs) {
            theirs(frame, out);
        }
    }
    around.into_iter().for_each(|around| (around.after)(INDEX == ALARM));
}
