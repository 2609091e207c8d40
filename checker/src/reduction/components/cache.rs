//! What was asked lately and answered. An answer may be forgotten at any time; it is looked for again then.

use std::hash::{Hash, Hasher};

use fencepost_model::hash::Fingerprinter;

/// Answers by question, each at the one place that the question's hash says: a newer one takes the place of an older one. Questions are told
/// apart by all 64 bits of their hashes, as parts and worlds are.
pub(super) struct Cache<V> {
    /// Hashes of questions, or zeros where there is none, with the answers.
    slots: Vec<(u64, V)>,
    /// The logarithm of how many slots there may be.
    most: u32,
    /// How many answers were put in since it grew.
    news: usize,
}

/// The logarithm of how many slots there are at first: most searches are small.
const FEW: u32 = 6;

/// The hash of a question: never 0.
#[inline]
fn hash_of(question: &impl Hash) -> u64 {
    let mut hash = Fingerprinter::default();
    question.hash(&mut hash);
    hash.finish().max(1)
}

impl<V: Copy + Default> Cache<V> {
    /// An empty cache, which grows to two to the power of this number of slots.
    pub(super) fn new(most: u32) -> Self {
        Cache { slots: vec![Default::default(); 1 << FEW], most, news: 0 }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        usize::try_from(hash >> (u64::BITS - self.slots.len().trailing_zeros())).expect("few bits are left")
    }

    #[inline]
    pub(super) fn get(&self, question: &impl Hash) -> Option<V> {
        let hash = hash_of(question);
        let (kept, answer) = self.slots[self.place(hash)];
        (kept == hash).then_some(answer)
    }

    pub(super) fn put(&mut self, question: &impl Hash, answer: V) {
        self.news += 1;
        if self.news > self.slots.len() && self.slots.len() < 1 << self.most {
            let room = self.slots.len() * 4;
            for (hash, answer) in std::mem::replace(&mut self.slots, vec![Default::default(); room]) {
                if hash != 0 {
                    let place = self.place(hash);
                    self.slots[place] = (hash, answer);
                }
            }
            self.news = 0;
        }
        let hash = hash_of(question);
        let place = self.place(hash);
        self.slots[place] = (hash, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_the_last_answer_or_none() {
        let mut cache = Cache::new(8);
        let mut found = 0;
        for question in 0_u32..2_000 {
            cache.put(&question, question * 3);
            assert_eq!(cache.get(&question), Some(question * 3));
            let older = cache.get(&(question / 2));
            assert!(older.is_none_or(|answer| answer == question / 2 * 3));
            found += usize::from(older.is_some());
        }
        assert!((200..2_000).contains(&found), "some are remembered, and some forgotten: {found}");
        assert_eq!(cache.slots.len(), 1 << 8);
        cache.put(&7_u32, 1);
        assert_eq!(cache.get(&7_u32), Some(1), "a newer answer counts");
    }
}
