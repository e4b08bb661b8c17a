//! A B-tree that counts: keys in their order, found by themselves or by position.

use std::cmp::Ordering;

/// Most keys of a leaf, and most children of a node.
const MOST: usize = 64;

#[derive(Debug, Clone)]
enum Node<K> {
    Leaf(Vec<K>),
    Inner(Vec<Child<K>>),
}

#[derive(Debug, Clone)]
struct Child<K> {
    /// Not above any key in it, and above all keys in front of it.
    low: K,
    len: usize,
    node: Node<K>,
}

/// Each key is there once. The caller says with each search where the key is that it looks for.
#[derive(Debug, Clone)]
pub struct Tree<K> {
    len: usize,
    root: Node<K>,
}

impl<K> Default for Tree<K> {
    fn default() -> Self {
        Self { len: 0, root: Node::Leaf(Vec::new()) }
    }
}

impl<K: Clone> Tree<K> {
    /// How many keys are `before`, which is true of the first keys and of none behind them.
    pub fn position(&self, before: impl Fn(&K) -> bool) -> usize {
        let (mut node, mut passed) = (&self.root, 0);
        loop {
            match node {
                Node::Leaf(keys) => return passed + keys.partition_point(|key| before(key)),
                Node::Inner(children) => {
                    let at = children.partition_point(|child| before(&child.low)).saturating_sub(1);
                    let (front, rest) = children.split_at(at);
                    passed += front.iter().map(|child| child.len).sum::<usize>();
                    let Some(child) = rest.first() else { return passed };
                    node = &child.node;
                }
            }
        }
    }

    /// Adds a key that is not there. `order` compares others with it.
    pub fn insert(&mut self, key: K, order: impl Fn(&K) -> Ordering) {
        self.len += 1;
        if let Some(right) = self.root.insert(key, &order) {
            let left = std::mem::replace(&mut self.root, Node::Inner(Vec::with_capacity(MOST + 1)));
            if let (Some(low), Node::Inner(children)) = (left.first(), &mut self.root) {
                children.extend([Child { low, len: self.len - right.len, node: left }, right]);
            }
        }
    }

    pub fn remove(&mut self, order: impl Fn(&K) -> Ordering) -> Option<K> {
        let gone = self.root.remove(&order)?;
        self.len -= 1;
        while let Node::Inner(children) = &mut self.root {
            match children.len() {
                0 => self.root = Node::Leaf(Vec::new()),
                1 => self.root = children.pop().map_or_else(|| Node::Leaf(Vec::new()), |child| child.node),
                _ => break,
            }
        }
        Some(gone)
    }

    /// The keys from one position up to another, which is left out.
    pub fn range(&self, from: usize, to: usize) -> Vec<&K> {
        let to = to.min(self.len);
        let mut found = Vec::with_capacity(to.saturating_sub(from));
        if from < to {
            self.root.collect(from, to, &mut found);
        }
        found
    }
}

/// Which of the children has the key, if it is there.
fn on_the_way<K>(children: &[Child<K>], order: &impl Fn(&K) -> Ordering) -> usize {
    children.partition_point(|child| order(&child.low) != Ordering::Greater).saturating_sub(1)
}

impl<K: Clone> Node<K> {
    fn len(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.len(),
            Self::Inner(children) => children.iter().map(|child| child.len).sum(),
        }
    }

    /// A key that is not above any in it.
    fn first(&self) -> Option<K> {
        match self {
            Self::Leaf(keys) => keys.first().cloned(),
            Self::Inner(children) => children.first().map(|child| child.low.clone()),
        }
    }

    /// Returns the second half of what has become too large.
    fn insert(&mut self, key: K, order: &impl Fn(&K) -> Ordering) -> Option<Child<K>> {
        let right = match self {
            Self::Leaf(keys) => {
                let at = keys.partition_point(|key| order(key) == Ordering::Less);
                keys.insert(at, key);
                (keys.len() > MOST).then(|| Self::Leaf(keys.split_off(MOST / 2)))?
            }
            Self::Inner(children) => {
                let at = on_the_way(children, order);
                let child = children.get_mut(at)?;
                if order(&child.low) == Ordering::Greater {
                    child.low = key.clone();
                }
                child.len += 1;
                let right = child.node.insert(key, order)?;
                child.len -= right.len;
                children.insert(at + 1, right);
                (children.len() > MOST).then(|| Self::Inner(children.split_off(MOST / 2)))?
            }
        };
        Some(Child { low: right.first()?, len: right.len(), node: right })
    }

    /// What is left of neighbours is not joined: a child is dropped when it is empty.
    fn remove(&mut self, order: &impl Fn(&K) -> Ordering) -> Option<K> {
        match self {
            Self::Leaf(keys) => {
                let at = keys.binary_search_by(order).ok()?;
                Some(keys.remove(at))
            }
            Self::Inner(children) => {
                let at = on_the_way(children, order);
                let child = children.get_mut(at)?;
                let gone = child.node.remove(order)?;
                child.len -= 1;
                if child.len == 0 {
                    children.remove(at);
                }
                Some(gone)
            }
        }
    }

    fn collect<'a>(&'a self, from: usize, to: usize, found: &mut Vec<&'a K>) {
        match self {
            Self::Leaf(keys) => found.extend(keys.get(from..to.min(keys.len())).unwrap_or_default()),
            Self::Inner(children) => {
                let mut passed = 0;
                for child in children {
                    if passed >= to {
                        return;
                    }
                    if passed + child.len > from {
                        child.node.collect(from.saturating_sub(passed), to - passed, found);
                    }
                    passed += child.len;
                }
            }
        }
    }
}
