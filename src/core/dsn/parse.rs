//! The syntax of a DSN.

use super::draft::{Draft, Kind, database, invalid};
use super::{Dsn, Login, Server, Target, Tls, Topology};
use crate::core::error::{Error, Result};
use crate::core::nearest;
use percent_encoding::percent_decode_str;
use std::sync::Arc;
use url::Url;

const REDIS_PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;

pub(super) fn parse(text: &str) -> Result<Dsn> {
    // URL parsers drop some of them silently.
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Error::Invalid("must not contain control characters".into()));
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(invalid("such as redis://127.0.0.1:6379/0"));
    };
    // Valkey's own spelling means the same.
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "memory" {
        return in_memory(rest);
    }
    let scheme = scheme.strip_prefix("valkey").map_or_else(|| scheme.clone(), |rest| format!("redis{rest}"));
    let kind = match scheme.as_str() {
        "redis" | "rediss" => Kind::Server,
        "redis+unix" => Kind::Unix,
        "redis+sentinel" | "rediss+sentinel" => Kind::Sentinel,
        "redis+cluster" | "rediss+cluster" => Kind::Cluster,
        _ => {
            let known = "redis, rediss, redis+unix, redis+sentinel or redis+cluster, or the same with valkey; or memory in tests";
            return Err(invalid(&format!("its scheme is unknown: {known}")));
        }
    };
    let (authority, others, tail) = split_hosts(rest, kind);
    // Url treats schemes that it does not know the same way: authority, path, query.
    let url = Url::parse(&format!("redis://{authority}{tail}")).map_err(|error| unreadable(error, rest))?;
    if url.fragment().is_some() {
        return Err(invalid("it must not have a #fragment"));
    }
    let mut draft = Draft::of(Login {
        tls: scheme.starts_with("rediss").then(Tls::default),
        user: decode(url.username(), "user")?,
        password: decode(url.password().unwrap_or(""), "password")?,
        database: 0,
    });
    let path = decode(url.path(), "path")?.unwrap_or_default();
    let database_text = match kind {
        Kind::Unix => {
            if path.len() < 2 || url.host_str() != Some(LOCAL) {
                return Err(invalid("it must name a socket: redis+unix:///path"));
            }
            String::new()
        }
        Kind::Sentinel => {
            let (service, database) =
                path.trim_start_matches('/').split_once('/').unwrap_or((path.trim_start_matches('/'), ""));
            draft.service = Some(service.to_owned()).filter(|service| !service.is_empty());
            database.to_owned()
        }
        Kind::Server | Kind::Cluster => path.trim_start_matches('/').to_owned(),
    };
    let in_path = if database_text.is_empty() { None } else { Some(database(&database_text)?) };
    draft.login.database = in_path.unwrap_or_default();
    for (name, value) in url.query_pairs() {
        // With an '@' behind it, the '?' may have stood in a password.
        let quiet = |error| match tail.contains('@') {
            true => invalid("one of its options is wrong; a '?' in the password is written %3F"),
            false => error,
        };
        draft.option(kind, &name, value.into_owned()).map_err(quiet)?;
    }
    if in_path.is_some_and(|number| number != draft.login.database) {
        return Err(invalid("its path and its option 'db' name different databases"));
    }
    if draft.login.tls.as_ref().is_some_and(|tls| tls.cert.is_some() != tls.key.is_some()) {
        return Err(invalid("cert and key go together"));
    }
    // Symfony writes redis://h1:26379,h2:26379?sentinel_master=name.
    let kind = if kind == Kind::Server && draft.service.is_some() { Kind::Sentinel } else { kind };
    if kind == Kind::Unix {
        return draft.finish(kind, vec![Target::Unix { path }]);
    }
    let port = if kind == Kind::Sentinel { SENTINEL_PORT } else { REDIS_PORT };
    let mut targets = vec![tcp(&url, port)?];
    for host in others.split(',').filter(|host| !host.is_empty()) {
        let url = Url::parse(&format!("redis://{host}")).map_err(|error| invalid(&error.to_string()))?;
        targets.push(tcp(&url, port)?);
    }
    draft.finish(kind, targets)
}

