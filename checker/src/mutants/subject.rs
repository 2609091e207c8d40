//! A scenario of any service, as mutants are tried on it.

use std::fmt::Debug;

use fencepost_model::finding::Finding;
use fencepost_model::laws::{LawViolation, rough, struck};
use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::{Replies, Scenario};
use fencepost_model::service::Service;

use crate::check::check;
use crate::laws::Law;
use crate::options::Options;
use crate::outcome::InternalError;

/// A scenario of any service, as mutants are tried on it.
pub trait Subject: Debug + Send + Sync {
    /// The scenario's name.
    fn name(&self) -> &str;

    /// Another one like it.
    fn copy(&self) -> Box<dyn Subject>;

    /// Whether the mutation can make a difference in it.
    fn is_concerned_by(&self, mutation: Mutation) -> bool;

    /// What its promises come to with a mutation, or as it is.
    ///
    /// # Errors
    /// See [`check`].
    fn search(&self, mutation: Option<Mutation>, options: &Options) -> Result<Vec<Finding>, InternalError>;

    /// Checks a law on it, with a mutation or as it is, on these walks.
    ///
    /// # Errors
    /// The law is violated. The violation says where and how.
    fn obeys(
        &self,
        law: Law,
        mutation: Option<Mutation>,
        variant: Variant,
        walks: &[Vec<u16>],
    ) -> Result<(), LawViolation>;
}

/// A scenario as it is, or with more that goes wrong.
#[derive(Copy, Clone, Debug)]
pub enum Variant {
    /// The scenario without a mutation.
    AsIs,
    /// See [`rough`](fn@rough).
    Rough(Replies),
    /// See [`struck`](fn@struck).
    Struck,
}

impl<P: Service> Subject for Scenario<P> {
    fn name(&self) -> &str {
        &self.name
    }

    fn copy(&self) -> Box<dyn Subject> {
        Box::new(self.clone())
    }

    fn is_concerned_by(&self, mutation: Mutation) -> bool {
        Scenario::is_concerned_by(self, mutation)
    }

    fn search(&self, mutation: Option<Mutation>, options: &Options) -> Result<Vec<Finding>, InternalError> {
        let mutant = Scenario { mutation, ..self.clone() };
        Ok(check(&mutant, options)?.into_iter().map(|outcome| outcome.finding).collect())
    }

    fn obeys(
        &self,
        law: Law,
        mutation: Option<Mutation>,
        variant: Variant,
        walks: &[Vec<u16>],
    ) -> Result<(), LawViolation> {
        let varied = match variant {
            Variant::AsIs => self.clone(),
            Variant::Rough(replies) => rough(self, replies),
            Variant::Struck => struck(self),
        };
        law.check(&Scenario { mutation, ..varied }, walks)
    }
}
