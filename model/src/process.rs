//! Participants: state machines without clock, I/O, threads or randomness. They only react to inputs.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fact::Fact;
use crate::ids::{Call, ClientId, ProcessId, Tenure, Token};
use crate::inline_vec::InlineVec;
use crate::mutation::Mutation;
use crate::normal::Normal;
use crate::resource::{Version, Write, WriteTarget};
use crate::scenario::Scenario;
use crate::service::{Service, ServiceMessage as _};
use crate::time::{Instant, LeaseEnd};
use crate::work_queue::QueueItem;

/// A small value that an action, a message or a fact can contain: it has a label, an order and a serialised form.
pub trait Value: Copy + Ord + Hash + Debug + Display + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Copy + Ord + Hash + Debug + Display + Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// An input of a process.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Input<P: Service> {
    /// A message from the network.
    Message {
        /// The sender.
        from: ProcessId,
        /// The message.
        message: Message<P>,
    },
    /// A user's command.
    Command(P::Command),
    /// One of its own deadlines fires, on time or late.
    Wake(P::Timer),
    /// The result of a random choice, or of a peer's unpredictable choice, counted from 0.
    Choice(u8),
}

/// A message: of the service, or of the protected resource, which all services share.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, serde::Serialize, serde::Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Message<P: Service> {
    /// Between a client and the lock service.
    Service(P::Message),
    /// A client's write to the resource.
    Write(Write),
    /// A client's request for the version of the resource.
    Read(Call),
    /// The resource's response.
    Version {
        /// The request that it answers.
        to: Call,
        /// What the resource remembers.
        version: Version,
    },
    /// The resource's response.
    Written {
        /// The write that it answers.
        to: Call,
        /// False: the resource refused the token.
        accepted: bool,
    },
    /// A client's request for the first item of the work queue.
    NextItem {
        /// The number of the request.
        call: Call,
        /// Whether the item is removed from the queue.
        takes: bool,
    },
    /// The resource's response.
    QueueItem {
        /// The request that it answers.
        to: Call,
        /// The first item; none if the queue is empty.
        #[normal(skip = "items are not interchangeable")]
        item: Option<QueueItem>,
    },
    /// A client's request for the version of one key.
    ReadKey {
        /// The number of the request.
        call: Call,
        /// The key, from 0.
        key: u8,
    },
}

impl<P: Service> Message<P> {
    /// The number by which a response names its request, if there is one.
    pub fn call(&self) -> Option<Call> {
        match *self {
            Message::Service(ref message) => message.call(),
            Message::Write(Write { call, .. }) => call,
            Message::Read(call) | Message::NextItem { call, .. } | Message::ReadKey { call, .. } => Some(call),
            Message::Version { to, .. } | Message::Written { to, .. } | Message::QueueItem { to, .. } => Some(to),
        }
    }

    /// The ghost in a write: the tenure in which it was sent.
    pub(crate) fn ghost(&mut self) -> Option<&mut Tenure> {
        match self {
            Message::Service(message) => message.tenure_of_write(),
            Message::Write(write) => Some(&mut write.tenure),
            Message::Read(_)
            | Message::ReadKey { .. }
            | Message::Version { .. }
            | Message::Written { .. }
            | Message::NextItem { .. }
            | Message::QueueItem { .. } => None,
        }
    }

    /// The same without its ghost: what processes see of it.
    #[must_use]
    pub(crate) fn without_ghost(mut self) -> Self {
        self.ghost().into_iter().for_each(|tenure| *tenure = Tenure::default());
        self
    }
}

impl<P: Service> Display for Message<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Message::Service(message) => Display::fmt(message, f),
            Message::Write(write) => Display::fmt(write, f),
            Message::Read(call) => write!(f, "read the version [{}]", call.0),
            Message::ReadKey { call, key } => write!(f, "read the version of key {key} [{}]", call.0),
            Message::Version { to, version } => write!(f, "{version} [{}]", to.0),
            Message::Written { to, accepted: true } => write!(f, "written [{}]", to.0),
            Message::Written { to, accepted: false } => write!(f, "write refused [{}]", to.0),
            Message::NextItem { call, takes: true } => write!(f, "take an item [{}]", call.0),
            Message::NextItem { call, takes: false } => write!(f, "which item is next? [{}]", call.0),
            Message::QueueItem { to, item: Some(item) } => write!(f, "{item} [{}]", to.0),
            Message::QueueItem { to, item: None } => write!(f, "no item is left [{}]", to.0),
        }
    }
}

/// The context of a reaction.
pub struct Context<'a, P: Service> {
    /// The scenario.
    pub scenario: &'a Scenario<P>,
    /// The process's *own* clock.
    pub now: Instant,
    /// The id of the process.
    pub me: ProcessId,
}

