//! Validation: it refuses settings without meaning, and settings that would be ignored.

use super::{Budget, Scenario, Synchrony, UNLIMITED};
use crate::action_kind::ActionKind;
use crate::ids::ClientId;
use crate::properties::{Bound, OwnProperty, Property};
use crate::resource::Accepts;
use crate::service::{Service, Settings as _};
use crate::service_fault::ServiceFault;
use crate::time::{TICKS_MAX, Ticks};
use crate::work_queue::ITEMS_MAX;

/// A mistake in a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    /// The dotted path of the setting.
    pub path: String,
    /// The mistake, and what to write instead.
    pub message: String,
}

impl SettingError {
    /// A mistake at `path`.
    pub fn at(path: &str, message: impl Into<String>) -> Self {
        SettingError { path: path.to_owned(), message: message.into() }
    }
}

impl std::fmt::Display for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Budgets that only some services have.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OptionalBudget {
    /// `budget.operator`: operator actions.
    Operator,
    /// `budget.retries`: requests that a client gives up and sends again.
    Retries,
}

impl OptionalBudget {
    /// Every optional budget, in order.
    pub const ALL: [OptionalBudget; 2] = [OptionalBudget::Operator, OptionalBudget::Retries];
}

/// The most clients a scenario may have.
const CLIENTS_MAX: u16 = 10_000;

