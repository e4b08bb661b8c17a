//! A sorted set: members in the order of their scores, and of their bytes where scores are equal.

use super::tree::Tree;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

pub type Member = Arc<[u8]>;

/// No score is NaN, and none is -0.
#[derive(Debug, Clone)]
pub struct Place {
    pub score: f64,
    pub member: Member,
}

fn compare(place: &Place, score: f64, member: &[u8]) -> Ordering {
    place.score.partial_cmp(&score).unwrap_or(Ordering::Equal).then_with(|| (*place.member).cmp(member))
}

#[derive(Debug, Clone, Default)]
pub struct Zset {
    scores: FxHashMap<Member, f64>,
    order: Tree<Place>,
    bytes: usize,
}

/// One end of a range of scores.
#[derive(Debug, Clone, Copy)]
pub struct ScoreEnd {
    pub score: f64,
    pub is_open: bool,
}

/// One end of a range of members.
#[derive(Debug, Clone, Copy)]
pub enum LexEnd<'a> {
    First,
    Last,
    Closed(&'a [u8]),
    Open(&'a [u8]),
}

/// What an entry takes beside its member: both of its places, and the counts of the shared bytes.
const ENTRY: usize = 96;

impl Zset {
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// About as many as it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// True: it was not there.
    pub fn insert(&mut self, member: &[u8], score: f64) -> bool {
        let score = score + 0.0; // no -0
        let known = self.scores.get_key_value(member).map(|(member, score)| (Arc::clone(member), *score));
        let (member, is_new) = match known {
            #[expect(clippy::float_cmp, reason = "as Redis compares them")]
            Some((_, old)) if old == score => return false,
            Some((member, old)) => {
                self.order.remove(|place| compare(place, old, &member));
                (member, false)
            }
            None => {
                self.bytes += member.len() + ENTRY;
                (Member::from(member), true)
            }
        };
        let place = Place { score, member: Arc::clone(&member) };
        self.order.insert(place, |other| compare(other, score, &member));
        self.scores.insert(member, score);
        is_new
    }

    pub fn remove(&mut self, member: &[u8]) -> bool {
        let Some((member, score)) = self.scores.remove_entry(member) else { return false };
        self.order.remove(|place| compare(place, score, &member));
        self.bytes -= member.len() + ENTRY;
        true
    }

    pub fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = self.score(member)?;
        Some(self.order.position(|place| compare(place, score, member) == Ordering::Less))
    }

    /// Positions from the first to the last one, below zero from the end.
    pub fn by_rank(&self, first: i64, last: i64) -> Range<usize> {
        let len = i64::try_from(self.len()).unwrap_or(i64::MAX);
        let at = |index: i64| if index < 0 { index.saturating_add(len) } else { index };
        let place = |index: i64| usize::try_from(index.clamp(0, len)).unwrap_or(0);
        let from = place(at(first));
        from..place(at(last).saturating_add(1)).max(from)
    }

    pub fn by_score(&self, low: ScoreEnd, high: ScoreEnd) -> Range<usize> {
        let is_below = |place: &Place| place.score < low.score || low.is_open && place.score <= low.score;
        let is_within = |place: &Place| place.score < high.score || !high.is_open && place.score <= high.score;
        self.between(is_below, is_within)
    }

    /// Of a set whose scores are all the same.
    pub fn by_name(&self, low: LexEnd<'_>, high: LexEnd<'_>) -> Range<usize> {
        let is_below = |place: &Place| match low {
            LexEnd::First => false,
            LexEnd::Last => true,
            LexEnd::Closed(low) => *place.member < *low,
            LexEnd::Open(low) => *place.member <= *low,
        };
        let is_within = |place: &Place| match high {
            LexEnd::First => false,
            LexEnd::Last => true,
            LexEnd::Closed(high) => *place.member <= *high,
            LexEnd::Open(high) => *place.member < *high,
        };
        self.between(is_below, is_within)
    }

    fn between(&self, is_below: impl Fn(&Place) -> bool, is_within: impl Fn(&Place) -> bool) -> Range<usize> {
        let (from, to) = (self.order.position(is_below), self.order.position(is_within));
        from..to.max(from)
    }

    /// The entries of these positions.
    pub fn at(&self, positions: Range<usize>) -> Vec<&Place> {
        self.order.range(positions.start, positions.end)
    }
}
