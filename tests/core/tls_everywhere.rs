//! TLS to Sentinels, to the master that they name, and to nodes of a cluster: only the good certificate is accepted.

use crate::machine::stalls_since;
use crate::support::*;
use crate::tls;
use crate::topology::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use std::time::{Duration, Instant};

/// Certificates that prove nothing, and words of the advice.
const BAD: [(&str, &str); 3] =
    [("expired", "needs a new certificate"), ("elsewhere", "use a host name"), ("stranger", "ca= in the dsn")];

fn assert_refused(dsn: Dsn, words: &str) {
    let started = Instant::now();
    let error = queue_of(dsn, "q", Duration::from_secs(2)).push(&job("a")).unwrap_err();
    assert!(matches!(&error, Error::Connection { ambiguous: false, .. }), "{error:?}");
    assert!(error.to_string().to_lowercase().contains(words), "'{words}' is missing: {error}");
    assert!(started.elapsed() < Duration::from_secs(4) + stalls_since(started), "{:?}", started.elapsed());
}

fn assert_works(dsn: Dsn) {
    let queue = queue_of(dsn, "q", Duration::from_secs(5));
    queue.push(&job("a")).unwrap();
    assert_eq!(serve_all(&queue), ["a"]);
}

/// This address, with this scheme and authority.
fn other(dsn: &Dsn, scheme: &str, ca: Option<String>) -> Dsn {
    let bare = dsn.redacted().replace("rediss", scheme);
    let ca = ca.map(|path| format!("?ca={path}")).unwrap_or_default();
    Dsn::parse(&format!("{}{ca}", bare.split('?').next().unwrap())).unwrap()
}

#[test]
fn of_sentinels_only_one_with_a_good_certificate_is_believed() {
    let files = tls::Files::new();
    let path = |name: &str| files.path(name);
    let (_master, _sentinel, dsn) = sentinel_over_tls(&path, "server", "server");
    assert_works(dsn.clone());
    assert_refused(other(&dsn, "redis", None), "use rediss://");
    assert_refused(other(&dsn, "rediss", Some(path("stranger.crt"))), "certificate");
    assert_refused(other(&dsn, "rediss", None), "certificate");
    for (certificate, words) in BAD {
        let (_master, _sentinel, dsn) = sentinel_over_tls(&path, certificate, "server");
        assert_refused(dsn, words);
    }
    let watched = Watched::start_with(60_000, 1);
    let plain = watched.dsn("", SERVICE).redacted().replace("redis+", "rediss+");
    assert_refused(Dsn::parse(&format!("{plain}?ca={}", path("ca.crt"))).unwrap(), "use redis://");
}

#[test]
fn of_masters_that_a_sentinel_names_only_one_with_a_good_certificate_is_used() {
    let files = tls::Files::new();
    for (certificate, words) in BAD {
        let (_master, _sentinel, dsn) = sentinel_over_tls(&|name| files.path(name), "server", certificate);
        assert_refused(dsn, words);
    }
}

#[test]
fn of_cluster_nodes_only_one_with_a_good_certificate_is_used() {
    let files = tls::Files::new();
    let path = |name: &str| files.path(name);
    let (_node, dsn) = cluster_over_tls(&path, "server");
    assert_works(dsn.clone());
    assert_refused(other(&dsn, "redis", None), "use rediss://");
    assert_refused(other(&dsn, "rediss", None), "certificate");
    for (certificate, words) in BAD {
        let (_node, dsn) = cluster_over_tls(&path, certificate);
        assert_refused(dsn, words);
    }
    let plain = Cluster::shared().dsn(0).redacted().replace("redis+", "rediss+");
    assert_refused(Dsn::parse(&format!("{plain}?ca={}", path("ca.crt"))).unwrap(), "use redis://");
}
