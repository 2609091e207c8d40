//! The sentences of stories and scripts. Traces keep plain labels and facts, by which steps are found again; a story says what its
//! readers need besides: lock or slot, the role of a participant, the node that a message is for, durations in units.

use crate::fact::Fact;
use crate::held::Held;
use crate::ids::{ClientId, ProcessId};
use crate::process::Message;
use crate::scenario::Scenario;
use crate::service::{Service, ServiceCommand as _, ServiceMessage as _, ServiceTimer as _, Settings as _};
use crate::units::in_units;
use crate::world::{Action, Envelope};

/// The words for one scenario.
pub(super) struct Wording<'a, P: Service> {
    scenario: &'a Scenario<P>,
    held: Held,
    /// The server, where no message names a node.
    server: String,
    /// The names of participants that are no contenders, beside the numbers that they have elsewhere.
    roles: Vec<(String, String)>,
}

impl<'a, P: Service> Wording<'a, P> {
    pub(super) fn new(scenario: &'a Scenario<P>, participants: usize) -> Self {
        // The highest number first: `client 1` is a prefix of `client 12`.
        let all = (0..participants).rev().map(ClientId::of);
        let role = |client: ClientId| Some((client.to_string(), P::Settings::role(scenario, client)?));
        Wording {
            scenario,
            held: P::Settings::held(scenario),
            server: P::Settings::server_name(scenario, None),
            roles: all.filter_map(role).collect(),
        }
    }

    pub(super) fn held(&self) -> Held {
        self.held
    }

    /// The name of the server above its lane.
    pub(super) fn lane(&self) -> String {
        self.server.trim_start_matches("the ").to_owned()
    }

    /// The action's label in the words of the scenario. Like labels, it is unique among the enabled actions.
    pub(super) fn action(&self, action: &Action<P>) -> String {
        let between = |Envelope { from, to, message, .. }: &Envelope<P>| {
            (self.name(*from, *to, message), self.name(*to, *from, message), self.message(message))
        };
        match action {
            Action::Command { client, command } => {
                self.sentence(&format!("{client} is asked to {}", command.sentence(self.held)))
            }
            Action::Deliver(envelope) => {
                let (from, to, message) = between(envelope);
                format!("{to} receives from {from}: {message}")
            }
            Action::Lose(envelope) => {
                let (from, to, message) = between(envelope);
                format!("lost on the way from {from} to {to}: {message}")
            }
            Action::Duplicate(envelope) => {
                let (from, to, message) = between(envelope);
                format!("duplicated on the way from {from} to {to}: {message}")
            }
            Action::Wake { process: ProcessId::Server, timer } if timer.names_its_node() => {
                self.sentence(&timer.to_string())
            }
            other => self.sentence(&other.to_string()),
        }
    }

    /// The message in the words of the scenario.
    pub(super) fn message(&self, message: &Message<P>) -> String {
        match message {
            Message::Service(message) => self.sentence(&message.sentence()),
            other => other.to_string(),
        }
    }

    pub(super) fn fact(&self, fact: &Fact<P>) -> String {
        self.sentence(&fact.sentence(self.held))
    }

    /// A sentence with the names of participants and of the server, and with units if the scenario has them.
    pub(super) fn sentence(&self, plain: &str) -> String {
        let named = self.roles.iter().fold(plain.to_owned(), |text, (number, role)| text.replace(number, role));
        let named = named.replace("the server ", &format!("{} ", self.server));
        match self.scenario.tick {
            Some(tick) => in_units(&named, tick),
            None => named,
        }
    }

    /// The name of a message's sender or receiver.
    fn name(&self, process: ProcessId, other: ProcessId, message: &Message<P>) -> String {
        match (process, other, message) {
            (ProcessId::Server, ProcessId::Client(client), Message::Service(message)) => {
                P::Settings::server_name(self.scenario, Some((client, message)))
            }
            _ => self.sentence(&process.to_string()),
        }
    }
}
