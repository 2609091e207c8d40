//! The state of a client that runs a program: for each of its tasks what it was told and what it waits for, and what the client
//! believes.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Programmable;
use super::desk::Permit;
use super::execute::TaskName;
use super::in_place::{StateName, is_in_place};
use super::intern::{Interned, hash_of};
use super::lap_script::LapScript;
use super::run::TaskRuns;
use super::shared::SharedState;
use crate::ids::{Call, ClientId, SessionId, Token};
use crate::normal::{Normal, Visitor};
use crate::time::{Deadline, Instant, LeaseEnd};

/// A client that runs a program. Its state is stored elsewhere, and this is its name.
pub struct Program<S: Programmable> {
    pub(super) name: Name<S>,
}

/// Where the state is.
pub(super) enum Name<S: Programmable> {
    /// It is stored once, and stays.
    Stored(Interned<Node<S>>),
    /// It is changed in place.
    InPlace(StateName),
}

/// The state.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Node<S: Programmable> {
    /// How often the user may still ask for the lock.
    pub(super) rounds: u8,
    /// The number of the newest call.
    pub(super) last: Call,
    /// The newest of the ids that it made up.
    pub(super) newest: Option<SessionId>,
    /// A round is under way, and the client has not been inside.
    pub(super) is_waiting: bool,
    /// The user wants nothing: the first task stands at the head of a lap that has not begun.
    pub(super) is_idle: bool,
    /// It is changing the number of slots.
    pub(super) is_at_work: bool,
    /// Until when what it believes is covered.
    pub(super) lease: Option<LeaseEnd>,
    /// When what it believes in was renewed: only whether that is now is ever asked.
    pub(super) renewed: Option<LeaseEnd>,
    /// Its process sleeps until then, or until it is told something.
    pub(super) nap: Option<Deadline>,
    pub(super) inside: Option<Inside>,
    /// The recipe itself, then what it has spawned, by name.
    pub(super) tasks: Vec<Task<S>>,
    /// Cells and mailboxes.
    #[serde(default, skip_serializing_if = "SharedState::is_empty")]
    pub(super) shared: SharedState,
    /// Why it takes no part any more.
    pub(super) stopped: Option<Stop>,
}

/// What it believes about the critical section.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Inside {
    pub(super) token: Token,
    pub(super) permit: Permit,
    /// How often the user may still ask for a write.
    pub(super) writes: u8,
}

/// Why a program takes no part any more.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stop {
    /// It panicked.
    Panicked(String),
    /// A lap reached the limit of inputs: it is not followed further.
    Cut,
}

/// A recipe that runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Task<S: Programmable> {
    pub(super) script: LapScript<S>,
    /// What its lap has begun and neither dropped nor been told, in the order of numbers.
    pub(super) open: Vec<(u16, Open)>,
}

/// What an operation waits for.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Open {
    /// An answer to this call.
    Answer(Call),
    /// An answer to no call.
    Unasked,
    /// An answer of the resource to this call.
    Resource(Call),
    /// A sleep: this instant.
    At(Deadline),
    /// An open deadline, for which no operation has to wait.
    Deadline(LeaseEnd),
    /// That this open deadline comes.
    Until(u16),
    /// Chance, with the number of options.
    Random(u8),
    /// The user.
    User,
    /// A user who asks for a verification.
    Verification,
    /// The end of a task.
    Ended(Interned<String>),
    /// That a cell is set.
    Change(Interned<String>),
    /// A message of a type.
    Message(Interned<String>),
    /// The end of the lease.
    LeaseEnd,
    /// Nothing: it is answered within the step.
    Now,
}

impl<S: Programmable> Program<S> {
    pub(super) fn of(node: Node<S>) -> Self {
        let name = if is_in_place() { Name::InPlace(StateName::of(node)) } else { Name::Stored(Interned::new(node)) };
        Program { name }
    }

    pub(super) fn node(&self) -> Arc<Node<S>> {
        match self.name {
            Name::Stored(name) => name.get(),
            Name::InPlace(name) => name.get(),
        }
    }

    /// What it panicked with, if it did.
    pub fn panic(&self) -> Option<String> {
        match &self.node().stopped {
            Some(Stop::Panicked(message)) => Some(message.clone()),
            Some(Stop::Cut) | None => None,
        }
    }
}

impl<S: Programmable> Task<S> {
    pub(super) fn new(script: LapScript<S>) -> Self {
        Task { script, open: Vec::new() }
    }

