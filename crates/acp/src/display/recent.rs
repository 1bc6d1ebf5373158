//! A map that forgets: what was used longest ago goes when there is too much.
//!
//! An agent decides how many tool calls and terminals there are in the life of a connection, so nothing that is
//! remembered for them may grow with their number. It knows nothing of what it holds but its weight.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A bounded map, by number and by weight.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    most: usize,
    heaviest: usize,
    weight: usize,
    clock: u64,
    entries: HashMap<K, Entry<V>>,
    order: BTreeMap<u64, K>,
}

#[derive(Debug)]
struct Entry<V> {
    used: u64,
    weight: usize,
    value: V,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// An empty one for so many entries of so many bytes together.
    pub(super) fn new(most: usize, heaviest: usize) -> Self {
        Self { most, heaviest, weight: 0, clock: 0, entries: HashMap::new(), order: BTreeMap::new() }
    }

    /// Remembers a value, and forgets others if it must. One that alone is too heavy is not remembered.
    pub(super) fn insert(&mut self, key: K, value: V, weight: usize) {
        self.remove(&key);
        if weight > self.heaviest {
            return;
        }
        self.clock += 1;
        self.weight += weight;
        self.order.insert(self.clock, key.clone());
        self.entries.insert(key, Entry { used: self.clock, weight, value });
        while self.entries.len() > self.most || self.weight > self.heaviest {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.take(&oldest);
        }
    }

    /// A value, without counting as use.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// A value to be changed, which is then the newest. Its weight stays.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        self.order.remove(&entry.used);
        self.clock += 1;
        entry.used = self.clock;
        self.order.insert(self.clock, key.clone());
        Some(&mut entry.value)
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.take(key)?;
        self.order.remove(&entry.used);
        Some(entry.value)
    }

    fn take(&mut self, key: &K) -> Option<Entry<V>> {
        let entry = self.entries.remove(key)?;
        self.weight -= entry.weight;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(recent: &Recent<u8, ()>) -> Vec<u8> {
        (0..=u8::MAX).filter(|key| recent.get(key).is_some()).collect()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut recent = Recent::new(3, 100);
        for key in 0..3 {
            recent.insert(key, (), 1);
        }
        assert!(recent.get_mut(&0).is_some());
        recent.insert(3, (), 1);
        assert_eq!(held(&recent), [0, 2, 3]);
        recent.insert(2, (), 1);
        recent.insert(4, (), 1);
        assert_eq!(held(&recent), [2, 3, 4]);
    }

    #[test]
    fn weight_counts_as_number_does_and_is_given_back() {
        let mut recent = Recent::new(100, 10);
        recent.insert(0, (), 6);
        recent.insert(1, (), 4);
        recent.insert(2, (), 1);
        assert_eq!(held(&recent), [1, 2]);
        assert_eq!(recent.remove(&1), Some(()));
        recent.insert(3, (), 9);
        assert_eq!(held(&recent), [2, 3]);
        recent.insert(4, (), 11);
        assert_eq!(held(&recent), [2, 3], "too heavy alone, and nothing else goes for it");
        recent.insert(3, (), 11);
        assert_eq!(held(&recent), [2], "nor is what it was before");
        assert_eq!((recent.weight, recent.order.len()), (1, 1));
    }
}
