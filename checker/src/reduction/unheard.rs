//! Messages without a reaction.
//!
//! A client that counts its calls ignores an answer on a call of its own that its state does not show, and will ignore it whenever it
//! arrives: calls to come have other numbers. A request on such a call does nothing, either, if the server would only answer it
//! ([`Service::only_answers`]), or if it asks the resource for its version: no process reacts to the response. Without such messages a world is
//! the same for all that a promise looks at:
//!
//! * Their arrival changes no process, states no fact and sends nothing but more of them, now and after any other step.
//! * To lose or to repeat one only takes from a budget, and whatever can follow with less of a budget can follow with more of it.
//! * One that is due lets no time pass until it has arrived; it can arrive at any time, unless its receiver is paused or its link is
//!   cut, and then it is not due. So an execution without them is one with them, and one with more steps.
//!
//! By the last point a shortest violation may have more steps than the search counts, where the delay of messages is bounded. So there
//! such a message is left out only where no violation is expected, and what is found against expectation is searched for again. On an
//! asynchronous network nothing is due, and shortest is shortest.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::process::Message;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Envelope;

use super::names::{OWNERS, Occurrences};

/// Which messages a search leaves out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Unheard {
    leaves_out: bool,
    /// Also requests that the server would only answer.
    with_requests: bool,
    /// A mutant: answers on open calls go unheard.
    hears_no_answer: bool,
    /// A mutant: the server need not be asked.
    asks_no_server: bool,
    /// A mutant: requests on open calls go unheard.
    hears_no_request: bool,
}

/// The client whose call a message is about, and whether it is an answer to it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum About {
    /// An answer to this client.
    Answer(ClientId),
    /// A request of this client, to the server or to the resource.
    Request(ClientId),
    /// A message that is neither.
    #[default]
    Other,
}

impl Unheard {
    /// No message is left out.
    pub(crate) fn none() -> Self {
        Unheard::default()
    }

    /// Those of a scenario. A property that the scenario defines may look at any message, and a fault of the service may change what
    /// the server does with a request. Where faults are kept to places, the arrival of any message may be one.
    pub(crate) fn of<P: Service>(scenario: &Scenario<P>) -> Self {
        Unheard {
            leaves_out: !scenario.has_own_promises() && scenario.fault_places.is_empty(),
            with_requests: scenario.budget.caps().next().is_none(),
            hears_no_answer: scenario.is_mutated(CheckerMutation::AnswersUnheard),
            asks_no_server: scenario.is_mutated(CheckerMutation::RequestsUnheard),
            hears_no_request: scenario.is_mutated(CheckerMutation::AwaitedRequestsUnheard),
        }
    }

    /// Whether no message is left out.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        !self.leaves_out
    }

    /// Whether no process reacts to a message. Asked what numbers the message shows and its client's state, and whether the server would only
    /// answer it.
    #[inline]
    pub(super) fn contains(
        self,
        about: About,
        message: &Occurrences,
        state: impl FnOnce(ClientId) -> Occurrences,
        only_answers: impl FnOnce() -> bool,
    ) -> bool {
        let (About::Answer(client) | About::Request(client)) = about else { return false };
        if !self.leaves_out || client.0 >= OWNERS || message.has_large {
            return false;
        }
        let calls = message.small.calls(client.0);
        let state = state(client);
        if calls == 0 || state.has_large || !state.calls.is_counting() {
            return false;
        }
        let is_open = calls & state.calls.set() != 0;
        match about {
            About::Answer(_) => !is_open || self.hears_no_answer,
            _ => (!is_open || self.hears_no_request) && (self.asks_no_server || only_answers()),
        }
    }

    /// Whether the server would only answer a request, or the resource would.
    pub(super) fn only_answers<P: Service>(self, server: &P::Server, envelope: &Envelope<P>) -> bool {
        match (&envelope.message, envelope.to) {
            (
                Message::Read(_) | Message::ReadKey { .. } | Message::NextItem { takes: false, .. },
                ProcessId::Resource,
            ) => true,
            (Message::Service(message), ProcessId::Server) => self.with_requests && P::only_answers(server, message),
            _ => false,
        }
    }
}

impl About {
    pub(super) fn of<P: Service>(envelope: &Envelope<P>) -> Self {
        match (envelope.to, envelope.from) {
            (ProcessId::Client(client), _) => About::Answer(client),
            (_, ProcessId::Client(client)) => About::Request(client),
            _ => About::Other,
        }
    }
}
