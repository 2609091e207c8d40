//! What was asked lately and answered. An answer may be forgotten at any time; it is looked for again then.

use std::hash::{Hash, Hasher};

use fencepost_model::hash::Fingerprinter;

/// Answers by question, each at the one place that the question's hash says: a newer one takes the place of an older one.
pub(super) struct Cache<K, V> {
    slots: Vec<Option<(K, V)>>,
    /// The logarithm of how many slots there may be.
    most: u32,
    /// How many answers were put in since it grew.
    news: usize,
}

/// The logarithm of how many slots there are at first: most searches are small.
const FEW: u32 = 6;

impl<K: Copy + Eq + Hash, V: Copy> Cache<K, V> {
    /// An empty cache, which grows to two to the power of this number of slots.
    pub(super) fn new(most: u32) -> Self {
        Cache { slots: vec![None; 1 << FEW], most, news: 0 }
    }

    /// What finds a question's place; asked for once, it serves for several calls.
    #[inline]
    pub(super) fn hash(question: &K) -> u64 {
        let mut hash = Fingerprinter::default();
        question.hash(&mut hash);
        hash.finish()
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        usize::try_from(hash >> (u64::BITS - self.slots.len().trailing_zeros())).expect("few bits are left")
    }

    /// Looks at the place of a question, so that it is in the processor's cache when it is asked. Returns some of what is there.
    #[inline]
    pub(super) fn touch(&self, hash: u64) -> bool {
        self.slots[self.place(hash)].is_some()
    }

    #[inline]
    pub(super) fn get(&self, question: &K) -> Option<V> {
        self.get_by(Self::hash(question), question)
    }

    /// The same for a question of which the hash is known.
    #[inline]
    pub(super) fn get_by(&self, hash: u64, question: &K) -> Option<V> {
        let (kept, answer) = self.slots[self.place(hash)].as_ref()?;
        (kept == question).then_some(*answer)
    }

    pub(super) fn put(&mut self, question: K, answer: V) {
        self.news += 1;
        if self.news > self.slots.len() && self.slots.len() < 1 << self.most {
            let room = (self.slots.len() * 4).min(1 << self.most);
            for (question, answer) in std::mem::replace(&mut self.slots, vec![None; room]).into_iter().flatten() {
                let place = self.place(Self::hash(&question));
                self.slots[place] = Some((question, answer));
            }
            self.news = 0;
        }
        let place = self.place(Self::hash(&question));
        self.slots[place] = Some((question, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_the_last_answer_or_none() {
        let mut cache = Cache::new(9);
        let mut found = 0;
        for question in 0_u32..2_000 {
            cache.put(question, question * 3);
            assert_eq!(cache.get(&question), Some(question * 3));
            let older = cache.get(&(question / 2));
            assert!(older.is_none_or(|answer| answer == question / 2 * 3));
            found += usize::from(older.is_some());
        }
        assert!((400..2_000).contains(&found), "some are remembered, and some forgotten: {found}");
        assert_eq!(cache.slots.len(), 1 << 9, "and not the four times as many that 256 become");
        cache.put(7, 1);
        assert_eq!(cache.get(&7), Some(1), "a newer answer counts");
    }
}
