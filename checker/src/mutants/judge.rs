//! What notices a mutant. Questions are asked in the order in which they cost little for what they notice: mutants of
//! reductions are asked about laws first, all others about verdicts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::mutation::{Judge, Mutation};
use fencepost_model::scenario::Replies;

use super::{Baseline, Noticed, Subject, Variant};
use crate::laws::{Law, walks};

/// The laws of a search, and those that explore, are checked on scenarios up to this size.
const SMALL: u64 = 2_500;

/// Both engines search scenarios up to this size.
const MEDIUM: u64 = 1_500;

/// Laws on walks are checked so often: on which variants of each scenario, and on how many walks of how many choices.
const ROUNDS: [(Variant, usize, usize); 6] = [
    (Variant::AsIs, 1, 40),
    (Variant::Struck, 1, 40),
    (Variant::Rough(Replies::Travel), 2, 60),
    (Variant::Rough(Replies::Instant), 1, 60),
    (Variant::Rough(Replies::Travel), 8, 60),
    (Variant::AsIs, 16, 120),
];

/// What mutants are tried on: scenarios as they are, in the order of their size.
#[derive(Debug, Default)]
pub struct Subjects {
    baselines: Vec<Baseline>,
    /// Those that a mutation may name, however large they are.
    named: Vec<Box<dyn Subject>>,
}

impl Subjects {
    /// Larger scenarios take too long to try every mutant on.
    pub const STATES_MAX: u64 = 10_000;

    /// These scenarios, the smallest first; and those that a mutation may name, however large they are.
    pub fn new(mut baselines: Vec<Baseline>, named: Vec<Box<dyn Subject>>) -> Self {
        baselines.sort_by_key(Baseline::states);
        Subjects { baselines, named }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.baselines.len()
    }

    /// Whether no promise is left to judge.
    pub fn is_empty(&self) -> bool {
        self.baselines.is_empty()
    }

    /// Those up to a size, and those beyond it.
    fn split_at(&self, states: u64) -> (&[Baseline], &[Baseline]) {
        self.baselines.split_at(self.baselines.partition_point(|baseline| baseline.states() <= states))
    }
}

/// The first that notices the mutant. If nothing does: the first count that changes, or the first panic.
pub fn noticed(mutation: Mutation, subjects: &Subjects) -> Noticed {
    let mut trial = Trial { mutation, subjects, least: Noticed::Nothing };
    let all = &subjects.baselines;
    if let Judge::In(name) = mutation.judge() {
        return trial.named(name).unwrap_or(trial.least);
    }
    let found = if mutation.layer().is_a_reduction() {
        trial.law().or_else(|| trial.engines()).or_else(|| trial.verdict(all))
    } else {
        trial.verdict(all).or_else(|| trial.law()).or_else(|| trial.engines())
    };
    found.unwrap_or(trial.least)
}

/// What noticed a mutant in an earlier trial.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Check {
    /// A verdict that changed.
    Verdict,
    /// A law that failed.
    Law(Law),
    /// The engines, which disagreed.
    Engines,
}

/// Asks one scenario about the mutant, and of that only one check: whether what noticed it in an earlier trial still does.
pub fn noticed_again(mutation: Mutation, baseline: Baseline, check: Check) -> Noticed {
    let subjects = Subjects::new(vec![baseline], Vec::new());
    let mut trial = Trial { mutation, subjects: &subjects, least: Noticed::Nothing };
    let found = match check {
        Check::Verdict => trial.verdict(&subjects.baselines),
        Check::Law(law) => trial.first_of(vec![law]),
        Check::Engines => subjects.baselines.iter().find_map(|baseline| baseline.splits_engines(mutation)),
    };
    found.unwrap_or(trial.least)
}

/// A mutant that is being asked about.
struct Trial<'a> {
    mutation: Mutation,
    subjects: &'a Subjects,
    /// The first count that changed, or the first panic.
    least: Noticed,
}

impl Trial<'_> {
    /// Keeps the first that is not nothing.
    fn keep(&mut self, found: Noticed) {
        if self.least == Noticed::Nothing {
            self.least = found;
        }
    }

    fn verdict(&mut self, baselines: &[Baseline]) -> Option<Noticed> {
        let mutation = self.mutation;
        for baseline in baselines.iter().filter(|baseline| baseline.is_concerned_by(mutation)) {
            let found = baseline.changed_by(self.mutation);
            if found.is_enough() {
                return Some(found);
            }
            self.keep(found);
        }
        None
    }

    /// A verdict in the scenario of the catalogue with that name, however large it is.
    fn named(&mut self, name: &str) -> Option<Noticed> {
        let subject = self.subjects.named.iter().find(|subject| subject.name() == name)?;
        let baseline = Baseline::of(subject.copy(), u64::MAX / 2).ok().flatten()?;
        self.verdict(&[baseline])
    }

    fn engines(&mut self) -> Option<Noticed> {
        let layer = self.mutation.layer();
        let is_asked = layer.is_of_the_search() || layer.is_a_reduction();
        let (small, _) = self.subjects.split_at(if is_asked { MEDIUM } else { 0 });
        small.iter().find_map(|baseline| baseline.splits_engines(self.mutation))
    }

    /// The first law that concerns the mutant and fails.
    fn law(&mut self) -> Option<Noticed> {
        let layer = self.mutation.layer();
        self.first_of(Law::ALL.iter().copied().filter(|law| law.concerns(layer)).collect())
    }

    /// The first of these laws that fails. Laws on walks are checked on all scenarios, with more and more walks; then those of searches.
    fn first_of(&mut self, laws: Vec<Law>) -> Option<Noticed> {
        let subjects = self.subjects;
        let (on_walks, on_searches): (Vec<Law>, Vec<Law>) = laws.into_iter().partition(|law| law.is_on_walks());
        for (variant, count, length) in ROUNDS.iter().copied().filter(|_| !on_walks.is_empty()) {
            let walks = walks(1, count, length);
            let found = subjects.baselines.iter().find_map(|baseline| self.fails(baseline, variant, &on_walks, &walks));
            if found.is_some() {
                return found;
            }
        }
        // That law draws graphs and asks no scenario: once is enough.
        let rest: Vec<Law> = on_searches.iter().copied().filter(|law| *law != Law::Fairness).collect();
        let (small, _) = subjects.split_at(SMALL);
        let mut laws = [&on_searches].into_iter().chain(std::iter::repeat(&rest));
        small.iter().find_map(|baseline| self.fails(baseline, Variant::AsIs, laws.next().unwrap_or(&rest), &[]))
    }

    /// The first of these laws that fails on a scenario.
    fn fails(&mut self, baseline: &Baseline, variant: Variant, laws: &[Law], walks: &[Vec<u16>]) -> Option<Noticed> {
        let name = || baseline.subject.name().to_owned();
        for law in laws {
            let check = |mutation| baseline.subject.obeys(*law, mutation, variant, walks);
            match catch_unwind(AssertUnwindSafe(|| check(Some(self.mutation)))) {
                Ok(Ok(())) => {}
                // A law that fails without the mutant, too, says nothing about it.
                Ok(Err(_)) if check(None).is_err() => {}
                Ok(Err(_)) => return Some(Noticed::Law { scenario: name(), law: *law }),
                Err(_) => self.keep(Noticed::Panic { scenario: name() }),
            }
        }
        None
    }
}
