//! A cluster, and moving its slots.

use super::secure::tls_options;
use super::{Node, give_slots, order, queue_of, soon, wait_for_replica, words};
use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::queue::Queue;
use delayqueue::core::resolver;
use redis::Value;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Masters with equal shares of the slots, each with a replica, where it was asked for; the replica of `n` is `masters + n`.
pub struct Cluster {
    pub nodes: Vec<Node>,
    masters: usize,
}

const SLOTS: usize = 16_384;

impl Cluster {
    pub fn start(masters: usize, with_replicas: bool, node_timeout_ms: u32) -> Self {
        Self::start_with(masters, with_replicas, node_timeout_ms, Vec::new())
    }

    /// One node, which names this port as its own. Redis 6.2 takes it only as it starts.
    pub fn announcing(port: u16) -> Self {
        Self::start_with(1, false, 60_000, words(&format!("--cluster-announce-port {port}")))
    }

    /// Nodes that speak only TLS, with the certificates of that folder.
    pub fn over_tls(path: &dyn Fn(&str) -> String) -> Self {
        let mut options = tls_options(path, "server");
        options.extend(words("--tls-cluster yes"));
        Self::start_with(2, false, 60_000, options)
    }

    fn start_with(masters: usize, with_replicas: bool, node_timeout_ms: u32, mut options: Vec<String>) -> Self {
        options.extend(words(&format!(
            "--cluster-enabled yes --cluster-node-timeout {node_timeout_ms} --cluster-require-full-coverage no \
             --cluster-replica-validity-factor 0 --cluster-migration-barrier 10"
        )));
        let many = if with_replicas { 2 * masters } else { masters };
        let nodes: Vec<Node> = (0..many).map(|_| Node::server(None, &options)).collect();
        let cluster = Self { nodes, masters };
        cluster.join();
        cluster
    }

    /// The cluster that tests share that take no node from it.
    pub fn shared() -> &'static Self {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| Self::start(3, false, 5_000))
    }

    fn join(&self) {
        let mut raws: Vec<Raw> = self.nodes.iter().map(Node::raw).collect();
        let ids: Vec<String> = raws.iter_mut().map(|raw| raw.text(&["CLUSTER", "MYID"])).collect();
        for (n, raw) in raws.iter_mut().enumerate() {
            order(raw, &["CLUSTER", "SET-CONFIG-EPOCH", &(n + 1).to_string()]);
            if n < self.masters {
                let (first, last) = (self.first_slot(n), self.first_slot(n + 1) - 1);
                give_slots(raw, first, last);
            }
        }
        for node in &self.nodes[1..] {
            order(&mut raws[0], &["CLUSTER", "MEET", "127.0.0.1", &node.port.to_string()]);
        }
        let many = self.nodes.len();
        for raw in &mut raws {
            soon("a node knows all the others", || {
                let nodes = raw.text(&["CLUSTER", "NODES"]);
                nodes.lines().count() == many && !nodes.contains("handshake")
            });
        }
        for n in self.masters..many {
            order(&mut raws[n], &["CLUSTER", "REPLICATE", &ids[n - self.masters]]);
        }
        for raw in &mut raws {
            soon("the cluster is up", || {
                let replicas = raw.text(&["CLUSTER", "NODES"]).matches("slave").count();
                raw.text(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
                    && replicas == many - self.masters
                    && masters_by(raw) == self.masters
            });
        }
        if many > self.masters {
            for (n, master) in self.nodes.iter().take(self.masters).enumerate() {
                wait_for_replica(master, &self.name_on(n));
            }
        }
    }

    fn first_slot(&self, master: usize) -> usize {
        SLOTS * master / self.masters
    }

    /// Knows one node, and has to find the others.
    pub fn dsn(&self, seed: usize) -> Dsn {
        Dsn::parse(&format!("redis+cluster://127.0.0.1:{}", self.nodes[seed].port)).unwrap()
    }

    pub fn queue(&self, name: &str) -> Queue {
        queue_of(self.dsn(0), name, Duration::from_secs(10))
    }

    /// The name of a queue that no other test uses, and that this master serves at first.
    pub fn name_on(&self, master: usize) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let name = format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed));
            let slot = usize::from(resolver::slot_of(name.as_bytes()));
            if (self.first_slot(master)..self.first_slot(master + 1)).contains(&slot) {
                return name;
            }
        }
    }

    /// Which master serves a queue at first.
    pub fn master_of(&self, tag: &str) -> usize {
        let slot = usize::from(resolver::slot_of(tag.as_bytes()));
        (0..self.masters).find(|n| slot < self.first_slot(n + 1)).unwrap()
    }

    pub fn id(&self, node: usize) -> String {
        self.nodes[node].raw().text(&["CLUSTER", "MYID"])
    }

    /// Opens a slot for its way from one master to another.
    pub fn open(&self, slot: u16, from: usize, to: usize) {
        let (slot, source, target) = (slot.to_string(), self.id(from), self.id(to));
        order(&mut self.nodes[to].raw(), &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]);
        order(&mut self.nodes[from].raw(), &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]);
    }

    /// Moves the keys of a slot one by one.
    pub fn move_keys(&self, slot: u16, from: usize, to: usize) -> usize {
        let (mut raw, port) = (self.nodes[from].raw(), self.nodes[to].port.to_string());
        let keys = crate::audit::list(&mut raw, &["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "100"]);
        for key in &keys {
            let key = String::from_utf8(key.clone()).unwrap();
            order(&mut raw, &["MIGRATE", "127.0.0.1", &port, &key, "0", "5000"]);
        }
        keys.len()
    }

    /// Gives a slot to its new master.
    pub fn close(&self, slot: u16, to: usize) {
        let id = self.id(to);
        let others = (0..self.masters).filter(|n| *n != to);
        for n in [to].into_iter().chain(others) {
            order(&mut self.nodes[n].raw(), &["CLUSTER", "SETSLOT", &slot.to_string(), "NODE", &id]);
        }
    }

    /// Moves a slot with all its keys.
    pub fn migrate(&self, slot: u16, from: usize, to: usize) {
        self.open(slot, from, to);
        self.move_keys(slot, from, to);
        self.close(slot, to);
    }
}

/// How many nodes serve slots, by this one. Their ids count: over a socket, newer servers name port 0 of a node that speaks only TLS.
fn masters_by(raw: &mut Raw) -> usize {
    let Value::Array(ranges) = raw.run(&["CLUSTER", "SLOTS"]) else { panic!() };
    let id = |range: &Value| {
        let Value::Array(parts) = range else { panic!() };
        let Value::Array(master) = &parts[2] else { panic!() };
        format!("{:?}", master[2])
    };
    ranges.iter().map(id).collect::<std::collections::HashSet<_>>().len()
}