    /// What an operation waits for, if it is open.
    pub(super) fn open(&self, operation: u16) -> Option<Open> {
        self.open.iter().find(|(other, _)| *other == operation).map(|(_, open)| *open)
    }

    pub(super) fn close(&mut self, operation: u16) {
        self.open.retain(|(other, _)| *other != operation);
    }

    /// When an open deadline comes.
    pub(super) fn deadline(&self, operation: u16) -> Option<LeaseEnd> {
        match self.open(operation) {
            Some(Open::Deadline(at)) => Some(at),
            _ => None,
        }
    }

    /// From which instant an operation may be told that time is up, if it waits for that.
    pub(super) fn due(&self, open: Open, lease: Option<LeaseEnd>) -> Option<Instant> {
        match open {
            Open::At(at) => Some(at.0),
            Open::Until(deadline) => self.deadline(deadline).map(|at| at.0),
            Open::LeaseEnd => lease.map(|at| at.0),
            _ => None,
        }
    }
}

impl<S: Programmable> Node<S> {
    /// Where a task stands, if it exists.
    pub(super) fn place(&self, name: TaskName) -> Option<usize> {
        match name {
            None => (!self.tasks.is_empty()).then_some(0),
            Some(name) => (1..self.tasks.len()).find(|place| self.tasks[*place].script.kind().name == name),
        }
    }

    /// The first operation of any task of which this is true.
    pub(super) fn first(&self, is: impl Fn(Open) -> bool) -> Option<(usize, u16)> {
        let all = self.tasks.iter().enumerate();
        let mut open =
            all.flat_map(|(task, of)| of.open.iter().map(move |(operation, open)| (task, *operation, *open)));
        open.find(|(.., open)| is(*open)).map(|(task, operation, _)| (task, operation))
    }

    /// Keeps the runs of its tasks, for the next step of this client from here.
    pub(super) fn keep(&self, runs: TaskRuns<S>, me: ClientId) {
        for (name, run) in runs {
            if let Some(LapScript::Stored(script, _)) = self.place(name).map(|place| &self.tasks[place].script) {
                run.keep(*script, me);
            }
        }
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.call(&mut self.last);
        if let Some(newest) = &mut self.newest {
            visitor.session(newest);
        }
        if let Some(lease) = &mut self.lease {
            visitor.until(&mut lease.0);
        }
        if let Some(renewed) = &mut self.renewed {
            visitor.until(&mut renewed.0);
        }
        if let Some(nap) = &mut self.nap {
            visitor.deadline(&mut nap.0);
        }
        if let Some(inside) = &mut self.inside {
            visitor.token(&mut inside.token);
        }
        self.shared.visit(visitor);
        for task in &mut self.tasks {
            for (_, open) in &mut task.open {
                match open {
                    Open::Answer(call) | Open::Resource(call) => visitor.call(call),
                    Open::At(at) => visitor.deadline(&mut at.0),
                    Open::Deadline(at) => visitor.until(&mut at.0),
                    Open::Unasked
                    | Open::Until(_)
                    | Open::Random(_)
                    | Open::User
                    | Open::Verification
                    | Open::Ended(_)
                    | Open::Change(_)
                    | Open::Message(_)
                    | Open::LeaseEnd
                    | Open::Now => {}
                }
            }
            task.script = task.script.visited(visitor);
        }
    }
}

impl<S: Programmable> Normal for Program<S> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let before = self.node();
        let mut node = (*before).clone();
        node.visit(visitor);
        if node != *before {
            *self = Program::of(node);
        }
    }
}

impl<S: Programmable> Copy for Name<S> {}

impl<S: Programmable> Clone for Name<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Programmable> Copy for Program<S> {}

impl<S: Programmable> Clone for Program<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Programmable> PartialEq for Program<S> {
    fn eq(&self, other: &Self) -> bool {
        match (self.name, other.name) {
            (Name::Stored(one), Name::Stored(other)) => one == other,
            (Name::InPlace(one), Name::InPlace(other)) if one == other => true,
            _ => self.node() == other.node(),
        }
    }
}

impl<S: Programmable> Eq for Program<S> {}

impl<S: Programmable> Hash for Program<S> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        match self.name {
            Name::Stored(name) => name.hash(to),
            Name::InPlace(_) => to.write_u64(hash_of(&*self.node())),
        }
    }
}

impl<S: Programmable> fmt::Debug for Program<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node().fmt(f)
    }
}

impl<S: Programmable> Serialize for Program<S> {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        self.node().serialize(to)
    }
}

impl<'de, S: Programmable> Deserialize<'de> for Program<S> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Node::deserialize(from).map(Program::of)
    }
}