impl<P: Service> Context<'_, P> {
    /// The id of the client.
    ///
    /// # Panics
    /// The process is not a client.
    pub fn client(&self) -> ClientId {
        self.me.client().expect("a client")
    }

    /// Whether the scenario has this mutation built in on purpose.
    pub fn is_mutated(&self, mutation: impl Into<Mutation>) -> bool {
        self.scenario.is_mutated(mutation)
    }
}

/// The output of a process: messages to send, and facts.
pub struct Outbox<P: Service> {
    pub(crate) messages: InlineVec<(ProcessId, Message<P>), 2>,
    pub(crate) facts: InlineVec<Fact<P>, 4>,
}

impl<P: Service> Default for Outbox<P> {
    fn default() -> Self {
        Outbox::new()
    }
}

impl<P: Service> Outbox<P> {
    /// An empty outbox.
    pub fn new() -> Self {
        Outbox { messages: InlineVec::new(), facts: InlineVec::new() }
    }

    /// The facts.
    pub fn facts(&self) -> &[Fact<P>] {
        &self.facts
    }

    /// The messages to send, with their receivers.
    pub fn messages(&self) -> &[(ProcessId, Message<P>)] {
        &self.messages
    }

    /// Sends a message.
    pub fn send(&mut self, to: ProcessId, message: P::Message) {
        self.messages.push((to, Message::Service(message)));
    }

    /// Sends a write to the resource; with a call, the response carries the same call.
    pub fn write(&mut self, token: Token, call: Option<Call>) {
        self.write_for(Tenure::default(), token, call);
    }

    /// The same, to a part of the resource.
    pub fn write_to(&mut self, target: WriteTarget, token: Token, call: Option<Call>) {
        let write = Write { token, tenure: Tenure::default(), call, target };
        self.messages.push((ProcessId::Resource, Message::Write(write)));
    }

    /// Sends a write on behalf of another client, whose tenure came with its request.
    pub fn write_for(&mut self, tenure: Tenure, token: Token, call: Option<Call>) {
        let write = Write { token, tenure, call, target: WriteTarget::Whole };
        self.messages.push((ProcessId::Resource, Message::Write(write)));
    }

    /// Asks the resource for its version; the response carries the call.
    pub fn read(&mut self, call: Call) {
        self.messages.push((ProcessId::Resource, Message::Read(call)));
    }

    /// The same for one key.
    pub fn read_key(&mut self, key: u8, call: Call) {
        self.messages.push((ProcessId::Resource, Message::ReadKey { call, key }));
    }

    /// Asks the resource for the first item of the work queue, which is removed if the client takes it; the response carries the call.
    pub fn next_item(&mut self, call: Call, takes: bool) {
        self.messages.push((ProcessId::Resource, Message::NextItem { call, takes }));
    }

    /// Emits a fact.
    pub fn record(&mut self, fact: Fact<P>) {
        self.facts.push(fact);
    }
}

/// A participant.
///
/// **A process sends everything by the outbox; [`Process::wakes`] reads its deadlines from its state.**
pub trait Process<P: Service>:
    Clone + Eq + Hash + Debug + Normal + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Takes one input and makes a transition.
    fn on(&mut self, input: Input<P>, context: &Context<'_, P>, out: &mut Outbox<P>);

    /// Reports each deadline with the instant, on the process's own clock, from which it may fire.
    fn wakes(&self, scenario: &Scenario<P>, due: &mut dyn FnMut(P::Timer, Instant));

    /// The number of options of a pending random choice: a random number, a jitter, a peer. 0: no choice is pending.
    fn choices(&self) -> u8 {
        0
    }

    /// The state after a crash and a restart.
    fn restarted(&self, scenario: &Scenario<P>) -> Self;
}

/// A participant that contends for the lock, or observes it.
pub trait Client<P: Service>: Process<P> + Copy {
    /// The commands that a user may give now.
    fn commands(&self, context: &Context<'_, P>, offer: &mut dyn FnMut(P::Command));

    /// The client's belief about itself.
    fn belief(&self) -> Belief;

    /// Whether it is changing the number of slots. Only one client at a time should do that.
    fn is_at_work(&self) -> bool {
        false
    }

    /// What its code panicked with, if it did.
    fn panic(&self) -> Option<String> {
        None
    }
}

/// The belief of a client about itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Belief {
    /// The client has entered the critical section and has not left it by a step.
    pub is_inside: bool,
    /// The last instant, on the client's own clock, that its lease covers; `None` without a lease.
    pub until: Option<LeaseEnd>,
    /// The limit that the client was given, in clients; `None` for a lock.
    pub slots: Option<u16>,
    /// The number of its slot, if slots have numbers.
    pub slot: Option<u8>,
    /// The client is a contender: it was asked to take the lock, does not have it, and has not given up.
    pub is_waiting: bool,
}
