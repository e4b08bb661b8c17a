//! A sorted set: members in the order of their scores, and of their bytes where scores are equal.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

type Member = Arc<[u8]>;

/// No score is NaN, and none is -0.
#[derive(Debug, Clone)]
pub struct Place {
    pub score: f64,
    pub member: Member,
}

fn compare(place: &Place, score: f64, member: &[u8]) -> Ordering {
    place.score.partial_cmp(&score).unwrap_or(Ordering::Equal).then_with(|| (*place.member).cmp(member))
}

/// Most places of one list in [`Order`].
const MOST: usize = 256;

/// All places in their order, as lists one behind the other, of which none is empty: a position is found by counting lists, and few places move
/// where one comes or goes. Whoever searches says what lies in front of the place.
#[derive(Debug, Clone, Default)]
struct Order {
    lists: Vec<Vec<Place>>,
}

impl Order {
    /// The list with the first place that is not `before`, and where it is there. Behind all places it is the end of the last list.
    fn find(&self, before: impl Fn(&Place) -> bool) -> (usize, usize) {
        let list = self.lists.partition_point(|list| list.last().is_some_and(&before));
        let list = list.min(self.lists.len().saturating_sub(1));
        (list, self.lists.get(list).map_or(0, |places| places.partition_point(before)))
    }

    /// How many places are `before`.
    fn position(&self, before: impl Fn(&Place) -> bool) -> usize {
        let (list, at) = self.find(before);
        self.lists.iter().take(list).map(Vec::len).sum::<usize>() + at
    }

    /// One that is not there.
    fn insert(&mut self, place: Place) {
        let (list, at) = self.find(|other| compare(other, place.score, &place.member) == Ordering::Less);
        let Some(places) = self.lists.get_mut(list) else {
            self.lists.push(vec![place]);
            return;
        };
        places.insert(at, place);
        if places.len() > MOST {
            let rest = places.split_off(MOST / 2);
            self.lists.insert(list + 1, rest);
        }
    }

    /// One that is there.
    fn remove(&mut self, score: f64, member: &[u8]) {
        let (list, at) = self.find(|other| compare(other, score, member) == Ordering::Less);
        let Some(places) = self.lists.get_mut(list) else { return };
        places.remove(at);
        if places.is_empty() {
            self.lists.remove(list);
        }
    }

    fn range(&self, positions: Range<usize>) -> Vec<&Place> {
        let (mut passed, mut found) = (0, Vec::with_capacity(positions.len()));
        for places in &self.lists {
            if passed >= positions.end {
                break;
            }
            let (from, to) = (positions.start.saturating_sub(passed), positions.end - passed);
            found.extend(places.get(from..to.min(places.len())).unwrap_or_default());
            passed += places.len();
        }
        found
    }
}

#[derive(Debug, Clone, Default)]
pub struct Zset {
    scores: FxHashMap<Member, f64>,
    order: Order,
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
                self.order.remove(old, &member);
                (member, false)
            }
            None => {
                self.bytes += member.len() + ENTRY;
                (Member::from(member), true)
            }
        };
        self.order.insert(Place { score, member: Arc::clone(&member) });
        self.scores.insert(member, score);
        is_new
    }

    pub fn remove(&mut self, member: &[u8]) -> bool {
        let Some((member, score)) = self.scores.remove_entry(member) else { return false };
        self.order.remove(score, &member);
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
        self.order.range(positions)
    }
}
