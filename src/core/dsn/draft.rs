//! What the parts of a DSN mean together: its options, and the servers that it names.

use super::{Dsn, Login, Server, Target, Topology};
use crate::core::error::{Error, Result};
use crate::core::nearest;
use std::sync::Arc;

const OPTIONS: [&str; 7] = ["db", "ca", "cert", "key", "sentinel_master", "sentinel_user", "sentinel_password"];

/// Options that a DSN might have as well, and that are given beside it.
const BESIDE: [&str; 2] = ["prefix", "partitions"];

pub fn invalid(what: &str) -> Error {
    Error::Invalid(format!("must be a valid DSN, {what}"))
}

/// What a DSN leads to, by its scheme and options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Server,
    Unix,
    Sentinel,
    Cluster,
}

pub fn database(value: &str) -> Result<u32> {
    value.parse().map_err(|_| invalid("its database must be a number"))
}

/// The parts that have been read.
#[derive(Default)]
pub struct Draft {
    pub login: Login,
    pub service: Option<String>,
    sentinel_user: Option<String>,
    sentinel_password: Option<String>,
}

impl Draft {
    pub fn of(login: Login) -> Self {
        Self { login, ..Self::default() }
    }

    pub fn option(&mut self, kind: Kind, name: &str, value: String) -> Result<()> {
        let may_be_sentinel = matches!(kind, Kind::Server | Kind::Sentinel);
        match (name, &mut self.login.tls) {
            ("db", _) => self.login.database = database(&value)?,
            ("ca", Some(tls)) => tls.ca = Some(value),
            ("cert", Some(tls)) => tls.cert = Some(value),
            ("key", Some(tls)) => tls.key = Some(value),
            ("sentinel_master", _) if may_be_sentinel => self.service = Some(value).filter(|name| !name.is_empty()),
            ("sentinel_user", _) if may_be_sentinel => self.sentinel_user = Some(value),
            ("sentinel_password", _) if may_be_sentinel => self.sentinel_password = Some(value),
            ("ca" | "cert" | "key", None) if kind != Kind::Unix => {
                return Err(invalid(&format!("its option '{name}' is for TLS: begin it with rediss")));
            }
            _ => {
                let hint = match nearest::near(name, &BESIDE).first() {
                    Some(option) => format!("; '{option}' is an option of the queue, and stands beside the DSN"),
                    None => nearest::hint(name, &OPTIONS),
                };
                return Err(invalid(&format!("its option '{name}' is unknown{hint}")));
            }
        }
        Ok(())
    }

    pub fn finish(self, kind: Kind, targets: Vec<Target>) -> Result<Dsn> {
        let Self { login, service, sentinel_user, sentinel_password } = self;
        if kind != Kind::Sentinel && (sentinel_user.is_some() || sentinel_password.is_some()) {
            return Err(invalid("a login for Sentinels needs sentinel_master"));
        }
        let servers = |login: &Login| -> Vec<Arc<Server>> {
            let at = |target: &Target| Arc::new(Server { target: target.clone(), login: login.clone() });
            targets.iter().map(at).collect()
        };
        let topology = match kind {
            Kind::Sentinel => {
                let missing = || invalid("it must name the service: redis+sentinel://host:26379/service/0");
                let service = service.ok_or_else(missing)?;
                let of_sentinels =
                    Login { tls: login.tls.clone(), user: sentinel_user, password: sentinel_password, database: 0 };
                Topology::Sentinel { sentinels: servers(&of_sentinels), service }
            }
            Kind::Cluster if login.database != 0 => return Err(invalid("a cluster has only database 0")),
            Kind::Cluster => Topology::Cluster { nodes: servers(&login) },
            Kind::Server | Kind::Unix => match servers(&login).as_slice() {
                [server] => Topology::Server(Arc::clone(server)),
                _ => return Err(invalid("several hosts need redis+sentinel:// or redis+cluster://")),
            },
        };
        Ok(Dsn { topology, login })
    }
}
