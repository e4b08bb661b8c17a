//! Where the documented users have to get along: one server, a master that Sentinels name, a cluster.

use super::scenario::Errors;
use super::{documented, extra, set_user};
use crate::audit;
use crate::support::*;
use crate::topology::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::queue::Queue;
use delayqueue::core::resolver::slot_of;

enum Kind {
    One(Server),
    Watched(Watched),
    Cluster(Cluster),
}

pub struct Place {
    kind: Kind,
    /// To all masters, as an administrator.
    raws: Vec<Raw>,
    /// The master that has the queue `q`.
    home: usize,
}

const MOVING: &str = "moving";

impl Place {
    pub fn one_server() -> Self {
        let server = Server::start(&[]);
        Self { raws: vec![Raw::open(&with_database(&server.dsn(), 1))], kind: Kind::One(server), home: 0 }
    }

    /// Their own user is the documented one, too.
    pub fn behind_sentinels() -> Self {
        let watched = Watched::start_with(60_000, 1);
        set_user(&mut watched.sentinels[0].raw(), &documented("dqsentinel"));
        let raw = Raw::open(&with_database(&watched.servers[0].plain_dsn(), 1));
        Self { raws: vec![raw], kind: Kind::Watched(watched), home: 0 }
    }

    pub fn cluster() -> Self {
        let cluster = Cluster::start(3, false, 60_000);
        let raws = cluster.nodes.iter().map(Node::raw).collect();
        let home = cluster.master_of("q");
        Self { raws, kind: Kind::Cluster(cluster), home }
    }

    /// The rights that the user has to have here.
    pub fn line(&self, user: &str) -> Vec<String> {
        let mut line = documented(user);
        if matches!(self.kind, Kind::Cluster(_)) {
            line.retain(|right| right != "+select"); // a cluster has database 0 alone
            line.extend(extra("a cluster"));
        }
        line
    }

    pub fn dsn(&self, user: &str) -> Dsn {
        let login = format!("{user}:secret@");
        match &self.kind {
            Kind::One(server) => with_database(&as_user(server, user), 1),
            Kind::Watched(watched) => {
                watched.dsn(&login, &format!("{SERVICE}/1?sentinel_user=dqsentinel&sentinel_password=secret"))
            }
            Kind::Cluster(cluster) => {
                Dsn::parse(&format!("redis+cluster://{login}127.0.0.1:{}", cluster.nodes[0].port)).unwrap()
            }
        }
    }

    pub fn admin(&self) -> Dsn {
        match &self.kind {
            Kind::One(server) => with_database(&server.dsn(), 1),
            Kind::Watched(watched) => {
                watched.dsn(":hunter2@", &format!("{SERVICE}/1?sentinel_password={SENTINEL_PASSWORD}"))
            }
            Kind::Cluster(cluster) => cluster.dsn(0),
        }
    }

    /// The master of the queue `q`, as an administrator.
    pub fn raw(&mut self) -> &mut Raw {
        &mut self.raws[self.home]
    }

    /// The master of the queue `q`, as this user.
    pub fn raw_of(&self, user: &str) -> Raw {
        let dsn = match &self.kind {
            Kind::One(_) => return Raw::open(&self.dsn(user)),
            Kind::Watched(watched) => with_database(&watched.servers[0].plain_dsn(), 1),
            Kind::Cluster(cluster) => cluster.nodes[self.home].plain_dsn(),
        };
        Raw::open(&with_login(&dsn, |login| {
            (login.user, login.password) = (Some(user.into()), Some("secret".into()));
        }))
    }

    /// Empty servers that know no script, and a user with these rights.
    pub fn begin(&mut self, line: &[String]) {
        for raw in &mut self.raws {
            raw.run(&["FLUSHALL"]);
            raw.run(&["SCRIPT", "FLUSH"]);
            raw.run(&["ACL", "LOG", "RESET"]);
            set_user(raw, line);
        }
    }

    /// The refusals that the servers have logged.
    pub fn log(&mut self) -> Vec<String> {
        let entries = |raw: &mut Raw| match raw.run(&["ACL", "LOG"]) {
            redis::Value::Array(entries) => entries.iter().map(|entry| format!("{entry:?}")).collect(),
            _ => Vec::new(),
        };
        self.raws.iter_mut().flat_map(entries).collect::<Vec<String>>()
    }

    /// In a cluster: the keys are at the new node already, and the slot is not.
    pub fn push_while_the_slot_moves(&mut self, queue: &Queue, admin: &Queue, errors: &mut Errors) {
        let Kind::Cluster(cluster) = &self.kind else { return };
        let slot = slot_of(MOVING.as_bytes());
        let (from, to) = (cluster.master_of(MOVING), (cluster.master_of(MOVING) + 1) % 3);
        // Redis sends a script on only if none of its keys is left, and only if all of them are there.
        admin.sibling(MOVING).push(&delayed("first", 60_000)).unwrap();
        order(&mut self.raws[from], &["ZADD", &audit::key(&admin.sibling(MOVING), "waiters"), "9e15", "nobody"]);
        cluster.open(slot, from, to);
        assert_eq!(cluster.move_keys(slot, from, to), 3);
        errors.get(queue.sibling(MOVING).push(&delayed("second", 60_000)));
        for node in [from, to] {
            order(&mut self.raws[node], &["FLUSHALL"]);
            order(&mut self.raws[node], &["CLUSTER", "SETSLOT", &slot.to_string(), "STABLE"]);
        }
    }
}
