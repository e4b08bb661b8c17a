//! What the code names of the classes, made of the stub by `stub.php`: a static for each of them, the properties of objects, the cases of enums.

use super::class::{Case, Class, Properties};

include!(concat!(env!("OUT_DIR"), "/classes.rs"));
