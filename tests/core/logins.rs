//! DSNs of a server with another login.

use crate::support::Server;
use delayqueue::core::dsn::{self, Dsn, Login, Topology};
use std::sync::Arc;

/// The server of a DSN that names one.
pub fn server_of(dsn: &Dsn) -> Arc<dsn::Server> {
    match &dsn.topology {
        Topology::Server(server) => Arc::clone(server),
        other => panic!("{other:?}"),
    }
}

/// This server, with another login.
pub fn with_login(dsn: &Dsn, change: impl FnOnce(&mut Login)) -> Dsn {
    let mut login = dsn.login.clone();
    change(&mut login);
    let target = server_of(dsn).target.clone();
    Dsn { topology: Topology::Server(Arc::new(dsn::Server { target, login: login.clone() })), login }
}

/// This server, with another database.
pub fn with_database(dsn: &Dsn, database: u32) -> Dsn {
    with_login(dsn, |login| login.database = database)
}

/// As a Redis user of the password `secret`.
pub fn as_user(server: &Server, user: &str) -> Dsn {
    with_login(&server.dsn(), |login| {
        login.user = Some(user.into());
        login.password = Some("secret".into());
    })
}

/// The user `u` with the right to all commands but these.
pub fn user_without(server: &Server, denied: &[&str]) -> Dsn {
    let may = ["ACL", "SETUSER", "u", "reset", "on", ">secret", "~*", "&*", "+@all"];
    server.raw().run(&[&may, denied].concat());
    as_user(server, "u")
}