/// What stands behind `memory://`.
fn in_memory(rest: &str) -> Result<Dsn> {
    let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) {
        return Err(invalid("memory:// is followed by a name of letters, digits, '.', '_' and '-', or by nothing"));
    }
    let mut most_bytes = None;
    for option in query.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=').unwrap_or((option, "")) {
            ("maxmemory", value) => {
                let wrong = || invalid("its option 'maxmemory' must be a number of bytes, or such as 64mb");
                most_bytes = Some(bytes(value).ok_or_else(wrong)?);
            }
            (other, _) => {
                let hint = nearest::hint(other, &["maxmemory"]);
                return Err(invalid(&format!("its option '{other}' is unknown{hint}")));
            }
        }
    }
    let server = Server { target: Target::Memory { name: name.to_owned(), most_bytes }, login: Login::default() };
    Ok(Dsn { topology: Topology::Server(Arc::new(server)), login: Login::default() })
}

/// A size as the configuration of Redis has it.
fn bytes(text: &str) -> Option<usize> {
    let text = text.to_ascii_lowercase();
    let unit = [("gb", 30), ("mb", 20), ("kb", 10)]
        .into_iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (number, shift) = unit.unwrap_or((&text, 0));
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// A '/', '?' or '#' in a password ends the part that may have a login, and what stood before it is no port.
fn unreadable(error: url::ParseError, rest: &str) -> Error {
    let in_password = error == url::ParseError::InvalidPort && rest.contains('@');
    let advice = "; in a password write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for # and %25 for %";
    invalid(&format!("{error}{}", if in_password { advice } else { "" }))
}

/// Url knows no lists of hosts, and no login without a host as a Unix socket has it: takes the authority with the first host apart from the
/// other hosts and from what follows.
fn split_hosts(rest: &str, kind: Kind) -> (String, &str, &str) {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    if kind == Kind::Unix {
        return match authority.strip_suffix('@') {
            Some(login) => (format!("{login}@{LOCAL}"), "", tail),
            None if authority.is_empty() => (LOCAL.to_owned(), "", tail),
            None => (authority.to_owned(), "", tail),
        };
    }
    let hosts_at = authority.rfind('@').map_or(0, |at| at + 1);
    let (login, hosts) = authority.split_at(hosts_at);
    let (first, others) = hosts.split_once(',').unwrap_or((hosts, ""));
    (format!("{login}{first}"), others, tail)
}

/// A host for the moment of parsing; no DSN names it.
const LOCAL: &str = "unix.invalid";

fn tcp(url: &Url, default_port: u16) -> Result<Target> {
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| invalid("its host is missing"))?;
    let port = url.port().unwrap_or(default_port);
    if port == 0 {
        return Err(invalid("its port must be between 1 and 65535"));
    }
    Ok(Target::Tcp { host: host.trim_start_matches('[').trim_end_matches(']').to_owned(), port })
}