impl<P: Service> Scenario<P> {
    /// Looks for settings that contradict each other.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate(&self) -> Result<(), SettingError> {
        let wrong = |path: &str, message: &str| Err(SettingError::at(path, message));
        let budget = self.budget;
        if !P::SYSTEMS.contains(&self.system.as_str()) {
            return Err(SettingError::at(
                "system",
                format!("this is not a scenario of `{}`", P::SYSTEMS.join("` or `")),
            ));
        }
        if self.name.is_empty() || !self.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            return wrong("name", "use lower-case letters, digits and hyphens");
        }
        if !(1..=CLIENTS_MAX).contains(&self.clients) {
            return Err(SettingError::at("clients", format!("there must be from 1 to {CLIENTS_MAX} clients")));
        }
        if self.rounds == 0 {
            return wrong("rounds", "with 0 rounds no client asks for the lock; write at least 1");
        }
        if self.rounds == UNLIMITED && !P::HAS_ENDLESS_ROUNDS {
            return wrong("rounds", "the clients of this service count their rounds; write a number");
        }
        if budget.pauses > 0 && self.synchrony.message_delay.is_none() && self.synchrony.wake_delay.is_none() {
            return wrong(
                "budget.pauses",
                "a pause lifts the bounds of [synchrony], but there are none: every delay is unbounded. Set a bound, or remove `budget.pauses`",
            );
        }
        if budget.crashes > 0 && budget.restarts > budget.crashes {
            return wrong(
                "budget.restarts",
                "only a crashed client can restart: write at most `budget.crashes` restarts",
            );
        }
        if budget.resource_restarts > 0 && self.work_items == 0 && (self.resource == Accepts::All || self.writes == 0) {
            return wrong(
                "budget.resource_restarts",
                "the resource has nothing to forget: set `work_items`; or `writes`, and `resource` to something that it compares",
            );
        }
        // Programs write with the versions that they have read.
        if self.resource == Accepts::Unchanged && !self.has_programs_only() && self.service.tokens_are_indexes() {
            return wrong(
                "resource",
                "`unchanged` counts writes, and the clients of this service send log positions, of which only the order counts: use `not-lower` or `greater`",
            );
        }
        self.validate_work_queue()?;
        self.validate_fault_places()?;
        self.validate_clock_rate()?;
        if self.clocks.step == Ticks::ZERO {
            return wrong("clocks.step", "`clocks.step` must be at least 1");
        }
        if self.clocks.offsets.len() > usize::from(self.clients) {
            return wrong("clocks.offsets", "there are more offsets than clients; write one for each client");
        }
        if let Some(kind) = self.fairness.strong.iter().find(|kind| self.fairness.weak.contains(kind)) {
            return Err(SettingError::at(
                "fairness.strong",
                format!("`{kind}` is in `fairness.weak` as well; strong implies weak"),
            ));
        }
        if self.longest() > Ticks::new(TICKS_MAX) {
            return Err(SettingError::at("service", format!("a duration is longer than {TICKS_MAX} ticks")));
        }
        for (place, promise) in self.promises.iter().enumerate() {
            if let Property::Own(own) = promise.property {
                self.is_own(own).map_err(|message| SettingError::at(&format!("promise.{place}.property"), message))?;
            }
            let message = match (promise.property.bound(), promise.bound) {
                (Bound::Always, None) => {
                    format!("`{}` needs a bound: add `bound` to the promise", promise.property)
                }
                (Bound::Never, Some(_)) => {
                    format!("`{}` has no bound: remove `bound` from the promise", promise.property)
                }
                (Bound::Maybe, Some(_)) if !self.synchrony.is_complete() => format!(
                    "a bound needs bounded delays: set `synchrony.message_delay`, `synchrony.wake_delay` and `synchrony.server_delay`, or remove `bound` from the promise of `{}`",
                    promise.property
                ),
                _ => String::new(),
            };
            if !message.is_empty() {
                return Err(SettingError::at(&format!("promise.{place}.bound"), message));
            }
            if self.promises[..place].iter().any(|other| other.property == promise.property) {
                let message = format!("`{}` is promised twice", promise.property);
                return Err(SettingError::at(&format!("promise.{place}.property"), message));
            }
        }
        if !P::HAS_PROGRAMS && !self.programs.is_empty() {
            return wrong("program", "the clients of this service cannot run programs; leave it out");
        }
        self.faults_are_possible()?;
        // A service knows neither the properties that a scenario defines nor those of the resource's work queue.
        let is_known = |property: Property| !matches!(property, Property::Own(_)) && !property.is_about_items();
        if self.promises.iter().all(|promise| is_known(promise.property)) {
            P::Settings::validate(self)?;
        } else {
            P::Settings::validate(&self.judging(|promise| is_known(promise.property)))?;
        }
        self.prefix_actions().map(|_| ())
    }

    /// Whether the scenario defines the property, under a name that is not taken.
    fn is_own(&self, own: OwnProperty) -> Result<(), String> {
        if Property::ALL.iter().any(|other| other.name() == own.name) {
            return Err(format!("`{}` is the name of another property; choose a different one", own.name));
        }
        let is_defined = self.place_of_own(own).is_some();
        is_defined.then_some(()).ok_or_else(|| format!("`{}` is not defined: add it by `own_property`", own.name))
    }

    /// Removes kinds that cannot occur under these settings from shared caps. Budgets of older files counted more
    /// kinds.
    pub(crate) fn settle(&mut self) {
        let possible = (0..P::Fault::KINDS.len()).filter(|kind| P::Settings::fault_is_possible(self, *kind).is_ok());
        self.budget.keep_kinds(possible.fold(0, |bits, kind| bits | 1 << kind));
    }

    fn has_programs_only(&self) -> bool {
        let runs =
            |client| self.programs.iter().any(|program| program.client.is_none_or(|other| other == ClientId(client)));
        (1..=self.clients).all(runs)
    }

    fn validate_work_queue(&self) -> Result<(), SettingError> {
        if self.work_items > ITEMS_MAX {
            return Err(SettingError::at("work_items", format!("a work queue has at most {ITEMS_MAX} items")));
        }
        if self.work_items > 0 && self.programs.is_empty() {
            let message = "only programs handle items: add a `[[program]]` that takes them, or remove `work_items`";
            return Err(SettingError::at("work_items", message.to_owned()));
        }
        for (place, promise) in self.promises.iter().enumerate() {
            let property = promise.property;
            let path = format!("promise.{place}.property");
            if property.is_about_items() && self.work_items == 0 {
                return Err(SettingError::at(&path, format!("`{property}` is about a work queue: set `work_items`")));
            }
            let asks = self.fairness.weak.iter().chain(&self.fairness.strong).any(|kind| *kind == ActionKind::Command);
            if property == Property::EveryItemHandled && !asks {
                let message = format!(
                    "`{property}` needs users that ask for the lock: add `command` to `fairness.weak`, for without it no user ever has to"
                );
                return Err(SettingError::at(&path, message));
            }
        }
        Ok(())
    }

    fn validate_fault_places(&self) -> Result<(), SettingError> {
        for (number, place) in self.fault_places.iter().enumerate() {
            let wrong =
                |message: &str| Err(SettingError::at(&format!("fault_place.{number}.before"), message.to_owned()));
            if place.before.is_empty() {
                return wrong("write a part of the label of an action, as traces have it");
            }
            if place.before.contains(|c: char| c.is_ascii_digit()) {
                return wrong(
                    "clients, sessions and times have no numbers of their own here: write `#` for each number",
                );
            }
            if !place.fault.is_disturbance() {
                return wrong("only faults and operator actions can be kept to a place");
            }
        }
        Ok(())
    }

    /// Refuses a budget for faults that cannot occur under these settings.
    fn faults_are_possible(&self) -> Result<(), SettingError> {
        for cap in self.budget.caps() {
            for (kind, declared) in P::Fault::KINDS.iter().enumerate().filter(|(kind, _)| cap.counts(*kind)) {
                P::Settings::fault_is_possible(self, kind)
                    .map_err(|what| SettingError::at(&format!("budget.{}", declared.budget), what))?;
            }
        }
        Ok(())
    }

    /// Refuses a budget that the service does not have; for its
    /// [`Settings::validate`](crate::service::Settings::validate).
    ///
    /// # Errors
    /// The scenario has such a budget.
    pub fn has_none(&self, budgets: &[OptionalBudget]) -> Result<(), SettingError> {
        let Budget { operator, retries, .. } = self.budget;
        for budget in budgets {
            let (count, path) = match budget {
                OptionalBudget::Operator => (operator, "budget.operator"),
                OptionalBudget::Retries => (retries, "budget.retries"),
            };
            if count > 0 {
                return Err(SettingError::at(
                    path,
                    format!("a `{}` does not have this budget; remove it", self.system),
                ));
            }
        }
        Ok(())
    }

    /// The longest duration that the scenario names.
    fn longest(&self) -> Ticks {
        let Synchrony { message_delay, wake_delay, server_delay } = self.synchrony;
        let bounds = self.promises.iter().filter_map(|promise| promise.bound);
        let fixed = [self.service.longest(), self.clocks.skew, self.clocks.step];
        let offsets = self.clocks.offsets.iter().map(|offset| Ticks::new(offset.count().saturating_abs()));
        bounds
            .chain(fixed)
            .chain(offsets)
            .chain(message_delay)
            .chain(wake_delay)
            .chain(server_delay)
            .max()
            .unwrap_or_default()
    }
}
