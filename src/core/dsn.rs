//! Where Redis is, and our user there.

mod draft;
mod parse;

use super::error::{Error, Result};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// Where to connect to; in tests a store of this process, by its name, and how much memory it may take (0: any).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    Tcp { host: String, port: u16 },
    Unix { path: String },
    Memory { name: String, most_bytes: Option<usize> },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix { path } => f.write_str(path),
            Self::Memory { name, .. } => write!(f, "memory://{name}"),
        }
    }
}

/// Files for TLS, all PEM; `None`: the system's roots, no client certificate.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tls {
    pub ca: Option<String>,
    pub cert: Option<String>,
    pub key: Option<String>,
}

/// How a server lets us in, and which of its databases we use.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Login {
    pub tls: Option<Tls>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u32,
}

/// One server. Neither `Debug` nor `Display` shows the password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Server {
    pub target: Target,
    pub login: Login,
}

/// The source of a server's address.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// The DSN itself.
    Server(Arc<Server>),
    /// Sentinels know which server is the master of the service.
    Sentinel { sentinels: Vec<Arc<Server>>, service: String },
    /// Some nodes of a cluster: each knows which node serves a slot.
    Cluster { nodes: Vec<Arc<Server>> },
}

/// A parsed DSN, with or without TLS (`rediss`), each also with `valkey`:
/// `redis://[user:pass@]host:port/db`, `redis+unix:///path[?db=]`, `redis+sentinel://host:port,…/service/db`, `redis+cluster://host:port,…`; for tests
/// `memory://[name][?maxmemory=64mb]`.
/// Neither `Debug` nor `Display` shows a password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Dsn {
    pub topology: Topology,
    /// For the servers that hold the queues; Sentinels have their own.
    pub login: Login,
}

impl Dsn {
    /// As [`Dsn::parse`], for any bytes; the DSN that this thread parsed last is not parsed again. A page makes
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
        parse::parse(text)
    }

    /// The name of the store in this process, if it is one.
    #[must_use]
    pub fn in_memory(&self) -> Option<&str> {
        match &self.topology {
            Topology::Server(server) => match &server.target {
                Target::Memory { name, .. } => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// A server of this topology.
    #[must_use]
    pub fn server(&self, target: Target) -> Arc<Server> {
        Arc::new(Server { target, login: self.login.clone() })
    }

    /// For messages: `redis://user:***@host:6379/0`.
    #[must_use]
    pub fn redacted(&self) -> String {
        let list = |servers: &[Arc<Server>]| {
            servers.iter().map(|server| server.target.to_string()).collect::<Vec<_>>().join(",")
        };
        let (scheme, user, database) = (self.login.scheme(), self.login.redacted(), self.login.database);
        match &self.topology {
            Topology::Server(server) => server.redacted(),
            Topology::Sentinel { sentinels, service } => {
                format!("{scheme}+sentinel://{user}{}/{service}/{database}", list(sentinels))
            }
            Topology::Cluster { nodes } => format!("{scheme}+cluster://{user}{}", list(nodes)),
        }
    }
}

impl Login {
    const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "rediss" } else { "redis" }
    }

    fn redacted(&self) -> String {
        match (&self.user, &self.password) {
            (Some(user), Some(_)) => format!("{user}:***@"),
            (Some(user), None) => format!("{user}@"),
            (None, Some(_)) => ":***@".to_owned(),
            (None, None) => String::new(),
        }
    }
}

impl Server {
    /// For messages: `redis://user:***@host:6379/0`.
    #[must_use]
    pub fn redacted(&self) -> String {
        let (login, database) = (self.login.redacted(), self.login.database);
        match &self.target {
            Target::Unix { path } => format!("redis+unix://{login}{path}?db={database}"),
            Target::Memory { .. } => self.target.to_string(),
            target => format!("{}://{login}{target}/{database}", self.login.scheme()),
        }
    }

    /// Hides the password wherever it stands in a text that came from elsewhere.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        match &self.login.password {
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

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_shows_a_password() {
        let dsn = Dsn::parse("redis://app:hunter2@h:1/2").unwrap();
        assert_eq!(dsn.redacted(), "redis://app:***@h:1/2");
        assert_eq!(format!("{dsn:?}"), "redis://app:***@h:1/2");
        let dsn = Dsn::parse("rediss+sentinel://app:hunter2@s1,[::1]:7/orders/2?sentinel_password=hunter3").unwrap();
        assert_eq!(format!("{dsn:?}"), "rediss+sentinel://app:***@s1:26379,[::1]:7/orders/2");
        let server = dsn.server(Target::Tcp { host: "m".into(), port: 1 });
        assert_eq!(format!("{server:?}"), "rediss://app:***@m:1/2");
        assert_eq!(server.redact("WRONGPASS hunter2"), "WRONGPASS ***");
        let Topology::Sentinel { sentinels, .. } = &dsn.topology else { panic!() };
        assert_eq!(format!("{sentinels:?}"), "[rediss://:***@s1:26379/0, rediss://:***@[::1]:7/0]");
        assert_eq!(sentinels[0].redact("hunter3"), "***");
    }
}
