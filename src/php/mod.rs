//! The PHP face: converts values and throws exceptions; knows no Redis command.
//!
//! The stub is the declaration of the classes ([`surface`]); a method takes its arguments from a
//! [`call::Call`], asks the core, and converts the answer ([`convert`]). Errors go out through [`exceptions`].

// So that a function whose method the stub does not have fails the build.
#![deny(dead_code)]

mod args;
mod backoff;
mod call;
mod callbacks;
mod class;
mod classes;
mod convert;
mod delay_queue;
mod enlisted;
mod exceptions;
mod fields;
mod group_limits;
mod groups;
mod handler;
mod headers;
mod interrupts;
mod items;
mod job;
mod job_info;
mod manage;
mod new_job;
mod object;
mod once;
mod open_jobs;
mod options;
mod origin;
mod payload;
mod prometheus;
mod push;
mod reason;
mod recorder;
mod release;
mod reserve;
mod settings;
mod stats;
mod surface;
mod sys;
mod task;
mod testing;
mod times;
mod unwind;
mod worker;
mod workers;

use crate::core::doctor::TESTED_SERVERS;
use ext_php_rs::error::php_error;
use ext_php_rs::flags::ErrorType;
use ext_php_rs::prelude::*;
use ext_php_rs::zend::ModuleEntry;
use ext_php_rs::{info_table_end, info_table_header, info_table_row, info_table_start};
use std::io::Write;
use std::panic::catch_unwind;

/// As in Cargo.lock; a test compares them.
const REDIS_CRATE: &str = "1.8.1";

const SUCCESS: i32 = 0;
const FAILURE: i32 = -1;

/// As the engine numbers the modules that `dl()` loads for one request.
const TEMPORARY: i32 = 2;

/// MINIT: settings first, then classes, parents before children. No threads, no sockets: FPM forks after this.
extern "C" fn startup(kind: i32, module: i32) -> i32 {
    if kind == TEMPORARY {
        // A failure here would end the script: the beginning of the request fails instead, and nothing has been registered.
        sys::stay_loaded();
        return SUCCESS;
    }
    let registered = catch_unwind(|| {
        std::panic::set_hook(Box::new(say_where));
        settings::register_ini(module);
        worker::alarm::hook();
        open_jobs::hook();
        surface::declare()
    });
    if matches!(registered, Ok(Ok(()))) { SUCCESS } else { FAILURE }
}

extern "C" fn shutdown(kind: i32, module: i32) -> i32 {
    if kind != TEMPORARY {
        open_jobs::unhook();
        settings::unregister_ini(module);
    }
    SUCCESS
}

/// A panic says where it happened, for a bug report, and not its text, which may hold data of the user.
fn say_where(panic: &std::panic::PanicHookInfo) {
    if let Some(at) = panic.location() {
        let _ = writeln!(std::io::stderr(), "delayqueue: an internal check failed at {}:{}", at.file(), at.line());
    }
}

extern "C" fn begin_request(kind: i32, _module: i32) -> i32 {
    if kind == TEMPORARY {
        // Our classes, hooks and threads last longer than a request.
        php_error(&ErrorType::Warning, "delayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini");
        return FAILURE;
    }
    let _ = catch_unwind(worker::signals::take_again);
    let _ = catch_unwind(worker::surroundings::hook);
    SUCCESS
}

extern "C" fn end_request(_kind: i32, _module: i32) -> i32 {
    open_jobs::end_request();
    SUCCESS
}

/// The section in `phpinfo()` and `php --ri delayqueue`.
extern "C" fn info(module: *mut ModuleEntry) {
    let _ = catch_unwind(|| {
        info_table_start!();
        info_table_header!("delayqueue support", "enabled");
        info_table_row!("Version", env!("CARGO_PKG_VERSION"));
        info_table_row!("Commit", env!("DELAYQUEUE_COMMIT"));
        info_table_row!("Rust", env!("DELAYQUEUE_RUSTC"));
        info_table_row!("redis crate", REDIS_CRATE);
        info_table_row!("TLS", "rustls (ring)");
        let versions = |(kind, versions): &(&str, &[&str])| format!("{kind} {}", versions.join(", "));
        info_table_row!("Servers tested", TESTED_SERVERS.iter().map(versions).collect::<Vec<_>>().join("; "));
        info_table_end!();
    });
    // SAFETY: the engine passes the module it asks about.
    unsafe { sys::display_ini_entries(module) };
}

#[php_module]
#[php(startup = startup)]
pub fn get_module(module: ModuleBuilder) -> ModuleBuilder {
    let module = module.name("delayqueue").version(env!("CARGO_PKG_VERSION"));
    let module = module.shutdown_function(shutdown);
    let module = module.request_startup_function(begin_request).request_shutdown_function(end_request);
    module.info_function(info)
}
