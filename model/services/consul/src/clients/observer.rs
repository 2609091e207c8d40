//! An observer: it reads the key to find the leader (C-LE-1). It keeps no belief after the answer.

use serde::{Deserialize, Serialize};

use super::ask;
use crate::ConsulMutation;
use crate::messages::ConsulEvent;
use crate::settings::Reads;
use crate::{Answer, Command, Consul, ConsulMessage, LOCK, Opaque, Request};
use fencepost_model::fact::Fact;
use fencepost_model::ids::Call;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox};
use fencepost_model::rounds;

/// A third party.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Observer {
    /// How often its user may still ask.
    looks: u8,
    /// The request in flight.
    call: Option<Call>,
    #[normal(counter)]
    last: Call,
}

impl Observer {
    pub(crate) fn new(looks: u8) -> Self {
        Observer { looks, call: None, last: Call(0) }
    }

    pub(super) fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (self.call, input) {
            (None, Input::Command(Command::Look)) => {
                rounds::take(&mut self.looks);
                let request = match context.scenario.service.reads {
                    Reads::Default => Request::Get(LOCK),
                    Reads::Consistent => Request::GetConsistent(LOCK),
                };
                self.call = Some(ask(&mut self.last, request, out));
            }
            (Some(call), Input::Message { message: Message::Service(ConsulMessage::Response(to, answer)), .. })
                if to == call =>
            {
                self.call = None;
                let observer = context.me.client().expect("an observer is a client");
                let is_careless = context.is_mutated(ConsulMutation::ObserverIgnoresSession);
                let leader = match answer {
                    // The answer is unknown.
                    error if error.is_outage() => return,
                    Answer::Found(entry) if entry.session.is_some() || is_careless => match entry.value {
                        Opaque::Name(leader) => Some(leader),
                        _ => None,
                    },
                    _ => None,
                };
                out.record(Fact::Service(ConsulEvent::Discovered { observer, leader }));
            }
            // A response on a closed connection.
            _ => {}
        }
    }

    pub(super) fn restarted(self) -> Self {
        Observer { call: None, ..self }
    }

    pub(super) fn commands(&self, offer: &mut dyn FnMut(Command)) {
        if self.call.is_none() && self.looks > 0 {
            offer(Command::Look);
        }
    }
}
