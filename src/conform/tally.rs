//! Classes of answers, of whatever server, and how often each came up.

use std::fmt::{Debug, Write};
use std::marker::PhantomData;

use super::consul;

/// A kind of answers, with the rule that says so.
pub trait AnswerClass: Copy + Debug + Eq + 'static {
    /// Every class, in the order of declaration.
    const ALL: &'static [Self];

    /// Its place among these.
    fn place(self) -> usize;

    /// The rule by which the answer is what it is.
    fn rule(self) -> &'static str;

    /// What the answer says.
    fn text(self) -> &'static str;

    /// The page that states the rules of the server.
    const PAGE: &'static str;

    /// Further rules that no such answer comes without.
    fn also(self) -> &'static [&'static str];
}

/// Declares `Class`, the classes of answers of a server: the page of its rules, the function that tells of further rules; name, rule, and words.
macro_rules! classes {
    (page $page:literal, also $also:path; $($name:ident = $rule:literal $text:literal,)*) => {
        /// One class of answers.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[allow(missing_docs, reason = "each is said in words by `text`")]
        pub enum Class { $($name,)* }

        impl $crate::tally::AnswerClass for Class {
            const ALL: &'static [Class] = &[$(Class::$name,)*];

            fn place(self) -> usize {
                self as usize
            }

            fn rule(self) -> &'static str {
                match self { $(Class::$name => $rule,)* }
            }

            fn text(self) -> &'static str {
                match self { $(Class::$name => $text,)* }
            }

            const PAGE: &'static str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $page));

            fn also(self) -> &'static [&'static str] {
                $also(self)
            }
        }
    };
}
pub(crate) use classes;

/// The histogram of Consul's answers.
pub type Tally = Histogram<consul::Class>;

/// A histogram over the classes of answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram<C> {
    counts: Vec<u64>,
    of: PhantomData<C>,
}

impl<C: AnswerClass> Default for Histogram<C> {
    fn default() -> Self {
        Histogram { counts: vec![0; C::ALL.len()], of: PhantomData }
    }
}

impl<C: AnswerClass> Histogram<C> {
    /// One more.
    pub fn count(&mut self, class: C) {
        self.counts[class.place()] += 1;
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, others)| *mine += others);
    }

    /// All answers.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Each class with how often it came up.
    pub fn iter(&self) -> impl Iterator<Item = (C, u64)> + '_ {
        C::ALL.iter().copied().zip(self.counts.iter().copied())
    }

    /// Classes that came up less often than that.
    pub fn rarer_than(&self, count: u64) -> Vec<C> {
        self.iter().filter(|(_, seen)| *seen < count).map(|(class, _)| class).collect()
    }

    /// A line for each class; without those that never came up, if `all` is false.
    pub fn table(&self, all: bool) -> String {
        self.lines(|count| all || count > 0)
    }

    /// The classes that never came up, a line for each.
    pub fn never(&self) -> String {
        self.lines(|count| count == 0)
    }

    fn lines(&self, is_listed: impl Fn(u64) -> bool) -> String {
        let mut text = String::new();
        for (class, count) in self.iter().filter(|(_, count)| is_listed(*count)) {
            let _ = writeln!(text, "{count:8}  {:8}  {}", class.rule(), class.text());
        }
        text
    }
}
