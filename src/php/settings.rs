//! Settings that no argument gives: the ini setting (`delayqueue.dsn`, `delayqueue.prefix`), else the environment, else the default. And
//! `delayqueue.testing`.

use super::origin::{Origin, active_function};
use super::sys;
use super::unwind::{Outcome, throw_value_error};
use crate::core::dsn::Dsn;
use crate::core::error::{Error, Result};
use crate::core::queue::check_prefix;
use ext_php_rs::error::php_error;
use ext_php_rs::ffi::{self, zend_ini_entry, zend_string};
use ext_php_rs::flags::{ErrorType, IniEntryPermission};
use ext_php_rs::zend::{IniEntryDef, IniEntryDefs};
use std::borrow::Cow;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const DEFAULT_DSN: &str = "redis://127.0.0.1:6379/0";
const DEFAULT_PREFIX: &str = "dq";

/// Where Redis is: the second argument of the constructor, else as above.
pub fn dsn(argument: Option<Cow<'_, [u8]>>) -> Outcome<Arc<Dsn>> {
    match argument {
        Some(bytes) => of_redis(&bytes).map_err(|error| Origin::Argument(2).throw(error)),
        None => find(ini_dsn(), "delayqueue.dsn", c"DELAYQUEUE_DSN", DEFAULT_DSN, of_redis),
    }
}

fn of_redis(text: &[u8]) -> Result<Arc<Dsn>> {
    let dsn = Dsn::shared(text)?;
    if dsn.in_memory().is_some() && !testing() {
        let must = "must name a Redis: memory:// is for tests, whose jobs end with the process, and needs the ini setting delayqueue.testing=1";
        return Err(Error::Invalid(must.into()));
    }
    Ok(dsn)
}

/// The beginning of all keys, where no option says it.
pub fn prefix() -> Outcome<String> {
    find(ini_prefix(), "delayqueue.prefix", c"DELAYQUEUE_PREFIX", DEFAULT_PREFIX, check_prefix)
}

/// Reads the first one that is set. The error of one that cannot be read says where it stands.
fn find<T>(
    ini: Option<String>,
    ini_name: &str,
    variable: &CStr,
    default: &str,
    read: fn(&[u8]) -> Result<T>,
) -> Outcome<T> {
    let of_ini = ini.map(|text| (text.into_bytes(), format!("ini setting {ini_name}")));
    let of_environment =
        || environment(variable).map(|bytes| (bytes, format!("environment variable {}", variable.to_string_lossy())));
    let (value, source) = of_ini.or_else(of_environment).unwrap_or_else(|| (default.into(), String::from("default")));
    read(&value).map_err(|error| match error {
        Error::Invalid(must) => throw_value_error(&format!("{}(): The {source} {must}", active_function())),
        other => other.into(),
    })
}

/// The environment, then `$_ENV` and `$_SERVER`, which is all that a reader of `.env` files may have written to. An empty one counts as not set.
fn environment(variable: &CStr) -> Option<Vec<u8>> {
    let name = variable.to_str().unwrap_or_default();
    let set = |value: &Vec<u8>| !value.is_empty();
    sys::environment(variable)
        .filter(set)
        .or_else(|| ["_ENV", "_SERVER"].into_iter().filter_map(|array| sys::superglobal(array, name)).find(set))
}

const DSN: &CStr = c"delayqueue.dsn";
const PREFIX: &CStr = c"delayqueue.prefix";
const TESTING: &CStr = c"delayqueue.testing";
const STAGE_STARTUP: c_int = 1;
const DISPLAY_ORIGINAL: c_int = 1;
const SUCCESS: c_int = 0;
const FAILURE: c_int = -1;

static ENTRIES: IniEntryDefs<4> = IniEntryDefs::new([
    {
        let mut entry = IniEntryDef::new(DSN, c"", IniEntryPermission::All);
        entry.on_modify = Some(dsn_changes);
        entry.displayer = Some(show_dsn);
        entry
    },
    {
        let mut entry = IniEntryDef::new(PREFIX, c"", IniEntryPermission::All);
        entry.on_modify = Some(prefix_changes);
        entry
    },
    {
        let mut entry = IniEntryDef::new(TESTING, c"0", IniEntryPermission::All);
        entry.on_modify = Some(testing_changes);
        entry
    },
    IniEntryDef::end(),
]);

/// MINIT.
pub fn register_ini(module: i32) {
    IniEntryDef::register(ENTRIES.as_slice(), module);
}

