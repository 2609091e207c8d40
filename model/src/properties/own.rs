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
    /// The level of truth that it is about.
    pub level: Level,
}

/// The memory of such a property from step to step: counts and flags, all 0 at the start. It is part of the explored
/// state, so a count needs an upper limit.
pub type Memory = [u32; 4];

/// Judges a transition and updates the memory. The error is a sentence that names the clients and the values.
pub type Judge<S> = fn(&View<'_, S>, &mut Memory) -> Result<(), String>;

/// A property with the function that judges it; see [`Scenario::own_property`].
pub struct Definition<S: Service> {
    /// The property, by its name.
    pub property: OwnProperty,
    /// The function that judges a transition.
    pub check: Judge<S>,
}

impl OwnProperty {
    /// Judges a transition by the scenario's definition.
    pub(super) fn check<S: Service>(self, view: &View<'_, S>, memory: &mut Memory) -> Result<(), String> {
        let place = view.scenario.place_of_own(self).expect("`validate` refuses an undefined property");
        (view.scenario.own_properties[place].check)(view, memory)
    }
}

impl<S: Service> Scenario<S> {
    /// The index of a property among those that the scenario defines.
    pub(crate) fn place_of_own(&self, property: OwnProperty) -> Option<usize> {
        self.own_properties.iter().position(|own| own.property == property)
    }

    /// Whether a promise is about a property that the scenario defines. Such a property may read anything, so explorers
    /// reduce less.
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
    /// Two properties are equal if their names are equal.
    fn eq(&self, other: &Self) -> bool {
        self.property == other.property
    }
}

impl<S: Service> fmt::Debug for Definition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.property, f)
    }
}
