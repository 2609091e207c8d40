//! The file as it is read: JSON lines. Parts, witnesses, members and classes are numbered by their order, from 0.

use fencepost_model::inline_vec::InlineVec;
use fencepost_model::monitor::{Observed, Renaming};
use fencepost_model::properties::Property;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Envelope, Host, Network};
use serde::Deserialize;

use crate::AuditError;

/// The format that is read.
pub(crate) const FORMAT: u32 = 2;

/// The first line.
#[derive(Deserialize)]
pub(crate) struct AuditHeader {
    fencepost_certificate: u32,
    /// The system whose service reads the rest.
    pub(crate) system: String,
    /// The scenario as a file, with the promises that are certified.
    pub(crate) scenario: String,
}

/// Every other line.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", bound = "")]
enum AuditLine<S: Service> {
    Server(Box<Host<S::Server>>),
    Client(Host<S::Client>),
    Message(Envelope<S>),
    Frame(Box<Observed<S>>),
    Witness(CertifiedWitness),
    Start(u32, u32),
    Member(CertifiedMember),
    Class(Action<S>),
    Endless(EndlessProof),
    End(usize, usize),
}

/// A world of the certificate, by the numbers of its parts; and for each action that is enabled in it, in order, the member that stands for
/// the successor, and the witness.
#[derive(Deserialize)]
pub(crate) struct CertifiedMember {
    server: u32,
    frame: u32,
    clients: Vec<u32>,
    messages: Vec<u32>,
    pub(crate) targets: Vec<(u32, u32)>,
}

/// How a world becomes the one that stands for it: clients change places, if there is an order of them; then instants and numbers change.
#[derive(Deserialize)]
pub(crate) struct CertifiedWitness {
    /// For each place the place of the client that stands there afterwards.
    #[serde(default)]
    pub(crate) order: Vec<usize>,
    #[serde(flatten)]
    pub(crate) renaming: Renaming,
}

/// For each member its component, if it counts here; and for components the class of actions that is never taken in them.
#[derive(Deserialize)]
pub(crate) struct AuditLayer {
    pub(crate) component: Vec<Option<u32>>,
    pub(crate) missed: Vec<(u32, u16)>,
}

/// Why a promise about endless executions holds, for one client or for all together.
type EndlessProof = (Property, Option<u16>, Vec<AuditLayer>);

/// A certificate.
pub(crate) struct Certified<S: Service> {
    servers: Vec<Box<Host<S::Server>>>,
    clients: Vec<Host<S::Client>>,
    messages: Vec<Envelope<S>>,
    frames: Vec<Box<Observed<S>>>,
    pub(crate) witnesses: Vec<CertifiedWitness>,
    pub(crate) members: Vec<CertifiedMember>,
    pub(crate) start: (u32, u32),
    pub(crate) classes: Vec<Action<S>>,
    pub(crate) endless: Vec<EndlessProof>,
}

fn unreadable<T>(line: usize, why: impl std::fmt::Display) -> Result<T, AuditError> {
    Err(AuditError::Unreadable(format!("line {line}: {why}")))
}

/// Reads the first line.
pub(crate) fn header(text: &str) -> Result<AuditHeader, AuditError> {
    let first = text.lines().next().unwrap_or_default();
    let header: AuditHeader = serde_json::from_str(first).or_else(|error| unreadable(1, error))?;
    match header.fencepost_certificate {
        FORMAT => Ok(header),
        other => unreadable(1, format!("the format is {other}, and this program reads format {FORMAT}")),
    }
}

impl<S: Service> Certified<S> {
    /// Reads the rest.
    pub(crate) fn read(text: &str) -> Result<Self, AuditError> {
        let mut certified = Certified {
            servers: Vec::new(),
            clients: Vec::new(),
            messages: Vec::new(),
            frames: Vec::new(),
            witnesses: Vec::new(),
            members: Vec::new(),
            start: (0, 0),
            classes: Vec::new(),
            endless: Vec::new(),
        };
        let mut announced = None;
        for (place, line) in (1..).zip(text.lines()).skip(1) {
            if announced.is_some() {
                return unreadable(place, "it stands behind the end");
            }
            match serde_json::from_str::<AuditLine<S>>(line).or_else(|error| unreadable(place, error))? {
                AuditLine::Server(server) => certified.servers.push(server),
                AuditLine::Client(client) => certified.clients.push(client),
                AuditLine::Message(message) => certified.messages.push(message),
                AuditLine::Frame(frame) => certified.frames.push(frame),
                AuditLine::Witness(witness) => certified.witnesses.push(witness),
                AuditLine::Start(member, witness) => certified.start = (member, witness),
                AuditLine::Member(member) => certified.members.push(member),
                AuditLine::Class(class) => certified.classes.push(class),
                AuditLine::Endless(proof) => certified.endless.push(proof),
                AuditLine::End(members, transitions) => announced = Some((members, transitions)),
            }
        }
        let (members, transitions) = (certified.members.len(), certified.transitions());
        if announced == Some((members, transitions)) {
            return Ok(certified);
        }
        unreadable(text.lines().count(), format!("no end with {members} worlds, {transitions} transitions"))
    }

    /// How many transitions there are.
    pub(crate) fn transitions(&self) -> usize {
        self.members.iter().map(|member| member.targets.len()).sum()
    }

    /// A world of the certificate, if it has all parts of it.
    pub(crate) fn world(&self, number: usize) -> Option<Observed<S>> {
        let member = self.members.get(number)?;
        let clients = member.clients.iter().map(|part| self.clients.get(*part as usize).copied());
        let messages = member.messages.iter().map(|part| self.messages.get(*part as usize).copied());
        let mut state = (**self.frames.get(member.frame as usize)?).clone();
        state.world.server = (**self.servers.get(member.server as usize)?).clone();
        state.world.clients = clients.collect::<Option<InlineVec<_, 3>>>()?;
        state.world.network = Network::default();
        state.world.network.fill(messages.collect::<Option<Vec<_>>>()?.into_iter());
        Some(state)
    }
}
