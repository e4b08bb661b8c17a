//! Everything that can go wrong, named by its cause.

use std::fmt;

/// The operation during which an error happened: "pushing job 'a' to queue 'orders'". Printed with a colon, or not at all where it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing(pub String);

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

/// An error of the core. Messages never contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Redis could not be reached, or was lost on the way.
    #[error("{doing}{message}")]
    Connection {
        doing: Doing,
        message: String,
        /// The write may have been applied: its answer was lost, and so were the retries.
        ambiguous: bool,
    },
    /// Redis did not accept the credentials (`WRONGPASS`, `NOAUTH`).
    #[error("{doing}{message}")]
    Authentication { doing: Doing, message: String },
    /// Redis refused the command; `code` is the first word of its error.
    #[error("{doing}{code} {message}")]
    Server { doing: Doing, code: String, message: String },
    /// Redis has no memory left (`OOM`) and refused the request, or the queue holds as many jobs as its producer allows (`DQCAPACITY`).
    #[error("{doing}{message}")]
    QueueFull { doing: Doing, code: &'static str, message: String },
    /// The lease ran out, or the job was cancelled or taken over.
    #[error("the lease of job '{id}' in queue '{queue}' is lost: {reason}")]
    LeaseLost { queue: String, id: String, reason: &'static str },
    /// A job of this id is in the queue already.
    #[error("{}", duplicate(queue, id, *may_be_taken, *items))]
    Duplicate {
        queue: String,
        id: String,
        /// The positions of two jobs of the list that have this id.
        items: Option<(usize, usize)>,
        /// The push has asked whether the id is taken for some time.
        may_be_taken: bool,
    },
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

fn duplicate(queue: &str, id: &str, may_be_taken: bool, items: Option<(usize, usize)>) -> String {
    match items {
        Some((first, second)) => format!("items {first} and {second} have the same id '{id}'"),
        None if may_be_taken => format!("job '{id}' is already in queue '{queue}', or its id is still taken"),
        None => format!("job '{id}' is already in queue '{queue}'"),
    }
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
                    | "MOVED"
                    | "ASK"
                    | "READONLY"
                    | "NOREPLICAS"
                    | "MISCONF"
                    | "UNBLOCKED"
                    | "NOSCRIPT"
            ),
            Self::QueueFull { .. } => true,
            _ => false,
        }
    }

    /// Whether the change may have been made, or a part of it.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        matches!(self, Self::Connection { ambiguous: true, .. })
    }

    /// The server lacks a script that this user may not send.
    #[must_use]
    pub fn scripts_missing() -> Self {
        let message = "the scripts are not installed, and this user may not send them: run 'delayqueue install-scripts' as a user that \
                       may, after each start of a server and each failover";
        Self::Server { doing: Doing::default(), code: "NOSCRIPT".into(), message: message.into() }
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

    /// Nothing was stored, as the queue would hold more jobs than the producer allows.
    #[must_use]
    pub fn over_capacity(jobs: i64, more: i64, capacity: u64) -> Self {
        let message =
            format!("the queue holds {jobs} jobs, and with {more} more it would pass its capacity of {capacity}");
        Self::QueueFull { doing: Doing::default(), code: "DQCAPACITY", message }
    }

    /// Redis has answered all the time, and still has to do something else first.
    #[must_use]
    pub fn unfinished(ambiguous: bool) -> Self {
        let message = "timed out: Redis first takes back the jobs of many leases that have ended, puts many of other priorities that fell due \
                       into their order, or ends many that are too late or cannot be read; each call goes on with it, so try again";
        Self::Connection { doing: Doing::default(), message: message.into(), ambiguous }
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
    /// Says where the items of a list really stand that have the same id.
    #[must_use]
    pub fn with_items_at(mut self, position: impl Fn(usize) -> usize) -> Self {
        if let Self::Duplicate { items: Some((first, second)), .. } = &mut self {
            (*first, *second) = (position(*first), position(*second));
        }
        self
    }

    /// The one place where an error of Redis becomes ours. `code` is its first word, `message` the rest.
    #[must_use]
    pub fn from_redis(code: &str, message: &str) -> Self {
        let doing = Doing::default();
        let message = without_place(message.trim());
        let met = if code == "ERR" { met_in_script(message) } else { None };
        let (code, message) = met.map_or((code, message.to_owned()), |(code, rest)| (code, rest.to_owned()));
        match code {
            "WRONGPASS" | "NOAUTH" => Self::Authentication { doing, message: format!("{code} {message}") },
            "ERR" if message.contains("called without any password configured") => {
                Self::Authentication { doing, message }
            }
            "ERR" if message.contains("max number of clients") => Self::Connection { doing, message, ambiguous: false },
            "OOM" => Self::QueueFull {
                doing,
                code: "OOM",
                message: format!("Redis has no memory left and refused the request ({message})"),
            },
            "ERR" if message.starts_with("Protocol error: invalid bulk length") => {
                let message = format!("{message}: the server takes no value above its proto-max-bulk-len");
                Self::Server { doing, code: code.to_owned(), message }
            }
            _ => Self::Server { doing, code: code.to_owned(), message },
        }
    }
}

/// The message less the script and the line, which Redis adds from 7.0 on: "… script: f8e1…, on @user_script:20."
fn without_place(message: &str) -> &str {
    match message.rsplit_once(" script: ") {
        Some((text, place)) if place.contains(", on @") => text.trim_end_matches(','),
        _ => message,
    }
}

/// Code and message of an error that a command met inside a script, where the server has put ERR in front.
fn met_in_script(message: &str) -> Option<(&'static str, &str)> {
    const CODES: [&str; 8] =
        ["WRONGTYPE", "OOM", "READONLY", "MISCONF", "NOREPLICAS", "NOPERM", "NOSCRIPT", "DQSCHEMA"];
    // Redis 6.2: "Error running script (call to f_…): @user_script:1: WRONGTYPE …", or "… @user_script: 1: -OOM …".
    let after =
        |code: &str| [": ", ": -"].iter().find_map(|start| Some(message.split_once(&format!("{start}{code} "))?.1));
    // Redis up to 7.0; newer ones and Valkey.
    let denied = ["The user executing the script can't", "ACL failure in script"];
    let denied = || denied.iter().find_map(|words| message.get(message.find(words)?..));
    CODES.iter().find_map(|code| Some((*code, after(code)?))).or_else(|| Some(("NOPERM", denied()?)))
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
        for denied in [
            "Error running script (call to f_1): @user_script:1: @user_script: 1: The user executing the script can't publish",
            "The user executing the script can't run this command or subcommand script: f8e, on @user_script:1.",
            "ACL failure in script: User u has no permissions to run the 'time' command script: f8e, on @user_script:1.",
        ] {
            assert_eq!(code("ERR", denied), "NOPERM", "{denied}");
        }
        let full = "Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not allowed";
        assert_eq!(Error::from_redis("ERR", full), Error::from_redis("OOM", "command not allowed"));
        assert!(matches!(Error::from_redis("OOM", "command not allowed"), Error::QueueFull { .. }));
        assert!(matches!(Error::from_redis("WRONGPASS", "invalid"), Error::Authentication { .. }));
    }

    #[test]
    fn the_message_says_what_was_denied_and_not_where_in_the_script() {
        for denied in [
            "ACL failure in script: User u has no permissions to run the 'time' command",
            "The user executing the script can't run this command or subcommand",
        ] {
            for message in [
                denied.to_owned(),
                format!("{denied} script: f8e, on @user_script:1."),
                format!("Error running script (call to f_1): @user_script:1: @user_script: 1: {denied}"),
            ] {
                let error = Error::from_redis("ERR", &message).while_doing(|| "pausing queue 'q'".into());
                assert_eq!(error.to_string(), format!("pausing queue 'q': NOPERM {denied}"));
            }
        }
    }

    #[test]
    fn what_was_being_done_is_said_once() {
        let error = Error::from_redis("MISCONF", "disk").while_doing(|| "pushing job 'a' to queue 'q'".into());
        let error = error.while_doing(|| "something else".into());
        assert_eq!(error.to_string(), "pushing job 'a' to queue 'q': MISCONF disk");
        assert_eq!(Error::from_redis("MISCONF", "disk").to_string(), "MISCONF disk", "no colon before nothing");
    }
}
