//! Everything that can go wrong, named by its cause.

use std::fmt;

/// The operation during which an error happened: "pushing job 'a' to queue 'orders'".
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
    /// Redis has no memory left (`OOM`) and refused the request.
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
    /// A job cannot be sealed, or opened.
    #[error("job '{id}' of queue '{queue}' {why}")]
    Seal { queue: String, id: String, why: String },
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

    /// An operation was done in part, or may have been done: `how` says which, and `why` is the error that stopped it.
    #[must_use]
    pub fn in_doubt(how: &str, why: Self) -> Self {
        let why = match why {
            Self::Server { code, message, .. } => format!("{code} {message}"),
            Self::QueueFull { message, .. }
            | Self::Authentication { message, .. }
            | Self::Connection { message, .. } => message,
            other => other.to_string(),
        };
        Self::Connection { doing: Doing::default(), message: format!("{how}: {why}"), ambiguous: true }
    }

    /// Puts in the operation, where that is still missing.
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

impl Error {
    /// The one place where an error of Redis becomes ours. `code` is its first word, `message` the rest.
    #[must_use]
    pub fn from_redis(code: &str, message: &str) -> Self {
        let doing = Doing::default();
        let message = message.trim();
        let known = ["WRONGTYPE", "OOM", "READONLY", "MISCONF", "NOREPLICAS", "NOPERM", "NOSCRIPT", "DQSCHEMA"];
        // Redis 6.2 wraps what a script met: "ERR Error running script (call to f_…): @user_script:1: WRONGTYPE …".
        let wrapped = known.iter().find(|word| code == "ERR" && message.contains(&format!(": {word} ")));
        let code = match wrapped {
            Some(word) => word,
            None if message.contains("executing the script can't") => "NOPERM",
            None => code,
        };
        let message = message.split(" script: ").next().unwrap_or(message).trim_end_matches(',').to_owned();
        match code {
            "WRONGPASS" | "NOAUTH" => Self::Authentication { doing, message: format!("{code} {message}") },
            "ERR" if message.contains("called without any password configured") => {
                Self::Authentication { doing, message }
            }
            "ERR" if message.contains("max number of clients") => Self::Connection { doing, message, ambiguous: false },
            "OOM" => Self::QueueFull {
                doing,
                message: format!("Redis has no memory left and refused the request ({message})"),
            },
            _ => Self::Server { doing, code: code.to_owned(), message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_inside_scripts_keep_their_own_code() {
        let code = |code: &str, message: &str| match Error::from_redis(code, message) {
            Error::Server { code, .. } => code,
            other => format!("{other:?}"),
        };
        assert_eq!(code("WRONGTYPE", "Operation against a key script: f8e, on @user_script:20."), "WRONGTYPE");
        assert_eq!(code("ERR", "Error running script (call to f_1): @user_script:1: WRONGTYPE Operation"), "WRONGTYPE");
        assert_eq!(
            code("ERR", "The user executing the script can't run this command or subcommand script: a"),
            "NOPERM"
        );
        assert!(matches!(Error::from_redis("OOM", "command not allowed"), Error::QueueFull { .. }));
        assert!(matches!(Error::from_redis("WRONGPASS", "invalid"), Error::Authentication { .. }));
    }

    #[test]
    fn what_was_being_done_is_said_once() {
        let error = Error::from_redis("MISCONF", "disk").while_doing(|| "pushing job 'a' to queue 'q'".into());
        let error = error.while_doing(|| "something else".into());
        assert_eq!(error.to_string(), "pushing job 'a' to queue 'q': MISCONF disk");
    }
}
