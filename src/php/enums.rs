//! The backed enums.

use super::class::{Class, Rejected};
use crate::core::job::{OnDuplicate, State};
use crate::core::registry::Order;
use crate::core::traits::OnExpiry;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendObject, ZendStr, Zval};

pub static STATE: Class = Class::new("DelayQueue\\State");
pub static ON_DUPLICATE: Class = Class::new("DelayQueue\\OnDuplicate");
pub static ON_EXPIRY: Class = Class::new("DelayQueue\\OnExpiry");
pub static STOP_REASON: Class = Class::new("DelayQueue\\StopReason");
pub static WORKER_ORDER: Class = Class::new("DelayQueue\\WorkerOrder");
pub static EVENT: Class = Class::new("DelayQueue\\Event");

pub fn register() -> Result<(), Rejected> {
    STATE.register_enum(&[
        ("Delayed", "delayed"),
        ("Ready", "ready"),
        ("Reserved", "reserved"),
        ("Buried", "buried"),
    ])?;
    ON_DUPLICATE.register_enum(&[("Fail", "fail"), ("Keep", "keep"), ("Replace", "replace")])?;
    ON_EXPIRY.register_enum(&[("Bury", "bury"), ("Drop", "drop")])?;
    STOP_REASON.register_enum(&[
        ("Signal", "signal"),
        ("MaxJobs", "maxJobs"),
        ("MaxTime", "maxTime"),
        ("MemoryLimit", "memoryLimit"),
        ("Empty", "empty"),
        ("Stopped", "stopped"),
        ("Ordered", "ordered"),
        ("Restart", "restart"),
    ])?;
    WORKER_ORDER.register_enum(&[
        ("Stop", "stop"),
        ("Restart", "restart"),
        ("Pause", "pause"),
        ("Resume", "resume"),
    ])?;
    EVENT.register_enum(&[
        ("WorkerStarting", "workerStarting"),
        ("WorkerReady", "workerReady"),
        ("Idle", "idle"),
        ("Processing", "processing"),
        ("Succeeded", "succeeded"),
        ("Released", "released"),
        ("Failed", "failed"),
        ("Buried", "buried"),
        ("TimedOut", "timedOut"),
        ("LeaseLost", "leaseLost"),
        ("Cancelled", "cancelled"),
        ("ConnectionLost", "connectionLost"),
        ("ConnectionRestored", "connectionRestored"),
        ("WorkerStopping", "workerStopping"),
    ])
}

/// The backing value of a case: the second property slot of its object.
fn word(object: &ZendObject) -> Option<&str> {
    // SAFETY: cases of a backed enum have two slots, name and value, and live as long as the request.
    let value = unsafe { super::sys::slot(std::ptr::from_ref(object).cast_mut(), 1).as_ref() }?;
    value.str()
}

pub fn state(value: &Zval) -> Option<State> {
    let object = value.object().filter(|o| STATE.owns(o))?;
    State::ALL.into_iter().find(|state| word(object) == Some(state.word()))
}

pub fn on_duplicate(value: &Zval) -> Option<OnDuplicate> {
    let object = value.object().filter(|o| ON_DUPLICATE.owns(o))?;
    Some(match word(object)? {
        "keep" => OnDuplicate::Keep,
        "replace" => OnDuplicate::Replace,
        _ => OnDuplicate::Fail,
    })
}

pub fn on_expiry(value: &Zval) -> Option<OnExpiry> {
    let object = value.object().filter(|o| ON_EXPIRY.owns(o))?;
    Some(if word(object)? == "drop" { OnExpiry::Drop } else { OnExpiry::Bury })
}

pub fn worker_order(value: &Zval) -> Option<Order> {
    let object = value.object().filter(|o| WORKER_ORDER.owns(o))?;
    Order::ALL.into_iter().find(|order| word(object) == Some(order.word()))
}

/// The case object of a state.
pub fn state_value(state: State) -> Zval {
    let case = match state {
        State::Delayed => "Delayed",
        State::Ready => "Ready",
        State::Reserved => "Reserved",
        State::Buried => "Buried",
    };
    case_of(&STATE, case)
}

/// The object of a case.
pub fn case_of(class: &Class, case: &str) -> Zval {
    let mut out = Zval::new();
    let name = ZendStr::new(case, false);
    // SAFETY: the enum is registered and has the case; `set_object` counts the reference.
    unsafe {
        let object = ffi::zend_enum_get_case(class.entry(), name.as_ptr().cast_mut());
        if let Some(object) = object.as_mut() {
            out.set_object(object);
        }
    }
    out
}

/// The word of an event's case.
pub fn event_word(value: &Zval) -> Option<String> {
    let object = value.object().filter(|o| EVENT.owns(o))?;
    word(object).map(str::to_owned)
}
