//! The ghosts of properties. Facts update them, no process reads them, and only the ghosts that the promises of the
//! scenario need are kept.

use serde::{Deserialize, Serialize};

use super::{Property, Watched};
use crate::fact::{Ending, Fact};
use crate::ids::{ClientId, SessionId, Tenure, Token};
use crate::inline_vec::InlineVec;
use crate::keys::ByKey;
use crate::mutation::{KernelMutation, Mutation};
use crate::normal::Normal;
use crate::scenario::{Promise, Scenario};
use crate::service::{Administered, Event as _, Service, ServiceCommand as _, Settings as _};
use crate::time::{Instant, Since};
use crate::world::{Action, Condition, World};

/// The ghosts of the properties.
#[derive(PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Ghosts {
    /// The newest tenure on record.
    pub tenure: Tenure,
    /// Whether it is still on record.
    pub is_running: bool,
    /// For each client, the newest tenure that the service granted to it.
    pub held: InlineVec<Tenure, 3>,
    /// The newest tenure that touched the resource.
    pub touched: Tenure,
    /// The same for each key of the resource.
    #[serde(default, skip_serializing_if = "ByKey::is_empty")]
    pub touched_keys: ByKey<Tenure>,
    /// The highest token of any tenure so far.
    pub token: Token,
    /// The instant at which the end of a session last freed the lock, if no client has acquired it since.
    pub invalidated: Option<Since>,
    /// The limit, if administrators change it and a promise is about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// The instant since which no client believes to have the lock while a client is waiting; kept if a promise bounds
    /// that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Since>,
    /// For each read in progress, the owners since it began; kept if reads are promised to be linearizable.
    #[serde(default, skip_serializing_if = "no_reads")]
    #[normal(sorted)]
    pub reads: InlineVec<(ClientId, Option<ClientId>), 0>,
    /// For each session, the instant at which its TTL last started.
    #[normal(sorted)]
    pub renewed: InlineVec<(SessionId, Since), 3>,
}

impl Clone for Ghosts {
    fn clone(&self) -> Self {
        let mut copy = Ghosts::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        let Ghosts { tenure, is_running, held, touched, touched_keys, token, invalidated, limit, idle, reads, renewed } =
            other;
        (self.tenure, self.is_running, self.touched) = (*tenure, *is_running, *touched);
        self.touched_keys = *touched_keys;
        (self.token, self.invalidated, self.limit, self.idle) = (*token, *invalidated, *limit, *idle);
        self.held.clone_from(held);
        self.reads.clone_from(reads);
        self.renewed.clone_from(renewed);
    }
}

const TENURES: Watched = Watched::of(&[Property::NoLostUpdate, Property::SequencerSound, Property::SequencerComplete]);
const TOKENS: Watched = Watched::of(&[Property::TokenOrder]);
const INVALIDATIONS: Watched = Watched::of(&[Property::LockDelay]);
const RENEWALS: Watched = Watched::of(&[Property::TtlLowerBound]);
const LIMIT: Watched = Watched::of(&[Property::SlotLimit, Property::SlotLimitBelief]);
const IDLENESS: Watched = Watched::of(&[Property::EventuallyAcquired]);
const READS: Watched = Watched::of(&[Property::Linearizable, Property::VerifyTruthful]);

fn no_reads(reads: &InlineVec<(ClientId, Option<ClientId>), 0>) -> bool {
    reads.is_empty()
}

impl Ghosts {
    /// The initial ghosts of a scenario with that number of participants.
    pub fn new<P: Service>(scenario: &Scenario<P>, clients: usize) -> Self {
        let limit = scenario.service.capacity_at_start().filter(|_| scenario.watched().has_any(LIMIT));
        Ghosts { held: (0..clients).map(|_| Tenure::default()).collect(), limit, ..Ghosts::default() }
    }

    /// Updates the ghosts with a step: its facts, and the world that it led to.
    #[inline]
    pub fn remember<P: Service>(
        &mut self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        facts: &[Fact<P>],
        after: &World<P>,
    ) {
        self.remember_facts(scenario, after.now, facts);
        let watched = scenario.watched();
        self.remember_idleness(scenario, after, watched);
        self.remember_reads(scenario, action, after, watched);
    }

    /// Updates the ghosts with the facts of a step.
    pub fn remember_facts<P: Service>(&mut self, scenario: &Scenario<P>, now: Instant, facts: &[Fact<P>]) {
        if facts.is_empty() {
            return;
        }
        let watched = scenario.watched();
        facts.iter().for_each(|fact| self.remember_fact(now, fact, watched, scenario.mutation));
    }

