//! Every law under its name: those of the model and of reductions on walks, those of the search on whole scenarios. Tests check that they
//! hold; `mutants` checks that they fail where a mutant is switched on.
//!
//! ```text
//! forms      the normal form and symmetry change nothing that can be seen
//! lookup     a transition out of the cache is the transition
//! processes  a search in several processes comes to the same
//! store      a search on disk comes to the same, also when it is interrupted
//! search     engines, limits, fingerprints, counterexamples
//! subsumption  a covered world can do nothing more
//! symmetry   the same verdicts with symmetry and without
//! partial_order  what waits makes no difference
//! unheard    messages without a reaction make no difference
//! fairness   fair components against a naive twin, on random graphs
//! lasso      a counterexample without end closes, and is fair
//! late_faults  a loss or a pause that is left out is not needed there
//! draw       numbers for walks and graphs, from a seed
//! ```

mod draw;
mod fairness;
mod forms;
mod lasso;
mod late_faults;
mod lookup;
mod partial_order;
mod processes;
mod search;
mod store;
mod subsumption;
mod symmetry;
mod unheard;

use fencepost_model::laws as model;
use fencepost_model::monitor::ObservedStep;
use fencepost_model::mutation::Layer;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

pub use draw::{Draw, walks};
pub use fencepost_model::laws::LawViolation;

use crate::outcome::InternalError;

macro_rules! laws {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// A law.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Law { $($(#[doc = $doc])* $name,)* }

        impl Law {
            /// Every law, the cheapest first.
            pub const ALL: &'static [Law] = &[$(Law::$name,)*];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Law::$name => $text,)* }
            }
        }
    };
}

laws! {
    /// `is_enabled` says the same as `enabled`.
    Enabled = "enabled",
    /// No kind of fault happens more often than its budget allows.
    Budgets = "budgets",
    /// A fault has its effect, and a process that is down or paused does nothing.
    Faults = "faults",
    /// The assumptions of verdicts hold for every execution.
    Assumptions = "assumptions",
    /// A property and its naive twin find the same violations.
    Twins = "twins",
    /// A world and its normal form have the same successors.
    NormalForm = "normal-form",
    /// What is kept of a world over a step is what a second look finds.
    Renewal = "renewal",
    /// A transition out of the cache is the transition.
    Lookup = "lookup",
    /// A message without a reaction makes no difference.
    Unheard = "unheard",
    /// What a partial order chooses commutes with all else.
    PartialOrder = "partial-order",
    /// A loss or a pause that is left out commutes with what follows, and time does not need it.
    LateFaults = "late-faults",
    /// A world that another one covers can do nothing that the other cannot.
    Subsumption = "subsumption",
    /// Interchangeable clients are treated alike.
    Renaming = "renaming",
    /// Fair components are found as by a naive twin.
    Fairness = "fairness",
    /// A counterexample without end closes, and is fair.
    Lasso = "lasso",
    /// A search that a limit cut says so, and an exact limit cuts nothing.
    Limits = "limits",
    /// Different states have different fingerprints.
    Fingerprints = "fingerprints",
    /// A proof is vacuous where a goal is not reached.
    Goals = "goals",
    /// Both engines find a shortest counterexample of one length, and it replays.
    Counterexample = "counterexample",
    /// A search on disk that is interrupted after each level finds the same as one in memory.
    Store = "store",
    /// A search in several processes finds the same as one in a single process.
    Processes = "processes",
    /// Verdicts are the same with and without messages without a reaction.
    Silence = "silence",
    /// Verdicts with partial orders are those without.
    Order = "order",
    /// Violations are as short where losses and pauses are taken as late as possible.
    Lateness = "lateness",
    /// Verdicts are the same where covered worlds are left out.
    Covering = "covering",
    /// Verdicts with symmetry are those without.
    Symmetry = "symmetry",
}

impl Law {
    /// Whether the law is checked on walks; the others are checked on a whole search.
    pub fn is_on_walks(self) -> bool {
        self <= Law::Renaming
    }

