//! The jobs of groups: each has one entry in the book of its group, and a group that could be served stands in line.

use super::{Snapshot, text};
use delayqueue::core::record::Record;
use std::collections::{BTreeMap, BTreeSet};

/// An entry of a book.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub group: Vec<u8>,
    pub id: Vec<u8>,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Held,
    /// It came back to an ordered group.
    First {
        due: i64,
    },
    Waits {
        priority: u32,
        due: i64,
    },
}

impl Entry {
    pub fn parse(member: &[u8]) -> Option<Self> {
        let at = member.iter().position(|byte| *byte == b'\n')?;
        let (group, rest) = (member[..at].to_vec(), &member[at + 1..]);
        let (kind, id) = match rest.split_first()? {
            (b'h', id) => (Kind::Held, id),
            (b'r', rest) => {
                let (due, id) = rest.split_first_chunk()?;
                (Kind::First { due: i64::from_be_bytes(*due) }, id)
            }
            (b'w', rest) => {
                let (priority, rest) = rest.split_first_chunk()?;
                let (due, id) = rest.split_first_chunk()?;
                (Kind::Waits { priority: u32::from_be_bytes(*priority), due: i64::from_be_bytes(*due) }, id)
            }
            _ => return None,
        };
        Some(Self { group, id: id.to_vec(), kind }).filter(|entry| !entry.id.is_empty())
    }
}

/// The words of a field of `limits`.
struct Limits {
    concurrency: Option<usize>,
    interval: i64,
    burst: i64,
    is_ordered: bool,
}

impl Snapshot {
    /// The entries of all books.
    pub fn entries(&self) -> Vec<Entry> {
        self.groups.iter().filter_map(|(member, _)| Entry::parse(member)).collect()
    }

    /// The jobs that came back to ordered groups.
    pub fn firsts(&self) -> impl Iterator<Item = Vec<u8>> {
        self.entries().into_iter().filter(|entry| matches!(entry.kind, Kind::First { .. })).map(|entry| entry.id)
    }

    pub(super) fn examine_books(&self, faults: &mut Vec<String>) {
        let mut expected = BTreeSet::new();
        let entries: BTreeSet<Entry> = self.entries().into_iter().collect();
        for (id, due) in &self.grouped {
            let Some(record) = self.jobs.get(id).and_then(|record| Record::decode(record.clone())) else { continue };
            let Some(group) = self.group_of(id) else { continue };
            let due = (*due).max(0);
            let first = Entry { group: group.clone(), id: id.clone(), kind: Kind::First { due } };
            let waits = Kind::Waits { priority: record.options.priority, due };
            let is_first = entries.contains(&first);
            expected.insert(if is_first { first } else { Entry { group, id: id.clone(), kind: waits } });
        }
        for (id, _) in &self.reserved {
            if let Some(group) = self.group_of(id) {
                expected.insert(Entry { group, id: id.clone(), kind: Kind::Held });
            }
        }
        let damaged =
            |entry: &&Entry| self.jobs.get(&entry.id).is_none_or(|record| Record::decode(record.clone()).is_some());
        for entry in entries.difference(&expected).filter(damaged) {
            faults.push(format!("'{}' has the entry {entry:?}", text(&entry.id)));
        }
        for entry in expected.difference(&entries) {
            faults.push(format!("'{}' has no entry {entry:?}", text(&entry.id)));
        }
        for (member, score) in &self.groups {
            if *score != 0 || Entry::parse(member).is_none() {
                faults.push(format!("groups has {}: {score}", text(member)));
            }
        }
    }

    fn limits_of(&self, group: &[u8]) -> Limits {
        let found = self.limits.get(group).or_else(|| self.limits.get(b"".as_slice()));
        let words = found.map(|found| text(found)).unwrap_or_default();
        let words: Vec<&str> = words.split(' ').collect();
        let number = |at: usize| words.get(at)?.parse::<i64>().ok();
        Limits {
            concurrency: number(0).and_then(|most| usize::try_from(most).ok()),
            interval: number(1).unwrap_or(0),
            burst: number(2).unwrap_or(1),
            is_ordered: number(4) == Some(1),
        }
    }

    /// A group that waits and has room stands in line, not later than it could be served.
    pub(super) fn examine_line(&self, latest: i64, faults: &mut Vec<String>) {
        // In the order of the books: a job that came back to an ordered group says alone when it goes on.
        let mut first_due: BTreeMap<Vec<u8>, (bool, i64)> = BTreeMap::new();
        let entries = self.entries();
        for entry in &entries {
            let (blocks, due) = match entry.kind {
                Kind::Held => continue,
                Kind::First { due } => (self.limits_of(&entry.group).is_ordered, due),
                Kind::Waits { due, .. } => (false, due),
            };
            let (is_blocked, first) = first_due.entry(entry.group.clone()).or_insert((blocks, due));
            if !*is_blocked {
                *first = due.min(*first);
            }
        }
        let score =
            |set: &[(Vec<u8>, i64)], name: &[u8]| set.iter().find(|(other, _)| other == name).map(|found| found.1);
        for (group, (_, due)) in first_due {
            let (limits, closing) = (self.limits_of(&group), [group.as_slice(), b"\n"].concat());
            let held = entries.iter().filter(|entry| entry.group == group && entry.kind == Kind::Held).count();
            let closed = score(&self.spent, &closing).unwrap_or(0);
            if limits.concurrency.is_some_and(|most| held >= most) || closed == i64::MAX {
                continue;
            }
            let spent = score(&self.spent, &group).filter(|_| limits.interval > 0).unwrap_or(0);
            let opens = spent - (limits.burst - 1) * limits.interval;
            let latest = latest.max(due).max(closed).max(opens);
            if score(&self.line, &group).is_none_or(|at| at > latest) {
                let found = score(&self.line, &group);
                let of_group: Vec<&Entry> = entries.iter().filter(|entry| entry.group == group).collect();
                let (name, limits) =
                    (text(&group), self.limits.get(&group).or_else(|| self.limits.get(b"".as_slice())));
                let limits = limits.map(|limits| text(limits));
                faults.push(format!(
                    "'{name}' stands in line at {found:?}, later than {latest}: {limits:?} {of_group:?}"
                ));
            }
        }
    }
}
