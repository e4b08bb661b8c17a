//! Which node of a cluster serves a slot.

use super::first_answer::{explained, first_answer};
use super::target;
use crate::core::connection::Fault;
use crate::core::dsn::{Dsn, Server, Target};
use crate::core::reply;
use crc::{CRC_16_XMODEM, Crc};
use redis::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::time::Duration;

pub const SLOTS: u16 = 16384;
/// So many nodes are asked at once besides those of the DSN. Each of them takes a thread, and the next time others are asked.
const MOST_ASKED: usize = 16;
const QUESTION: &[&[u8]] = &[b"CLUSTER", b"SLOTS"];

const CRC: Crc<u16, crc::Table<1>> = Crc::<u16, crc::Table<1>>::new(&CRC_16_XMODEM);

/// The slot of a hash tag, or of a key that has none.
#[must_use]
pub fn slot_of(tag: &[u8]) -> u16 {
    CRC.checksum(tag) % SLOTS
}

/// The slots of the tags that begin so and end with 0, 1, 2, and so on up to 9999.
pub fn slots_behind(head: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut begun = CRC.digest();
    begun.update(head);
    (0..10_000_u16).map(move |number| {
        let mut digest = begun.clone();
        digest.update(itoa::Buffer::new().format(number).as_bytes());
        digest.finalize() % SLOTS
    })
}

/// First and last slot of a range, and the node that serves it.
type Range = (u16, u16, Target);

/// Slots and their nodes, as the cluster last told.
#[derive(Default)]
pub(super) struct Slots {
    /// Later ranges replace earlier ones.
    ranges: Vec<(u16, u16, Arc<Server>)>,
    is_doubted: bool,
}

impl Slots {
    pub(super) fn doubt(&mut self) {
        self.is_doubted = true;
    }

    /// Each node with a slot of it.
    pub(super) fn nodes(&self) -> Vec<(u16, Arc<Server>)> {
        let (mut nodes, mut known) = (Vec::new(), FxHashSet::default());
        for (first, last, server) in &self.ranges {
            let is_served = |slot: &u16| self.serving(*slot).is_some_and(|serving| serving == server);
            if let Some(slot) = (*first..=*last).find(is_served)
                && known.insert(server)
            {
                nodes.push((slot, Arc::clone(server)));
            }
        }
        nodes
    }

    pub(super) fn moved(&mut self, slot: u16, server: Arc<Server>) {
        // A slot that moves to and fro must not make the list grow.
        self.ranges.retain(|(first, last, _)| (*first, *last) != (slot, slot));
        self.ranges.push((slot, slot, server));
    }

    pub(super) fn find(
        &mut self,
        dsn: &Dsn,
        seeds: &[Arc<Server>],
        slot: u16,
        time: Duration,
    ) -> Result<Arc<Server>, Fault> {
        if self.is_doubted || self.ranges.is_empty() {
            let nodes = self.asked(seeds);
            let explain = |why: &str| {
                let cure = if why.contains("cluster support disabled") {
                    ": this is no node of a cluster; use redis:// for a single server"
                } else {
                    ""
                };
                format!("no node of {} says which of them serves which slot ({why}){cure}", dsn.redacted())
            };
            let (ranges, _) =
                first_answer(&nodes, QUESTION, None, read, time).map_err(|fault| explained(fault, explain))?;
            let mut servers: FxHashMap<Target, Arc<Server>> = FxHashMap::default();
            let mut server =
                |node: Target| Arc::clone(servers.entry(node).or_insert_with_key(|node| dsn.server(node.clone())));
            self.ranges = ranges.into_iter().map(|(first, last, node)| (first, last, server(node))).collect();
            self.is_doubted = false;
        }
        let found = self.serving(slot).cloned();
        self.is_doubted = found.is_none();
        found.ok_or_else(|| Fault::Unsent(format!("no node of {} serves slot {slot}", dsn.redacted())))
    }

    /// The nodes of the DSN, and some of those that are known.
    fn asked(&self, seeds: &[Arc<Server>]) -> Vec<Arc<Server>> {
        let mut nodes = seeds.to_vec();
        let begin = getrandom::u32().unwrap_or(0) as usize % self.ranges.len().max(1);
        for (_, _, node) in self.ranges.iter().cycle().skip(begin).take(self.ranges.len()) {
            if nodes.len() < seeds.len() + MOST_ASKED && !nodes.contains(node) {
                nodes.push(Arc::clone(node));
            }
        }
        nodes
    }

    fn serving(&self, slot: u16) -> Option<&Arc<Server>> {
        let serves = |(first, last, _): &&(u16, u16, Arc<Server>)| (*first..=*last).contains(&slot);
        self.ranges.iter().rev().find(serves).map(|(_, _, server)| server)
    }
}

fn read(value: &Value, asked: &Server) -> Result<Vec<Range>, String> {
    let Value::Array(ranges) = value else { return Err("this is not an answer to CLUSTER SLOTS".into()) };
    let ranges: Vec<Range> = ranges.iter().filter_map(|range| read_range(range, asked)).collect();
    // Such an answer comes first easily, and the others know better.
    if ranges.is_empty() { Err("it knows no node that serves a slot".into()) } else { Ok(ranges) }
}

