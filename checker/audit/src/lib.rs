//! Checks a certificate: a file that says why the promises of a scenario hold. `fencepost check --certificate` writes it.
//!
//! ```text
//! certificate  the file, as it is read
//! closed       each action of each world leads to a world of the file, and violates no promise
//! witness      how a successor becomes the world that stands for it: clients change places, instants are moved, numbers are renamed
//! endless      no fair execution is endless while a promise stays open
//! trust        what is believed and not checked
//! ```
//!
//! **It knows the kernel and the services, and nothing of the checker**: no search, no reduction, no cache, no normal form. It takes the steps
//! itself. A certificate that it accepts shows that the promises hold, whatever program wrote the certificate. It has at most 600 lines of code.

mod certificate;
mod closed;
mod endless;
mod trust;
mod witness;

use std::fmt;

use fencepost_model::properties::Property;
use fencepost_model::scenario::{Scenario, from_toml};
use fencepost_model::service::Service;
use thiserror::Error;

use crate::certificate::{Certified, header};

/// What a certificate shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audited {
    /// The scenario's name.
    pub scenario: String,
    /// The promises that hold.
    pub promises: Vec<Property>,
    /// How many worlds the certificate has.
    pub members: usize,
    /// How many transitions lead from one of them to one of them.
    pub transitions: usize,
    /// How many different witnesses it has.
    pub witnesses: usize,
    /// What is believed and not checked, as sentences.
    pub trusted: Vec<String>,
}

impl fmt::Display for Audited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promises: Vec<&str> = self.promises.iter().map(|promise| promise.name()).collect();
        writeln!(f, "{}: certified: {}", self.scenario, promises.join(", "))?;
        writeln!(f, "  {} worlds, {} transitions, {} witnesses", self.members, self.transitions, self.witnesses)?;
        writeln!(f, "  not checked, but believed:")?;
        self.trusted.iter().try_for_each(|sentence| writeln!(f, "    {sentence}"))
    }
}

/// Why a certificate shows nothing.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AuditError {
    /// It is no certificate, is damaged, or has another format: where, and what is wrong.
    #[error("no certificate that this program can read: {0}")]
    Unreadable(String),
    /// It is one, and does not show what it is meant to show; why not.
    #[error("refused: {0}")]
    Refused(String),
}

/// How a certificate is checked.
pub struct AuditOptions<'a> {
    /// The text of the scenario that it has to be about.
    pub wanted: Option<&'a str>,
    /// On how many threads.
    pub workers: usize,
    /// How many worlds, the first ones, an earlier run has checked. All are checked again where a promise is about endless executions.
    pub from: usize,
    /// Is told how many worlds have been checked, in large certificates from time to time.
    pub tell: &'a (dyn Fn(usize) + Sync),
}

/// Checks the text of a certificate.
///
/// # Errors
/// The first reason why it shows nothing.
pub fn audit(text: &str, options: &AuditOptions<'_>) -> Result<Audited, AuditError> {
    let system = header(text)?.system;
    let named = SERVICES.iter().find(|(systems, _)| systems.contains(&system.as_str()));
    let (_, audit) = named.ok_or_else(|| AuditError::Unreadable(format!("there is no system `{system}`")))?;
    audit(text, options)
}

type Audit = fn(&str, &AuditOptions<'_>) -> Result<Audited, AuditError>;

/// The services, each by the names of its systems.
const SERVICES: [(&[&str], Audit); 7] = [
    of::<fencepost_lease::Lease>(),
    of::<fencepost_consul::Consul>(),
    of::<fencepost_rabbitmq::RabbitMq>(),
    of::<fencepost_stores::Stores>(),
    of::<fencepost_redlock::Redlock>(),
    of::<fencepost_observed_lease::ObservedLease>(),
    of::<fencepost_etcd::Etcd>(),
];

const fn of<S: Service>() -> (&'static [&'static str], Audit) {
    (S::SYSTEMS, audit_of::<S>)
}

/// The same where the service is known: for services that do not ship with fencepost.
///
/// # Errors
/// The first reason why it shows nothing.
pub fn audit_of<S: Service>(text: &str, options: &AuditOptions<'_>) -> Result<Audited, AuditError> {
    let scenario =
        read::<S>(&header(text)?.scenario).map_err(|why| AuditError::Unreadable(format!("line 1: {why}")))?;
    if let Some(wanted) = options.wanted {
        let none = |why| format!("it is about `{}`, and the other file is of another service: {why}", scenario.name);
        read(wanted).map_err(none).and_then(|wanted| is_about(&scenario, &wanted)).map_err(AuditError::Refused)?;
    }
    let certified = Certified::read(text)?;
    let options = &AuditOptions { from: if certified.endless.is_empty() { options.from } else { 0 }, ..*options };
    if options.from > 0 && options.from >= certified.members.len() {
        let (members, from) = (certified.members.len(), options.from);
        return Err(AuditError::Unreadable(format!("it has {members} worlds, and none behind the first {from}")));
    }
    let worlds = closed::check(&certified, &scenario, options).map_err(AuditError::Refused)?;
    endless::check(&certified, &scenario, &worlds).map_err(AuditError::Refused)?;
    Ok(Audited {
        promises: scenario.promises.iter().map(|promise| promise.property).collect(),
        members: certified.members.len(),
        transitions: certified.transitions(),
        witnesses: certified.witnesses.len(),
        trusted: trust::trusted(&certified, &scenario, options.from),
        scenario: scenario.name,
    })
}

fn read<S: Service>(text: &str) -> Result<Scenario<S>, String> {
    let scenario = from_toml::<S>(text, "scenario").map_err(|error| error.to_string())?;
    let is_mutated = scenario.mutation.is_some();
    (!is_mutated).then_some(scenario).ok_or("the scenario has a `mutation`, so it is not about the service".to_owned())
}

/// Whether the certificate is about a scenario: about some of its promises, and the same in all else.
fn is_about<S: Service>(certified: &Scenario<S>, wanted: &Scenario<S>) -> Result<(), String> {
    let is_it = *certified == wanted.judging(|promise| certified.promises.contains(promise));
    let other = || format!("it is about the scenario `{}`, and not about this `{}`", certified.name, wanted.name);
    is_it.then_some(()).ok_or_else(other)
}
