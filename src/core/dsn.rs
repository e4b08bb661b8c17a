//! Where Redis is, and our user there.

use super::error::{Error, Result};
use percent_encoding::percent_decode_str;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use url::Url;

/// Where to connect to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    Tcp { host: String, port: u16 },
    Unix { path: String },
}

/// Files for TLS, all PEM; `None`: the system's roots, no client certificate.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tls {
    pub ca: Option<String>,
    pub cert: Option<String>,
    pub key: Option<String>,
}

/// A parsed DSN: `redis://[user:pass@]host:port/db`, `rediss://…[?ca=&cert=&key=]`, `redis+unix:///path[?db=]`, each also with `valkey`.
/// Neither `Debug` nor `Display` shows the password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Dsn {
    pub target: Target,
    pub tls: Option<Tls>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u32,
}

impl Dsn {
    /// The same as [`Dsn::parse`], for any bytes; the DSN that this thread parsed last is not parsed again. A page makes
    /// its queue object in every request.
    ///
    /// # Errors
    /// As [`Dsn::parse`].
    pub fn shared(bytes: &[u8]) -> Result<Arc<Self>> {
        thread_local! {
            static LAST: RefCell<Option<(Vec<u8>, Arc<Dsn>)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| match last {
            Some((known, dsn)) if known == bytes => Ok(Arc::clone(dsn)),
            last => {
                let text = std::str::from_utf8(bytes).map_err(|_| Error::Invalid("must be valid UTF-8".into()))?;
                let dsn = Arc::new(Self::parse(text)?);
                *last = Some((bytes.to_owned(), Arc::clone(&dsn)));
                Ok(dsn)
            }
        })
    }

    /// # Errors
    /// [`Error::Invalid`] naming the fault, never the password: "must …", to follow an argument name.
    pub fn parse(text: &str) -> Result<Self> {
        // URL parsers drop some of them silently.
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(Error::Invalid("must not contain control characters".into()));
        }
        let invalid = |what: &str| Error::Invalid(format!("must be a valid DSN, {what}"));
        let Some((scheme, _)) = text.split_once("://") else {
            return Err(invalid("such as redis://127.0.0.1:6379/0"));
        };
        // Valkey's own spelling means the same.
        let text = text.strip_prefix("valkey").map_or_else(|| text.to_owned(), |rest| format!("redis{rest}"));
        match text.split_once("://").map_or("", |(scheme, _)| scheme) {
            "redis" | "rediss" | "redis+unix" => {}
            "redis+sentinel" | "redis+cluster" | "rediss+sentinel" | "rediss+cluster" => {
                return Err(invalid(&format!("{scheme}:// is not supported yet")));
            }
            _ => return Err(invalid("its scheme is unknown: redis, rediss or redis+unix, or the same with valkey")),
        }
        // Url knows no login without a host, as a unix socket has it: give it a host for the moment.
        let with_host = match text.strip_prefix("redis+unix://").and_then(|rest| rest.split_once("@/")) {
            Some((login, path)) if !login.contains('/') => format!("redis+unix://{login}@localhost/{path}"),
            _ => text.clone(),
        };
        let is_local = with_host != text;
        // Url treats non-special schemes the same way: authority, path, query.
        let url = Url::parse(&with_host).map_err(|error| invalid(&error.to_string()))?;
        if url.fragment().is_some() {
            return Err(invalid("it must not have a #fragment"));
        }
        let decode = |part: &str, name: &str| -> Result<Option<String>> {
            if part.is_empty() {
                return Ok(None);
            }
            check_escapes(part).ok_or_else(|| invalid(&format!("its {name} has a bad %-escape")))?;
            let text =
                percent_decode_str(part).decode_utf8().map_err(|_| invalid(&format!("its {name} is not UTF-8")))?;
            Ok(Some(text.into_owned()))
        };
        let mut dsn = Self {
            target: Target::Unix { path: String::new() },
            tls: text.starts_with("rediss").then(Tls::default),
            user: decode(url.username(), "user")?,
            password: decode(url.password().unwrap_or(""), "password")?,
            database: 0,
        };
        let database = |value: &str| value.parse::<u32>().map_err(|_| invalid("its database must be a number"));
        if text.starts_with("redis+unix") {
            let path = decode(url.path(), "path")?.filter(|path| path.starts_with('/') && path.len() > 1);
            dsn.target =
                Target::Unix { path: path.ok_or_else(|| invalid("it must name a socket: redis+unix:///path"))? };
            if !is_local && url.host_str().is_some_and(|host| !host.is_empty()) {
                return Err(invalid("it must name a socket: redis+unix:///path"));
            }
        } else {
            let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| invalid("its host is missing"))?;
            let port = url.port().unwrap_or(6379);
            if port == 0 {
                return Err(invalid("its port must be between 1 and 65535"));
            }
            let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
            dsn.target = Target::Tcp { host, port };
            let path = url.path().trim_start_matches('/');
            if !path.is_empty() {
                dsn.database = database(path)?;
            }
        }
        for (name, value) in url.query_pairs() {
            let value = value.into_owned();
            match (name.as_ref(), &mut dsn.tls) {
                ("db", _) => dsn.database = database(&value)?,
                ("ca", Some(tls)) => tls.ca = Some(value),
                ("cert", Some(tls)) => tls.cert = Some(value),
                ("key", Some(tls)) => tls.key = Some(value),
                _ => return Err(invalid(&format!("its option '{name}' is unknown"))),
            }
        }
        if dsn.tls.as_ref().is_some_and(|tls| tls.cert.is_some() != tls.key.is_some()) {
            return Err(invalid("cert and key go together"));
        }
        Ok(dsn)
    }

    /// For messages: `redis://user:***@host:6379/0`.
    #[must_use]
    pub fn redacted(&self) -> String {
        let login = match (&self.user, &self.password) {
            (Some(user), Some(_)) => format!("{user}:***@"),
            (Some(user), None) => format!("{user}@"),
            (None, Some(_)) => ":***@".to_owned(),
            (None, None) => String::new(),
        };
        match &self.target {
            Target::Unix { path } => format!("redis+unix://{login}{path}?db={}", self.database),
            Target::Tcp { host, port } => {
                let scheme = if self.tls.is_some() { "rediss" } else { "redis" };
                format!("{scheme}://{login}{host}:{port}/{}", self.database)
            }
        }
    }

    /// Hides the password wherever it stands in a text that came from elsewhere.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        match &self.password {
            Some(password) if password.len() > 1 => text.replace(password.as_str(), "***"),
            _ => text.to_owned(),
        }
    }
}

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

