//! The clients of both systems as one type: an elector, or a client with a row.

use serde::{Deserialize, Serialize};

use super::elector::Elector;
use super::messages::{Command, Timer};
use super::row::RowLocker;
use super::{ObservedLease, ROW};
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Instant;

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Participant {
    /// `observed-lease`.
    Elector(Elector),
    /// `lease-row`.
    Row(RowLocker),
}

impl Participant {
    pub(super) fn new(id: ClientId, scenario: &Scenario<ObservedLease>) -> Self {
        match scenario.system == ROW {
            true => Participant::Row(RowLocker::new(scenario)),
            false => Participant::Elector(Elector::new(id, scenario)),
        }
    }

    /// Whether its process may sleep now: it waits for no answer.
    pub(super) fn may_nap(&self, context: &Context<'_, ObservedLease>) -> bool {
        match self {
            Participant::Elector(elector) => elector.may_nap(context),
            Participant::Row(_) => false,
        }
    }
}

impl Process<ObservedLease> for Participant {
    fn on(
        &mut self,
        input: Input<ObservedLease>,
        context: &Context<'_, ObservedLease>,
        out: &mut Outbox<ObservedLease>,
    ) {
        match self {
            Participant::Elector(elector) => elector.on(input, context, out),
            Participant::Row(locker) => locker.on(input, context, out),
        }
    }

    fn wakes(&self, scenario: &Scenario<ObservedLease>, due: &mut dyn FnMut(Timer, Instant)) {
        match self {
            Participant::Elector(elector) => elector.wakes(scenario, due),
            Participant::Row(locker) => locker.wakes(scenario, due),
        }
    }

    fn choices(&self) -> u8 {
        match self {
            Participant::Elector(elector) => elector.choices(),
            Participant::Row(locker) => locker.choices(),
        }
    }

    fn restarted(&self, scenario: &Scenario<ObservedLease>) -> Self {
        match self {
            Participant::Elector(elector) => Participant::Elector(elector.restarted(scenario)),
            Participant::Row(locker) => Participant::Row(locker.restarted(scenario)),
        }
    }
}

impl Client<ObservedLease> for Participant {
    fn commands(&self, context: &Context<'_, ObservedLease>, offer: &mut dyn FnMut(Command)) {
        match self {
            Participant::Elector(elector) => elector.commands(context, offer),
            Participant::Row(locker) => locker.commands(context, offer),
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Participant::Elector(elector) => elector.belief(),
            Participant::Row(locker) => locker.belief(),
        }
    }
}