    /// Whether the law may notice a mutant of the layer.
    pub fn concerns(self, layer: Layer) -> bool {
        let is = |name: &str| layer.name == name;
        match self {
            Law::Enabled | Law::Budgets | Law::Faults => is("world"),
            Law::Assumptions => is("world") || layer.is_of_a_service(),
            Law::Twins => is("world") || is("properties"),
            Law::NormalForm | Law::Renewal => is("normal form"),
            Law::Lookup => is("memo") || is("unheard"),
            Law::Unheard | Law::Silence => is("unheard"),
            Law::Subsumption | Law::Covering => is("subsumption"),
            Law::PartialOrder | Law::Order | Law::LateFaults | Law::Lateness => is("partial order"),
            Law::Renaming | Law::Symmetry => is("symmetry"),
            Law::Fairness | Law::Lasso => is("liveness"),
            Law::Limits | Law::Goals | Law::Counterexample => layer.is_of_the_search(),
            Law::Store => is("store"),
            Law::Processes => is("cluster"),
            Law::Fingerprints => is("engine") || is("normal form"),
        }
    }

    /// Checks the law on a scenario, with the mutant of the scenario switched on. Laws of searches take no walks.
    ///
    /// # Errors
    /// The law is violated. The violation says where and how.
    pub fn check<P: Service>(self, scenario: &Scenario<P>, walks: &[Vec<u16>]) -> Result<(), LawViolation> {
        let each = |law: fn(&Scenario<P>, &[u16]) -> Result<(), LawViolation>| {
            walks.iter().try_for_each(|walk| law(scenario, walk))
        };
        match self {
            Law::Enabled => each(model::enabled_and_is_enabled_agree),
            Law::Budgets => each(model::budgets_are_kept),
            Law::Faults => each(model::faults_have_their_effect),
            Law::Assumptions => each(model::assumptions_hold),
            Law::Twins => each(model::properties_agree_with_their_twins),
            Law::NormalForm => each(forms::normal_form_is_invisible),
            Law::Renewal => each(forms::renewal_is_invisible),
            Law::Lookup => lookup::lookup_is_invisible(scenario, walks),
            Law::PartialOrder => each(partial_order::choices_make_no_difference),
            Law::LateFaults => each(late_faults::late_faults_are_not_needed_before),
            Law::Subsumption => each(subsumption::covered_worlds_do_nothing_more),
            Law::Unheard => each(unheard::unheard_makes_no_difference),
            Law::Renaming => each(forms::symmetry_is_invisible),
            Law::Fairness => fairness::components_agree_with_their_twin(scenario.mutation),
            Law::Lasso => lasso::lassos_close(scenario),
            Law::Limits => search::limits_are_told(scenario),
            Law::Goals => search::proofs_reach_their_goals(scenario),
            Law::Fingerprints => search::fingerprints_differ(scenario),
            Law::Counterexample => search::counterexamples_are_shortest(scenario),
            Law::Store => store::stores_come_to_the_same(scenario),
            Law::Processes => processes::processes_come_to_the_same(scenario),
            Law::Silence => symmetry::verdicts_are_the_same_in_silence(scenario),
            Law::Order => symmetry::verdicts_are_the_same_in_partial_order(scenario),
            Law::Lateness => late_faults::violations_are_as_short(scenario),
            Law::Covering => symmetry::verdicts_are_the_same_without_covered_worlds(scenario),
            Law::Symmetry => symmetry::verdicts_are_the_same(scenario),
        }
    }
}

/// Fails unless the condition holds; the sentence is only made if it does not.
fn require(condition: bool, violation: impl FnOnce() -> String) -> Result<(), LawViolation> {
    if condition { Ok(()) } else { Err(LawViolation(violation())) }
}

/// A counterexample that cannot be repeated violates a law. A panic of the model does not: it is passed on as one.
fn expect<T>(result: Result<T, InternalError>) -> Result<T, LawViolation> {
    result.map_err(|error| {
        assert!(!matches!(error, InternalError::Panic(_)), "{error}");
        LawViolation(error.to_string())
    })
}

/// The properties that a step violates.
fn violated<P: Service>(step: &ObservedStep<P>) -> Vec<Property> {
    step.violations.iter().map(|violation| violation.property).collect()
}
