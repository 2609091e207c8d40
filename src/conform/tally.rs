//! How often each class of answers came up.

use std::fmt::Write;

use super::consul::Class;

/// A histogram over the classes of answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tally(Vec<u64>);

impl Default for Tally {
    fn default() -> Self {
        Tally(vec![0; Class::ALL.len()])
    }
}

impl Tally {
    /// One more.
    pub fn count(&mut self, class: Class) {
        self.0[class as usize] += 1;
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Tally) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, others)| *mine += others);
    }

    /// All answers.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Each class with how often it came up.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> + '_ {
        Class::ALL.iter().copied().zip(self.0.iter().copied())
    }

    /// Classes that came up less often than that.
    pub fn rarer_than(&self, count: u64) -> Vec<Class> {
        self.iter().filter(|(_, seen)| *seen < count).map(|(class, _)| class).collect()
    }

    /// A line for each class; without those that never came up, if `all` is false.
    pub fn table(&self, all: bool) -> String {
        let mut text = String::new();
        for (class, count) in self.iter().filter(|(_, count)| all || *count > 0) {
            let _ = writeln!(text, "{count:8}  {:8}  {}", class.rule(), class.text());
        }
        text
    }
}
