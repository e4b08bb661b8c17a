//! The classes as PHP sees them: the declarations that `stub.php` makes of the stub, and where the code of each class is. A method of the stub is the function
//! of its name in the module that `code` has for the class; one without the other does not compile.

use super::call::handler;
use super::class::{
    Argument, ClassKind, Constant, Declaration, Initial, Method, Property, Rejected, register, register_functions,
    types,
};
use super::classes;

/// The functions and constants of each class, and how its objects are made.
mod code {
    use crate::php::class::Create;
    use crate::php::object::{Plain, create};

    const PLAIN: Option<Create> = Some(create::<Plain>);

    pub mod delay_queue {
        use crate::php::{delay_queue, enlisted, groups, manage, object, once, push, reserve, worker, workers};
        pub use delay_queue::*;
        pub use enlisted::enlist;
        pub use groups::*;
        pub use manage::*;
        pub use once::*;
        pub use push::*;
        pub use reserve::*;
        pub use worker::*;
        pub use workers::*;
        pub const CREATE: Option<super::Create> = Some(object::create::<DelayQueue>);
    }
    pub mod enlisted {
        pub use crate::php::enlisted::{close, order};
        pub const CREATE: Option<super::Create> = Some(super::create::<crate::php::enlisted::Enlisted>);
    }
    pub mod job {
        pub use crate::php::job::*;
        pub const CREATE: Option<super::Create> = Some(super::create::<Job>);
    }
    pub mod job_info {
        pub use crate::php::job_info::*;
        pub const CREATE: Option<super::Create> = Some(super::create::<JobInfo>);
    }
    pub mod stats {
        pub use crate::php::stats::*;
        pub const CREATE: Option<super::Create> = Some(super::create::<Stats>);
    }
    pub mod backoff {
        pub use crate::php::backoff::*;
        pub const CREATE: Option<super::Create> = Some(super::create::<Backoff>);
    }
    pub mod testing {
        pub use crate::php::testing::*;
        pub const CREATE: Option<super::Create> = super::PLAIN;
    }
    /// PHP makes, copies, compares and serializes its objects.
    pub mod group_limits {
        pub use crate::php::group_limits::*;
        pub const CREATE: Option<super::Create> = None;
    }
    /// As above.
    pub mod new_job {
        pub use crate::php::new_job::*;
        pub const CREATE: Option<super::Create> = None;
    }
    pub mod queue_settings {
        pub const CREATE: Option<super::Create> = super::PLAIN;
    }
    pub mod group_stats {
        pub const CREATE: Option<super::Create> = super::PLAIN;
    }
    pub mod job_call {
        pub const CREATE: Option<super::Create> = super::PLAIN;
    }
    pub mod prepared_job {
        pub const CREATE: Option<super::Create> = super::PLAIN;
    }
    pub mod push_once {
        pub const CREATE: Option<super::Create> = super::PLAIN;
    }
    pub mod functions {
        pub use crate::php::times::duration;
    }
    pub mod release {
        pub use crate::php::release::construct_release as construct;
    }
    pub mod rate_limited {
        pub use crate::php::release::construct_rate_limited as construct;
    }
}

include!(concat!(env!("OUT_DIR"), "/declarations.rs"));

/// Tells the engine of all of them.
pub fn declare() -> Result<(), Rejected> {
    DECLARATIONS.iter().try_for_each(register)?;
    register_functions(FUNCTIONS)
}