/// MSHUTDOWN.
pub fn unregister_ini(module: i32) {
    // SAFETY: the number that the engine gave this module.
    unsafe { sys::zend_unregister_ini_entries(module) };
}

/// `None` where the setting is empty.
fn ini_dsn() -> Option<String> {
    text(DSN).filter(|dsn| !dsn.is_empty())
}

/// `None` where the setting is empty.
fn ini_prefix() -> Option<String> {
    text(PREFIX).filter(|prefix| !prefix.is_empty())
}

pub fn testing() -> bool {
    text(TESTING).is_some_and(|value| is_true(&value))
}

fn text(name: &CStr) -> Option<String> {
    // SAFETY: the name is passed with its length; the value is copied at once.
    unsafe {
        let value = sys::zend_ini_string_ex(name.as_ptr(), name.count_bytes(), 0, std::ptr::null_mut());
        if value.is_null() { None } else { Some(CStr::from_ptr(value).to_string_lossy().into_owned()) }
    }
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "on" | "yes" | "true")
}

fn is_false(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "" | "0" | "off" | "no" | "false" | "none")
}

/// Runs a check on a new value; one that fails in php.ini is reported, because the default takes its place.
unsafe fn check(
    name: &CStr,
    new: *mut zend_string,
    stage: c_int,
    valid: fn(&str) -> std::result::Result<(), String>,
) -> c_int {
    // SAFETY: the engine passes a live string, or null for none.
    let Some(new) = (unsafe { new.as_ref() }) else { return SUCCESS };
    let verdict = catch_unwind(AssertUnwindSafe(|| {
        std::str::from_utf8(new.as_bytes()).map_err(|_| String::from("must be valid UTF-8")).and_then(valid)
    }));
    match verdict {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(must)) => {
            if stage == STAGE_STARTUP {
                let message = format!("{} {must}: the default is used", name.to_string_lossy()).replace('\0', "\\0");
                php_error(&ErrorType::CoreWarning, &message);
            }
            FAILURE
        }
        Err(_) => FAILURE,
    }
}

unsafe extern "C" fn dsn_changes(
    _entry: *mut zend_ini_entry,
    new: *mut zend_string,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    stage: c_int,
) -> c_int {
    fn valid(text: &str) -> std::result::Result<(), String> {
        if text.is_empty() { Ok(()) } else { Dsn::shared(text.as_bytes()).map(drop).map_err(|e| e.to_string()) }
    }
    // SAFETY: called by the engine with the new value.
    unsafe { check(DSN, new, stage, valid) }
}

unsafe extern "C" fn prefix_changes(
    _entry: *mut zend_ini_entry,
    new: *mut zend_string,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    stage: c_int,
) -> c_int {
    fn valid(text: &str) -> std::result::Result<(), String> {
        if text.is_empty() { Ok(()) } else { check_prefix(text.as_bytes()).map(drop).map_err(|e| e.to_string()) }
    }
    // SAFETY: as above.
    unsafe { check(PREFIX, new, stage, valid) }
}

unsafe extern "C" fn testing_changes(
    _entry: *mut zend_ini_entry,
    new: *mut zend_string,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    stage: c_int,
) -> c_int {
    fn valid(text: &str) -> std::result::Result<(), String> {
        if is_true(text) || is_false(text) { Ok(()) } else { Err(String::from("must be 0 or 1")) }
    }
    // SAFETY: as above.
    unsafe { check(TESTING, new, stage, valid) }
}

/// Prints the DSN for `phpinfo()` without its password.
unsafe extern "C" fn show_dsn(entry: *mut zend_ini_entry, kind: c_int) {
    let shown = catch_unwind(|| {
        // SAFETY: the engine passes a live entry.
        let value = unsafe {
            let entry = &*entry;
            let value = if kind == DISPLAY_ORIGINAL && entry.modified != 0 { entry.orig_value } else { entry.value };
            value.as_ref().map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned())
        };
        match value.filter(|v| !v.is_empty()) {
            None => String::from("no value"),
            Some(text) => Dsn::parse(&text).map_or_else(|_| String::from("(invalid)"), |dsn| dsn.redacted()),
        }
    });
    let shown = shown.unwrap_or_default();
    let shown = if sys::phpinfo_is_text() { shown } else { html(&shown) };
    // SAFETY: the text is passed with its length.
    unsafe { ffi::php_output_write(shown.as_ptr().cast(), shown.len()) };
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
