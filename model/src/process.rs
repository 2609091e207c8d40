//! Participants: state machines without clock, I/O, threads or randomness. They react; they never act by themselves.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fact::Fact;
use crate::ids::{Call, ClientId, ProcessId, Tenure, Token};
use crate::list::List;
use crate::mutation::Mutation;
use crate::normal::Normal;
use crate::resource::Write;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::{Instant, LeaseEnd};

/// A small value that can stand in an action, a message or a fact: it has a label, an order and a written form.
pub trait Value: Copy + Ord + Hash + Debug + Display + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Copy + Ord + Hash + Debug + Display + Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// What arrives at a process.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Input<P: Service> {
    /// A message from the network.
    Message {
        /// Who sent it.
        from: ProcessId,
        /// What it says.
        message: Message<P>,
    },
    /// A user's wish.
    Command(P::Command),
    /// One of its own deadlines has come, now or a while ago.
    Wake(P::Timer),
    /// What chance, or a peer nobody can foresee, chose for it, counted from 0.
    Choice(u8),
}

/// What travels: words of the service, or of the protected resource that every service shares.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, serde::Serialize, serde::Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Message<P: Service> {
    /// Between a client and the lock service.
    Service(P::Message),
    /// A client's write to the resource.
    Write(Write),
    /// A client's question for the version of the resource.
    Read(Call),
    /// The resource's answer to it.
    Version {
        /// To which question.
        to: Call,
        /// How many writes it has accepted.
        #[normal(skip = "a count of writes, and no log position")]
        version: Token,
    },
    /// The resource's answer.
    Written {
        /// To which write.
        to: Call,
        /// False: the token was refused.
        accepted: bool,
    },
}

impl<P: Service> Display for Message<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Message::Service(message) => Display::fmt(message, f),
            Message::Write(write) => Display::fmt(write, f),
            Message::Read(call) => write!(f, "which version are you? [{}]", call.0),
            Message::Version { to, version } => write!(f, "version {} [{}]", version.0, to.0),
            Message::Written { to, accepted: true } => write!(f, "written [{}]", to.0),
            Message::Written { to, accepted: false } => write!(f, "write refused [{}]", to.0),
        }
    }
}

/// What a process may look at while it reacts.
pub struct Context<'a, P: Service> {
    /// The constants.
    pub scenario: &'a Scenario<P>,
    /// The process's *own* clock.
    pub now: Instant,
    /// Who it is.
    pub me: ProcessId,
}

impl<P: Service> Context<'_, P> {
    /// Which client it is.
    ///
    /// # Panics
    /// It is none.
    pub fn client(&self) -> ClientId {
        self.me.client().expect("a client")
    }

    /// Whether this run has the given fault built in on purpose.
    pub fn is_mutated(&self, mutation: impl Into<Mutation>) -> bool {
        self.scenario.is_mutated(mutation)
    }
}

/// What leaves a process: messages to send and facts that became true.
pub struct Outbox<P: Service> {
    pub(crate) messages: List<(ProcessId, Message<P>), 2>,
    pub(crate) facts: List<Fact<P>, 4>,
}

impl<P: Service> Default for Outbox<P> {
    fn default() -> Self {
        Outbox::new()
    }
}

impl<P: Service> Outbox<P> {
    /// An empty one.
    pub fn new() -> Self {
        Outbox { messages: List::new(), facts: List::new() }
    }

    /// What has become true.
    pub fn facts(&self) -> &[Fact<P>] {
        &self.facts
    }

    /// The messages to send, with their receivers.
    pub fn messages(&self) -> &[(ProcessId, Message<P>)] {
        &self.messages
    }

    /// Puts a message into the network.
    pub fn send(&mut self, to: ProcessId, message: P::Message) {
        self.messages.push((to, Message::Service(message)));
    }

    /// Sends a write to the resource; with a call, the answer comes back on that.
    pub fn write(&mut self, token: Token, call: Option<Call>) {
        self.write_for(Tenure::default(), token, call);
    }

    /// Sends a write on behalf of somebody else, whose tenure came with the order.
    pub fn write_for(&mut self, tenure: Tenure, token: Token, call: Option<Call>) {
        let write = Write { token, tenure, call };
        self.messages.push((ProcessId::Resource, Message::Write(write)));
    }

    /// Asks the resource for its version; the answer comes back on the call.
    pub fn read(&mut self, call: Call) {
        self.messages.push((ProcessId::Resource, Message::Read(call)));
    }

    /// States what has just become true.
    pub fn record(&mut self, fact: Fact<P>) {
        self.facts.push(fact);
    }
}

/// A participant.
///
/// **Everything a process wants goes to the outbox; everything it waits for is read off its state by [`Process::wakes`].**
pub trait Process<P: Service>:
    Clone + Eq + Hash + Debug + Normal + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Takes one input and changes state.
    fn on(&mut self, input: Input<P>, context: &Context<'_, P>, out: &mut Outbox<P>);

    /// Names each deadline with the instant, on the own clock, from which it may fire.
    fn wakes(&self, scenario: &Scenario<P>, due: &mut dyn FnMut(P::Timer, Instant));

    /// From how many options something must be chosen for it: a random number, a jitter, a peer. 0: from none.
    fn choices(&self) -> u8 {
        0
    }

    /// What is left of it after a crash.
    fn restarted(&self, scenario: &Scenario<P>) -> Self;
}

/// A participant that wants the lock, or looks at it.
pub trait Client<P: Service>: Process<P> + Copy {
    /// What a user may ask of it now.
    fn commands(&self, context: &Context<'_, P>, offer: &mut dyn FnMut(P::Command));

    /// What it believes.
    fn belief(&self) -> Belief;

    /// Whether it changes how many slots there are, and nobody else should.
    fn is_at_work(&self) -> bool {
        false
    }
}

/// What a client believes about itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Belief {
    /// It has entered the critical section and not yet left it by a step.
    pub is_inside: bool,
    /// The last instant, on its own clock, at which its lease covers it; `None` without a lease.
    pub until: Option<LeaseEnd>,
    /// How many may be inside at once, as it was told; `None` for a lock.
    pub slots: Option<u16>,
    /// In which slot it is, where slots have numbers.
    pub slot: Option<u8>,
    /// It has been asked for the lock, has not got it, and has not given up.
    pub is_waiting: bool,
}
