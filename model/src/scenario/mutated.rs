//! The mutation of a scenario's model, if there is one.

use serde::{Deserialize, Deserializer};

use super::Scenario;
use crate::mutation::{Mutation, common};
use crate::service::Service;

/// Reads the mutation of a scenario: one of the kernel's, of the checker's, or of the scenario's service.
pub(super) fn read<'de, D: Deserializer<'de>>(own: &[Mutation], from: D) -> Result<Mutation, D::Error> {
    let name = String::deserialize(from)?;
    let found = own.iter().copied().chain(common()).find(|mutation| mutation.name() == name);
    found.ok_or_else(|| serde::de::Error::custom(format!("there is no mutation `{name}`")))
}

/// Every mutation that can have an effect in scenarios of a service: its own first, then those of kernel and checker.
pub fn known<P: Service>() -> impl Iterator<Item = Mutation> {
    P::MUTATIONS.iter().copied().chain(common())
}

impl<P: Service> Scenario<P> {
    /// Whether this mutation is switched on.
    #[inline]
    pub fn is_mutated(&self, mutation: impl Into<Mutation>) -> bool {
        self.mutation.is_some_and(|own| own.is(mutation))
    }

    /// Whether a mutation can have an effect here.
    pub fn is_concerned_by(&self, mutation: Mutation) -> bool {
        !mutation.layer().is_of_a_service() || P::MUTATIONS.contains(&mutation)
    }
}