/// `%` must be followed by two hex digits; the decoder would let the rest pass as it stands.
fn check_escapes(text: &str) -> Option<()> {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|b| *b == b'%') {
        let [high, low, ..] = rest.get(at + 1..)? else { return None };
        if !high.is_ascii_hexdigit() || !low.is_ascii_hexdigit() {
            return None;
        }
        rest = rest.get(at + 3..)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Target {
        Target::Tcp { host: host.into(), port }
    }

    #[test]
    fn reads_every_documented_form() {
        let dsn = Dsn::parse("redis://127.0.0.1:6380/3").unwrap();
        assert_eq!((dsn.target, dsn.database, dsn.tls), (tcp("127.0.0.1", 6380), 3, None));
        let dsn = Dsn::parse("rediss://app:p%40ss%3A%2F%25%2B%3F@cache.example/0?ca=/etc/ca.pem").unwrap();
        assert_eq!(dsn.target, tcp("cache.example", 6379));
        assert_eq!((dsn.user.as_deref(), dsn.password.as_deref()), (Some("app"), Some("p@ss:/%+?")));
        assert_eq!(dsn.tls.unwrap().ca.as_deref(), Some("/etc/ca.pem"));
        let dsn = Dsn::parse("redis+unix:///run/redis/redis.sock?db=2").unwrap();
        assert_eq!((dsn.target, dsn.database), (Target::Unix { path: "/run/redis/redis.sock".into() }, 2));
        let dsn = Dsn::parse("redis+unix://app:s%2Fcret@/run/redis.sock").unwrap();
        assert_eq!((dsn.user.as_deref(), dsn.password.as_deref()), (Some("app"), Some("s/cret")));
        assert_eq!(dsn.target, Target::Unix { path: "/run/redis.sock".into() });
        assert_eq!(Dsn::parse("redis://[::1]:7000").unwrap().target, tcp("::1", 7000));
        assert_eq!(Dsn::parse("redis://:secret@localhost").unwrap().password.as_deref(), Some("secret"));
    }

    #[test]
    fn valkeys_spelling_means_the_same() {
        for (valkey, redis) in [
            ("valkey://app:p%40ss@h:1/2", "redis://app:p%40ss@h:1/2"),
            ("valkeys://h?ca=/etc/ca.pem", "rediss://h?ca=/etc/ca.pem"),
            ("valkey+unix:///run/v.sock?db=3", "redis+unix:///run/v.sock?db=3"),
            ("valkey+unix://app:secret@/run/v.sock", "redis+unix://app:secret@/run/v.sock"),
        ] {
            let dsn = Dsn::parse(valkey).unwrap();
            assert!(dsn == Dsn::parse(redis).unwrap(), "{valkey}");
            assert!(dsn.redacted().starts_with("redis"), "{valkey}: {dsn:?}");
        }
        for kind in ["valkey+sentinel", "valkeys+sentinel", "valkeys+cluster", "rediss+cluster", "redis+sentinel"] {
            let error = Dsn::parse(&format!("{kind}://h:1")).unwrap_err().to_string();
            assert!(error.contains(&format!("{kind}:// is not supported yet")), "{error}");
        }
        assert!(Dsn::parse("valkey+tls://h").unwrap_err().to_string().contains("unknown"));
    }

    #[test]
    fn refuses_the_rest_without_showing_the_password() {
        for text in [
            "",
            "localhost",
            "http://x",
            "redis://",
            "redis://:hunter2@",
            "redis://h:0",
            "redis://h:65536",
            "redis://h:abc",
            "redis://h/x",
            "redis://h/-1",
            "redis://u:hunter2%zz@h",
            "redis://u:hunter2@h?colour=red",
            "redis+unix://",
            "redis+unix://host/path",
            "redis://h\0",
            "redis://h\n",
            "redis+unix://u:hunter2@host/path",
            "redis://h#x",
            "rediss://h?cert=/a",
            "redis+sentinel://u:hunter2@h:1/s/0",
            "redis+cluster://h:1",
            "redis://h?ca=/x",
        ] {
            let error = Dsn::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{text}: {error}");
        }
    }

    #[test]
    fn never_shows_the_password() {
        let dsn = Dsn::parse("redis://app:hunter2@h:1/2").unwrap();
        assert_eq!(dsn.redacted(), "redis://app:***@h:1/2");
        assert_eq!(format!("{dsn:?}"), "redis://app:***@h:1/2");
        assert_eq!(dsn.redact("WRONGPASS hunter2"), "WRONGPASS ***");
    }
}
