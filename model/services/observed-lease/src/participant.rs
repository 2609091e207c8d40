//! The clients of both systems as one type: an elector, a client with a row, or a program.

use serde::{Deserialize, Serialize};

use super::elector::Elector;
use super::messages::{Command, ObservedLeaseMessage, Timer};
use super::row::RowLocker;
use super::{Cancels, NapsFrom, ObservedLease, ROW};
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
use fencepost_model::program::Program;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant};

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Participant {
    /// `observed-lease`.
    Elector(Elector),
    /// `lease-row`.
    Row(RowLocker),
    /// A client that runs a program.
    Program(Program<ObservedLease>),
    /// A third party that runs one: a controller that elects (OL-K-16).
    ThirdParty(Program<ObservedLease>),
}

/// What each form does.
macro_rules! each {
    ($self:expr, $process:ident => $does:expr) => {
        match $self {
            Participant::Elector($process) => $does,
            Participant::Row($process) => $does,
            Participant::Program($process) | Participant::ThirdParty($process) => $does,
        }
    };
}

impl Participant {
    pub(super) fn new(id: ClientId, scenario: &Scenario<ObservedLease>) -> Self {
        if let Some(program) = Program::at_start(scenario, id) {
            return Participant::Program(program);
        }
        match scenario.system == ROW {
            true => Participant::Row(RowLocker::new(scenario)),
            false => Participant::Elector(Elector::new(id, scenario)),
        }
    }

    pub(super) fn third_party(id: ClientId, scenario: &Scenario<ObservedLease>) -> Self {
        Participant::ThirdParty(Program::at_start(scenario, id).expect("it is named by its program"))
    }

    /// Whether its process may sleep now: it waits for no answer.
    pub(super) fn may_nap(&self, context: &Context<'_, ObservedLease>) -> bool {
        match self {
            Participant::Elector(elector) => elector.may_nap(context),
            Participant::Program(program) => {
                let is_time = match context.scenario.service.naps_from {
                    NapsFrom::AnyTime => true,
                    NapsFrom::Renewal => program.has_renewed(context.now),
                };
                is_time && program.rests()
            }
            Participant::Row(_) | Participant::ThirdParty(_) => false,
        }
    }
}

/// Whether the caller of a program may cancel now, as that of an elector may.
fn may_cancel(program: &Program<ObservedLease>, context: &Context<'_, ObservedLease>) -> bool {
    program.belief().is_inside
        && match context.scenario.service.cancels {
            Cancels::Never => false,
            Cancels::AnyTime => true,
            Cancels::AfterRenewal => program.has_renewed(context.now) && program.rests(),
        }
}

impl Process<ObservedLease> for Participant {
    fn on(
        &mut self,
        input: Input<ObservedLease>,
        context: &Context<'_, ObservedLease>,
        out: &mut Outbox<ObservedLease>,
    ) {
        if let (Participant::Program(program), Input::Message { message: Message::Service(message), .. }) =
            (&mut *self, &input)
            && let ObservedLeaseMessage::Sleep(grains) = message
        {
            let length = context.scenario.service.grain.times((*grains).into());
            *program = program.asleep(Deadline(context.now + length));
            return;
        }
        each!(self, process => process.on(input, context, out));
    }

    fn wakes(&self, scenario: &Scenario<ObservedLease>, due: &mut dyn FnMut(Timer, Instant)) {
        each!(self, process => process.wakes(scenario, due));
    }

    fn choices(&self) -> u8 {
        each!(self, process => process.choices())
    }

    fn restarted(&self, scenario: &Scenario<ObservedLease>) -> Self {
        match self {
            Participant::Elector(elector) => Participant::Elector(elector.restarted(scenario)),
            Participant::Row(locker) => Participant::Row(locker.restarted(scenario)),
            Participant::Program(program) => Participant::Program(program.restarted(scenario)),
            Participant::ThirdParty(program) => Participant::ThirdParty(program.restarted(scenario)),
        }
    }
}

impl Client<ObservedLease> for Participant {
    /// The caller of a program cancels when the scenario says so, as that of an elector does.
    fn commands(&self, context: &Context<'_, ObservedLease>, offer: &mut dyn FnMut(Command)) {
        match self {
            Participant::Elector(elector) => elector.commands(context, offer),
            Participant::Row(locker) => locker.commands(context, offer),
            Participant::Program(program) => {
                let may_cancel = may_cancel(program, context);
                program.commands(context, &mut |command| {
                    if command != Command::Cancel || may_cancel {
                        offer(command);
                    }
                });
            }
            Participant::ThirdParty(program) => program.commands(context, offer),
        }
    }

    fn belief(&self) -> Belief {
        // Its work is no wait for a lease.
        if let Participant::ThirdParty(program) = self {
            return Belief { is_waiting: false, ..program.belief() };
        }
        each!(self, process => process.belief())
    }

    fn is_at_work(&self) -> bool {
        each!(self, process => process.is_at_work())
    }

    fn panic(&self) -> Option<String> {
        each!(self, process => Client::panic(process))
    }
}
