//! Everything that can go wrong, named by its cause.

use std::fmt;

/// What was being done when an error happened: "pushing job 'a' to queue 'orders'".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing(pub String);

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error of the core. Messages never contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Redis could not be reached, or was lost on the way.
    #[error("{doing}: {message}")]
    Connection {
        doing: Doing,
        message: String,
        /// The write may have been applied: its answer was lost, and so were the retries.
        ambiguous: bool,
    },
    /// Redis did not accept the credentials (`WRONGPASS`, `NOAUTH`).
    #[error("{doing}: {message}")]
    Authentication { doing: Doing, message: String },
    /// Redis refused the command; `code` is the first word of its error.
    #[error("{doing}: {code} {message}")]
    Server { doing: Doing, code: String, message: String },
    /// Redis has no memory left (`OOM`); nothing was stored.
    #[error("{doing}: {message}")]
    QueueFull { doing: Doing, message: String },
    /// The lease ran out, or the job was cancelled or taken over.
    #[error("the lease of job '{id}' in queue '{queue}' is lost: {reason}")]
    LeaseLost { queue: String, id: String, reason: &'static str },
    /// A job of this id is in the queue already.
    #[error("job '{id}' is already in queue '{queue}'")]
    Duplicate { queue: String, id: String },
    /// The payload is larger than the limit.
    #[error("the payload of {size} bytes is larger than maxPayload ({limit} bytes)")]
    PayloadTooLarge { size: usize, limit: usize },
    /// An argument is out of its range; the text follows php-src's wording without the function name.
    #[error("{0}")]
    Invalid(String),
    /// The caller's interrupt check asked to leave (an exception is pending there).
    #[error("interrupted")]
    Interrupted,
}

/// Shorthand for results of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether the same call may succeed later without anyone changing anything.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connection { .. } => true,
            Self::Server { code, .. } => matches!(
                code.as_str(),
                "LOADING"
                    | "BUSY"
                    | "MASTERDOWN"
                    | "TRYAGAIN"
                    | "CLUSTERDOWN"
                    | "READONLY"
                    | "NOREPLICAS"
                    | "MISCONF"
                    | "UNBLOCKED"
            ),
            Self::QueueFull { .. } => true,
            _ => false,
        }
    }

    /// Puts in what was being done, where that is still missing.
    #[must_use]
    pub fn while_doing(mut self, what: impl FnOnce() -> String) -> Self {
        if let Self::Connection { doing, .. }
        | Self::Authentication { doing, .. }
        | Self::Server { doing, .. }
        | Self::QueueFull { doing, .. } = &mut self
            && doing.0.is_empty()
        {
            doing.0 = what();
        }
        self
    }
}
