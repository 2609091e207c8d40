//! Settings without effect, because the budget that they need is 0. They are not errors: a control scenario has the
//! same settings as its experiment, and a budget of 0.

use super::{Links, Scenario};
use crate::service::{Service, Settings as _};
use crate::time::Ticks;

/// A setting that has no effect in this scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The dotted path of the setting.
    pub path: String,
    /// The reason.
    pub message: String,
}

impl Note {
    /// A note on the setting at `path`: this budget is zero.
    pub fn without_budget(path: &str, budget: &str) -> Self {
        Note { path: path.to_owned(), message: format!("it has no effect, because `budget.{budget}` is 0") }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl<P: Service> Scenario<P> {
    /// The settings that have no effect.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.clocks.skew > Ticks::ZERO && self.budget.slips == 0 {
            notes.push(Note::without_budget("clocks.skew", "slips"));
        }
        if self.budget.slips > 0 && self.clocks.skew == Ticks::ZERO {
            let message = "it has no effect, because `clocks.skew` is 0: no clock may move".to_owned();
            notes.push(Note { path: "budget.slips".to_owned(), message });
        }
        if self.network != (Links { replies: self.network.replies, ..Links::default() }) && self.budget.cuts == 0 {
            notes.push(Note::without_budget("network", "cuts"));
        }
        if self.budget.restarts > 0 && self.budget.crashes == 0 {
            notes.push(Note::without_budget("budget.restarts", "crashes"));
        }
        for (number, place) in self.fault_places.iter().enumerate() {
            if !self.budget.allows(place.fault) {
                let message = format!("it has no effect, because there is no budget for `{}`", place.fault);
                notes.push(Note { path: format!("fault_place.{number}"), message });
            }
        }
        notes.extend(P::Settings::notes(self));
        notes
    }
}
