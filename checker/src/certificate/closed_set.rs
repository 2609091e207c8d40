//! Every world that can be reached, breadth first, written as it is found.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::goal::{Goal, Reached};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::monitor::Observed;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Envelope, Host, Network, World};

use super::components::Fairly;
use super::lines::{CertificateHeader, CertificateLine, FORMAT, LayerLine, Witness, write};
use super::parts::PartTable;
use super::{CertificateError, CertificateSize};
use crate::limits::Progress;
use crate::options::Options;
use crate::outcome::InternalError;
use crate::reduction::Symmetry;
use crate::worlds::panicked;

/// How many worlds are expanded between two questions to the supervisor.
const ROUND: usize = 256;

/// The set while it grows.
pub(super) struct ClosedSet<'a, P: Service> {
    scenario: &'a Scenario<P>,
    out: &'a mut dyn io::Write,
    servers: PartTable<Host<P::Server>>,
    clients: PartTable<Host<P::Client>>,
    messages: PartTable<Envelope<P>>,
    /// What else there is: worlds with the server of the start, without clients and messages.
    frames: PartTable<Observed<P>>,
    witnesses: BTreeMap<Witness, u32>,
    /// Who may change places. Promises about endless executions follow each client, so there no client may.
    symmetry: Symmetry,
    /// For each world the numbers of its server, its frame, its clients and its messages.
    members: Vec<Box<[u32]>>,
    numbers: BTreeMap<Box<[u32]>, u32>,
    start: World<P>,
    transitions: u64,
    /// The graph, if a promise is about endless executions.
    fairly: Option<Fairly<'a, P>>,
}

impl<'a, P: Service> ClosedSet<'a, P> {
    /// The set of the initial world.
    pub(super) fn new(
        scenario: &'a Scenario<P>,
        fairly: Option<Fairly<'a, P>>,
        out: &'a mut dyn io::Write,
    ) -> Result<Self, CertificateError> {
        let header = CertificateHeader {
            fencepost_certificate: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            system: &scenario.system,
            scenario: scenario.to_toml(),
        };
        write(out, &header)?;
        let mut set = ClosedSet {
            scenario,
            out,
            servers: PartTable::default(),
            clients: PartTable::default(),
            messages: PartTable::default(),
            frames: PartTable::default(),
            witnesses: BTreeMap::new(),
            symmetry: if fairly.is_some() { Symmetry::none() } else { Symmetry::of(scenario) },
            members: Vec::new(),
            numbers: BTreeMap::new(),
            start: scenario.initial(),
            transitions: 0,
            fairly,
        };
        let (member, witness) = set.arrive(&scenario.observed())?;
        set.line(&CertificateLine::<P>::Start(member, witness))?;
        Ok(set)
    }

    /// Adds what can be reached, until there is nothing more.
    pub(super) fn explore(&mut self, options: &Options) -> Result<(), CertificateError> {
        let mut actions = Vec::new();
        let mut expanded = 0;
        while expanded < self.members.len() {
            if let Some(by) = self.must_stop(expanded, options) {
                return Err(CertificateError::Cut(by));
            }
            let expand = || self.expand(expanded, &mut actions);
            let done = catch_unwind(AssertUnwindSafe(expand))
                .map_err(|panic| InternalError::of_panic(panicked("a step of the closed set", &*panic)))?;
            done?;
            expanded += 1;
        }
        Ok(())
    }

    fn must_stop(&self, expanded: usize, options: &Options) -> Option<String> {
        if let Some(states) = options.limits.states.filter(|states| expanded as u64 >= *states) {
            return Some(format!("--max-states {states}"));
        }
        if !expanded.is_multiple_of(ROUND) {
            return None;
        }
        let states = self.members.len() as u64;
        let frontier = states - expanded as u64;
        options.supervisor.stop(&Progress { states, transitions: self.transitions, frontier, depth: 0 })
    }

    /// Writes a world with its transitions.
    fn expand(&mut self, number: usize, actions: &mut Vec<Action<P>>) -> Result<(), CertificateError> {
        let world = self.world(number);
        self.scenario.enabled(&world, actions);
        let mut targets = Vec::with_capacity(actions.len());
        let mut edges = Vec::new();
        for action in actions.iter() {
            let mut next = world.clone();
            let step = next.step(self.scenario, action);
            if let Some(violation) = step.violations.first() {
                return Err(CertificateError::Contradiction(violation.property));
            }
            let reached = self.scenario.reached(&step.facts);
            if self.scenario.has_reached(reached, Goal::LAP_CUT) {
                return Err(CertificateError::Cut("a lap of a program that is told too many things".to_owned()));
            }
            let target = self.arrive(&next)?;
            targets.push(target);
            self.note(action, reached, target.0, &mut edges);
        }
        if let Some(fairly) = &mut self.fairly {
            fairly.push(&world, edges);
        }
        self.transitions += targets.len() as u64;
        let member = &self.members[number];
        let (clients, messages) = member[2..].split_at(self.start.clients.len());
        write(&mut *self.out, &CertificateLine::<P, ()>::Member(member[0], member[1], clients, messages, &targets))?;
        Ok(())
    }