fn decode(part: &str, name: &str) -> Result<Option<String>> {
    if part.is_empty() {
        return Ok(None);
    }
    check_escapes(part).ok_or_else(|| invalid(&format!("its {name} has a bad %-escape")))?;
    let text = percent_decode_str(part).decode_utf8().map_err(|_| invalid(&format!("its {name} is not UTF-8")))?;
    Ok(Some(text.into_owned()))
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

    fn targets(servers: &[Arc<Server>]) -> Vec<Target> {
        servers.iter().map(|server| server.target.clone()).collect()
    }

    fn server(text: &str) -> Server {
        match Dsn::parse(text).unwrap().topology {
            Topology::Server(server) => (*server).clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn user_and_password(login: &Login) -> (Option<&str>, Option<&str>) {
        (login.user.as_deref(), login.password.as_deref())
    }

    #[test]
    fn reads_every_documented_form_of_one_server() {
        let Server { target, login } = server("redis://127.0.0.1:6380/3");
        assert_eq!((target, login.database, login.tls), (tcp("127.0.0.1", 6380), 3, None));
        let Server { target, login } = server("rediss://app:p%40ss%3A%2F%25%2B%3F@cache.example/0?ca=/etc/ca.pem");
        assert_eq!(target, tcp("cache.example", 6379));
        assert_eq!(user_and_password(&login), (Some("app"), Some("p@ss:/%+?")));
        assert_eq!(login.tls.unwrap().ca.as_deref(), Some("/etc/ca.pem"));
        let Server { target, login } = server("redis+unix:///run/redis/redis.sock?db=2");
        assert_eq!((target, login.database), (Target::Unix { path: "/run/redis/redis.sock".into() }, 2));
        let Server { target, login } = server("redis+unix://app:s%2Fcret@/run/redis.sock");
        assert_eq!(user_and_password(&login), (Some("app"), Some("s/cret")));
        assert_eq!(target, Target::Unix { path: "/run/redis.sock".into() });
        assert_eq!(server("redis://[::1]:7000").target, tcp("::1", 7000));
        assert_eq!(server("redis://:secret@localhost").login.password.as_deref(), Some("secret"));
    }

    #[test]
    fn reads_every_documented_form_of_sentinels() {
        let read = |text: &str| {
            let Dsn { topology, login } = Dsn::parse(text).unwrap();
            let Topology::Sentinel { sentinels, service } = topology else { panic!("{text}") };
            assert_eq!(service, "orders");
            (sentinels, login)
        };
        let (sentinels, login) = read("redis+sentinel://app:p%2Cw@s1:26380,s2,[::1]:1/orders/3");
        assert_eq!(targets(&sentinels), [tcp("s1", 26380), tcp("s2", 26379), tcp("::1", 1)]);
        assert_eq!((user_and_password(&login), login.database), ((Some("app"), Some("p,w")), 3));
        assert_eq!(user_and_password(&sentinels[0].login), (None, None));
        for text in [
            "redis+sentinel://s1/orders",
            "valkey+sentinel://s1/orders/0",
            "redis+sentinel://s1?sentinel_master=orders",
            "redis://s1?sentinel_master=orders",
            "redis://s1:26379/0?sentinel_master=orders",
        ] {
            assert_eq!(targets(&read(text).0), [tcp("s1", 26379)], "{text}");
        }
        let (sentinels, login) = read("rediss+sentinel://s1/orders?sentinel_user=u&sentinel_password=p%26&ca=/ca");
        assert_eq!(user_and_password(&sentinels[0].login), (Some("u"), Some("p&")));
        assert_eq!(user_and_password(&login), (None, None));
        assert_eq!((&sentinels[0].login.tls, login.tls.clone().unwrap().ca.as_deref()), (&login.tls, Some("/ca")));
    }

    #[test]
    fn reads_every_documented_form_of_a_cluster() {
        let Dsn { topology, login } = Dsn::parse("rediss+cluster://app:pw@n1:7000,n2/0?ca=/ca").unwrap();
        let Topology::Cluster { nodes } = topology else { panic!() };
        assert_eq!(targets(&nodes), [tcp("n1", 7000), tcp("n2", 6379)]);
        assert!(login.tls.is_some() && nodes[1].login == login);
        let error = Dsn::parse("redis+cluster://n1/1").unwrap_err().to_string();
        assert_eq!(error, "must be a valid DSN, a cluster has only database 0");
    }

    #[test]
    fn valkeys_spelling_means_the_same() {
        for (valkey, redis) in [
            ("valkey://app:p%40ss@h:1/2", "redis://app:p%40ss@h:1/2"),
            ("valkeys://h?ca=/etc/ca.pem", "rediss://h?ca=/etc/ca.pem"),
            ("valkey+unix:///run/v.sock?db=3", "redis+unix:///run/v.sock?db=3"),
            ("valkey+unix://app:secret@/run/v.sock", "redis+unix://app:secret@/run/v.sock"),
            ("valkeys+cluster://a,b", "rediss+cluster://a,b"),
            ("valkeys+sentinel://a,b/s", "rediss+sentinel://a,b/s"),
        ] {
            let dsn = Dsn::parse(valkey).unwrap();
            assert!(dsn == Dsn::parse(redis).unwrap(), "{valkey}");
            assert!(dsn.redacted().starts_with("redis"), "{valkey}: {dsn:?}");
        }
        assert!(Dsn::parse("valkey+tls://h").unwrap_err().to_string().contains("unknown"));
    }

    fn error(text: &str) -> String {
        Dsn::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_the_cure() {
        for text in ["redis://user:p/w@host", "redis://user:p?w@host", "rediss+cluster://user:p#w@host,i"] {
            let found = error(text);
            assert!(found.contains("invalid port number; in a password write %40 for @"), "{text}: {found}");
        }
        assert_eq!(error("redis://h:abc"), "must be a valid DSN, invalid port number");
        assert!(error("redis://h?sentinel_pasword=x").ends_with("is unknown; did you mean 'sentinel_password'?"));
        assert!(error("redis://h?DB=1").ends_with("is unknown; did you mean 'db'?"));
        let all = "'db', 'ca', 'cert', 'key', 'sentinel_master', 'sentinel_user' and 'sentinel_password'";
        assert_eq!(
            error("redis://h?colour=1"),
            format!("must be a valid DSN, its option 'colour' is unknown; there are {all}")
        );
        for text in ["redis://h?prefx=a", "redis://h?prefix=a"] {
            assert!(error(text).ends_with("is unknown; 'prefix' is an option of the queue, and stands beside the DSN"));
        }
        assert_eq!(error("redis://h?ca=/x"), "must be a valid DSN, its option 'ca' is for TLS: begin it with rediss");
        assert_eq!(
            error("redis://h/2?db=3"),
            "must be a valid DSN, its path and its option 'db' name different databases"
        );
        assert_eq!(server("redis://h/3?db=3").login.database, 3);
    }

    #[test]
    fn a_store_in_memory_has_a_name_and_a_size() {
        for (text, name, most_bytes) in [
            ("memory://", "", None),
            ("memory://shop-1.b_", "shop-1.b_", None),
            ("MEMORY://Shop?maxmemory=64mb", "Shop", Some(64 << 20)),
            ("memory://?maxmemory=1000", "", Some(1000)),
            ("memory://?maxmemory=0", "", Some(0)),
        ] {
            let dsn = Dsn::parse(text).unwrap();
            assert_eq!(dsn.in_memory(), Some(name));
            assert_eq!(server(text).target, Target::Memory { name: name.into(), most_bytes });
            assert_eq!(dsn.redacted(), format!("memory://{name}"));
        }
        for text in ["memory://h:1", "memory://u:p@h", "memory://a/1", "memory://a#b", "memory://\u{e4}"] {
            assert!(error(text).contains("is followed by a name"), "{text}");
        }
        for text in ["memory://?maxmemory=", "memory://?maxmemory=1pb", "memory://?maxmemory=99999999999gb"] {
            assert!(error(text).ends_with("must be a number of bytes, or such as 64mb"), "{text}");
        }
        assert!(error("memory://?ca=/x").contains("its option 'ca' is unknown"));
    }

    #[test]
    fn a_scheme_may_be_in_capitals() {
        assert_eq!(server("REDIS://h:1").target, tcp("h", 1));
        assert!(server("Valkeys://h").login.tls.is_some());
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
            "redis://h?ca=/x",
            "redis://u:hunter2@h,i",
            "redis://h?sentinel_password=hunter2",
            "redis+sentinel://u:hunter2@h:1",
            "redis+sentinel://u:hunter2@h:1/",
            "redis+sentinel://u:hunter2@h:1/s/x",
            "redis+sentinel://u:hunter2@h:0/s",
            "redis+sentinel://u:hunter2@,h/s",
            "redis+sentinel://h/s/0/x",
            "redis+cluster://u:hunter2@h:1,i:x",
            "redis+cluster://u:hunter2@h/1",
            "redis+cluster://h?sentinel_master=s",
            "redis+cluster://h?sentinel_password=hunter2",
            "redis+unix:///p?sentinel_master=s",
            "redis://u:12?hunter2@h/0",
            "redis+sentinel://u:12?3=4&hunter2@h/s",
        ] {
            let error = Dsn::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{text}: {error}");
        }
    }
}