/// First slot, last slot, then the master and its replicas, each as host and port and more.
fn read_range(range: &Value, asked: &Server) -> Option<Range> {
    let Value::Array(parts) = range else { return None };
    let slot = |part: Option<&Value>| u16::try_from(reply::int(part?.clone())?).ok();
    let Value::Array(master) = parts.get(2)? else { return None };
    let host = master.first().cloned().and_then(reply::text).unwrap_or_default();
    let port = u16::try_from(reply::int(master.get(1)?.clone())?).ok()?;
    Some((slot(parts.first())?, slot(parts.get(1))?, at(&host, port, asked)))
}

/// A node that does not know its own address leaves it out: it has that under which it was asked.
fn at(host: &str, port: u16, asked: &Server) -> Target {
    match &asked.target {
        Target::Tcp { host: known, .. } if host.is_empty() || host == "?" => target(known, port),
        _ => target(host, port),
    }
}

/// A node does not serve the slot of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Redirection {
    /// From now on, another one does.
    Moved(u16, Target),
    /// Another one serves this request; the slot is on its way there.
    Ask(Target),
}

impl Redirection {
    /// Reads an error of Redis: `MOVED` or `ASK`, then slot and address.
    #[must_use]
    pub fn read(code: &str, details: &str, asked: &Server) -> Option<Self> {
        let mut words = details.split_ascii_whitespace();
        let slot = words.next()?.parse().ok()?;
        let (host, port) = words.next()?.rsplit_once(':')?;
        let target = at(host.trim_start_matches('[').trim_end_matches(']'), port.parse().ok()?, asked);
        match code {
            "MOVED" => Some(Self::Moved(slot, target)),
            "ASK" => Some(Self::Ask(target)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str) -> Server {
        Server { target: target(host, 7000), login: Default::default() }
    }

    #[test]
    fn slots_are_those_of_redis() {
        assert_eq!((slot_of(b"123456789"), slot_of(b"orders"), slot_of(b"")), (12739, 105, 0));
    }

    #[test]
    fn a_node_that_has_left_the_cluster_gives_no_good_answer() {
        let bulk = |text: &str| Value::BulkString(text.into());
        let master = Value::Array(vec![bulk("10.0.0.2"), Value::Int(6381), bulk("id")]);
        let range = Value::Array(vec![Value::Int(0), Value::Int(99), master]);
        let asked = server("n1");
        assert_eq!(read(&Value::Array(vec![range]), &asked), Ok(vec![(0, 99, target("10.0.0.2", 6381))]));
        assert!(read(&Value::Array(vec![]), &asked).is_err());
        assert!(read(&Value::Okay, &asked).is_err());
    }

    #[test]
    fn reads_redirections() {
        let read = |code, details| Redirection::read(code, details, &server("n1"));
        assert_eq!(read("MOVED", "3999 10.0.0.2:6381"), Some(Redirection::Moved(3999, target("10.0.0.2", 6381))));
        assert_eq!(read("ASK", "3999 ::1:6381"), Some(Redirection::Ask(target("::1", 6381))));
        assert_eq!(read("MOVED", "3999 :6381"), Some(Redirection::Moved(3999, target("n1", 6381))));
        for (code, details) in
            [("ERR", "3999 h:1"), ("MOVED", "x h:1"), ("MOVED", "1 h"), ("MOVED", ""), ("MOVED", "99999 h:1")]
        {
            assert_eq!(read(code, details), None, "{code} {details}");
        }
    }

    #[test]
    fn a_few_nodes_are_asked_however_many_there_are() {
        let nodes: Vec<Arc<Server>> = (0..SLOTS).map(|slot| Arc::new(server(&format!("n{slot}")))).collect();
        let ranges = (0..SLOTS).zip(&nodes).map(|(slot, node)| (slot, slot, Arc::clone(node))).collect();
        let (slots, seed) = (Slots { ranges, is_doubted: true }, Arc::new(server("seed")));
        let asked = slots.asked(std::slice::from_ref(&seed));
        assert_eq!((asked.len(), asked.first()), (1 + MOST_ASKED, Some(&seed)));
        assert_ne!(asked, slots.asked(&[seed]), "others the next time");
        assert_eq!(Slots::default().asked(&nodes[..3]).len(), 3);
    }

    #[test]
    fn a_slot_that_moved_is_at_its_new_node() {
        let dsn = Dsn::parse("redis+cluster://n1").unwrap();
        let (one, two) = (Arc::new(server("n1")), Arc::new(server("n2")));
        let mut slots = Slots { ranges: vec![(0, 16383, Arc::clone(&one))], is_doubted: false };
        for _ in 0..3 {
            slots.moved(5, Arc::clone(&two));
        }
        let mut find = |slot| slots.find(&dsn, &[], slot, Duration::ZERO).unwrap();
        assert_eq!((find(4), find(5), find(6)), (Arc::clone(&one), two, one));
        assert_eq!(slots.ranges.len(), 2);
    }
}
