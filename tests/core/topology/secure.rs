//! Servers that speak only TLS, with certificates of one folder.

use super::{Node, SERVICE, give_slots, soon, words};
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use std::net::TcpStream;

type Folder<'a> = &'a dyn Fn(&str) -> String;

/// Options of a server as pairs: it shows the certificate of this name.
fn pairs(path: Folder<'_>, certificate: &str) -> Vec<(&'static str, String)> {
    vec![
        ("port", "0".into()),
        ("tls-port", "PORT".into()),
        ("tls-auth-clients", "no".into()),
        ("tls-replication", "yes".into()),
        ("tls-ca-cert-file", path("ca.crt")),
        ("tls-cert-file", path(&format!("{certificate}.crt"))),
        ("tls-key-file", path(&format!("{certificate}.key"))),
    ]
}

/// [`pairs`] as arguments.
pub(super) fn tls_options(path: Folder<'_>, certificate: &str) -> Vec<String> {
    pairs(path, certificate).into_iter().flat_map(|(option, value)| [format!("--{option}"), value]).collect()
}

fn server(path: Folder<'_>, certificate: &str, more: &str) -> Node {
    let options = tls_options(path, certificate).into_iter();
    let node = Node::server(None, &options.chain(words(more)).collect::<Vec<_>>());
    wait_for(&node);
    node
}

fn wait_for(node: &Node) {
    soon("the port is open", || TcpStream::connect(("127.0.0.1", node.port)).is_ok());
}

/// A Sentinel and its master, each with a certificate; the DSN trusts the test's own authority.
pub fn sentinel_over_tls(path: Folder<'_>, of_sentinel: &str, of_master: &str) -> (Node, Node, Dsn) {
    let master = server(path, of_master, "");
    let lines = pairs(path, of_sentinel).into_iter().map(|(option, value)| format!("{option} {value}\n"));
    let lines: String = lines.chain([format!("sentinel monitor {SERVICE} 127.0.0.1 {} 1\n", master.port)]).collect();
    let sentinel = Node::sentinel(&lines);
    wait_for(&sentinel);
    let dsn = format!("rediss+sentinel://127.0.0.1:{}/{SERVICE}/2?ca={}", sentinel.port, path("ca.crt"));
    (master, sentinel, Dsn::parse(&dsn).unwrap())
}

/// A cluster of one node.
pub fn cluster_over_tls(path: Folder<'_>, certificate: &str) -> (Node, Dsn) {
    let node = server(path, certificate, "--cluster-enabled yes --tls-cluster yes");
    let mut raw = Raw::open(&Dsn::parse(&format!("redis+unix://{}", node.socket())).unwrap());
    give_slots(&mut raw, 0, 16_383);
    soon("the cluster is up", || raw.text(&["CLUSTER", "INFO"]).contains("cluster_state:ok"));
    let dsn = format!("rediss+cluster://127.0.0.1:{}?ca={}", node.port, path("ca.crt"));
    (node, Dsn::parse(&dsn).unwrap())
}
