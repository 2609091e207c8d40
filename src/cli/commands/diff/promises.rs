//! The promises of two scenarios, judged in both.

use fencepost::checker::InternalError;
use fencepost::model::finding::Verdict;
use fencepost::{AnyOutcome, AnyScenario, Expect, Promise, Property, Ticks};

use crate::args::Common;
use crate::exit::CommandError;
use crate::search_arguments::SearchArguments;

/// A promise as both scenarios keep it.
#[derive(Debug)]
pub struct Compared {
    pub promise: Promise,
    /// A and B.
    pub sides: [Judged; 2],
}

/// A promise as one scenario keeps it.
#[derive(Debug)]
pub enum Judged {
    /// The scenario was searched.
    Searched {
        outcome: Box<AnyOutcome>,
        /// Whether the scenario makes the promise itself.
        is_promised: bool,
    },
    /// The scenario cannot make the promise, for this reason.
    Impossible(String),
    /// The promise means something else in this scenario, for this reason.
    Incomparable(String),
}

/// The difference between A and B in one promise.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    Lost,
    Undecided,
    Gained,
    Kept,
    Neither,
}

impl Judged {
    /// Whether the scenario keeps the promise; none: the search does not decide it.
    fn is_kept(&self) -> Option<bool> {
        match self {
            Judged::Impossible(_) => Some(false),
            Judged::Incomparable(_) => None,
            Judged::Searched { outcome, .. } => match outcome.finding.verdict {
                Verdict::Proven(_) => Some(true),
                Verdict::Violated(_) => Some(false),
                Verdict::Bounded { .. } | Verdict::Vacuous { .. } => None,
            },
        }
    }
}

impl Compared {
    /// Whether the scenario of that side makes the promise itself.
    pub fn promised_by(&self, side: usize) -> bool {
        matches!(self.sides[side], Judged::Searched { is_promised: true, .. })
    }

    pub fn change(&self) -> Change {
        match [self.sides[0].is_kept(), self.sides[1].is_kept()] {
            [Some(true), Some(true)] => Change::Kept,
            [Some(true), Some(false)] => Change::Lost,
            [Some(false), Some(true)] => Change::Gained,
            [Some(false), Some(false)] => Change::Neither,
            [None, _] | [_, None] => Change::Undecided,
        }
    }
}

/// A promise, and which of the two scenarios make it.
struct Asked {
    promise: Promise,
    is_promised: [bool; 2],
}

impl Asked {
    /// A bound in ticks of another length is another bound.
    fn incomparable(&self, side: usize, have_same_ticks: bool) -> Option<Judged> {
        let is_other = !self.is_promised[side] && self.promise.bound.is_some() && !have_same_ticks;
        is_other.then(|| Judged::Incomparable("the bound is in ticks of another length".to_owned()))
    }
}

/// Searches both scenarios for every promise that either makes, or for one property only. What a scenario promises itself is
/// searched as `fencepost check` searches it; what it does not promise is searched apart from that.
pub fn compare(
    pair: &[Box<dyn AnyScenario>; 2],
    (arguments, only): (&SearchArguments, Option<Property>),
    common: &Common,
) -> Result<Vec<Compared>, CommandError> {
    let have_same_ticks = pair[0].tick() == pair[1].tick();
    let asked = asked(pair, only, have_same_ticks);
    let mut judged = Vec::new();
    for (side, scenario) in pair.iter().enumerate() {
        let unasked = asked.iter().map(|asked| asked.incomparable(side, have_same_ticks)).collect();
        judged.push(judge(&**scenario, side, (&asked, unasked), (arguments, only), common)?);
    }
    let of_b = judged.pop().expect("two sides");
    let of_a = judged.pop().expect("two sides");
    let sides = of_a.into_iter().zip(of_b);
    let compared =
        asked.iter().zip(sides).map(|(Asked { promise, .. }, (a, b))| Compared { promise: *promise, sides: [a, b] });
    let mut compared: Vec<Compared> = compared.collect();
    compared.sort_by_key(Compared::change);
    Ok(compared)
}

/// The promises of both, those of A first.
fn asked(pair: &[Box<dyn AnyScenario>; 2], only: Option<Property>, have_same_ticks: bool) -> Vec<Asked> {
    let is_wanted = |promise: &Promise| only.is_none_or(|only| only == promise.property);
    let of = |side: usize| pair[side].promises().iter().copied().filter(is_wanted);
    let mut asked: Vec<Asked> = of(0).map(|promise| Asked { promise, is_promised: [true, false] }).collect();
    for promise in of(1) {
        // Bounds in ticks of different lengths are different bounds.
        let is_same = |other: &&mut Asked| {
            let Promise { property, bound, .. } = other.promise;
            property == promise.property && bound == promise.bound && (have_same_ticks || bound.is_none())
        };
        match asked.iter_mut().find(is_same) {
            Some(same) => same.is_promised[1] = true,
            None => asked.push(Asked { promise, is_promised: [false, true] }),
        }
    }
    asked
}

/// Judges each of the promises in one scenario; `judged` has those that need no search.
fn judge(
    scenario: &dyn AnyScenario,
    side: usize,
    (asked, mut judged): (&[Asked], Vec<Option<Judged>>),
    (arguments, only): (&SearchArguments, Option<Property>),
    common: &Common,
) -> Result<Vec<Judged>, CommandError> {
    // The scenario with the promises that it does not make itself.
    let mut stranger = scenario.judging(&|_| false);
    for (Asked { promise, is_promised }, judged) in asked.iter().zip(&mut judged) {
        if is_promised[side] || judged.is_some() {
            continue;
        }
        match stranger.promising(Promise { expect: Expect::Proven, ..*promise }) {
            Ok(more) => stranger = more,
            Err(why) => *judged = Some(Judged::Impossible(why.message)),
        }
    }
    let mut own = 0;
    let outcomes = arguments.watched((scenario.name(), only), common, |options| {
        let mut outcomes = scenario.check(options)?;
        own = outcomes.len();
        if !stranger.promises().is_empty() {
            outcomes.extend(stranger.check(options)?);
        }
        Ok::<_, InternalError>(outcomes)
    })?;
    let searched = |Asked { promise, is_promised }: &Asked| {
        let among = if is_promised[side] { &outcomes[..own] } else { &outcomes[own..] };
        let is_it = |outcome: &&AnyOutcome| {
            let bound = promise.bound.map(Ticks::count);
            outcome.finding.property == promise.property && outcome.finding.bound == bound
        };
        let outcome = among.iter().find(is_it).expect("every promise is judged").clone();
        Judged::Searched { outcome: Box::new(outcome), is_promised: is_promised[side] }
    };
    Ok(asked.iter().zip(judged).map(|(asked, judged)| judged.unwrap_or_else(|| searched(asked))).collect())
}