    /// Updates the ghosts of one promise with a fact.
    fn remember_fact<P: Service>(
        &mut self,
        now: Instant,
        fact: &Fact<P>,
        watched: Watched,
        mutation: Option<Mutation>,
    ) {
        let is_mutated = |fault: KernelMutation| mutation == Some(fault.into());
        match *fact {
            Fact::Granted { client, token, fresh, .. } => {
                let fresh = fresh || is_mutated(KernelMutation::ReacquireIsFresh);
                self.invalidated = self.invalidated.filter(|_| is_mutated(KernelMutation::GrantKeepsInvalidation));
                if watched.has_any(TOKENS) {
                    self.token = self.token.max(token);
                }
                if watched.has_any(TENURES) {
                    if fresh {
                        self.tenure = self.tenure.next();
                        self.is_running = true;
                    }
                    self.held[client.place()] = self.tenure;
                }
            }
            Fact::Freed { by } => {
                self.is_running = self.is_running && is_mutated(KernelMutation::FreedKeepsRunning);
                if by == Ending::Invalidated && watched.has_any(INVALIDATIONS) {
                    self.invalidated = Some(Since(now));
                }
            }
            Fact::Renewed { session } if watched.has_any(RENEWALS) => {
                if is_mutated(KernelMutation::RenewalUnremembered)
                    && self.renewed.iter().any(|(other, _)| *other == session)
                {
                    return;
                }
                self.renewed.retain(|(other, _)| *other != session);
                self.renewed.insert_sorted((session, Since(now)));
            }
            Fact::Expired { session } | Fact::Destroyed { session } | Fact::Ended { session } => {
                self.renewed.retain(|(other, _)| *other != session);
            }
            Fact::Service(fact) => {
                if watched.has_any(LIMIT)
                    && let Some(limit) = fact.administered().and_then(Administered::limit)
                    && !is_mutated(KernelMutation::LimitUnremembered)
                {
                    self.limit = Some(limit);
                }
                if let Some((client, _)) = fact.read_ended() {
                    self.reads.retain(|(other, _)| *other != client);
                }
            }
            Fact::Written { tenure, key, .. } => {
                let key = key.filter(|_| !is_mutated(KernelMutation::KeysShareTenures));
                let touched = key.map_or(&mut self.touched, |key| self.touched_keys.of_mut(key));
                *touched = if is_mutated(KernelMutation::TouchedIsLast) { tenure } else { tenure.max(*touched) };
            }
            _ => {}
        }
    }

    /// The newest tenure that touched a key, or the resource as one thing.
    pub fn touched(&self, key: Option<u8>) -> Tenure {
        key.map_or(self.touched, |key| self.touched_keys.of(key))
    }

    fn remember_idleness<P: Service>(&mut self, scenario: &Scenario<P>, after: &World<P>, watched: Watched) {
        if watched.has_any(IDLENESS) && scenario.bounds_idleness() {
            // While the servers are paused, the bound does not apply to them.
            let counts = after.server.condition == Condition::Up && after.is_idle(scenario);
            let since = self.idle.filter(|_| !scenario.is_mutated(KernelMutation::IdlenessStartsAnew));
            self.idle = counts.then(|| since.unwrap_or(Since(after.now)));
        }
    }

    /// A read in progress may return any owner that had the lock at some instant since it began.
    fn remember_reads<P: Service>(
        &mut self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        after: &World<P>,
        watched: Watched,
    ) {
        if !watched.has_any(READS) {
            return;
        }
        let owners = P::record(&after.server.process, scenario).owners;
        let is_held = !owners.is_empty();
        let owners = owners.iter().copied().map(Some).chain((!is_held).then_some(None));
        let owners: Vec<Option<ClientId>> = owners.collect();
        let begun = match action {
            Action::Command { client, command } if command.begins_read() => Some(*client),
            _ => None,
        };
        let begun = begun.filter(|_| !scenario.is_mutated(KernelMutation::ReadsUnremembered));
        self.reads.retain(|(client, _)| Some(*client) != begun);
        let under_way: Vec<ClientId> = self.reads.iter().map(|(client, _)| *client).chain(begun).collect();
        for client in under_way {
            for owner in &owners {
                if !self.reads.contains(&(client, *owner)) {
                    self.reads.insert_sorted((client, *owner));
                }
            }
        }
    }
}

impl<P: Service> Scenario<P> {
    /// Whether the ghosts depend on every world of the execution, and not on facts only.
    pub fn looks_at_every_world(&self) -> bool {
        let watched = self.watched();
        watched.has_any(READS) || watched.has_any(Watched::OWN) || watched.has_any(IDLENESS) && self.bounds_idleness()
    }

    /// Whether a promise bounds the idle time of the lock.
    fn bounds_idleness(&self) -> bool {
        let is_it = |promise: &Promise| promise.property == Property::EventuallyAcquired && promise.bound.is_some();
        self.promises.iter().any(is_it)
    }
}