    fn note(&mut self, action: &Action<P>, reached: Reached, target: u32, edges: &mut Vec<(u32, u16)>) {
        if let Some(fairly) = &mut self.fairly {
            edges.push((target, fairly.label(action, reached)));
        }
    }

    /// The member that stands for a world, and the witness; what is new is added.
    fn arrive(&mut self, state: &Observed<P>) -> Result<(u32, u32), CertificateError> {
        let (mut world, mut renaming) = self.scenario.renamed_representative(state);
        let order = self.symmetry.order_of(&world);
        if let Some(order) = &order {
            (world, renaming) = self.scenario.renamed_representative(&state.arranged(order));
        }
        let member = self.number(world)?;
        let witness = Witness { order: order.unwrap_or_default(), renaming };
        let next = u32::try_from(self.witnesses.len()).expect("memory ends before");
        if let Some(known) = self.witnesses.get(&witness) {
            return Ok((member, *known));
        }
        self.line(&CertificateLine::<P>::Witness(&witness))?;
        self.witnesses.insert(witness, next);
        Ok((member, next))
    }

    /// The number of a world in normal form.
    fn number(&mut self, state: Observed<P>) -> io::Result<u32> {
        let Observed { mut world, monitor } = state;
        let server = std::mem::replace(&mut world.server, self.start.server.clone());
        let (clients, network) = (std::mem::take(&mut world.clients), std::mem::take(&mut world.network));
        let mut parts: Vec<u32> = Vec::with_capacity(2 + clients.len() + network.places().len());
        parts.push(numbered(&mut self.servers, server, self.out, |part| CertificateLine::<P, _>::Server(part))?);
        let frame = Observed { world, monitor };
        parts.push(numbered(&mut self.frames, frame, self.out, |part| CertificateLine::<P, _>::Frame(part))?);
        for client in &clients {
            parts.push(numbered(&mut self.clients, *client, self.out, |part| CertificateLine::<P, _>::Client(part))?);
        }
        for message in network.places() {
            parts
                .push(numbered(&mut self.messages, *message, self.out, |part| CertificateLine::<P, _>::Message(part))?);
        }
        let parts = parts.into_boxed_slice();
        if let Some(known) = self.numbers.get(&parts) {
            return Ok(*known);
        }
        let number = u32::try_from(self.members.len()).expect("memory ends before");
        self.members.push(parts.clone());
        self.numbers.insert(parts, number);
        Ok(number)
    }

    /// A world by its number.
    fn world(&self, number: usize) -> Observed<P> {
        let member = &self.members[number];
        let (clients, messages) = member[2..].split_at(self.start.clients.len());
        let mut state = self.frames.value(member[1]).clone();
        state.world.server = self.servers.value(member[0]).clone();
        state.world.clients = clients.iter().map(|part| *self.clients.value(*part)).collect::<InlineVec<_, 3>>();
        let mut network = Network::default();
        network.fill(messages.iter().map(|part| *self.messages.value(*part)));
        state.world.network = network;
        state
    }

    fn line(&mut self, line: &CertificateLine<'_, P>) -> io::Result<()> {
        write(&mut *self.out, line)
    }

    /// Writes why the promises about endless executions hold, and the end.
    pub(super) fn finish(mut self, endless: &[Property]) -> Result<CertificateSize, CertificateError> {
        if let Some(fairly) = self.fairly.take() {
            for class in fairly.classes() {
                self.line(&CertificateLine::Class(&class))?;
            }
            for property in endless {
                for obligation in fairly.obligations(*property) {
                    let layers = fairly.layers(obligation).ok_or(CertificateError::Contradiction(*property))?;
                    let lines =
                        layers.iter().map(|layer| LayerLine { component: &layer.component, missed: &layer.missed });
                    let number = obligation.client().map(|client| client.0);
                    self.line(&CertificateLine::<P>::Endless(*property, number, lines.collect()))?;
                }
            }
        }
        let (members, transitions) = (self.members.len() as u64, self.transitions);
        self.line(&CertificateLine::<P>::End(members, transitions))?;
        self.out.flush()?;
        Ok(CertificateSize { members, transitions })
    }
}

/// The number of a part; a new one is written.
fn numbered<'v, P: Service, T: std::hash::Hash + Eq + serde::Serialize + 'v>(
    table: &'v mut PartTable<T>,
    part: T,
    out: &mut dyn io::Write,
    line: impl FnOnce(&'v T) -> CertificateLine<'v, P, T>,
) -> io::Result<u32> {
    let (number, is_new) = table.number(part);
    if is_new {
        write(out, &line(table.value(number)))?;
    }
    Ok(number)
}
