//! Names of the classes for the code, made of the stub by `stub.php`: a static for each of them, the properties of objects, the cases of enums.

use super::class::{Case, Class, Properties};

include!(concat!(env!("OUT_DIR"), "/classes.rs"));
