//! Properties that a scenario defines in Rust, beside those that files can name.

use std::fmt;

use super::{Level, Property, View};
use crate::scenario::Scenario;
use crate::service::Service;

/// The name and the level of a property that a scenario defines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OwnProperty {
    /// The name used everywhere.
    pub name: &'static str,
    /// Which truth it is about.
    pub level: Level,
}

/// What such a property remembers from step to step: counts and flags, all 0 at the start. It is a part of the explored state, so
/// a count needs an upper limit.
pub type Memory = [u32; 4];

/// Judges a transition, and remembers what it needs of it. The error is a sentence that says who broke the promise, and how.
pub type Judge<S> = fn(&View<'_, S>, &mut Memory) -> Result<(), String>;

/// A property with the function that judges it; see [`Scenario::own_property`].
pub struct Definition<S: Service> {
    /// Its name.
    pub property: OwnProperty,
    /// Judges a transition.
    pub check: Judge<S>,
}

impl OwnProperty {
    /// Judges a transition by the scenario's definition.
    pub(super) fn check<S: Service>(self, view: &View<'_, S>, memory: &mut Memory) -> Result<(), String> {
        let place = view.scenario.place_of_own(self).expect("`validate` refuses a property that nobody defines");
        (view.scenario.own_properties[place].check)(view, memory)
    }
}

impl<S: Service> Scenario<S> {
    /// The place of a property among those that the scenario defines.
    pub(crate) fn place_of_own(&self, property: OwnProperty) -> Option<usize> {
        self.own_properties.iter().position(|own| own.property == property)
    }

    /// Whether some promise is about a property that the scenario defines. It may look at anything, so explorers reduce less.
    pub fn has_own_promises(&self) -> bool {
        self.promises.iter().any(|promise| matches!(promise.property, Property::Own(_)))
    }
}

impl<S: Service> Clone for Definition<S> {
    fn clone(&self) -> Self {
        Definition { ..*self }
    }
}

impl<S: Service> PartialEq for Definition<S> {
    /// Properties are told apart by their names.
    fn eq(&self, other: &Self) -> bool {
        self.property == other.property
    }
}

impl<S: Service> fmt::Debug for Definition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.property, f)
    }
}
