//! Headers: short texts beside the payload of a job, by their names.

use super::error::{Error, Result};

/// Names and values, in the order in which they were given.
pub type Headers = Vec<(String, String)>;

/// Most headers of a job.
const MOST: usize = 64;
/// The longest name.
const NAME_BYTES: usize = 100;
/// Most bytes of all names and values together.
const BYTES: usize = 8 << 10;

/// Whether a job may have so many, and such long ones.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check(headers: &[(String, String)]) -> Result<()> {
    let count = headers.len();
    if count > MOST {
        return Err(Error::Invalid(format!("must have at most {MOST} headers, {count} given")));
    }
    let size: usize = headers.iter().map(|(name, text)| name.len() + text.len()).sum();
    if size > BYTES {
        return Err(Error::Invalid(format!("must have at most {BYTES} bytes of names and values, {size} given")));
    }
    Ok(())
}

/// Whether a header may be called so.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check_name(name: &str) -> Result<()> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(is_fine) {
        return Ok(());
    }
    Err(Error::Invalid(format!("must have names of 1 to {NAME_BYTES} bytes of [A-Za-z0-9._-], \"{name}\" given")))
}
